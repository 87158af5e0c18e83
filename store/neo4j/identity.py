"""What the register knows about mentions: one `Lookup` in, one `Known` out.

One round trip by names, identifiers and ids: the server walks their clusters two steps wide, and
a longer chain of judgements costs a further one. What it sends holds for every tx, what was
closed included, so a `Register` keeps it: what a reader has met is never asked for again.
Clusters are computed from the judgements open at the tx asked for. Blocking weights are
integers computed outside the server, so both stores agree.

Sources: neo4j 6; resolution 2 and 6; settled 9.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...resolution import clusters
from ...resolution.known import Known, Lookup, alias_order, identifier_order, worth_it
from ...resolution.postings import hit_weight
from ...schema.entity import AUDIT, SUGGESTION, Alias, Entity, Identifier, Judgement
from ...schema.vocabulary import JudgementVerdict, ReviewState
from . import register_codec as codec
from .calls import Calls
from .cypher import identity as cypher
from .cypher import register

Names = tuple[Lookup, Sequence[str]]
"""What is looked up, and the scopes whose aliases are visible."""
_Held = Mapping[str, Any]
_ALL_NORMS = 2**31 - 1


@dataclass(frozen=True, slots=True)
class _Facts:
    """An entity with all that ever identified and judged it, as stored."""

    entity: Entity
    identifiers: Sequence[_Held]
    judgements: Sequence[_Held]
    cases: Sequence[_Held]

    def case(self, tx_us: int) -> clusters.Waited | None:
        """Return how its blocking case stood at a tx."""
        known = [held for held in self.cases if _decided(held) <= tx_us and _blocks(held)]
        held = max(known, key=lambda one: int(one["version"]), default=None)
        if held is None:
            return None
        return clusters.Waited(ReviewState(held["state"]), held["decided_entity"] is not None)

    def matches(self, tx_us: int) -> set[str]:
        """Return the entities that were one with it at a tx."""
        return {
            end
            for held in self.judgements
            if _open(held, tx_us) and held["verdict"] == JudgementVerdict.MATCH.value
            for end in (held["left_id"], held["right_id"])
        }


@dataclass(frozen=True, slots=True)
class _Met:
    """The names that a reader was opened with, and what they ever meant."""

    norms: frozenset[str]
    identifiers: frozenset[tuple[str, str]]
    scopes: frozenset[str]
    aliases: Sequence[_Held]
    pairs: Sequence[_Held]

    def answers(self, lookup: Lookup, scopes: Sequence[str]) -> bool:
        """Tell whether a look-up asks for no more than these names."""
        return self.identifiers.issuperset(lookup.identifiers) and (
            not lookup.norms
            or (self.norms.issuperset(lookup.norms) and self.scopes.issuperset(scopes))
        )


class Register:
    """The look-ups of one reader or one step of a writer."""

    def __init__(self, calls: Calls, last_us: int) -> None:
        self._calls = calls
        self._last_us = last_us
        self._facts: dict[str, _Facts | None] = {}
        self._met: _Met | None = None

    # --- what is learned

    def meet(self, lookup: Lookup, scopes: Sequence[str], record: _Held) -> None:
        """Keep what a statement says about names."""
        self._met = _Met(
            norms=frozenset(lookup.norms),
            identifiers=frozenset(lookup.identifiers),
            scopes=frozenset(scopes),
            aliases=record["aliases"],
            pairs=record["identifiers"],
        )
        self.learn(lookup.entity_ids, record["entities"])

    def learn(self, asked: Iterable[str], wholes: Iterable[Sequence[Any]]) -> None:
        """Keep entities; those that were asked for and did not come are not there."""
        for entity, identifiers, judgements, cases in wholes:
            facts = _Facts(codec.entity(entity), identifiers, judgements, cases)
            self._facts[entity["entity_id"]] = facts
        for entity_id in asked:
            self._facts.setdefault(entity_id, None)

    # --- what is asked

    def known(self, lookup: Lookup, scopes: Sequence[str], tx_us: int) -> Known:
        """Return what is known of a look-up as of a tx."""
        (answer,) = self.known_each([(lookup, scopes)], tx_us)
        return answer

    def known_each(self, asked: Sequence[Names], tx_us: int) -> list[Known]:
        """Return what is known of each look-up, in as many round trips as of one."""
        named = [self._named(lookup, scopes, tx_us) for lookup, scopes in asked]
        blocked = self._blocked(asked, tx_us)
        ids = [
            {*lookup.entity_ids, *owners, *(alias.entity_id for alias, _ in near)}
            for (lookup, _), (_, owners), near in zip(asked, named, blocked, strict=True)
        ]
        self._fetch({one for some in ids for one in some}, tx_us)
        return [
            self._whole(ids[place], tx_us, aliases=named[place][0], blocked=blocked[place])
            for place in range(len(asked))
        ]

    def entities(self, entity_ids: Sequence[str], tx_us: int) -> Known:
        """Return entities with their clusters and all that names them."""
        self._fetch(set(entity_ids), tx_us)
        whole = self._whole(set(entity_ids), tx_us, aliases=(), blocked=())
        return Known(
            identifiers=whole.identifiers,
            aliases=self._own({*entity_ids, *whole.entities}, tx_us),
            weights={},
            entities=whole.entities,
            judgements=whole.judgements,
            canonical=whole.canonical,
        )

    def names_of(
        self, entity_ids: Sequence[str], scopes: Sequence[str], tx_us: int
    ) -> tuple[Alias, ...]:
        """Return the aliases that raw entities have in these scopes, in their order."""
        return tuple(a for a in self._own(set(entity_ids), tx_us) if a.scope_id in scopes)

    def _own(self, entity_ids: set[str], tx_us: int) -> tuple[Alias, ...]:
        asked = sorted(entity_ids)
        records = self._calls.rows(cypher.OWN_ALIASES, entity_ids=asked, tx=tx_us)
        own = {codec.alias(record["alias"], tx_us) for record in records}
        return tuple(sorted(own, key=alias_order))

    def _named(
        self, lookup: Lookup, scopes: Sequence[str], tx_us: int
    ) -> tuple[list[Alias], set[str]]:
        """Return the aliases of a look-up, and the owners of these and of its identifiers."""
        if not (lookup.norms or lookup.identifiers):
            return [], set()
        met = self._met
        if met is None or not met.answers(lookup, scopes):
            (record,) = self._calls.rows(cypher.KNOWN, **names_asked(lookup, scopes))
            self.meet(lookup, scopes, record)
            met = self._met
            assert met is not None  # it was met just now
        norms, pairs, visible = set(lookup.norms), set(lookup.identifiers), set(scopes)
        aliases = [
            codec.alias(held, tx_us)
            for held in met.aliases
            if held["norm"] in norms and held["scope_id"] in visible and _open(held, tx_us)
        ]
        owners = {
            str(held["entity_id"])
            for held in met.pairs
            if (held["scheme"], held["value"]) in pairs and _open(held, tx_us)
        }
        return aliases, owners | {alias.entity_id for alias in aliases}

    def _blocked(self, asked: Sequence[Names], tx_us: int) -> list[list[tuple[Alias, int]]]:
        """Return what blocking keys propose for each look-up."""
        found: list[list[tuple[Alias, int]]] = [[] for _ in asked]
        weighed = self._weighed(asked)
        if not weighed:
            return found
        limit = max(lookup.limit for lookup, _ in asked)
        by_place = self._proposed(weighed, tx_us, most=limit, norms=limit)
        # where many of the heaviest names are closed or out of sight the lighter ones move up
        scarce = [one for one in weighed if _scarce(by_place.get(one["place"], []), limit)]
        if scarce:
            by_place.update(self._proposed(scarce, tx_us, most=limit, norms=_ALL_NORMS))
        for place, records in by_place.items():
            lookup = asked[place][0]
            near = [(codec.alias(r["alias"], tx_us), int(r["weight"])) for r in records]
            cut = near[: lookup.limit]
            wanted = worth_it([(alias.surface, alias.norm) for alias, _ in cut], lookup)
            found[place] = [pair for pair in cut if pair[0].norm in wanted]
        return found

    def _weighed(self, asked: Sequence[Names]) -> list[dict[str, Any]]:
        """Return the look-ups by blocking keys that weigh anything, by place."""
        keys = sorted({key for lookup, _ in asked for key, _ in lookup.block_keys})
        counts: dict[str, tuple[str, int, int]] = {
            str(r["key"]): (str(r["kind"]), int(r["postings"]), int(r["total"]))
            for r in (self._calls.rows(register.BLOCK_COUNTS, keys=keys) if keys else [])
        }
        return [
            {"place": place, "scopes": list(dict.fromkeys(scopes)), "weights": held}
            for place, (lookup, scopes) in enumerate(asked)
            if (held := _weights_of(lookup, counts))
        ]

    def _proposed(
        self, weighed: Sequence[dict[str, Any]], tx_us: int, *, most: int, norms: int
    ) -> dict[int, list[_Held]]:
        by_place: dict[int, list[_Held]] = {}
        bound = {"asked": list(weighed), "tx": tx_us, "most": most, "most_norms": norms}
        for record in self._calls.rows(cypher.BLOCK_MATCHES, **bound):
            by_place.setdefault(int(record["place"]), []).append(record)
        return by_place

    def _fetch(self, ids: set[str], tx_us: int) -> None:
        """Have the facts of these entities and of their clusters at a tx."""
        while missing := sorted(self._missing(ids, tx_us)):
            asked = names_asked(Lookup(entity_ids=tuple(missing)), ())
            (record,) = self._calls.rows(cypher.KNOWN, **asked)
            self.learn(missing, record["entities"])

    def _missing(self, ids: set[str], tx_us: int) -> set[str]:
        return {one for one in self._cluster(ids, tx_us) if one not in self._facts}

    def _cluster(self, ids: set[str], tx_us: int) -> set[str]:
        """Return entities with all that was one with them at a tx, as far as is known."""
        seen, edge = set(ids), set(ids)
        while edge:
            facts = [found for one in edge if (found := self._at(one, tx_us))]
            edge = {end for found in facts for end in found.matches(tx_us)} - seen
            seen |= edge
        return seen

    def _at(self, entity_id: str, tx_us: int) -> _Facts | None:
        found = self._facts.get(entity_id)
        return found if found is not None and found.entity.tx_start <= tx_us else None

    def _whole(
        self,
        ids: set[str],
        tx_us: int,
        *,
        aliases: Iterable[Alias],
        blocked: Sequence[tuple[Alias, int]],
    ) -> Known:
        found = {
            one: facts
            for one in sorted(self._cluster(ids, tx_us))
            if (facts := self._at(one, tx_us))
        }
        judged = _judged(found.values(), tx_us)
        matches = [j for j in judged if j.verdict is JudgementVerdict.MATCH]
        entities = {one: facts.entity for one, facts in found.items()}
        canonical = dict(sorted(clusters.canonical_ids(matches, entities).items()))
        if tx_us < self._last_us:
            cases = {one: case for one, facts in found.items() if (case := facts.case(tx_us))}
            entities = clusters.believed(entities, canonical, cases)
        return Known(
            identifiers=_identified(found.values(), tx_us),
            aliases=tuple(sorted({*aliases, *(a for a, _ in blocked)}, key=alias_order)),
            weights=_weights(blocked),
            entities=entities,
            judgements=tuple(j for j in judged if {j.left_id, j.right_id} <= entities.keys()),
            canonical=canonical,
        )


def names_asked(lookup: Lookup, scopes: Sequence[str]) -> dict[str, Any]:
    """Return a look-up of names as a statement takes it."""
    return {
        "norms": list(lookup.norms),
        "scopes": list(dict.fromkeys(scopes)),
        "identifiers": [list(pair) for pair in lookup.identifiers],
        "entity_ids": list(lookup.entity_ids),
    }


def _decided(held: _Held) -> int:
    decided = held["decided_tx"]
    return int(held["opened_tx"] if decided is None else decided)


def _blocks(held: _Held) -> bool:
    return held["reason"] not in (SUGGESTION, AUDIT)


def _open(held: _Held, tx_us: int) -> bool:
    return bool(held["tx_start"] <= tx_us < held["tx_end"])


def _identified(found: Iterable[_Facts], tx_us: int) -> tuple[Identifier, ...]:
    held = {
        codec.identifier(one, tx_us)
        for facts in found
        for one in facts.identifiers
        if _open(one, tx_us)
    }
    return tuple(sorted(held, key=identifier_order))


def _judged(found: Iterable[_Facts], tx_us: int) -> list[Judgement]:
    held = {
        one["judgement_id"]: one for facts in found for one in facts.judgements if _open(one, tx_us)
    }
    return [codec.judgement(held[one], tx_us) for one in sorted(held)]


def _weights(blocked: Iterable[tuple[Alias, int]]) -> dict[tuple[str, str], int]:
    weights: dict[tuple[str, str], int] = {}
    for alias, weight in blocked:
        key = alias.entity_id, alias.norm
        weights[key] = max(weight, weights.get(key, 0))
    return weights


def _weights_of(
    lookup: Lookup, counts: Mapping[str, tuple[str, int, int]]
) -> list[list[str | int]]:
    """Return the keys that weigh anything, with their weights."""
    found: list[list[str | int]] = []
    for key, asked in lookup.block_keys:
        if key in counts:
            kind, postings, total = counts[key]
            weight = hit_weight(kind, asked, postings=postings, total=total)
            if weight is not None:
                found.append([key, weight])
    return found


def _scarce(records: Sequence[_Held], limit: int) -> bool:
    return len(records) < limit and (not records or records[0]["total"] > limit)
