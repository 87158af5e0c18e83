"""Names, blocking keys and judgements of a snapshot: everything the resolver looks up.

Aliases are found by their norm; a doubtful name by blocking keys, the rarest first, as far as its
look-up wants. Clusters come from the canonical ids at the last stamp and from the judgements
before it. Nothing here decides who is who.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import attrgetter, countOf
from typing import NamedTuple

from ...resolution import clusters
from ...resolution.blocking import (
    HEAVIER_ENOUGH,
    Posting,
    heaviest,
    hit_weight,
    is_crowd,
    kth_largest,
)
from ...resolution.known import (
    FamilyName,
    Known,
    Lookup,
    Restriction,
    Teacher,
    alias_order,
    identifier_order,
    worth_it,
)
from ...resolution.names import NameRow
from ...resolution.register import taught_level
from ...schema.entity import AUDIT, SUGGESTION, Alias, Entity, Identifier, Judgement
from ...schema.vocabulary import JudgementVerdict, ReviewState
from . import codec, register_sql
from .codec import Line

Names = tuple[Lookup, Sequence[str]]
"""A look-up, and the scopes whose aliases may answer it."""
Hit = tuple[Line, int]
"""A line of an alias, and its weight."""

AT_ONCE = 16
"""Look-ups of one statement: what they share is read once, and the lists stay small."""


class _Question(NamedTuple):
    """One look-up with the keys that weigh anything, and the first names to read."""

    lookup: Lookup
    scopes: tuple[str, ...]
    postings: list[Posting[int]]
    bar: int
    """The weight of the last norm within the limit; 0 where there are fewer."""
    heavy: Mapping[int, int]
    """The weight of each norm above it, by number."""
    is_crowded: bool
    """Whether the tied norms are left out, as long as enough of the heavier are visible."""
    tied_numbers: tuple[int, ...]
    """The norms of just that weight; none of a crowd."""


class Proposals:
    """What the blocking keys of some look-ups propose, at most `AT_ONCE` together."""

    def __init__(self, db: sqlite3.Connection, tx_us: int) -> None:
        self._db = db
        self._tx_us = tx_us

    def hits(self, lookups: Sequence[Names]) -> Iterator[list[Hit]]:
        """Yield, for each look-up in order, the heaviest visible aliases that are worth it."""
        questions = self._questions(lookups)
        first_norms = self._first_norms(questions)
        lines = self._lines(questions, first_norms)

        for question, norms in zip(questions, first_norms, strict=True):
            visible_lines = lines.get(question.scopes, {})
            proposals: list[Hit] = []
            for norm, norm_weight in norms.items():
                for line in visible_lines.get(norm, ()):
                    proposals.append((line, norm_weight))

            # The heaviest norms may be those of closed aliases, or of scopes nobody asked for.
            minimum = HEAVIER_ENOUGH if question.is_crowded else question.lookup.limit
            if question.bar and len(proposals) < minimum:
                self._add_lighter(question, norms, proposals)

            yield _worth_reading(proposals, question.lookup)

    def bearers(self, family: FamilyName, scopes: Sequence[str]) -> int:
        """How many visible people have a family name, as far as its limit."""
        bound: dict[str, object] = {**family._asdict(), "tx": self._tx_us}
        bound["scopes"] = codec.list_json(scopes)
        (count,) = self._db.execute(register_sql.BEARERS, bound).fetchone()
        return int(count)

    def _questions(self, lookups: Sequence[Names]) -> list[_Question]:
        """The look-ups with the names behind their keys, summed as far as the limit asks."""
        counts = self._counts({key for lookup, _ in lookups for key, _ in lookup.block_keys})
        total = self._db.execute(register_sql.COUNT_NORMS).fetchone()[0] if counts else 0

        weights_of: list[dict[str, int]] = []
        for lookup, _ in lookups:
            weights: dict[str, int] = {}
            for key, kind_weight in lookup.block_keys:
                kind, postings = counts.get(key, ("", 0))
                if postings:
                    weight = hit_weight(kind, kind_weight, postings=postings, total=total)
                    if weight is not None:
                        weights[key] = weight
            weights_of.append(weights)

        keys = sorted({key for weights in weights_of for key in weights})
        rows = self._db.execute(register_sql.POSTINGS, (codec.list_json(keys),))
        norms_of: dict[str, list[int]] = {key: json.loads(numbers) for key, numbers in rows}
        questions: list[_Question] = []
        for (lookup, scopes), weights in zip(lookups, weights_of, strict=True):
            postings_of = [Posting(weight, norms_of[key]) for key, weight in weights.items()]
            postings_of.sort(key=attrgetter("weight"), reverse=True)
            heavy = heaviest(postings_of, lookup.limit)
            questions.append(_question(lookup, scopes, postings_of, heavy))
        return questions

    def _counts(self, keys: Iterable[str]) -> dict[str, tuple[str, int]]:
        """Kind and number of norms of each key that any norm carries."""
        rows = self._db.execute(register_sql.BLOCK_COUNTS, (codec.list_json(sorted(keys)),))
        return {key: (kind, postings) for key, kind, postings in rows}

    def _first_norms(self, questions: Sequence[_Question]) -> list[dict[str, int]]:
        """Each question's heaviest norms with their weight, as many as its limit.

        Nearly always they are enough: the lighter are read where aliases are closed or unseen.
        """
        numbers: set[int] = set()
        for question in questions:
            numbers.update(question.heavy)

        rows = self._db.execute(register_sql.NORMS, (codec.list_json(numbers),))
        names = {number: norm for norm, number in rows}
        norms_of: list[dict[str, int]] = []
        for question in questions:
            norms: dict[str, int] = {}
            for number, weight in question.heavy.items():
                if number in names:
                    norms[names[number]] = weight
            norms.update(self._tied_norms(question, question.lookup.limit - len(norms)))
            norms_of.append(norms)
        return norms_of

    def _tied_norms(self, question: _Question, free: int) -> dict[str, int]:
        """The norms that weigh as much as the last within the limit, as many as are free."""
        if not question.bar or free <= 0 or not question.tied_numbers:
            return {}

        # Thousands may bear one common word. Ordered by the file, only what has a place is read.
        numbers = codec.list_json(question.tied_numbers)
        norms = self._db.execute(register_sql.NORMS_IN_ORDER, (numbers, free))
        return {norm: question.bar for norm, _ in norms}

    def _lines(
        self, questions: Sequence[_Question], norms_of: Sequence[Mapping[str, int]]
    ) -> dict[tuple[str, ...], dict[str, list[Line]]]:
        """The open aliases of all these norms, by the scopes asked for and by norm."""
        norms_in: dict[tuple[str, ...], set[str]] = {}
        for question, norms in zip(questions, norms_of, strict=True):
            norms_in.setdefault(question.scopes, set()).update(norms)

        lines_in: dict[tuple[str, ...], dict[str, list[Line]]] = {}
        for scopes, visible_norms in norms_in.items():
            lines = lines_in.setdefault(scopes, {})
            for line in self._aliases(sorted(visible_norms), scopes):
                lines.setdefault(line[2], []).append(line)
        return lines_in

    def _add_lighter(self, question: _Question, norms: Mapping[str, int], hits: list[Hit]) -> None:
        """Read on in order of weight until there are as many aliases as the limit."""
        alike: dict[int, list[str]] = {}
        weights = heaviest(question.postings, None)
        for norm, number in self._db.execute(register_sql.NORMS, (codec.list_json(weights),)):
            if norm not in norms:
                alike.setdefault(weights[number], []).append(norm)

        lighter: list[tuple[str, int]] = []
        for weight in sorted(alike, reverse=True):
            for norm in sorted(alike[weight]):
                lighter.append((norm, weight))

        # A limit at a time: what is visible among the next ones is nearly always enough.
        limit = question.lookup.limit
        for position in range(0, len(lighter), limit):
            weight_of = dict(lighter[position : position + limit])
            lines = self._aliases(weight_of, question.scopes)
            for line in lines:
                hits.append((line, weight_of[line[2]]))
            if len(hits) >= limit:
                break

    def _aliases(self, norms: Iterable[str], scopes: Sequence[str]) -> list[Line]:
        scope_list = codec.list_json(scopes)
        bound = {"norms": codec.list_json(norms), "scopes": scope_list, "tx": self._tx_us}
        return self._db.execute(register_sql.VISIBLE_ALIASES, bound).fetchall()


def _question(
    lookup: Lookup,
    scopes: Sequence[str],
    postings: list[Posting[int]],
    weights: Mapping[int, int],
) -> _Question:
    limit = lookup.limit
    bar = kth_largest(weights.values(), limit)
    # Weights below the bar may be short of a key: whoever is under it was not summed to the end.
    heavy = {number: weight for number, weight in weights.items() if weight > bar}

    # Nearly all of a thousand norms may tie. A crowd is counted in one step, and never listed.
    tied_count = countOf(weights.values(), bar)
    is_crowded = is_crowd(heavier=len(heavy), equals=tied_count, limit=limit)
    tied_numbers: tuple[int, ...] = ()
    if not is_crowded:
        tied_numbers = tuple([number for number, weight in weights.items() if weight == bar])
    return _Question(lookup, tuple(scopes), postings, bar, heavy, is_crowded, tied_numbers)


def _worth_reading(hits: list[Hit], lookup: Lookup) -> list[Hit]:
    """The heaviest within the limit, ties by alias key, without those that are not near."""
    heaviest_hits = hits
    if len(hits) > lookup.limit:
        heaviest_hits = sorted(hits, key=_by_weight)[: lookup.limit]

    norms = worth_it([(line[1], line[2]) for line, _ in heaviest_hits], lookup)
    return [hit for hit in heaviest_hits if hit[0][2] in norms]


def _by_weight(hit: Hit) -> tuple[object, ...]:
    """The place among proposals: the weight, then as `alias_order` has it."""
    (entity_id, _, norm, type, scope_id, ordinal, valid_from, *_), weight = hit
    return -weight, norm, entity_id, scope_id, type, ordinal, valid_from


@dataclass(slots=True)
class _Match:
    """What is in the register under the keys of one look-up."""

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
            alias = codec.alias(line, tx_us)
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
            judgements=tuple(sorted(judgements, key=attrgetter("judgement_id"))),
            canonical=dict(sorted(canonical.items())),
        )


def read_names(
    db: sqlite3.Connection, entity_ids: Sequence[str], tx_us: int
) -> tuple[NameRow, ...]:
    """The names of raw entities that were open at a tx, whoever may see them."""
    bound = {"ids": codec.list_json(sorted(set(entity_ids))), "tx": tx_us}
    return tuple(map(codec.name_row, db.execute(register_sql.NAME_ROWS, bound)))


class SqliteRegister:
    """The look-ups of one snapshot or one write transaction."""

    def __init__(self, db: sqlite3.Connection, last_us: int) -> None:
        self._db = db
        self._last_us = last_us

    def known(self, lookup: Lookup, *, scopes: Sequence[str], tx_us: int) -> Known:
        """What is known of a look-up as of a tx, over aliases of these scopes."""
        (answer,) = self.known_each([(lookup, scopes)], tx_us=tx_us)
        return answer

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
        """What is in the register under the exact keys of a look-up."""
        match = _Match(lookup, scopes, set(lookup.entity_ids))
        scope_list = codec.list_json(scopes)
        for scheme, value in lookup.identifiers:
            pair = {"scheme": scheme, "value": value, "scopes": scope_list, "tx": tx_us}
            for (entity_id,) in self._db.execute(register_sql.IDENTIFIERS, pair):
                match.ids.add(entity_id)

        if not lookup.norms:
            return match

        bound = {"norms": codec.list_json(lookup.norms), "scopes": scope_list, "tx": tx_us}
        for line in self._db.execute(register_sql.ALIASES_BY_NORM, bound):
            match.add(codec.alias(line, tx_us))
            match.taught_levels[line[10]] = taught_level(line[13], line[14])
        return match

    def entities(self, entity_ids: Sequence[str], *, tx_us: int) -> Known:
        """Return entities with their clusters and all that names them."""
        canonical = self._clusters(set(entity_ids), tx_us)
        bound: dict[str, object] = {"ids": _with_clusters(entity_ids, canonical), "tx": tx_us}
        aliases: list[Alias] = []
        for line in self._db.execute(register_sql.ALIASES_OF, bound):
            aliases.append(codec.alias(line, tx_us))

        return self._known_of(bound, tx_us, canonical=canonical, aliases=aliases)

    def name_rows(self, entity_ids: Sequence[str], *, tx_us: int) -> tuple[NameRow, ...]:
        """The names of raw entities that were open at a tx, whoever may see them."""
        return read_names(self._db, entity_ids, tx_us)

    def judgements(
        self, *, entity_ids: Sequence[str] = (), merge_id: str | None = None
    ) -> tuple[Judgement, ...]:
        """The judgements, open and closed, of raw entities or of a merge, by id."""
        bound = {"ids": codec.list_json(sorted(set(entity_ids))), "merge": merge_id}
        return tuple(map(codec.judgement, self._db.execute(register_sql.JUDGEMENTS_EVER, bound)))

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

        return replace(
            self._lessons_of(bound, tx_us),
            aliases=_in_order(aliases),
            entities=entities,
            judgements=tuple(judgements),
            canonical=canonical,
        )

    def _entities(
        self, bound: dict[str, object], tx_us: int, canonical: Mapping[str, str]
    ) -> Mapping[str, Entity]:
        rows = map(codec.entity, self._db.execute(register_sql.ENTITIES, bound))
        entities = {row.entity_id: row for row in sorted(rows, key=attrgetter("entity_id"))}
        if tx_us >= self._last_us:
            return entities

        parameters = {**bound, "suggestion": SUGGESTION, "audit": AUDIT}
        cases: dict[str, clusters.PendingCase] = {}
        for raw, state, target in self._db.execute(register_sql.CASES_THEN, parameters):
            cases[raw] = clusters.PendingCase(ReviewState(state), target is not None)
        return clusters.entities_as_of(entities, canonical, cases)

    def _lessons_of(self, bound: dict[str, object], tx_us: int) -> Known:
        """What was taught of entities, and who may know it."""
        identifiers: dict[Identifier, None] = {}
        teachers: dict[str, Teacher] = {}
        restrictions: dict[str, Restriction] = {}
        for line in self._db.execute(register_sql.LESSONS_OF, bound):
            object_id = line[6]
            restriction = codec.restriction(line)
            if restriction is not None:
                restrictions[object_id] = restriction
            if line[0] is None:
                continue  # a name: they are read where they are asked for

            identifiers[codec.identifier(line, tx_us)] = None
            if line[7] is not None:
                teachers[object_id] = codec.teacher(line)

        rows = tuple(sorted(identifiers, key=identifier_order))
        return Known(identifiers=rows, teachers=teachers, restrictions=restrictions)

    def _judgements(self, bound: dict[str, object], tx_us: int) -> list[Judgement]:
        return [
            codec.judgement(line, tx_us)
            for line in self._db.execute(register_sql.JUDGEMENTS_OF, bound)
        ]

    def _clusters(self, ids: set[str], tx_us: int) -> dict[str, str]:
        """Return the canonical id of every member of the clusters of these, roots included."""
        if tx_us >= self._last_us:
            members = self._db.execute(register_sql.CLUSTERS, (codec.list_json(sorted(ids)),))
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
        for line in self._db.execute(register_sql.ENTITIES, bound):
            entities[line[0]] = codec.entity(line)

        return dict(sorted(clusters.canonical_ids(matches.values(), entities).items()))


def _with_clusters(ids: Iterable[str], canonical: Mapping[str, str]) -> str:
    return codec.list_json(sorted({*ids, *canonical}))


def _in_order(aliases: Iterable[Alias]) -> tuple[Alias, ...]:
    """The aliases of an answer, each once."""
    aliases_by_order = {alias_order(alias): alias for alias in aliases}
    return tuple([aliases_by_order[place] for place in sorted(aliases_by_order)])
