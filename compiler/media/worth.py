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
from ..request.request import Media, MediaKind, MediaSegment, StandIn
from ..text.relevance import terms_of
from ..tokens.counting import TokenCounter
from ..tokens.modality import MediaItem, Modality, audio_utility, image_utility, structured_utility
from .cost import one_media_tokens
from .reduction import chosen_segments

_UTILITY_OF_METHOD: Final[Mapping[str, int]] = {"ocr": 900, "transcript": 900, "caption": 600}
"""Utility of a stand-in that states none, in permille of a whole original: the words of a page
or a speech carry most of it, a caption tells what it shows."""
_OTHER_METHOD: Final = 800
_LEAST_RELEVANCE: Final = 500
"""Relevance of what shares no word with the request, in permille: the caller sent it for this
request, so it is worth much; half lets what the request names come first."""

_HEAD: Final = 16
"""Tokens of the line that says how many segments there are."""

PERMILLE: Final = 1000


def permille(share: float | None, usual: int) -> int:
    """A stated share of 0 to 1 in permille, else the usual one."""
    return usual if share is None else round(PERMILLE * share)


def relevance(text: str, query_terms: frozenset[str]) -> int:
    """How much of the request a text speaks of, in permille; whole where either is silent.

    >>> relevance("the red car", frozenset({"red", "bike"}))
    500
    """
    words = terms_of(text)
    if not query_terms or not words:
        return PERMILLE

    return max(_LEAST_RELEVANCE, PERMILLE * len(query_terms & words) // len(query_terms))


def original(media: Media) -> MediaItem:
    """The whole original as an item of its modality; its worth against stand-ins."""
    return MediaItem(
        id=media.uri,
        modality=Modality(media.kind.value),
        tokens=one_media_tokens(media),
        utility_permille=permille(media.utility, PERMILLE),
    )


def claim_on_budget(media: Media, query_terms: frozenset[str]) -> int:
    """The worth by which media share a budget that is too small for all of them."""
    texts = [media.description, *media.columns]
    texts += [stand_in.text for stand_in in media.stand_ins]
    texts += [segment.text for segment in media.segments]
    nearness = relevance("\n".join(texts), query_terms)
    stated_utility = permille(media.utility, PERMILLE)
    if media.kind is MediaKind.IMAGE:
        return image_utility(density=stated_utility, relevance=nearness)
    if media.kind is MediaKind.STRUCTURED:
        return structured_utility(relevance=nearness, needed_rows=stated_utility)

    # Where words can be sent alone, sound is worth what it tells beyond them.
    speech = PERMILLE if _has_transcript(media) else 0
    acoustic = round(PERMILLE * media.beyond_text)
    utility = audio_utility(speech=speech, relevance=nearness, acoustic=acoustic)
    return max(1, utility * stated_utility // PERMILLE)


def _has_transcript(media: Media) -> bool:
    return any(stand_in.method == "transcript" for stand_in in media.stand_ins)


def worth(segment: MediaSegment, query_terms: frozenset[str]) -> int:
    """What a segment is worth for the request, at least 1."""
    return max(1, permille(segment.utility, relevance(segment.text, query_terms)))


def with_transcript(
    media: Media, counter: TokenCounter, *, room: int, query_terms: frozenset[str]
) -> Media:
    """A recording with the transcript that its segments make, where it brought none.

    A transcript beyond the room keeps the segments that matter most, and says how many.
    """
    if _has_transcript(media) or not media.segments:
        return media

    lines: dict[str, str] = {}
    items: list[Item] = []
    for number, segment in enumerate(media.segments):
        # One silent segment, and the words of the others are no transcript of the recording.
        if not segment.text:
            return media

        line = f"[{segment.start:g}-{segment.end:g}s] {segment.text}"
        item = Item(f"{number:05}", counter.upper_bound(f"{line}\n"), worth(segment, query_terms))
        lines[item.id] = line
        items.append(item)

    selection = chosen_segments(items, max(0, room - _HEAD))
    if not selection:
        return media

    text = "\n".join(map(lines.__getitem__, selection))
    if len(selection) < len(lines):
        text = f"[{len(selection)} of {len(lines)} segments]\n{text}"

    return replace(media, stand_ins=(*media.stand_ins, StandIn(text=text, method="transcript")))


def offer(media: Media, place: int, counter: TokenCounter) -> MediaItem:
    """A stand-in of a media item as an item that may replace it."""
    stand_in = media.stand_ins[place]
    method_utility = _UTILITY_OF_METHOD.get(stand_in.method, _OTHER_METHOD)
    in_words = PERMILLE - round(PERMILLE * media.beyond_text)
    original_utility = permille(media.utility, PERMILLE)
    usual_utility = method_utility * in_words // PERMILLE * original_utility // PERMILLE
    return MediaItem(
        id=f"{media.uri}#{stand_in.method}{place + 1}",
        modality=Modality.TEXT,
        tokens=counter.upper_bound(stand_in.text),
        utility_permille=permille(stand_in.utility, usual_utility),
        method=stand_in.method,
    )
