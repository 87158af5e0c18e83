"""What of a task outlives its window: checkpoints, taking the task up again, pictures and files.

A checkpoint holds seven artifacts of a task, read from the state; what left the window is named by
its address. Taking up goes in five steps: orient, load, verify, inject, resume. Probes of the
caller say what is so now, and what differs from the checkpoint is an open issue. A picture or a
file is no text: it is counted by its kind, leaves for a line that names it, and comes back as the
block in which its provider takes it. Checklist C-274 to C-281, C-314.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final, cast

from ..schema.errors import InvalidInput
from ..schema.record_json import to_plain
from .events import NoteCategory, SubtaskStatus
from .state import WindowState
from .units import PartKind, WindowUnit, pointer


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
        pairs = {"environment": dict(self.environment), "subtasks": dict(self.subtasks)}
        return {**to_plain(self), **pairs}

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
    reasoning = [f"originals {span.address}" for span in state.ledger.spans]
    subtasks: list[tuple[str, str]] = []
    for note in state.notes:
        if note.category is NoteCategory.TODO:
            # A note without a status is planned.
            subtasks.append((note.text, (note.status or SubtaskStatus.PLANNED).value))
    return TaskCheckpoint(
        version=state.seq + 1,
        goal=" ".join(
            [*filter(None, (state.goal or state.task,)), *_notes(state, NoteCategory.GOAL)]
        ),
        acceptance=state.acceptance,
        progress=tuple(name for name, status in subtasks if status != SubtaskStatus.DONE),
        subtasks=tuple(subtasks),
        decisions=tuple(_notes(state, NoteCategory.DECISION)),
        issues=tuple(issues),
        environment=tuple(environment),
        learnings=tuple(_notes(state, NoteCategory.LEARNING)),
        reasoning_omitted=tuple(reasoning),
    )


def _notes(state: WindowState, category: NoteCategory) -> list[str]:
    return [note.text for note in state.notes if note.category is category]


def _tools_used(state: WindowState) -> list[str]:
    names: dict[str, None] = {}
    for unit in state.units:
        for item in unit.items:
            if item.kind is PartKind.CALL:
                names[item.content.name] = None
    return list(names)


class BootstrapStep(StrEnum):
    """The steps, in order."""

    ORIENT = "orient"
    LOAD = "load"
    VERIFY = "verify"
    INJECT = "inject"
    RESUME = "resume"


Probe = Callable[[], str]
"""Tells what is so now, in a word: the branch, the model, a version."""


@dataclass(frozen=True, slots=True)
class BootstrapEntry:
    """What one step came to."""

    step: BootstrapStep
    passed: bool
    text: str


@dataclass(frozen=True, slots=True)
class TaskBootstrap:
    """A task ready for a new window."""

    entries: tuple[BootstrapEntry, ...]
    text: str
    """What to begin the window with."""
    omissions: tuple[str, ...]
    """Sections that the budget did not hold, least important last."""

    @property
    def passed(self) -> bool:
        """Whether the world is as the checkpoint says, as far as it was asked."""
        return all(entry.passed for entry in self.entries)


def task_bootstrap(
    checkpoint: TaskCheckpoint,
    probes: Mapping[str, Probe],
    budget: int,
    count: Callable[[str], int],
) -> TaskBootstrap:
    """The five steps for a checkpoint; `budget` is in tokens as `count` counts them.

    Probes are asked once each, in the order of their names. The goal is injected whatever the
    budget; all else only while it holds.

    Raises:
        InvalidInput: `bad_field`, for probes that cannot be called.
    """
    if not isinstance(probes, Mapping) or not all(map(callable, probes.values())):
        raise InvalidInput(
            "probes are functions by the name of what they tell", code="bad_field", field="probes"
        )

    expectations = dict(checkpoint.environment)
    drifts: list[str] = []
    for name in sorted(probes):
        answer = probes[name]()
        expectation = expectations.get(name)
        if expectation is not None and answer != expectation:
            drifts.append(f"{name} was {expectation}, now {answer}")

    goal_fault = "" if checkpoint.goal else "no goal was stated"
    sections = _sections(checkpoint, drifts)
    text, omissions = _fitting_sections(sections, budget, count)
    environment = ", ".join(f"{name} {value}" for name, value in checkpoint.environment)
    unchanged = f"as it was: {', '.join(sorted(probes))}" if probes else "nothing was asked"
    omitted = f"left out: {', '.join(omissions)}" if omissions else "everything fits"
    entries = (
        BootstrapEntry(BootstrapStep.ORIENT, True, environment),
        BootstrapEntry(BootstrapStep.LOAD, not goal_fault, goal_fault or checkpoint.goal),
        BootstrapEntry(BootstrapStep.VERIFY, not drifts, "; ".join(drifts) or unchanged),
        BootstrapEntry(BootstrapStep.INJECT, not omissions, omitted),
        BootstrapEntry(BootstrapStep.RESUME, True, _next_work(checkpoint)),
    )
    return TaskBootstrap(entries, text, omissions)


def _sections(checkpoint: TaskCheckpoint, drifts: list[str]) -> Iterator[tuple[str, list[str]]]:
    """What a new window begins with, most important first."""
    yield "Goal", [checkpoint.goal or "(none stated)"]
    yield "At hand", list(checkpoint.progress)
    yield "Open issues", [*drifts, *checkpoint.issues]
    yield "Done when", list(checkpoint.acceptance)
    yield "Decisions", list(checkpoint.decisions)
    yield "Finished", [name for name, status in checkpoint.subtasks if status == "done"]
    yield "Learned", list(checkpoint.learnings)
    yield "Left out", list(checkpoint.reasoning_omitted)


def _fitting_sections(
    sections: Iterator[tuple[str, list[str]]], budget: int, count: Callable[[str], int]
) -> tuple[str, tuple[str, ...]]:
    """The sections that a budget holds, and the titles of the others."""
    texts: list[str] = []
    omissions: list[str] = []
    tokens = 0
    for title, lines in sections:
        if not lines:
            continue
        text = "\n".join([f"## {title}", "", *bullets(lines)])
        size = count(text)

        # A later section may be short, but what stands there would look more important.
        if texts and (omissions or tokens + size > budget):
            omissions.append(title)
            continue

        texts.append(text)
        tokens += size
    return "\n\n".join(texts) + "\n", tuple(omissions)


def _next_work(checkpoint: TaskCheckpoint) -> str:
    """What to go on with: work in progress before work that is planned."""
    for status in ("in_progress", "planned"):
        for name, state in checkpoint.subtasks:
            if state == status:
                return name
    return checkpoint.goal or "ask what to do"


_MEDIA_TYPE: Final = re.compile(r"(?:image|audio|video|application|text)/[a-z0-9.+-]{1,40}")
_NAME_FIELDS: Final = ("title", "filename", "file_name", "display_name", "displayName")
_LONGEST_NAME: Final = 60


class ScratchpadKind(StrEnum):
    """What a part that is no text is."""

    PICTURE = "picture"
    FILE = "file"
    SOUND = "sound"


_KINDS: Final = {
    "image": ScratchpadKind.PICTURE,
    "image_url": ScratchpadKind.PICTURE,
    "input_image": ScratchpadKind.PICTURE,
    "input_audio": ScratchpadKind.SOUND,
}
"""By the type of a provider's block; what stands in no row is told by its media type."""
_FAMILIES: Final = {"image": ScratchpadKind.PICTURE, "audio": ScratchpadKind.SOUND}


