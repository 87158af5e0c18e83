"""What becomes of the media of a request: sent as they are, smaller, in parts, or as a stand-in.

A picture is cropped to what the task needs and then resized; a recording or film loses the segments
that matter least; a film without segments is resized, then sampled less often. A stand-in (text
read from a picture, a transcript) replaces an original if it costs less and keeps the stated share
of its worth. If the media exceed the policy's share of the budget, the allocator divides that share
by worth and size. What cannot keep to its part becomes the best stand-in, or is only named.

The text names every original, parts as media fragments (`a.wav#t=12,30.5`,
`a.png#xywh=0,0,300,200`; W3C Media Fragments URI 1.0), so that a model can ask for it. These are
plans: the holder of the bytes decodes, resizes and cuts. Media text is untrusted data of level 4.
Checklist C-188 to C-196.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import Any, Final

from ...schema.compile_terms import OverflowPolicy
from ...schema.errors import ContextBudgetExhausted, InvalidInput
from ...schema.policy import CompilePolicy
from ...schema.records import short_repr
from ..budget.allocate import Section, allocate
from ..request.request import Box, Media, MediaKind, MediaSegment, StandIn
from ..tokens.capabilities import GENERIC
from ..tokens.counting import TokenCounter
from ..tokens.modality import (
    CrossModalReference,
    MediaItem,
    Modality,
    evidence_split,
    image_tokens,
    substitute,
)
from .reduction import (
    PICTURE,
    Item,
    chosen_segments,
    claim_on_budget,
    crop_region,
    film_tokens,
    frames_of,
    knapsack,
    offer,
    one_media_tokens,
    original,
    permille,
    picture_tokens,
    readable_size,
    sound_tokens,
    with_transcript,
    worth,
)
from .serialisation import Form, serialise
from .table import needed_rows, rows_of, table_rules, table_within, whole_table

POINTER: Final = "pointer"
"""The method of an item that is only named."""
ORIGINAL_METHODS: Final = frozenset(
    {"original", "cropped", "downsampled", "segments", "fewer_frames"}
)
"""Methods by which an original, or a part of it, is sent with the text."""

_FRAME: Final = 64
"""Tokens of a table's part that its frame may take."""
_LEAST_TABLE: Final = 160
"""Tokens from which a table is worth showing: a note, what it adds up to, and a few rows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MediaEntry:
    """How one media item enters the envelope."""

    __repr__ = short_repr

    media: Media
    text: str
    """What is in the evidence section, before containment."""
    item: MediaItem
    """What is sent with the text, or the text that replaces it; a table's tokens are its text's."""
    saved_tokens: int = 0
    size: tuple[int, int] | None = None
    """Width and height to resize a picture or film to; None when its size stays."""
    region: Box | None = None
    """The part of a picture to cut out, before it is resized."""
    segments: tuple[MediaSegment, ...] = ()
    """Of a recording or film: what is sent of it; empty: all."""
    frames: int = 0
    """Of a film: how many frames are taken from it; 0 when none is left out."""
    form: str = ""
    """Of a table: how its records are written."""
    note: str = ""
    """What was left out."""
    reference: str = ""
    """The cross-modal link of a stand-in to its original."""

    @property
    def attachment_tokens(self) -> int:
        """The tokens that are sent with the text."""
        # A table's tokens are those of its text, so they are counted there.
        if self.item.method not in ORIGINAL_METHODS or self.item.modality is Modality.STRUCTURED:
            return 0

        return self.item.tokens

    @property
    def withheld(self) -> bool:
        """Whether nothing but its name goes in."""
        return self.item.method == POINTER

    @property
    def parts(self) -> tuple[str, ...]:
        """The addresses of the parts that are sent."""
        if self.region is not None:
            left, top, right, bottom = self.region
            return (f"{self.media.uri}#xywh={left},{top},{right - left},{bottom - top}",)

        return tuple(
            f"{self.media.uri}#t={seconds(segment.start)},{seconds(segment.end)}"
            for segment in self.segments
        )

    def to_dict(self) -> dict[str, Any]:
        """The item as the trace lists it, empty fields left out."""
        row = {
            "uri": self.media.uri,
            "modality": self.item.modality.value,
            "sent_as": self.item.method,
            "tokens": self.item.tokens,
            "saved_tokens": self.saved_tokens,
            "size": None if self.size is None else list(self.size),
            "parts": list(self.parts),
            "frames": self.frames,
            "form": self.form,
            "note": self.note,
            "reference": self.reference,
        }
        return {name: value for name, value in row.items() if value or name == "tokens"}


@dataclass(frozen=True, slots=True)
class MediaPlan:
    """All media of a request, in its order."""

    entries: tuple[MediaEntry, ...] = ()

    @property
    def tokens(self) -> int:
        """The tokens that are sent with the text."""
        return sum(map(attrgetter("attachment_tokens"), self.entries))

    @property
    def texts(self) -> tuple[str, ...]:
        """What is in the text for each item."""
        return tuple(map(attrgetter("text"), self.entries))

    def split(self) -> dict[str, int]:
        """The tokens by modality of what is shown; stand-ins count as text."""
        tokens_by_modality = evidence_split(entry.item for entry in self.entries)
        split: dict[str, int] = {}
        for modality, tokens in tokens_by_modality.items():
            split[modality.value] = tokens
        return split


@dataclass(frozen=True, slots=True, kw_only=True)
class _PlanContext:
    """What every step looks at."""

    counter: TokenCounter
    rules: CompilePolicy
    query_terms: frozenset[str]
    pool: int
    """The most tokens of all media and tables together."""
    modalities: Collection[Modality]
    """What the model reads in addition to text."""


def plan_media(
    media: Iterable[Media],
    counter: TokenCounter,
    rules: CompilePolicy,
    *,
    budget: int,
    query_terms: frozenset[str] = frozenset(),
    modalities: Collection[Modality] = GENERIC.media,
) -> MediaPlan:
    """How each item enters, and what is then sent with the text.

    What shares `query_terms`, the content terms of the request, comes first. `modalities` is
    what the model reads in addition to text: nothing else is sent or counted.

    Raises:
        ContextBudgetExhausted: `required_over_budget`, when something could only be named and
            the policy fails loud.
        InvalidInput: `bad_media`; under such a policy also for what the model does not take.
    """
    pool = round(budget * rules.media_share)
    context = _PlanContext(
        counter=counter, rules=rules, query_terms=query_terms, pool=pool, modalities=modalities
    )
    entries = [_full_entry(item, context) for item in media]
    if sum(map(_size, entries)) > pool:
        entries = _share_pool(entries, context)

    withheld_entries = [entry for entry in entries if entry.withheld]
    if withheld_entries and (rules.safety_critical or rules.overflow is OverflowPolicy.FAIL_LOUD):
        _refuse(withheld_entries, context)
        raise _budget_error(withheld_entries, budget)

    return MediaPlan(tuple(entries))


def _refuse(entries: Sequence[MediaEntry], context: _PlanContext) -> None:
    """Refuse what no budget makes the model take."""
    unreadable_uris: list[str] = []
    for entry in entries:
        if entry.item.modality not in context.modalities:
            unreadable_uris.append(entry.media.uri)
    if unreadable_uris:
        raise InvalidInput(
            f"the model does not take {', '.join(unreadable_uris)} and the policy leaves nothing "
            "out: give stand_ins (text, method), leave them out, or compile for a model that takes "
            "them",
            code="bad_media",
        )


def _budget_error(entries: Sequence[MediaEntry], budget: int) -> ContextBudgetExhausted:
    tokens = 0
    uris: list[str] = []
    for entry in entries:
        tokens += original(entry.media).tokens
        uris.append(entry.media.uri)
    return ContextBudgetExhausted(
        f"{', '.join(uris)} would take {tokens} tokens beside the text, the budget is {budget} "
        "and the policy leaves nothing out: raise budget_tokens, send fewer or smaller ones, or "
        "give stand_ins (text, method), segments or regions",
        code="required_over_budget",
        shortfall=tokens,
    )


def _size(entry: MediaEntry) -> int:
    """What an item takes of the media's part: tables too, stand-ins not."""
    table = entry.item.modality is Modality.STRUCTURED
    return entry.item.tokens if table else entry.attachment_tokens


