"""What media cost, what they are worth for the task, and how they can be made smaller.

The token rules are one conservative default for all models: pictures by patches of 28 pixels, sound
by frames of 25 ms, films by one frame a second with their sound. A size that is not stated counts
as a picture of one megapixel or one minute. These tokens come off the budget before the text is
fitted.

The caller states the worth, or it follows from the share of the request that the item's words cover
and, for a recording, from what a transcript cannot give. A stand-in without a stated worth keeps
what its method usually keeps, less what the task needs beyond text. A recording whose segments all
have words gets its transcript from them. Plans are deterministic, and a note states what a table
loses, so that a model never takes a sample for the whole.
Checklist C-188 to C-190, C-192 to C-194, C-196.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import chain, combinations
from typing import Final, NamedTuple, TypeVar

from ...schema.errors import InvalidInput
from ..request.request import Box, Media, MediaKind, MediaSegment, StandIn
from ..text.relevance import terms_of
from ..tokens.counting import TokenCounter
from ..tokens.modality import (
    ImageRule,
    MediaItem,
    Modality,
    audio_tokens,
    image_tokens,
    sampled_frames,
    video_tokens,
)

PICTURE: Final = ImageRule(patch_px=28)
_SIDE: Final = 1_000
_LENGTH_MS: Final = 60_000

_Row = TypeVar("_Row")
_FEW = 12
"""Items whose every subset is tried."""

_UTILITY_OF_METHOD: Final[Mapping[str, int]] = {"ocr": 900, "transcript": 900, "caption": 600}
"""Utility of a stand-in that states none, in permille of a whole original: the words of
a page or a speech carry most of it, a caption only says what a picture shows."""
_OTHER_METHOD: Final = 800
_LEAST_RELEVANCE: Final = 500
"""Relevance of what shares no word with the request, in permille: the caller sent it for this
request, so it is worth much; half lets what the request names come first."""

_HEAD: Final = 16
"""Tokens of the line that says how many segments there are."""

PERMILLE: Final = 1000


def one_media_tokens(item: Media) -> int:
    """The tokens of one picture, recording or film; 0 of a table, which is text.

    >>> one_media_tokens(Media(kind=MediaKind.AUDIO, uri="a.wav", seconds=60))
    2400
    """
    if item.kind is MediaKind.STRUCTURED:
        return 0
    if item.kind is MediaKind.IMAGE:
        return picture_tokens(item)
    return sound_tokens(item) if item.kind is MediaKind.AUDIO else film_tokens(item)


def picture_tokens(item: Media) -> int:
    """The tokens of a picture, or of one frame of a film."""
    return image_tokens(item.width or _SIDE, item.height or _SIDE, PICTURE)


def sound_tokens(item: Media) -> int:
    """The tokens of a recording, or of the sound of a film."""
    return audio_tokens(_length_ms(item))


def frames_of(item: Media) -> int:
    """How many frames of a film are sent, one a second."""
    return sampled_frames(_length_ms(item))


def film_tokens(item: Media, *, frames: int | None = None) -> int:
    """The tokens of a film with its sound, of all its frames or of some."""
    count = frames_of(item) if frames is None else frames
    return video_tokens(count, picture_tokens(item), audio_track=sound_tokens(item))


def _length_ms(item: Media) -> int:
    return round(item.seconds * 1000) or _LENGTH_MS


class Item(NamedTuple):
    """A part of something that is too large to be sent whole."""

    id: str
    """Unique in one call."""
    tokens: int
    value: int
    """At 0 or below it is never worth a token."""


def knapsack(items: Sequence[Item], budget: int) -> tuple[str, ...]:
    """The ids of items of great value that fit the budget, sorted: of a few items the optimum.

    Of many: by value per token, or the best single one, improved by swaps of one for one.

    >>> knapsack([Item("a", 6, 30), Item("b", 5, 24), Item("c", 5, 24)], 10)
    ('b', 'c')
    """
    fitting = sorted(item for item in items if item.value > 0 and item.tokens <= budget)
    if not fitting or sum(item.tokens for item in fitting) <= budget:
        return tuple(item.id for item in fitting)
    if len(fitting) <= _FEW:
        sets = chain.from_iterable(combinations(fitting, n) for n in range(1, len(fitting) + 1))
        within = [items for items in sets if sum(item.tokens for item in items) <= budget]
        best_set = min(within, key=lambda items: (-_value(items), items))
        return tuple(item.id for item in best_set)

    picks: list[Item] = []
    room = budget
    for item in sorted(fitting, key=lambda item: (-item.value / max(1, item.tokens), item.id)):
        if item.tokens <= room:
            picks.append(item)
            room -= item.tokens
    best = max(fitting, key=lambda item: item.value)
    if best.value > _value(picks):
        picks, room = [best], budget - best.tokens

    # A swap always gains, so this ends.
    others = [item for item in fitting if item not in picks]
    swaps = [(new, old) for new in others for old in picks if new.value > old.value]
    for new, old in sorted(swaps, key=lambda pair: pair[1].value - pair[0].value):
        if old in picks and new not in picks and new.tokens - old.tokens <= room:
            picks[picks.index(old)] = new
            room -= new.tokens - old.tokens
    return tuple(sorted(item.id for item in picks))


def _value(items: Iterable[Item]) -> int:
    return sum(item.value for item in items)


@dataclass(frozen=True, slots=True)
class TableReduction:
    """Rows that stay, and the sentence that says what is missing."""

    rows: tuple[Mapping[str, object], ...]
    note: str
    """Empty when nothing is missing."""


def readable_size(
    width_px: int, height_px: int, target_tokens: int, least_px: int
) -> tuple[int, int]:
    """The largest size of the same shape within the tokens.

    At least the smallest one whose shorter edge has the least pixels, or the size itself.

    >>> readable_size(1000, 500, 0, 100)
    (200, 100)

    Raises:
        InvalidInput: `bad_media`, for a size below 1.
    """
    if image_tokens(width_px, height_px, PICTURE) <= target_tokens:
        return width_px, height_px

    # Tokens rise with the edge, so halving finds the last one that fits.
    longer, shorter = max(width_px, height_px), min(width_px, height_px)
    fitting, too_large = min(longer, max(1, -(-least_px * longer // shorter))), longer
    while too_large - fitting > 1:
        middle = (fitting + too_large) // 2
        size = _with_edge(width_px, height_px, middle)
        if image_tokens(*size, PICTURE) > target_tokens:
            too_large = middle
        else:
            fitting = middle
    return _with_edge(width_px, height_px, fitting)


def _with_edge(width_px: int, height_px: int, edge: int) -> tuple[int, int]:
    """The size whose longer edge is the stated one."""
    longer = max(width_px, height_px)
    return max(1, width_px * edge // longer), max(1, height_px * edge // longer)


def crop_region(width_px: int, height_px: int, regions: Iterable[Box]) -> Box | None:
    """The smallest region around all regions of interest, inside the picture."""
    boxes: list[Box] = []
    for left, top, right, bottom in regions:
        # A region may be stated for a larger original; outside of this one there is nothing.
        if left < width_px and top < height_px:
            boxes.append((left, top, min(width_px, right), min(height_px, bottom)))

    if not boxes:
        return None
    lefts, tops, rights, bottoms = zip(*boxes, strict=True)
    return min(lefts), min(tops), max(rights), max(bottoms)


def chosen_segments(segments: Sequence[Item], target_tokens: int) -> tuple[str, ...]:
    """The most valuable segments of a recording within the tokens, in their own order."""
    selection = set(knapsack(segments, target_tokens))
    return tuple(segment.id for segment in segments if segment.id in selection)


def filter_rows(
    rows: Sequence[Mapping[str, object]],
    columns: Sequence[str],
    keep: Callable[[Mapping[str, object]], bool] = lambda row: True,
) -> TableReduction:
    """The rows to keep, with the named columns in the given order."""
    kept_rows: list[Mapping[str, object]] = []
    for row in filter(keep, rows):
        kept_rows.append({column: row[column] for column in columns if column in row})

    all_columns = set(chain.from_iterable(rows))
    hidden_count = len(all_columns.difference(columns))
    notes: list[str] = []
    if len(kept_rows) < len(rows):
        notes.append(f"{len(kept_rows)} of {len(rows)} rows")
    if hidden_count:
        notes.append(f"{hidden_count} of {len(all_columns)} columns left out")

    return TableReduction(tuple(kept_rows), "; ".join(notes))


def sample_rows(rows: Sequence[Mapping[str, object]], size: int) -> TableReduction:
    """Return evenly spaced rows, first and last among them, with the size of the whole.

    Raises:
        InvalidInput: `bad_media`, for a size below 1.
    """
    if size < 1:
        raise InvalidInput(f"a sample has at least 1 row, not {size}", code="bad_media")
    if len(rows) <= size:
        return TableReduction(tuple(rows), "")

    note = f"sample of {size} of {len(rows)} rows, evenly spaced; the rest is available"
    return TableReduction(tuple(_spread(rows, size)), note)


def nearest_rows(
    rows: Sequence[Mapping[str, object]], worth: Sequence[int], size: int
) -> TableReduction:
    """The rows of most worth in their own order, evenly spaced among equals.

    `worth` has a number for each row; rows of one worth are a plain sample.

    Raises:
        InvalidInput: `bad_media`, for a size below 1.
    """
    if len(set(worth)) < 2 or len(rows) <= size:
        return sample_rows(rows, size)

    levels: dict[int, list[int]] = {}
    for number, row_worth in enumerate(worth):
        levels.setdefault(row_worth, []).append(number)

    numbers: list[int] = []
    for level in sorted(levels, reverse=True):
        numbers += _spread(levels[level], size - len(numbers))

    # In their own order again: a table read out of order tells another story.
    note = f"{size} of {len(rows)} rows, nearest to the request first; the rest is available"
    return TableReduction(tuple(rows[number] for number in sorted(numbers)), note)


def _spread(row_list: Sequence[_Row], size: int) -> Sequence[_Row]:
    """Evenly spaced ones, first and last among them."""
    if len(row_list) <= size:
        return row_list

    gaps = max(1, size - 1)
    return [row_list[number * (len(row_list) - 1) // gaps] for number in range(size)]


def group_aggregates(
    rows: Sequence[Mapping[str, object]], columns: Sequence[str], group_column: str = ""
) -> tuple[dict[str, object], ...]:
    """The aggregates of columns as rows, one a group and column, groups sorted.

    >>> group_aggregates([{"n": 1, "t": "a"}, {"n": 2, "t": "a"}], ["n"], "t")
    ({'t': 'a', 'column': 'n', 'count': 2, 'sum': 3, 'min': 1, 'max': 2, 'mean': 1.5},)
    """
    groups: dict[str, list[Mapping[str, object]]] = {}
    for row in rows:
        group = str(row.get(group_column, "")) if group_column else ""
        groups.setdefault(group, []).append(row)

    summaries: list[dict[str, object]] = []
    for name in sorted(groups):
        for column in columns:
            summary: dict[str, object] = {group_column: name} if group_column else {}
            summary["column"] = column
            for statistic, number in column_aggregates(groups[name], column).items():
                summary[statistic] = _plain(number)
            summaries.append(summary)

    return tuple(summaries)


def _plain(number: Fraction) -> int | float:
    """A number as JSON writes it, to six digits after the point."""
    return int(number) if number.denominator == 1 else float(round(number, 6))


def column_aggregates(rows: Sequence[Mapping[str, object]], column: str) -> dict[str, Fraction]:
    """Return count, sum, least, most and mean of a column's numbers, exact.

    Values that are no numbers are not counted; without any number only the count stands.
    """
    numbers: list[Fraction] = []
    for row in rows:
        value = row.get(column)
        # True is a whole number to Python; NaN and infinities are not below any bound.
        if isinstance(value, bool) or not isinstance(value, int | float):
            continue
        if abs(value) < 1e300:
            numbers.append(Fraction(value))

    if not numbers:
        return {"count": Fraction(0)}

    total = sum(numbers, Fraction(0))
    return {
        "count": Fraction(len(numbers)),
        "sum": total,
        "min": min(numbers),
        "max": max(numbers),
        "mean": total / len(numbers),
    }


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
    utility = nearness * permille(media.utility, PERMILLE) // PERMILLE
    if media.kind in (MediaKind.IMAGE, MediaKind.STRUCTURED) or not _has_transcript(media):
        return utility
    # Where words can be sent alone, sound is worth what it tells beyond them.
    return max(1, utility * round(PERMILLE * media.beyond_text) // PERMILLE)


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
