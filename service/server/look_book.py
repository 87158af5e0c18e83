"""What second looks come to: how often the second answer was the first one, and how long it took.

Kept in the control file by tenant alone: a figure about the page, and no record of who was wrong.
"""

from __future__ import annotations

import statistics
from typing import Final, NamedTuple

from ...schema.entity import Review
from .control import ControlFile

_TABLE: Final = """
CREATE TABLE IF NOT EXISTS second_looks (
    tenant TEXT NOT NULL, review_id TEXT NOT NULL, version INTEGER NOT NULL,
    is_own INTEGER NOT NULL, agrees INTEGER NOT NULL, seconds REAL NOT NULL,
    PRIMARY KEY (tenant, review_id)
) STRICT;
"""
_LONGEST_S: Final = 1_800
"""A page that stood open for longer was left, not read: it counts as an answer without a time."""


class LookFigures(NamedTuple):
    """What the second looks of a tenant come to."""

    case_count: int
    agreement: float | None
    """Share in which another steward said the same; None before any."""
    own_agreement: float | None
    """Share in which a steward said again what that steward had said; None before any."""
    median_s: float | None


class LookBook:
    """The second looks of one control file."""

    def __init__(self, control: ControlFile) -> None:
        self._control = control
        with control.transaction() as connection:
            connection.execute(_TABLE)

    def case_ids(self, tenant: str) -> frozenset[str]:
        """The cases that have had their second look."""
        rows = self._control.rows("SELECT review_id FROM second_looks WHERE tenant = ?", tenant)
        return frozenset(str(row[0]) for row in rows)

    def add(self, tenant: str, case: Review, *, is_own: bool, agrees: bool, shown_ms: int) -> None:
        """Count a second look at a case; the first one of a case counts."""
        seconds = self._control.now() - shown_ms / 1000
        with self._control.transaction() as connection:
            connection.execute(
                "INSERT OR IGNORE INTO second_looks VALUES (?, ?, ?, ?, ?, ?)",
                (tenant, case.review_id, case.version, is_own, agrees, seconds),
            )

    def figures(self, tenant: str) -> LookFigures:
        """How often the second look said the same, and how long it took."""
        statement = "SELECT is_own, agrees, seconds FROM second_looks WHERE tenant = ?"
        agreements: dict[bool, list[int]] = {False: [], True: []}
        times: list[float] = []
        for is_own, agrees, seconds in self._control.rows(statement, tenant):
            agreements[bool(is_own)].append(int(bool(agrees)))
            if 0 < float(str(seconds)) <= _LONGEST_S:
                times.append(float(str(seconds)))

        return LookFigures(
            case_count=sum(map(len, agreements.values())),
            agreement=_mean(agreements[False]),
            own_agreement=_mean(agreements[True]),
            median_s=statistics.median(times) if times else None,
        )


def _mean(agreements: list[int]) -> float | None:
    return sum(agreements) / len(agreements) if agreements else None
