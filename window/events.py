"""The events of a session: what its log holds, and what `step` folds.

An event is a frozen value with a number, a kind, a body without free text and the texts beside it.
The texts stand apart so that an erasure can empty them while the chain of digests stays whole; an
emptied text reads as `ERASURE_MARK`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

ERASURE_MARK: Final = "[erased]"
"""What stands where an erasure emptied a text."""
GENERATION: Final = "~~"
"""Between the name of a session and the number of its use, from the second on."""


class EventKind(StrEnum):
    """What happened in a session."""

    OPENED = "opened"
    TURN_STARTED = "turn_started"
    STEP_MADE = "step_made"
    RESULT_CAME = "result_came"
    TURN_ENDED = "turn_ended"
    CALL_ABANDONED = "call_abandoned"
    EDITED = "edited"
    UNDONE = "undone"
    PINNED = "pinned"
    NOTED = "noted"
    FORGOTTEN = "forgotten"
    NOTES_DROPPED = "notes_dropped"
    TERMS_CHANGED = "terms_changed"
    POLICY_CHANGED = "policy_changed"
    MEMORY_READ = "memory_read"
    CLAIMS_LINKED = "claims_linked"
    CLAIMS_JUDGED = "claims_judged"
    SUMMARISED = "summarised"
    RECOUNTED = "recounted"
    CHECKPOINTED = "checkpointed"
    TEXTS_ERASED = "texts_erased"
    CLOSED = "closed"


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowEvent:
    """One event of a session."""

    seq: int
    """Rises by one from 1."""
    kind: EventKind
    body: Mapping[str, Any] = field(default_factory=dict[str, Any])
    texts: tuple[str, ...] = ()


def result_texts(event: WindowEvent) -> tuple[str, ...]:
    """The words of a result as they came, and behind them its pictures and files.

    An event keeps the words in full behind the texts of its parts where a short form stands.
    """
    parts = len(event.body["parts"])
    words = event.texts[parts] if len(event.texts) > parts else event.texts[0]
    return (words, *event.texts[1:parts])


class EditReason(StrEnum):
    """Why an edit was made."""

    PRESSURE = "pressure"
    OVERFLOW = "overflow"
    ROLLOVER = "rollover"
    COMPACT = "compact"
    CONCLUSION = "conclusion"


class NoteCategory(StrEnum):
    """What a note is about, in the order in which notes are shown."""

    GOAL = "goal"
    DECISION = "decision"
    ISSUE = "issue"
    TODO = "todo"
    LEARNING = "learning"


class SubtaskStatus(StrEnum):
    """How far a piece of the task is."""

    PLANNED = "planned"
    IN_PROGRESS = "in_progress"
    DONE = "done"


@dataclass(frozen=True, slots=True)
class Note:
    """Something to keep in sight whatever leaves the window."""

    seq: int
    category: NoteCategory
    text: str
    status: SubtaskStatus | None = None
    """How far a piece of the task is; None for notes that are none."""
    tokens: int = 0
