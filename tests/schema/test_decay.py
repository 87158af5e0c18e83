"""Curves of decay: where they start, where they end, and that they never rise."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenure.schema.decay import HALVING, DecayKind, Fading

ages = st.floats(-10, 10_000)
fadings = st.builds(Fading, st.sampled_from(DecayKind), st.floats(0, 1), st.floats(0.001, 500))


@given(fadings, ages, ages)
def test_a_curve_starts_whole_and_never_rises(fading: Fading, a: float, b: float) -> None:
    assert fading.strength(0) == fading.strength(-3) == 1.0
    assert 0 <= fading.strength(max(a, b)) <= fading.strength(min(a, b)) <= 1


@pytest.mark.parametrize("gamma", [0.3, 0.05])
def test_a_rate_is_a_half_life_of_ln_2_over_gamma(gamma: float) -> None:
    for turns in range(40):
        strength = HALVING.strength(turns * gamma / math.log(2))
        assert strength == pytest.approx(math.exp(-gamma * turns), abs=1e-9)


def test_a_step_keeps_all_and_then_a_share() -> None:
    step = Fading(DecayKind.STEP, left=0.25)
    assert [step.strength(age) for age in (0, 0.5, 1, 1.000001, 50)] == [1, 1, 1, 0.25, 0.25]


@pytest.mark.parametrize("kappa", [0.5, 5.0, 40.0])
def test_a_sigmoid_is_the_printed_one_divided_by_its_start(kappa: float) -> None:
    def printed(age: float) -> float:
        return 1 / (1 + math.exp(kappa * (age - 1)))

    fading = Fading(DecayKind.SIGMOID, steepness=kappa)
    for tenth in range(30):
        age = tenth / 10
        assert fading.strength(age) == pytest.approx(printed(age) / printed(0), abs=2e-9)
    assert fading.strength(2_000) == 0.0
