"""What a media item is worth for the task, and the texts that may replace it.

Worth is stated by the caller, or follows from the modality: how much of the request its words
speak of, and of a recording what its transcript cannot give. A stand-in that states no worth
keeps what its method usually keeps, less what the task needs beyond any text. A recording whose
segments all carry their words has its transcript from them.
Checklist C-192, C-194.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from ..budget.items import Item
from ..request.request import Media, MediaKind, Segment, StandIn
from ..text.relevance import terms_of
from ..tokens.counting import TokenCounter
from ..tokens.modality import MediaItem, Modality, audio_utility, image_utility, structured_utility
from .cost import one_media_tokens
from .reduction import chosen_segments

_UTILITY_OF_METHOD: Final[Mapping[str, int]] = {"ocr": 900, "transcript": 900, "caption": 600}
"""Utility of a stand-in that states none, in permille of a whole original: the words of a page
or a speech carry most of it, a caption tells what it shows."""
_OTHER_METHOD: Final = 800
_LEAST: Final = 500
"""Relevance of what shares no word with the request, in permille: the caller sent it for this
request, so it is worth much; half lets what the request names come first."""

_HEAD: Final = 16
"""Tokens of the line that says how many segments there are."""

WHOLE: Final = 1000


def permille(share: float | None, usual: int) -> int:
    """A stated share of 0 to 1 in permille, else the usual one."""
    return usual if share is None else round(WHOLE * share)


def relevance(text: str, asked: frozenset[str]) -> int:
    """How much of the request a text speaks of, in permille; whole where either is silent.

    >>> relevance("the red car", frozenset({"red", "bike"}))
    500
    """
    words = terms_of(text)
    if not asked or not words:
        return WHOLE

    return max(_LEAST, WHOLE * len(asked & words) // len(asked))


def original(media: Media) -> MediaItem:
    """The whole original as an item of its modality; its worth against stand-ins."""
    return MediaItem(
        id=media.uri,
        modality=Modality(media.kind.value),
        tokens=one_media_tokens(media),
        utility_permille=permille(media.utility, WHOLE),
    )


def claim_on_budget(media: Media, asked: frozenset[str]) -> int:
    """The worth by which media share a budget that is too small for all of them."""
    spoken = [*(each.text for each in media.stand_ins), *(each.text for each in media.segments)]
    near = relevance("\n".join((media.description, *media.columns, *spoken)), asked)
    stated = permille(media.utility, WHOLE)
    if media.kind is MediaKind.IMAGE:
        return image_utility(density=stated, relevance=near)
    if media.kind is MediaKind.STRUCTURED:
        return structured_utility(relevance=near, needed_rows=stated)

    speech = WHOLE if any(each.method == "transcript" for each in media.stand_ins) else 0
    heard = audio_utility(speech=speech, relevance=near, acoustic=round(WHOLE * media.beyond_text))
    return max(1, heard * stated // WHOLE)


def worth(segment: Segment, asked: frozenset[str]) -> int:
    """What a segment is worth for the request, at least 1."""
    return max(1, permille(segment.utility, relevance(segment.text, asked)))


def with_transcript(
    media: Media, counter: TokenCounter, *, room: int, asked: frozenset[str]
) -> Media:
    """A recording with the transcript that its segments make, where it brought none.

    A transcript beyond the room keeps the segments that matter most, and says how many.
    """
    known = any(each.method == "transcript" for each in media.stand_ins)
    if known or not media.segments or not all(each.text for each in media.segments):
        return media

    lines = {f"{n:05}": f"[{s.start:g}-{s.end:g}s] {s.text}" for n, s in enumerate(media.segments)}
    items = [
        Item(name, counter.upper_bound(f"{line}\n"), worth(segment, asked))
        for (name, line), segment in zip(lines.items(), media.segments, strict=True)
    ]
    chosen = chosen_segments(items, max(0, room - _HEAD))
    head = [f"[{len(chosen)} of {len(lines)} segments]"] if len(chosen) < len(lines) else []
    text = "\n".join([*head, *(lines[name] for name in chosen)])
    if not chosen:
        return media

    return replace(media, stand_ins=(*media.stand_ins, StandIn(text=text, method="transcript")))


def offer(media: Media, place: int, counter: TokenCounter) -> MediaItem:
    """A stand-in of a media item as an item that may replace it."""
    each = media.stand_ins[place]
    kept = _UTILITY_OF_METHOD.get(each.method, _OTHER_METHOD)
    told = kept * (WHOLE - round(WHOLE * media.beyond_text)) // WHOLE
    whole = permille(media.utility, WHOLE)
    return MediaItem(
        id=f"{media.uri}#{each.method}{place + 1}",
        modality=Modality.TEXT,
        tokens=counter.upper_bound(each.text),
        utility_permille=permille(each.utility, told * whole // WHOLE),
        method=each.method,
    )
