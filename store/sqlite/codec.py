"""Claims and versions: rows of the file to records and back; no decision is made here.

Lists are JSON text, open ends the integers of `Interval`, booleans 0 and 1, a decay rule two
columns. What repeats (looks, lists, scopes) is decoded once and shared, since records are
immutable. A claim whose content row is gone was erased; one that the caller may not see is
read without content, value and value entity, so it comes back veiled.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import lru_cache
from typing import Any, NamedTuple

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
)
from ...schema.interval import Interval
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

Line = tuple[Any, ...]
"""A row as `sqlite3` returns it."""

# made once: `json.dumps` with options of its own makes an encoder a call, a third of a read
_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
_CLASSES = tuple(Classification)
_OPS = {op.value: op for op in Op}
_TYPES = {kind.value: kind for kind in ObjectType}
_LAYERS = {layer.value: layer for layer in StateLayer}
_RULES = {rule.value: rule for rule in RetirementRule}
_LEVELS = {int(level): level for level in Authority}


class Body(NamedTuple):
    """What never changes of a claim, until it is erased."""

    claim: Claim
    details: Details
    content: Content | None
    """None when erased or veiled."""
    erased: bool
    quarantine: str
    signature: str


def listed(items: Iterable[object]) -> str:
    """Return JSON of a list, to bind or to store."""
    return _encode(list(items))


@lru_cache(maxsize=4096)
def words(text: str) -> tuple[str, ...]:
    """Return a stored list of texts."""
    return tuple(json.loads(text))


@lru_cache(maxsize=256)
def look(status: str, reason: str, head: int) -> Look:
    """Return how a row looks."""
    return Look(Status(status), reason, bool(head))


@lru_cache(maxsize=4096)
def _scope(scope_id: str) -> Scope:
    return Scope.parse(scope_id)


@lru_cache(maxsize=256)
def _sensitivity(text: str) -> tuple[Sensitivity, ...]:
    return tuple(Sensitivity(word) for word in json.loads(text))


@lru_cache(maxsize=1024)
def _decay(half_life_days: float | None, minimum_threshold: float) -> DecayRule | None:
    return None if half_life_days is None else DecayRule(half_life_days, minimum_threshold)


def permit_line(scope_id: str, permissions: Permissions) -> tuple[str, int, str, str]:
    """Return a permission set as it is stored: scope, class, allowed and denied roles."""
    allow = permissions.allow or (EVERYONE,)
    rank = permissions.classification.rank
    return scope_id, rank, listed(allow), listed(permissions.deny)


def permissions(class_rank: int, allow: str, deny: str) -> Permissions:
    """Return a stored permission set."""
    return Permissions(classification=_CLASSES[class_rank], allow=words(allow), deny=words(deny))


def body(line: Line) -> Body:
    """Return a whole claim; a line without content columns gives a veiled one."""
    claim_content = line[36:44]
    erased = bool(line[35])
    shown = bool(claim_content) and not erased
    return Body(
        _claim(line, claim_content[0] if shown else NOTHING),
        _details(line),
        Content(
            value_json=claim_content[1],
            text=claim_content[2],
            normalized_claim=claim_content[3],
            why_it_matters=claim_content[4],
            behavioral_implication=claim_content[5],
            enforcement=claim_content[6],
            terms=claim_content[7],
        )
        if shown
        else None,
        erased,
        line[13],
        line[34] or "",
    )


def _claim(line: Line, value_key: str) -> Claim:
    return Claim(
        object_id=line[1],
        slot_key=line[2],
        op=_OPS[line[3]],
        value_key=value_key,
        interval=Interval(line[4], line[5]),
        since_us=line[6],
        level=line[7],
        source_authority=line[8],
        confidence=line[9],
        tx=line[10],
        ordinal=line[11],
        target=line[12],
    )


def _details(line: Line) -> Details:
    return Details(
        scope=_scope(line[14]),
        slot=line[15],
        subject_id=line[16],
        value_entity_id=line[17],
        authority_level=_LEVELS[line[18]],
        source_origin=line[19],
        source_kind=line[20],
        object_type=_TYPES[line[21]],
        layer=_LAYERS[line[22]],
        applicable_task_types=words(line[23]),
        sensitivity=_sensitivity(line[24]),
        decay_rule=_decay(line[25], line[26]),
        retirement_rule=_RULES[line[27]],
        update_path=line[28],
        derived_from=words(line[29]),
        origins=words(line[30]),
        planned=bool(line[31]),
        actor=line[32],
        resolved_via=line[33],
    )


def assertion(line: Line) -> Assertion:
    """Return a claim with today's permissions."""
    whole = body(line)
    return Assertion(
        claim=whole.claim,
        details=whole.details,
        content=whole.content or EMPTIED,
        permissions=permissions(*line[44:47]),
        quarantine=whole.quarantine,
        erased=whole.erased,
    )


