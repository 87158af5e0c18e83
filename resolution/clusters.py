"""Clusters: which raw entities are one, and under which id.

Open MATCH judgements are the edges; a connected component is a cluster. Its canonical id is
the member that a system of record names, else the oldest, else the smallest id, so it never
depends on the order of arguments or of arrival. A standing NON_MATCH between two sides blocks
a MATCH of equal or weaker strength and is named. A merge ties the two canonical ids (a star),
so closing one row separates exactly what it joined.

Plain breadth-first search: clusters are capped at a few hundred members by policy.
Sources: DESIGN 5; resolution 8; neo4j 6; settled 9; checklist C-050, C-053, C-056.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from ..schema.entity import Entity, Judgement
from ..schema.vocabulary import JudgedBy, JudgementVerdict


class Clusters:
    """The components of a set of MATCH judgements; other verdicts are no edges."""

    def __init__(self, judgements: Iterable[Judgement]) -> None:
        self._next: dict[str, list[tuple[str, Judgement]]] = {}
        for row in sorted(judgements, key=lambda j: j.judgement_id):
            if row.verdict is JudgementVerdict.MATCH:
                self._next.setdefault(row.left_id, []).append((row.right_id, row))
                self._next.setdefault(row.right_id, []).append((row.left_id, row))

    def of(self, raw: str) -> tuple[str, ...]:
        """Return the members of the cluster of a raw id, itself included, sorted."""
        return tuple(sorted(self._reached(raw)))

    def same(self, a: str, b: str) -> bool:
        """Tell whether two raw ids are one entity."""
        return b in self._reached(a)

    def path(self, a: str, b: str) -> tuple[Judgement, ...]:
        """Return the shortest chain of rows from one raw id to another, empty for none."""
        reached = self._reached(a)
        if b not in reached:
            return ()
        chain: list[Judgement] = []
        while (step := reached[b]) is not None:
            b, row = step
            chain.append(row)
        return tuple(reversed(chain))

    def _reached(self, start: str) -> dict[str, tuple[str, Judgement] | None]:
        """Return, for every raw id reached breadth first, where it was reached from."""
        reached: dict[str, tuple[str, Judgement] | None] = {start: None}
        queue = [start]
        for raw in queue:
            for other, row in self._next.get(raw, ()):
                if other not in reached:
                    reached[other] = (raw, row)
                    queue.append(other)
        return reached


def open_at(judgements: Iterable[Judgement], tx_us: int) -> tuple[Judgement, ...]:
    """Return the judgements open at a transaction time."""
    return tuple(j for j in judgements if j.tx_start <= tx_us < j.tx_end)


def canonical_id(members: Collection[Entity]) -> str:
    """Return the id under which a cluster is known; `members` are at least one."""
    return min(members, key=lambda e: (not e.recorded, e.tx_start, e.entity_id)).entity_id


def pair(a: str, b: str) -> tuple[str, str]:
    """Return two raw ids as a judgement holds them: the smaller one first."""
    return (a, b) if a < b else (b, a)


def across(
    judgements: Iterable[Judgement], lefts: Collection[str], rights: Collection[str]
) -> tuple[Judgement, ...]:
    """Return the NON_MATCH rows between two sides, the strongest first, then by id."""
    found = [
        j
        for j in judgements
        if j.verdict is JudgementVerdict.NON_MATCH
        and (
            (j.left_id in lefts and j.right_id in rights)
            or (j.left_id in rights and j.right_id in lefts)
        )
    ]
    return tuple(sorted(found, key=lambda j: (-j.judged_by.strength, j.judgement_id)))


def blocking(standing: Sequence[Judgement], judged_by: JudgedBy) -> Judgement | None:
    """Return the first standing NON_MATCH that a MATCH by this judge cannot overrule."""
    return next((j for j in standing if j.judged_by.strength >= judged_by.strength), None)


def bridges(judgements: Sequence[Judgement]) -> tuple[tuple[str, str], ...]:
    """Return the pairs that alone hold two groups of two or more together, sorted.

    Such a pair deserves a second look: one false bridge fuses two clusters.
    """
    matches = [row for row in judgements if row.verdict is JudgementVerdict.MATCH]
    found: set[tuple[str, str]] = set()
    for row in matches:
        apart = Clusters(other for other in matches if other is not row)
        left, right = apart.of(row.left_id), apart.of(row.right_id)
        if row.right_id not in left and min(len(left), len(right)) > 1:
            found.add((row.left_id, row.right_id))
    return tuple(sorted(found))


def components(judgements: Iterable[Judgement]) -> tuple[frozenset[str], ...]:
    """Return the clusters of two members or more, by their smallest id."""
    rows = tuple(judgements)
    graph = Clusters(rows)
    ends = {raw for row in rows for raw in (row.left_id, row.right_id)}
    found = {graph.of(raw) for raw in ends}
    return tuple(frozenset(members) for members in sorted(found) if len(members) > 1)


def canonical_ids(
    judgements: Iterable[Judgement], entities: Mapping[str, Entity]
) -> dict[str, str]:
    """Return the canonical id of every raw id that is in a cluster."""
    found: dict[str, str] = {}
    for cluster in components(judgements):
        top = canonical_id([entities[raw] for raw in sorted(cluster)])
        found.update(dict.fromkeys(sorted(cluster), top))
    return found
