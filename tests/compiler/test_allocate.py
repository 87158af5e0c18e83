"""The allocator against brute force, unit greedy, scipy and the worked examples."""

import itertools
import json
import math
import os
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize

from tenure.compiler.budget.allocate import Allocation, Section, allocate, marginal
from tenure.schema.errors import ContextBudgetExhausted, InvalidInput
from tenure.tests.support.refusals import refused
from tenure.tests.support.sampling import examples, size

SHARED = Path(os.environ.get("TENURE_SHARED", Path(__file__).parents[2].parent / "shared"))
EXAMPLES = SHARED / "data" / "allocation-examples.json"


def section(name: str, **change: Any) -> Section:
    fields: dict[str, Any] = {"w": 1, "alpha": 1, "beta": 10, "t_min": 0, "t_max": 50}
    return Section(name, **{**fields, **change})


def worth(one: Section, tokens: int, mu: float) -> float:
    gain = one.w * one.alpha * math.log1p((tokens - one.t_min) / one.beta)
    return gain + one.w * one.base - mu * one.cost * tokens


def objective(sections: list[Section], answer: Allocation, mu: float) -> float:
    return math.fsum(
        worth(one, answer.tokens[one.id], mu) for one in sections if one.id in answer.included_ids
    )


def unit_greedy(sections: list[Section], budget: int, mu: float) -> dict[str, int]:
    """Algorithm of Fox, step by step, with the exact keys."""
    tokens = {one.id: one.t_min for one in sections}
    gains = [(marginal(one, mu), one) for one in sections]
    for _ in range(budget - sum(tokens.values())):
        offers = [
            (-marginal.gain(tokens[one.id] - one.t_min), one.id)
            for marginal, one in gains
            if tokens[one.id] - one.t_min < marginal.room
        ]
        loss, name = min(offers, default=(0.0, ""))
        if loss >= 0:
            break
        tokens[name] += 1
    return tokens


def brute_force(sections: list[Section], budget: int, mu: float, quantum: int = 1) -> float:
    """The best objective over every admissible vector of every admissible set."""
    best = -math.inf
    choices = []
    for one in sections:
        sizes: list[int | None] = list(range(one.t_min, one.t_max + 1))
        choices.append(sizes if one.required else [None, *sizes])
    for vector in itertools.product(*choices):
        if sum(size or 0 for size in vector) > budget:
            continue
        off = 0
        for one, held in zip(sections, vector, strict=True):
            on_grid = held is None or held == one.t_max or (held - one.t_min) % quantum == 0
            off += not on_grid
        if off > 1:
            continue
        pairs = zip(sections, vector, strict=True)
        best = max(best, math.fsum(worth(one, size, mu) for one, size in pairs if size is not None))
    return best


@pytest.mark.skipif(not EXAMPLES.exists(), reason="TENURE_SHARED has no allocation examples")
def test_the_worked_examples_are_exact() -> None:
    examples = json.loads(EXAMPLES.read_text())
    assert len(examples) == 6
    for example in examples:
        expected = example["expected"]
        arguments = (example["sections"], example["budget"], example["mu"], example["quantum"])
        if expected["status"] == "infeasible":
            with refused(ContextBudgetExhausted, "required_over_budget") as caught:
                allocate(*arguments)
            assert caught.value.data["shortfall"] == expected["shortfall"]
            continue
        answer = allocate(*arguments)
        assert answer.tokens == expected["tokens"], example["name"]
        assert list(answer.included_ids) == expected["included"]
        assert answer.used_tokens == expected["used"]
        assert round(answer.objective, 9) == expected["objective"]
        assert round(answer.shadow_price, 9) == expected["continuous"]["lambda"]


def random_section(rng: random.Random, name: str, *, most: int, optional: bool) -> Section:
    low = rng.randrange(most)
    return Section(
        name,
        w=rng.choice((0, 0.3, 0.5, 1, 1)),
        alpha=rng.choice((0.5, 1, 3, 10 * rng.random())),
        beta=rng.choice((1, 2.5, 7, 40, 1000)),
        t_min=low,
        t_max=low + rng.randrange(most),
        cost=rng.choice((0, 0, 0.5, 2)),
        base=rng.choice((0, 0.2, 1, rng.random())),
        required=not optional or rng.random() < 0.4,
    )


