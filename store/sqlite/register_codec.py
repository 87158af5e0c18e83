"""The register and the queues: rows of the file to records and back.

Closings that a reader's tx cannot know are read as open, so that no later write changes what
a view answers. Candidates of a review are JSON, so that an erasure can find an entity in them.
"""

from __future__ import annotations

from typing import Final

from ...resolution.known import Restriction, Teacher
from ...resolution.names import NameRow
from ...resolution.register import taught_level
from ...schema.claim import Permissions
from ...schema.entity import Alias, Entity, Identifier, Judgement, Review
from ...schema.interval import INF_US, Interval
from ...schema.vocabulary import (
    ActionKind,
    EntityState,
    JudgedBy,
    JudgementVerdict,
    ReviewState,
)
from ..port.receipts import candidates_json, candidates_of
from ..port.store import ActionRecord, StoredReceipt
from .codec import Line, list_json, permissions, words

_OF_RECORD: Final = "system_of_record"
_OPEN_TO_ALL: Final = frozenset({(0, '["*"]', "[]"), (None, None, None)})
"""Permissions as most claims have them, and those of a name that no claim taught."""
_STATES = {state.value: state for state in EntityState}


def entity(line: Line) -> Entity:
    """Return an entry of the register."""
    return Entity(
        entity_id=line[0],
        name=line[1],
        type=line[2],
        state=_STATES[line[3]],
        scope_id=line[4],
        tx_start=line[5],
        created_by=line[6],
        recorded=bool(line[7]),
    )


def _known_end(tx_end: int, tx_us: int) -> int:
    """Return a closing as a reader at a tx knows it: later ones are still open."""
    return INF_US if tx_end > tx_us else tx_end


def alias(line: Line, tx_us: int = INF_US) -> Alias:
    """Return an alias as known at a tx."""
    return Alias(
        entity_id=line[0],
        surface=line[1],
        norm=line[2],
        type=line[3],
        scope_id=line[4],
        ordinal=line[5],
        valid_from=line[6],
        valid_until=line[7],
        tx_start=line[8],
        tx_end=_known_end(line[9], tx_us),
        object_id=line[10],
        merge_id=line[11],
    )


def name_row(line: Line) -> NameRow:
    """A name, with the level and the permissions of the claim that taught it."""
    return NameRow(
        entity_id=line[0],
        surface=line[1],
        scope_id=line[2],
        tx_start=line[3],
        object_id=line[4],
        level=taught_level(line[5], line[6]),
        is_live=bool(line[7]),
        permissions=Permissions() if line[8] is None else permissions(line[8:]),
    )


def identifier(line: Line, tx_us: int = INF_US) -> Identifier:
    """Return an identifier as known at a tx."""
    return Identifier(
        entity_id=line[0],
        scheme=line[1],
        value=line[2],
        tx_start=line[3],
        tx_end=_known_end(line[4], tx_us),
        scope_id=line[5],
        object_id=line[6],
    )


def identifier_line(identifier: Identifier) -> Line:
    """Return the columns of an identifier."""
    return (
        identifier.entity_id,
        identifier.scheme,
        identifier.value,
        identifier.tx_start,
        identifier.tx_end,
        identifier.scope_id,
        identifier.object_id,
    )


def teacher(line: Line) -> Teacher:
    """Return who stated an identifier; its columns stand first."""
    actor, directs, source_kind = line[7:10]
    return Teacher(actor, bool(directs) or source_kind == _OF_RECORD)


def restriction(line: Line) -> Restriction | None:
    """Return who may know what a claim has taught, None where its whole scope may."""
    permissions_line = line[10:13]
    if permissions_line in _OPEN_TO_ALL:
        return None
    return Restriction(permissions(permissions_line), line[7])


def judgement(line: Line, tx_us: int = INF_US) -> Judgement:
    """Return a judgement as known at a tx."""
    return Judgement(
        judgement_id=line[0],
        merge_id=line[1],
        left_id=line[2],
        right_id=line[3],
        verdict=JudgementVerdict(line[4]),
        judged_by=JudgedBy(line[5]),
        actor=line[6],
        score=line[7],
        log_odds=line[8],
        evidence=line[9],
        model_version=line[10],
        reason=line[11],
        tx_start=line[12],
        tx_end=_known_end(line[13], tx_us),
    )


def judgement_line(judgement: Judgement) -> Line:
    """Return the columns of a judgement."""
    return (
        judgement.judgement_id,
        judgement.merge_id,
        judgement.left_id,
        judgement.right_id,
        judgement.verdict.value,
        judgement.judged_by.value,
        judgement.actor,
        judgement.score,
        judgement.log_odds,
        judgement.evidence,
        judgement.model_version,
        judgement.reason,
        judgement.tx_start,
        judgement.tx_end,
    )


def review(line: Line) -> Review:
    """Return a review case."""
    return Review(
        review_id=line[0],
        entity_id=line[1],
        mention=line[2],
        type=line[3],
        scope_id=line[4],
        candidates=candidates_of(line[5]),
        reason=line[6],
        object_id=line[7],
        state=ReviewState(line[8]),
        version=line[9],
        opened_tx=line[10],
        decided_tx=line[11],
        decided_by=line[12],
        decided_entity=line[13],
        merge_id=line[14],
        note=line[15],
    )


def review_line(review: Review) -> Line:
    """Return the columns of a review case."""
    return (
        review.review_id,
        review.entity_id,
        review.mention,
        review.type,
        review.scope_id,
        candidates_json(review.candidates),
        review.reason,
        review.object_id,
        review.state.value,
        review.version,
        review.opened_tx,
        review.decided_tx,
        review.decided_by,
        review.decided_entity,
        review.merge_id,
        review.note,
    )


def action(line: Line, tx_us: int = INF_US) -> ActionRecord:
    """Return an entry of the resolver queue as known at a tx."""
    later = line[9] > tx_us
    return ActionRecord(
        action_id=line[0],
        kind=ActionKind(line[1]),
        object_id=line[2],
        slot_key=line[3],
        interval=Interval(line[4], line[5]),
        members=words(line[6]),
        detail=line[7],
        tx_start=line[8],
        tx_end=_known_end(line[9], tx_us),
        outcome="" if later else line[10],
        closed_by="" if later else line[11],
    )


def action_line(action: ActionRecord) -> Line:
    """Return the columns of an entry of the resolver queue."""
    return (
        action.action_id,
        action.kind.value,
        action.object_id,
        action.slot_key,
        action.interval.start_us,
        action.interval.end_us,
        list_json(action.members),
        action.detail,
        action.tx_start,
        action.tx_end,
        action.outcome,
        action.closed_by,
    )


def receipt(line: Line) -> StoredReceipt:
    """Return a stored receipt."""
    return StoredReceipt(
        object_id=line[0],
        tx=line[1],
        body=line[2],
        idempotency_key=line[3],
        fingerprint=line[4],
    )
