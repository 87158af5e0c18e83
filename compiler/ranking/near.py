"""What is near: facts that are linked to the entities of the question, and by which way.

The walk begins at the entities that the question names and goes over clean, visible, current facts
whose value is an entity, two steps far. A fact is as near as the entity that it is met from, less
where a hub has many of its kind; the entity behind it is half as near. Text that merely names an
entity is no edge, and neither is a fact that the caller may not see.

A question is pointed when a linked fact fills a slot that it asks. Then near counts for the asked
facts and their way alone; else for every linked fact. Checklist C-076.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from ...resolution.known import Known
from ...schema.slots import Vocabulary
from ...schema.vocabulary import SlotKind
from ..ir.records import Candidate
from ..text.relevance import FULL
from .asked import Topic

_STEPS: Final = 2
_FAN: Final = 8
"""Facts of one relation from which each counts for less, and the most ends that are ways."""
_LISTED: Final = 24
"""The most facts of one relation that a context lists for their value."""
_KINDS: Final[Mapping[SlotKind, int]] = {
    SlotKind.CONTACT: 500_000,
    SlotKind.ATTRIBUTE: 600_000,
    SlotKind.PREFERENCE: 400_000,
}
"""How much a fact counts behind a link, by the kind of its slot; all others wholly."""


class EntityEdge(NamedTuple):
    """A fact with the entities at its ends."""

    candidate: Candidate
    slot: str
    subject: str
    value: str | None
    """Canonical id of the entity that is its value."""

    def other_end(self, entity: str) -> str | None:
        """The end that is not this entity."""
        return self.value if entity == self.subject else self.subject


class SeedLink(NamedTuple):
    """How a fact is linked to the question."""

    nearness: int
    """In millionths."""
    distance: int
    """Steps from a seed to the end that it is met from."""
    way: tuple[str, ...]
    """Object ids of the facts that lead to that end."""
    entity: str
    """That end."""


@dataclass(frozen=True, slots=True)
class Links:
    """The linked facts of a question."""

    by_id: Mapping[str, SeedLink] = field(default_factory=dict[str, SeedLink])
    counting: frozenset[str] = frozenset()
    """Facts for which near counts."""
    asked: Mapping[str, int] = field(default_factory=dict[str, int])
    """Facts that fill an asked slot, with how surely it is asked."""
    pointed: bool = False
    by_synonym: bool = False
    """Whether only words of one synonym pointed: then the seeds' other facts stay at the floor."""

    def way_of(self, object_id: str) -> tuple[str, ...]:
        """The facts without which a fact is not shown."""
        link = self.by_id.get(object_id)
        return link.way if link is not None else ()


def edges_of(candidates: Iterable[Candidate], known: Known) -> list[EntityEdge]:
    """The facts among candidates, with canonical ends."""
    edges: list[EntityEdge] = []
    for candidate in candidates:
        version = candidate.version
        if version is None or candidate.subject is None or not version.details.slot:
            continue
        value = version.details.value_entity_id
        root = known.canonical.get(value, value) if value else None
        edges.append(EntityEdge(candidate, version.details.slot, candidate.subject, root))
    return edges


def find_links(
    edges: Sequence[EntityEdge],
    topic: Topic,
    vocabulary: Vocabulary,
    hubs: Mapping[tuple[str, str], int],
) -> Links:
    """Walk from the seeds of a question; `hubs` counts the relations that were not wholly read."""
    if not (topic.names or topic.own):
        return Links()

    walk = _Walk(edges, vocabulary, hubs, topic)
    walk.run(sorted(topic.names or (topic.own if topic.about_own else ())))
    asked = walk.asked_facts()
    for edge in edges:
        # Of the caller only what is asked is meant: a question of "my" names no entity.
        if edge.subject in topic.own and edge.slot in topic.slots:
            asked[edge.candidate.object_id] = topic.slots[edge.slot].surely
    if not asked:
        return Links(walk.links, frozenset(walk.links)) if topic.names else Links()

    counting = set(asked)
    for object_id, link in walk.links.items():
        # What limits answers counts for the ends of asked relations: a dinner for "my family".
        slot = vocabulary.slots.get(walk.edges[object_id].slot)
        is_limit = slot is not None and slot.limits and bool(link.way)
        if object_id in asked or (is_limit and all(walk.asked_steps(link.way))):
            counting.update((object_id, *link.way))
    by_synonym = all(surely < FULL for surely in asked.values())
    return Links(walk.links, frozenset(counting), asked, pointed=True, by_synonym=by_synonym)


