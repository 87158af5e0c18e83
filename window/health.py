"""How well a window is kept: six metrics, and alerts that wait for the third reading.

One bad reading is a burst; three in a row are a trend that somebody should look at.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from .pressure import EVICTION_TURNS, Pressure
from .state import WindowState
from .units import tokens_in

_READINGS: Final = 3
"""Readings in a row from which a metric out of its range is an alert."""
_TREND: Final = 10


class AlertLevel(StrEnum):
    """How urgent an alert is."""

    INFO = "INFO"
    WARNING = "WARNING"
    CRITICAL = "CRITICAL"


class WindowTrend(StrEnum):
    """Where the utilisation of the last ten turns goes."""

    RISING = "rising"
    FALLING = "falling"
    STABLE = "stable"


@dataclass(frozen=True, slots=True)
class HealthReading:
    """The six metrics at the end of a turn; shares in permille."""

    utilisation: int
    evictions_per_turn: int
    """Times a thousand, over the last turns: a mean of a long session's life never moves."""
    compression: int
    """How many times shorter the edited units stand than they were, times a thousand."""
    burn_rate: int
    """Tokens a turn."""
    fidelity: int
    """Share of the facts of the edited units that still stand, mean over the last edit."""
    tool_bloat: int
    """Share of L that the tools' schemas and results take."""


@dataclass(frozen=True, slots=True)
class WindowAlert:
    """A metric that stayed out of its range."""

    level: AlertLevel
    metric: str
    value: int
    bound: int


_CEILINGS: Final = (
    ("utilisation", 900, AlertLevel.CRITICAL),
    ("utilisation", 600, AlertLevel.INFO),
    ("evictions_per_turn", 5_000, AlertLevel.WARNING),
    ("evictions_per_turn", 2_000, AlertLevel.INFO),
    ("tool_bloat", 300, AlertLevel.WARNING),
    ("tool_bloat", 150, AlertLevel.INFO),
)
"""Metric, the value from which it is out of its range, and how much that matters (C-282)."""
_FLOORS: Final = (
    ("fidelity", 750, AlertLevel.WARNING),
    ("fidelity", 850, AlertLevel.INFO),
    ("compression", 2_000, AlertLevel.WARNING),
)
"""The same below a value."""
_UNEDITED: Final = 1_000
"""The compression of a window in which nothing stands shorter: no edit has failed at it."""


def health_reading(state: WindowState, reading: Pressure) -> HealthReading:
    """The metrics of a window at a reading of its pressure."""
    tools = state.count(state.tools) if state.tools else 0
    for unit in state.units:
        tools += tokens_in(unit.results)
    standing = state.standing_tokens
    return HealthReading(
        utilisation=reading.utilisation,
        evictions_per_turn=_eviction_rate(state),
        compression=1000 * state.original_tokens // standing if standing else 1000,
        burn_rate=max(0, reading.velocity),
        fidelity=state.fidelity,
        tool_bloat=1000 * tools // state.limit,
    )


def _eviction_rate(state: WindowState) -> int:
    marks = state.eviction_marks
    base = marks[0] if len(marks) > EVICTION_TURNS else 0
    turns = min(len(marks), EVICTION_TURNS) + state.in_turn
    return 1000 * (state.evictions - base) // max(1, turns)


def window_alerts(readings: Sequence[HealthReading]) -> tuple[WindowAlert, ...]:
    """The alerts of the last readings, oldest first: a metric out of range three times in a row.

    Of several bounds of one metric the most urgent counts.
    """
    latest = readings[-_READINGS:]
    if len(latest) < _READINGS:
        return ()

    # The tables list the more urgent bound of a metric first, and the first one that holds wins.
    alerts: dict[str, WindowAlert] = {}
    for metric, bound, level in _CEILINGS:
        values = [getattr(reading, metric) for reading in latest]
        if min(values) >= bound and metric not in alerts:
            alerts[metric] = WindowAlert(level, metric, values[-1], bound)

    for metric, bound, level in _FLOORS:
        values = [getattr(reading, metric) for reading in latest]
        is_unedited = metric == "compression" and _UNEDITED in values
        if max(values) < bound and not is_unedited and metric not in alerts:
            alerts[metric] = WindowAlert(level, metric, values[-1], bound)
    return tuple(alerts.values())


def window_trend(loads: Sequence[int]) -> WindowTrend:
    """Where the loads of the last turns go; a tenth up or down still counts as stable."""
    latest = loads[-_TREND:]
    if len(latest) < 2 or abs(latest[-1] - latest[0]) * 10 <= latest[0]:
        return WindowTrend.STABLE
    return WindowTrend.RISING if latest[-1] > latest[0] else WindowTrend.FALLING
