"""Instruction templates by slot kind and task type, for slots that bring none of their own.

A template is plain text with `{slot}` (the slot's name as words) and `{value}`. Only kinds that
say how something is wanted have one: a fact about somebody is no instruction by itself.
Checklist C-038; vocabulary 2.4.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from ..schema.vocabulary import SlotKind

_CODE, _REPORT, _EXTRACT, _RUN = (
    "code_generation",
    "analytical_reporting",
    "data_extraction",
    "system_orchestration",
)

TEMPLATES: Final[Mapping[tuple[SlotKind, str], str]] = MappingProxyType(
    {
        (SlotKind.PREFERENCE, _CODE): "Write code and comments with this {slot}: {value}.",
        (SlotKind.PREFERENCE, _REPORT): "Explain with this {slot}: {value}.",
        (SlotKind.PREFERENCE, _EXTRACT): "Return what you extract with this {slot}: {value}.",
        (SlotKind.PREFERENCE, _RUN): "Report each action with this {slot}: {value}.",
        (SlotKind.DIRECTIVE, _CODE): "Write no code that breaks this {slot}: {value}",
        (SlotKind.DIRECTIVE, _REPORT): "State nothing that breaks this {slot}: {value}",
        (SlotKind.DIRECTIVE, _EXTRACT): "Extract within this {slot}: {value}",
        (SlotKind.DIRECTIVE, _RUN): "Before each action check this {slot}: {value}",
        (SlotKind.DECISION, _CODE): "Build on what was decided: {slot} is {value}.",
        (SlotKind.DECISION, _REPORT): "Take as decided: {slot} is {value}.",
        (SlotKind.DECISION, _RUN): "Act on what was decided: {slot} is {value}.",
    }
)


def built_in(kind: SlotKind, task_types: tuple[str, ...]) -> str | None:
    """Return the template of a kind for the first task type that has one.

    >>> built_in(SlotKind.PREFERENCE, ("analytical_reporting",))
    'Explain with this {slot}: {value}.'
    """
    return next((TEMPLATES[kind, task] for task in task_types if (kind, task) in TEMPLATES), None)
