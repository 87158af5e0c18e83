"""Clusters: which raw entities are one, and under which id.

Open MATCH judgements are the edges; a connected component is a cluster. Its canonical id is
the member that a system of record names, else the oldest, else the smallest id, so it never
depends on the order of arguments or of arrival. A standing NON_MATCH between two sides blocks
a MATCH of equal or weaker strength and is named. A merge ties the two canonical ids (a star),
so closing one row separates exactly what it joined.

The graph is networkx's; clusters are capped at a few hundred members by policy.
`docs/design/resolution.md`; checklist C-050, C-053, C-056.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any, Final, NamedTuple

from ..schema.entity import Entity, Judgement
from ..schema.vocabulary import EntityState, JudgedBy, JudgementVerdict, ReviewState

WAITING = frozenset({ReviewState.OPEN, ReviewState.UNSURE, ReviewState.UNDONE})
"""A case in one of these has an entity that waits for its decision."""

_PAIRS_OF_A_BRIDGE: Final = 3
"""The fewest pairs that can hold a bridge: itself, and one at either end."""


class Clusters:
    """The components of a set of MATCH judgements; other verdicts are no edges."""

    def __init__(self, judgements: Iterable[Judgement]) -> None:
        self._graph = _graph(judgements)

    def of(self, raw: str) -> tuple[str, ...]:
        """The members of the cluster of a raw id, itself included, sorted."""
        if self._graph is None or raw not in self._graph:
            return (raw,)
        return tuple(sorted(_networkx().node_connected_component(self._graph, raw)))

    def same(self, a: str, b: str) -> bool:
        """Whether two raw ids are one entity."""
        return b in self.of(a)

    def path(self, a: str, b: str) -> tuple[Judgement, ...]:
        """The shortest chain of rows from one raw id to another, empty for none."""
        if a == b or not self.same(a, b):
            return ()
        chain: list[str] = _networkx().shortest_path(self._graph, a, b)
        edges: Any = self._graph
        rows: list[Judgement] = []
        for left, right in pairwise(chain):
            rows.append(edges[left][right]["row"])
        return tuple(rows)


def _graph(judgements: Iterable[Judgement]) -> Any:
    """The MATCH rows as a graph, the row with the smallest id on each edge; None of none."""
    rows = [row for row in judgements if row.verdict is JudgementVerdict.MATCH]
    if not rows:
        return None

    graph = _networkx().Graph()
    for row in sorted(rows, key=lambda j: j.judgement_id, reverse=True):
        times = graph.get_edge_data(row.left_id, row.right_id, {"times": 0})["times"]
        graph.add_edge(row.left_id, row.right_id, row=row, times=times + 1)

    return graph


def _networkx() -> Any:  # it carries no types, and loads when a cluster is first asked for
    import networkx  # type: ignore[import-untyped]

    return networkx


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
    pairs = {(j.left_id, j.right_id) for j in judgements if j.verdict is JudgementVerdict.MATCH}
    # Both ends of a bridge hang by another pair, too. Most merges are of two entities, and to load
    # a library of graphs would be what the first decision of a process spends its time on.
    if len(pairs) < _PAIRS_OF_A_BRIDGE:
        return ()

    graph = _graph(judgements)
    cuts: list[tuple[str, str]] = []
    for left, right in _networkx().bridges(graph):
        is_single = graph[left][right]["times"] == 1
        # A member that hangs by its only edge is a plain merge, no bridge between groups.
        if is_single and min(graph.degree[left], graph.degree[right]) > 1:
            cuts.append(pair(left, right))
    return tuple(sorted(cuts))


def components(judgements: Iterable[Judgement]) -> tuple[frozenset[str], ...]:
    """The clusters of two members or more, by their smallest id."""
    graph = _graph(judgements)
    if graph is None:
        return ()

    # Whoever stands in a row stands there with another one: no cluster has a single member.
    clusters = sorted(map(sorted, _networkx().connected_components(graph)))
    return tuple(map(frozenset, clusters))


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
