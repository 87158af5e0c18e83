"""From two names to a decision: bind, review or new, with every reason.

`score_pair` adds the weights of the comparisons, calibrates the sum (Platt), adds the context, and
applies the vetoes. `decide` ranks the candidates, applies the margin rule and reads the bands. The
probability is rounded to 1e-6, then compared and stored, so boundaries are exact. `log_odds` is
never capped, because a probability saturates; it ranks candidates of equal score.

    >= 0.95 bind      0.70 < s < 0.95 review      <= 0.70 new (a suggestion from 0.40 on)

Tenant, incompatible types, an existing NON_MATCH and conflicting identifiers exclude a candidate
before it is scored. Checklist C-048, C-049.
"""

from __future__ import annotations

import math
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import filterfalse

from ..schema.entity import Feature
from ..schema.errors import InvalidInput
from ..schema.policy import ResolutionPolicy
from ..schema.vocabulary import Decision
from .compare import COMPARISONS, Measures, measure
from .context import PairContext
from .lexicon import profile_of
from .model import Model
from .normalize import NameForm, normalize
from .vetoes import (
    PairFacts,
    VetoCode,
    differs_in_form_alone,
    has_extra_words,
    numbers_conflict,
    qualifiers_conflict,
    vetoes_of,
)

MARGIN_SCORE = 0.94
"""The most a winner scores while another entity may be meant too."""
NAMES_PROVE_FROM = 0.95
"""Score from which names need no context; below it context binds only differences of form."""
CERTAIN_LOG_ODDS = 16.0
"""What one identifier for both is shown as; it decides, it is not weighed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PairScore:
    """How likely a mention names a candidate, and why."""

    score: float
    """Probability, rounded to 1e-6; at most 0.94 when a veto holds."""
    log_odds: float
    """Calibrated log-odds, context included, not capped."""
    features: tuple[Feature, ...]
    vetoes: tuple[str, ...]
    name: str
    """The candidate's name that fits best."""
    model_version: str


@dataclass(frozen=True, slots=True)
class ScoredEntity:
    """A candidate entity and its score."""

    entity_id: str
    pair: PairScore


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedVerdict:
    """The decision on a mention."""

    decision: Decision
    winner: ScoredEntity | None
    """The entity to bind or to review; None when the mention is new."""
    suggestion: ScoredEntity | None
    """A `POSSIBLE_SAME_AS` to note next to a new entity."""
    ranked: tuple[ScoredEntity, ...]
    """All candidates, best first, the winner with its margin veto."""


def score_pair(
    mention: NameForm,
    candidate_names: Sequence[NameForm],
    entity_type: str,
    context: PairContext,
    model: Model,
) -> PairScore:
    """The score of a mention against the best of a candidate's names.

    `entity_type` is the candidate's when the mention's is unknown; a form that was made for a
    type whose names are built otherwise is made again. The order of the names never matters.

    Raises:
        InvalidInput: `unresolved_claim` when the candidate has no name.
    """
    return score_measured(
        measure_names(mention, candidate_names, entity_type, model), entity_type, context, model
    )


def measure_names(
    mention: NameForm, candidate_names: Iterable[NameForm], entity_type: str, model: Model
) -> tuple[Measures, ...]:
    """The raw facts about a mention and each of a candidate's names."""
    rarity = model.rarity_of(entity_type)
    form = _made_for(entity_type, mention)
    return tuple([measure(form, _made_for(entity_type, name), rarity) for name in candidate_names])


def score_measured(
    measures: Sequence[Measures], entity_type: str, context: PairContext, model: Model
) -> PairScore:
    """The score of a mention against the best of a candidate's names, as measured.

    Raises:
        InvalidInput: `unresolved_claim` when the candidate has no name.
    """
    if not measures:
        raise InvalidInput("give at least one name of the candidate", code="unresolved_claim")

    ratings = [_rate(rating, entity_type, context, model) for rating in _telling(measures)]
    best = min(
        ratings,
        key=lambda rating: (-rating.score, -rating.log_odds, rating.facts.measures.right.key),
    )

    return PairScore(
        score=best.score,
        log_odds=best.log_odds,
        features=_features(best, model),
        vetoes=tuple(code.value for code in best.vetoes),
        name=best.facts.measures.right.original,
        model_version=model.version,
    )


