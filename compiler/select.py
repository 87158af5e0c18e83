"""Which items of a section are taken: the face of the selection methods.

`knapsack` for values that add up, `facility_location` where variety counts, `mmr` as the named
option of source 001. `concave_envelope` turns the trace of a selection into the measured utility
curve of its section, which then replaces the allocator's hand-set alpha and beta.

>>> concave_envelope([(10, 50), (30, 60), (40, 90)])
((0, 0), (10, 50), (40, 90))
"""

from __future__ import annotations

from collections.abc import Iterable

from .budget.diversity import Similarity, facility_location, mmr
from .budget.items import Item, Selection
from .budget.knapsack import knapsack

__all__ = [
    "Item",
    "Selection",
    "Similarity",
    "concave_envelope",
    "facility_location",
    "knapsack",
    "mmr",
]


def concave_envelope(trace: Iterable[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """Return the smallest concave curve from (0, 0) that no (tokens, value) point lies above.

    Points rise in tokens and in value; what adds tokens without value is left out. Every point
    is a size at which the section really attains that value. Value that costs no token is
    taken off all points: no budget decides about it.
    """
    points = sorted(set(trace))
    free = max((value for tokens, value in points if not tokens), default=0)
    curve: list[tuple[int, int]] = [(0, 0)]
    for tokens, attained in points:
        value = attained - free
        if value <= curve[-1][1] or not tokens:
            continue
        while len(curve) > 1 and _dips(curve[-2], curve[-1], (tokens, value)):
            curve.pop()
        curve.append((tokens, value))
    return tuple(curve)


def _dips(left: tuple[int, int], middle: tuple[int, int], right: tuple[int, int]) -> bool:
    """Whether the middle lies on or below the line between its neighbours."""
    rise = (right[1] - left[1]) * (middle[0] - left[0])
    return (middle[1] - left[1]) * (right[0] - left[0]) <= rise
