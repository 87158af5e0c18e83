"""Summaries by a model, made ahead by a job: asked outside the session's lock, taken by rules.

Each answer is an event, taken or refused, so a span is asked for once by each model and wording.
Whatever a model raises is a failed answer: the originals stay, and an edit never waits for one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

from ...window.editing import reachable_units
from ...window.events import EventKind
from ...window.report import Zone
from ...window.summaries import (
    PROMPT_VERSION,
    SUMMARY_PROMPT,
    UnitSummary,
    litmus,
    summary_fault,
    summary_spans,
)
from ...window.units import StandingForm, WindowUnit
from .core import EventDraft, SessionCore

_FAILURES: Final = (Exception,)
"""A model is the caller's code: whatever it raises is an answer that did not come."""


class Summariser(Protocol):
    """A model that summarises a message."""

    @property
    def id(self) -> str:
        """The model and its parameters: equal for equal answers."""
        ...

    def summarise(self, prompt: str) -> str:
        """The summary that a prompt asks for; what it raises is a failed answer."""
        ...


@dataclass(frozen=True, slots=True)
class SummaryReport:
    """What one round of summaries came to."""

    accepted: tuple[int, ...]
    """The units of which a summary waits for the next edit."""
    refused: Mapping[str, int]
    """How many answers were refused, by reason."""


def summarise_ahead(core: SessionCore, summariser: Summariser, most: int) -> SummaryReport:
    """Ask for summaries of spans that no other summary by this model was asked for.

    Raises:
        Conflict: `session_closed`.
    """
    with core.opened():
        spans = _due_spans(core, summariser)[:most]

    unit_numbers: list[int] = []
    refusals: Counter[str] = Counter()
    for span in spans:
        words = "\n\n".join(unit.text for unit in span)
        try:
            answer: Any = summariser.summarise(SUMMARY_PROMPT + words)
        except _FAILURES as error:
            answer = error

        fault = _record(core, summariser, span, answer)
        if fault:
            refusals[fault] += 1
        else:
            unit_numbers.append(span[0].number)

    return SummaryReport(tuple(unit_numbers), dict(refusals))


def _due_spans(core: SessionCore, summariser: Summariser) -> tuple[tuple[WindowUnit, ...], ...]:
    if core.pressure().zone is Zone.GREEN:
        return ()

    asked: set[int] = set()
    for event in core.log.read():
        body = event.body
        if event.kind is EventKind.SUMMARISED and body["by"] == [summariser.id, PROMPT_VERSION]:
            asked.update(range(body["units"][0], body["units"][1] + 1))

    return summary_spans(reachable_units(core.state, core.policy), asked)


def _record(
    core: SessionCore, summariser: Summariser, span: Sequence[WindowUnit], answer: Any
) -> str:
    """Append what came of an answer, and return why it was refused; empty for a taken one."""

    def attempt() -> str:
        with core.caught_up():
            standing = [core.state.unit(unit.number) for unit in span]
            units = [unit for unit in standing if unit and unit.form is StandingForm.FULL]
            if len(units) < len(span):
                return "left_meanwhile"

            draft = _draft(core, summariser, units, answer)
            core.act([draft], edit=False)
            return str(draft.body["fault"])

    # The agent's own loop goes on meanwhile, and wins.
    return core.retry(attempt)


def _draft(
    core: SessionCore, summariser: Summariser, units: Sequence[WindowUnit], answer: Any
) -> EventDraft:
    seqs: list[int] = []
    for unit in units:
        seqs += dict.fromkeys([unit.number, *(item.seq for item in unit.items)])
    body: dict[str, Any] = {
        "units": [units[0].number, units[-1].number],
        "of": seqs,
        "turn": units[0].turn,
        "by": [summariser.id, PROMPT_VERSION],
    }
    if not isinstance(answer, str):
        fault = "unavailable" if isinstance(answer, BaseException) else "not_plain"
        return EventDraft(EventKind.SUMMARISED, body | {"fault": fault})

    words, _ = core.masked(answer.strip())
    summary = UnitSummary(
        first=units[0].number,
        last=units[-1].number,
        turn=units[0].turn,
        seq=core.state.seq + 1,
        text=words,
        tokens=0,
    )
    fault = summary_fault(units, summary, core.state.count)
    body["fault"] = fault
    if fault:
        return EventDraft(EventKind.SUMMARISED, body)
    body["litmus"] = list(litmus(units, words))
    body["tokens"] = core.state.count(summary.block)
    return EventDraft(EventKind.SUMMARISED, body, (words,))
