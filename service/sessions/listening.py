"""Handing notices on to whoever listens, each thing once, after it is durable."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

from ...window.health import WindowAlert
from ...window.notices import NoticeKind, NoticeLine, WindowNotice, alert_text
from ...window.pressure import Zone

Listener = Callable[[WindowNotice], object]

_CHANGES: Final = frozenset({NoticeKind.ZONE_CHANGED, NoticeKind.EDITED})
"""Kinds that tell of a hook's own work; the others go on from hook to hook once they began."""


@dataclass(slots=True)
class Listening:
    """The listener of one session, and what it has heard."""

    session: str
    listener: Listener | None = None
    _kinds: frozenset[NoticeKind] = frozenset()
    _alert_metrics: set[str] = field(default_factory=set[str])

    def tell(self, seq: int, zone: Zone, lines: Sequence[NoticeLine]) -> None:
        """Tell what a hook brought; what holds since an earlier hook is not told again."""
        earlier, self._kinds = self._kinds, frozenset(kind for kind, _ in lines)
        for kind, text in lines:
            if kind in _CHANGES or kind not in earlier:
                self._hand_on(kind, seq, zone, text)

    def tell_alerts(self, seq: int, zone: Zone, alerts: Sequence[WindowAlert]) -> None:
        """Tell the alerts of metrics that had none at the end of the last turn."""
        earlier, self._alert_metrics = self._alert_metrics, {alert.metric for alert in alerts}
        for alert in alerts:
            if alert.metric not in earlier:
                text = alert_text(alert)
                self._hand_on(NoticeKind.ALERT, seq, zone, text)

    def _hand_on(self, kind: NoticeKind, seq: int, zone: Zone, text: str) -> None:
        if self.listener is not None:
            notice = WindowNotice(kind=kind, session=self.session, seq=seq, zone=zone, text=text)
            self.listener(notice)
