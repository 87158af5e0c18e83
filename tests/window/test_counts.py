"""What a provider's reports make of our own count."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenure import SessionUsage, connect
from tenure.window.state import BoundCorrection

REPORTS = st.lists(st.tuples(st.integers(1, 200_000), st.integers(0, 400_000)), max_size=20)


def corrected(*reports: tuple[int, int], floor: int = 1000) -> BoundCorrection:
    correction = BoundCorrection(floor=floor)
    for own, tokens in reports:
        correction = correction.reported(own, tokens)
    return correction


def test_one_report_above_the_bound_is_an_offset() -> None:
    correction = corrected((60, 4_000))
    assert (correction.ratio, correction.offset) == (1000, 3_940)
    assert correction.bound(1_000) == 4_940
    assert correction.source == "provider"


def test_two_reports_far_apart_tell_a_ratio_of_at_most_two() -> None:
    assert corrected((1_000, 1_500), (11_000, 16_500)).ratio == 1_500
    assert corrected((1_000, 1_500), (2_900, 4_350)).ratio == 1000
    assert corrected((1_000, 1_000), (11_000, 90_000)).ratio == 2_000


def test_the_last_eight_reports_count_so_a_bound_falls_again() -> None:
    high = corrected((1_000, 9_000))
    assert high.offset == 8_000
    fallen = corrected((1_000, 9_000), *[(1_000, 1_200)] * 8)
    assert fallen.offset == 200


def test_a_wide_margin_falls_with_reports_and_an_exact_count_does_not() -> None:
    reports = ((10_000, 5_500), (30_000, 16_500))
    assert corrected(*reports, floor=500).bound(30_000) <= 16_600
    assert corrected(*reports).bound(30_000) == 30_000


def test_a_report_of_nothing_says_nothing() -> None:
    assert corrected((1_000, 0)) == BoundCorrection()


@given(REPORTS, st.integers(0, 200_000))
def test_no_reported_request_is_above_its_bound_of_equal_ratio_and_own_inverts_the_bound(
    reports: list[tuple[int, int]], own: int
) -> None:
    correction = corrected(*reports)
    assert correction.bound(correction.own(correction.bound(own))) <= correction.bound(own)
    for counted, tokens in correction.reports:
        assert correction.bound(counted) >= tokens - 1


@pytest.mark.parametrize("growth", [0, 70])
def test_a_constant_that_a_loop_hides_takes_no_window_away(growth: int) -> None:
    with connect(":memory:") as memory:
        session = memory.session("c", model="gpt-5", window=64_000)
        session.on_turn_start("Hello.")
        session.compile()
        session.on_turn_end("Hello, how can I help?", usage=SessionUsage(input=4_000))
        for number in range(10):
            session.on_turn_start("Please repeat the last order and say when it will arrive. " * 3)
            session.compile()
            usage = SessionUsage(input=4_000 + growth * number)
            decision = session.on_turn_end("It arrives on Friday. " * 5, usage=usage)
        assert session.state.correction.ratio == 1000
        assert session.state.correction.offset < 4_000
        assert decision.reading.tokens < 7_000
        assert decision.reading.source == "provider"
