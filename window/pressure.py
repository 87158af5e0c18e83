"""How full a window is, how fast it fills, and how many turns are left.

Utilisation is the upper bound of the next request over L. The velocity is the mean growth of the
last turns; a spike is a growth of more than three times its exponential mean. All of it is whole
numbers, so that a replay on another machine takes the same decisions.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from ..schema.window_policy import WindowPolicy, Zones
from .state import WindowState

READINGS: Final = 6
"""Loads kept: the current one and five before it give five growths."""
EVICTION_TURNS: Final = 20
"""Turns over which evictions are counted: edits are rare and large, so over fewer each would be
an alarm, and over a whole session none."""
_SPIKE_FACTOR: Final = 3
_ALPHA: Final = 300
"""Permille that the newest growth has in the exponential mean."""


class Zone(StrEnum):
    """Pressure zones, rising."""

    GREEN = "green"
    YELLOW = "yellow"
    ORANGE = "orange"
    RED = "red"


class WindowStatus(StrEnum):
    """What a zone means for whoever watches, one for each."""

    HEALTHY = "healthy"
    PREPARING = "preparing"
    ACTIVE = "active"
    EMERGENCY = "emergency"


class VelocityClass(StrEnum):
    """How fast a window fills; the bands are the customary ones, the gaps go to the nearer band."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


@dataclass(frozen=True, slots=True)
class Pressure:
    """One reading of a window."""

    tokens: int
    limit: int
    """L: tokens that a request may take."""
    utilisation: int
    """Permille of L."""
    zone: Zone
    velocity: int
    """Mean growth a turn over the last five, in tokens; negative after an edit."""
    velocity_class: VelocityClass
    turns_until_red: int | None
    """None while nothing grows."""
    spike: bool
    """Whether the last turn grew more than three times as much as turns do on average."""
    rollover: bool
    """Whether the window is so full, or fills so fast, that the next turn needs a new one."""

    @property
    def status(self) -> WindowStatus:
        """The status of its zone."""
        return tuple(WindowStatus)[tuple(Zone).index(self.zone)]


def pressure(tokens: int, limit: int, loads: tuple[int, ...], mean: int, zones: Zones) -> Pressure:
    """The reading of a window that holds so many tokens.

    `loads` are the loads at the end of the last turns, oldest first, and `mean` the exponential
    mean of their growths.

    >>> pressure(7_600, 10_000, (6_000, 6_800), 500, Zones()).zone
    <Zone.ORANGE: 'orange'>
    """
    # Permille in whole numbers: a float at a boundary would decide differently elsewhere.
    utilisation = tokens * 1000 // limit
    history = (*loads, tokens)[-READINGS:]
    growths = [following - preceding for preceding, following in itertools.pairwise(history)]
    velocity = sum(growths) // len(growths) if growths else 0

    red = zones.red * limit // 1000
    turns = max(0, red - tokens) // velocity if velocity > 0 else None

    return Pressure(
        tokens=tokens,
        limit=limit,
        utilisation=utilisation,
        zone=zone_of(utilisation, zones),
        velocity=velocity,
        velocity_class=_class_of(velocity),
        turns_until_red=turns,
        spike=bool(growths) and mean > 0 and growths[-1] > _SPIKE_FACTOR * mean,
        rollover=utilisation >= zones.rollover or tokens + velocity > limit,
    )


def read_pressure(state: WindowState, policy: WindowPolicy) -> Pressure:
    """The pressure of a window now."""
    zones = policy.zones_of(state.window)
    return pressure(state.tokens, state.limit, state.loads, state.mean_growth, zones)


def zone_of(utilisation: int, zones: Zones) -> Zone:
    """The zone of a utilisation in permille."""
    if utilisation >= zones.red:
        return Zone.RED
    if utilisation >= zones.orange:
        return Zone.ORANGE
    return Zone.YELLOW if utilisation >= zones.yellow else Zone.GREEN


def next_mean(mean: int, growth: int) -> int:
    """The exponential mean of growths after another one; the first growth starts it."""
    if mean == 0:
        return max(growth, 0)
    return (_ALPHA * max(growth, 0) + (1000 - _ALPHA) * mean) // 1000


def _class_of(velocity: int) -> VelocityClass:
    # Between the bands 200-500, 1K-3K and 5K-20K the nearer one counts.
    if velocity < 750:
        return VelocityClass.LOW
    return VelocityClass.MEDIUM if velocity < 4_000 else VelocityClass.HIGH
