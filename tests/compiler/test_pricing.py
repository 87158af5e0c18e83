"""What tokens cost: in the choice of what goes in, and in the trace."""

from typing import Any

import pytest

from tenure.compiler.envelope.envelope import Envelope
from tenure.compiler.fitting.fit import token_cost
from tenure.compiler.request.parse import parse_request
from tenure.schema.compile_terms import OverflowPolicy, SectionName
from tenure.schema.errors import InvalidInput
from tenure.schema.policy import CompilePolicy
from tenure.tests.compiler.fake_reader import Bench
from tenure.tests.support.refusals import refused

LONG = "alpha rocket report. " + "Weather was fine over the whole of the northern plain. " * 30
TEXTS = ["The alpha rocket burnt kerosene.", LONG, "An alpha text about nothing much."]
TURNS = [{"role": "user", "text": "earlier question " * 20}]


def compiled(budget: int = 8_000, model: str = "generic", **rules: Any) -> Envelope:
    bench = Bench()
    bench.rules(**rules)
    return bench.compile(
        query="alpha rocket kerosene", evidence=TEXTS, history=TURNS, budget_tokens=budget,
        model=model,
    )  # fmt: skip


def test_without_a_weight_of_cost_whatever_fits_goes_in() -> None:
    envelope = compiled()
    assert envelope.trace.omitted_objects == ()
    cost = envelope.trace.budget["cost"]
    assert cost == {"cost_weight": 0.0, "first": envelope.tokens, "next": envelope.tokens}


def test_what_brings_less_than_its_tokens_cost_stays_out() -> None:
    cheap = compiled(cost_weight=2.0)
    assert [(o.stage, o.reason, o.detail) for o in cheap.trace.omitted_objects] == [
        ("order", "below_floor", "cost")
    ]
    assert "kerosene" in cheap.text
    assert "northern plain" not in cheap.text
    assert "earlier question" in cheap.text
    dear = compiled(cost_weight=1_000.0)
    assert {o.detail for o in dear.trace.omitted_objects} == {"cost"}
    assert "kerosene burnt" not in dear.text
    assert "earlier question" in dear.text


def test_a_higher_weight_of_cost_never_lets_more_in() -> None:
    weights = (0.0, 0.5, 1.0, 2.0, 8.0, 100.0)
    shown = [len(compiled(cost_weight=each).trace.compiled_objects) for each in weights]
    assert shown == sorted(shown, reverse=True)
    assert shown[0] > shown[-1]


def test_cost_shifts_tokens_to_the_cheaper_section_when_they_are_scarce() -> None:
    even = compiled(400, cost_weight=0.5)
    costly = compiled(400, cost_weight=0.5, section_costs=(("evidence", 40.0),))
    assert _allocated(costly, "evidence") < _allocated(even, "evidence")


def _allocated(envelope: Envelope, name: str) -> int:
    return int(envelope.trace.budget["sections"].get(name, {}).get("allocated") or 0)


def test_a_policy_that_fails_loud_may_still_weigh_cost() -> None:
    envelope = compiled(cost_weight=2.0, overflow=OverflowPolicy.FAIL_LOUD)
    assert [o.detail for o in envelope.trace.omitted_objects] == ["cost"]


@pytest.mark.parametrize(
    ("model", "history"), [("generic", 1.0), ("claude-opus-4-7", 0.1), ("gpt-5.6", 0.1)]
)
def test_history_is_priced_as_a_cached_read(model: str, history: float) -> None:
    bench = Bench()
    context = bench.context(parse_request("code_generation", model=model))
    assert token_cost(SectionName.HISTORY, context) == history
    assert token_cost(SectionName.EVIDENCE, context) == 1.0
    bench.rules(section_costs=(("evidence", 3.0),))
    context = bench.context(parse_request("code_generation", model=model))
    assert token_cost(SectionName.EVIDENCE, context) == 3.0


def test_the_trace_prices_the_first_request_and_the_next() -> None:
    bench = Bench()
    bench.rules(token_price=5.0, reserve_floor=1)
    envelope = bench.compile(
        query="x", model="claude-opus-5", budget_tokens=60_000,
        history=[{"role": "user", "text": f"word {n} " * 900} for n in range(3)],
    )  # fmt: skip
    cached = envelope.trace.cache_metadata["expected_cached_tokens"]
    assert cached > 1_000
    cost = envelope.trace.budget["cost"]
    assert cost["first"] == round(envelope.tokens + 0.25 * cached, 3)
    assert cost["next"] == round(envelope.tokens - 0.9 * cached, 3)
    assert cost["price_first"] == round(cost["first"] * 5 / 1_000_000, 9)
    assert cost["price_next"] < cost["price_first"]


def test_pictures_are_paid_for_too() -> None:
    picture = {"kind": "image", "uri": "a.png", "width": 280, "height": 280}
    envelope = Bench().compile(query="x", evidence=[picture])
    assert envelope.trace.budget["cost"]["first"] == envelope.tokens + 100


@pytest.mark.parametrize(
    "wrong",
    [
        {"cost_weight": -1.0},
        {"token_price": float("inf")},
        {"section_costs": (("evidence", -1.0),)},
    ],
)
def test_a_cost_is_finite_and_not_negative(wrong: dict[str, Any]) -> None:
    with refused(InvalidInput, "bad_policy"):
        CompilePolicy(**wrong)
