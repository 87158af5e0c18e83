"""What passes from one session to another: forks, children of delegated work, and checkpoints.

A fork takes the log along. A child takes nothing but its task: a clean window of its own budget,
run by the caller of its parent, so under no stronger ceiling. What it came to is told in at most
two thousand tokens; a whole transcript would only move the load back.

Checkpoints are claims about the task, versioned and compared before they are set. The task is an
entity that only its identifier binds: two tasks of one name stay two. Forks share the task of the
session they began as, so of two that go on from one checkpoint the first to save wins, and the
other learns of it. What a task came to at any time is read off the store's history.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import chain
from typing import Any, Final

from ...schema.answers import HistoryRow
from ...schema.entity import EntityRef
from ...schema.errors import Conflict, InvalidInput, NotFound
from ...schema.principal import Principal, Scope
from ...schema.vocabulary import StateLayer
from ...schema.write import ABSENT, Write
from ...window.checkpoint import TaskCheckpoint
from ...window.events import EventKind, NoteCategory, SubtaskStatus, WindowEvent
from ...window.state import WindowState
from ...window.units import PartKind
from ..reading.audit import Auditor
from ..reading.view import pinned
from ..writing.write import Writer
from .core import EventDraft, SessionCore, SessionLog, checkpoint_draft, further_log, newest_log
from .originals import units_between
from .terms import opened_state, opening_event, window_limit

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
    log_so_far = core.log.read(until=last)
    events = [event for event in log_so_far if event.kind is not EventKind.CLOSED]
    # An erasure of the first session reaches what was copied from it.
    origin = {"forked_from": core.log.session, "forked_at": last}
    events[0] = replace(events[0], body={**events[0].body, **origin})
    log.append(0, events)

    fork = _heir(core, log)
    fork.catch_up()
    fork.own_turn = fork.state.turn
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
    size = window_limit(core.state.model, min(budget_tokens, core.state.window), None)
    texts = (task, "", core.state.system, core.state.tools)
    origin = {"parent": core.log.session, "parent_seq": core.state.seq}
    child = _heir(core, log)
    event = opening_event(child, core.state.model, size, texts, origin)
    child.state = opened_state(event)
    return child, event


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

    items = chain.from_iterable(unit.items for unit in units_between(core, 1, core.state.seq))
    answers = [item.text for item in items if item.kind is PartKind.ASSISTANT]

    text = "\n".join([*lines, *answers[-1:]])

    # Cut by a quarter until it fits: counts grow with length, and this is told once.
    while core.state.count(text) > CONCLUSION_TOKENS:
        text = text[: len(text) * 3 // 4]

    return text


def _heir(core: SessionCore, log: SessionLog) -> SessionCore:
    """A session run as another one is; a listener receives the notices of both."""
    return SessionCore(log, core.policy, core.subsystems, core.masks, listener=core.listener)


def _fresh_log(core: SessionCore, name: str) -> SessionLog:
    """The log of a session that is not there yet; the name of an erased one is free again."""
    log, generation = newest_log(core.log.backend, core.log.principal, name)
    events = log.read()
    if not events:
        return log
    if not any(event.body.get("erased") for event in events if event.kind is EventKind.CLOSED):
        raise Conflict(f"the session {name!r} is there already", code="session_exists")
    return further_log(log, name, generation + 1)


CHECKPOINT_SLOT: Final = "checkpoint"
_MOST_OMISSIONS: Final = 50
"""Lines about what left the window: the newest; the log has them all."""


def save_checkpoint(
    core: SessionCore, checkpoint: TaskCheckpoint, milestone: str, predecessor: str | None
) -> str:
    """Write a checkpoint behind the one that the session knows, and return the claim's id.

    `predecessor` is the claim to replace, when it is another than the session's own last one.

    Raises:
        Conflict: `stale_version`, when a fork of the session has saved another one since.
    """
    known = predecessor or core.state.checkpoint_object or ABSENT
    try:
        return _write(core, checkpoint, milestone, known)
    except Conflict as conflict:
        rows = [row for row in checkpoint_history(core) if row.tx_end is None and row.head]
        newest = rows[-1] if rows else None
        if conflict.code != "stale_version" or newest is None:
            raise
        # Its own claim stands, and the event that should tell of it was lost in a crash between.
        if predecessor or newest.value.get("session") != core.log.session:
            raise Conflict(
                f"the task has a newer checkpoint, {newest.object_id}: read it with checkpoints(), "
                "and save with its id as predecessor=",
                code="stale_version",
                object_id=newest.object_id,
            ) from conflict

        return _write(core, checkpoint, milestone, newest.object_id)


def milestone_draft(
    core: SessionCore, milestone: str, offset: int, notices: list[str]
) -> EventDraft:
    """The event of a milestone's checkpoint; a turn is over also where it cannot be saved."""
    checkpoint = core.subsystems.cross_window.checkpoint(core.state)
    checkpoint = replace(checkpoint, version=core.state.seq + offset + 1)
    try:
        claim = save_checkpoint(core, checkpoint, milestone, None)
    except Conflict as conflict:
        notices.append(f"the checkpoint is only in the log: {conflict}")
        claim = ""

    return checkpoint_draft(checkpoint, milestone, claim)


def checkpoint_history(core: SessionCore) -> tuple[HistoryRow, ...]:
    """Every checkpoint of the session's task on both axes, oldest transaction first."""
    backend, principal = core.log.backend, _caller(core)
    with backend.store.reading(principal.tenant) as reader:
        now = pinned(backend, principal, reader, None, None)
    try:
        return Auditor(backend, principal, now).history(_task(core), CHECKPOINT_SLOT)
    except NotFound:
        return ()


def _write(core: SessionCore, checkpoint: TaskCheckpoint, milestone: str, predecessor: str) -> str:
    plain = checkpoint.to_json()
    omissions = plain["reasoning_omitted"][-_MOST_OMISSIONS:]
    value: Mapping[str, Any] = {
        **plain,
        "reasoning_omitted": omissions,
        "milestone": milestone,
        "session": core.log.session,
    }
    write = Write(
        subject=_task(core),
        slot=CHECKPOINT_SLOT,
        value=value,
        layer=StateLayer.SESSION.value,
        scope=Scope(user=core.log.principal.user, session=_root(core)),
        source_origin="agent://session",
        expected=predecessor,
    )
    writer = Writer(core.log.backend, _caller(core))
    return writer.write_many((write,))[0].object_id


def _task(core: SessionCore) -> EntityRef:
    key = f"{Scope(user=core.log.principal.user, session=_root(core)).scope_id}/{core.state.task}"
    return EntityRef(name=f"task of session {_root(core)}", type="task", external_ids={"task": key})


def _caller(core: SessionCore) -> Principal:
    return replace(core.log.principal, session=_root(core))


def _root(core: SessionCore) -> str:
    """The session that this one began as; a fork carries its name in its first event."""
    return core.state.root or Scope.parse(core.log.session).session or ""