def _full_entry(media: Media, context: _PlanContext) -> MediaEntry:
    """An item as it enters where nothing is scarce."""
    if media.kind is MediaKind.STRUCTURED:
        return _table(media, context, None)

    entry = cropped_picture(MediaEntry(media=media, text=media_text(media), item=original(media)))
    if entry.item.modality not in context.modalities:
        return _substitute_entry(entry, context)

    offers = _offers(media, context)

    share = round(1000 * context.rules.media_fidelity)
    replacement = substitute(entry.item, offers, fidelity_permille=share)
    if replacement is entry.item:
        return entry
    return _stand_in_entry(entry, replacement, offers[replacement])


def _offers(media: Media, context: _PlanContext) -> dict[MediaItem, StandIn]:
    """What may replace an item: its stand-ins, and a transcript that its segments make."""
    room, query_terms = context.pool, context.query_terms
    full = with_transcript(media, context.counter, room=room, query_terms=query_terms)

    offers: dict[MediaItem, StandIn] = {}
    for number, stand_in in enumerate(full.stand_ins):
        offers[offer(full, number, context.counter)] = stand_in
    return offers


def _stand_in_entry(entry: MediaEntry, item: MediaItem, stand_in: StandIn) -> MediaEntry:
    media, source = entry.media, original(entry.media)
    reference = CrossModalReference(
        source=source, target=item, confidence_permille=permille(stand_in.confidence, 1000)
    )
    link = reference.line()
    return MediaEntry(
        media=media,
        text=f"{media_text(media)}\n[{link}]\n{stand_in.text}",
        item=item,
        saved_tokens=max(0, source.tokens - item.tokens),
        reference=link,
    )