def claim_line(number: int, stated: Assertion) -> Line:
    """Return the columns of a claim, its slot's key last."""
    claim, details, decay = stated.claim, stated.details, stated.details.decay_rule
    return (
        number,
        claim.object_id,
        claim.op.value,
        claim.interval.start_us,
        claim.interval.end_us,
        claim.since_us,
        claim.level,
        claim.source_authority,
        claim.confidence,
        claim.tx,
        claim.ordinal,
        claim.target,
        stated.quarantine,
        details.scope.scope_id,
        details.slot,
        details.subject_id,
        details.value_entity_id,
        int(details.authority_level),
        details.source_origin,
        details.source_kind,
        details.object_type.value,
        details.layer.value,
        listed(details.applicable_task_types),
        listed(word.value for word in details.sensitivity),
        None if decay is None else decay.half_life_days,
        None if decay is None else decay.minimum_threshold,
        details.retirement_rule.value,
        details.update_path,
        listed(details.derived_from),
        listed(details.origins),
        int(details.planned),
        details.actor,
        details.resolved_via,
        claim.slot_key,
    )


def content_line(number: int, stated: Assertion) -> Line:
    """Return the columns of a claim's content."""
    content = stated.content
    return (
        number,
        stated.claim.value_key,
        content.value_json,
        content.text,
        content.normalized_claim,
        content.why_it_matters,
        content.behavioral_implication,
        content.enforcement,
        content.terms,
    )


def edge(line: Line) -> Edge:
    """Return an edge between claims."""
    return Edge(
        kind=EdgeKind(line[0]),
        src=line[1],
        dst=line[2],
        interval=Interval(line[3], line[4]),
        reason=line[5],
        relation=line[6],
        tx=line[7],
        merge_id=line[8],
    )


def edge_line(stated: Edge) -> Line:
    """Return the columns of an edge."""
    return (
        stated.kind.value,
        stated.src,
        stated.dst,
        stated.interval.start_us,
        stated.interval.end_us,
        stated.reason,
        stated.relation,
        stated.tx,
        stated.merge_id,
    )


def mention(line: Line) -> MentionLink:
    """Return a name inside a text."""
    return MentionLink(object_id=line[0], entity_id=line[1], start=line[2], end=line[3])


def slot(line: Line) -> SlotRecord:
    """Return a slot."""
    return SlotRecord(line[0], line[1], line[2], line[3], bool(line[4]))


def event(line: Line) -> TxEvent:
    """Return a stamped write of the audit log."""
    return TxEvent(
        seq=line[0], tx=line[1], actor=line[2], op=line[3], object_ids=tuple(json.loads(line[4]))
    )


def tombstone(line: Line) -> Tombstone:
    """Return what an erasure left."""
    return Tombstone(
        erasure_id=line[0],
        tx=line[1],
        actor=line[2],
        reason=line[3],
        object_ids=tuple(json.loads(line[4])),
        entity_ids=tuple(json.loads(line[5])),
    )
