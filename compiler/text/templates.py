"""Instruction templates by slot kind and task type, for slots that bring none of their own.

A template is plain text with `{slot}` (the slot's name as words) and `{value}`. Only kinds that
say how something is wanted have one: a fact about somebody is no instruction by itself.
Checklist C-038.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from string import Formatter
from typing import Any

from ...schema.records import packaged_table
from ...schema.vocabulary import SlotKind


@cache
def _tables() -> Mapping[str, Mapping[str, Any]]:
    return packaged_table(__package__, "templates.toml")


def taste(slot: str) -> str | None:
    """The template of a slot that says what somebody likes: a taste shapes no form of an answer.

    >>> taste("disliked_actors"), taste("likes"), taste("response_style")
    ('User dislikes actors: {value}.', 'User likes {value}.', None)
    """
    first, _, topic = slot.partition("_")
    verbs = [verb for verb, words in _tables()["tastes"].items() if first in words]
    if not verbs:
        return None
    verb = verbs[0]
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
    templates: Mapping[str, str] = _tables().get(kind.value, {})
    return next((templates[task] for task in task_types if task in templates), None)
