"""Sessions that begin from another one: forks, and the children of delegated work.

A fork takes the log along. A child takes nothing but its task: a clean window of its own budget,
run by the caller of its parent, so under no stronger ceiling. What it came to is told in at most
two thousand tokens; a whole transcript would only move the load back.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from ...schema.errors import Conflict, InvalidInput
from ...window.budget import full_turns, history_budget
from ...window.events import EventKind, NoteCategory, SubtaskStatus, WindowEvent
from ...window.state import EMPTY_STATE, WindowState
from ...window.step import step
from ...window.units import PartKind
from .core import EventDraft, SessionCore, policy_body
from .limits import window_limit
from .listening import Listening
from .log import SessionLog, session_scope
from .originals import full_history

CONCLUSION_TOKENS: Final = 2_000
"""The most that a child tells its parent."""


def forked_core(core: SessionCore, name: str, at: int | None) -> SessionCore:
    """A session of its own that begins with the events of another one, up to a number.

    Raises:
        Conflict: `session_exists`.
        InvalidInput: `out_of_range`, for a number before the first event.
    """
    if at is not None and at < 1:
        raise InvalidInput(
            f"a fork begins with the first event at least; `at` is {at}, which comes before it",
            code="out_of_range",
            field="at",
        )

    log = _fresh_log(core, name)
    last = core.state.seq if at is None else at
    # The end of a session is not inherited: a fork is how a closed one goes on.
    events: list[WindowEvent] = []
    for event in core.log.read():
        if event.seq <= last and event.kind is not EventKind.CLOSED:
            events.append(event)
    log.append(0, events)

    fork = SessionCore(log, core.policy, _heir(core, log), core.subsystems)
    fork.catch_up()
    return fork


def child_core(
    core: SessionCore, name: str, task: str, budget_tokens: int
) -> tuple[SessionCore, WindowEvent]:
    """A session of its own for a piece of the task, and the event that begins it.

    Nothing is kept yet: whoever delegates says so in the parent first.

    Raises:
        Conflict: `session_exists`.
        InvalidInput: `missing_value`, without a task; `window_too_small`.
    """
    if not task.strip():
        raise InvalidInput("delegated work needs a task in words", code="missing_value")

    log = _fresh_log(core, name)
    window, limit = window_limit(core.state.model, min(budget_tokens, core.state.window), None)
    body: dict[str, Any] = {
        "model": core.state.model,
        "window": window,
        "limit": limit,
        **policy_body(core.policy, core.subsystems),
        "root": name,
        "parent": core.log.session,
        "parent_seq": core.state.seq,
    }
    texts = (task, "", core.state.system, core.state.tools)
    event = WindowEvent(seq=1, kind=EventKind.OPENED, body=body, texts=texts)
    state = step(EMPTY_STATE, event)
    if state.tokens > limit // 2:
        raise InvalidInput(
            f"system, tools and task take {state.tokens} of {limit} tokens; delegate with a larger "
            "budget_tokens",
            code="window_too_small",
        )

    return SessionCore(log, core.policy, _heir(core, log), core.subsystems, state), event


def delegation_draft(task: str) -> EventDraft:
    """The event by which a parent keeps in sight what it has given away."""
    body = {"category": NoteCategory.TODO.value, "status": SubtaskStatus.IN_PROGRESS.value}
    return EventDraft(EventKind.NOTED, body, (task,))


def conclusion_drafts(state: WindowState, conclusion: str, task: str) -> list[EventDraft]:
    """The events of finished work: its conclusion, and the piece of the task as done."""
    decision = {"category": NoteCategory.DECISION.value}
    drafts = [EventDraft(EventKind.NOTED, decision, (conclusion,))]
    for note in state.notes:
        if task and note.category is NoteCategory.TODO and note.text == task:
            body = {"category": NoteCategory.TODO.value, "status": SubtaskStatus.DONE.value}
            drafts.append(EventDraft(EventKind.NOTED, body, (task,)))
            break

    return drafts


def told_conclusion(core: SessionCore) -> str:
    """What a session came to: its last answer and its decisions, in at most two thousand tokens."""
    lines = [f"[session {core.log.session}, {core.state.turn} turns. Task: {core.state.task}]"]
    for note in core.state.notes:
        if note.category is NoteCategory.DECISION:
            lines.append(f"decided: {note.text}")

    answers: list[str] = []
    for unit in full_history(core.log.read()).units:
        for item in unit.items:
            if item.kind is PartKind.ASSISTANT:
                answers.append(item.text)

    text = "\n".join([*lines, *answers[-1:]])

    # Cut by a quarter until it fits: counts grow with length, and this is told once.
    while core.state.count(text) > CONCLUSION_TOKENS:
        text = text[: len(text) * 3 // 4]

    return text


def newest_full_turns(core: SessionCore) -> int:
    """How many turns of the session's mean size fit below the target of an edit."""
    state = core.state
    mean_turn = state.history_tokens // max(1, state.turn)
    return full_turns(history_budget(state, core.policy), mean_turn)


def _heir(core: SessionCore, log: SessionLog) -> Listening:
    """Who listens to a session hears of its forks and children too, by their own names."""
    return Listening(log.session, core.listening.listener)


def _fresh_log(core: SessionCore, name: str) -> SessionLog:
    log = replace(core.log, session=session_scope(core.log.principal, name))
    if log.read():
        raise Conflict(f"the session {name!r} is there already", code="session_exists")

    return log
