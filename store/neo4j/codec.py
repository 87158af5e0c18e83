"""Facts to properties of nodes and back: no decision is made here.

Times are the integers of `Interval`; lists of text are lists; what is absent has no property.
A claim's node holds the whole assertion with today's permissions; a version's node holds only
what differs between the pieces of a claim. A claim that the caller may not see comes without
its content, so it is read veiled. A closing that the reader's tx cannot know reads as open.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final, NamedTuple

from ...schema.claim import (
    EMPTIED,
    Assertion,
    Claim,
    Content,
    Details,
    Edge,
    Look,
    MentionLink,
    Permissions,
    Row,
    Version,
)
from ...schema.interval import INF_US, Interval
from ...schema.layers import DecayRule
from ...schema.principal import EVERYONE, Scope
from ...schema.values import NOTHING
from ...schema.vocabulary import (
    Authority,
    Classification,
    EdgeKind,
    ObjectType,
    Op,
    RetirementRule,
    Sensitivity,
    StateLayer,
    Status,
)
from ..port.store import SlotRecord, Tombstone, TxEvent
from ..search.two_generation_cache import Halves

Properties = dict[str, Any]
"""The properties of a node or a relationship, or a row of a statement's list."""

HEAD: Final = 0
HIDDEN_DENIAL: Final = 1
HIDDEN: Final = 2
"""The values of `open` on an open version; closed and quarantined ones have none."""

_CLAIM_COLUMNS: Final[Sequence[str]] = (
    "object_id slot_key op valid_from valid_until since_us level source_authority confidence "
    "tx ordinal target quarantine scope_id slot subject_id authority_level source_origin "
    "source_kind object_type layer applicable_task_types sensitivity half_life_days "
    "minimum_threshold retirement_rule update_path derived_from origins planned actor "
    "resolved_via signature erased class_rank allow deny "
    "value_entity_id value_key value_json text normalized_claim why_it_matters "
    "behavioral_implication enforcement terms"
).split()
"""The order in which a read lists a claim; a veiled one ends before its value and content."""

_CLASSES = tuple(Classification)
_STANDING: Final = {
    ObjectType.POLICY_RULE,
    ObjectType.TOOL_SCHEMA,
    ObjectType.PREFERENCE,
    ObjectType.ACTIONABLE_CONSTRAINT,
    ObjectType.PROJECT_DECISION,
}


def tenant_token(tenant: str) -> str:
    """Return the word that marks a tenant's texts in an index."""
    return "t" + hashlib.sha256(tenant.encode()).hexdigest()[:24]


@lru_cache(maxsize=256)
def _look(status: str, reason: str, head: bool) -> Look:
    return Look(Status(status), reason, head)


@lru_cache(maxsize=4096)
def _scope(scope_id: str) -> Scope:
    return Scope.parse(scope_id)


def known_end(tx_end: int, tx_us: int) -> int:
    """Return a closing as a reader at a tx knows it."""
    return INF_US if tx_end > tx_us else tx_end


# --- writing


def claim_row(stated: Assertion, *, n: int, live: bool, token: str) -> Properties:
    """Return what creates a claim; `live` tells whether a head of it is open."""
    details = stated.details
    props = _claim_props(stated.claim) | _details_props(details) | permit(stated.permissions)
    props |= {"n": n, "quarantine": stated.quarantine}
    if stated.erased:
        props["erased"] = True
    else:
        props |= _content_props(stated, token)
    return {
        "object_id": stated.claim.object_id,
        "slot_key": stated.claim.slot_key,
        "props": props,
        "text": [1] if details.slot is None and details.subject_id else [],
        "live": [1] if live and not stated.erased else [],
        "standing": [1] if details.object_type in _STANDING else [],
        "decaying": [1] if details.decay_rule else [],
    }


def _claim_props(claim: Claim) -> Properties:
    return {
        "slot_key": claim.slot_key,
        "op": claim.op.value,
        "valid_from": claim.interval.start_us,
        "valid_until": claim.interval.end_us,
        "since_us": claim.since_us,
        "level": claim.level,
        "source_authority": claim.source_authority,
        "confidence": claim.confidence,
        "tx": claim.tx,
        "ordinal": claim.ordinal,
        "target": claim.target,
    }


def _details_props(details: Details) -> Properties:
    decay = details.decay_rule
    return {
        "scope_id": details.scope.scope_id,
        "slot": details.slot,
        "subject_id": details.subject_id,
        "value_entity_id": details.value_entity_id,
        "authority_level": int(details.authority_level),
        "source_origin": details.source_origin,
        "source_kind": details.source_kind,
        "object_type": details.object_type.value,
        "layer": details.layer.value,
        "applicable_task_types": list(details.applicable_task_types),
        "sensitivity": [word.value for word in details.sensitivity],
        "half_life_days": None if decay is None else decay.half_life_days,
        "minimum_threshold": None if decay is None else decay.minimum_threshold,
        "retirement_rule": details.retirement_rule.value,
        "update_path": details.update_path,
        "derived_from": list(details.derived_from),
        "origins": list(details.origins),
        "planned": details.planned,
        "actor": details.actor,
        "resolved_via": details.resolved_via,
    }


