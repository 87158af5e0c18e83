"""What the file knows about mentions: one `Lookup` in, one `Known` out.

At the last stamp clusters come from the projection of canonical ids; at an earlier tx they are
computed from the judgements that were open then. Aliases are filtered by scope and tx before
any cut. Blocking weights are integers computed outside SQL, so both stores agree.

Sources: resolution 2 and 6; settled 9; DESIGN 5.
"""

from __future__ import annotations

import heapq
import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence

from ...resolution import clusters
from ...resolution.known import Known, Lookup, alias_order, identifier_order, worth_it
from ...resolution.postings import hit_weight
from ...schema.entity import Alias, Entity, Identifier, Judgement
from ...schema.vocabulary import JudgementVerdict
from . import codec, register_codec
from . import register_sql as sql


class Register:
    """The look-ups of one snapshot or one write transaction."""

    def __init__(self, db: sqlite3.Connection, last_us: int) -> None:
        self._db = db
        self._last_us = last_us

    def known(self, lookup: Lookup, *, scopes: Sequence[str], tx_us: int) -> Known:
        """Return what is known of a lookup as of a tx."""
        named = self._identified(lookup.identifiers, tx_us)
        aliases = self._named(lookup.norms, scopes, tx_us)
        weights: dict[tuple[str, str], int] = {}
        if lookup.block_keys:
            for alias, weight in worth_it(self._blocked(lookup, scopes, tx_us), lookup):
                aliases.append(alias)
                key = alias.entity_id, alias.norm
                weights[key] = max(weight, weights.get(key, 0))
        ids = {
            *(identifier.entity_id for identifier in named),
            *(alias.entity_id for alias in aliases),
            *lookup.entity_ids,
        }
        if not ids:
            return Known()
        canonical = self._clusters(ids, tx_us)
        bound: dict[str, object] = {"ids": _with_clusters(ids, canonical), "tx": tx_us}
        return self._whole(bound, tx_us, canonical=canonical, aliases=aliases, weights=weights)

    def entities(self, entity_ids: Sequence[str], *, tx_us: int) -> Known:
        """Return entities with their clusters and all that names them."""
        canonical = self._clusters(set(entity_ids), tx_us)
        bound: dict[str, object] = {"ids": _with_clusters(entity_ids, canonical), "tx": tx_us}
        aliases = [
            register_codec.alias(line, tx_us) for line in self._db.execute(sql.ALIASES_OF, bound)
        ]
        return self._whole(bound, tx_us, canonical=canonical, aliases=aliases, weights={})

    def _whole(
        self,
        bound: dict[str, object],
        tx_us: int,
        *,
        canonical: Mapping[str, str],
        aliases: Iterable[Alias],
        weights: Mapping[tuple[str, str], int],
    ) -> Known:
        found = sorted(
            map(register_codec.entity, self._db.execute(sql.ENTITIES, bound)), key=_by_id
        )
        entities = {entity.entity_id: entity for entity in found}
        return Known(
            identifiers=self._identifiers_of(bound, tx_us),
            aliases=tuple(sorted(set(aliases), key=alias_order)),
            weights=weights,
            entities=entities,
            judgements=tuple(
                judgement
                for judgement in self._judgements(bound, tx_us)
                if judgement.left_id in entities and judgement.right_id in entities
            ),
            canonical=canonical,
        )

    def _identified(self, pairs: Iterable[tuple[str, str]], tx_us: int) -> list[Identifier]:
        return [
            register_codec.identifier(line, tx_us)
            for scheme, value in pairs
            for line in self._db.execute(
                sql.IDENTIFIERS, {"scheme": scheme, "value": value, "tx": tx_us}
            )
        ]

    def _identifiers_of(self, bound: dict[str, object], tx_us: int) -> tuple[Identifier, ...]:
        lines = self._db.execute(sql.IDENTIFIERS_OF, bound)
        found = {register_codec.identifier(line, tx_us) for line in lines}
        return tuple(sorted(found, key=identifier_order))

    def _named(self, norms: Sequence[str], scopes: Sequence[str], tx_us: int) -> list[Alias]:
        if not norms:
            return []
        bound = {"norms": codec.listed(norms), "scopes": codec.listed(scopes), "tx": tx_us}
        return [
            register_codec.alias(line, tx_us)
            for line in self._db.execute(sql.ALIASES_BY_NORM, bound)
        ]

    def _blocked(
        self, lookup: Lookup, scopes: Sequence[str], tx_us: int
    ) -> list[tuple[Alias, int]]:
        """Return the heaviest visible aliases, ties by alias key; one scan, no more look-ups."""
        found: list[tuple[Alias, int]] = []
        for norms in self._heaviest(self._shared(lookup), lookup.limit):
            aliases = self._named(sorted(norms), scopes, tx_us)
            found += ((alias, norms[alias.norm]) for alias in aliases)
            if len(found) >= lookup.limit:
                break
        return sorted(found, key=_by_weight)[: lookup.limit]

    def _shared(self, lookup: Lookup) -> dict[int, int]:
        """Return the weight of every norm that shares a key, by number."""
        total = self._db.execute(sql.COUNT_NORMS).fetchone()[0]
        asked = dict(lookup.block_keys)
        counts = self._db.execute(sql.BLOCK_COUNTS, (codec.listed(sorted(asked)),))
        weighed = {
            key: weight
            for key, kind, postings in counts
            if (weight := hit_weight(kind, asked[key], postings=postings, total=total)) is not None
        }
        shared: dict[int, int] = {}
        before = shared.get
        for key, postings in self._db.execute(sql.POSTINGS, (codec.listed(weighed),)):
            weight = weighed[key]
            for number in json.loads(postings):
                shared[number] = before(number, 0) + weight
        return shared

    def _heaviest(self, shared: Mapping[int, int], most: int) -> Iterator[dict[str, int]]:
        """Yield the weight by norm, the heaviest first and in groups, ties in order of the norm.

        Nearly always the first group is enough; the rest is read where aliases of many norms
        are closed or out of sight.
        """
        bar = min(heapq.nlargest(most, shared.values()), default=0)
        heavy = [number for number, weight in shared.items() if weight >= bar]
        light = [number for number, weight in shared.items() if weight < bar]
        for numbers in (heavy, light):
            alike: dict[int, list[str]] = {}
            for norm, number in self._db.execute(sql.NORMS, (codec.listed(numbers),)):
                alike.setdefault(shared[number], []).append(norm)
            ranked = [(norm, w) for w in sorted(alike, reverse=True) for norm in sorted(alike[w])]
            for first in range(0, len(ranked), most):
                yield dict(ranked[first : first + most])

    def _judgements(self, bound: dict[str, object], tx_us: int) -> list[Judgement]:
        return [
            register_codec.judgement(line, tx_us)
            for line in self._db.execute(sql.JUDGEMENTS_OF, bound)
        ]

    def _clusters(self, ids: set[str], tx_us: int) -> dict[str, str]:
        """Return the canonical id of every member of the clusters of these, roots included."""
        if tx_us >= self._last_us:
            found = self._db.execute(sql.CLUSTERS, (codec.listed(sorted(ids)),))
            raw = dict(found)
            return dict(sorted({**raw, **{top: top for top in raw.values()}}.items()))
        return self._clusters_then(ids, tx_us)

    def _clusters_then(self, ids: set[str], tx_us: int) -> dict[str, str]:
        seen: set[str] = set()
        edge = set(ids)
        matches: dict[str, Judgement] = {}
        while edge:
            seen |= edge
            bound: dict[str, object] = {"ids": codec.listed(sorted(edge)), "tx": tx_us}
            for judgement in self._judgements(bound, tx_us):
                if judgement.verdict is JudgementVerdict.MATCH:
                    matches[judgement.judgement_id] = judgement
            edge = {end for j in matches.values() for end in (j.left_id, j.right_id)} - seen
        bound = {"ids": codec.listed(sorted(seen)), "tx": tx_us}
        found = {
            line[0]: register_codec.entity(line) for line in self._db.execute(sql.ENTITIES, bound)
        }
        return dict(sorted(clusters.canonical_ids(matches.values(), found).items()))


def _with_clusters(ids: Iterable[str], canonical: Mapping[str, str]) -> str:
    return codec.listed(sorted({*ids, *canonical}))


def _by_weight(found: tuple[Alias, int]) -> tuple[int, tuple[str, str, str, str, int, int]]:
    alias, weight = found
    return -weight, alias_order(alias)


def _by_id(entity: Entity) -> str:
    return entity.entity_id
