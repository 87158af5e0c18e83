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

from tenure.bench.evaluation.fit import (
    CalibrationLabel,
    FittedLevel,
    LabelledPair,
    evidence_of,
    fit,
    fitted_levels,
    measure_pair,
    platt,
    split,
)
from tenure.resolution.context import NO_CONTEXT, PairContext, PersonContext
from tenure.resolution.model import Model, default_model, with_version
from tenure.resolution.normalize import normalize
from tenure.resolution.score import context_lines_of, score_pair
from tenure.resolution.vetoes import PairFacts, compare_attributes
from tenure.schema.errors import InvalidInput, unknown
from tenure.schema.policy import ResolutionPolicy
from tenure.schema.slots import ENTITY_TYPES, UNKNOWN_TYPE
from tenure.schema.vocabulary import AttributeKind

PROVEN_FROM = 300
"""Bound pairs from which a precision may be called proven."""
REFIT_MIN_LABELS = 200
REFIT_MIN_PRECISION = 0.99
_EDGES = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.000001)
_CUTS = (0.95, 0.90, 0.80, 0.70, 0.40)
_Z = 1.959964
STRESS: Mapping[str, PairContext] = {
    "": NO_CONTEXT,
    "scope": PairContext(same_scope=True),
    "neighbour": PairContext(neighbour_overlap=500),
    "both": PairContext(same_scope=True, neighbour_overlap=500),
}
"""Contexts that `evaluate` can give to all pairs, right and wrong ones alike."""
_LABELS = {"1": True, "true": True, "yes": True, "0": False, "false": False, "no": False}


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
class _Outcome:
    """What the model makes of one labelled pair."""

    pair: LabelledPair
    score: float
    """Vetoes applied."""
    probability: float
    """What was found before vetoes, which calibration speaks about."""

    @property
    def is_match(self) -> bool:
        return self.pair.is_match


def pairs_from_rows(rows: Iterable[Mapping[str, str]]) -> tuple[LabelledPair, ...]:
    """Labelled pairs of rows with the columns of the alias files.

    Raises:
        KeyError: A column is missing.
        InvalidInput: `bad_label` for a truth that is neither yes nor no, `unknown_vocabulary`
            for a kind that is no entity type.
    """
    return tuple(map(_pair, rows))


def _pair(row: Mapping[str, str]) -> LabelledPair:
    label, kind = row["is_match"].strip().lower(), row["kind"].strip()
    if label not in _LABELS:
        raise InvalidInput(
            f"pair {row['pair_id']}: is_match is {label!r}; write one of {', '.join(_LABELS)}",
            code="bad_label",
        )

    if kind != UNKNOWN_TYPE and kind not in ENTITY_TYPES:
        raise unknown("entity type", kind, ENTITY_TYPES)

    return LabelledPair(
        pair_id=row["pair_id"],
        entity_type=kind,
        left=row["name1"],
        right=row["name2"],
        is_match=_LABELS[label],
        left_cluster=row["cluster1"],
        right_cluster=row["cluster2"],
        context=_context(row),
    )


def _context(row: Mapping[str, str]) -> PairContext:
    """What the attribute columns of a row say, such as `email1` and `email2`."""
    kinds = {slot: AttributeKind(kind) for slot, kind in ResolutionPolicy().attributes}
    sides: list[dict[str, list[str]]] = []
    for side in "12":
        cells = {slot: row.get(slot + side) or "" for slot in kinds}
        sides.append({slot: [cell] for slot, cell in cells.items() if cell.strip()})
    evidence = compare_attributes(sides[0], sides[1], kinds)
    if not evidence.features:
        return NO_CONTEXT
    return PairContext(
        attributes=evidence.features,
        same_contact=evidence.same_contact,
        attribute_conflict=evidence.conflict,
    )


@dataclass(frozen=True, slots=True)
class FitReport:
    """A model that was fitted to labels, and what it does to labels that it has not seen."""

    model: Model
    levels: tuple[FittedLevel, ...]
    held_out: Report


