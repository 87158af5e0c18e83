"""Zones, velocity, spikes and what they say about the turns that are left."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tenure.schema.errors import InvalidInput
from tenure.schema.window_policy import LARGE_ZONES, SMALL_ZONES, WindowPolicy, Zones
from tenure.tests.support.refusals import refused
from tenure.window.report import VelocityClass, WindowStatus, Zone, next_mean, pressure


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
        {"zones": Zones(target=910)},
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
