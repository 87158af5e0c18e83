"""Taking a task up in a new window, in five steps: orient, load, verify, inject, resume.

The checkpoint says what was so when the last window ended. What is so now only the caller can ask:
probes are handed in, by the name of what they tell, and what differs is an open issue of the new
window, because a world that moved on unseen is how a resumed task most often fails. What is
injected goes by priority, so that a small budget holds the goal, the work at hand and what blocks
it before what was learned.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from ..schema.errors import InvalidInput
from .checkpoint import TaskCheckpoint, bullets


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
    entries = (
        BootstrapEntry(BootstrapStep.ORIENT, True, _environment_line(checkpoint)),
        BootstrapEntry(BootstrapStep.LOAD, not goal_fault, goal_fault or checkpoint.goal),
        BootstrapEntry(BootstrapStep.VERIFY, not drifts, "; ".join(drifts) or _probe_line(probes)),
        BootstrapEntry(BootstrapStep.INJECT, not omissions, _omission_line(omissions)),
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


def _environment_line(checkpoint: TaskCheckpoint) -> str:
    return ", ".join(f"{name} {value}" for name, value in checkpoint.environment)


def _probe_line(probes: Mapping[str, Probe]) -> str:
    return f"as it was: {', '.join(sorted(probes))}" if probes else "nothing was asked"


def _omission_line(omissions: tuple[str, ...]) -> str:
    return f"left out: {', '.join(omissions)}" if omissions else "everything fits"


def _next_work(checkpoint: TaskCheckpoint) -> str:
    """What to go on with: work in progress before work that is planned."""
    for status in ("in_progress", "planned"):
        for name, state in checkpoint.subtasks:
            if state == status:
                return name
    return checkpoint.goal or "ask what to do"
