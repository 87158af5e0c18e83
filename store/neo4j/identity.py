"""What the register knows about mentions: one `Lookup` in, one `Known` out.

One round trip by names, identifiers and ids: the server walks their clusters two steps wide, and
a longer chain of judgements costs a further one. What it sends holds for every tx, what was
closed included, so a `Neo4jRegister` keeps it: what a reader has met is never asked for again, and
a writer asks again only after it has written.
Clusters are computed from the judgements open at the tx asked for. Blocking weights are
integers computed outside the server, so both stores agree.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import filterfalse
from operator import attrgetter
from typing import Any, NamedTuple

from ...resolution import clusters
from ...resolution.blocking import CROWD, HEAVIER_ENOUGH, hit_weight
from ...resolution.known import (
    Known,
    Lookup,
    Restriction,
    Teacher,
    alias_order,
    identifier_order,
    worth_it,
)
from ...resolution.names import NameRow
from ...schema.entity import Alias, Entity, Identifier, Judgement
from ...schema.interval import INF_US
from ...schema.vocabulary import JudgementVerdict
from . import codec
from .calls import Calls
from .cypher import register
from .versions import EntityFacts, Properties, TaughtName, entity_facts, is_open

Names = tuple[Lookup, Sequence[str]]
"""What is looked up, and the scopes whose aliases are visible."""
Proposal = tuple[Alias, int]
"""An alias that shares blocking keys with a name, and what they weigh."""
_ALL_NORMS = 2**31 - 1


class _Lessons(NamedTuple):
    """What was taught of entities, and who may know it."""

    identifiers: set[Identifier]
    teachers: dict[str, Teacher]
    restrictions: dict[str, Restriction]


@dataclass(frozen=True, slots=True)
class _NameAnswer:
    """The names that were looked up last, and what they ever meant."""

    norms: frozenset[str]
    entity_ids: Sequence[str]
    identifiers: frozenset[tuple[str, str]]
    scopes: frozenset[str]
    alias_rows: Sequence[TaughtName]
    identifier_rows: Sequence[Properties]

    def covers(self, lookup: Lookup, scopes: Sequence[str]) -> bool:
        """Whether a look-up asks for no more than these names."""
        if not self.identifiers.issuperset(lookup.identifiers):
            return False
        return self.norms.issuperset(lookup.norms) and self.scopes.issuperset(scopes)


@dataclass(frozen=True, slots=True)
class _Match:
    """What the names and identifiers of a look-up mean."""

    aliases: list[Alias]
    owners: set[str]
    taught_levels: dict[str, int]


class Neo4jRegister(ABC):
    """The look-ups of a reader or a writer, as of the last stamp at most."""

    def __init__(self) -> None:
        self._facts: dict[str, EntityFacts | None] = {}
        self._names: _NameAnswer | None = None

    @property
    @abstractmethod
    def calls(self) -> Calls:
        """What runs statements."""

    @abstractmethod
    def last_us(self) -> int:
        """The last stamp."""

    def pin(self, tx_us: int) -> int:
        """A stamp, the last one at most."""
        return min(tx_us, self.last_us())

    # --- what is learned

    def meet(self, lookup: Lookup, scopes: Sequence[str], record: Properties) -> None:
        """Keep what a statement says about names."""
        self._names = _NameAnswer(
            norms=frozenset(lookup.norms),
            entity_ids=lookup.entity_ids,
            identifiers=frozenset(lookup.identifiers),
            scopes=frozenset(scopes),
            alias_rows=record["aliases"],
            identifier_rows=record["identifiers"],
        )
        self.learn(lookup.entity_ids, record["entities"])

    def learn(self, entity_ids: Iterable[str], records: Sequence[Sequence[Any]]) -> None:
        """Keep entities; those that were asked for and did not come are not there."""
        self._facts |= entity_facts(records)
        for entity_id in entity_ids:
            self._facts.setdefault(entity_id, None)

    def forget_names(self) -> None:
        """Keep nothing of what was learned."""
        self._facts.clear()
        self._names = None

    def unknown(self, entity_ids: Iterable[str]) -> tuple[str, ...]:
        """Those of some entities of which nothing was learned, in their order."""
        return tuple(filterfalse(self._facts.__contains__, entity_ids))

    # --- what is asked

    def known(self, lookup: Lookup, *, scopes: Sequence[str], tx_us: int) -> Known:
        """What is known as of a tx, over aliases of these scopes."""
        (answer,) = self.known_each([(lookup, scopes)], tx_us=tx_us)
        return answer

    def known_each(self, lookups: Sequence[Names], *, tx_us: int) -> list[Known]:
        """What is known of each look-up, in as many round trips as of one."""
        tx_us = self.pin(tx_us)
        matches = [self._by_name(lookup, scopes, tx_us) for lookup, scopes in lookups]
        proposals = self._by_block_keys(lookups, tx_us)

        # All entities that any look-up meets are fetched together.
        ids_of: list[set[str]] = []
        for (lookup, _), match, near in zip(lookups, matches, proposals, strict=True):
            owners_near = [alias.entity_id for alias, _ in near]
            ids_of.append(match.owners.union(lookup.entity_ids, owners_near))

        all_ids: set[str] = set()
        for ids in ids_of:
            all_ids |= ids
        self._fetch(all_ids, tx_us)

        bearers_of = self._bearers(lookups, proposals, tx_us)
        answers: list[Known] = []
        for place, ids in enumerate(ids_of):
            answer = self._answer(ids, tx_us, match=matches[place], proposals=proposals[place])
            visible_scopes = set(lookups[place][1])
            identifiers = [row for row in answer.identifiers if row.scope_id in visible_scopes]
            answer = replace(answer, identifiers=tuple(identifiers))
            answers.append(replace(answer, bearers=bearers_of.get(place, 0)))
        return answers

    def entities(self, entity_ids: Sequence[str], *, tx_us: int) -> Known:
        """Entities with their clusters, aliases, identifiers and judgements."""
        tx_us = self.pin(tx_us)
        self._fetch(set(entity_ids), tx_us)
        answer = self._answer(set(entity_ids), tx_us, match=_Match([], set(), {}), proposals=())
        names = self._names_at({*entity_ids, *answer.entities}, tx_us)
        aliases = {codec.alias(row, tx_us) for _, row, _ in names}
        return replace(answer, aliases=tuple(sorted(aliases, key=alias_order)))

    def judgements(
        self, *, entity_ids: Sequence[str] = (), merge_id: str | None = None
    ) -> tuple[Judgement, ...]:
        """The judgements, open and closed, of raw entities or of a merge, by id."""
        bound = {"entity_ids": sorted(set(entity_ids)), "merge_id": merge_id}
        values = self.calls.column(register.JUDGEMENTS, **bound)
        return tuple(sorted(map(codec.judgement, values), key=attrgetter("judgement_id")))

    def name_rows(self, entity_ids: Sequence[str], *, tx_us: int) -> tuple[NameRow, ...]:
        """The names of raw entities that were open at a tx, whoever may see them."""
        tx_us = self.pin(tx_us)
        self._fetch(set(entity_ids), tx_us)
        names = sorted(self._names_at(set(entity_ids), tx_us), key=lambda name: int(name[1]["n"]))
        return tuple(codec.name_row(row, teacher, entity) for entity, row, teacher in names)

    def _names_at(
        self, entity_ids: Iterable[str], tx_us: int
    ) -> Iterator[tuple[Entity, Properties, Properties | None]]:
        """The open aliases of entities that were fetched, with their teachers."""
        for entity_id in entity_ids:
            facts = self._facts_at(entity_id, tx_us)
            if facts:
                for row, teacher in facts.names:
                    if is_open(row, tx_us):
                        yield facts.entity, row, teacher

    def _by_name(self, lookup: Lookup, scopes: Sequence[str], tx_us: int) -> _Match:
        """The aliases of a look-up, and the owners of these and of its identifiers."""
        match = _Match([], set(), {})
        if not (lookup.norms or lookup.identifiers):
            return match

        names = self._names
        if names is None or not names.covers(lookup, scopes):
            (record,) = self.calls.rows(register.KNOWN, **name_parameters(lookup, scopes))
            self.meet(lookup, scopes, record)
            names = self._names
            assert names is not None  # it was met just now

        norms, pairs, visible = set(lookup.norms), set(lookup.identifiers), set(scopes)
        for row, teacher in names.alias_rows:
            if row["norm"] in norms and row["scope_id"] in visible and is_open(row, tx_us):
                match.aliases.append(codec.alias(row, tx_us))
                match.owners.add(str(row["entity_id"]))
                match.taught_levels[str(row["object_id"])] = codec.taught_level_of(teacher)

        for row in names.identifier_rows:
            is_asked = (row["scheme"], row["value"]) in pairs and is_open(row, tx_us)
            if is_asked and row["scope_id"] in visible:
                match.owners.add(str(row["entity_id"]))
        return match

    def _by_block_keys(self, lookups: Sequence[Names], tx_us: int) -> list[list[Proposal]]:
        """What blocking keys propose for each look-up."""
        proposals: list[list[Proposal]] = [[] for _ in lookups]
        questions = self._block_questions(lookups)
        if not questions:
            return proposals

        limit = max(lookup.limit for lookup, _ in lookups)
        records_of = self._block_matches(questions, tx_us, limit=limit, norms=limit)
        # where many of the heaviest names are closed or out of sight the lighter ones move up
        scarce = [q for q in questions if _is_scarce(records_of.get(q["place"], []), limit)]
        if scarce:
            records_of |= self._block_matches(scarce, tx_us, limit=limit, norms=_ALL_NORMS)

        for place, records in records_of.items():
            lookup, _ = lookups[place]
            for record in records[: lookup.limit]:
                alias = codec.alias(record["alias"], tx_us)
                proposals[place].append((alias, int(record["weight"])))

            names = [(alias.surface, alias.norm) for alias, _ in proposals[place]]
            norms = worth_it(names, lookup)
            proposals[place] = [pair for pair in proposals[place] if pair[0].norm in norms]

        return proposals

    def _block_questions(self, lookups: Sequence[Names]) -> list[dict[str, Any]]:
        """The look-ups by blocking keys that weigh anything, by place."""
        keys: set[str] = set()
        for lookup, _ in lookups:
            keys.update(key for key, _ in lookup.block_keys)
        if not keys:
            return []

        counts: dict[str, tuple[str, int, int]] = {}
        for record in self.calls.rows(register.BLOCK_COUNTS, keys=sorted(keys)):
            count = str(record["kind"]), int(record["postings"]), int(record["total"])
            counts[str(record["key"])] = count

        questions: list[dict[str, Any]] = []
        for place, (lookup, scopes) in enumerate(lookups):
            weights = _key_weights(lookup, counts)
            if weights:
                distinct = list(dict.fromkeys(scopes))
                questions.append({"place": place, "scopes": distinct, "weights": weights})

        return questions

    def _block_matches(
        self, questions: Sequence[dict[str, Any]], tx_us: int, *, limit: int, norms: int
    ) -> dict[int, list[Properties]]:
        records_of: dict[int, list[Properties]] = {}
        bound: dict[str, Any] = {"asked": list(questions), "tx": tx_us}
        bound |= {"most": limit, "most_norms": norms}
        bound |= {"heavier_enough": HEAVIER_ENOUGH, "crowd": CROWD}
        for record in self.calls.rows(register.BLOCK_MATCHES, **bound):
            records_of.setdefault(int(record["place"]), []).append(record)
        return records_of

    def _bearers(
        self, lookups: Sequence[Names], proposals: Sequence[Sequence[Proposal]], tx_us: int
    ) -> dict[int, int]:
        """How many visible people have the family name of a look-up, by place, to its limit."""
        questions: list[dict[str, Any]] = []
        limits: list[int] = []
        for place, (lookup, scopes) in enumerate(lookups):
            family = lookup.family
            if family is None or not proposals[place]:
                continue
            question: dict[str, Any] = {"key": family.key, "ending": family.ending}
            questions.append({**question, "place": place, "scopes": list(dict.fromkeys(scopes))})
            limits.append(family.limit)

        if not questions:
            return {}
        bound: dict[str, Any] = {"asked": questions, "tx": tx_us, "inf": INF_US}
        bound["most"] = max(limits)
        return {
            int(record["place"]): int(record["bearers"])
            for record in self.calls.rows(register.BEARERS, **bound)
        }

    def _fetch(self, ids: set[str], tx_us: int) -> None:
        """Have the facts of these entities and of their clusters at a tx."""
        while missing := sorted(self._cluster(ids, tx_us) - self._facts.keys()):
            bound = name_parameters(Lookup(entity_ids=tuple(missing)), ())
            (record,) = self.calls.rows(register.KNOWN, **bound)
            self.learn(missing, record["entities"])

    def _cluster(self, ids: set[str], tx_us: int) -> set[str]:
        """Entities with all that was one with them at a tx, as far as is known."""
        known, frontier = set(ids), set(ids)
        while frontier:
            ends: set[str] = set()
            for entity_id in frontier:
                facts = self._facts_at(entity_id, tx_us)
                if facts:
                    ends |= facts.matches(tx_us)

            frontier = ends - known
            known |= frontier

        return known

    def _facts_at(self, entity_id: str, tx_us: int) -> EntityFacts | None:
        facts = self._facts.get(entity_id)
        return facts if facts is not None and facts.entity.tx_start <= tx_us else None

    def _answer(
        self,
        ids: set[str],
        tx_us: int,
        *,
        match: _Match,
        proposals: Sequence[Proposal],
    ) -> Known:
        facts_of: dict[str, EntityFacts] = {}
        for entity_id in sorted(self._cluster(ids, tx_us)):
            facts = self._facts_at(entity_id, tx_us)
            if facts:
                facts_of[entity_id] = facts

        judgements = _judgements(facts_of.values(), tx_us)
        matches = [j for j in judgements if j.verdict is JudgementVerdict.MATCH]
        entities = {entity_id: facts.entity for entity_id, facts in facts_of.items()}
        canonical = dict(sorted(clusters.canonical_ids(matches, entities).items()))

        # The stored states are those of the last stamp; an earlier tx has them worked out.
        if tx_us < self.last_us():
            cases: dict[str, clusters.PendingCase] = {}
            for entity_id, facts in facts_of.items():
                case = facts.case(tx_us)
                if case:
                    cases[entity_id] = case

            entities = clusters.entities_as_of(entities, canonical, cases)

        lessons = _lessons(facts_of.values(), tx_us)
        return Known(
            identifiers=tuple(sorted(lessons.identifiers, key=identifier_order)),
            teachers=lessons.teachers,
            restrictions=lessons.restrictions,
            aliases=tuple(sorted({*match.aliases, *(a for a, _ in proposals)}, key=alias_order)),
            weights=_alias_weights(proposals),
            entities=entities,
            judgements=tuple(j for j in judgements if {j.left_id, j.right_id} <= entities.keys()),
            canonical=canonical,
            taught_levels=match.taught_levels,
        )


def name_parameters(lookup: Lookup, scopes: Sequence[str]) -> dict[str, Any]:
    """A look-up of names as a statement takes it."""
    return {
        "norms": list(lookup.norms),
        "alias_scopes": list(dict.fromkeys(scopes)),
        "identifiers": list(map(list, lookup.identifiers)),
        "entity_ids": list(lookup.entity_ids),
    }


def _lessons(facts: Iterable[EntityFacts], tx_us: int) -> _Lessons:
    lessons = _Lessons(set(), {}, {})
    for entity in facts:
        for row, teacher in entity.identifiers:
            if not is_open(row, tx_us):
                continue
            lessons.identifiers.add(codec.identifier(row, tx_us))
            if teacher is not None:
                lessons.teachers[row["object_id"]] = codec.identifier_teacher(teacher)

        for row, teacher in (*entity.identifiers, *entity.names):
            restriction = codec.restriction(teacher)
            if restriction is not None and is_open(row, tx_us):
                lessons.restrictions[row["object_id"]] = restriction
    return lessons


def _judgements(facts: Iterable[EntityFacts], tx_us: int) -> list[Judgement]:
    """The judgements that were open, each once: both its ends bring it."""
    rows: dict[str, Properties] = {}
    for entity in facts:
        for row in entity.judgements:
            if is_open(row, tx_us):
                rows[row["judgement_id"]] = row
    return [codec.judgement(rows[judgement_id], tx_us) for judgement_id in sorted(rows)]


def _alias_weights(proposals: Iterable[Proposal]) -> dict[tuple[str, str], int]:
    weights: dict[tuple[str, str], int] = {}
    for alias, weight in proposals:
        key = alias.entity_id, alias.norm
        weights[key] = max(weight, weights.get(key, 0))
    return weights


def _key_weights(
    lookup: Lookup, counts: Mapping[str, tuple[str, int, int]]
) -> list[list[str | int]]:
    """The keys that weigh anything, with their weights."""
    weights: list[list[str | int]] = []
    for key, occurrences in lookup.block_keys:
        if key in counts:
            kind, postings, total = counts[key]
            weight = hit_weight(kind, occurrences, postings=postings, total=total)
            if weight is not None:
                weights.append([key, weight])

    return weights


def _is_scarce(records: Sequence[Properties], limit: int) -> bool:
    if not records:
        return True
    minimum = HEAVIER_ENOUGH if records[0]["crowded"] else limit
    return len(records) < minimum and records[0]["total"] > limit