def _table(media: Media, context: _PlanContext, room: int | None) -> MediaEntry:
    """A table in its cheapest form, within a room where there is one."""
    reduction = needed_rows(media)
    options = table_rules(context.counter, context.rules, context.query_terms, media)
    head = media_text(media)
    if room is None:
        table = whole_table(reduction, options)
    else:
        overhead = context.counter.upper_bound(head) + _FRAME
        table = table_within(reduction, options, max(0, room - overhead))

    method = _table_method(table.note, reduction.note)
    # What a caller would have sent without this plan: all rows, as JSON for people.
    pretty = context.counter.upper_bound(serialise(rows_of(media), Form.PRETTY_JSON))
    return MediaEntry(
        media=media,
        text="\n".join(filter(None, (head, table.text))),
        item=replace(original(media), tokens=table.tokens, method=method),
        saved_tokens=max(0, pretty - table.tokens),
        form=table.form,
        note=table.note,
    )


def _table_method(note: str, request_note: str) -> str:
    """What was done to a table: nothing, what the caller asked for, or more."""
    if not note:
        return "original"
    return "filtered" if note == request_note else "sampled"


def _share_pool(entries: Sequence[MediaEntry], context: _PlanContext) -> list[MediaEntry]:
    """The items within a pool that cannot hold all of them whole.

    The items of greatest worth whose smallest versions fit together stay; the pool is then
    divided between them.
    """
    claims: dict[str, tuple[MediaEntry, Section]] = {}
    items: list[Item] = []
    for number, entry in enumerate(entries):
        size = _size(entry)
        if not size:
            continue
        name, worth = f"{number:05}", claim_on_budget(entry.media, context.query_terms)
        floor = least_tokens(entry, context)
        items.append(Item(name, floor, worth))
        # Half of a token's worth is lost after a quarter of the item: the first segments and rows
        # say most.
        beta = max(1.0, size / 4)
        section = Section(name, worth / 1000, alpha=float(size), beta=beta, t_min=floor, t_max=size)
        claims[name] = entry, section

    # First who goes in at all, at its smallest; then what each gets of the rest.
    winners = {name: claims[name] for name in knapsack(items, context.pool)}
    plans: dict[str, MediaEntry] = {}
    rations = _rations(winners.values(), context.pool)
    for name, (entry, _) in winners.items():
        if entry.media.kind is not MediaKind.IMAGE:
            plans[name] = smaller(entry, rations[name], context)

    # Segments and rows come in lumps and leave something over, pictures can take any size: so
    # the pictures divide what the others did not use.
    pictures = [claim for name, claim in winners.items() if name not in plans]
    rations = _rations(pictures, context.pool - sum(map(_size, plans.values())))
    for entry, section in pictures:
        plans[section.id] = smaller(entry, rations[section.id], context)

    # What takes nothing of the pool made no claim, and stays as it is.
    final_entries: list[MediaEntry] = []
    for number, entry in enumerate(entries):
        name = f"{number:05}"
        if name in claims and name not in plans:
            plans[name] = _substitute_entry(entry, context)
        final_entries.append(plans.get(name, entry))
    return final_entries


def _rations(claims: Iterable[tuple[MediaEntry, Section]], pool: int) -> Mapping[str, int]:
    """Each item's part of the pool, by worth and size, from the one exact allocator."""
    return allocate([section for _, section in claims], pool).tokens


