"""The walk: what stands around an entity, breadth first and capped.

Each hop reads the clean facts about an entity or pointing at it, strongest first; the caps
are the policy's, so a hub with a million edges costs no more than a village.
Sources: DESIGN 6; settled 8; checklist C-076; ecosystem 9.4, case 34.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from ..resolution.register import Register
from ..schema.answers import EntityView, Neighbourhood
from ..schema.claim import Version
from ..schema.context_object import ContextObject
from ..schema.principal import Sight
from ..store.port import Point, Reader

Shaper = Callable[[Reader, Iterable[Version]], Callable[[Version], ContextObject]]


def walk(
    reader: Reader,
    roots: Sequence[str],
    *,
    sight: Sight,
    point: Point,
    hops: int,
    limit: int,
    shape: Shaper,
) -> Neighbourhood:
    """Return the neighbourhood of entities, at most `limit` facts an entity."""
    seen = dict.fromkeys(roots)
    frontier, withheld, cut = list(roots), 0, False
    facts: dict[int, Version] = {}
    edges: dict[tuple[str, str, str], None] = {}
    for _ in range(hops):
        if not frontier:
            break
        known = Register(reader.entities(frontier, tx_us=point.tx_us))
        raw = sorted({m for root in frontier for m in known.members(root)})
        found = reader.around(raw, sight=sight, point=point, limit=limit)
        withheld += found.withheld
        cut = cut or found.cut
        facts.update({v.row.vid: v for v in found.versions})
        ends = _ends(reader, found.versions, point)
        edges.update(dict.fromkeys(_edges(found.versions, ends)))
        frontier = [e for e in dict.fromkeys(ends.values()) if e not in seen]
        seen.update(dict.fromkeys(frontier))
    shaped = shape(reader, facts.values())
    return Neighbourhood(
        entities=tuple(_entities(reader, list(seen), point)),
        facts=tuple(shaped(v) for v in facts.values()),
        edges=tuple(edges),
        truncated=cut or bool(frontier and hops == 0),
        withheld=withheld,
    )


def _ends(reader: Reader, versions: Sequence[Version], point: Point) -> dict[str, str]:
    """Return the canonical id of every raw entity that the versions name."""
    raw = {e for v in versions for e in (v.details.subject_id, v.details.value_entity_id) if e}
    known = Register(reader.entities(sorted(raw), tx_us=point.tx_us))
    return {e: known.root(e) for e in sorted(raw)}


def _edges(versions: Sequence[Version], ends: dict[str, str]) -> Iterable[tuple[str, str, str]]:
    for version in versions:
        subject, value = version.details.subject_id, version.details.value_entity_id
        if subject and value and version.details.slot:
            yield ends[subject], version.details.slot, ends[value]


def _entities(reader: Reader, roots: Sequence[str], point: Point) -> Iterable[EntityView]:
    known = reader.entities(list(roots), tx_us=point.tx_us)
    register = Register(known)
    for root in roots:
        entity = register.entity(root)
        if entity is not None:
            yield EntityView(
                entity_id=root,
                name=entity.name,
                type=entity.type,
                state=entity.state.value,
                members=register.members(root),
                aliases=(),
                external_ids=dict(sorted(register.held(root).items())),
            )
