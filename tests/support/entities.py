"""Entities, names and judgements of a test; a field that it does not state is ordinary."""

from dataclasses import replace
from typing import Any

from tenure.resolution.keys import alias_key
from tenure.schema.entity import Alias, Entity, Judgement
from tenure.schema.interval import INF_US
from tenure.schema.vocabulary import EntityState, JudgedBy, JudgementVerdict


def entity(
    entity_id: str = "e1",
    name: str = "Sam Rivera",
    type: str = "person",
    *,
    tx: int = 1,
    **more: Any,
) -> Entity:
    plain = Entity(
        entity_id=entity_id,
        name=name,
        type=type,
        state=EntityState.ACTIVE,
        scope_id="tenant",
        tx_start=tx,
        created_by="o1",
    )
    return replace(plain, **more)


def alias(
    entity_id: str = "e1",
    surface: str = "Sam Rivera",
    type: str = "person",
    *,
    tx: int = 1,
    **more: Any,
) -> Alias:
    plain = Alias(
        entity_id=entity_id,
        surface=surface,
        norm=alias_key(surface),
        type=type,
        scope_id="tenant",
        ordinal=0,
        valid_from=0,
        valid_until=INF_US,
        tx_start=tx,
    )
    return replace(plain, **more)


def judgement(left_id: str, right_id: str, *, tx: int = 1, **more: Any) -> Judgement:
    plain = Judgement(
        judgement_id=f"{left_id}{right_id}",
        merge_id=None,
        left_id=left_id,
        right_id=right_id,
        verdict=JudgementVerdict.MATCH,
        judged_by=JudgedBy.HUMAN,
        actor="ann",
        score=None,
        log_odds=None,
        evidence="{}",
        model_version="",
        reason="",
        tx_start=tx,
    )
    return replace(plain, **more)
