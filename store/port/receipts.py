"""The receipt of a write, and its link in the audit chain. Pure.

A receipt is canonical JSON, because a retry must return what the first call returned. Its layout is
older than the record codec and must not change, since existing stores hold it: features and met
relations are arrays, and `replayed` and `dry_run`, which belong to the call, are left out.

Every stamped write carries the digest of the one before it. A digest covers ids, stamps and actors,
never contents, so the chain still verifies after an erasure. Changing, removing or reordering an
event breaks every later digest. Both stores keep the digests and the doctor recomputes them.
Checklist: C-292.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from operator import attrgetter
from typing import Any, Final, cast

from ...resolution import clusters
from ...resolution.keys import alias_key
from ...resolution.names import short_id
from ...schema.entity import EntityCandidate, Judgement
from ...schema.errors import Fault
from ...schema.record_json import Plain, from_plain
from ...schema.values import canonical_json, key_names, members_of, micros
from ...schema.vocabulary import Op
from ...schema.write import Receipt, RelationMet
from .records import Batch, Clock, TxEvent

_FEATURE = ("name", "score", "weight", "detail")
_FEATURE_ROW = attrgetter(*_FEATURE)
_RELATION = ("object_id", "relation", "verdict", "reason")
_RELATION_ROW = attrgetter(*_RELATION)

EXAMPLES: Final = 5
"""Examples named in a sentence of the doctor."""

GENESIS: Final = b""
"""What comes before the first event."""


def encode(receipt: Receipt) -> str:
    """A receipt in its stored form."""
    # Every write makes one, and most of its fields are texts, words of a list and tuples of
    # them, which JSON writes as they are: only the records inside are taken apart.
    plain = members_of(receipt)
    # Of the answer, not of the write: they are told again when a receipt is read back.
    del plain["replayed"], plain["dry_run"]

    plain["tx"] = micros(receipt.tx)
    plain["relations"] = [_relation_array(relation) for relation in receipt.relations]
    if receipt.resolution is not None:
        resolution = members_of(receipt.resolution)
        resolution["candidates"] = _candidate_objects(receipt.resolution.candidates)
        plain["resolution"] = resolution

    return canonical_json(plain)


def decode(body: str, *, replayed: bool = False) -> Receipt:
    """The receipt of a stored form.

    Raises:
        ValueError: The text is no receipt.
        Fault: `invariant_broken` when it has no stamp.
    """
    plain = json.loads(body)
    plain["relations"] = [_relation_object(relation) for relation in plain["relations"]]
    if plain["resolution"] is not None:
        _name_features(plain["resolution"]["candidates"])

    receipt: Receipt = from_plain(Receipt, {**plain, "replayed": replayed, "dry_run": False})

    return receipt


def candidates_json(candidates: tuple[EntityCandidate, ...]) -> str:
    """The candidates of a review in their stored form."""
    return canonical_json(_candidate_objects(candidates))


def candidates_of(text: str) -> tuple[EntityCandidate, ...]:
    """The candidates of a stored form.

    Raises:
        ValueError: The text holds no candidates.
    """
    plain = json.loads(text)
    _name_features(plain)
    candidates: tuple[EntityCandidate, ...] = from_plain(tuple[EntityCandidate, ...], plain)

    return candidates


def receipt_candidates(receipt: Receipt) -> tuple[EntityCandidate, ...]:
    """The entities that the subject of a write was compared with."""
    return () if receipt.resolution is None else receipt.resolution.candidates


def with_names(receipt: Receipt, names: Mapping[str, Collection[str]]) -> Receipt:
    """A receipt whose candidates are called as its reader may call them.

    Those that `names` leaves out stay. A name outside of them gives way to another of the entity,
    else to the head of its id; with it goes what the features quote of it.
    """
    if receipt.resolution is None:
        return receipt

    stored_candidates = receipt.resolution.candidates
    candidates = candidates_with_names(stored_candidates, names)
    # Nearly always everybody is called what they are called anyway.
    if candidates is stored_candidates:
        return receipt

    return replace(receipt, resolution=replace(receipt.resolution, candidates=candidates))


def candidates_with_names(
    stored_candidates: tuple[EntityCandidate, ...], names: Mapping[str, Collection[str]]
) -> tuple[EntityCandidate, ...]:
    """Candidates called as `with_names` calls them; themselves where nobody is called otherwise."""
    candidates: list[EntityCandidate] = []
    is_renamed = False
    for candidate in stored_candidates:
        visible = names.get(candidate.entity)
        if visible is not None and candidate.name not in visible:
            name = next(iter(visible), short_id(candidate.entity))
            features = tuple(replace(feature, detail="") for feature in candidate.features)
            candidate = replace(candidate, name=name, features=features)
            is_renamed = True
        candidates.append(candidate)

    return tuple(candidates) if is_renamed else stored_candidates


def without_candidates(body: str, entity_ids: Collection[str]) -> str:
    """The stored text of any receipt without those candidates: their names go, the answer stays."""
    return canonical_json(_without_entities(json.loads(body), frozenset(entity_ids)))


def _without_entities(value: Any, entity_ids: frozenset[str]) -> Any:
    if isinstance(value, dict):
        members = cast("dict[str, Any]", value)
        return {key: _without_entities(member, entity_ids) for key, member in members.items()}
    if not isinstance(value, list):
        return value

    members_before: list[Any] = value  # pyright: ignore[reportUnknownVariableType]
    items: list[Any] = []
    for item in members_before:
        # A candidate is told by its features: what else names an entity by id says no name.
        is_candidate = isinstance(item, dict) and "features" in item
        if not (is_candidate and item["entity"] in entity_ids):
            items.append(_without_entities(item, entity_ids))
    return items


def _relation_array(relation: RelationMet) -> list[Plain]:
    interval = relation.interval
    return [*_RELATION_ROW(relation), interval.start_us, interval.end_us]


def _relation_object(relation: list[Plain]) -> dict[str, Plain]:
    *texts, start_us, end_us = relation
    interval = {"start_us": start_us, "end_us": end_us}
    return {**dict(zip(_RELATION, texts, strict=True)), "interval": interval}


def _candidate_objects(candidates: Iterable[EntityCandidate]) -> list[Plain]:
    """Candidates with their features as arrays: some sixty a receipt, so not by the codec."""
    objects: list[Plain] = []
    for candidate in candidates:
        plain = members_of(candidate)
        plain["features"] = list(map(_FEATURE_ROW, candidate.features))
        objects.append(plain)
    return objects


def _name_features(candidates: list[dict[str, Any]]) -> None:
    for candidate in candidates:
        features = candidate["features"]
        candidate["features"] = [dict(zip(_FEATURE, row, strict=True)) for row in features]


def chain_digest(previous: bytes, event: TxEvent) -> bytes:
    """Return the SHA-256 digest of an event after the one before it.

    >>> first = TxEvent(seq=1, tx=5, actor="ann", op="assert", object_ids=("a",))
    >>> chain_digest(GENESIS, first).hex()[:8]
    '67668089'
    """
    body = [previous.hex(), event.seq, event.tx, event.actor, event.op, list(event.object_ids)]
    return hashlib.sha256(canonical_json(body).encode()).digest()


def value_problems(claims: Iterable[Sequence[str | None]]) -> Iterator[str]:
    """The doctor's sentences for claims whose value was changed outside the store.

    A claim is its object id, slot, verb, value key, value as JSON, and text. The value stands
    twice, as itself and as the key that it competes by; that of a text without a slot is the text.

    >>> list(value_problems([("a", None, "assert", "s:Hi", '"Hi"', "Hi"),
    ...                      ("b", "office", "assert", "n:1", "2", "")]))
    ['a value is not the one that its claim was written with: b']
    """
    sentence = "a value is not the one that its claim was written with"
    yield from examples(sentence, (str(claim[0]) for claim in claims if not _is_as_written(claim)))


def _is_as_written(claim: Sequence[str | None]) -> bool:
    _, slot, op, key, value_json, text = claim
    # A withdrawal says nothing of its own: it quotes what it takes back, or leaves it out.
    if op in (Op.RETRACT, Op.DELETE):
        return True
    is_own = key_names(key or "", value_json or "null")
    if slot is None and op == Op.ASSERT and (key or "").startswith("s:"):
        return is_own and key_names(key or "", canonical_json(text or ""))
    return is_own


def name_problems(names: Iterable[Sequence[str]]) -> Iterator[str]:
    """The doctor's sentence for entities whose names were changed outside the store.

    A name is its entity, its surface and its norm. It stands twice, as itself and as the norm that
    it is found by; whoever changes both leaves a norm with blocking keys that names nobody.

    >>> list(name_problems([("e1", "Sam Rivera", "sam rivera"), ("e2", "Bo", "ann")]))
    ['a name is not the one that its entity was taught: e2']
    """
    ids = (entity_id for entity_id, surface, norm in names if alias_key(surface) != norm)
    yield from examples("a name is not the one that its entity was taught", ids)


def examples(sentence: str, members: Iterable[object]) -> Iterator[str]:
    """The doctor's sentence with the first things that break it; none where nothing does."""
    offenders: dict[str, None] = {}
    for member in members:
        offenders[str(member)] = None
        if len(offenders) == EXAMPLES:
            break
    if offenders:
        yield f"{sentence}: {', '.join(offenders)}"


