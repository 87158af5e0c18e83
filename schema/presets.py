"""Presets: three ready policies for the compiler, and a text for each role.

`quality_first` looks at more candidates, accepts less relevant ones, and rescues more. `cost_first`
keeps to what is clearly relevant and short, and folds history early. `three_phase` holds the
optional sections to the budgets of source 004. Each differs from the default in a few numbers, so
`dataclasses.replace` can refine it. Retention follows from layer and type, not from a preset.
Checklist C-236, C-299.

>>> preset("cost_first").compile.relevance_floor > preset("default").compile.relevance_floor
True
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from .compile_terms import caps
from .errors import unknown
from .policy import DEFAULT, Policy
from .records import FrozenDict

_CHANGES: Final[Mapping[str, Mapping[str, Any]]] = {
    "default": {},
    "quality_first": {
        "relevance_floor": 0.02,
        "text_candidates": 512,
        "text_beside_vectors": 384,
        "vector_candidates": 200,
        "section_items": 1_024,
        "rescue_keep": 10,
        "rescue_affinity": 0.40,
        "history_full_turns": 10,
        "query_expansion": True,
    },
    "cost_first": {
        "relevance_floor": 0.20,
        "text_candidates": 128,
        "text_beside_vectors": 96,
        "vector_candidates": 96,
        "section_items": 32,
        "rescue_keep": 2,
        "rescue_affinity": 0.60,
        "history_full_turns": 4,
    },
    "three_phase": {"section_tokens": caps()},
}
PRESETS: Final = tuple(_CHANGES)
"""The names, the default first."""
ROLES: Final[Mapping[str, str]] = FrozenDict(
    {
        "planner": "You are the Planner. Divide the goal into steps that can be checked; state for "
        "each what it needs, what it yields and when it is done. Name what is not known. Carry "
        "out none of the steps.",
        "operator": "You are the Operator of one step of a plan. Do this step and no other, with "
        "the tools and the evidence of this context alone. Meet every acceptance item, and say "
        "what kept you from one.",
        "reviewer": "You are the Reviewer. Hold the result to each constraint and each acceptance "
        "item in turn and quote the words that meet or break it. Pass it only when all are met, "
        "else say what is to change. Mend nothing yourself.",
    }
)
"""What an agent of a role is told, by role."""


def preset(name: str) -> Policy:
    """A ready policy.

    Raises:
        InvalidInput: `unknown_vocabulary`, with the nearest names.
    """
    if name not in _CHANGES:
        raise unknown("preset", name, PRESETS)
    return replace(DEFAULT, compile=replace(DEFAULT.compile, **_CHANGES[name]))


def role_prompt(role: str) -> str:
    """What an agent of a role is told; a compile takes it among its `skills`.

    >>> role_prompt("planner").partition(".")[0]
    'You are the Planner'

    Raises:
        InvalidInput: `unknown_vocabulary`, with the nearest names.
    """
    if role not in ROLES:
        raise unknown("role", role, ROLES)
    return ROLES[role]
