"""Summaries of units that a model made ahead: they wait in the state for the next edit.

A summary stands as JSON text under the address of its unit, at the level of what tools say: it
never raises the trust of its sources. Which ones are taken is decided in `summarising`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from .events import ERASURE_MARK, WindowEvent
from .units import StandingForm, WindowUnit, numbers_of, pointer


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitSummary:
    """A summary that was taken, ready for the next edit."""

    unit: int
    seq: int
    """The event that holds its words."""
    text: str
    tokens: int


def standing_summary(unit: WindowUnit, text: str) -> str:
    """What stands for a unit: our words and an address, and the summary as data."""
    head = f"[Turn {unit.turn}, summary. Original: {pointer(unit.number)}]"
    return f"{head}\n{json.dumps(text.strip(), ensure_ascii=False)}"


def with_new_summary(
    summaries: Sequence[UnitSummary], event: WindowEvent
) -> tuple[UnitSummary, ...]:
    """The summaries after another one came; what an erasure emptied is none."""
    if not event.texts or event.texts[0] == ERASURE_MARK:
        return tuple(summaries)

    # A unit has one summary: the newest takes the place of the one before.
    unit = int(event.body["of"][0])
    remainder = [summary for summary in summaries if summary.unit != unit]
    tokens = int(event.body["tokens"])
    summary = UnitSummary(unit=unit, seq=event.seq, text=event.texts[0], tokens=tokens)
    return (*remainder, summary)


def standing_summaries(
    summaries: Sequence[UnitSummary], units: Sequence[WindowUnit]
) -> tuple[UnitSummary, ...]:
    """The summaries whose unit still stands in full or as its summary."""
    forms = (StandingForm.FULL, StandingForm.SUMMARY)
    numbers = numbers_of(unit for unit in units if unit.form in forms)
    return tuple(summary for summary in summaries if summary.unit in numbers)
