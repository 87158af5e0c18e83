"""Selection inside a section against brute force and the fractional optimum."""

import itertools
import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenure.compiler.budget.allocate import concave_envelope, divide, significant
from tenure.compiler.media.reduction import Item, knapsack
from tenure.compiler.request.parse import parse_request
from tenure.compiler.text.relevance import FULL
from tenure.compiler.text.sentences import novelty, ranked, statement_of, statements
from tenure.compiler.trace.metrics import grade
from tenure.tests.compiler.fake_reader import Bench


def random_items(rng: random.Random, count: int, most: int = 12) -> list[Item]:
    return [Item(f"i{n:03}", rng.randrange(most), rng.randrange(-1, 15)) for n in range(count)]


def worth(items: list[Item], ids: tuple[str, ...]) -> int:
    return sum(item.value for item in items if item.id in ids)


class TestKnapsack:
    def test_small_problems_equal_brute_force_ties_included(self) -> None:
        rng = random.Random(30)
        for _ in range(500):
            items = random_items(rng, rng.randrange(9))
            budget = rng.randrange(40)
            useful = [item for item in items if item.value > 0]
            every = itertools.chain.from_iterable(
                itertools.combinations(useful, size) for size in range(len(useful) + 1)
            )
            fitting = [one for one in every if sum(item.tokens for item in one) <= budget]
            best = max(sum(item.value for item in one) for one in fitting)
            optima = [
                tuple(item.id for item in one)
                for one in fitting
                if sum(item.value for item in one) == best
            ]
            assert knapsack(items, budget) == min(optima)

    def test_many_items_come_near_the_fractional_optimum(self) -> None:
        rng = random.Random(33)
        for _ in range(20):
            items = [
                Item(f"i{n}", rng.randrange(20, 400), rng.randrange(1, 999)) for n in range(99)
            ]
            ids = knapsack(items, 6_000)
            assert sum(item.tokens for item in items if item.id in ids) <= 6_000
            left, bound = 6_000, 0.0
            for item in sorted(items, key=lambda item: -item.value / item.tokens):
                part = min(1.0, left / item.tokens)
                left -= round(part * item.tokens)
                bound += part * item.value
            assert worth(items, ids) >= 0.985 * bound

    def test_everything_is_taken_when_it_fits(self) -> None:
        assert knapsack([Item("b", 3, 1), Item("a", 4, 9), Item("c", 0, 0)], 7) == ("a", "b")

    def test_an_item_larger_than_the_budget_stops_nothing(self) -> None:
        items = [Item("a", 900, 100), Item("b", 5, 1), Item("c", 6, 1)]
        assert knapsack(items, 10) == ("b",)

    def test_the_single_best_item_beats_a_crowd_of_dense_small_ones(self) -> None:
        items = [Item(f"i{n:05}", 1, 2) for n in range(110)] + [Item("big", 105, 10**6)]
        assert knapsack(items, 105) == ("big",)

    def test_a_swap_uses_the_room_that_density_left(self) -> None:
        items = [Item(f"i{n:02}", 10, 100) for n in range(14)] + [Item("z", 14, 120)]
        assert worth(items, knapsack(items, 144)) == 1420


def slope_at(curve: Any, tokens: int) -> float:
    for (left, low), (right, high) in itertools.pairwise(curve):
        if right > tokens:
            return significant((high - low) / (right - left))
    return 0.0


class TestDivision:
    @given(st.randoms(use_true_random=False), st.integers(0, 400))
    def test_each_token_goes_where_it_brings_most(self, rng: random.Random, room: int) -> None:
        curves = {}
        for name in "abc":
            trace = [(rng.randrange(1, 90), rng.randrange(1, 90)) for _ in range(5)]
            curves[name] = concave_envelope(trace)
        bounds = {name: (rng.randrange(20), rng.randrange(20, 99)) for name in curves}

        # Token by token (Fox 1966), from the floors on where the room holds them.
        caps = {name: min(bounds[name][1], curve[-1][0]) for name, curve in curves.items()}
        best = {name: min(bounds[name][0], curve[-1][0]) for name, curve in curves.items()}
        if sum(best.values()) > room:
            best = dict.fromkeys(curves, 0)
        prices = [0.0]
        for _ in range(room - sum(best.values()) + 1):
            open_names = [name for name in curves if best[name] < caps[name]]
            gains = [(-slope_at(curves[name], best[name]), name) for name in open_names]
            if not gains or min(gains)[0] >= 0:
                prices.append(0.0)
                break
            prices.append(-min(gains)[0])
            if sum(best.values()) < room:
                best[min(gains)[1]] += 1

        tokens, price = divide(curves, bounds, room)
        assert tokens == best
        assert abs(price - prices[-1]) <= 1e-9 * max(1.0, price)


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


