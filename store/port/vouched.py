"""Who a caller is beyond doubt, so that what is told of a person is shown whole to them alone.

An identifier makes an entity somebody's. One that came with the entity is taken at its word, and so
is one that was stated by a system of record or by a writer who directs. Who says later of an entity
that was there already that it is theirs is taken for that person in all that a name decides, and is
shown no more of it than before: anybody can say so. C-133.
"""

from __future__ import annotations

from collections.abc import Iterable

from ...resolution.known import Known
from ...schema.claim import Assertion
from ...schema.entity import Identifier
from .store import Reader


def vouched_ids(reader: Reader, known: Known, identifier: tuple[str, str] | None) -> frozenset[str]:
    """The raw ids of the entity that bears a (scheme, value) beyond doubt, its cluster whole."""
    rows = [row for row in known.identifiers if (row.scheme, row.value) == identifier]
    roots: set[str] = set()
    ids: set[str] = set()
    for row in _trusted_rows(reader, known, rows):
        ids.add(row.entity_id)
        roots.add(known.canonical.get(row.entity_id, row.entity_id))

    # A claim about a person may stand under any id that was merged into theirs.
    members = {raw for raw, root in known.canonical.items() if root in roots}
    return frozenset(ids | members)


def _trusted_rows(reader: Reader, known: Known, rows: Iterable[Identifier]) -> list[Identifier]:
    """The identifiers that are taken at their word."""
    trusted_rows: list[Identifier] = []
    later_rows: dict[int, list[Identifier]] = {}
    for row in rows:
        entity = known.entities.get(row.entity_id)
        if entity is not None and entity.tx_start == row.tx_start:
            trusted_rows.append(row)
        else:
            later_rows.setdefault(row.tx_start, []).append(row)

    # Hardly anybody: most people come with the identifier by which they are known.
    for event in reader.events_at(sorted(later_rows)) if later_rows else ():
        if any(map(_vouches, reader.assertions(event.object_ids).values())):
            trusted_rows += later_rows[event.tx]
    return trusted_rows


def _vouches(assertion: Assertion) -> bool:
    """Whether a write may say of others who they are."""
    return assertion.details.directs or assertion.details.is_of_record
