"""Summaries by a model, made ahead by a job: asked outside the session's lock, taken by rules.

Each answer is an event, taken or refused, so a unit is asked for once by each model and wording.
What fails leaves the window as it is: an edit never waits for a model.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Protocol

from ...schema.errors import Conflict, Unavailable
from ...window.events import EventKind
from ...window.pressure import Zone
from ...window.summaries import standing_summary
from ...window.summarising import (
    PROMPT_VERSION,
    SUMMARY_PROMPT,
    litmus,
    summary_candidates,
    summary_fault,
)
from ...window.units import StandingForm, WindowUnit
from .core import EventDraft, SessionCore

_TRIES: Final = 5
"""Appends of one summary: the agent's own loop goes on meanwhile, and wins."""


class Summariser(Protocol):
    """A model that summarises a message."""

    @property
    def id(self) -> str:
        """The model and its parameters: equal for equal answers."""
        ...

    def summarise(self, prompt: str) -> str:
        """The summary that a prompt asks for.

        Raises:
            Unavailable: when no whole answer came.
        """
        ...


@dataclass(frozen=True, slots=True)
class SummaryReport:
    """What one round of summaries came to."""

    accepted: tuple[int, ...]
    """The units of which a summary waits for the next edit."""
    refused: Mapping[str, int]
    """How many answers were refused, by reason."""


def summarise_ahead(core: SessionCore, summariser: Summariser, most: int) -> SummaryReport:
    """Ask for summaries of units that no other summary by this model was asked for.

    Raises:
        Conflict: `session_closed`.
    """
    with core.lock:
        core.require_open()
        units = _due_units(core, summariser)[:most]

    unit_numbers: list[int] = []
    refusals: Counter[str] = Counter()
    for unit in units:
        try:
            answer: Any = summariser.summarise(SUMMARY_PROMPT + unit.text)
        except Unavailable:
            answer = None

        fault = _record(core, summariser, unit, answer)
        if fault:
            refusals[fault] += 1
        else:
            unit_numbers.append(unit.number)

    return SummaryReport(tuple(unit_numbers), dict(refusals))


def _due_units(core: SessionCore, summariser: Summariser) -> tuple[WindowUnit, ...]:
    if core.pressure().zone is Zone.GREEN:
        return ()

    unit_ids: set[int] = set()
    for event in core.log.read():
        body = event.body
        if event.kind is EventKind.SUMMARISED and body["by"] == [summariser.id, PROMPT_VERSION]:
            unit_ids.add(body["of"][0])

    return summary_candidates(core.state, core.policy, unit_ids)


def _record(core: SessionCore, summariser: Summariser, unit: WindowUnit, answer: Any) -> str:
    """Append what came of an answer, and return why it was refused; empty for a taken one."""
    for attempt in range(_TRIES):
        with core.lock:
            standing = core.state.unit(unit.number)
            if standing is None or standing.form is not StandingForm.FULL:
                return "left_meanwhile"

            fault = "unavailable" if answer is None else "not_plain"
            if isinstance(answer, str):
                fault = summary_fault(core.state, standing, answer)
            try:
                core.act([_draft(core, summariser, standing, answer, fault)], edit=False)
            except Conflict as conflict:
                if conflict.code != "stale_version" or attempt == _TRIES - 1:
                    raise
            else:
                return fault

    raise AssertionError("the last try returns or raises")


def _draft(
    core: SessionCore, summariser: Summariser, unit: WindowUnit, answer: Any, fault: str
) -> EventDraft:
    body: dict[str, Any] = {
        "of": [unit.number, *(item.seq for item in unit.results)],
        "by": [summariser.id, PROMPT_VERSION],
        "fault": fault,
    }
    if fault:
        return EventDraft(EventKind.SUMMARISED, body)
    body["litmus"] = list(litmus(unit, answer))
    body["tokens"] = core.state.count(standing_summary(unit, answer))
    return EventDraft(EventKind.SUMMARISED, body, (answer.strip(),))
