"""What the register knows about mentions: one `Lookup` in, one `Known` out.

Two round trips where nothing is merged: the names, then the entities with all that identifies
and judges them. Clusters are computed from the judgements open at the tx asked for, so every tx
is answered alike; a cluster costs a round trip for each step of its diameter. Blocking weights
are integers computed outside the server, so both stores agree.

Sources: neo4j 6; resolution 2 and 6; settled 9.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from ...resolution import clusters
from ...resolution.known import Known, Lookup, alias_order, identifier_order, worth_it
from ...resolution.postings import hit_weight
from ...schema.entity import Alias, Entity, Identifier, Judgement
from ...schema.vocabulary import JudgementVerdict
from . import register_codec as codec
from . import register_statements as cypher
from .calls import Calls

_ALL_NORMS = 2**31 - 1


@dataclass(slots=True)
class _Found:
    """Entities met so far, with what identifies and judges them."""

    entities: dict[str, Entity] = field(default_factory=dict[str, Entity])
    identifiers: set[Identifier] = field(default_factory=set[Identifier])
    judgements: dict[str, Judgement] = field(default_factory=dict[str, Judgement])

    def matches(self) -> list[Judgement]:
        """Return the judgements that make two entities one."""
        return [j for j in self.judgements.values() if j.verdict is JudgementVerdict.MATCH]


def known(calls: Calls, lookup: Lookup, scopes: Sequence[str], tx_us: int) -> Known:
    """Return what is known of a lookup as of a tx."""
    ids = set(lookup.entity_ids)
    aliases: list[Alias] = []
    weights: dict[tuple[str, str], int] = {}
    if lookup.norms or lookup.identifiers:
        named, owners = _named(calls, lookup, scopes, tx_us)
        aliases += named
        ids |= owners
    if lookup.block_keys:
        for alias, weight in worth_it(_blocked(calls, lookup, scopes, tx_us), lookup):
            aliases.append(alias)
            key = alias.entity_id, alias.norm
            weights[key] = max(weight, weights.get(key, 0))
    ids |= {alias.entity_id for alias in aliases}
    return _whole(calls, ids, tx_us, aliases=aliases, weights=weights)


def entities(calls: Calls, entity_ids: Sequence[str], tx_us: int) -> Known:
    """Return entities with their clusters and all that names them."""
    whole = _whole(calls, set(entity_ids), tx_us, aliases=(), weights={})
    ids = sorted({*entity_ids, *whole.entities})
    asked = {"norms": [], "scopes": [], "identifiers": [], "entity_ids": ids, "tx": tx_us}
    (record,) = calls.rows(cypher.NAMED, **asked)
    own = {codec.alias(held, tx_us) for held in record["own"]}
    return Known(
        identifiers=whole.identifiers,
        aliases=tuple(sorted(own, key=alias_order)),
        weights={},
        entities=whole.entities,
        judgements=whole.judgements,
        canonical=whole.canonical,
    )


def _named(
    calls: Calls, lookup: Lookup, scopes: Sequence[str], tx_us: int
) -> tuple[list[Alias], set[str]]:
    (record,) = calls.rows(
        cypher.NAMED,
        norms=list(lookup.norms),
        scopes=list(dict.fromkeys(scopes)),
        identifiers=[list(pair) for pair in lookup.identifiers],
        entity_ids=[],
        tx=tx_us,
    )
    return [codec.alias(held, tx_us) for held in record["aliases"]], set(record["owners"])


def _blocked(
    calls: Calls, lookup: Lookup, scopes: Sequence[str], tx_us: int
) -> list[tuple[Alias, int]]:
    asked = dict(lookup.block_keys)
    counts = calls.rows(cypher.BLOCK_COUNTS, keys=sorted(asked))
    weighed = [
        [key, weight]
        for key, kind, postings, total in (record.values() for record in counts)
        if (weight := hit_weight(kind, asked[key], postings=postings, total=total)) is not None
    ]
    if not weighed:
        return []
    bound = {"weights": weighed, "scopes": list(dict.fromkeys(scopes)), "tx": tx_us}
    records = calls.rows(cypher.BLOCKED, most=lookup.limit, norms=lookup.limit, **bound)
    if len(records) < lookup.limit and (not records or records[0]["total"] > lookup.limit):
        # many of the heaviest names are closed or out of sight: the lighter ones move up
        records = calls.rows(cypher.BLOCKED, most=lookup.limit, norms=_ALL_NORMS, **bound)
    return [(codec.alias(record["alias"], tx_us), record["weight"]) for record in records]


def _whole(
    calls: Calls,
    ids: set[str],
    tx_us: int,
    *,
    aliases: Iterable[Alias],
    weights: Mapping[tuple[str, str], int],
) -> Known:
    found = _Found()
    edge = ids
    while edge:
        _fetch(calls, edge, tx_us, found)
        ends = {end for j in found.matches() for end in (j.left_id, j.right_id)}
        edge = ends - found.entities.keys() - edge
    judgements = sorted(found.judgements.values(), key=lambda j: j.judgement_id)
    return Known(
        identifiers=tuple(sorted(found.identifiers, key=identifier_order)),
        aliases=tuple(sorted(set(aliases), key=alias_order)),
        weights=weights,
        entities=dict(sorted(found.entities.items())),
        judgements=tuple(
            j for j in judgements if j.left_id in found.entities and j.right_id in found.entities
        ),
        canonical=dict(sorted(clusters.canonical_ids(found.matches(), found.entities).items())),
    )


def _fetch(calls: Calls, ids: set[str], tx_us: int, found: _Found) -> None:
    for record in calls.rows(cypher.WHOLE, entity_ids=sorted(ids), tx=tx_us):
        entity = codec.entity(record["entity"])
        found.entities[entity.entity_id] = entity
        found.identifiers |= {codec.identifier(held, tx_us) for held in record["identifiers"]}
        for held in record["judgements"]:
            judgement = codec.judgement(held, tx_us)
            found.judgements[judgement.judgement_id] = judgement
