"""Checkpoints of a session as claims about its task: versioned, compared before they are set.

The task is an entity that only its identifier binds: two tasks of one name stay two. Forks share
the task of the session they began as, so of two that go on from one checkpoint the first to save
wins, and the other learns of it. What a task came to at any time is read off the store's history.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from ...schema.answers import HistoryRow
from ...schema.entity import EntityRef
from ...schema.errors import Conflict, NotFound
from ...schema.principal import Principal, Scope
from ...schema.vocabulary import StateLayer
from ...schema.write import ABSENT, Write
from ...window.checkpoint import TaskCheckpoint
from ..reading.audit import Auditor
from ..reading.view import pinned
from ..writing.write import Writer
from .core import EventDraft, SessionCore, checkpoint_draft

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
        newest = _newest(core)
        if conflict.code != "stale_version" or newest is None:
            raise
        # Its own claim stands, and the event that should tell of it was lost in a crash between.
        if predecessor or newest.value.get("session") != core.log.session:
            raise _stale_predecessor(newest) from conflict

        return _write(core, checkpoint, milestone, newest.object_id)


def _stale_predecessor(newest: HistoryRow) -> Conflict:
    return Conflict(
        f"another checkpoint of the task stands, {newest.object_id}: read it with checkpoints(), "
        "and save behind it with predecessor= and its id",
        code="stale_version",
        object_id=newest.object_id,
    )


def milestone_draft(
    core: SessionCore, milestone: str, offset: int, notices: list[str]
) -> EventDraft:
    """The event of a milestone's checkpoint; a turn is over also where it cannot be saved."""
    checkpoint = core.subsystems.cross_window.checkpoint(core.state)
    checkpoint = replace(checkpoint, version=core.state.seq + offset + 1)
    try:
        claim = save_checkpoint(core, checkpoint, milestone, None)
    except Conflict as conflict:
        notices.append(f"the checkpoint stands in the log alone: {conflict}")
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


def _newest(core: SessionCore) -> HistoryRow | None:
    rows = [row for row in checkpoint_history(core) if row.tx_end is None and row.head]
    return rows[-1] if rows else None


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
