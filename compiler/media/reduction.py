"""Smaller versions of media and tables that still serve the task.

Plans only: sizes, segments, rows. Whoever holds the bytes does the work. Every plan is
deterministic, and what a table loses is said in a note, so that a model never takes a sample
for the whole. Checklist C-193.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain
from typing import TypeVar

from ...schema.errors import InvalidInput
from ..budget.items import Item
from ..budget.knapsack import knapsack
from ..tokens.modality import ImageRule, image_tokens

_Row = TypeVar("_Row")


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
class TableReduction:
    """Rows that stay, and the sentence that says what is missing."""

    rows: tuple[Mapping[str, object], ...]
    note: str
    """Empty when nothing is missing."""


def largest_size(
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

    least_edge = _least_edge(width_px, height_px, least_px)

    # Tokens rise with the edge, so halving finds the last one that fits.
    fitting, too_large = least_edge - 1, max(width_px, height_px)
    while too_large - fitting > 1:
        middle = (fitting + too_large) // 2
        size = _with_edge(width_px, height_px, middle)
        if image_tokens(*size, rule) > target_tokens:
            too_large = middle
        else:
            fitting = middle

    return _with_edge(width_px, height_px, fitting) if fitting >= least_edge else None


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


def crop_region(width_px: int, height_px: int, regions: Iterable[Region]) -> Region | None:
    """The smallest region around all regions of interest, inside the picture."""
    union: Region | None = None
    for region in regions:
        # A region may be stated for a larger original; outside of this one there is nothing.
        if region.left >= width_px or region.top >= height_px:
            continue

        right, bottom = min(width_px, region.right), min(height_px, region.bottom)
        if union is None:
            union = Region(region.left, region.top, right, bottom)
        union = Region(
            min(union.left, region.left),
            min(union.top, region.top),
            max(union.right, right),
            max(union.bottom, bottom),
        )

    return union


def chosen_segments(segments: Sequence[Item], target_tokens: int) -> tuple[str, ...]:
    """The most valuable segments of a recording within the tokens, in their own order.

    Raises:
        InvalidInput: `bad_item`.
    """
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
