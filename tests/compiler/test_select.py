"""Selection inside a section against brute force, an integer solver and the written rules."""

from __future__ import annotations

import itertools
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize

from tenure.compiler.budget.allocate import allocate
from tenure.compiler.budget.diversity import Similarity, mmr
from tenure.compiler.budget.items import Item
from tenure.compiler.budget.knapsack import decide_in_numpy, decide_in_python, knapsack
from tenure.compiler.budget.section import Section, concave_envelope
from tenure.schema.errors import InvalidInput


def random_items(rng: random.Random, count: int, most: int = 12) -> list[Item]:
    return [Item(f"i{n:03}", rng.randrange(most), rng.randrange(-1, 15)) for n in range(count)]


def similarity_of(items: list[Item], seed: int) -> Similarity:
    rng = random.Random(seed)
    table = {}
    for one, other in itertools.combinations_with_replacement(sorted(i.id for i in items), 2):
        table[one, other] = table[other, one] = 100 if one == other else rng.randrange(100)
    return lambda one, other: table[one, other]


def subsets(items: list[Item], budget: int) -> list[tuple[Item, ...]]:
    every = (c for size in range(len(items) + 1) for c in itertools.combinations(items, size))
    return [chosen for chosen in every if sum(item.tokens for item in chosen) <= budget]


class TestKnapsack:
    def test_small_problems_equal_brute_force_ties_included(self) -> None:
        rng = random.Random(30)
        for _ in range(2_000):
            items = random_items(rng, rng.randrange(9))
            budget = rng.randrange(40)
            chosen = knapsack(items, budget)
            fitting = subsets([item for item in items if item.value > 0], budget)
            best = max(sum(item.value for item in one) for one in fitting)
            optima = [one for one in fitting if sum(item.value for item in one) == best]
            order = sorted(item.id for item in items)
            first = max(
                (tuple(item.id for item in one) for one in optima),
                key=lambda ids: [name in ids for name in order],
            )
            assert chosen == first

    def test_both_paths_make_the_same_choice(self) -> None:
        rng = random.Random(31)
        for _ in range(60):
            sizes = [rng.randrange(30) for _ in range(20)]
            values = [rng.randrange(1, 9) for _ in range(20)]
            slow, fast = decide_in_python(sizes, values, 90), decide_in_numpy(sizes, values, 90)
            assert [list(row) for row in slow] == [list(map(int, row)) for row in fast]

    def test_a_section_of_real_size_equals_the_integer_solver(self) -> None:
        rng = random.Random(32)
        items = [Item(f"i{n}", rng.randrange(20, 400), rng.randrange(1, 10**6)) for n in range(200)]
        chosen = set(knapsack(items, 8000))
        solved = optimize.milp(
            c=[-item.value for item in items],
            constraints=optimize.LinearConstraint([[item.tokens for item in items]], ub=8000),
            integrality=np.ones(200),
            bounds=optimize.Bounds(0, 1),
            options={"mip_rel_gap": 0},
        )
        assert sum(item.value for item in items if item.id in chosen) == round(-solved.fun)
        assert sum(item.tokens for item in items if item.id in chosen) <= 8000

    def test_values_beyond_64_bits_stay_exact(self) -> None:
        items = [Item(f"i{n}", 700 + n, 2**61 + n) for n in range(40)]
        chosen = knapsack(items, 7_400)
        assert chosen == tuple(f"i{n}" for n in range(30, 40))

    def test_everything_is_taken_when_it_fits(self) -> None:
        assert knapsack([Item("b", 3, 1), Item("a", 4, 9), Item("c", 0, 0)], 7) == ("a", "b")

    def test_an_item_larger_than_the_budget_stops_nothing(self) -> None:
        items = [Item("a", 900, 100), Item("b", 5, 1), Item("c", 6, 1)]
        assert knapsack(items, 10) == ("b",)

    def test_large_problems_are_solved_in_buckets_and_still_fit(self) -> None:
        rng = random.Random(33)
        items = [Item(f"i{n}", rng.randrange(50, 3000), rng.randrange(1, 999)) for n in range(400)]
        ids = set(knapsack(items, 60_000))
        chosen = [item for item in items if item.id in ids]
        assert sum(item.tokens for item in chosen) <= 60_000
        # The fractional optimum bounds the true one from above.
        left, bound = 60_000, 0.0
        for item in sorted(items, key=lambda item: -item.value / item.tokens):
            part = min(1.0, left / item.tokens)
            left -= round(part * item.tokens)
            bound += part * item.value
        assert sum(item.value for item in chosen) >= 0.998 * bound

    def test_beyond_buckets_items_go_by_value_per_token(self) -> None:
        items = [Item(f"i{n:05}", 1 + n % 7, 1 + n % 5) for n in range(12_000)]
        chosen = set(knapsack(items, 9_000))
        assert 9_000 - 7 <= sum(item.tokens for item in items if item.id in chosen) <= 9_000

    def test_the_single_best_item_beats_a_crowd_of_dense_small_ones(self) -> None:
        items = [Item(f"i{n:05}", 1, 2) for n in range(11_000)] + [Item("big", 10_500, 10**6)]
        assert knapsack(items, 10_500) == ("big",)

    @pytest.mark.parametrize(
        "items",
        [
            [Item("a", -1, 1)],
            [Item("a", True, 1)],
            [Item("a", 1, 0.5)],  # type: ignore[arg-type]
            [Item("a", 1, 1), Item("a", 2, 2)],
        ],
    )
    def test_malformed_items_are_refused(self, items: list[Item]) -> None:
        with pytest.raises(InvalidInput) as caught:
            knapsack(items, 10)
        assert caught.value.code == "bad_item"