def test_small_problems_equal_brute_force() -> None:
    rng = random.Random(20)
    for case in range(size(500, 1_500)):
        count = rng.randrange(1, 5)
        sections = [
            random_section(rng, f"s{i}", most=rng.choice((3, 6)), optional=True)
            for i in range(count)
        ]
        floors = sum(one.t_min for one in sections if one.required)
        budget = floors + rng.randrange(12)
        mu = rng.choice((0, 0, 0.01, 0.2))
        answer = allocate(sections, budget, mu)
        best = brute_force(sections, budget, mu)
        assert objective(sections, answer, mu) == pytest.approx(best, rel=1e-9, abs=1e-9), case
        assert answer.objective == pytest.approx(best, rel=1e-9, abs=1e-9)
        assert answer.used_tokens == sum(answer.tokens.values()) <= budget


def test_a_fixed_set_equals_unit_greedy_token_for_token() -> None:
    rng = random.Random(21)
    for case in range(size(250, 700)):
        sections = [
            random_section(rng, f"s{i}", most=rng.choice((5, 60, 300)), optional=False)
            for i in range(rng.randrange(1, 9))
        ]
        floors = sum(one.t_min for one in sections)
        budget = floors + rng.randrange(400)
        mu = rng.choice((0, 0, 0.003, 0.1))
        assert allocate(sections, budget, mu).tokens == unit_greedy(sections, budget, mu), case


def test_steep_sections_beside_a_flat_one_are_exact() -> None:
    steep = [section(f"s{i}", beta=1, t_max=1000) for i in range(10)]
    flat = section("z", alpha=2857.14, beta=9000, t_max=2000)
    answer = allocate([flat, *steep], 1025)
    assert answer.tokens["z"] == 995
    assert {answer.tokens[one.id] for one in steep} == {3}


@settings(max_examples=examples(150), deadline=None)
@given(st.randoms(use_true_random=False), st.integers(0, 3000))
def test_order_of_the_sections_changes_nothing(rng: random.Random, extra: int) -> None:
    sections = [random_section(rng, f"s{i}", most=500, optional=True) for i in range(6)]
    budget = sum(one.t_min for one in sections if one.required) + extra
    one = allocate(sections, budget)
    rng.shuffle(sections)
    other = allocate(sections, budget)
    assert one == other
    assert list(one.tokens) == list(other.tokens) == sorted(one.tokens)


@settings(max_examples=examples(150), deadline=None)
@given(st.randoms(use_true_random=False), st.integers(0, 3000))
def test_more_budget_is_never_worse(rng: random.Random, extra: int) -> None:
    sections = [random_section(rng, f"s{i}", most=500, optional=False) for i in range(6)]
    budget = sum(one.t_min for one in sections) + extra
    small, large = allocate(sections, budget), allocate(sections, budget + 7)
    assert large.objective >= small.objective - 1e-9
    assert large.shadow_price <= small.shadow_price * (1 + 1e-9)


def test_the_shadow_price_is_the_multiplier_that_scipy_finds() -> None:
    rng = random.Random(22)
    for _ in range(150):
        sections = [random_section(rng, f"s{i}", most=300, optional=False) for i in range(5)]
        mu = rng.choice((0, 0.002, 0.05))
        room = rng.randrange(1, 500)
        budget = sum(one.t_min for one in sections) + room

        def asked(price: float, chosen: list[Section] = sections, mu: float = mu) -> float:
            total = 0.0
            for one in chosen:
                scale, span = one.w * one.alpha, one.t_max - one.t_min
                denominator = price + mu * one.cost
                free = math.inf if denominator == 0 else scale / denominator - one.beta
                total += min(max(free, 0.0), span) if scale else 0.0
            return total

        price = allocate(sections, budget, mu).shadow_price
        if asked(0.0) <= room:
            assert price == 0
        else:
            root = optimize.brentq(
                lambda p, room=room: asked(p) - room, 0, 100, xtol=1e-16, rtol=1e-14
            )
            # Where all sections are at a limit a range of prices fits: its lower end is meant,
            # what one token more would bring.
            flat = asked(root * (1 - 1e-6)) == asked(root)
            assert price <= root * (1 + 1e-9) if flat else price == pytest.approx(root, rel=1e-9)
            assert asked(price * (1 + 1e-9)) <= room + 1e-6 < asked(price * (1 - 1e-6)) + 2e-6


