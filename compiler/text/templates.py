"""Instruction templates by slot kind and task type, for slots that bring none of their own.

A template is plain text with `{slot}` (the slot's name as words) and `{value}`. Only kinds that
say how something is wanted have one: a fact about somebody is no instruction by itself.
Checklist C-038.
"""

from __future__ import annotations

from collections.abc import Mapping
from string import Formatter
from types import MappingProxyType
from typing import Final

from ...schema.vocabulary import SlotKind

_CODE, _REPORT, _EXTRACT, _RUN, _TALK, _ASSIST = (
    "code_generation",
    "analytical_reporting",
    "data_extraction",
    "system_orchestration",
    "conversation",
    "assistant",
)

TEMPLATES: Final[Mapping[tuple[SlotKind, str], str]] = MappingProxyType(
    {
        (SlotKind.PREFERENCE, _CODE): "Write code and comments with this {slot}: {value}.",
        (SlotKind.PREFERENCE, _REPORT): "Explain with this {slot}: {value}.",
        (SlotKind.PREFERENCE, _EXTRACT): "Return what you extract with this {slot}: {value}.",
        (SlotKind.PREFERENCE, _RUN): "Report each action with this {slot}: {value}.",
        (SlotKind.PREFERENCE, _TALK): "Answer with this {slot}: {value}.",
        (SlotKind.PREFERENCE, _ASSIST): "Answer and act with this {slot}: {value}.",
        (SlotKind.DIRECTIVE, _CODE): "Write no code that breaks this {slot}: {value}",
        (SlotKind.DIRECTIVE, _REPORT): "State nothing that breaks this {slot}: {value}",
        (SlotKind.DIRECTIVE, _EXTRACT): "Extract within this {slot}: {value}",
        (SlotKind.DIRECTIVE, _RUN): "Before each action check this {slot}: {value}",
        (SlotKind.DIRECTIVE, _TALK): "Say nothing that breaks this {slot}: {value}",
        (SlotKind.DIRECTIVE, _ASSIST): "Say and do nothing that breaks this {slot}: {value}",
        (SlotKind.DECISION, _CODE): "Build on what was decided: {slot} is {value}.",
        (SlotKind.DECISION, _REPORT): "Take as decided: {slot} is {value}.",
        (SlotKind.DECISION, _TALK): "Take as decided: {slot} is {value}.",
        (SlotKind.DECISION, _ASSIST): "Act on what was decided: {slot} is {value}.",
        (SlotKind.DECISION, _RUN): "Act on what was decided: {slot} is {value}.",
    }
)


_TASTES: Final[Mapping[str, str]] = MappingProxyType(
    {
        **dict.fromkeys("like likes liked love loves loved enjoy enjoys enjoyed".split(), "likes"),
        **dict.fromkeys("favorite favorites favourite favourites".split(), "likes"),
        **dict.fromkeys("dislike dislikes disliked hate hates hated".split(), "dislikes"),
        **dict.fromkeys("avoid avoids avoided".split(), "avoids"),
    }
)


def taste(slot: str) -> str | None:
    """The template of a slot that says what somebody likes: a taste shapes no form of an answer.

    >>> taste("disliked_actors"), taste("likes"), taste("response_style")
    ('User dislikes actors: {value}.', 'User likes {value}.', None)
    """
    first, _, topic = slot.partition("_")
    verb = _TASTES.get(first)
    if verb is None:
        return None
    return (
        f"User {verb} {topic.replace('_', ' ')}: {{value}}." if topic else f"User {verb} {{value}}."
    )


def parts_of(template: str) -> tuple[tuple[str, str | None], ...]:
    """The pieces of a template: literal text, then the placeholder that follows it.

    A template whose braces do not match has no placeholders: it is taken as it stands.

    >>> parts_of("for {title}.")
    (('for ', 'title'), ('.', None))
    """
    try:
        return tuple((text, name) for text, name, _, _ in Formatter().parse(template))
    except ValueError:
        return ((template, None),)


def placeholders(template: str) -> tuple[str, ...]:
    """The names of a template's placeholders, each once, in order."""
    return tuple(dict.fromkeys(name for _, name in parts_of(template) if name))


def built_in(kind: SlotKind, task_types: tuple[str, ...]) -> str | None:
    """The template of a kind for the first task type that has one.

    >>> built_in(SlotKind.PREFERENCE, ("analytical_reporting",))
    'Explain with this {slot}: {value}.'
    """
    for task in task_types:
        if (kind, task) in TEMPLATES:
            return TEMPLATES[kind, task]
    return None
