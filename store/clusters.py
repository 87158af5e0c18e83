"""Which raw entities are one, from judgement rows: components and their canonical id.

Open MATCH rows are the edges; a component is a cluster. The canonical id is the member with
an identifier of a system of record, else the oldest, else the smallest id. Stores keep the
result of now as a projection and compute it for the past. Pure.
Sources: DESIGN 5; neo4j 6; resolution 8.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ..schema.entity import Entity, Judgement
from ..schema.vocabulary import JudgementVerdict


def components(judgements: Iterable[Judgement]) -> tuple[frozenset[str], ...]:
    """Return the clusters of two members or more, by their smallest id."""
    parent: dict[str, str] = {}

    def root(raw: str) -> str:
        parent.setdefault(raw, raw)
        while parent[raw] != raw:
            parent[raw] = parent[parent[raw]]
            raw = parent[raw]
        return raw

    for judgement in judgements:
        if judgement.verdict is JudgementVerdict.MATCH:
            left, right = sorted((root(judgement.left_id), root(judgement.right_id)))
            parent[right] = left
    groups: dict[str, set[str]] = {}
    for raw in sorted(parent):
        groups.setdefault(root(raw), set()).add(raw)
    return tuple(frozenset(groups[top]) for top in sorted(groups) if len(groups[top]) > 1)


def canonical_of(members: Iterable[Entity]) -> str:
    """Return the canonical id of a cluster."""
    return min(members, key=lambda e: (not e.recorded, e.tx_start, e.entity_id)).entity_id


def canonical_ids(
    judgements: Iterable[Judgement], entities: Mapping[str, Entity]
) -> dict[str, str]:
    """Return the canonical id of every raw id that is in a cluster."""
    found: dict[str, str] = {}
    for cluster in components(judgements):
        top = canonical_of(entities[raw] for raw in sorted(cluster))
        found.update(dict.fromkeys(sorted(cluster), top))
    return found
