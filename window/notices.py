"""What a window tells of itself: each kind of notice, and how it reads. Checklist C-245."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from .advice import WindowAxis, turn_work
from .changes import UnitChange, savings_of
from .health import WindowAlert
from .pressure import Pressure, Zone
from .state import WindowState


class NoticeKind(StrEnum):
    """What a notice tells."""

    ZONE_CHANGED = "zone_changed"
    SPIKE = "spike"
    """A turn grew more than three times as much as turns do on average."""
    EDITED = "edited"
    DELEGATION_ADVISED = "delegation_advised"
    ALERT = "alert"
    """A metric of health was out of its range for three turns in a row."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowNotice:
    """Something that happened in a window, for whoever watches it."""

    kind: NoticeKind
    session: str
    """The session's scope: `user=u,session=s`."""
    seq: int
    """The number of the last event; all up to it is durable."""
    zone: Zone
    text: str
    """One line for a person."""


NoticeLine = tuple[NoticeKind, str]


def notice_lines(
    state: WindowState,
    reading: Pressure,
    earlier: Pressure | None,
    changes: Sequence[UnitChange],
    axis: WindowAxis,
) -> tuple[NoticeLine, ...]:
    """What a hook's answer tells, at most one line a kind, in the order of the kinds.

    `earlier` is the reading before the hook, None where nothing was appended.
    """
    lines: list[NoticeLine] = []
    if earlier is not None and earlier.zone is not reading.zone:
        text = f"zone changed from {earlier.zone.value} to {reading.zone.value}"
        lines.append((NoticeKind.ZONE_CHANGED, text))

    if reading.spike:
        text = "the last turn grew more than three times as much as usual"
        lines.append((NoticeKind.SPIKE, text))

    if changes:
        savings = savings_of(changes)
        lines.append((NoticeKind.EDITED, f"{len(changes)} changes freed {savings} tokens"))

    if axis is WindowAxis.DELEGATE:
        text = (
            f"the work of this turn takes {turn_work(state)} tokens; delegate keeps such work in a "
            "window of its own"
        )
        lines.append((NoticeKind.DELEGATION_ADVISED, text))
    return tuple(lines)


def alert_text(alert: WindowAlert) -> str:
    """An alert as one line."""
    return f"{alert.level.value}: {alert.metric} is {alert.value}, its bound {alert.bound}"
