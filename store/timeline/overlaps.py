"""Whether two rows share a point of both time axes: a sweep along transaction time. Pure.

The doctors of both stores use it to prove that at most one clean value decides an instant, and
that the rows of a claim never overlap.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any, Final

Span = tuple[int, int, int, int]
"""valid_from, valid_until, tx_start, tx_end."""

OVERLAPS: Final = (
    "two clean heads decide one point of slot",
    "two rows overlap on both axes, of claim",
)
"""What the doctor says of the two kinds of rows that may not overlap."""


def overlapping(spans: Iterable[Span]) -> bool:
    """Tell whether two rectangles share a point; a sweep along transaction time.

    >>> overlapping([(0, 5, 0, 9), (5, 9, 0, 9), (0, 5, 9, 12)])
    False
    >>> overlapping([(0, 5, 0, 9), (4, 9, 3, 4)])
    True
    """
    steps: list[tuple[int, int, int, int]] = []
    for start, until, tx_start, tx_end in spans:
        if start >= until or tx_start >= tx_end:
            continue  # it holds no point; that it is there at all is another finding
        steps.append((tx_start, 1, start, until))
        steps.append((tx_end, 0, start, until))

    active: list[tuple[int, int]] = []

    for _, opens, start, until in sorted(steps):
        position = bisect_left(active, (start, until))
        if not opens:
            active.pop(position)
        elif (position < len(active) and active[position][0] < until) or (
            position and active[position - 1][1] > start
        ):
            return True
        else:
            active.insert(position, (start, until))

    return False


def overlap_faults(lines: Iterable[Sequence[Any]], sentence: str) -> Iterator[str]:
    """Yield the sentence for each key whose rectangles share a point; lines come by their key."""
    for key, group in groupby(lines, key=lambda line: str(line[0])):
        if overlapping((line[1], line[2], line[3], line[4]) for line in group):
            yield f"{sentence} {key}"
