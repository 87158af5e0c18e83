"""Zones, velocity, spikes and what they say about the turns that are left."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenure import SessionUsage, connect
from tenure.schema.errors import InvalidInput
from tenure.schema.window_policy import LARGE_ZONES, SMALL_ZONES, WindowPolicy, Zones
from tenure.tests.support.refusals import refused
from tenure.window.report import VelocityClass, WindowStatus, Zone, next_mean, pressure
from tenure.window.state import BoundCorrection


@pytest.mark.parametrize(
    ("tokens", "zone", "status"),
    [
        (4_999, Zone.GREEN, WindowStatus.HEALTHY),
        (5_000, Zone.YELLOW, WindowStatus.PREPARING),
        (7_500, Zone.ORANGE, WindowStatus.ACTIVE),
        (9_000, Zone.RED, WindowStatus.EMERGENCY),
    ],
)
def test_a_zone_starts_at_its_share_and_has_a_status(
    tokens: int, zone: Zone, status: WindowStatus
) -> None:
    reading = pressure(tokens, 10_000, (), 0, Zones())
    assert (reading.zone, reading.status) == (zone, status)


def test_zones_are_tighter_in_a_small_window_and_looser_in_a_large_one() -> None:
    policy = WindowPolicy()
    assert policy.zones_of(32_768) == SMALL_ZONES
    assert policy.zones_of(128_000) == Zones()
    assert policy.zones_of(200_000) == LARGE_ZONES
    assert replace(policy, zones=Zones(yellow=100)).zones_of(32_768) == Zones(yellow=100)
    assert SMALL_ZONES.red == Zones().red == LARGE_ZONES.red


def test_velocity_is_the_mean_of_the_last_five_growths() -> None:
    loads = (0, 9_000, 1_000, 2_000, 3_000, 4_000, 5_000)
    reading = pressure(6_000, 10_000, loads[-5:], 1_000, Zones())
    assert reading.velocity == 1_000
    assert reading.turns_until_red == 3
    assert not reading.spike
    uneven = (0, 9_000, 1_000, 1_000, 1_000, 1_000, 1_000)
    assert pressure(6_000, 10_000, uneven[-5:], 1_000, Zones()).velocity == 1_000


def test_while_nothing_grows_no_turn_is_counted() -> None:
    reading = pressure(1_000, 10_000, (5_000,), 0, Zones())
    assert (reading.velocity, reading.turns_until_red, reading.rollover) == (-4_000, None, False)
    assert pressure(1_000, 10_000, (), 0, Zones()).velocity == 0


def test_a_growth_of_more_than_three_times_the_mean_is_a_spike() -> None:
    assert pressure(4_000, 100_000, (0,), 1_000, Zones()).spike
    assert not pressure(3_000, 100_000, (0,), 1_000, Zones()).spike
    assert not pressure(3_000, 100_000, (0,), 0, Zones()).spike


def test_a_window_rolls_over_when_full_or_when_the_next_turn_would_not_fit() -> None:
    assert pressure(9_500, 10_000, (), 0, Zones()).rollover
    assert pressure(7_000, 10_000, (3_000,), 0, Zones()).rollover
    assert not pressure(7_000, 10_000, (5_000,), 0, Zones()).rollover


@pytest.mark.parametrize(
    ("velocity", "expected"),
    [
        (300, VelocityClass.LOW),
        (749, VelocityClass.LOW),
        (750, VelocityClass.MEDIUM),
        (3_999, VelocityClass.MEDIUM),
        (4_000, VelocityClass.HIGH),
    ],
)
def test_between_the_bands_the_nearer_one_counts(velocity: int, expected: VelocityClass) -> None:
    assert pressure(velocity, 100_000, (0,), 0, Zones()).velocity_class is expected


def test_the_exponential_mean_starts_with_the_first_growth() -> None:
    assert next_mean(0, 1_000) == 1_000
    assert next_mean(1_000, 2_000) == 1_300
    assert next_mean(1_000, -500) == 700


@pytest.mark.parametrize(
    "wrong",
    [
        {"ledger_share": 501},
        {"memory_share": 501},
        {"half_life_turns": 0.0},
        {"zones": Zones(target=860)},
        {"half_life_turns": float("inf")},
        {"half_life_turns": float("nan")},
    ],
)
def test_a_policy_that_contradicts_itself_is_refused(wrong: dict[str, object]) -> None:
    with refused(InvalidInput, "bad_policy"):
        WindowPolicy(**wrong)  # type: ignore[arg-type]


def test_the_digest_names_the_values() -> None:
    assert WindowPolicy().digest == WindowPolicy().digest
    assert WindowPolicy().digest != WindowPolicy(newest_units=3).digest


# ---- What a provider's reports make of our own count.

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
