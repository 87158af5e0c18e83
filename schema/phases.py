"""Phases: the words of source 004 for the stability of a section and for who fills it.

Three phases hold what is told to a model, and between the second and the third stands the
history. Each of the nine injectors of the source is one or more of our sections; its token
budget is a cap of the one allocator where the section is optional, and no cap at all where what
was given may not be dropped. Checklist C-295 to C-299.

>>> strategy_of(SectionName.MEMORY).value
'session'
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Final, NamedTuple

from .compile_terms import SECTIONS, SectionName, Stability


class Phase(StrEnum):
    """The parts of a request, in their order."""

    SYSTEM = "system"
    USER_CONTEXT = "user_context"
    HISTORY = "history"
    RUNTIME = "runtime"


class CacheStrategy(StrEnum):
    """How long a provider may keep a phase."""

    STABLE = "stable"
    SESSION = "session"
    DYNAMIC = "dynamic"
    """Not at all."""


class Injector(NamedTuple):
    """One of the nine sources of content."""

    name: str
    sections: tuple[SectionName, ...]
    most_tokens: int | None
    """Its budget in source 004; None where the source states none."""


_S: Final = SectionName
_ROWS: Final[Mapping[Stability, tuple[Phase, CacheStrategy]]] = {
    Stability.STATIC: (Phase.SYSTEM, CacheStrategy.STABLE),
    Stability.SCOPE: (Phase.SYSTEM, CacheStrategy.STABLE),
    Stability.SESSION: (Phase.USER_CONTEXT, CacheStrategy.SESSION),
    Stability.HISTORY: (Phase.HISTORY, CacheStrategy.SESSION),
    Stability.TURN: (Phase.RUNTIME, CacheStrategy.DYNAMIC),
}
INJECTORS: Final = (
    Injector("system_role", (_S.SYSTEM_POLICY, _S.TENANT_POLICY, _S.PROJECT_POLICY), 2_000),
    Injector("tool_system_role", (_S.TOOLS,), 3_000),
    Injector("skill_prompt", (_S.SKILLS,), 1_000),
    Injector("user_memory", (_S.MEMORY,), 500),
    Injector("knowledge", (_S.PINNED_KNOWLEDGE,), 800),
    Injector("playbook_hint", (_S.GUIDANCE,), 300),
    Injector("plan", (_S.TASK_PROGRESS,), 300),
    Injector("error_retention", (_S.ERRORS,), None),
    Injector("todo_rewriter", (_S.GOAL_RECAP,), None),
)
"""The injectors of source 004, in the order of its phases."""


def phase_of(section: SectionName) -> Phase:
    """The phase that a section belongs to."""
    return _ROWS[SECTIONS[section].stability][0]


def strategy_of(section: SectionName) -> CacheStrategy:
    """How long a provider may keep a section."""
    return _ROWS[SECTIONS[section].stability][1]


def caps() -> tuple[tuple[str, int], ...]:
    """The budgets of the injectors whose sections may lose content, by section."""
    return tuple(
        (section.value, injector.most_tokens)
        for injector in INJECTORS
        for section in injector.sections
        if injector.most_tokens is not None and not SECTIONS[section].required
    )
