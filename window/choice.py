"""One action a unit, at the least loss, that frees enough: a multiple-choice knapsack.

Exact on a grid: freed tokens are counted in whole cells and rounded down, so a plan frees at least
what it promises. The table has one row a unit and one column a cell, and each row is one pass of
numpy over the columns: 256 units and a million tokens take some tens of milliseconds.

>>> cheap, dear = UnitAction(0, 640, 10), UnitAction(1, 1280, 50)
>>> choose([(cheap, dear), (cheap,)], 1280, 64)
((0, 0), (1, 0))
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


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
    import numpy as np

    width = -(-need // grid)
    if width <= 0:
        return ()
    if _largest_sum(units, grid) < width:
        return _largest_choices(units)

    infinity = np.iinfo(np.int64).max // 4
    costs = np.full(width + 1, infinity, dtype=np.int64)
    costs[0] = 0
    picks = np.zeros((len(units), width + 1), dtype=np.int16)

    for row, actions in enumerate(units):
        best = costs.copy()
        for position, action in enumerate(actions, start=1):
            cells = min(action.savings // grid, width)
            if cells <= 0:
                continue
            # Column c is reached from column c - cells; what frees more than needed counts as need.
            before = np.concatenate([np.full(cells, costs[0]), costs[: width + 1 - cells]])
            better = before + action.cost < best
            best[better] = (before + action.cost)[better]
            picks[row, better] = position
        costs = best

    return _trace(units, picks.tolist(), width, grid)


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
    return sum(max((action.savings // grid for action in row), default=0) for row in units)


def _largest_choices(units: Sequence[Sequence[UnitAction]]) -> tuple[Choice, ...]:
    choices: list[Choice] = []
    for position, row in enumerate(units):
        largest = max(row, key=lambda action: (action.savings, -action.cost), default=None)
        if largest is not None and largest.savings > 0:
            choices.append((position, largest.key))
    return tuple(choices)
