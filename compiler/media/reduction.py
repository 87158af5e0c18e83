"""Smaller versions of media and tables that still serve the task.

Plans only: sizes, segments, rows. Whoever holds the bytes does the work. Every plan is
deterministic, and what a table loses is said in a note, so that a model never takes a sample
for the whole. Checklist C-193.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from ...schema.errors import InvalidInput
from ..budget.items import Item
from ..budget.knapsack import knapsack
from ..tokens.modality import ImageRule, image_tokens


@dataclass(frozen=True, slots=True)
class Region:
    """A part of a picture in pixels; the right and lower edges are outside."""

    left: int
    top: int
    right: int
    bottom: int

    def __post_init__(self) -> None:
        if not (0 <= self.left < self.right and 0 <= self.top < self.bottom):
            raise InvalidInput(f"an empty or negative region: {self}", code="bad_media")


@dataclass(frozen=True, slots=True)
class Reduced:
    """Rows that stay, and the sentence that says what is missing."""

    rows: tuple[Mapping[str, object], ...]
    note: str
    """Empty when nothing is missing."""


def downsampled(
    width_px: int, height_px: int, rule: ImageRule, *, target_tokens: int, least_px: int = 1
) -> tuple[int, int] | None:
    """The largest size of the same shape within the tokens, or None.

    None says that no size whose shorter edge is at least `least_px` fits: substitute or leave
    the picture out.

    Raises:
        InvalidInput: `bad_media`, for a size below 1.
    """
    if image_tokens(width_px, height_px, rule) <= target_tokens:
        return width_px, height_px

    longer, least = max(width_px, height_px), _least_edge(width_px, height_px, least_px)
    fitting = [least - 1, longer]  # tokens rise with the edge, so halving finds the last that fits
    while fitting[1] - fitting[0] > 1:
        middle = sum(fitting) // 2
        size = _with_edge(width_px, height_px, middle)
        fitting[image_tokens(*size, rule) > target_tokens] = middle

    return _with_edge(width_px, height_px, fitting[0]) if fitting[0] >= least else None


def least_size(width_px: int, height_px: int, least_px: int) -> tuple[int, int]:
    """The smallest size of the same shape whose shorter edge has the least pixels.

    >>> least_size(1000, 500, 100)
    (200, 100)
    """
    return _with_edge(width_px, height_px, _least_edge(width_px, height_px, least_px))


def _least_edge(width_px: int, height_px: int, least_px: int) -> int:
    longer, shorter = max(width_px, height_px), min(width_px, height_px)
    return min(longer, max(1, -(-least_px * longer // shorter)))


def _with_edge(width_px: int, height_px: int, edge: int) -> tuple[int, int]:
    """The size whose longer edge is the stated one."""
    longer = max(width_px, height_px)
    return max(1, width_px * edge // longer), max(1, height_px * edge // longer)


def cropped(width_px: int, height_px: int, regions: Iterable[Region]) -> Region | None:
    """The smallest region around all regions of interest, inside the picture."""
    inside = [region for region in regions if region.left < width_px and region.top < height_px]
    if not inside:
        return None

    return Region(
        min(region.left for region in inside),
        min(region.top for region in inside),
        min(width_px, max(region.right for region in inside)),
        min(height_px, max(region.bottom for region in inside)),
    )


def chosen_segments(segments: Sequence[Item], target_tokens: int) -> tuple[str, ...]:
    """The most valuable segments of a recording within the tokens, in their own order.

    Raises:
        InvalidInput: `bad_item`.
    """
    chosen = set(knapsack(segments, target_tokens))
    return tuple(segment.id for segment in segments if segment.id in chosen)


def filtered(
    rows: Sequence[Mapping[str, object]],
    columns: Sequence[str],
    keep: Callable[[Mapping[str, object]], bool] = lambda row: True,
) -> Reduced:
    """The rows to keep, with the named columns in the given order."""
    kept = tuple(
        {column: row[column] for column in columns if column in row} for row in rows if keep(row)
    )
    every = {column for row in rows for column in row}
    hidden = len(every - set(columns))
    said = [f"{len(kept)} of {len(rows)} rows"] if len(kept) < len(rows) else []
    said += [f"{hidden} of {len(every)} columns left out"] if hidden else []
    return Reduced(kept, "; ".join(said))


def sampled(rows: Sequence[Mapping[str, object]], size: int) -> Reduced:
    """Return evenly spaced rows, first and last among them, with the size of the whole.

    Raises:
        InvalidInput: `bad_media`, for a size below 1.
    """
    if size < 1:
        raise InvalidInput(f"a sample has at least 1 row, not {size}", code="bad_media")
    if len(rows) <= size:
        return Reduced(tuple(rows), "")

    places = _spread(range(len(rows)), size)
    note = f"sample of {size} of {len(rows)} rows, evenly spaced; the rest is available"
    return Reduced(tuple(rows[place] for place in places), note)


def nearest(rows: Sequence[Mapping[str, object]], worth: Sequence[int], size: int) -> Reduced:
    """The rows of most worth in their own order, evenly spaced among equals.

    `worth` has a number for each row; rows of one worth are a plain sample.

    Raises:
        InvalidInput: `bad_media`, for a size below 1.
    """
    if len(set(worth)) < 2 or len(rows) <= size:
        return sampled(rows, size)

    places: list[int] = []
    for level in sorted(set(worth), reverse=True):
        alike = [place for place, each in enumerate(worth) if each == level]
        if len(places) == size:
            break
        places += _spread(alike, size - len(places))

    note = f"{size} of {len(rows)} rows, nearest to the request first; the rest is available"
    return Reduced(tuple(rows[place] for place in sorted(places)), note)


def _spread(places: Sequence[int], size: int) -> Sequence[int]:
    """Return evenly spaced places, first and last among them."""
    if len(places) <= size:
        return places
    step = max(1, size - 1)
    return [places[at * (len(places) - 1) // step] for at in range(size)]


def grouped(
    rows: Sequence[Mapping[str, object]], columns: Sequence[str], by: str = ""
) -> tuple[dict[str, object], ...]:
    """The aggregates of columns as rows, one a group and column, groups sorted.

    >>> grouped([{"n": 1, "t": "a"}, {"n": 2, "t": "a"}], ["n"], "t")
    ({'t': 'a', 'column': 'n', 'count': 2, 'sum': 3, 'min': 1, 'max': 2, 'mean': 1.5},)
    """
    groups: dict[str, list[Mapping[str, object]]] = {}
    for row in rows:
        groups.setdefault(str(row.get(by, "")) if by else "", []).append(row)

    found: list[dict[str, object]] = []
    for name in sorted(groups):
        for column in columns:
            numbers = aggregated(groups[name], column)
            plain = {what: _plain(number) for what, number in numbers.items()}
            found.append({**({by: name} if by else {}), "column": column, **plain})

    return tuple(found)


def _plain(number: Fraction) -> int | float:
    """A number as JSON writes it, to six digits after the point."""
    return int(number) if number.denominator == 1 else float(round(number, 6))


def aggregated(rows: Sequence[Mapping[str, object]], column: str) -> dict[str, Fraction]:
    """Return count, sum, least, most and mean of a column's numbers, exact.

    Values that are no numbers are not counted; without any number only the count stands.
    """
    values = [row.get(column) for row in rows]
    numbers = [
        Fraction(value)
        for value in values
        if isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e300
    ]
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
