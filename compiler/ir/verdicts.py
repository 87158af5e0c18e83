"""Verdicts: what a stage decided about an object, and why.

A stage returns its verdicts beside its value; the trace is the collected verdicts and nothing
else. Every reason is a word of the closed list `Reason`.
"""

from __future__ import annotations

from typing import NamedTuple

from ...schema.compile_terms import QUARANTINE_REASONS, Conversion, GapCode, Reason, Stage


class Verdict(NamedTuple):
    """An object that stays out from here on, and why."""

    stage: Stage
    object_id: str
    reason: Reason
    detail: str = ""
    """Machine-readable: a finer reason, or the object that the reason points to."""
    score: int | None = None
    """Composite score in millionths, when it had one."""
    tier: str = ""

    @property
    def quarantines(self) -> bool:
        """Tell whether the object belongs under `quarantined_objects`."""
        return self.reason in QUARANTINE_REASONS


class TextChange(NamedTuple):
    """Something that was done to the text of an object."""

    object_id: str
    conversion: Conversion
    detail: str = ""


class Gap(NamedTuple):
    """Something the envelope should have held and does not."""

    code: GapCode
    subject: str = ""
    detail: str = ""
