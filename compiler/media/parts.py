"""Smaller versions of what is sent beside the text: cropped, resized, cut, or with fewer frames.

A picture is cropped to the parts that the task needs and then resized; a recording or film
loses the segments that matter least; a film without segments is resized and then sampled less
often. Plans only: nothing is decoded. Checklist C-193.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import starmap

from ..budget.items import Item
from ..request.request import Box, Media, MediaKind, MediaSegment
from ..tokens.modality import image_tokens
from .cost import PICTURE, film_tokens, frames_of, one_media_tokens, picture_tokens, sound_tokens
from .entry import MediaEntry, media_text
from .reduction import Region, chosen_segments, crop_region, largest_size, least_size
from .worth import worth


def cropped_picture(entry: MediaEntry) -> MediaEntry:
    """A picture cut to the regions that the task needs, where that saves tokens."""
    media = entry.media
    if media.kind is not MediaKind.IMAGE or not media.regions:
        return entry

    # A picture of unknown size is at least as large as the regions in it.
    _, _, rights, bottoms = zip(*media.regions, strict=True)
    width = media.width or max(rights)
    height = media.height or max(bottoms)
    region = crop_region(width, height, list(starmap(Region, media.regions)))
    if region is None:
        return entry

    width_px, height_px = region.right - region.left, region.bottom - region.top
    tokens = image_tokens(width_px, height_px, PICTURE)
    if tokens >= entry.item.tokens:
        return entry

    box = region.left, region.top, region.right, region.bottom
    return replace(
        entry,
        text=media_text(media, notes=[_part_line(box)]),
        item=replace(entry.item, tokens=tokens, method="cropped"),
        saved_tokens=entry.item.tokens - tokens,
        region=box,
    )


def _part_line(box: Box) -> str:
    left, top, right, bottom = box
    return f"[shown: the part {right - left}x{bottom - top} at {left},{top}]"


def smaller(
    entry: MediaEntry, target_tokens: int, *, least_px: int, query_terms: frozenset[str]
) -> MediaEntry:
    """An item planned down to its part of what media may take.

    The target is at least `least_tokens`, and below what the item takes.
    """
    if entry.media.kind is MediaKind.IMAGE:
        return _resize(entry, target_tokens, least_px)
    if entry.media.segments:
        return _cut(entry, target_tokens, query_terms)

    return _film(entry, target_tokens, least_px)


def _resize(entry: MediaEntry, target: int, least_px: int) -> MediaEntry:
    media = entry.media
    left, top, right, bottom = entry.region or (0, 0, media.width, media.height)
    size = _size_within(right - left, bottom - top, target, least_px)
    tokens = image_tokens(*size, PICTURE)
    heading, notes = replace(media, width=size[0], height=size[1]), list[str]()
    if entry.region is not None:
        heading, notes = media, [_part_line(entry.region), f"[resized to {size[0]}x{size[1]}]"]

    return replace(
        entry,
        text=media_text(heading, notes=notes),
        item=replace(entry.item, tokens=tokens, method="downsampled"),
        saved_tokens=entry.saved_tokens + entry.item.tokens - tokens,
        size=size,
    )


def _size_within(width: int, height: int, target: int, least_px: int) -> tuple[int, int]:
    """The size of a picture within the target, else the smallest that is read."""
    size = largest_size(width, height, PICTURE, target_tokens=target, least_px=least_px)
    return size or least_size(width, height, least_px)


def _cut(entry: MediaEntry, target: int, query_terms: frozenset[str]) -> MediaEntry:
    """A recording or film with the segments that matter most."""
    media = entry.media
    by_id: dict[str, tuple[MediaSegment, Item]] = {}
    for number, segment in enumerate(media.segments):
        size = one_media_tokens(segment_media(media, segment))
        # Ids sort as the segments do, so that ties go to the earlier one.
        item = Item(f"{number:05}", size, worth(segment, query_terms))
        by_id[item.id] = segment, item

    segments: list[MediaSegment] = []
    tokens = 0
    for name in chosen_segments([item for _, item in by_id.values()], target):
        segment, item = by_id[name]
        segments.append(segment)
        tokens += item.tokens

    spans = ", ".join(f"{segment.start:g}-{segment.end:g}s" for segment in segments)
    note = f"{len(segments)} of {len(by_id)} segments: {spans}"
    return replace(
        entry,
        text=media_text(media, notes=[f"[sent: {note}]"]),
        item=replace(entry.item, tokens=tokens, method="segments"),
        saved_tokens=entry.item.tokens - tokens,
        segments=tuple(segments),
        note=note,
    )


def segment_media(media: Media, segment: MediaSegment) -> Media:
    """A segment as a recording or film of its own."""
    return replace(media, seconds=segment.end - segment.start)


def _film(entry: MediaEntry, target: int, least_px: int) -> MediaEntry:
    """A film with smaller frames, then with fewer of them; its sound stays whole."""
    media = entry.media
    frames, sound = frames_of(media), sound_tokens(media)
    size, small = None, media
    if media.width and media.height:
        size = _size_within(media.width, media.height, (target - sound) // frames, least_px)
        small = replace(media, width=size[0], height=size[1])

    frame_count = min(frames, (target - sound) // picture_tokens(small))
    tokens = film_tokens(small, frames=frame_count)
    note = f"{frame_count} of {frames} frames, evenly spaced" if frame_count < frames else ""
    return replace(
        entry,
        text=media_text(small, notes=[f"[sent: {note}]"] if note else []),
        item=replace(entry.item, tokens=tokens, method="fewer_frames" if note else "downsampled"),
        saved_tokens=entry.item.tokens - tokens,
        size=size,
        frames=frame_count if note else 0,
        note=note,
    )


def least_tokens(entry: MediaEntry, least_px: int) -> int:
    """The fewest tokens that an item can be made to take and still be sent."""
    media = entry.media
    if media.segments and media.kind is not MediaKind.IMAGE:
        sizes = [one_media_tokens(segment_media(media, segment)) for segment in media.segments]
        return min(entry.attachment_tokens, *sizes)

    left, top, right, bottom = entry.region or (0, 0, media.width, media.height)
    width, height = right - left, bottom - top
    known = width and height
    least_width, least_height = least_size(width, height, least_px) if known else (width, height)
    small = replace(media, width=least_width, height=least_height)
    if media.kind is MediaKind.VIDEO:
        return film_tokens(small, frames=1)
    if media.kind is MediaKind.IMAGE:
        return min(entry.attachment_tokens, picture_tokens(small))

    return entry.attachment_tokens
