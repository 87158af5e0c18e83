"""What the register knows about mentions: one `Lookup` in, one `Known` out.

One round trip by names, identifiers and ids: the server walks their clusters two steps wide, and
a longer chain of judgements costs a further one. What it sends holds for every tx, what was
closed included, so a `Neo4jRegister` keeps it: what a reader has met is never asked for again, and
a writer asks again only after it has written.
Clusters are computed from the judgements open at the tx asked for. The server works out what a
blocking key weighs, in whole thousandths as `resolution.blocking` says.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import filterfalse
from operator import attrgetter
from typing import Any, NamedTuple

from ...resolution import clusters
from ...resolution.blocking import COARSE_KINDS, COARSE_LIMIT, CROWD, HEAVIER_ENOUGH, LIMIT
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
from ...schema.vocabulary import JudgementVerdict
from . import codec
from .calls import Calls, distinct
from .cypher import register
from .versions import EntityFacts, Properties, TaughtName, entity_facts, is_open

Names = tuple[Lookup, Sequence[str]]
"""What is looked up, and the scopes whose aliases are visible."""
Proposal = tuple[Alias, int]
"""An alias that shares blocking keys with a name, and what they weigh."""
_ALL_NORMS = 2**31 - 1


class _BlockMatches(NamedTuple):
    """What shares blocking keys with a name."""

    aliases: list[Proposal]
    bearers: int
    """How many visible people have its family name, as far as the look-up counts them."""


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
        self.receipts_of_keys: dict[object, Properties | None] = {}
        """What idempotency keys have written, as far as it was asked with the names."""

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

    def forget_names(self, entity_ids: Iterable[str] | None = None) -> None:
        """Keep nothing of what was learned of names, nor of these entities; None: of any."""
        for entity_id in tuple(self._facts) if entity_ids is None else entity_ids:
            self._facts.pop(entity_id, None)
        self._names = None
        self.receipts_of_keys.clear()

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
        for (lookup, _), match, proposal in zip(lookups, matches, proposals, strict=True):
            owners_near = [alias.entity_id for alias, _ in proposal.aliases]
            ids_of.append(match.owners.union(lookup.entity_ids, owners_near))

        all_ids: set[str] = set()
        for ids in ids_of:
            all_ids |= ids
        self._fetch(all_ids, tx_us)

        answers: list[Known] = []
        for place, ids in enumerate(ids_of):
            proposal = proposals[place]
            answer = self._answer(ids, tx_us, match=matches[place], proposals=proposal.aliases)
            visible_scopes = set(lookups[place][1])
            identifiers = [row for row in answer.identifiers if row.scope_id in visible_scopes]
            answer = replace(answer, identifiers=tuple(identifiers))
            answers.append(replace(answer, bearers=proposal.bearers))
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

    def _by_block_keys(self, lookups: Sequence[Names], tx_us: int) -> list[_BlockMatches]:
        """What blocking keys propose for each look-up."""
        proposals = [_BlockMatches([], 0) for _ in lookups]
        questions: list[dict[str, Any]] = []
        for place, (lookup, scopes) in enumerate(lookups):
            if lookup.block_keys:
                family = lookup.family._asdict() if lookup.family else {"limit": 0}
                question = {"place": place, "scopes": distinct(scopes), "family": family}
                questions.append(question | {"keys": list(map(list, lookup.block_keys))})
        if not questions:
            return proposals

        limit = max(lookup.limit for lookup, _ in lookups)
        records_of = self._block_matches(questions, tx_us, limit=limit, norms=limit)
        # where many of the heaviest names are closed or out of sight the lighter ones move up
        scarce = [q for q in questions if _is_scarce(records_of[q["place"]], limit)]
        if scarce:
            records_of |= self._block_matches(scarce, tx_us, limit=limit, norms=_ALL_NORMS)

        for place, record in records_of.items():
            lookup, _ = lookups[place]
            aliases: list[Proposal] = []
            for row, weight in record["aliases"][: lookup.limit]:
                aliases.append((codec.alias(row, tx_us), int(weight)))

            norms = worth_it([(alias.surface, alias.norm) for alias, _ in aliases], lookup)
            near_aliases = [pair for pair in aliases if pair[0].norm in norms]
            proposals[place] = _BlockMatches(
                near_aliases, int(record["bearers"]) if near_aliases else 0
            )

        return proposals

    def _block_matches(
        self, questions: Sequence[dict[str, Any]], tx_us: int, *, limit: int, norms: int
    ) -> dict[int, Properties]:
        bound: dict[str, Any] = {"asked": list(questions), "tx": tx_us}
        bound |= {"most": limit, "most_norms": norms, "coarse": sorted(COARSE_KINDS)}
        bound |= {"heavier_enough": HEAVIER_ENOUGH, "crowd": CROWD}
        bound |= {"coarse_postings": COARSE_LIMIT, "most_postings": LIMIT}
        bound["most_bearers"] = max(question["family"]["limit"] for question in questions)
        records = self.calls.rows(register.BLOCK_MATCHES, **bound)
        return {int(record["place"]): record for record in records}

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

        weights: dict[tuple[str, str], int] = {}
        for alias, weight in proposals:
            key = alias.entity_id, alias.norm
            weights[key] = max(weight, weights.get(key, 0))
        return replace(
            _lessons(facts_of.values(), tx_us),
            aliases=tuple(sorted({*match.aliases, *(a for a, _ in proposals)}, key=alias_order)),
            weights=weights,
            entities=entities,
            judgements=tuple(j for j in judgements if {j.left_id, j.right_id} <= entities.keys()),
            canonical=canonical,
            taught_levels=match.taught_levels,
        )


def name_parameters(lookup: Lookup, scopes: Sequence[str]) -> dict[str, Any]:
    """A look-up of names as a statement takes it."""
    return {
        "norms": list(lookup.norms),
        "alias_scopes": distinct(scopes),
        "identifiers": list(map(list, lookup.identifiers)),
        "entity_ids": list(lookup.entity_ids),
    }


def _lessons(facts: Iterable[EntityFacts], tx_us: int) -> Known:
    """What was taught of entities, and who may know it."""
    identifiers: set[Identifier] = set()
    teachers: dict[str, Teacher] = {}
    restrictions: dict[str, Restriction] = {}
    for entity in facts:
        for row, teacher in entity.identifiers:
            if not is_open(row, tx_us):
                continue
            identifiers.add(codec.identifier(row, tx_us))
            if teacher is not None:
                teachers[row["object_id"]] = codec.identifier_teacher(teacher)

        for row, teacher in (*entity.identifiers, *entity.names):
            restriction = codec.restriction(teacher)
            if restriction is not None and is_open(row, tx_us):
                restrictions[row["object_id"]] = restriction

    rows = tuple(sorted(identifiers, key=identifier_order))
    return Known(identifiers=rows, teachers=teachers, restrictions=restrictions)


def _judgements(facts: Iterable[EntityFacts], tx_us: int) -> list[Judgement]:
    """The judgements that were open, each once: both its ends bring it."""
    rows: dict[str, Properties] = {}
    for entity in facts:
        for row in entity.judgements:
            if is_open(row, tx_us):
                rows[row["judgement_id"]] = row
    return [codec.judgement(rows[judgement_id], tx_us) for judgement_id in sorted(rows)]


def _is_scarce(record: Properties, limit: int) -> bool:
    minimum = HEAVIER_ENOUGH if record["crowded"] else limit
    return len(record["aliases"]) < minimum and record["total"] > limit