def fit_columns(pairs: Sequence[LabelledPair], source: str) -> FitReport:
    """Fit a weight for each level of each column, of names and attributes, to labelled pairs.

    A third of the clusters is held out.

    Raises:
        InvalidInput: `refit_refused` for too few labels, or a held-out precision below 0.99.
    """
    train, held = split(pairs, 0, 3)
    if len(train) < REFIT_MIN_LABELS or len({pair.is_match for pair in train}) < 2:
        raise InvalidInput(
            f"no new model: {len(train)} labels to fit on; {REFIT_MIN_LABELS} are needed, matches "
            "and others among them",
            code="refit_refused",
        )
    model = fit(train, fitted_on={"files": [source], "pairs": len(train), "held_out": len(held)})
    report = evaluate(held, assume_same_scope=True, model=model)
    bound = report.pooled.bind
    if bound.n and bound.share < REFIT_MIN_PRECISION:
        raise InvalidInput(
            f"no new model: held-out precision {bound.share:.4f} ({bound.right}/{bound.n}) is "
            f"below {REFIT_MIN_PRECISION}; label more pairs",
            code="refit_refused",
        )
    return FitReport(model, fitted_levels(model, train), report)


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
    context: PairContext = NO_CONTEXT,
) -> Report:
    """What a model does to labelled pairs; the shipped model unless one is given.

    `assume_same_scope` lifts `person_without_context` and changes nothing else. `context` takes
    the place of every pair's own: a stress test, because in life hardly any two names share it.
    """
    scoring_model, bands = model or default_model(), policy or ResolutionPolicy()
    outcomes: list[_Outcome] = []
    by_type: dict[str, list[_Outcome]] = {}
    false_binds: list[str] = []
    for pair in pairs:
        judged_pair = pair if context is NO_CONTEXT else replace(pair, context=context)
        outcome = _judge(judged_pair, scoring_model, assume_same_scope)
        outcomes.append(outcome)
        by_type.setdefault(pair.entity_type, []).append(outcome)
        if outcome.score >= bands.bind_at and not pair.is_match:
            false_binds.append(pair.pair_id)

    sets: list[SetReport] = []
    for name, outcomes_of_type in sorted(by_type.items()):
        sets.append(_report(name, outcomes_of_type, bands))

    reliability = _reliability(outcomes)
    return Report(
        model_version=scoring_model.version,
        assume_same_scope=assume_same_scope,
        pooled=_report("pooled", outcomes, bands),
        sets=tuple(sets),
        reliability=reliability,
        thresholds=tuple([_cut(outcomes, threshold) for threshold in _CUTS]),
        calibration_error=_calibration_error(outcomes, reliability),
        false_binds=tuple(false_binds),
    )


def refit_platt(pairs: Sequence[LabelledPair], model: Model) -> Refit:
    """The model with Platt's numbers fitted to new labels, or why not.

    Labels are split by cluster hash; a third is held out. Refused: fewer than 200 labels,
    labels of one kind only, no held-out pair that would bind, or a held-out precision below
    0.99 at automatic merge. A new model never rewrites old judgements.
    """
    no_precision = wilson(0, 0)
    if len(pairs) < REFIT_MIN_LABELS:
        return _refusal(f"{len(pairs)} labels; {REFIT_MIN_LABELS} are needed", no_precision)

    train, held_out = split(pairs, 0, 3)
    evidence: list[CalibrationLabel] = []
    matches = 0
    for pair in train:
        evidence.append(_evidence(pair, model))
        matches += pair.is_match
    if matches in (0, len(train)):
        return _refusal("the labels to fit are all of one kind", no_precision)

    slope, intercept = platt(evidence, matches / len(train))
    if slope <= 0:
        return _refusal("more name evidence would mean less probability", no_precision)

    # The shift belonged to the old labels; the new ones carry their own share of matches.
    candidate = with_version(replace(model, slope=slope, intercept=intercept, shift=0.0))
    precision = evaluate(held_out, assume_same_scope=False, model=candidate).pooled.bind
    if precision.n == 0:
        return _refusal("no held-out pair would bind, so precision cannot be checked", precision)

    if precision.share < REFIT_MIN_PRECISION:
        return _refusal(
            f"held-out precision {precision.share:.4f} is below {REFIT_MIN_PRECISION}", precision
        )

    return Refit(model=candidate, refused="", held_out=precision)


