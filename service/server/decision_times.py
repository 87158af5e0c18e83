"""How long a decision takes a steward: from the page of a case to the answer to it.

Kept in the control file by tenant alone: which case it was and who decided it stands in the store,
and this is about the page, not about a person.
"""

from __future__ import annotations

import statistics
from typing import Final

from .control import ControlFile

_RECENT: Final = 200
"""The decisions of a tenant that the median is over; older ones are dropped."""
_LONGEST_S: Final = 1_800
"""A page that stood open for longer was left, not read."""

_TABLE: Final = """
CREATE TABLE IF NOT EXISTS decision_times (
    number INTEGER PRIMARY KEY, tenant TEXT NOT NULL, seconds REAL NOT NULL
) STRICT;
"""


class DecisionTimes:
    """The times of one control file."""

    def __init__(self, control: ControlFile) -> None:
        self._control = control
        with control.transaction() as connection:
            connection.execute(_TABLE)

    def now_ms(self) -> int:
        """When a page is shown, as its forms say it again."""
        return round(self._control.now() * 1000)

    def add(self, tenant: str, shown_ms: int) -> None:
        """Count a decision on a page that was shown then; an impossible time is no time."""
        seconds = self._control.now() - shown_ms / 1000
        if not 0 < seconds <= _LONGEST_S:
            return

        with self._control.transaction() as connection:
            connection.execute(
                "INSERT INTO decision_times (tenant, seconds) VALUES (?, ?)", (tenant, seconds)
            )
            # Bounded, because this is a figure for a page and no record of who worked when.
            connection.execute(
                "DELETE FROM decision_times WHERE tenant = ?1 AND number NOT IN (SELECT number"
                " FROM decision_times WHERE tenant = ?1 ORDER BY number DESC LIMIT ?2)",
                (tenant, _RECENT),
            )

    def median_s(self, tenant: str) -> float | None:
        """The median of the last decisions in seconds; None before any."""
        rows = self._control.rows("SELECT seconds FROM decision_times WHERE tenant = ?", tenant)
        seconds = [float(str(row[0])) for row in rows]
        return statistics.median(seconds) if seconds else None
