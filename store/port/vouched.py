"""Who a caller is beyond doubt, so that what is told of a person is shown whole to them alone.

An identifier makes an entity somebody's. One that came with the entity is taken at another's word,
and one that a system of record or a writer who directs has stated in any case. Who says of a person
that it is they, whether the person was there already or is made by saying so, is taken for that
person in all that a name decides, and is shown whole only what they wrote of it themselves: anybody
can say so, and others write of the name. C-133.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from ...resolution.known import Known
from ...schema.claim import Details
from ...schema.entity import Identifier
from ...schema.principal import Principal, Sight


@dataclass(frozen=True, slots=True)
class OwnIds:
    """The raw ids of the entities that are a caller."""

    vouched_ids: frozenset[str] = frozenset()
    """By the word of others."""
    claimed_ids: frozenset[str] = frozenset()
    """By the caller's own word alone."""

    def covers(self, details: Details, principal: Principal) -> bool:
        """Whether a claim is about the caller beyond doubt, or their own word about themselves."""
        subject = details.subject_id
        return subject in self.vouched_ids or (
            details.actor == principal.user and subject in self.claimed_ids
        )


NOBODY: Final = OwnIds()
"""Of a caller who is no entity."""


def own_ids_in(known: Known, identifier: tuple[str, str] | None, sight: Sight) -> OwnIds:
    """The entities that bear a (scheme, value) as a caller may know it, their clusters whole."""
    vouched_ids: set[str] = set()
    claimed_ids: set[str] = set()
    for row in known.identifiers:
        if (row.scheme, row.value) == identifier and known.shows(row, sight):
            ids = vouched_ids if _is_trusted(row, known) else claimed_ids
            ids.update(_members(row.entity_id, known))
    return OwnIds(frozenset(vouched_ids), frozenset(claimed_ids))


def _is_trusted(row: Identifier, known: Known) -> bool:
    """Whether an identifier is taken at its word."""
    teacher = known.teachers.get(row.object_id)
    if teacher is not None and teacher.vouches:
        return True
    entity = known.entities.get(row.entity_id)
    came_with_entity = entity is not None and entity.tx_start == row.tx_start
    return came_with_entity and (teacher is None or teacher.actor != row.value)


def _members(raw: str, known: Known) -> frozenset[str]:
    """The raw ids of an entity: a claim may stand under any id that was merged into it."""
    root = known.canonical.get(raw, raw)
    return frozenset({raw, *(member for member, top in known.canonical.items() if top == root)})