def _content_props(stated: Assertion, token: str) -> Properties:
    content = stated.content
    return {
        "value_key": stated.claim.value_key,
        "value_json": content.value_json,
        "text": content.text,
        "normalized_claim": content.normalized_claim,
        "why_it_matters": content.why_it_matters,
        "behavioral_implication": content.behavioral_implication,
        "enforcement": content.enforcement,
        "terms": content.terms,
        "tenant_tok": token,
    }


def permit(permissions: Permissions) -> Properties:
    """Return permissions as properties."""
    return {
        "class_rank": permissions.classification.rank,
        "allow": list(permissions.allow or (EVERYONE,)),
        "deny": list(permissions.deny),
    }


def version_row(row: Row) -> Properties:
    """Return what creates a version; slot, scope and entities come from its claim."""
    return {
        "vid": row.vid,
        "object_id": row.claim.object_id,
        "valid_from": row.interval.start_us,
        "valid_until": row.interval.end_us,
        "tx_start": row.tx_start,
        "tx_end": row.tx_end,
        "status": row.look.status.value,
        "reason": row.look.reason,
        "head": row.look.head,
        "deny": row.claim.op is Op.DENY,
        "open": openness(row),
        "continues": row.continues,
    }


def openness(row: Row) -> int | None:
    """Return the value of `open`, None for a closed or quarantined row."""
    if not row.live or row.look.status is Status.QUARANTINED:
        return None
    if row.look.head:
        return HEAD
    return HIDDEN_DENIAL if row.claim.op is Op.DENY else HIDDEN


def edge_row(stated: Edge, n: int) -> Properties:
    """Return what creates an edge."""
    return {
        "n": n,
        "src": stated.src,
        "dst": stated.dst,
        "valid_from": stated.interval.start_us,
        "valid_until": stated.interval.end_us,
        "reason": stated.reason,
        "relation": stated.relation,
        "tx": stated.tx,
        "merge_id": stated.merge_id,
    }


def slot_row(stated: SlotRecord, n: int) -> Properties:
    """Return what creates a slot; a slot of text has the empty name."""
    return {
        "n": n,
        "slot_key": stated.slot_key,
        "subject_id": stated.subject_id,
        "slot": stated.slot or "",
        "scope_id": stated.scope_id,
        "many": stated.many,
    }


# --- reading


def claim(held: Mapping[str, Any]) -> Claim:
    """Return a claim; one without content has no value."""
    return Claim(
        object_id=held["object_id"],
        slot_key=held["slot_key"],
        op=Op(held["op"]),
        value_key=held.get("value_key") or NOTHING,
        interval=Interval(held["valid_from"], held["valid_until"]),
        since_us=held["since_us"],
        level=held["level"],
        source_authority=held["source_authority"],
        confidence=held["confidence"],
        tx=held["tx"],
        ordinal=held["ordinal"],
        target=held.get("target"),
    )


def _details(held: Mapping[str, Any]) -> Details:
    return Details(
        scope=_scope(held["scope_id"]),
        slot=held.get("slot"),
        subject_id=held.get("subject_id"),
        value_entity_id=held.get("value_entity_id"),
        authority_level=Authority(held["authority_level"]),
        source_origin=held["source_origin"],
        source_kind=held["source_kind"],
        object_type=ObjectType(held["object_type"]),
        layer=StateLayer(held["layer"]),
        applicable_task_types=tuple(held["applicable_task_types"]),
        sensitivity=tuple(Sensitivity(word) for word in held["sensitivity"]),
        decay_rule=_decay(held.get("half_life_days"), held.get("minimum_threshold", 0)),
        retirement_rule=RetirementRule(held["retirement_rule"]),
        update_path=held["update_path"],
        derived_from=tuple(held["derived_from"]),
        origins=tuple(held["origins"]),
        planned=held["planned"],
        actor=held["actor"],
        resolved_via=held["resolved_via"],
    )


def _decay(half_life_days: float | None, minimum_threshold: float) -> DecayRule | None:
    """Return a rule of floats: a property keeps the kind of number that it was written with."""
    if half_life_days is None:
        return None
    return DecayRule(float(half_life_days), float(minimum_threshold))


def _content(held: Mapping[str, Any]) -> Content | None:
    if held.get("value_json") is None:
        return None
    return Content(
        value_json=held["value_json"],
        text=held["text"],
        normalized_claim=held["normalized_claim"],
        why_it_matters=held["why_it_matters"],
        behavioral_implication=held.get("behavioral_implication"),
        enforcement=held.get("enforcement"),
        terms=held["terms"],
    )


def permissions(held: Mapping[str, Any]) -> Permissions:
    """Return stored permissions."""
    return Permissions(
        classification=_CLASSES[int(held["class_rank"])],
        allow=tuple(held["allow"]),
        deny=tuple(held["deny"]),
    )