class TestEdges:
    @pytest.mark.parametrize(
        ("sections", "budget", "tokens", "price"),
        [
            ([section("a", w=0, t_min=5), section("b")], 40, {"a": 5, "b": 35}, None),
            ([section("a", w=0, t_min=5)], 40, {"a": 5}, 0),
            (
                [section("a", t_min=20, alpha=3), section("b", t_min=20)],
                40,
                {"a": 20, "b": 20},
                0.3,
            ),
            ([section("a", t_min=20, t_max=20)], 20, {"a": 20}, 0),
            ([section("a"), section("b", t_max=10)], 100, {"a": 50, "b": 10}, 0),
            ([section("a", t_min=30, t_max=30), section("b")], 50, {"a": 30, "b": 20}, None),
            ([], 0, {}, 0),
            ([], 10, {}, 0),
        ],
        ids=[
            *("weight 0 keeps the floor", "of weight 0 alone the rest is unused"),
            *("floors that meet the budget price the first token", "no room above costs nothing"),
            *("caps below the budget leave slack", "equal limits are a fixed price"),
            *("no section, no budget", "no section"),
        ],
    )
    def test_limits(
        self, sections: list[Section], budget: int, tokens: dict[str, int], price: float | None
    ) -> None:
        answer = allocate(sections, budget)
        assert answer.tokens == tokens
        assert answer.included_ids == tuple(tokens)
        assert answer.used_tokens == sum(tokens.values())
        assert price is None or answer.shadow_price == price
        assert sections or answer.objective == 0

    def test_a_cost_above_the_first_marginal_keeps_the_floor_or_leaves_out(self) -> None:
        dear = {"alpha": 1, "beta": 10, "cost": 1, "t_min": 4}
        required = allocate([section("a", **dear)], 100, mu=0.2)
        optional = allocate([section("a", **dear, required=False)], 100, mu=0.2)
        assert required.tokens == {"a": 4}
        assert (optional.tokens, optional.included_ids) == ({"a": 0}, ())

    def test_less_than_a_quantum_above_the_floors_is_one_short_step(self) -> None:
        sections = [section("a", t_min=10), section("b", t_min=10)]
        assert allocate(sections, 25, quantum=64).tokens == {"a": 15, "b": 10}

    def test_an_unused_rest_under_cost_is_no_error(self) -> None:
        answer = allocate([section("a", cost=1)], 50, mu=0.05)
        assert answer.tokens == {"a": 10}
        assert answer.shadow_price == 0

    def test_a_shortfall_names_the_missing_tokens(self) -> None:
        with pytest.raises(ContextBudgetExhausted, match="raise it by 5"):
            allocate([section("a", t_min=15), section("b", t_min=9, required=False)], 10)

    def test_plateaus_of_equal_keys_go_to_the_lower_id(self) -> None:
        flat = {"alpha": 1.5, "beta": 1e12, "t_max": 300}
        sections = [section("a", **flat), section("b", **flat)]
        answer = allocate(sections, 401)
        assert answer.tokens == unit_greedy(sections, 401, 0)
        assert answer.tokens["a"] > answer.tokens["b"] + 1


