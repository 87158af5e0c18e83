"""What the file knows about mentions: one `Lookup` in, one `Known` out.

At the last stamp clusters come from the projection of canonical ids; at an earlier tx they are
computed from the judgements that were open then. Aliases are filtered by scope and tx before
any cut. Blocking weights are integers computed outside SQL, so both stores agree.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from ...resolution import clusters
from ...resolution.known import (
    Known,
    Lookup,
    Restriction,
    Teacher,
    alias_order,
    identifier_order,
)
from ...resolution.names import NameRow
from ...resolution.register import taught_level
from ...schema.entity import AUDIT, SUGGESTION, Alias, Entity, Identifier, Judgement
from ...schema.vocabulary import JudgementVerdict, ReviewState
from . import codec, register_codec
from .blocking import AT_ONCE, Hit, Names, Proposals
from .sql import register as sql


class _Lessons(NamedTuple):
    """What was taught of entities, and who may know it."""

    identifiers: dict[Identifier, None]
    teachers: dict[str, Teacher]
    restrictions: dict[str, Restriction]


@dataclass(slots=True)
class _Match:
    """What stands in the register under the keys of one look-up."""

    lookup: Lookup
    scopes: Sequence[str]
    ids: set[str]
    """Raw ids of the entities that the look-up names or meets."""
    aliases: list[Alias] = field(default_factory=list[Alias])
    taught_levels: dict[str, int] = field(default_factory=dict[str, int])
    weights: dict[tuple[str, str], int] = field(default_factory=dict[tuple[str, str], int])
    bearers: int = 0

    def add(self, alias: Alias) -> None:
        self.aliases.append(alias)
        self.ids.add(alias.entity_id)

    def propose(self, hits: Iterable[Hit], tx_us: int) -> None:
        """Take in what the blocking keys propose."""
        for line, weight in hits:
            alias = register_codec.alias(line, tx_us)
            self.add(alias)
            key = alias.entity_id, alias.norm
            self.weights[key] = max(weight, self.weights.get(key, 0))

    def answer(self, entities: Known) -> Known:
        """The answer, with the entities around it and all that names them."""
        if not self.ids:
            return Known()

        visible_scopes = set(self.scopes)
        identifiers = [row for row in entities.identifiers if row.scope_id in visible_scopes]
        return replace(
            entities,
            identifiers=tuple(identifiers),
            aliases=_in_order(self.aliases),
            weights=self.weights,
            bearers=self.bearers,
            taught_levels=self.taught_levels,
        )


class _Parts:
    """What was read for many look-ups, to be given to each as if it were alone."""

    def __init__(self, known: Known) -> None:
        self._known = known
        self._members: dict[str, list[str]] = {}
        for raw, root in known.canonical.items():
            self._members.setdefault(root, []).append(raw)

        self._identifiers: dict[str, list[Identifier]] = {}
        for identifier in known.identifiers:
            self._identifiers.setdefault(identifier.entity_id, []).append(identifier)

        self._judgements: dict[str, list[Judgement]] = {}
        for judgement in known.judgements:
            self._judgements.setdefault(judgement.left_id, []).append(judgement)

    def part(self, ids: Iterable[str]) -> Known:
        """The entities of these ids, with their clusters and all that identifies them."""
        known = self._known
        canonical: dict[str, str] = {}
        for raw in ids:
            root = known.canonical.get(raw)
            if root is not None:
                canonical.update(dict.fromkeys(self._members[root], root))

        entities: dict[str, Entity] = {}
        identifiers: list[Identifier] = []
        judgements: list[Judgement] = []
        for raw in sorted({*ids, *canonical}):
            if raw in known.entities:
                entities[raw] = known.entities[raw]
            identifiers += self._identifiers.get(raw, ())
            judgements += self._judgements.get(raw, ())

        judgements = [row for row in judgements if row.right_id in entities]
        return Known(
            identifiers=tuple(identifiers),
            teachers=known.teachers,
            restrictions=known.restrictions,
            entities=entities,
            judgements=tuple(sorted(judgements, key=_by_judgement)),
            canonical=dict(sorted(canonical.items())),
        )


class SqliteRegister:
    """The look-ups of one snapshot or one write transaction."""

    def __init__(self, db: sqlite3.Connection, last_us: int) -> None:
        self._db = db
        self._last_us = last_us

    def known_each(self, lookups: Sequence[Names], *, tx_us: int) -> list[Known]:
        """What is known of each look-up, with as many statements as of one."""
        matches: list[_Match] = []
        for lookup, scopes in lookups:
            matches.append(self._match(lookup, scopes, tx_us))

        fuzzy_matches = [match for match in matches if match.lookup.block_keys]
        for position in range(0, len(fuzzy_matches), AT_ONCE):
            part = fuzzy_matches[position : position + AT_ONCE]
            names = [(match.lookup, match.scopes) for match in part]
            proposals = Proposals(self._db, tx_us)
            for match, hits in zip(part, proposals.hits(names), strict=True):
                match.propose(hits, tx_us)
                if hits and match.lookup.family is not None:
                    match.bearers = proposals.bearers(match.lookup.family, match.scopes)

        ids: set[str] = set()
        for match in matches:
            ids |= match.ids
        if not ids:
            return [Known()] * len(lookups)

        canonical = self._clusters(ids, tx_us)
        bound: dict[str, object] = {"ids": _with_clusters(ids, canonical), "tx": tx_us}
        if all(lookup.names_only for lookup, _ in lookups):
            union = Known(entities=self._entities(bound, tx_us, canonical), canonical=canonical)
        else:
            union = self._known_of(bound, tx_us, canonical=canonical, aliases=())

        if len(matches) == 1:
            return [matches[0].answer(union)]

        parts = _Parts(union)
        return [match.answer(parts.part(match.ids)) for match in matches]

    def _match(self, lookup: Lookup, scopes: Sequence[str], tx_us: int) -> _Match:
        """What stands in the register under the exact keys of a look-up."""
        match = _Match(lookup, scopes, set(lookup.entity_ids))
        scope_list = codec.list_json(scopes)
        for scheme, value in lookup.identifiers:
            pair = {"scheme": scheme, "value": value, "scopes": scope_list, "tx": tx_us}
            for (entity_id,) in self._db.execute(sql.IDENTIFIERS, pair):
                match.ids.add(entity_id)

        if not lookup.norms:
            return match

        bound = {"norms": codec.list_json(lookup.norms), "scopes": scope_list, "tx": tx_us}
        for line in self._db.execute(sql.ALIASES_BY_NORM, bound):
            match.add(register_codec.alias(line, tx_us))
            match.taught_levels[line[10]] = taught_level(line[13], line[14])
        return match

    def entities(self, entity_ids: Sequence[str], *, tx_us: int) -> Known:
        """Return entities with their clusters and all that names them."""
        canonical = self._clusters(set(entity_ids), tx_us)
        bound: dict[str, object] = {"ids": _with_clusters(entity_ids, canonical), "tx": tx_us}
        aliases: list[Alias] = []
        for line in self._db.execute(sql.ALIASES_OF, bound):
            aliases.append(register_codec.alias(line, tx_us))

        return self._known_of(bound, tx_us, canonical=canonical, aliases=aliases)

    def names_of(
        self, entity_ids: Sequence[str], *, scopes: Sequence[str], tx_us: int
    ) -> tuple[Alias, ...]:
        """Return the aliases that raw entities have in these scopes, in their order."""
        bound = {"ids": codec.list_json(sorted(set(entity_ids))), "tx": tx_us}
        aliases: list[Alias] = []
        for line in self._db.execute(sql.ALIASES_OF, bound):
            if line[4] in scopes:
                aliases.append(register_codec.alias(line, tx_us))

        return tuple(sorted(aliases, key=alias_order))

    def name_rows(self, entity_ids: Sequence[str], *, tx_us: int) -> tuple[NameRow, ...]:
        """The names of raw entities that were open at a tx, whoever may see them."""
        bound = {"ids": codec.list_json(sorted(set(entity_ids))), "tx": tx_us}
        return tuple(map(register_codec.name_row, self._db.execute(sql.NAME_ROWS, bound)))

    def judgements(self, entity_ids: Sequence[str], merge_id: str | None) -> tuple[Judgement, ...]:
        """The judgements, open and closed, of raw entities or of a merge, by id."""
        bound = {"ids": codec.list_json(sorted(set(entity_ids))), "merge": merge_id}
        return tuple(map(register_codec.judgement, self._db.execute(sql.JUDGEMENTS_EVER, bound)))

    def _known_of(
        self,
        bound: dict[str, object],
        tx_us: int,
        *,
        canonical: Mapping[str, str],
        aliases: Iterable[Alias],
    ) -> Known:
        entities = self._entities(bound, tx_us, canonical)

        # A judgement about somebody outside of the answer says nothing within it.
        judgements: list[Judgement] = []
        for judgement in self._judgements(bound, tx_us):
            if judgement.left_id in entities and judgement.right_id in entities:
                judgements.append(judgement)

        lessons = self._lessons_of(bound, tx_us)
        return Known(
            identifiers=tuple(sorted(lessons.identifiers, key=identifier_order)),
            teachers=lessons.teachers,
            restrictions=lessons.restrictions,
            aliases=_in_order(aliases),
            entities=entities,
            judgements=tuple(judgements),
            canonical=canonical,
        )

    def _entities(
        self, bound: dict[str, object], tx_us: int, canonical: Mapping[str, str]
    ) -> Mapping[str, Entity]:
        decoded_entities = map(register_codec.entity, self._db.execute(sql.ENTITIES, bound))
        entities = {entity.entity_id: entity for entity in sorted(decoded_entities, key=_by_id)}
        if tx_us < self._last_us:
            return clusters.entities_as_of(entities, canonical, self._cases(bound))

        return entities

    def _lessons_of(self, bound: dict[str, object], tx_us: int) -> _Lessons:
        lessons = _Lessons({}, {}, {})
        for line in self._db.execute(sql.LESSONS_OF, bound):
            object_id = line[6]
            restriction = register_codec.restriction(line)
            if restriction is not None:
                lessons.restrictions[object_id] = restriction
            if line[0] is None:
                continue  # a name: they are read where they are asked for

            lessons.identifiers[register_codec.identifier(line, tx_us)] = None
            if line[7] is not None:
                lessons.teachers[object_id] = register_codec.teacher(line)
        return lessons

    def _cases(self, bound: dict[str, object]) -> dict[str, clusters.PendingCase]:
        parameters = {**bound, "suggestion": SUGGESTION, "audit": AUDIT}
        cases: dict[str, clusters.PendingCase] = {}
        for raw, state, target in self._db.execute(sql.CASES_THEN, parameters):
            cases[raw] = clusters.PendingCase(ReviewState(state), target is not None)
        return cases

    def _judgements(self, bound: dict[str, object], tx_us: int) -> list[Judgement]:
        return [
            register_codec.judgement(line, tx_us)
            for line in self._db.execute(sql.JUDGEMENTS_OF, bound)
        ]

    def _clusters(self, ids: set[str], tx_us: int) -> dict[str, str]:
        """Return the canonical id of every member of the clusters of these, roots included."""
        if tx_us >= self._last_us:
            members = self._db.execute(sql.CLUSTERS, (codec.list_json(sorted(ids)),))
            canonical: dict[str, str] = dict(members)
            # The projection leaves out whoever is its own canonical id.
            for top in tuple(canonical.values()):
                canonical[top] = top
            return dict(sorted(canonical.items()))

        return self._clusters_then(ids, tx_us)

    def _clusters_then(self, ids: set[str], tx_us: int) -> dict[str, str]:
        visited_ids: set[str] = set()
        edge = set(ids)
        ends: set[str] = set()
        matches: dict[str, Judgement] = {}

        # The projection knows today's clusters alone: those of then are walked, row by row.
        while edge:
            visited_ids |= edge
            bound: dict[str, object] = {"ids": codec.list_json(sorted(edge)), "tx": tx_us}
            for judgement in self._judgements(bound, tx_us):
                if judgement.verdict is JudgementVerdict.MATCH:
                    matches[judgement.judgement_id] = judgement
                    ends |= {judgement.left_id, judgement.right_id}
            edge = ends - visited_ids

        bound = {"ids": codec.list_json(sorted(visited_ids)), "tx": tx_us}
        entities: dict[str, Entity] = {}
        for line in self._db.execute(sql.ENTITIES, bound):
            entities[line[0]] = register_codec.entity(line)

        return dict(sorted(clusters.canonical_ids(matches.values(), entities).items()))


def _with_clusters(ids: Iterable[str], canonical: Mapping[str, str]) -> str:
    return codec.list_json(sorted({*ids, *canonical}))


def _in_order(aliases: Iterable[Alias]) -> tuple[Alias, ...]:
    """The aliases of an answer, each once."""
    aliases_by_order = {alias_order(alias): alias for alias in aliases}
    return tuple([aliases_by_order[place] for place in sorted(aliases_by_order)])


def _by_id(entity: Entity) -> str:
    return entity.entity_id


def _by_judgement(judgement: Judgement) -> str:
    return judgement.judgement_id