def log_faults(
    events: Iterable[tuple[TxEvent, bytes]],
    counters: tuple[int, int],
    clock_digest: bytes | None = None,
) -> Iterator[str]:
    """Yield a sentence for each break of the audit log, from its events in order.

    Behind a gap or a break every digest would differ: only the first is worth a sentence.
    """
    digest, count, last = GENESIS, 0, None
    for event, stored_digest in events:
        count += 1
        digest = chain_digest(digest, event)
        if event.seq != count:
            yield f"the log has a gap before event {event.seq}"
            return
        if digest != stored_digest:
            yield f"the audit chain breaks at event {event.seq}"
            return
        if last is not None and event.tx <= last:
            yield f"the stamp of event {event.seq} does not rise"
        last = event.tx

    seq, last_us = counters
    if seq != count or (last is not None and last_us != last):
        yield f"the counters say {seq} events until {last_us}, the log {count} until {last}"
    if clock_digest not in (None, digest):
        yield "the clock's digest is not the last event's"


def identity_faults(
    judgements: Iterable[Judgement], canonical: Iterable[tuple[str, str]]
) -> Iterator[str]:
    """Yield a sentence for each cluster of which judgements and canonical ids disagree."""
    judged_clusters = set(map(frozenset, clusters.components(list(judgements))))
    clusters_by_top: dict[str, set[str]] = {}
    for raw, top in canonical:
        clusters_by_top.setdefault(top, {top}).add(raw)
    stored_clusters = set(map(frozenset, clusters_by_top.values()))
    for members in sorted(map(sorted, judged_clusters ^ stored_clusters)):
        yield f"canonical ids disagree with the judgements about {', '.join(members)}"


def require(condition: bool, sentence: str) -> None:
    """Refuse a batch that contradicts what is stored.

    Raises:
        Fault: `invariant_broken`.
    """
    if not condition:
        raise Fault(f"a batch does not fit the store: {sentence}", code="invariant_broken")


def require_next(now: Clock, batch: Batch) -> None:
    """Refuse a batch that was planned on other counters than those under the lock.

    Raises:
        Fault: `invariant_broken`.
    """
    seq, last_us, next_vid, _ = now
    clock = batch.clock
    for event in batch.events:
        seq += 1
        require(event.seq == seq, "its events do not take the next sequence numbers")
        require(event.tx > last_us, "its stamps do not rise")
        last_us = event.tx
    require(clock.seq == seq, "its events do not take the next sequence numbers")
    require(clock.last_us == last_us, "its stamps do not rise")
    highest = max([row.vid for row in batch.rows], default=0)
    is_below = highest < clock.next_vid and clock.next_vid >= next_vid
    require(is_below, "a version number is not below the next one")
