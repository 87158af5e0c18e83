"""Clusters: which raw entities are one, and under which id.

Open MATCH judgements are the edges; a connected component is a cluster. Its canonical id is
the member that a system of record names, else the oldest, else the smallest id, so it never
depends on the order of arguments or of arrival. A standing NON_MATCH between two sides blocks
a MATCH of equal or weaker strength and is named. A merge ties the two canonical ids (a star),
so closing one row separates exactly what it joined.

Clusters are capped at a few hundred members by policy, so plain walks over their pairs are enough.
`docs/design/resolution.md`; checklist C-050, C-053, C-056.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from ..schema.entity import Entity, Judgement
from ..schema.vocabulary import EntityState, JudgedBy, JudgementVerdict, ReviewState

WAITING = frozenset({ReviewState.OPEN, ReviewState.UNSURE, ReviewState.UNDONE})
"""A case in one of these has an entity that waits for its decision."""


class Clusters:
    """The components of a set of MATCH judgements; other verdicts are no edges."""

    def __init__(self, judgements: Iterable[Judgement]) -> None:
        self._rows = _matches(judgements)
        self._neighbours = _neighbours(self._rows)

    def of(self, raw: str) -> tuple[str, ...]:
        """The members of the cluster of a raw id, itself included, sorted."""
        return tuple(sorted(_reached(self._neighbours, raw)))

    def same(self, a: str, b: str) -> bool:
        """Whether two raw ids are one entity."""
        return b in _reached(self._neighbours, a)

    def path(self, a: str, b: str) -> tuple[Judgement, ...]:
        """The shortest chain of rows from one raw id to another, empty for none."""
        before = _reached(self._neighbours, b)
        rows: list[Judgement] = []
        while a in before and a != b:
            rows.append(self._rows[pair(a, before[a])][0])
            a = before[a]
        return tuple(rows)


def _matches(judgements: Iterable[Judgement]) -> dict[tuple[str, str], list[Judgement]]:
    """The MATCH rows of each pair, the row with the smallest id first."""
    rows: dict[tuple[str, str], list[Judgement]] = {}
    for row in sorted(judgements, key=lambda row: row.judgement_id):
        if row.verdict is JudgementVerdict.MATCH:
            rows.setdefault(pair(row.left_id, row.right_id), []).append(row)
    return rows


def _neighbours(pairs: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    neighbours: dict[str, list[str]] = {}
    for left, right in sorted(pairs):
        neighbours.setdefault(left, []).append(right)
        neighbours.setdefault(right, []).append(left)
    return neighbours


def _reached(
    neighbours: Mapping[str, Sequence[str]], start: str, cut: tuple[str, str] | None = None
) -> dict[str, str]:
    """Each id that is reached from a start, with the one before it, the nearest first.

    A pair that is `cut` is no way.
    """
    before = {start: start}
    queue = deque([start])
    while queue:
        raw = queue.popleft()
        for neighbour in neighbours.get(raw, ()):
            if neighbour not in before and pair(raw, neighbour) != cut:
                before[neighbour] = raw
                queue.append(neighbour)
    return before


def open_at(judgements: Iterable[Judgement], tx_us: int) -> tuple[Judgement, ...]:
    """The judgements open at a transaction time."""
    return tuple(j for j in judgements if j.tx_start <= tx_us < j.tx_end)


def canonical_id(members: Collection[Entity]) -> str:
    """The id under which a cluster is known; `members` are at least one."""
    return min(members, key=lambda e: (not e.recorded, e.tx_start, e.entity_id)).entity_id


def pair(a: str, b: str) -> tuple[str, str]:
    """Two raw ids as a judgement holds them: the smaller one first."""
    return (a, b) if a < b else (b, a)


def non_matches_between(
    judgements: Iterable[Judgement], lefts: Collection[str], rights: Collection[str]
) -> tuple[Judgement, ...]:
    """The NON_MATCH rows between two sides, the strongest first, then by id."""
    negatives: list[Judgement] = []
    for row in judgements:
        runs_there = row.left_id in lefts and row.right_id in rights
        runs_back = row.left_id in rights and row.right_id in lefts
        if row.verdict is JudgementVerdict.NON_MATCH and (runs_there or runs_back):
            negatives.append(row)

    return tuple(sorted(negatives, key=lambda row: (-row.judged_by.strength, row.judgement_id)))


def blocking(standing: Sequence[Judgement], judged_by: JudgedBy) -> Judgement | None:
    """The first standing NON_MATCH that a MATCH by this judge cannot overrule."""
    return next((j for j in standing if j.judged_by.strength >= judged_by.strength), None)


def bridges(judgements: Sequence[Judgement]) -> tuple[tuple[str, str], ...]:
    """The pairs that alone hold two groups of two or more together, sorted.

    Such a pair deserves a second look: one false bridge fuses two clusters.
    """
    rows = _matches(judgements)
    neighbours = _neighbours(rows)
    cuts: list[tuple[str, str]] = []
    for (left, right), judgements_of in rows.items():
        # A member that hangs by its only pair is a plain merge, no bridge between groups.
        degree = min(len(neighbours[left]), len(neighbours[right]))
        is_alone = len(judgements_of) == 1 and degree > 1
        # Most pairs that are no bridge have a neighbour in common: those need no walk.
        may_cut = is_alone and set(neighbours[left]).isdisjoint(neighbours[right])
        if may_cut and right not in _reached(neighbours, left, cut=(left, right)):
            cuts.append((left, right))
    return tuple(sorted(cuts))


def components(judgements: Iterable[Judgement]) -> tuple[frozenset[str], ...]:
    """The clusters of two members or more, by their smallest id."""
    neighbours = _neighbours(_matches(judgements))
    clusters: list[frozenset[str]] = []
    known: set[str] = set()
    for raw in sorted(neighbours):
        if raw not in known:
            clusters.append(frozenset(_reached(neighbours, raw)))
            known |= clusters[-1]
    return tuple(clusters)


def canonical_ids(
    judgements: Iterable[Judgement], entities: Mapping[str, Entity]
) -> dict[str, str]:
    """The canonical id of every raw id that is in a cluster."""
    canonical: dict[str, str] = {}
    for cluster in components(judgements):
        members = sorted(cluster)
        root = canonical_id(list(map(entities.__getitem__, members)))
        canonical.update(dict.fromkeys(members, root))
    return canonical


class PendingCase(NamedTuple):
    """How the blocking case of a raw entity stood at a transaction time."""

    state: ReviewState
    joined: bool
    """It was decided by naming another entity: this one then counts as that one."""


def entities_as_of(
    entities: Mapping[str, Entity], canonical: Mapping[str, str], cases: Mapping[str, PendingCase]
) -> dict[str, Entity]:
    """Entities in the state that was believed at a transaction time.

    `canonical` and `cases` are those of that time. An entity waits while its own case does, or
    while that of another member does and none is settled; what was erased stays erased.
    """
    clusters: dict[str, list[str]] = {}
    for raw in entities:
        clusters.setdefault(canonical.get(raw, raw), []).append(raw)

    states: dict[str, Entity] = {}
    for raw, entity in entities.items():
        state = EntityState.MERGED
        if entity.state is EntityState.ERASED:
            state = EntityState.ERASED
        elif raw in clusters:
            is_waiting = _waits(cases.get(raw), list(map(cases.get, clusters[raw])))
            state = EntityState.PENDING if is_waiting else EntityState.ACTIVE
        states[raw] = entity if state is entity.state else replace(entity, state=state)

    return states


def _waits(case: PendingCase | None, members: Sequence[PendingCase | None]) -> bool:
    if case and case.state in WAITING:
        return True

    # One member that nobody asks about, or that was made its own, speaks for the whole cluster.
    waits = False
    for other_case in members:
        if other_case is None:
            return False
        if other_case.state in WAITING:
            waits = True
        elif not other_case.joined:
            return False
    return waits