class TestMmr:
    def test_the_second_choice_avoids_the_twin(self) -> None:
        items = [Item("a", 1, 900), Item("b", 1, 890), Item("c", 1, 500)]
        twins = {"a", "b"}
        found = mmr(items, lambda x, y: 1000 if {x, y} == twins else 0, 2)
        assert found.ids == ("a", "c")
        assert found.trace == ((1, 900), (2, 1400))

    def test_ties_go_to_the_smaller_id(self) -> None:
        items = [Item("b", 1, 5), Item("a", 1, 5), Item("c", 1, 5)]
        assert mmr(items, lambda x, y: 0, 2).ids == ("a", "b")

    def test_what_does_not_fit_is_skipped_not_the_end(self) -> None:
        items = [Item("a", 6, 9), Item("b", 6, 8), Item("c", 4, 1)]
        assert mmr(items, lambda x, y: 0, 10).ids == ("a", "c")

    def test_pure_relevance_ignores_likeness(self) -> None:
        items = [Item("a", 1, 9), Item("b", 1, 8), Item("c", 1, 1)]
        found = mmr(items, lambda x, y: 1000, 2, relevance_permille=1000)
        assert found.ids == ("a", "b")


class TestEnvelope:
    @given(st.lists(st.tuples(st.integers(0, 60), st.integers(0, 60))))
    def test_it_is_concave_rising_and_above_every_point(self, trace: list[tuple[int, int]]) -> None:
        curve = concave_envelope(trace)
        assert curve[0] == (0, 0)
        free = max((value for tokens, value in trace if not tokens), default=0)
        slopes = [(d - b) / (c - a) for (a, b), (c, d) in itertools.pairwise(curve)]
        assert all(slope > 0 for slope in slopes)
        assert all(one > other for one, other in itertools.pairwise(slopes))
        assert {(t, v + free) for t, v in curve[1:]} <= set(trace)
        for tokens, value in trace:
            reached = float(curve[-1][1])
            for (a, b), (c, d) in itertools.pairwise(curve):
                if a <= tokens <= c:
                    reached = b + (d - b) * (tokens - a) / (c - a)
                    break
            assert value - free <= reached + 1e-9

    def test_it_feeds_the_allocator(self) -> None:
        rng = random.Random(38)
        items = [Item(f"i{n:02}", rng.randrange(5, 30), rng.randrange(1, 99)) for n in range(30)]
        found = mmr(items, similarity_of(items, 3), 200)
        curve = concave_envelope(found.trace)
        sections = [
            Section("evidence", w=1, alpha=0, beta=1, t_min=0, t_max=500, curve=curve),
            Section("memory", w=1, alpha=90, beta=50, t_min=0, t_max=500),
        ]
        answer = allocate(sections, 150)
        assert answer.used_tokens == 150
        assert 0 < answer.tokens["evidence"] <= found.tokens
