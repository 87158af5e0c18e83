"""One action a unit, at the least loss, that frees enough: a multiple-choice knapsack.

Exact on a grid: freed tokens are counted in whole cells and rounded down, so a plan frees at least
what it promises. The table has one row a unit and one column a cell. With numpy each row is one
pass over the columns, and 256 units and a million tokens take some tens of milliseconds; without
it the same table is made in plain Python, with the same choices, in a few seconds at that size.

>>> cheap, dear = UnitAction(0, 640, 10), UnitAction(1, 1280, 50)
>>> choose([(cheap, dear), (cheap,)], 1280, 64)
((0, 0), (1, 0))
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import Final, NamedTuple

from ..compiler.budget.knapsack import has_numpy

_INT64: Final = 2**61
"""Sums of costs above this could wrap around in numpy, in silence."""


class UnitAction(NamedTuple):
    """Something that may be done to a unit."""

    key: int
    """Its place among the actions of the unit."""
    savings: int
    """Tokens it frees."""
    cost: int
    """Loss in whole units; comparable between units."""


Choice = tuple[int, int]
"""The place of a unit and the key of its action."""


def choose(units: Sequence[Sequence[UnitAction]], need: int, grid: int) -> tuple[Choice, ...]:
    """The cheapest choices that free so many tokens, at most one a unit.

    When all actions together free less, each unit gives what it can. Of equal costs the units that
    come first are changed, so a caller lists the oldest first.
    """
    width = -(-need // grid)
    if width <= 0:
        return ()
    if _largest_sum(units, grid) < width:
        return _largest_choices(units)

    rows = [_gains(actions, width, grid) for actions in units]
    return _trace(units, _table_maker(rows)(rows, width), width, grid)


_Gain = tuple[int, int]
"""The whole cells that an action frees, at most as many as are needed, and its cost."""
_Table = Callable[[Sequence[Sequence[_Gain]], int], list[list[int]]]


def _gains(actions: Sequence[UnitAction], width: int, grid: int) -> list[_Gain]:
    return [(min(action.savings // grid, width), action.cost) for action in actions]


def _table_maker(rows: Sequence[Sequence[_Gain]]) -> _Table:
    if _largest_cost(rows) >= _INT64 or not has_numpy():
        return picks_in_python
    return picks_in_numpy


def _largest_cost(rows: Sequence[Sequence[_Gain]]) -> int:
    total = 0
    for gains in rows:
        if gains:
            _, cost = max(gains, key=itemgetter(1))
            total += cost
    return total


def picks_in_python(rows: Sequence[Sequence[_Gain]], width: int) -> list[list[int]]:
    """For each row and column the action of the cheapest choice: its place from 1, or 0 for none.

    A column is a count of cells to free, and the rows up to this one do it.
    """
    infinity = 1 + _largest_cost(rows)
    costs = [0] + [infinity] * width
    picks: list[list[int]] = []

    for gains in rows:
        best = list(costs)
        pick = [0] * (width + 1)
        for position, (cells, cost) in enumerate(gains, start=1):
            if cells <= 0:
                continue

            # Column c is reached from column c - cells; what frees more than needed counts as need.
            before = [costs[0]] * cells + costs[: width + 1 - cells]
            for column, (reached, cheapest) in enumerate(zip(before, best, strict=True)):
                if reached + cost < cheapest:
                    best[column] = reached + cost
                    pick[column] = position

        costs = best
        picks.append(pick)

    return picks


def picks_in_numpy(rows: Sequence[Sequence[_Gain]], width: int) -> list[list[int]]:
    """The same table as `picks_in_python`, by whole rows."""
    import numpy as np

    infinity = np.iinfo(np.int64).max // 4
    costs = np.full(width + 1, infinity, dtype=np.int64)
    costs[0] = 0
    picks = np.zeros((len(rows), width + 1), dtype=np.int16)

    for row, gains in enumerate(rows):
        best = costs.copy()
        for position, (cells, cost) in enumerate(gains, start=1):
            if cells <= 0:
                continue
            before = np.concatenate([np.full(cells, costs[0]), costs[: width + 1 - cells]])
            better = before + cost < best
            best[better] = (before + cost)[better]
            picks[row, better] = position
        costs = best

    table: list[list[int]] = picks.tolist()
    return table


def _trace(
    units: Sequence[Sequence[UnitAction]], picks: list[list[int]], width: int, grid: int
) -> tuple[Choice, ...]:
    """Read the choices back from the last cell to the first."""
    choices: list[Choice] = []
    column = width
    for row in range(len(units) - 1, -1, -1):
        position = picks[row][column]
        if position:
            action = units[row][position - 1]
            choices.append((row, action.key))
            column = max(0, column - min(action.savings // grid, width))
    return tuple(reversed(choices))


def _largest_sum(units: Sequence[Sequence[UnitAction]], grid: int) -> int:
    total = 0
    for row in units:
        savings = [action.savings // grid for action in row]
        total += max(savings, default=0)
    return total


def _largest_choices(units: Sequence[Sequence[UnitAction]]) -> tuple[Choice, ...]:
    choices: list[Choice] = []
    for position, row in enumerate(units):
        largest = max(row, key=lambda action: (action.savings, -action.cost), default=None)
        if largest is not None and largest.savings > 0:
            choices.append((position, largest.key))
    return tuple(choices)
