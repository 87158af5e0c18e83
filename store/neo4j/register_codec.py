"""The register and the queues: properties of nodes to records and back.

An alias and an identifier carry a key that is unique while they are open; closing moves the
key out of the way, so that a successor can take it. The candidates of a review are JSON, with
their entity ids beside them, so that an erasure can find an entity among them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, Final

from ...resolution.known import Restriction, Teacher
from ...resolution.names import NameRow
from ...resolution.register import taught_level
from ...schema.claim import EVERYONE, Permissions
from ...schema.entity import Alias, Entity, Identifier, Judgement, Review
from ...schema.interval import INF_US, Interval
from ...schema.principal import TENANT_SCOPE
from ...schema.values import canonical_json
from ...schema.vocabulary import (
    ActionKind,
    Authority,
    EntityState,
    JudgedBy,
    JudgementVerdict,
    ReviewState,
)
from ..port.receipts import candidates_json, candidates_of
from ..port.store import ActionRecord, StoredReceipt
from .codec import Properties, known_end, permissions

_OF_RECORD: Final = "system_of_record"


def entity(properties: Mapping[str, Any]) -> Entity:
    """An entry of the register."""
    return Entity(
        entity_id=properties["entity_id"],
        name=properties["name"],
        type=properties["type"],
        state=EntityState(properties["state"]),
        scope_id=properties["scope_id"],
        tx_start=properties["tx_start"],
        created_by=properties["created_by"],
        recorded=properties["recorded"],
    )


def entity_row(entity: Entity, n: int) -> Properties:
    """What creates or updates an entity."""
    return asdict(entity) | {"n": n, "state": entity.state.value}


def alias_key(alias: Alias) -> str:
    """The key that only one open alias has."""
    return canonical_json([alias.norm, alias.scope_id, alias.type, alias.ordinal, alias.valid_from])


def closed_key(key: str, entity_id: str, tx_start: int, tx_end: int) -> str:
    """The key of something that is closed."""
    return f"{key}@{tx_end}/{tx_start}/{entity_id}"


def alias(properties: Mapping[str, Any], tx_us: int = INF_US) -> Alias:
    """An alias as known at a tx."""
    return Alias(
        entity_id=properties["entity_id"],
        surface=properties["surface"],
        norm=properties["norm"],
        type=properties["type"],
        scope_id=properties["scope_id"],
        ordinal=properties["ordinal"],
        valid_from=properties["valid_from"],
        valid_until=properties["valid_until"],
        tx_start=properties["tx_start"],
        tx_end=known_end(properties["tx_end"], tx_us),
        object_id=properties["object_id"],
        merge_id=properties.get("merge_id"),
    )


def name_row(properties: Mapping[str, Any], teacher: Mapping[str, Any] | None) -> NameRow:
    """A name, with the level and the permissions of the claim that taught it."""
    return NameRow(
        entity_id=properties["entity_id"],
        surface=properties["surface"],
        scope_id=properties["scope_id"],
        tx_start=properties["tx_start"],
        object_id=properties["object_id"],
        level=taught_level_of(teacher),
        is_live=teacher is None or bool(teacher["is_live"]),
        permissions=Permissions() if teacher is None else permissions(teacher),
    )


def taught_level_of(teacher: Mapping[str, Any] | None) -> int:
    """The level of a name by its teacher."""
    if teacher is None:
        return taught_level(None, None)
    return taught_level(teacher["authority_level"], teacher["quarantine"])


def alias_row(alias: Alias, n: int) -> Properties:
    """What creates an alias."""
    key = alias_key(alias)
    if alias.tx_end != INF_US:
        key = closed_key(key, alias.entity_id, alias.tx_start, alias.tx_end)
    return {"alias_key": key, "props": asdict(alias) | {"n": n}}


def alias_closing(alias: Alias, tx: int) -> Properties:
    """What closes an alias."""
    key = alias_key(alias)
    return {
        "alias_key": key,
        "entity_id": alias.entity_id,
        "tx": tx,
        "closed_key": closed_key(key, alias.entity_id, alias.tx_start, tx),
    }


def identifier(properties: Mapping[str, Any], tx_us: int = INF_US) -> Identifier:
    """An identifier as known at a tx."""
    return Identifier(
        entity_id=properties["entity_id"],
        scheme=properties["scheme"],
        value=properties["value"],
        tx_start=properties["tx_start"],
        tx_end=known_end(properties["tx_end"], tx_us),
        scope_id=identifier_scope(properties),
        object_id=properties["object_id"] or "",
    )


def identifier_scope(properties: Mapping[str, Any]) -> str:
    """Where an identifier is known; one of an older tenure in the whole tenant."""
    return str(properties["scope_id"] or TENANT_SCOPE.scope_id)


def identifier_teacher(teacher: Mapping[str, Any]) -> Teacher:
    """Who stated an identifier."""
    vouches = teacher["directs"] or teacher["authority_level"] <= Authority.DEVELOPER
    return Teacher(teacher["actor"], bool(vouches) or teacher["source_kind"] == _OF_RECORD)


def restriction(teacher: Mapping[str, Any] | None) -> Restriction | None:
    """Who may know what a claim has taught, None where its whole scope may."""
    if teacher is None:
        return None
    readers = permissions(teacher)
    return None if readers == EVERYONE else Restriction(readers, teacher["actor"])


def identifier_row(identifier: Identifier, n: int) -> Properties:
    """What creates an identifier."""
    teacher = identifier.scope_id, identifier.object_id
    key = canonical_json([identifier.scheme, identifier.value, identifier.entity_id, *teacher])
    if identifier.tx_end != INF_US:
        key = closed_key(key, identifier.entity_id, identifier.tx_start, identifier.tx_end)
    return asdict(identifier) | {"n": n, "identifier_key": key}


def judgement(properties: Mapping[str, Any], tx_us: int = INF_US) -> Judgement:
    """A judgement as known at a tx."""
    return Judgement(
        judgement_id=properties["judgement_id"],
        merge_id=properties.get("merge_id"),
        left_id=properties["left_id"],
        right_id=properties["right_id"],
        verdict=JudgementVerdict(properties["verdict"]),
        judged_by=JudgedBy(properties["judged_by"]),
        actor=properties["actor"],
        score=properties.get("score"),
        log_odds=properties.get("log_odds"),
        evidence=properties["evidence"],
        model_version=properties["model_version"],
        reason=properties["reason"],
        tx_start=properties["tx_start"],
        tx_end=known_end(properties["tx_end"], tx_us),
    )


def judgement_row(judgement: Judgement) -> Properties:
    """What creates a judgement."""
    return asdict(judgement) | {
        "verdict": judgement.verdict.value,
        "judged_by": judgement.judged_by.value,
    }


def review(properties: Mapping[str, Any]) -> Review:
    """A review case."""
    return Review(
        review_id=properties["review_id"],
        entity_id=properties["entity_id"],
        mention=properties["mention"],
        type=properties["type"],
        scope_id=properties["scope_id"],
        candidates=candidates_of(properties["candidates"]),
        reason=properties["reason"],
        object_id=properties["object_id"],
        state=ReviewState(properties["state"]),
        version=properties["version"],
        opened_tx=properties["opened_tx"],
        decided_tx=properties.get("decided_tx"),
        decided_by=properties.get("decided_by"),
        decided_entity=properties.get("decided_entity"),
        merge_id=properties.get("merge_id"),
        note=properties["note"],
    )


def review_row(review: Review) -> Properties:
    """What creates a version of a review case."""
    return {
        "review_id": review.review_id,
        "entity_id": review.entity_id,
        "mention": review.mention,
        "type": review.type,
        "scope_id": review.scope_id,
        "candidates": candidates_json(review.candidates),
        "candidate_ids": [candidate.entity for candidate in review.candidates],
        "reason": review.reason,
        "object_id": review.object_id,
        "state": review.state.value,
        "version": review.version,
        "opened_tx": review.opened_tx,
        "decided_tx": review.decided_tx,
        "decided_by": review.decided_by,
        "decided_entity": review.decided_entity,
        "merge_id": review.merge_id,
        "note": review.note,
    }


def action(properties: Mapping[str, Any], tx_us: int = INF_US) -> ActionRecord:
    """An entry of the resolver queue as known at a tx."""
    later = properties["tx_end"] > tx_us
    return ActionRecord(
        action_id=properties["action_id"],
        kind=ActionKind(properties["kind"]),
        object_id=properties["object_id"],
        slot_key=properties.get("slot_key"),
        interval=Interval(properties["valid_from"], properties["valid_until"]),
        members=tuple(properties["members"]),
        detail=properties["detail"],
        tx_start=properties["tx_start"],
        tx_end=known_end(properties["tx_end"], tx_us),
        outcome="" if later else properties["outcome"],
        closed_by="" if later else properties["closed_by"],
    )


def action_row(action: ActionRecord) -> Properties:
    """What creates an entry of the resolver queue."""
    return {
        "action_id": action.action_id,
        "kind": action.kind.value,
        "object_id": action.object_id,
        "slot_key": action.slot_key,
        "valid_from": action.interval.start_us,
        "valid_until": action.interval.end_us,
        "members": list(action.members),
        "detail": action.detail,
        "tx_start": action.tx_start,
        "tx_end": action.tx_end,
        "outcome": action.outcome,
        "closed_by": action.closed_by,
    }


def receipt(properties: Mapping[str, Any]) -> StoredReceipt:
    """A stored receipt."""
    return StoredReceipt(
        object_id=properties["object_id"],
        tx=properties["tx"],
        body=properties["body"],
        idempotency_key=properties.get("idempotency_key"),
        fingerprint=properties["fingerprint"],
    )


def receipt_row(receipt: StoredReceipt, n: int) -> Properties:
    """What creates a receipt."""
    return {
        "n": n,
        "object_id": receipt.object_id,
        "tx": receipt.tx,
        "body": receipt.body,
        "idempotency_key": receipt.idempotency_key,
        "fingerprint": receipt.fingerprint,
    }
