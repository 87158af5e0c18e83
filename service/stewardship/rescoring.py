"""Rescoring: which automatic binds the current model would not make again.

A new model never rewrites old judgements; it only says which of them deserve a look. Names are
scored as they were, with the context that the judgement kept; identifiers and people's
verdicts are not questioned.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

from ...resolution.context import PairContext, PersonContext
from ...resolution.model import default_model
from ...resolution.normalize import normalize
from ...resolution.score import score_pair
from ...schema.entity import Entity, Judgement
from ...schema.policy import ResolutionPolicy
from ...schema.records import short_repr
from ...schema.slots import UNKNOWN_TYPE
from ...schema.vocabulary import JudgedBy, JudgementVerdict
from ...store.port.store import Reader


@dataclass(frozen=True, slots=True, kw_only=True)
class RescoredCase:
    """An automatic bind that the current model doubts."""

    __repr__ = short_repr

    merge_id: str
    left: str
    right: str
    names: tuple[str, str]
    was: float | None
    """The score it was bound with."""
    now: float
    vetoes: tuple[str, ...]
    model_version: str
    """The model that made it."""


def rescore_cases(reader: Reader, bands: ResolutionPolicy) -> tuple[RescoredCase, ...]:
    """Return the standing binds by rule that score below the bind band now, lowest first."""
    known = reader.entities(reader.entity_ids(), tx_us=reader.clock().last_us)
    doubts: list[RescoredCase] = []
    for row in known.judgements:
        # What a person or a register has judged is not for a model to doubt.
        if row.verdict is not JudgementVerdict.MATCH or row.judged_by is not JudgedBy.RULE:
            continue
        left, right = known.entities[row.left_id], known.entities[row.right_id]
        pair = _rescored_pair(row, left, right)
        if pair.now < bands.of_type(left.type).bind_at or pair.vetoes:
            doubts.append(pair)

    return tuple(sorted(doubts, key=lambda pair: (pair.now, pair.merge_id)))


def _rescored_pair(row: Judgement, left: Entity, right: Entity) -> RescoredCase:
    lines = {line[0] for line in json.loads(row.evidence).get("features", ())}
    # The context of the bind is read off its evidence: what was shared then is shared still.
    context = PairContext(
        same_handle="same_handle" in lines,
        same_scope="same_scope" in lines,
        mentioned_together="mentioned_together" in lines,
        person_context=PersonContext.TENANT,
    )
    kind = right.type if left.type == UNKNOWN_TYPE else left.type
    form, right_form = normalize(left.name, kind), normalize(right.name, kind)
    pair = score_pair(form, (right_form,), kind, context, default_model())

    return RescoredCase(
        merge_id=row.merge_id or row.judgement_id,
        left=row.left_id,
        right=row.right_id,
        names=(left.name, right.name),
        was=row.score,
        now=pair.score,
        vetoes=pair.vetoes,
        model_version=row.model_version,
    )
