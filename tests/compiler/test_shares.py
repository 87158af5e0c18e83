"""Signals become weights; an unknown profile is refused."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenure.compiler.budget.profiles import (
    Layer,
    clamp,
    profile,
    risk_weight,
    section_weights,
)
from tenure.schema.errors import InvalidInput
from tenure.schema.policy import PROFILES_SHIPPED, SIGNALS_SHIPPED
from tenure.tests.support.refusals import refused

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