def _refusal(reason: str, held_out: Interval95) -> Refit:
    return Refit(model=None, refused=reason, held_out=held_out)


def _evidence(pair: LabelledPair, model: Model) -> CalibrationLabel:
    measures = measure_pair(pair, model)
    facts = PairFacts(
        entity_type=pair.entity_type, measures=measures, context=pair.context, limits=model.limits
    )
    return CalibrationLabel(
        evidence_of(model, measures),
        sum(line.weight for line in context_lines_of(facts, model)),
        pair.is_match,
    )


def _judge(pair: LabelledPair, model: Model, assume_same_scope: bool) -> _Outcome:
    context = pair.context
    if assume_same_scope:
        context = replace(context, person_context=PersonContext.ASSUMED)

    left = normalize(pair.left, pair.entity_type)
    right = normalize(pair.right, pair.entity_type)
    score = score_pair(left, (right,), pair.entity_type, context, model)
    return _Outcome(pair, score.score, 1 / (1 + math.exp(-score.log_odds)))


def _report(name: str, outcomes: Sequence[_Outcome], bands: ResolutionPolicy) -> SetReport:
    bound: list[_Outcome] = []
    review: list[_Outcome] = []
    suggestions = losses = 0
    for outcome in outcomes:
        if outcome.score >= bands.bind_at:
            bound.append(outcome)
        elif outcome.score > bands.review_above:
            review.append(outcome)
        elif outcome.score >= bands.suggest_from:
            suggestions += 1
        else:
            losses += outcome.is_match

    bind, matches = _truth(bound), _matches(outcomes)
    return SetReport(
        name=name,
        pairs=len(outcomes),
        matches=matches,
        bind=bind,
        recall=_ratio(bind.right, matches),
        review=_truth(review),
        review_share=_ratio(len(review), len(outcomes)),
        suggested=suggestions,
        missed=losses,
        proven=bind.n >= PROVEN_FROM,
    )


def _matches(outcomes: Iterable[_Outcome]) -> int:
    return sum(outcome.is_match for outcome in outcomes)


def _truth(outcomes: Sequence[_Outcome]) -> Interval95:
    return wilson(_matches(outcomes), len(outcomes))


def _ratio(part: float, total: int) -> float:
    return round(part / total, 6) if total else 0.0


def _in_bin(outcomes: Iterable[_Outcome], low: float, high: float) -> list[_Outcome]:
    outcomes_inside: list[_Outcome] = []
    for outcome in outcomes:
        if low <= outcome.probability < high:
            outcomes_inside.append(outcome)
    return outcomes_inside


def _reliability(outcomes: Sequence[_Outcome]) -> tuple[Bin, ...]:
    bins: list[Bin] = []
    for low, high in pairwise(_EDGES):
        bins.append(Bin(low, min(high, 1.0), _truth(_in_bin(outcomes, low, high))))
    return tuple(bins)


def _cut(outcomes: Sequence[_Outcome], threshold: float) -> Cut:
    precision = _truth([outcome for outcome in outcomes if outcome.score >= threshold])
    return Cut(threshold, precision, _ratio(precision.right, _matches(outcomes)))


def _calibration_error(outcomes: Sequence[_Outcome], bins: Sequence[Bin]) -> float:
    # Expected calibration error: how far the mean score of a bin is from its share of matches,
    # weighted by the pairs in the bin.
    error = 0.0
    for (low, high), row in zip(pairwise(_EDGES), bins, strict=True):
        total = 0.0
        for outcome in _in_bin(outcomes, low, high):
            total += outcome.probability
        error += abs(total - row.truth.right)
    return _ratio(error, len(outcomes))
