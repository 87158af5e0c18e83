"""The register and the queues: properties of nodes to records and back.

An alias and an identifier carry a key that is unique while they are open; closing moves the
key out of the way, so that a successor can take it. The candidates of a review are JSON, with
their entity ids beside them, so that an erasure can find an entity among them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from ...schema.entity import Alias, Entity, Identifier, Judgement, Review
from ...schema.interval import INF_US, Interval
from ...schema.values import canonical_json
from ...schema.vocabulary import ActionKind, EntityState, JudgedBy, JudgementVerdict, ReviewState
from ..port.receipts import candidates_json, candidates_of
from ..port.store import ActionRecord, StoredReceipt
from .codec import Properties, known_end


def entity(held: Mapping[str, Any]) -> Entity:
    """Return an entry of the register."""
    return Entity(
        entity_id=held["entity_id"],
        name=held["name"],
        type=held["type"],
        state=EntityState(held["state"]),
        scope_id=held["scope_id"],
        tx_start=held["tx_start"],
        created_by=held["created_by"],
        recorded=held["recorded"],
    )


def entity_row(stated: Entity, n: int) -> Properties:
    """Return what creates or updates an entity."""
    return asdict(stated) | {"n": n, "state": stated.state.value}


def alias_key(stated: Alias) -> str:
    """Return the key that only one open alias has."""
    return canonical_json(
        [stated.norm, stated.scope_id, stated.type, stated.ordinal, stated.valid_from]
    )


def closed_key(key: str, entity_id: str, tx_start: int, tx_end: int) -> str:
    """Return the key of something that is closed."""
    return f"{key}@{tx_end}/{tx_start}/{entity_id}"


def alias(held: Mapping[str, Any], tx_us: int = INF_US) -> Alias:
    """Return an alias as known at a tx."""
    return Alias(
        entity_id=held["entity_id"],
        surface=held["surface"],
        norm=held["norm"],
        type=held["type"],
        scope_id=held["scope_id"],
        ordinal=held["ordinal"],
        valid_from=held["valid_from"],
        valid_until=held["valid_until"],
        tx_start=held["tx_start"],
        tx_end=known_end(held["tx_end"], tx_us),
        object_id=held["object_id"],
        merge_id=held.get("merge_id"),
    )


def alias_row(stated: Alias, n: int) -> Properties:
    """Return what creates an alias."""
    key = alias_key(stated)
    if stated.tx_end != INF_US:
        key = closed_key(key, stated.entity_id, stated.tx_start, stated.tx_end)
    return {"alias_key": key, "props": asdict(stated) | {"n": n}}


def alias_closing(stated: Alias, tx: int) -> Properties:
    """Return what closes an alias."""
    key = alias_key(stated)
    return {
        "alias_key": key,
        "entity_id": stated.entity_id,
        "tx": tx,
        "closed_key": closed_key(key, stated.entity_id, stated.tx_start, tx),
    }


def identifier(held: Mapping[str, Any], tx_us: int = INF_US) -> Identifier:
    """Return an identifier as known at a tx."""
    return Identifier(
        entity_id=held["entity_id"],
        scheme=held["scheme"],
        value=held["value"],
        tx_start=held["tx_start"],
        tx_end=known_end(held["tx_end"], tx_us),
    )


def identifier_row(stated: Identifier, n: int) -> Properties:
    """Return what creates an identifier."""
    key = canonical_json([stated.scheme, stated.value, stated.entity_id])
    if stated.tx_end != INF_US:
        key = closed_key(key, stated.entity_id, stated.tx_start, stated.tx_end)
    return asdict(stated) | {"n": n, "identifier_key": key}


def judgement(held: Mapping[str, Any], tx_us: int = INF_US) -> Judgement:
    """Return a judgement as known at a tx."""
    return Judgement(
        judgement_id=held["judgement_id"],
        merge_id=held.get("merge_id"),
        left_id=held["left_id"],
        right_id=held["right_id"],
        verdict=JudgementVerdict(held["verdict"]),
        judged_by=JudgedBy(held["judged_by"]),
        actor=held["actor"],
        score=held.get("score"),
        log_odds=held.get("log_odds"),
        evidence=held["evidence"],
        model_version=held["model_version"],
        reason=held["reason"],
        tx_start=held["tx_start"],
        tx_end=known_end(held["tx_end"], tx_us),
    )


def judgement_row(stated: Judgement) -> Properties:
    """Return what creates a judgement."""
    return asdict(stated) | {
        "verdict": stated.verdict.value,
        "judged_by": stated.judged_by.value,
    }


def review(held: Mapping[str, Any]) -> Review:
    """Return a review case."""
    return Review(
        review_id=held["review_id"],
        entity_id=held["entity_id"],
        mention=held["mention"],
        type=held["type"],
        scope_id=held["scope_id"],
        candidates=candidates_of(held["candidates"]),
        reason=held["reason"],
        object_id=held["object_id"],
        state=ReviewState(held["state"]),
        version=held["version"],
        opened_tx=held["opened_tx"],
        decided_tx=held.get("decided_tx"),
        decided_by=held.get("decided_by"),
        decided_entity=held.get("decided_entity"),
        merge_id=held.get("merge_id"),
        note=held["note"],
    )


def review_row(stated: Review) -> Properties:
    """Return what creates a version of a review case."""
    return {
        "review_id": stated.review_id,
        "entity_id": stated.entity_id,
        "mention": stated.mention,
        "type": stated.type,
        "scope_id": stated.scope_id,
        "candidates": candidates_json(stated.candidates),
        "candidate_ids": [one.entity for one in stated.candidates],
        "reason": stated.reason,
        "object_id": stated.object_id,
        "state": stated.state.value,
        "version": stated.version,
        "opened_tx": stated.opened_tx,
        "decided_tx": stated.decided_tx,
        "decided_by": stated.decided_by,
        "decided_entity": stated.decided_entity,
        "merge_id": stated.merge_id,
        "note": stated.note,
    }


def action(held: Mapping[str, Any], tx_us: int = INF_US) -> ActionRecord:
    """Return an entry of the resolver queue as known at a tx."""
    later = held["tx_end"] > tx_us
    return ActionRecord(
        action_id=held["action_id"],
        kind=ActionKind(held["kind"]),
        object_id=held["object_id"],
        slot_key=held.get("slot_key"),
        interval=Interval(held["valid_from"], held["valid_until"]),
        members=tuple(held["members"]),
        detail=held["detail"],
        tx_start=held["tx_start"],
        tx_end=known_end(held["tx_end"], tx_us),
        outcome="" if later else held["outcome"],
        closed_by="" if later else held["closed_by"],
    )


def action_row(stated: ActionRecord) -> Properties:
    """Return what creates an entry of the resolver queue."""
    return {
        "action_id": stated.action_id,
        "kind": stated.kind.value,
        "object_id": stated.object_id,
        "slot_key": stated.slot_key,
        "valid_from": stated.interval.start_us,
        "valid_until": stated.interval.end_us,
        "members": list(stated.members),
        "detail": stated.detail,
        "tx_start": stated.tx_start,
        "tx_end": stated.tx_end,
        "outcome": stated.outcome,
        "closed_by": stated.closed_by,
    }


def receipt(held: Mapping[str, Any]) -> StoredReceipt:
    """Return a stored receipt."""
    return StoredReceipt(
        object_id=held["object_id"],
        tx=held["tx"],
        body=held["body"],
        idempotency_key=held.get("idempotency_key"),
        fingerprint=held["fingerprint"],
    )


def receipt_row(stated: StoredReceipt, n: int) -> Properties:
    """Return what creates a receipt."""
    return {
        "n": n,
        "object_id": stated.object_id,
        "tx": stated.tx,
        "body": stated.body,
        "idempotency_key": stated.idempotency_key,
        "fingerprint": stated.fingerprint,
    }