def _substitute_entry(entry: MediaEntry, context: _PlanContext) -> MediaEntry:
    """What represents an item that cannot be sent: its best stand-in, else its name."""
    if entry.media.kind is MediaKind.STRUCTURED:
        return _table(entry.media, context, 0)

    readable = entry.item.modality in context.modalities
    # A stand-in for what could be sent must be cheaper; for what cannot, it need only fit.
    ceiling = entry.item.tokens if readable else context.pool + 1
    offers = _offers(entry.media, context)
    fitting = [item for item in offers if item.tokens < ceiling]

    if fitting:
        item = max(fitting, key=lambda item: (item.utility_permille, item.id))
        return _stand_in_entry(entry, item, offers[item])

    reason = f"it takes {entry.item.tokens} tokens"
    if not readable:
        reason = f"the model takes no {entry.item.modality.value}"

    return MediaEntry(
        media=entry.media,
        text=media_text(entry.media, notes=[f"[not sent: {reason}; ask for it by its address]"]),
        item=replace(entry.item, tokens=0, method=POINTER),
        saved_tokens=original(entry.media).tokens,
        note=reason,
    )


def seconds(number: float) -> str:
    """Return seconds as addresses write them, to a millisecond.

    >>> seconds(30.5), seconds(86400.0)
    ('30.5', '86400')
    """
    return f"{number:.3f}".rstrip("0").rstrip(".")


def media_text(media: Media, *, notes: Sequence[str] = ()) -> str:
    """What names a media item in the text, with notes of what was done to it."""
    size = f" {media.width}x{media.height}" if media.width and media.height else ""
    length = f" {media.seconds:g}s" if media.seconds else ""
    address = f" {media.uri}" if media.uri else ""
    lines = [f"[{media.kind.value}{size}{length}{address}]", *notes, media.description]
    return "\n".join(filter(None, lines))


def cropped_picture(entry: MediaEntry) -> MediaEntry:
    """A picture cut to the regions that the task needs, where that saves tokens."""
    media = entry.media
    if media.kind is not MediaKind.IMAGE or not media.regions:
        return entry

    # A picture of unknown size is at least as large as the regions in it.
    _, _, rights, bottoms = zip(*media.regions, strict=True)
    width = media.width or max(rights)
    height = media.height or max(bottoms)
    box = crop_region(width, height, media.regions)
    if box is None:
        return entry

    left, top, right, bottom = box
    tokens = image_tokens(right - left, bottom - top, PICTURE)
    if tokens >= entry.item.tokens:
        return entry
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


def smaller(entry: MediaEntry, target: int, context: _PlanContext) -> MediaEntry:
    """An item planned down to its part of what media may take, at least its `least_tokens`."""
    media, least_px = entry.media, context.rules.media_least_px
    if _size(entry) <= target:
        return entry
    if media.kind is MediaKind.STRUCTURED:
        return _table(media, context, target)
    if media.kind is MediaKind.IMAGE:
        return _resize(entry, target, least_px)
    if media.segments:
        return _cut(entry, target, context.query_terms)
    return _film(entry, target, least_px)


def _resize(entry: MediaEntry, target: int, least_px: int) -> MediaEntry:
    media = entry.media
    left, top, right, bottom = entry.region or (0, 0, media.width, media.height)
    size = readable_size(right - left, bottom - top, target, least_px)
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
        size = readable_size(media.width, media.height, (target - sound) // frames, least_px)
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


def least_tokens(entry: MediaEntry, context: _PlanContext) -> int:
    """The fewest tokens that an item can be made to take and still be sent."""
    media = entry.media
    if media.kind is MediaKind.STRUCTURED:
        head = context.counter.upper_bound(media_text(media))
        return min(_size(entry), head + _FRAME + _LEAST_TABLE)
    if media.segments and media.kind is not MediaKind.IMAGE:
        sizes = [one_media_tokens(segment_media(media, segment)) for segment in media.segments]
        return min(entry.attachment_tokens, *sizes)

    left, top, right, bottom = entry.region or (0, 0, media.width, media.height)
    width, height = right - left, bottom - top
    if width and height:
        width, height = readable_size(width, height, 0, context.rules.media_least_px)
    small = replace(media, width=width, height=height)
    if media.kind is MediaKind.VIDEO:
        return film_tokens(small, frames=1)
    if media.kind is MediaKind.IMAGE:
        return min(entry.attachment_tokens, picture_tokens(small))

    return entry.attachment_tokens