class TestOptionalSections:
    def test_equal_optima_take_the_smallest_tuple_of_ids(self) -> None:
        twin = {"t_min": 10, "t_max": 10, "base": 1, "required": False}
        answer = allocate([section("b", **twin), section("a", **twin)], 10)
        assert answer.included_ids == ("a",)

    def test_a_worthless_section_does_not_displace_another(self) -> None:
        idle = section("x", w=0, required=False)
        assert allocate([section("a"), idle], 60).included_ids == ("a",)

    def test_without_scarcity_each_is_decided_alone(self) -> None:
        sections = [
            section("good", t_min=10, base=0.1, required=False),
            section("dear", t_min=10, base=0.1, cost=1, required=False),
        ]
        assert allocate(sections, 1000, mu=0.2).included_ids == ("good",)

    def test_ten_sections_may_be_optional(self) -> None:
        sections = [section(f"s{i:02}", t_min=1, base=1, required=False) for i in range(11)]
        assert len(allocate(sections[:10], 10).included_ids) == 10
        with refused(InvalidInput, "bad_section", match="at most 10"):
            allocate(sections, 10)

    def test_a_very_dear_optional_section_is_still_weighed(self) -> None:
        rich = section("a", alpha=1e9, t_min=30, required=False)
        answer = allocate([rich, section("b", alpha=1e9, t_min=30, required=False)], 50)
        assert answer.included_ids == ("a",)


class TestGrid:
    def test_random_grids_come_near_brute_force(self) -> None:
        rng = random.Random(24)
        reached = optimum = 0.0
        for case in range(size(400, 1_000)):
            sections = [
                random_section(rng, f"s{i}", most=10, optional=False)
                for i in range(rng.randrange(1, 4))
            ]
            budget = sum(one.t_min for one in sections) + rng.randrange(24)
            quantum = rng.randrange(2, 7)
            mu = rng.choice((0, 0.05))
            answer = allocate(sections, budget, mu, quantum)
            best = brute_force(sections, budget, mu, quantum)
            assert answer.objective <= best + 1e-9, case
            reached, optimum = reached + answer.objective, optimum + best
        assert reached >= 0.995 * optimum

    def test_at_most_one_section_stands_off_the_grid(self) -> None:
        sections = [section(f"s{i}", alpha=i + 1, t_max=333, t_min=3 * i) for i in range(8)]
        answer = allocate(sections, 1500, quantum=64)
        off = [
            one.id
            for one in sections
            if answer.tokens[one.id] != one.t_max and (answer.tokens[one.id] - one.t_min) % 64
        ]
        assert len(off) <= 1
        assert answer.used_tokens == 1500


@pytest.mark.parametrize(
    "change",
    [
        {"w": -1},
        {"w": 1.5},
        {"w": 1.0000001},
        {"alpha": -0.1},
        {"alpha": math.nan},
        {"w": math.inf},
        {"w": True},
        {"w": "1"},
        {"alpha": 1e13},
        {"beta": 0},
        {"cost": -1},
        {"base": math.nan},
        {"t_min": 60},
        {"t_min": -1},
        {"t_min": 1.5},
        {"t_max": True},
        {"t_max": 10**13},
    ],
)
def test_a_malformed_section_is_refused(change: dict[str, Any]) -> None:
    with refused(InvalidInput, "bad_section", match="'a'"):
        section("a", **change)


class TestInput:
    def test_an_id_twice_is_refused(self) -> None:
        with pytest.raises(InvalidInput, match="twice"):
            allocate([section("a"), section("b"), section("a")], 10)

    @pytest.mark.parametrize(
        ("raw", "what"),
        [
            ({"id": "a", "weight": 1}, "unknown field 'weight'"),
            ({"id": "a", "w": 1}, "missing alpha, beta, t_min, t_max"),
            ({"id": 7, "w": 1, "alpha": 1, "beta": 1, "t_min": 0, "t_max": 1}, "must be a text"),
        ],
    )
    def test_a_malformed_mapping_is_refused(self, raw: dict[str, object], what: str) -> None:
        with pytest.raises(InvalidInput, match=what):
            allocate([raw], 10)

    @pytest.mark.parametrize(
        ("budget", "mu", "quantum"),
        [(-1, 0, 1), (1.5, 0, 1), (True, 0, 1), (9, -1, 1), (9, math.nan, 1), (9, 0, 0)],
    )
    def test_malformed_limits_are_refused(self, budget: Any, mu: float, quantum: int) -> None:
        with refused(InvalidInput, "bad_budget"):
            allocate([section("a")], budget, mu, quantum)
