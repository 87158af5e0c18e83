"""What the file knows about mentions: one `Lookup` in, one `Known` out.

At the last stamp clusters come from the projection of canonical ids; at an earlier tx they are
computed from the judgements that were open then. Aliases are filtered by scope and tx before
any cut. Blocking weights are integers computed outside SQL, so both stores agree.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from ...resolution import clusters
from ...resolution.known import Known, Lookup, alias_order, worth_it
from ...resolution.names import NameRow, taught_level
from ...resolution.postings import Posting, heaviest, hit_weight, kth_largest
from ...schema.entity import AUDIT, SUGGESTION, Alias, Entity, Identifier, Judgement
from ...schema.vocabulary import JudgementVerdict, ReviewState
from . import codec, register_codec
from .codec import Line
from .sql import register as sql


class SqliteRegister:
    """The look-ups of one snapshot or one write transaction."""

    def __init__(self, db: sqlite3.Connection, last_us: int) -> None:
        self._db = db
        self._last_us = last_us

    def known(self, lookup: Lookup, *, scopes: Sequence[str], tx_us: int) -> Known:
        """Return what is known of a lookup as of a tx."""
        identifiers = self._identifiers_with(lookup.identifiers, tx_us)
        lines = self._lines(lookup.norms, scopes, tx_us)
        aliases = [register_codec.alias(line, tx_us) for line in lines]
        taught_levels = {line[10]: taught_level(line[13], line[14]) for line in lines}
        weights: dict[tuple[str, str], int] = {}
        if lookup.block_keys:
            for line, weight in self._hits_by_block(lookup, scopes, tx_us):
                alias = register_codec.alias(line, tx_us)
                aliases.append(alias)
                key = alias.entity_id, alias.norm
                weights[key] = max(weight, weights.get(key, 0))

        ids = {
            *(identifier.entity_id for identifier in identifiers),
            *(alias.entity_id for alias in aliases),
            *lookup.entity_ids,
        }
        if not ids:
            return Known()

        canonical = self._clusters(ids, tx_us)
        bound: dict[str, object] = {"ids": _with_clusters(ids, canonical), "tx": tx_us}
        if lookup.names_only:
            return Known(entities=self._entities(bound, tx_us, canonical), canonical=canonical)

        known = self._known_of(bound, tx_us, canonical=canonical, aliases=aliases, weights=weights)
        return replace(known, taught_levels=taught_levels)

    def entities(self, entity_ids: Sequence[str], *, tx_us: int) -> Known:
        """Return entities with their clusters and all that names them."""
        canonical = self._clusters(set(entity_ids), tx_us)
        bound: dict[str, object] = {"ids": _with_clusters(entity_ids, canonical), "tx": tx_us}
        aliases = [
            register_codec.alias(line, tx_us) for line in self._db.execute(sql.ALIASES_OF, bound)
        ]

        return self._known_of(bound, tx_us, canonical=canonical, aliases=aliases, weights={})

    def names_of(
        self, entity_ids: Sequence[str], *, scopes: Sequence[str], tx_us: int
    ) -> tuple[Alias, ...]:
        """Return the aliases that raw entities have in these scopes, in their order."""
        bound = {"ids": codec.list_json(sorted(set(entity_ids))), "tx": tx_us}
        lines = [line for line in self._db.execute(sql.ALIASES_OF, bound) if line[4] in scopes]
        aliases = [register_codec.alias(line, tx_us) for line in lines]

        return tuple(sorted(aliases, key=alias_order))

    def name_rows(self, entity_ids: Sequence[str], *, tx_us: int) -> tuple[NameRow, ...]:
        """The names of raw entities that were open at a tx, whoever may see them."""
        bound = {"ids": codec.list_json(sorted(set(entity_ids))), "tx": tx_us}
        return tuple(map(register_codec.name_row, self._db.execute(sql.NAME_ROWS, bound)))

    def _known_of(
        self,
        bound: dict[str, object],
        tx_us: int,
        *,
        canonical: Mapping[str, str],
        aliases: Iterable[Alias],
        weights: Mapping[tuple[str, str], int],
    ) -> Known:
        entities = self._entities(bound, tx_us, canonical)
        aliases_by_order = {alias_order(alias): alias for alias in aliases}
        return Known(
            identifiers=self._identifiers_of(bound, tx_us),
            aliases=tuple([aliases_by_order[place] for place in sorted(aliases_by_order)]),
            weights=weights,
            entities=entities,
            judgements=tuple(
                judgement
                for judgement in self._judgements(bound, tx_us)
                if judgement.left_id in entities and judgement.right_id in entities
            ),
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

    def _identifiers_with(self, pairs: Iterable[tuple[str, str]], tx_us: int) -> list[Identifier]:
        return [
            register_codec.identifier(line, tx_us)
            for scheme, value in pairs
            for line in self._db.execute(
                sql.IDENTIFIERS, {"scheme": scheme, "value": value, "tx": tx_us}
            )
        ]

    def _identifiers_of(self, bound: dict[str, object], tx_us: int) -> tuple[Identifier, ...]:
        lines = set(self._db.execute(sql.IDENTIFIERS_OF, bound))
        identifiers = [register_codec.identifier(line, tx_us) for line in sorted(lines)]
        return tuple(identifiers)

    def _lines(self, norms: Sequence[str], scopes: Sequence[str], tx_us: int) -> list[Line]:
        if not norms:
            return []

        bound = {"norms": codec.list_json(norms), "scopes": codec.list_json(scopes), "tx": tx_us}
        return self._db.execute(sql.ALIASES_BY_NORM, bound).fetchall()

    def _hits_by_block(
        self, lookup: Lookup, scopes: Sequence[str], tx_us: int
    ) -> list[tuple[Line, int]]:
        """Return those worth it of the heaviest visible aliases, ties by alias key."""
        hits: list[tuple[Line, int]] = []
        for norms in self._heaviest(self._postings(lookup), lookup.limit):
            hits += ((line, norms[line[2]]) for line in self._lines(list(norms), scopes, tx_us))
            if len(hits) >= lookup.limit:
                break

        cut = sorted(hits, key=_by_weight)[: lookup.limit]
        claims_worth = worth_it([(line[1], line[2]) for line, _ in cut], lookup)

        return [pair for pair in cut if pair[0][2] in claims_worth]

    def _postings(self, lookup: Lookup) -> list[Posting[int]]:
        """Return the keys that weigh anything with the norms that carry them, heaviest first."""
        total = self._db.execute(sql.COUNT_NORMS).fetchone()[0]
        weights = dict(lookup.block_keys)
        counts = self._db.execute(sql.BLOCK_COUNTS, (codec.list_json(sorted(weights)),))
        key_weights = {
            key: weight
            for key, kind, postings in counts
            if (weight := hit_weight(kind, weights[key], postings=postings, total=total))
            is not None
        }
        postings_read = self._db.execute(sql.POSTINGS, (codec.list_json(key_weights),))
        postings = (
            Posting(key_weights[key], json.loads(numbers)) for key, numbers in postings_read
        )

        return sorted(postings, key=_lightest_last)

    def _heaviest(self, postings: Sequence[Posting[int]], limit: int) -> Iterator[dict[str, int]]:
        """Yield the weight by norm, the heaviest first and in groups, ties in order of the norm.

        Nearly always the first group is enough; the rest is read where aliases of many norms
        are closed or out of sight.
        """
        weights = heaviest(postings, limit)
        bar = kth_largest(weights.values(), limit)
        heavy = {number: weight for number, weight in weights.items() if weight > bar}
        at_bar = [number for number, weight in weights.items() if weight == bar]
        first = self._norms_by_weight(heavy)
        # nearly all that is tied lies beyond the cut, and is not read
        bound = codec.list_json(at_bar), max(limit - len(first), 0)
        first += ((norm, bar) for norm, _ in self._db.execute(sql.NORMS_IN_ORDER, bound))
        yield dict(first)
        weights_by_norm = dict(first)
        lighter = [
            pair
            for pair in self._norms_by_weight(heaviest(postings, None))
            if pair[0] not in weights_by_norm
        ]

        for position in range(0, len(lighter), limit):
            yield dict(lighter[position : position + limit])

    def _norms_by_weight(self, weights: Mapping[int, int]) -> list[tuple[str, int]]:
        """Return norms and their weights, the heaviest first, ties in order of the norm."""
        alike: dict[int, list[str]] = {}
        for norm, number in self._db.execute(sql.NORMS, (codec.list_json(weights),)):
            alike.setdefault(weights[number], []).append(norm)
        return [
            (norm, weight)
            for weight in sorted(alike, reverse=True)
            for norm in sorted(alike[weight])
        ]

    def _cases(self, bound: dict[str, object]) -> dict[str, clusters.PendingCase]:
        parameters = {**bound, "suggestion": SUGGESTION, "audit": AUDIT}
        return {
            raw: clusters.PendingCase(ReviewState(state), target is not None)
            for raw, state, target in self._db.execute(sql.CASES_THEN, parameters)
        }

    def _judgements(self, bound: dict[str, object], tx_us: int) -> list[Judgement]:
        return [
            register_codec.judgement(line, tx_us)
            for line in self._db.execute(sql.JUDGEMENTS_OF, bound)
        ]

    def _clusters(self, ids: set[str], tx_us: int) -> dict[str, str]:
        """Return the canonical id of every member of the clusters of these, roots included."""
        if tx_us >= self._last_us:
            members = self._db.execute(sql.CLUSTERS, (codec.list_json(sorted(ids)),))
            raw = dict(members)
            return dict(sorted({**raw, **{top: top for top in raw.values()}}.items()))

        return self._clusters_then(ids, tx_us)

    def _clusters_then(self, ids: set[str], tx_us: int) -> dict[str, str]:
        visited_ids: set[str] = set()
        edge = set(ids)
        matches: dict[str, Judgement] = {}

        while edge:
            visited_ids |= edge
            bound: dict[str, object] = {"ids": codec.list_json(sorted(edge)), "tx": tx_us}
            for judgement in self._judgements(bound, tx_us):
                if judgement.verdict is JudgementVerdict.MATCH:
                    matches[judgement.judgement_id] = judgement
            edge = {end for j in matches.values() for end in (j.left_id, j.right_id)} - visited_ids

        bound = {"ids": codec.list_json(sorted(visited_ids)), "tx": tx_us}
        judgements = {
            line[0]: register_codec.entity(line) for line in self._db.execute(sql.ENTITIES, bound)
        }

        return dict(sorted(clusters.canonical_ids(matches.values(), judgements).items()))


def _with_clusters(ids: Iterable[str], canonical: Mapping[str, str]) -> str:
    return codec.list_json(sorted({*ids, *canonical}))


def _by_weight(hit: tuple[Line, int]) -> tuple[object, ...]:
    """Return the place among proposals: the weight, then as `alias_order` has it."""
    (entity_id, _, norm, type, scope_id, ordinal, valid_from, *_), weight = hit
    return -weight, norm, entity_id, scope_id, type, ordinal, valid_from


def _lightest_last(posting: Posting[int]) -> int:
    return -posting.weight


def _by_id(entity: Entity) -> str:
    return entity.entity_id