# ---- Only the best candidates, several budgets long, compete for the budget.

TALK = {"object_type": "retrieved_passage", "layer": "user", "origin": "chat://a"}


def test_what_stands_behind_several_times_the_budget_makes_no_piece_and_no_entry() -> None:
    bench = Bench()
    for number in range(300):
        text = f"the budget of item {number} " + "and so on " * 20
        bench.world.add(f"turn {number}", text=text, **TALK)
    bench.rules(text_candidates=300)
    envelope = bench.compile(query="budget", budget_tokens=1_000)
    reasons = [reason for reason, _ in bench.omitted(envelope).values()]
    assert reasons.count("section_cap") > 100
    assert envelope.trace.budget["used_tokens"] > 900


@pytest.mark.parametrize("words", [1, 40])
def test_a_larger_budget_shows_all_that_a_smaller_one_shows(words: int) -> None:
    bench = Bench()
    for number in range(200):
        text = f"the budget of item {number} " + "word " * (number % 7) * words
        bench.world.add(f"turn {number}", text=text, **TALK)
    bench.rules(text_candidates=200)
    before: set[str] = set()
    for budget in (500, 1_000, 2_000, 4_000, 8_000):
        envelope = bench.compile(query="budget", budget_tokens=budget)
        shown = {name for name in bench.compiled(envelope) if name.startswith("turn")}
        assert before <= shown
        before = shown
    assert len(before) > 50


def test_what_covers_an_acceptance_item_competes_however_little_it_is_worth() -> None:
    bench = Bench()
    for number in range(200):
        bench.world.add(f"turn {number}", text=f"the budget of item {number}", **TALK)
    bench.rules(text_candidates=200)
    omega = {"text": "omega page", "origin": "doc://3", "covers": ["has omega"]}
    envelope = bench.compile(
        query="budget", budget_tokens=600, acceptance=["has omega"], evidence=[omega]
    )
    assert "omega page" in envelope.text


# ---- A statement is worth what it adds to the answer and what is new in it.

ASKED = frozenset({"alpha", "beta"})


def test_worth_is_usefulness_times_novelty() -> None:
    units = ["Alpha beta.", "Alpha gamma.", "Delta.", "Alpha beta zeta."]
    assert ranked(units, ASKED, []) == [(0, FULL), (3, FULL), (1, FULL // 2)]
    said = statements(["Alpha beta."])
    assert ranked(units, ASKED, said) == [(3, 333334), (1, FULL // 4)]
    assert ranked(units, frozenset(), []) == []


def test_another_number_or_sign_is_never_a_repetition() -> None:
    said = statements(["The limit is 5 now.", "The gate opens."])
    assert novelty(statement_of("The limit is 5."), said) == 0
    assert novelty(statement_of("The limit is 7."), said) == FULL
    assert novelty(statement_of("The gate never opens."), said) == FULL
    assert novelty(statement_of("..."), said) == 0


def test_an_excerpt_leaves_out_what_the_envelope_says_already() -> None:
    shared = "The alpha gate opens at dawn."
    filler = "Nothing here helps anyone at all today. " * 12
    whole = f"{shared} Beta."
    long = f"{filler}{shared} The alpha bridge closes at noon. {filler}"
    bench = Bench().rules(duplicate_containment=1.1)
    envelope = bench.compile(query="alpha beta", evidence=[whole, long], budget_tokens=330)
    texts = [b.text for b in envelope.blocks if b.section == "evidence"]
    assert sum(shared in text for text in texts) == 1
    assert any("bridge closes" in text for text in texts)
    (entry,) = envelope.trace.budget["compression"]
    assert entry["grade"] == "partial"


def test_a_short_form_is_graded_by_its_fidelity() -> None:
    lines = " ".join(f"The alpha beta line {i} holds." for i in range(12))
    bench = Bench().rules(fidelity_lossy=0.3, duplicate_containment=1.1)
    texts = [lines, "alpha beta " * 12]
    grades = set[str]()
    for budget in range(250, 420, 10):
        envelope = bench.compile(query="alpha beta", evidence=texts, budget_tokens=budget)
        grades |= {each["grade"] for each in envelope.trace.budget["compression"]}
    assert grades <= {"faithful", "lossy", "partial"}
    assert "lossy" in grades
    context = bench.context(parse_request("code_generation"))
    assert [grade(share, context) for share in (0.9, 0.899, 0.3, 0.299)] == [
        *("faithful", "lossy"),
        *("lossy", "partial"),
    ]
