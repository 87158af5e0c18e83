"""How good the matching is, from labelled pairs: precision with its interval, and calibration.

`evaluate` scores pairs and reports, per entity type and pooled, what an automatic merge would
have got right, with n and the 95 % Wilson interval, how much goes to review, and what is
missed. A precision is `proven` only from 300 bound pairs on. `refit_platt` fits the two
calibration numbers to new labels and refuses a refit that fails its own held-out half.

Labels must come from reviews *and* from a random audit of binds and of the suggestion zone;
labels of the review band alone are biased. Pure: pairs in, values out.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from ..schema.policy import ResolutionPolicy
from .context import PersonContext
from .fit import Evidence, LabelledPair, evidence_of, measure_pair, platt, split
from .model import Model, default_model, versioned
from .normalize import normalize
from .score import PairScore, context_log_odds, score_pair
from .vetoes import PairFacts

PROVEN_FROM = 300
"""Bound pairs from which a precision may be called proven."""
REFIT_MIN_LABELS = 200
REFIT_MIN_PRECISION = 0.99
_EDGES = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.000001)
_CUTS = (0.95, 0.90, 0.80, 0.70, 0.40)
_Z = 1.959964


@dataclass(frozen=True, slots=True)
class Interval95:
    """A share with its 95 % Wilson interval."""

    right: int
    n: int
    share: float
    """`right / n`; 0 when n is 0."""
    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class SetReport:
    """What the model does to one set of pairs."""

    name: str
    pairs: int
    matches: int
    bind: Interval95
    """Precision at automatic merge."""
    recall: float
    """Share of the matches that merge automatically."""
    review: Interval95
    """How many of the pairs sent to review are matches."""
    review_share: float
    """Share of all pairs that go to review."""
    suggested: int
    """Pairs that leave a suggestion beside a new entity."""
    missed: int
    """Matches below the suggestion band."""
    proven: bool
    """True from `PROVEN_FROM` bound pairs on."""


@dataclass(frozen=True, slots=True)
class Bin:
    """One row of the reliability table: calibrated scores before vetoes, against the truth."""

    low: float
    high: float
    truth: Interval95


@dataclass(frozen=True, slots=True)
class Cut:
    """One row of the thresholds report, vetoes applied."""

    threshold: float
    precision: Interval95
    recall: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """The evaluation of one model on one list of pairs."""

    model_version: str
    assume_same_scope: bool
    pooled: SetReport
    sets: tuple[SetReport, ...]
    """Per entity type, sorted by name."""
    reliability: tuple[Bin, ...]
    thresholds: tuple[Cut, ...]
    calibration_error: float
    """Expected calibration error of the scores before vetoes."""
    false_binds: tuple[str, ...]
    """Ids of the pairs that would merge wrongly."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Refit:
    """A new model, or the reason why there is none."""

    model: Model | None
    refused: str
    """Empty when there is a model."""
    held_out: Interval95
    """Precision at automatic merge on the half that was not fitted."""


@dataclass(frozen=True, slots=True)
class _Judged:
    pair: LabelledPair
    score: PairScore
    uncapped: float


def pairs_from_rows(rows: Iterable[Mapping[str, str]]) -> tuple[LabelledPair, ...]:
    """Labelled pairs of rows with the columns of the alias files."""
    return tuple(
        LabelledPair(
            pair_id=row["pair_id"],
            entity_type=row["kind"],
            left=row["name1"],
            right=row["name2"],
            is_match=row["is_match"] == "1",
            left_cluster=row["cluster1"],
            right_cluster=row["cluster2"],
        )
        for row in rows
    )


def wilson(right: int, n: int) -> Interval95:
    """A share with its 95 % Wilson interval.

    >>> wilson(294, 294).low > 0.987
    True
    """
    if n == 0:
        return Interval95(0, 0, 0.0, 0.0, 1.0)

    share = right / n
    spread = _Z * _Z / n
    centre = (share + spread / 2) / (1 + spread)
    half = _Z * math.sqrt(share * (1 - share) / n + spread / (4 * n)) / (1 + spread)
    low, high = max(0.0, centre - half), min(1.0, centre + half)
    return Interval95(right, n, round(share, 6), round(low, 6), round(high, 6))


def evaluate(
    pairs: Sequence[LabelledPair],
    *,
    assume_same_scope: bool,
    model: Model | None = None,
    policy: ResolutionPolicy | None = None,
) -> Report:
    """What a model does to labelled pairs; the shipped model unless one is given.

    `assume_same_scope` lifts `person_without_context` and changes nothing else.
    """
    used, bands = model or default_model(), policy or ResolutionPolicy()
    judged = [_judge(pair, used, assume_same_scope) for pair in pairs]
    names = sorted({pair.entity_type for pair in pairs})
    reliability = _reliability(judged)

    return Report(
        model_version=used.version,
        assume_same_scope=assume_same_scope,
        pooled=_report("pooled", judged, bands),
        sets=tuple(
            _report(name, [one for one in judged if one.pair.entity_type == name], bands)
            for name in names
        ),
        reliability=reliability,
        thresholds=tuple(_cut(judged, threshold) for threshold in _CUTS),
        calibration_error=_calibration_error(judged, reliability),
        false_binds=tuple(
            one.pair.pair_id
            for one in judged
            if one.score.score >= bands.bind_at and not one.pair.is_match
        ),
    )


