"""Instants and half-open intervals in integer microseconds UTC, and Allen's thirteen relations.

One type serves both time axes. An interval is never empty, so exactly one of the thirteen relations
holds between any two. An open start is `MIN_US` and an open end `INF_US`; no store holds null for
them. A relation labels a decision; `store.reconcile` makes it by recomputing the timeline.

>>> relation(Interval(10, 20), Interval(15, 25))
<Relation.OVERLAPS: 'overlaps'>

Sources: J. F. Allen, "Maintaining knowledge about temporal intervals", CACM 26(11), 1983;
checklist C-059, C-066.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Self

from .errors import InvalidInput
from .records import short_repr

MIN_US: Final = -62135596800000000
"""The open start: 0001-01-01T00:00:00Z, the smallest instant a datetime holds."""

INF_US: Final = 253402300799999999
"""The open end: 9999-12-31T23:59:59.999999Z, the greatest instant a datetime holds."""


@dataclass(frozen=True, slots=True, order=True)
class Interval:
    """A half-open, non-empty span `[start_us, end_us)` of microseconds UTC."""

    __repr__ = short_repr

    start_us: int
    """First instant inside; `MIN_US` when open."""
    end_us: int
    """First instant after; `INF_US` when open."""

    def __post_init__(self) -> None:
        if not MIN_US <= self.start_us <= INF_US or not MIN_US <= self.end_us <= INF_US:
            # Each error says what to do, so the three cases are not folded into one.
            raise InvalidInput(
                "valid_from or valid_until leaves the years 1 to 9999, counted in UTC; give an "
                "instant within them, or none",
                code="instant_out_of_range",
            )

        if self.start_us == self.end_us:
            raise InvalidInput(
                "the interval is empty: valid_until is not after valid_from; state a later end",
                code="empty_interval",
            )

        if self.start_us > self.end_us:
            raise InvalidInput(
                "the interval is reversed: valid_from is later than valid_until; swap them",
                code="inverted_interval",
            )

    def __contains__(self, instant_us: int) -> bool:
        return self.start_us <= instant_us < self.end_us

    def overlaps(self, second: Interval) -> bool:
        """Whether the two share at least one instant."""
        # Half-open: spans that meet share nothing, and an empty span cannot be made.
        return self.start_us < second.end_us and second.start_us < self.end_us

    def intersection(self, second: Self) -> Self | None:
        """The shared span, or None where there is none."""
        start, end = max(self.start_us, second.start_us), min(self.end_us, second.end_us)
        return type(self)(start, end) if start < end else None

    def hull(self, second: Self) -> Self:
        """The smallest span that holds both."""
        start, end = min(self.start_us, second.start_us), max(self.end_us, second.end_us)
        return type(self)(start, end)


ALL_TIME: Final = Interval(MIN_US, INF_US)
"""The interval that is open at both ends."""


class Relation(StrEnum):
    """Allen's thirteen relations; the value reads "A *relation* B"."""

    BEFORE = "before"
    MEETS = "meets"
    OVERLAPS = "overlaps"
    FINISHED_BY = "finished_by"
    CONTAINS = "contains"
    STARTS = "starts"
    EQUALS = "equals"
    STARTED_BY = "started_by"
    DURING = "during"
    FINISHES = "finishes"
    OVERLAPPED_BY = "overlapped_by"
    MET_BY = "met_by"
    AFTER = "after"


# keyed by (start against start, end against end), each -1, 0 or 1, for spans that overlap
_OVERLAPPING: Final = {
    (-1, -1): Relation.OVERLAPS,
    (-1, 0): Relation.FINISHED_BY,
    (-1, 1): Relation.CONTAINS,
    (0, -1): Relation.STARTS,
    (0, 0): Relation.EQUALS,
    (0, 1): Relation.STARTED_BY,
    (1, -1): Relation.DURING,
    (1, 0): Relation.FINISHES,
    (1, 1): Relation.OVERLAPPED_BY,
}


def relation(a: Interval, b: Interval) -> Relation:
    """The one Allen relation that holds between `a` and `b`.

    >>> relation(Interval(2, 5), Interval(5, 9))
    <Relation.MEETS: 'meets'>
    """
    # Disjoint spans first, so that the table below only has to know spans that share an instant.
    if a.end_us <= b.start_us:
        return Relation.MEETS if a.end_us == b.start_us else Relation.BEFORE
    if b.end_us <= a.start_us:
        return Relation.MET_BY if b.end_us == a.start_us else Relation.AFTER
    return _OVERLAPPING[_sign(a.start_us - b.start_us), _sign(a.end_us - b.end_us)]


def _sign(number: int) -> int:
    return (number > 0) - (number < 0)
