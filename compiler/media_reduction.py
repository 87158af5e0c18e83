"""Smaller versions of media and tables that still serve the task.

Plans only: sizes, segments, rows. Whoever holds the bytes does the work. Every plan is
deterministic, and what a table loses is said in a note, so that a model never takes a sample
for the whole. Source 000, 6.12.3; checklist C-193.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from ..schema.errors import InvalidInput
from .items import Item
from .knapsack import knapsack
from .modality import ImageRule, image_tokens


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
    """Return the largest size of the same shape within the tokens, or None.

    None says that no size whose shorter edge is at least `least_px` fits: substitute or leave
    the picture out.

    Raises:
        InvalidInput: `bad_media`, for a size below 1.
    """
    if image_tokens(width_px, height_px, rule) <= target_tokens:
        return width_px, height_px
    longer, shorter = max(width_px, height_px), min(width_px, height_px)

    def size(edge: int) -> tuple[int, int]:
        return max(1, width_px * edge // longer), max(1, height_px * edge // longer)

    least = min(longer, max(1, -(-least_px * longer // shorter)))
    fitting = [least - 1, longer]  # tokens rise with the edge, so halving finds the last that fits
    while fitting[1] - fitting[0] > 1:
        middle = sum(fitting) // 2
        fitting[image_tokens(*size(middle), rule) > target_tokens] = middle
    return size(fitting[0]) if fitting[0] >= least else None


def cropped(width_px: int, height_px: int, regions: Iterable[Region]) -> Region | None:
    """Return the smallest region around all regions of interest, inside the picture."""
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
    """Return the most valuable segments of a recording within the tokens, in their own order.

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
    """Return the rows to keep, with the named columns in the given order."""
    kept = tuple(
        {column: row[column] for column in columns if column in row} for row in rows if keep(row)
    )
    every = {column for row in rows for column in row}
    hidden = len(every - set(columns))
    if len(kept) == len(rows) and not hidden:
        return Reduced(kept, "")
    return Reduced(
        kept, f"{len(kept)} of {len(rows)} rows; {hidden} of {len(every)} columns left out"
    )


def sampled(rows: Sequence[Mapping[str, object]], size: int) -> Reduced:
    """Return evenly spaced rows, first and last among them, with the size of the whole.

    Raises:
        InvalidInput: `bad_media`, for a size below 1.
    """
    if size < 1:
        raise InvalidInput(f"a sample has at least 1 row, not {size}", code="bad_media")
    if len(rows) <= size:
        return Reduced(tuple(rows), "")
    step = max(1, size - 1)
    places = [place * (len(rows) - 1) // step for place in range(size)]
    note = f"sample of {size} of {len(rows)} rows, evenly spaced; the rest is available"
    return Reduced(tuple(rows[place] for place in places), note)


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
