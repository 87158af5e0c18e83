"""The compile budget: reserve and framing come off first, and the window is never passed."""

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenure.compiler.budget.profiles import Layer, clamp, profile, risk_weight, section_weights
from tenure.compiler.fitting.fit import Fit, fit
from tenure.compiler.ir.context import CompileContext
from tenure.compiler.ir.records import Piece
from tenure.compiler.stages import order
from tenure.compiler.tokens.capabilities import (
    GENERIC,
    Budget,
    Capability,
    capability,
    compile_budget,
    elastic_tokens,
)
from tenure.schema.errors import ContextBudgetExhausted, InvalidInput
from tenure.schema.policy import PROFILES_SHIPPED, SIGNALS_SHIPPED, CompilePolicy
from tenure.schema.principal import Principal
from tenure.tests.compiler.fake_reader import Bench
from tenure.tests.support.refusals import refused

CLAUDE = capability("claude-haiku-4-5")


def with_window(window: int) -> Capability:
    return replace(GENERIC, window=window)


def attempt(asked: int, stated: int | None, row: Capability) -> Budget | ContextBudgetExhausted:
    try:
        return compile_budget(asked, stated, row)
    except ContextBudgetExhausted as error:
        return error


def test_generic_takes_nothing_unless_a_reserve_is_stated() -> None:
    assert compile_budget(8000, None, GENERIC).tokens == 8000
    assert compile_budget(8000, 0, GENERIC).tokens == 8000
    stated = compile_budget(8000, 1500, GENERIC)
    assert (stated.tokens, stated.reserve_tokens) == (6500, 1500)


def test_a_budget_below_the_window_is_not_reduced() -> None:
    budget = compile_budget(8000, None, CLAUDE)
    assert (budget.tokens, budget.reserve_tokens) == (8000, 20_000)


def test_the_reserve_is_the_largest_of_three() -> None:
    assert compile_budget(1, None, with_window(20_000)).reserve_tokens == 4096
    assert compile_budget(1, 9000, with_window(20_000)).reserve_tokens == 9000
    assert compile_budget(1, 9000, with_window(200_000)).reserve_tokens == 20_000


def test_a_small_window_keeps_only_the_share_or_what_is_stated() -> None:
    assert compile_budget(1, None, with_window(16_383)).reserve_tokens == 1639
    assert compile_budget(1, None, with_window(16_384)).reserve_tokens == 4096
    assert compile_budget(1, 5000, with_window(8000)).reserve_tokens == 5000


def test_the_window_binds_when_more_is_asked_for() -> None:
    budget = compile_budget(10**6, None, CLAUDE, CompilePolicy(framing_tokens=500))
    assert budget.tokens == 200_000 - 20_000 - 500


@given(
    st.integers(0, 10**6),
    st.one_of(st.none(), st.integers(0, 10**5)),
    st.one_of(st.none(), st.integers(1, 10**6)),
)
def test_prefill_and_decode_never_pass_the_window(
    asked: int, stated: int | None, window: int | None
) -> None:
    row = replace(GENERIC, window=window)
    budget = attempt(asked, stated, row)
    if isinstance(budget, ContextBudgetExhausted):
        assert budget.code == "required_over_budget"
        assert isinstance(budget.data["shortfall"], int)
        assert budget.data["shortfall"] > 0
        return
    assert 0 <= budget.tokens <= asked
    assert budget.reserve_tokens >= (stated or 0)
    if window is not None:
        assert budget.tokens + budget.reserve_tokens + CompilePolicy().framing_tokens <= window


def test_a_reserve_that_eats_everything_says_what_is_missing() -> None:
    with pytest.raises(ContextBudgetExhausted, match="500 tokens are missing"):
        compile_budget(1000, 1500, GENERIC)


def test_elastic_tokens_are_what_the_fixed_tiers_leave() -> None:
    assert elastic_tokens(8000, 1200, 300) == 6500
    assert elastic_tokens(8000) == 8000
    with pytest.raises(ContextBudgetExhausted) as caught:
        elastic_tokens(8000, 8000, 1)
    assert caught.value.data["shortfall"] == 1


def test_a_compile_divides_what_rules_request_and_media_leave() -> None:
    bench = Bench(principal=Principal(user="ann", authority_level=0))
    picture = {"kind": "image", "uri": "a.png", "width": 560, "height": 560, "description": "a"}
    request: dict[str, Any] = {"query": "alpha", "budget_tokens": 3000, "reserve_tokens": 0}
    bare = bench.compile(**request, evidence=["alpha page"]).trace.budget
    shown = bench.compile(**request, evidence=["alpha page", picture]).trace.budget
    assert bare["budget_tokens"] == 3000
    assert 3000 - shown["budget_tokens"] > 200

    bench.world.add("rule", text="Be kind. " * 60, object_type="policy_rule", level=0)
    ruled = bench.compile(**request, evidence=["alpha page"]).trace.budget
    rules = ruled["sections"]["system_policy"]["used"] - bare["sections"]["system_policy"]["used"]
    assert rules > 100
    assert ruled["elastic_tokens"] == bare["elastic_tokens"] - rules
    assert ruled["sections"]["evidence"]["used"] <= ruled["elastic_tokens"] < 3000 - rules


