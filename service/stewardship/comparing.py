"""Why two entities are one, or are not: their names scored against each other, line by line.

The scale is log-odds: what the model starts from, each piece of evidence, and their sum, which
is the total that the bands judge. Nothing is written, and nothing that stands is questioned.
Checklist: C-048, C-053.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product

from ...resolution.context import PairContext
from ...resolution.known import Known
from ...resolution.model import Model, default_model
from ...resolution.normalize import form_of
from ...resolution.score import PairScore, score_pair
from ...schema.answers import EntityView
from ...schema.entity import EntityCandidate
from ...schema.policy import ResolutionPolicy
from ...schema.short_repr import short_repr
from ...schema.slots import UNKNOWN_TYPE
from ...schema.vocabulary import CandidateSource, Decision
from .review_page import tips


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityComparison:
    """Two entities, scored as if one were a new mention of the other."""

    __repr__ = short_repr

    left: EntityView
    right: EntityView
    names: tuple[str, str]
    """The name of each that fits the other best."""
    candidate: EntityCandidate
    """The right one as a candidate for the left: score, evidence, vetoes."""
    start: float
    """Log-odds before any evidence: what the model starts from."""
    decision: Decision
    """What the bands would say of the score alone."""
    bind_at: float
    """Score from which their type binds."""
    review_above: float
    """Score above which their type comes to a person."""
    are_one: bool
    """Whether they stand as one entity already."""
    tips: tuple[str, ...]
    """What would bind them that is not there: what lifts a veto, evidence that weighs enough."""


def member_of(entity: EntityView, reference: str, known: Known) -> EntityView:
    """The part of a merged entity that a name or a raw id means, with what is told of it alone.

    Compared as a whole, two parts of one entity would share every name and identifier. A reference
    that is no name of it, as an external id, means the whole.
    """
    words = {reference, reference.casefold()}
    aliases = [alias for alias in known.aliases if alias.surface in entity.aliases]
    raw_ids = {
        alias.entity_id
        for alias in aliases
        if not words.isdisjoint((alias.entity_id, alias.surface, alias.surface.casefold()))
    }
    if not raw_ids:
        return entity

    surfaces = [alias.surface for alias in aliases if alias.entity_id in raw_ids]
    identifiers: list[tuple[str, str]] = []
    for row in known.identifiers:
        pair = row.scheme, row.value
        if row.entity_id in raw_ids and pair in entity.identifiers:
            identifiers.append(pair)

    return replace(
        entity,
        members=tuple(member for member in entity.members if member in raw_ids),
        aliases=tuple(dict.fromkeys(surfaces)),
        identifiers=tuple(identifiers),
    )


def comparison_of(
    left: EntityView,
    right: EntityView,
    *,
    context: PairContext,
    bands: ResolutionPolicy,
    model: Model | None = None,
) -> EntityComparison:
    """Score two entities by their best pair of names and what stands around them.

    The shipped model scores unless another is given.

    Raises:
        InvalidInput: `unresolved_claim` when one of them has no name that may be seen.
    """
    kind = right.type if left.type == UNKNOWN_TYPE else left.type
    name, score = _best_pair(
        left.aliases or (left.name,),
        right.aliases or (right.name,),
        kind,
        context,
        model or default_model(),
    )
    rules = bands.of_type(kind)
    entry = EntityCandidate(
        entity=right.entity_id,
        name=right.name,
        score=score.score,
        log_odds=score.log_odds,
        source=CandidateSource.BLOCKING,
        features=score.features,
        vetoes=score.vetoes,
    )

    return EntityComparison(
        left=left,
        right=right,
        names=(name, score.name),
        candidate=entry,
        start=round(score.log_odds - sum([feature.weight for feature in score.features]), 6),
        decision=_decision(score, rules),
        bind_at=rules.bind_at,
        review_above=rules.review_above,
        are_one=left.entity_id == right.entity_id,
        tips=tips(entry, rules),
    )


def _best_pair(
    left: Sequence[str], right: Sequence[str], kind: str, context: PairContext, model: Model
) -> tuple[str, PairScore]:
    """The pair of names with the highest score, ties by name."""
    # Of a cluster all names count: it may be known to the other by an old one alone.
    ratings: list[tuple[float, float, str, str, PairScore]] = []
    for name, candidate in product(left, right):
        forms = (form_of(candidate, kind),)
        score = score_pair(form_of(name, kind), forms, kind, context, model)
        ratings.append((-score.score, -score.log_odds, name, candidate, score))

    *_, name, _, score = min(ratings, key=lambda rating: rating[:4])
    return name, score


def _decision(score: PairScore, bands: ResolutionPolicy) -> Decision:
    if score.score >= bands.bind_at and not score.vetoes:
        return Decision.BIND
    return Decision.REVIEW if score.score >= bands.review_above else Decision.NEW
