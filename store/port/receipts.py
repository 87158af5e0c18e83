"""Receipts as canonical JSON: what a retry returns must be what the first call returned.

Source: settled 5 (a retry returns the stored receipt); API "Writing".
"""

from __future__ import annotations

import json
from typing import Any

from ...schema.entity import EntityCandidate, Feature, Resolution
from ...schema.errors import Fault
from ...schema.interval import Interval
from ...schema.values import canonical_json, micros, moment
from ...schema.vocabulary import CandidateSource, Decision, Outcome, Verdict
from ...schema.write import Receipt, RelationMet


def encode(receipt: Receipt) -> str:
    """Return a receipt as canonical JSON."""
    return canonical_json(
        {
            "object_id": receipt.object_id,
            "tx": micros(receipt.tx),
            "outcome": receipt.outcome,
            "entity": receipt.entity,
            "resolution": _resolution(receipt.resolution),
            "relations": [_relation(met) for met in receipt.relations],
            "superseded": receipt.superseded,
            "inserted": receipt.inserted,
            "actions": receipt.actions,
            "reviews": receipt.reviews,
            "warnings": receipt.warnings,
            "detail": receipt.detail,
        }
    )


def decode(body: str, *, replayed: bool = False) -> Receipt:
    """Return the receipt of canonical JSON.

    Raises:
        Fault: `invariant_broken` when the text is no receipt.
    """
    held: dict[str, Any] = json.loads(body)
    tx = moment(held["tx"])
    if tx is None:
        raise Fault("a stored receipt has no stamp", code="invariant_broken")
    found = held["resolution"]
    return Receipt(
        object_id=held["object_id"],
        tx=tx,
        outcome=Outcome(held["outcome"]),
        replayed=replayed,
        entity=held["entity"],
        resolution=None if found is None else _resolved(found),
        relations=tuple(_met(met) for met in held["relations"]),
        superseded=tuple(held["superseded"]),
        inserted=held["inserted"],
        actions=tuple(held["actions"]),
        reviews=tuple(held["reviews"]),
        warnings=tuple(held["warnings"]),
        detail=held["detail"],
    )


def _relation(met: RelationMet) -> list[Any]:
    span = met.interval
    return [met.object_id, met.relation, met.verdict, met.reason, span.start_us, span.end_us]


def _met(held: list[Any]) -> RelationMet:
    object_id, relation, verdict, reason, start, end = held
    return RelationMet(
        object_id=object_id,
        relation=relation,
        verdict=Verdict(verdict),
        reason=reason,
        interval=Interval(start, end),
    )


def _resolution(found: Resolution | None) -> dict[str, Any] | None:
    if found is None:
        return None
    return {
        "decision": found.decision,
        "entity": found.entity,
        "score": found.score,
        "reason": found.reason,
        "model_version": found.model_version,
        "candidates": [candidate_json(c) for c in found.candidates],
    }


def candidate_json(candidate: EntityCandidate) -> dict[str, Any]:
    """Return a candidate as plain JSON values."""
    return {
        "entity": candidate.entity,
        "name": candidate.name,
        "score": candidate.score,
        "log_odds": candidate.log_odds,
        "source": candidate.source,
        "features": [[f.name, f.score, f.weight, f.detail] for f in candidate.features],
        "vetoes": list(candidate.vetoes),
    }


def candidate_of(held: dict[str, Any]) -> EntityCandidate:
    """Return the candidate of plain JSON values."""
    return EntityCandidate(
        entity=held["entity"],
        name=held["name"],
        score=held["score"],
        log_odds=held["log_odds"],
        source=CandidateSource(held["source"]),
        features=tuple(Feature(*feature) for feature in held["features"]),
        vetoes=tuple(held["vetoes"]),
    )


def _resolved(held: dict[str, Any]) -> Resolution:
    return Resolution(
        decision=Decision(held["decision"]),
        entity=held["entity"],
        score=held["score"],
        reason=held["reason"],
        candidates=tuple(candidate_of(c) for c in held["candidates"]),
        model_version=held["model_version"],
    )
