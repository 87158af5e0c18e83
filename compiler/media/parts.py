"""Smaller versions of what is sent beside the text: cropped, resized, cut, or with fewer frames.

A picture is cropped to the parts that the task needs and then resized; a recording or film
loses the segments that matter least; a film without segments is resized and then sampled less
often. Plans only: nothing is decoded. Checklist C-193.
"""

from __future__ import annotations

from dataclasses import replace

from ..budget.items import Item
from ..request.request import Box, Media, MediaKind, Segment
from ..tokens.modality import image_tokens
from .cost import PICTURE, film_tokens, frames_of, one_media_tokens, picture_tokens, sound_tokens
from .entry import Shown, media_text
from .reduction import Region, chosen_segments, cropped, downsampled, least_size
from .worth import worth


def cropped_picture(shown: Shown) -> Shown:
    """A picture cut to the regions that the task needs, where that saves tokens."""
    media = shown.media
    if media.kind is not MediaKind.IMAGE or not media.regions:
        return shown

    width = media.width or max(box[2] for box in media.regions)
    height = media.height or max(box[3] for box in media.regions)
    region = cropped(width, height, [Region(*box) for box in media.regions])
    if region is None:
        return shown

    across, down = region.right - region.left, region.bottom - region.top
    tokens = image_tokens(across, down, PICTURE)
    if tokens >= shown.item.tokens:
        return shown

    box = region.left, region.top, region.right, region.bottom
    return replace(
        shown,
        text=media_text(media, said=[_part_line(box)]),
        item=replace(shown.item, tokens=tokens, method="cropped"),
        saved_tokens=shown.item.tokens - tokens,
        region=box,
    )


def _part_line(box: Box) -> str:
    left, top, right, bottom = box
    return f"[shown: the part {right - left}x{bottom - top} at {left},{top}]"


def smaller(shown: Shown, target_tokens: int, *, least_px: int, asked: frozenset[str]) -> Shown:
    """An item planned down to its part of what media may take.

    The target is at least `least_tokens`, and below what the item takes.
    """
    if shown.media.kind is MediaKind.IMAGE:
        return _resized(shown, target_tokens, least_px)
    if shown.media.segments:
        return _cut(shown, target_tokens, asked)

    return _film(shown, target_tokens, least_px)


def _resized(shown: Shown, target: int, least_px: int) -> Shown:
    media = shown.media
    left, top, right, bottom = shown.region or (0, 0, media.width, media.height)
    size = _within(right - left, bottom - top, target, least_px)
    tokens = image_tokens(*size, PICTURE)
    named, said = replace(media, width=size[0], height=size[1]), list[str]()
    if shown.region is not None:
        named, said = media, [_part_line(shown.region), f"[resized to {size[0]}x{size[1]}]"]

    return replace(
        shown,
        text=media_text(named, said=said),
        item=replace(shown.item, tokens=tokens, method="downsampled"),
        saved_tokens=shown.saved_tokens + shown.item.tokens - tokens,
        size=size,
    )


def _within(width: int, height: int, target: int, least_px: int) -> tuple[int, int]:
    """The size of a picture within the target, else the smallest that is read."""
    found = downsampled(width, height, PICTURE, target_tokens=target, least_px=least_px)
    return found or least_size(width, height, least_px)


def _cut(shown: Shown, target: int, asked: frozenset[str]) -> Shown:
    """A recording or film with the segments that matter most."""
    media = shown.media
    held = {f"{place:05}": segment for place, segment in enumerate(media.segments)}
    items = [
        Item(name, one_media_tokens(alone(media, each)), worth(each, asked))
        for name, each in held.items()
    ]
    sizes = {item.id: item.tokens for item in items}
    chosen = chosen_segments(items, target)
    segments = tuple(held[name] for name in chosen)
    tokens = sum(sizes[name] for name in chosen)
    spans = ", ".join(f"{each.start:g}-{each.end:g}s" for each in segments)
    note = f"{len(segments)} of {len(held)} segments: {spans}"
    return replace(
        shown,
        text=media_text(media, said=[f"[sent: {note}]"]),
        item=replace(shown.item, tokens=tokens, method="segments"),
        saved_tokens=shown.item.tokens - tokens,
        segments=segments,
        note=note,
    )


def alone(media: Media, segment: Segment) -> Media:
    """A segment as a recording or film of its own."""
    return replace(media, seconds=segment.end - segment.start)


def _film(shown: Shown, target: int, least_px: int) -> Shown:
    """A film with smaller frames, then with fewer of them; its sound stays whole."""
    media = shown.media
    frames, sound = frames_of(media), sound_tokens(media)
    size, small = None, media
    if media.width and media.height:
        size = _within(media.width, media.height, (target - sound) // frames, least_px)
        small = replace(media, width=size[0], height=size[1])

    kept = min(frames, (target - sound) // picture_tokens(small))
    tokens = film_tokens(small, frames=kept)
    less = f"{kept} of {frames} frames, evenly spaced" if kept < frames else ""
    return replace(
        shown,
        text=media_text(small, said=[f"[sent: {less}]"] if less else []),
        item=replace(shown.item, tokens=tokens, method="fewer_frames" if less else "downsampled"),
        saved_tokens=shown.item.tokens - tokens,
        size=size,
        frames=kept if less else 0,
        note=less,
    )


def least_tokens(shown: Shown, least_px: int) -> int:
    """The fewest tokens that an item can be made to take and still be sent."""
    media = shown.media
    if media.segments and media.kind is not MediaKind.IMAGE:
        shortest = min(one_media_tokens(alone(media, each)) for each in media.segments)
        return min(shown.beside, shortest)

    left, top, right, bottom = shown.region or (0, 0, media.width, media.height)
    width, height = right - left, bottom - top
    known = width and height
    across, down = least_size(width, height, least_px) if known else (width, height)
    small = replace(media, width=across, height=down)
    if media.kind is MediaKind.VIDEO:
        return film_tokens(small, frames=1)
    if media.kind is MediaKind.IMAGE:
        return min(shown.beside, picture_tokens(small))

    return shown.beside
