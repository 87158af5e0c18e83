"""The state of a task as seven artifacts: what a new window, or another agent, starts from.

A checkpoint is made from what the session knows without a model: the task, its notes by category,
the tools that ran, and the calls still open. It reads cold, as JSON and as Markdown.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from .events import NoteCategory, SubtaskStatus
from .state import WindowState
from .units import PartKind, StandingForm


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskCheckpoint:
    """A task at one moment, most important first."""

    version: int
    """The number of its event: rises, and an older one never takes its place."""
    goal: str
    acceptance: tuple[str, ...]
    progress: tuple[str, ...]
    decisions: tuple[str, ...]
    issues: tuple[str, ...]
    environment: tuple[tuple[str, str], ...]
    learnings: tuple[str, ...]
    subtasks: tuple[tuple[str, str], ...] = ()
    """Each piece of the task with its status, in the order in which they were named."""
    reasoning_omitted: tuple[str, ...] = ()
    """What left the window, with the addresses of the originals."""

    def to_json(self) -> dict[str, Any]:
        """The artifacts as plain values."""
        return {
            "version": self.version,
            "goal": self.goal,
            "acceptance": list(self.acceptance),
            "progress": list(self.progress),
            "decisions": list(self.decisions),
            "issues": list(self.issues),
            "environment": dict(self.environment),
            "learnings": list(self.learnings),
            "subtasks": dict(self.subtasks),
            "reasoning_omitted": list(self.reasoning_omitted),
        }

    def to_markdown(self) -> str:
        """The artifacts as a page that a person, or a model in a new window, reads cold."""
        lines = ["# Goal", "", self.goal or "(none stated)"]
        lists: Sequence[tuple[str, Sequence[str]]] = (
            ("Done when", self.acceptance),
            ("Open issues", self.issues),
            ("Progress", self.progress),
            ("Pieces", [f"{status}: {name}" for name, status in self.subtasks]),
            ("Decisions", self.decisions),
            ("Environment", [f"{name}: {value}" for name, value in self.environment]),
            ("Learned", self.learnings),
            ("Left out", self.reasoning_omitted),
        )
        for title, entries in lists:
            if entries:
                lines += ["", f"## {title}", "", *bullets(entries)]
        return "\n".join(lines) + "\n"


def bullets(entries: Iterable[str]) -> list[str]:
    """Entries as the lines of a list."""
    return [f"- {entry}" for entry in entries]


def task_checkpoint(state: WindowState) -> TaskCheckpoint:
    """The checkpoint of a session as it stands."""
    issues = _notes(state, NoteCategory.ISSUE)
    for unit in state.open_units:
        for call_id in unit.open_calls:
            issues.append(f"open call {call_id}")

    environment = [
        ("model", state.model),
        ("turn", str(state.turn)),
        ("step", str(state.step)),
        ("window", str(state.windows)),
    ]
    # Calls that left the window are not counted here, so without any nothing is said.
    if tools := _tools_used(state):
        environment.append(("tools used", ", ".join(tools)))
    reasoning: list[str] = []
    for unit in state.units:
        if unit.form in (StandingForm.EXTRACT, StandingForm.TOMBSTONE):
            reasoning.append(unit.items[0].text.partition("\n")[0])

    return TaskCheckpoint(
        version=state.seq + 1,
        goal=" ".join(
            [*filter(None, (state.goal or state.task,)), *_notes(state, NoteCategory.GOAL)]
        ),
        acceptance=state.acceptance,
        progress=tuple(_open_pieces(state)),
        subtasks=tuple(_subtasks(state)),
        decisions=tuple(_notes(state, NoteCategory.DECISION)),
        issues=tuple(issues),
        environment=tuple(environment),
        learnings=tuple(_notes(state, NoteCategory.LEARNING)),
        reasoning_omitted=tuple(reasoning),
    )


def _subtasks(state: WindowState) -> Iterator[tuple[str, str]]:
    """The pieces of the task; a note without a status is planned."""
    for note in state.notes:
        if note.category is NoteCategory.TODO:
            yield note.text, (note.status or SubtaskStatus.PLANNED).value


def _open_pieces(state: WindowState) -> Iterator[str]:
    for name, status in _subtasks(state):
        if status != SubtaskStatus.DONE:
            yield name


def _notes(state: WindowState, category: NoteCategory) -> list[str]:
    return [note.text for note in state.notes if note.category is category]


def _tools_used(state: WindowState) -> list[str]:
    names: dict[str, None] = {}
    for unit in state.units:
        for item in unit.items:
            if item.kind is PartKind.CALL:
                names[item.content.name] = None
    return list(names)