@dataclass(frozen=True, slots=True, kw_only=True)
class ScratchpadEntry:
    """A picture or a file of a session."""

    address: str
    turn: int
    kind: ScratchpadKind
    media_type: str
    """Such as `image/png`; empty where its block states none."""
    name: str
    """The name of a file as its sender states it: data, cut to sixty characters."""
    tokens: int
    stands: bool
    """Whether it is sent with the next request, or a line stands for it."""


def scratchpad_entries(
    history: Sequence[WindowUnit], standing: Sequence[WindowUnit]
) -> Iterator[ScratchpadEntry]:
    """Every picture and file of a history, oldest first, and whether it stands in a window."""
    places: set[tuple[int, int]] = set()
    for unit in standing:
        for item in unit.of_kind(PartKind.MEDIA):
            places.add((item.seq, item.part))

    for unit in history:
        for item in unit.of_kind(PartKind.MEDIA):
            kind, media_type, name = media_description(item.text)
            yield ScratchpadEntry(
                address=pointer(unit.number),
                turn=unit.turn,
                kind=kind,
                media_type=media_type,
                name=name,
                tokens=item.tokens,
                stands=(item.seq, item.part) in places,
            )


def media_blocks(units: Sequence[WindowUnit]) -> list[dict[str, Any]]:
    """The pictures and files of units as the blocks in which they came."""
    blocks: list[dict[str, Any]] = []
    for unit in units:
        for item in unit.of_kind(PartKind.MEDIA):
            blocks.append(json.loads(item.text))
    return blocks


def media_line(number: int, blocks: Sequence[str]) -> str:
    """What stands for the pictures and files of a message, each given as its provider's JSON.

    >>> media_line(7, ['{"type":"image","source":{"media_type":"image/png","data":"aGk="}}'])
    '[1 picture: image/png. Original: window://7]'
    """
    counts: Counter[ScratchpadKind] = Counter()
    words: dict[str, None] = {}
    for block in blocks:
        kind, media_type, name = media_description(block)
        counts[kind] += 1
        label = f"{media_type or 'of unknown format'} {json.dumps(name) if name else ''}"
        words[label.rstrip()] = None

    # A sound takes no plural that a bare s would not make.
    amounts = [f"{count} {kind.value}{'s' * (count > 1)}" for kind, count in counts.items()]
    return f"[{' and '.join(amounts)}: {', '.join(words)}. Original: {pointer(number)}]"


def with_media_line(words: str, number: int, blocks: Sequence[str]) -> str:
    """Words with the line about pictures and files behind them, or that line alone."""
    line = media_line(number, blocks)
    return f"{words}\n{line}" if words.strip() else line


def media_description(block: str) -> tuple[ScratchpadKind, str, str]:
    """The kind, the media type and the name of a block, given as its provider's JSON."""
    tree = json.loads(block)
    match = _MEDIA_TYPE.search(block)
    media_type = match[0] if match else ""
    family = media_type.partition("/")[0]
    kind = _KINDS.get(str(tree.get("type"))) or _FAMILIES.get(family, ScratchpadKind.FILE)
    return kind, media_type, _name_in(tree)


def _name_in(tree: Mapping[str, Any]) -> str:
    """The name that a block or something in it states."""
    for field in _NAME_FIELDS:
        if isinstance(tree.get(field), str):
            return cast(str, tree[field])[:_LONGEST_NAME]
    for value in tree.values():
        if isinstance(value, dict):
            name = _name_in(cast("dict[str, Any]", value))
            if name:
                return name
    return ""
