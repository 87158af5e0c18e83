"""The rows that a bind by score leaves: the judgement that ties it, the cases it opens. Pure."""

from __future__ import annotations

import hashlib

from ...resolution.bind import Doubt
from ...resolution.clusters import pair
from ...resolution.keys import entity_id
from ...schema.entity import (
    DOUBTED,
    SUGGESTION,
    Entity,
    EntityCandidate,
    Judgement,
    Resolution,
    Review,
)
from ...schema.vocabulary import JudgedBy, JudgementVerdict, ReviewState


def match_row(object_id: str, raw: str, resolution: Resolution, tx: int) -> Judgement:
    """The row that ties a surface bound by score to its entity, the centre of a star."""
    assert resolution.entity is not None  # the decision is to bind
    best, (left, right) = resolution.candidates[0], pair(raw, resolution.entity)
    return Judgement(
        judgement_id=entity_id(object_id, "judgement", raw),
        merge_id=entity_id(object_id, "merge", raw),
        left_id=left,
        right_id=right,
        verdict=JudgementVerdict.MATCH,
        judged_by=JudgedBy.RULE,
        actor="resolution",
        score=best.score,
        log_odds=best.log_odds,
        evidence=best.evidence,
        model_version=resolution.model_version,
        reason=resolution.reason,
        tx_start=tx,
    )


def doubted_case(entity: Entity, doubt: Doubt, object_id: str, tx: int) -> Review:
    """The case of an automatic bind that a name under review has made ambiguous."""
    return Review(
        # The id is the bind's own, so that a bind is doubted once, whoever comes later.
        review_id=entity_id(entity.entity_id, DOUBTED, entity.name),
        entity_id=entity.entity_id,
        mention=entity.name,
        type=entity.type,
        scope_id=entity.scope_id,
        candidates=(doubt.bound_to, doubt.rival),
        reason=DOUBTED,
        object_id=object_id,
        state=ReviewState.OPEN,
        version=1,
        opened_tx=tx,
    )


def suggestion(
    younger: Entity,
    elder: EntityCandidate,
    *,
    review_id: str,
    object_id: str,
    opened_tx: int,
) -> Review:
    """The case that asks whether two stored entities are one, and that nothing waits for."""
    return Review(
        review_id=review_id,
        entity_id=younger.entity_id,
        mention=younger.name,
        type=younger.type,
        scope_id=younger.scope_id,
        candidates=(elder,),
        reason=SUGGESTION,
        object_id=object_id,
        state=ReviewState.OPEN,
        version=1,
        opened_tx=opened_tx,
    )


def is_sampled(raw: str, share: float) -> bool:
    """Whether an automatic decision is drawn for the audit: by its id, so always the same.

    >>> is_sampled("x", 1.0), is_sampled("x", 0.0)
    (True, False)
    """
    draw = int.from_bytes(hashlib.sha256(raw.encode()).digest()[:4])
    return draw < round(share * 2**32)