@pytest.mark.parametrize(
    ("asked", "reserve"), [(-1, None), (1.5, None), (True, None), (10, -1), (10, 2.5), ("8", None)]
)
def test_malformed_numbers_are_refused(asked: Any, reserve: Any) -> None:
    with refused(InvalidInput, "bad_budget"):
        compile_budget(asked, reserve, GENERIC)


def test_a_slack_is_taken_from_what_every_rung_could_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    """Text that came out longer than its parts is fitted again, with less room."""
    calls: list[tuple[Sequence[Piece], CompileContext]] = []

    def spy(pieces: Sequence[Piece], context: CompileContext, *, slack: int, tight: bool) -> Fit:
        calls.append((pieces, context))
        return fit(pieces, context, slack=slack, tight=tight)

    monkeypatch.setattr(order, "fit", spy)
    bench = Bench()
    for number in range(4):
        page = {"object_type": "retrieved_passage", "level": 4, "origin": f"doc://{number}"}
        bench.world.add(f"page {number}", text=f"Zebra page {number}.", **page)
    bench.compile(query="zebra page", budget_tokens=4_000)

    pieces, context = calls[0]
    whole = fit(pieces, context, slack=0, tight=False)
    assert len(whole.pieces) == len(pieces)
    little = fit(pieces, context, slack=3_990, tight=False)
    assert 0 < len(little.pieces) < len(pieces)
    assert len(little.drops) == len(pieces) - len(little.pieces)


# ---- Signals become weights; an unknown profile is refused.

SIGNALS = {rule.name: rule for rule in SIGNALS_SHIPPED}


def test_an_unknown_profile_names_the_nearest() -> None:
    with pytest.raises(InvalidInput, match="did you mean 'research'"):
        profile("reserch", PROFILES_SHIPPED)


def test_there_are_eight_signals_over_three_layers() -> None:
    assert len(SIGNALS) == 8
    assert {rule.layer for rule in SIGNALS.values()} == {
        Layer.EVIDENCE,
        Layer.MEMORY,
        Layer.CONVERSATION,
    }


def test_without_signals_the_weights_are_equal() -> None:
    assert list(section_weights({}).values()) == [334, 333, 333]


def test_signals_shift_the_weights_of_their_layer() -> None:
    weights = section_weights({"checklist_evidence_ratio": 0.7, "expected_tool_calls": 3})
    assert weights[Layer.EVIDENCE] > weights[Layer.MEMORY] == weights[Layer.CONVERSATION]


@given(
    st.dictionaries(
        st.sampled_from(sorted(SIGNALS)), st.floats(0, 1e12, allow_subnormal=False), max_size=8
    )
)
def test_weights_are_positive_and_come_to_the_whole(signals: dict[str, float]) -> None:
    weights = section_weights(signals)
    assert sum(weights.values()) == 1000
    assert all(weight >= 200 for weight in weights.values())


def test_each_signal_is_clamped_to_its_scale() -> None:
    def read(name: str, value: float) -> Fraction:
        return clamp(name, value, SIGNALS[name])

    assert read("expected_tool_calls", 3) == read("expected_tool_calls", 0.5) * 6
    assert read("expected_tool_calls", 50) == 1
    assert read("freshness", 0) == 1
    assert read("freshness", 365) == 0


def test_a_policy_may_weigh_a_signal_otherwise() -> None:
    rules = [replace(SIGNALS["similarity"], weight=1000)]
    assert section_weights({"similarity": 1}, rules)[Layer.MEMORY] == 500


@pytest.mark.parametrize("value", [-1, math.nan, math.inf])
def test_a_signal_that_is_no_amount_is_refused(value: float) -> None:
    with refused(InvalidInput, "bad_share"):
        section_weights({"similarity": value})


def test_an_unknown_signal_is_refused() -> None:
    with pytest.raises(InvalidInput, match="did you mean 'similarity'"):
        section_weights({"similarty": 1})


def test_risk_levels_are_words() -> None:
    assert [risk_weight(level) for level in ("low", "medium", "high")] == [0.0, 0.5, 1.0]
    with pytest.raises(InvalidInput, match="unknown risk level"):
        risk_weight("hgih")