def refit_platt(pairs: Sequence[LabelledPair], model: Model) -> Refit:
    """The model with Platt's numbers fitted to new labels, or why not.

    Labels are split by cluster hash; a third is held out. Refused: fewer than 200 labels,
    labels of one kind only, no held-out pair that would bind, or a held-out precision below
    0.99 at automatic merge. A new model never rewrites old judgements.
    """
    nothing = wilson(0, 0)
    if len(pairs) < REFIT_MIN_LABELS:
        return _refused(f"{len(pairs)} labels; {REFIT_MIN_LABELS} are needed", nothing)

    train, held = split(pairs, 0, 3)
    matches = sum(pair.is_match for pair in train)
    if matches in (0, len(train)):
        return _refused("the labels to fit are all of one kind", nothing)

    evidence = [_evidence(pair, model) for pair in train]
    slope, intercept = platt(evidence, matches / len(train))
    if slope <= 0:
        return _refused("more name evidence would mean less probability", nothing)

    # The shift belonged to the old labels; the new ones carry their own share of matches.
    fitted = versioned(replace(model, slope=slope, intercept=intercept, shift=0.0))
    precision = evaluate(held, assume_same_scope=False, model=fitted).pooled.bind
    if precision.n == 0:
        return _refused("no held-out pair would bind, so precision cannot be checked", precision)

    if precision.share < REFIT_MIN_PRECISION:
        return _refused(
            f"held-out precision {precision.share:.4f} is below {REFIT_MIN_PRECISION}", precision
        )

    return Refit(model=fitted, refused="", held_out=precision)


def _refused(why: str, held_out: Interval95) -> Refit:
    return Refit(model=None, refused=why, held_out=held_out)


def _evidence(pair: LabelledPair, model: Model) -> Evidence:
    measures = measure_pair(pair, model)
    facts = PairFacts(
        entity_type=pair.entity_type, measures=measures, context=pair.context, limits=model.limits
    )
    return Evidence(evidence_of(model, measures), context_log_odds(facts, model), pair.is_match)


def _judge(pair: LabelledPair, model: Model, assume_same_scope: bool) -> _Judged:
    context = pair.context
    if assume_same_scope:
        context = replace(context, person_context=PersonContext.ASSUMED)

    left = normalize(pair.left, pair.entity_type)
    right = normalize(pair.right, pair.entity_type)
    score = score_pair(left, (right,), pair.entity_type, context, model)
    return _Judged(pair, score, 1 / (1 + math.exp(-score.log_odds)))


def _report(name: str, judged: Sequence[_Judged], bands: ResolutionPolicy) -> SetReport:
    matches = sum(one.pair.is_match for one in judged)
    bound = [one for one in judged if one.score.score >= bands.bind_at]
    review = [one for one in judged if bands.review_above < one.score.score < bands.bind_at]
    bind = _truth(bound)

    return SetReport(
        name=name,
        pairs=len(judged),
        matches=matches,
        bind=bind,
        recall=_ratio(bind.right, matches),
        review=_truth(review),
        review_share=_ratio(len(review), len(judged)),
        suggested=sum(
            bands.suggest_from <= one.score.score <= bands.review_above for one in judged
        ),
        missed=sum(one.pair.is_match and one.score.score < bands.suggest_from for one in judged),
        proven=bind.n >= PROVEN_FROM,
    )


def _truth(judged: Sequence[_Judged]) -> Interval95:
    return wilson(sum(one.pair.is_match for one in judged), len(judged))


def _ratio(part: float, whole: int) -> float:
    return round(part / whole, 6) if whole else 0.0


def _reliability(judged: Sequence[_Judged]) -> tuple[Bin, ...]:
    return tuple(
        Bin(low, min(high, 1.0), _truth([one for one in judged if low <= one.uncapped < high]))
        for low, high in pairwise(_EDGES)
    )


def _cut(judged: Sequence[_Judged], threshold: float) -> Cut:
    precision = _truth([one for one in judged if one.score.score >= threshold])
    matches = sum(one.pair.is_match for one in judged)
    return Cut(threshold, precision, _ratio(precision.right, matches))


def _calibration_error(judged: Sequence[_Judged], bins: Sequence[Bin]) -> float:
    error = 0.0
    for row in bins:
        inside = [one.uncapped for one in judged if row.low <= one.uncapped < row.high]
        error += abs(sum(inside) - row.truth.right)
    return _ratio(error, len(judged))