class _Walk:
    """One walk over the facts, nearest first."""

    def __init__(
        self,
        edges: Sequence[EntityEdge],
        vocabulary: Vocabulary,
        hubs: Mapping[tuple[str, str], int],
        topic: Topic,
    ) -> None:
        self.slots, self.hubs, self.topic = vocabulary.slots, hubs, topic
        self.links: dict[str, SeedLink] = {}
        self.edges: dict[str, EntityEdge] = {}
        self.at: dict[str, list[EntityEdge]] = {}
        fans: Counter[tuple[str, str, bool]] = Counter()
        for edge in edges:
            self.edges[edge.candidate.object_id] = edge
            self.at.setdefault(edge.subject, []).append(edge)
            fans[edge.subject, edge.slot, True] += 1
            if edge.value is not None and edge.value != edge.subject:
                self.at.setdefault(edge.value, []).append(edge)
                fans[edge.value, edge.slot, False] += 1
        self.fans = fans

    def run(self, seeds: Sequence[str]) -> None:
        """Follow the facts from the seeds, the nearest entity first."""
        strengths: dict[str, tuple[int, tuple[str, ...]]] = dict.fromkeys(seeds, (FULL, ()))
        done: set[str] = set()
        frontier = list(seeds)
        for step in range(_STEPS + 1):
            ends: dict[str, tuple[int, tuple[str, ...]]] = {}
            for entity in sorted(frontier, key=lambda e: (-strengths[e][0], e)):
                strength, way = strengths[entity]
                ways = self._ways(entity)
                for edge in self.at.get(entity, ()):
                    nearness = self._nearness(edge, entity, strength, step)
                    object_id = edge.candidate.object_id
                    known = self.links.get(object_id)
                    # Of two ends that are as near a fact is met from its subject.
                    place = nearness, entity == edge.subject
                    if known is None or place > (known.nearness, known.entity == edge.subject):
                        self.links[object_id] = SeedLink(nearness, step, way, entity)
                    end = edge.other_end(entity)
                    if end is None or end in done or end in frontier or object_id not in ways:
                        continue
                    best = ends.get(end, (-1, ()))
                    if nearness // 2 > best[0]:
                        ends[end] = nearness // 2, (*way, object_id)
            done.update(frontier)
            frontier = sorted(ends)
            strengths.update(ends)

    def _nearness(self, edge: EntityEdge, entity: str, strength: int, step: int) -> int:
        fan = self.fans[entity, edge.slot, entity == edge.subject]
        if entity != edge.subject:
            fan = max(fan, self.hubs.get((entity, edge.slot), 0))
            if fan > _LISTED:
                return 0
        share = strength * min(FULL, FULL * _FAN // fan) // FULL
        if not step:
            return share
        slot = self.slots.get(edge.slot)
        kind = _KINDS.get(slot.kind, FULL) if slot is not None else FULL
        return share * kind // FULL

    def _ways(self, entity: str) -> frozenset[str]:
        """The facts that lead on: of a large relation only the ends of whom most is known."""
        groups: dict[tuple[str, bool], list[EntityEdge]] = {}
        for edge in self.at.get(entity, ()):
            if edge.other_end(entity) is not None:
                groups.setdefault((edge.slot, entity == edge.subject), []).append(edge)

        ways: set[str] = set()
        for group in groups.values():
            if len(group) > _FAN:
                ends = {edge.candidate.object_id: edge.other_end(entity) or "" for edge in group}
                group.sort(
                    key=lambda edge: (
                        -len(self.at.get(ends[edge.candidate.object_id], ())),
                        ends[edge.candidate.object_id],
                    )
                )
            ways.update(edge.candidate.object_id for edge in group[:_FAN])
        return frozenset(ways)

    def asked_steps(self, way: Iterable[str]) -> list[bool]:
        """Of each fact of a way, whether the question asks for its slot."""
        return [self.edges[step].slot in self.topic.slots for step in way]

    def asked_facts(self) -> dict[str, int]:
        """The linked facts that fill an asked slot, and are near enough to be meant.

        A slot that a seed itself fills is asked of the seeds, and of the ends of another asked
        relation: "who owns what it depends on".
        """
        least: dict[tuple[str, bool], int] = {}
        for object_id, link in self.links.items():
            edge = self.edges[object_id]
            is_about = edge.subject == link.entity
            is_inverse = is_about and (link.entity, edge.slot) in self.topic.inverse
            if edge.slot in self.topic.slots and (is_about or not link.distance) and not is_inverse:
                key = edge.slot, is_about
                least[key] = min(least.get(key, _STEPS), link.distance)

        asked: dict[str, int] = {}
        inverse_slots = {slot for _, slot in self.topic.inverse}
        is_own = not self.topic.names
        for object_id, link in self.links.items():
            edge = self.edges[object_id]
            is_about = edge.subject == link.entity
            nearest = least.get((edge.slot, is_about))
            # A slot is read from its subject. It is read from its value only if no subject has it,
            # or if the form of the question asks for that end.
            is_second = not is_about and (link.distance or least.get((edge.slot, True)) == 0)
            is_inverse = (
                is_about
                and edge.slot in inverse_slots
                and (
                    (link.distance and least.get((edge.slot, False)) == 0)
                    or (link.entity, edge.slot) in self.topic.inverse
                )
            )
            if nearest is None or is_second or is_inverse:
                continue
            # An asked relation leads from the seeds alone: "the team of the owner of Nova". From
            # the caller nothing else leads on.
            asked_steps = self.asked_steps(link.way)
            may_lead = nearest > 0 and not any(asked_steps) and not is_own
            is_farther = link.distance > nearest or is_own
            if is_farther and not (all(asked_steps) or may_lead):
                continue
            surely = self.topic.slots[edge.slot].surely
            fan = self.fans[link.entity, edge.slot, is_about]
            # "Who works at Acme?" asks for the whole list.
            is_meant = is_about or (link.entity, edge.slot) in self.topic.inverse
            damping = FULL if is_meant else min(FULL, FULL * _FAN // max(1, fan))
            asked[object_id] = surely * damping // FULL
        return asked
