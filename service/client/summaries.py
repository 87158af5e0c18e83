"""What ids stand for, in a few words: an id alone tells a person nothing.

Stored objects and entities are asked for as the caller may read them, so what is masked,
withheld or erased stays silent; items of a request are read from the manifest. For tables that
people read: JSON keeps to ids.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ...schema.compile_terms import GapCode
from ..backend.caller import backend_of
from ..reading.list_reads import ListReads
from ..reading.view import words_of
from ..visual.text import opening, value_text

if TYPE_CHECKING:
    from ...compiler.envelope.envelope import Envelope
    from ...schema.answers import SlotState
    from .memory import Memory

_SHORT: Final = 8
"""Characters of an id that tell namesakes apart."""

_LISTS_ENTITIES: Final = frozenset({GapCode.AMBIGUOUS_ENTITY, GapCode.USER_UNSTATED})
"""Gaps whose detail is a list of entity ids."""


class GapLine(NamedTuple):
    """What an envelope lacks, in words."""

    reason: str
    topic: str
    """The entity by name, or the text that was asked for; may be empty."""
    detail: str
    """The slot, or who may be meant, by name; may be empty."""


class Wording(NamedTuple):
    """What stands for the ids of an envelope."""

    openings: Mapping[str, str]
    """The opening words of the objects, by id."""
    gaps: tuple[GapLine, ...]


def wording_of(memory: Memory, envelope: Envelope) -> Wording:
    """The opening words of an envelope's objects, and what it lacks."""
    return Wording(opening_words(memory, envelope), gap_lines(memory, envelope))


def opening_words(memory: Memory, *envelopes: Envelope) -> Mapping[str, str]:
    """The opening words of every object that the envelopes hold or left out, by id."""
    from ..artifacts.openings import Openings  # it loads the compiler, which lists of facts spare

    openings = Openings(backend_of(memory), memory.principal)
    words: dict[str, str] = {}
    for envelope in envelopes:
        words |= openings.words(envelope)
    return words


def opening_of(memory: Memory, object_id: str) -> str:
    """The first words of a stored object; none where the caller may not read it today."""
    from ..artifacts.openings import Openings

    return Openings(backend_of(memory), memory.principal).of(object_id)


def object_words(memory: Memory, ids: Iterable[str]) -> Mapping[str, str]:
    """The first words of stored objects by id; none of what the caller may not read today."""
    object_ids = list(ids)
    if not object_ids:
        return {}

    objects = ListReads(backend_of(memory), memory.principal).objects(object_ids)
    words = {object_id: opening(item.content or "") for object_id, item in objects.items()}
    return {object_id: words.get(object_id, "") for object_id in object_ids}


def claim_words(memory: Memory, ids: Iterable[str]) -> Mapping[str, str]:
    """What stored claims say of whom, by object; none of what the caller may not read today."""
    object_ids = list(ids)
    if not object_ids:
        return {}

    objects = ListReads(backend_of(memory), memory.principal).objects(object_ids)
    return {object_id: item.normalized_claim for object_id, item in objects.items()}


def value_names(memory: Memory, *facts: Mapping[str, SlotState]) -> Mapping[str, str]:
    """The names of the entities that facts, by slot, have as values; by id."""
    words_in_use = words_of(memory.as_of())
    ids: list[str] = []
    for states in facts:
        for slot, state in states.items():
            if words_in_use.slot(slot).relates:
                ids += map(str, state.values)
    return entity_names(memory, ids)


def value_words(state: SlotState, names: Mapping[str, str]) -> str:
    """The values of a slot in a line; entities by name."""
    return ", ".join([names.get(str(value), value_text(value)) for value in state.values])


def value_reader(
    memory: Memory, pairs: Iterable[tuple[str | None, Any]]
) -> Callable[[str | None, Any], str]:
    """How the values of slots read to people: an entity by its name, all else as it is.

    `pairs` are the slots with the values that will be asked for, so that two entities of one name
    are told apart.
    """
    words_in_use = words_of(memory.as_of())

    def relates(slot: str | None) -> bool:
        return slot is not None and words_in_use.slot(slot).relates

    ids = [str(value) for slot, value in pairs if value is not None and relates(slot)]
    names = entity_names(memory, ids)
    return lambda slot, value: names.get(str(value), value_text(value))


def entity_names(memory: Memory, ids: Iterable[str | None]) -> Mapping[str, str]:
    """The names of entities by id; the beginning of the id stands behind a name that two have."""
    entity_ids = list(dict.fromkeys(filter(None, ids)))
    if not entity_ids:
        return {}

    known = ListReads(backend_of(memory), memory.principal).names(entity_ids)
    names = {entity_id: known.get(entity_id, entity_id) for entity_id in entity_ids}
    counts = Counter(names.values())
    for entity_id, name in names.items():
        if counts[name] > 1:
            names[entity_id] = f"{name} ({entity_id[:_SHORT]})"
    return names


def gap_lines(memory: Memory, envelope: Envelope) -> tuple[GapLine, ...]:
    """What an envelope lacks, with names in the place of ids, in the order of its gaps."""
    from ...compiler.explain.reasons import gap_words

    ids: list[str] = []
    for gap in envelope.gaps:
        ids.append(gap.subject)
        if gap.code in _LISTS_ENTITIES:
            ids += gap.detail.split()

    names = entity_names(memory, ids)
    lines: list[GapLine] = []
    for gap in envelope.gaps:
        detail = gap.detail
        if gap.code in _LISTS_ENTITIES:
            detail = ", ".join(names[entity_id] for entity_id in detail.split())
        lines.append(GapLine(gap_words(gap.code), names.get(gap.subject, ""), detail))
    return tuple(lines)