def assertion(held: Mapping[str, Any]) -> Assertion:
    """Return a whole claim with today's permissions."""
    return Assertion(
        claim=claim(held),
        details=_details(held),
        content=_content(held) or EMPTIED,
        permissions=permissions(held),
        quarantine=held["quarantine"],
        erased=bool(held.get("erased")),
    )


def row(held: Mapping[str, Any], of: Claim, tx_us: int = INF_US) -> Row:
    """Return a version row as known at a tx."""
    return Row(
        held["vid"],
        of,
        Interval(held["valid_from"], held["valid_until"]),
        _look(held["status"], held["reason"], held["head"]),
        held["tx_start"],
        known_end(held["tx_end"], tx_us),
        held.get("continues"),
    )


class Body(NamedTuple):
    """A claim as a read lists it, decoded."""

    line: Sequence[Any]
    """What it was decoded from: the same line again is the same body."""
    claim: Claim
    details: Details
    content: Content | None
    permissions: Permissions
    erased: bool
    signature: str


Bodies = Halves[tuple[str, str, bool], Body]
"""Decoded claims by tenant, object id and whether they are veiled."""


def _body(line: Sequence[Any], seen: bool, tenant: str, bodies: Bodies) -> Body:
    """Return a claim, decoded anew unless its line is the one that is kept."""
    key = tenant, line[0], seen
    kept = bodies.get(key)
    if kept is not None and kept.line == line:
        return kept
    held: Properties = dict(zip(_CLAIM_COLUMNS, line, strict=False))
    made = Body(
        line=line,
        claim=claim(held),
        details=_details(held),
        content=_content(held),
        permissions=permissions(held),
        erased=bool(held.get("erased")),
        signature=held.get("signature") or "",
    )
    bodies.put(key, made)
    return made


def told(
    record: Mapping[str, Any], tx_us: int, *, tenant: str, bodies: Bodies
) -> Iterator[Version]:
    """Yield the versions of a claim, veiled where the caller may not see them."""
    seen = record["seen"]
    body = _body(record["claim"], seen, tenant, bodies)
    marks = _marks(record["flags"])
    for line in record["rows"]:
        yield Version(
            row=_told_row(line, body.claim, tx_us),
            details=body.details,
            content=body.content,
            permissions=body.permissions,
            visible=seen,
            erased=body.erased,
            last_confirmed_us=next(iter(record["confirmed"]), None),
            demoted="demoted" in marks,
            stale="stale" in marks,
            confirm_due="confirm_due" in marks,
            signature=body.signature,
        )


def _told_row(line: Sequence[Any], of: Claim, tx_us: int) -> Row:
    vid, start, until, tx_start, tx_end, status, reason, head, continues = line
    return Row(
        vid,
        of,
        Interval(start, until),
        _look(status, reason, head),
        tx_start,
        known_end(tx_end, tx_us),
        continues,
    )


def _marks(flags: Sequence[Mapping[str, Any]]) -> set[str]:
    newest = {flag["kind"]: flag["on"] for flag in sorted(flags, key=lambda flag: flag["n"])}
    return {kind for kind, on in newest.items() if on}


def edge(kind: str, src: str, dst: str, held: Mapping[str, Any]) -> Edge:
    """Return an edge between claims."""
    return Edge(
        kind=EdgeKind(kind),
        src=src,
        dst=dst,
        interval=Interval(held["valid_from"], held["valid_until"]),
        reason=held["reason"],
        relation=held["relation"],
        tx=held["tx"],
        merge_id=held.get("merge_id"),
    )


def mention(held: Mapping[str, Any]) -> MentionLink:
    """Return a name inside a text."""
    return MentionLink(
        object_id=held["object_id"],
        entity_id=held["entity_id"],
        start=held["start"],
        end=held["until"],
    )


def mention_row(stated: MentionLink) -> Properties:
    """Return what a name inside a text is written from."""
    return {
        "object_id": stated.object_id,
        "entity_id": stated.entity_id,
        "start": stated.start,
        "until": stated.end,
    }


def slot(held: Mapping[str, Any]) -> SlotRecord:
    """Return a slot."""
    return SlotRecord(
        held["slot_key"],
        held.get("subject_id"),
        held["slot"] or None,
        held["scope_id"],
        held["many"],
    )


def event(held: Mapping[str, Any]) -> TxEvent:
    """Return a stamped write of the audit log."""
    return TxEvent(
        seq=held["seq"],
        tx=held["tx"],
        actor=held["actor"],
        op=held["op"],
        object_ids=tuple(held["object_ids"]),
    )


def tombstone(held: Mapping[str, Any]) -> Tombstone:
    """Return what an erasure left."""
    return Tombstone(
        erasure_id=held["erasure_id"],
        tx=held["tx"],
        actor=held["actor"],
        reason=held["reason"],
        object_ids=tuple(held["object_ids"]),
        entity_ids=tuple(held["entity_ids"]),
    )
