"""What an identifier excludes, told as a suggestion with its evidence.

A register may give one thing two numbers by mistake. The mention is a new entity at once and nobody
waits, but a steward can see which entity of its name has another number. Pure: reads a `Register`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from ..schema.entity import SUGGESTION, EntityCandidate, EntityRef, Feature, Resolution
from ..schema.vocabulary import CandidateSource
from .register import Register, Rules

_MOST: Final = 5
"""Excluded entities that a resolution shows."""


def with_excluded(
    resolution: Resolution,
    schemes_of: Mapping[str, Sequence[str]],
    ref: EntityRef,
    known: Register,
    rules: Rules,
) -> Resolution:
    """A new entity's resolution, which suggests those of its name that identifiers exclude.

    `schemes_of` has the schemes by canonical id. Their score is as much as a suggestion may have:
    above, a person would have to decide before the entity is used.
    """
    if not schemes_of:
        return resolution

    excluded_candidates: list[EntityCandidate] = []
    for root_id, schemes in sorted(schemes_of.items())[:_MOST]:
        excluded_candidates.append(_excluded_candidate(root_id, schemes, ref, known, rules))

    other_candidates = [row for row in resolution.candidates if row.entity not in schemes_of]
    return replace(
        resolution,
        score=rules.bands.review_above,
        reason=SUGGESTION,
        candidates=(*excluded_candidates, *other_candidates),
    )


def _excluded_candidate(
    root_id: str, schemes: Sequence[str], ref: EntityRef, known: Register, rules: Rules
) -> EntityCandidate:
    entity = known.entity(root_id)
    assert entity is not None  # it has been looked at

    score = rules.bands.review_above
    values = known.held(root_id, rules.identifier_test(known))
    features = [Feature("exact", 1.0, 0.0, f"equal name: {entity.name}")]
    for scheme in schemes:
        detail = f"differing: {ref.external_ids[scheme]!r} / {values[scheme][0]!r}"
        features.append(Feature(scheme, 0.0, 0.0, detail))

    return EntityCandidate(
        entity=root_id,
        name=entity.name,
        score=score,
        log_odds=round(math.log(max(score, 1e-6) / (1 - score)), 6),
        source=CandidateSource.EXACT,
        features=tuple(features),
        vetoes=("attribute_conflict",),
    )