def name_ceiling(measures: Iterable[Measures], model: Model) -> float:
    """The log-odds that no name of a candidate exceeds, before context and vetoes.

    A candidate that stays low with all the context that there may be needs no further look.
    -inf where there is no name.
    """
    return max(
        (name_log_odds(measure_of_name, model) for measure_of_name in measures), default=-math.inf
    )


def decide(
    candidates: Iterable[ScoredEntity], policy: ResolutionPolicy, agreed_ids: Container[str] = ()
) -> RankedVerdict:
    """The decision among scored candidates; ties break on the entity id.

    An entity that is listed twice counts once, with its better score. A vetoed winner never
    binds, however low a policy sets `bind_at`. A birth date or a contact speaks for `agreed_ids`:
    only they rival a winner that is one of them.
    """
    best_of: dict[str, ScoredEntity] = {}
    for candidate in sorted(candidates, key=_rank):
        best_of.setdefault(candidate.entity_id, candidate)
    ranking = list(best_of.values())
    if not ranking:
        return RankedVerdict(decision=Decision.NEW, winner=None, suggestion=None, ranked=())

    best = ranking[0]
    rivals = ranking[1:]
    if best.entity_id in agreed_ids:
        rivals = [rival for rival in rivals if rival.entity_id in agreed_ids]
    if rivals and rivals[0].pair.score >= policy.review_above:
        best = ScoredEntity(best.entity_id, with_veto(best.pair, VetoCode.MARGIN))

    decision = Decision.REVIEW if best.pair.score > policy.review_above else Decision.NEW
    if best.pair.score >= policy.bind_at and not best.pair.vetoes:
        decision = Decision.BIND
    is_new = decision is Decision.NEW
    is_suggested = is_new and best.pair.score >= policy.suggest_from

    return RankedVerdict(
        decision=decision,
        winner=None if is_new else best,
        suggestion=best if is_suggested else None,
        ranked=(best, *ranking[1:]),
    )


def probability(log_odds: float) -> float:
    """The probability of log-odds, rounded to 1e-6.

    >>> probability(0.0), probability(2.944439), probability(-800.0)
    (0.5, 0.95, 0.0)
    """
    if log_odds < 0:
        odds = math.exp(max(log_odds, -700.0))
        return round(odds / (1 + odds), 6)
    return round(1 / (1 + math.exp(-log_odds)), 6)


@dataclass(frozen=True, slots=True)
class _Rating:
    facts: PairFacts
    context_lines: tuple[Feature, ...]
    score: float
    log_odds: float
    vetoes: tuple[VetoCode, ...]


def _rate(measures: Measures, entity_type: str, context: PairContext, model: Model) -> _Rating:
    facts = PairFacts(
        entity_type=entity_type, measures=measures, context=context, limits=model.limits
    )

    if context.same_identifier:
        return _Rating(facts, (), 1.0, CERTAIN_LOG_ODDS, ())

    name_odds = name_log_odds(measures, model)
    context_lines = tuple(context_lines_of(facts, model))
    log_odds = round(name_odds + sum(line.weight for line in context_lines), 6)
    score = probability(log_odds)
    vetoes = vetoes_of(facts)

    # Who works next to Anna Schmidt is evidence, not proof that Anna Schmitt is she. An address
    # is: two people seldom have one. Where a name has one word more, it is not: a family has one
    # phone, and the firms of a group have one of everything.
    is_lifted = probability(name_odds) < NAMES_PROVE_FROM and score > model.limits.capped_score
    is_proven = context.same_handle or context.same_contact
    if is_proven and has_extra_words(measures):
        is_proven = entity_type == "person" and not context.same_house
    is_proven = is_proven or differs_in_form_alone(measures)
    if is_lifted and not is_proven:
        vetoes = (*vetoes, VetoCode.CONTEXT_ALONE)

    capped_score = min(score, model.limits.capped_score) if vetoes else score
    return _Rating(facts, context_lines, capped_score, log_odds, vetoes)


def name_log_odds(measures: Measures, model: Model) -> float:
    """The calibrated log-odds of the names alone."""
    evidence = model.prior
    for row, level in zip(COMPARISONS, measures.levels, strict=True):
        evidence += model.weights[row.name][level]
    return round(model.slope * evidence + model.intercept + model.shift, 6)


