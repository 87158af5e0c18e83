"""Shares and signals become limits and weights; a profile above the whole is refused."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenure.compiler.budget.profiles import (
    FLOORS,
    Layer,
    Share,
    check_shares,
    clamp,
    limits,
    profile,
    risk_weight,
    section_weights,
)
from tenure.schema.budget_rules import PROFILES_SHIPPED, SIGNALS_SHIPPED
from tenure.schema.errors import InvalidInput

SIGNALS = {rule.name: rule for rule in SIGNALS_SHIPPED}

EXAMPLE_OF_001 = {
    Layer.SYSTEM: Share(60, 60),
    Layer.TASK: Share(80, 80),
    Layer.TOOLS: Share(50, 50),
    Layer.EVIDENCE: Share(500, 500),
    Layer.MEMORY: Share(220, 220),
    Layer.CONVERSATION: Share(90, 90),
}


def test_the_example_that_adds_up_to_110_percent_is_refused() -> None:
    with pytest.raises(InvalidInput, match="add up to 1000 permille with a slack of 100") as caught:
        check_shares(EXAMPLE_OF_001)
    assert caught.value.code == "bad_share"
    check_shares(EXAMPLE_OF_001, slack_permille=0)


def test_slack_is_taken_first_and_shares_apply_to_the_rest() -> None:
    found = limits(EXAMPLE_OF_001, 10_000)
    assert (found[Layer.EVIDENCE].t_min, found[Layer.EVIDENCE].t_max) == (4500, 4500)
    assert sum(limit.t_min for limit in found.values()) == 9000


@pytest.mark.parametrize("name", [rule.name for rule in PROFILES_SHIPPED])
@given(budget=st.integers(0, 2 * 10**6), slack=st.integers(0, 1000))
def test_floors_of_a_shipped_profile_always_fit(name: str, budget: int, slack: int) -> None:
    found = limits(profile(name, PROFILES_SHIPPED), budget, slack_permille=slack)
    assert sum(limit.t_min for limit in found.values()) <= budget
    assert all(0 <= limit.t_min <= limit.t_max for limit in found.values())


def test_shipped_floors_leave_most_of_the_window() -> None:
    check_shares(FLOORS)
    assert sum(share.floor for share in FLOORS.values()) == 160


def test_floors_round_down_so_that_together_they_fit() -> None:
    thirds = {layer: Share(333, 333) for layer in (Layer.TASK, Layer.TOOLS, Layer.EVIDENCE)}
    for budget in range(40):
        floors = [limit.t_min for limit in limits(thirds, budget, slack_permille=0).values()]
        assert sum(floors) <= budget


def test_a_share_below_nothing_or_above_the_whole_is_refused() -> None:
    for share in (Share(-1, 5), Share(6, 5), Share(5, 1001)):
        with pytest.raises(InvalidInput, match="must rise within"):
            check_shares({Layer.TASK: share})


@pytest.mark.parametrize("slack", [-1, 1001])
def test_a_slack_outside_the_whole_is_refused(slack: int) -> None:
    with pytest.raises(InvalidInput, match="slack"):
        limits(FLOORS, 1000, slack_permille=slack)


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
    with pytest.raises(InvalidInput) as caught:
        section_weights({"similarity": value})
    assert caught.value.code == "bad_share"


def test_an_unknown_signal_is_refused() -> None:
    with pytest.raises(InvalidInput, match="did you mean 'similarity'"):
        section_weights({"similarty": 1})


def test_risk_levels_are_words() -> None:
    assert [risk_weight(level) for level in ("low", "medium", "high")] == [0.0, 0.5, 1.0]
    with pytest.raises(InvalidInput, match="unknown risk level"):
        risk_weight("hgih")
