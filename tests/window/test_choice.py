"""The choice of actions is the cheapest that frees enough, as trying everything shows."""

from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st

from tenure.window.choice import UnitAction, choose

ROWS = st.lists(st.lists(st.tuples(st.integers(0, 12), st.integers(0, 50)), max_size=3), max_size=5)


def cost_of(rows: list[list[UnitAction]], choices: tuple[tuple[int, int], ...]) -> int:
    return sum(rows[row][key].cost for row, key in choices)


def savings_of(rows: list[list[UnitAction]], choices: tuple[tuple[int, int], ...]) -> int:
    return sum(rows[row][key].savings for row, key in choices)


@given(ROWS, st.integers(0, 40))
def test_no_other_choice_frees_enough_for_less(
    lines: list[list[tuple[int, int]]], need: int
) -> None:
    rows = [
        [UnitAction(key, savings, cost) for key, (savings, cost) in enumerate(line)]
        for line in lines
    ]
    choices = choose(rows, need, 1)
    assert len({row for row, _ in choices}) == len(choices)

    options = [[None, *range(len(row))] for row in rows]
    costs = []
    for picks in itertools.product(*options):
        chosen = tuple((row, key) for row, key in enumerate(picks) if key is not None)
        if savings_of(rows, chosen) >= need:
            costs.append(cost_of(rows, chosen))
    if costs:
        assert savings_of(rows, choices) >= need
        assert cost_of(rows, choices) == min(costs)
    else:
        best = sum(max((action.savings for action in row), default=0) for row in rows)
        assert savings_of(rows, choices) == best


def test_freed_tokens_are_rounded_down_so_that_a_need_is_met() -> None:
    rows = [[UnitAction(0, 63, 1)], [UnitAction(0, 64, 5)]]
    assert choose(rows, 64, 64) == ((1, 0),)


def test_of_equal_costs_the_first_unit_changes() -> None:
    rows = [[UnitAction(0, 64, 1)], [UnitAction(0, 64, 1)]]
    assert choose(rows, 64, 64) == ((0, 0),)


def test_without_a_need_nothing_is_chosen() -> None:
    assert choose([[UnitAction(0, 64, 1)]], 0, 64) == ()