_LABELS = {
    "same_role": "same role",
    "same_path": "same path",
    "same_document": "same document id",
    "same_email_domain": "addresses at one domain",
}


def context_lines_of(facts: PairFacts, model: Model) -> list[Feature]:
    """The context evidence that is there, each with its weight in the model."""
    context, measures = facts.context, facts.measures
    conflicts: list[str] = []
    if context.attribute_conflict:
        conflicts.append("an identifying attribute differs")
    if numbers_conflict(measures):
        conflicts.append("numbers inside the names differ")
    if qualifiers_conflict(measures):
        conflicts.append("qualifiers differ")

    overlap = context.neighbour_overlap
    lines = [
        ("same_handle", context.same_handle, 1000, "same e-mail or handle"),
        (
            "neighbour_overlap",
            overlap > 0,
            overlap,
            f"{overlap / 1000:.3f} of their neighbours in common",
        ),
        ("same_scope", context.same_scope, 1000, "named in the same scope before"),
        ("mentioned_together", context.mentioned_together, 1000, "named together in one source"),
        ("attribute_conflict", bool(conflicts), 1000, "; ".join(conflicts)),
    ]
    for name, label in _LABELS.items():
        lines.append((name, getattr(context, name), 1000, f"{label}; not weighed yet"))
    level = context.authority
    if level is not None:
        detail = f"named by a source of level {level}; not weighed yet"
        lines.append(("source_authority", True, 1000 - 250 * level, detail))

    evidence: list[Feature] = []
    for line in context.attributes:
        agreement = "equal" if line.score else "differing"
        fitted = model.context.get(f"{line.name} {agreement}", line.weight)
        evidence.append(replace(line, weight=fitted))
    for name, present, raw, detail in lines:
        if present:
            weight = model.context.get(name, 0.0)  # one not fitted with is shown, not weighed
            if name == "neighbour_overlap" and raw < model.limits.neighbour_overlap:
                weight = 0.0
            evidence.append(Feature(name, raw / 1000, weight, detail))
    return evidence


def _features(rating: _Rating, model: Model) -> tuple[Feature, ...]:
    measures = rating.facts.measures
    pair = f"{measures.left.original!r} / {measures.right.original!r}"
    if rating.facts.context.same_identifier:
        return (Feature("same_identifier", 1.0, CERTAIN_LOG_ODDS, f"decides: {pair}"),)

    names: list[Feature] = []
    for row, level in zip(COMPARISONS, measures.levels, strict=True):
        # As the log-odds has it, calibrated: then every pair starts alike and the lines add up.
        weight = round(model.slope * model.weights[row.name][level], 6)
        detail = f"{row.levels[level]}: {pair}"
        names.append(Feature(row.name, row.score_of(measures) / 1000, weight, detail))
    return (*names, *rating.context_lines)


def _made_for(entity_type: str, form: NameForm) -> NameForm:
    if profile_of(form.entity_type) is profile_of(entity_type):
        return form
    return normalize(form.original, entity_type)


def _telling(measures: Sequence[Measures]) -> Sequence[Measures]:
    """What was measured, without bare names that hide another qualifier.

    An entity known as "Mike Rogers (AL)" and as "Mike Rogers" is not "Mike Rogers (MI)".
    """
    mention = measures[0].left
    if not mention.qualifier:
        return measures

    bare: list[Measures] = []
    qualifiers: set[str] = set()
    for one_name in measures:
        if one_name.right.ordered == mention.ordered:
            qualifiers.add(one_name.right.qualifier)
            if not one_name.right.qualifier:
                bare.append(one_name)

    # No other qualifier under the same words, or the mention's own among them: nothing hides.
    if not qualifiers - {""} or mention.qualifier in qualifiers:
        return measures
    return list(filterfalse(bare.__contains__, measures))


def _rank(candidate: ScoredEntity) -> tuple[float, float, str, str]:
    return (
        -candidate.pair.score,
        -candidate.pair.log_odds,
        candidate.entity_id,
        candidate.pair.name,
    )


def with_veto(pair: PairScore, code: VetoCode) -> PairScore:
    """The score of a pair that a person has to decide, and why."""
    return replace(pair, score=min(pair.score, MARGIN_SCORE), vetoes=(*pair.vetoes, code.value))
