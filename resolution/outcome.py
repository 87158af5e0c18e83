"""What was decided of a mention, as a record with its evidence: bound, or left to a person.

Names and ids that are equal are certain or not at all, so their scores are fixed here; what names
and context make likely is scored by `scorer`. Pure: reads a `Register`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ..schema.entity import Entity, EntityCandidate, Feature, Resolution
from ..schema.vocabulary import CandidateSource, Decision, EntityState
from .register import Register

UNTRUSTED_ALIAS: Final = "untrusted_alias"
"""The reason of a question about a name that only pages and tools have used."""
_VETOES: Final = ("person_without_context", UNTRUSTED_ALIAS)
"""Reasons that keep an equal name from binding, and are told as vetoes."""


def bound_to(entity: str, reason: str, known: Register) -> Resolution:
    """A mention is this entity; one that waits for a person itself is left to that decision."""
    root = known.entity(known.root(entity))
    pending = root is not None and root.state is EntityState.PENDING
    return Resolution(
        decision=Decision.REVIEW if pending else Decision.BIND,
        entity=entity,
        score=1.0,
        reason=reason,
        candidates=_candidates([known.root(entity)], known, CandidateSource.IDENTIFIER, reason),
    )


def left_to_review(
    entity: str | None,
    reason: str,
    roots: Sequence[str],
    known: Register,
    source: CandidateSource,
) -> Resolution:
    """A person decides which of these entities a mention is, if any."""
    return Resolution(
        decision=Decision.REVIEW,
        entity=entity,
        score=0.94,
        reason=reason,
        candidates=_candidates(roots, known, source, reason),
    )


def _candidates(
    roots: Sequence[str], known: Register, source: CandidateSource, reason: str
) -> tuple[EntityCandidate, ...]:
    entities = filter(None, map(known.entity, roots))
    return tuple([_candidate(entity, source, reason) for entity in entities])


def _candidate(entity: Entity, source: CandidateSource, reason: str) -> EntityCandidate:
    certain = reason not in ("ambiguous", "pending", *_VETOES)
    return EntityCandidate(
        entity=entity.entity_id,
        name=entity.name,
        score=1.0 if certain else 0.94,
        log_odds=13.8 if certain else 2.752,
        source=source,
        features=(Feature(source.value, 1.0, 0.0, f"equal name or id: {entity.name}"),),
        vetoes=() if certain else (reason if reason in _VETOES else "margin",),
    )
