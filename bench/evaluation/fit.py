"""Fit a model to labelled pairs: counts, monotone weights, two Platt numbers.

Everything is deterministic: splits hash the cluster, sums run in the order of the pairs, and
all numbers are rounded to six decimals. Weights are log-odds of a level among matches and
non-matches, with half a pair added to each count; pooling neighbours keeps them from rising
along falling levels. Where the acronym comparison fires the comparisons of words have weight 0.

Platt's numbers are fitted on evidence that was scored by weights from *other* clusters, and
every pair is weighted so that matches make up `PRIOR_SHARE`. Few numbers on purpose: richer
models won on known kinds of names and lost on unseen ones.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from tenure.resolution.compare import COMPARISONS, Comparison, Measures, measure
from tenure.resolution.context import NO_CONTEXT, PairContext
from tenure.resolution.lexicon import profile_of
from tenure.resolution.model import Model, VetoLimits, content_of, with_version
from tenure.resolution.normalize import NORMALIZER_VERSION, normalize
from tenure.resolution.vetoes import COMPARATORS
from tenure.schema.policy import ResolutionPolicy
from tenure.schema.vocabulary import AttributeKind

PRIOR_SHARE = 0.287
"""Share of matches among the labelled pairs the model speaks about."""
FOLDS = 5
_COUNT_PRIOR = 0.5
_RARITY_MIN_NAMES = 3
_NEWTON_STEPS = 50
_SMALLEST_STEP = 1e-6
_RIDGE = 1e-9
_DIGIT = re.compile(r"\d")

SHORT_FORM_PRIOR = (2.9, 1.4, 0.0)
"""Nickname, initial, neither: too few labelled cases to fit."""
CONTEXT_PRIOR: Mapping[str, float] = {
    "same_handle": 6.0,
    "neighbour_overlap": 1.5,
    "same_scope": 1.0,
    "mentioned_together": 0.5,
    "attribute_conflict": -4.0,
    "same_role": 0.0,
    "same_path": 0.0,
    "same_document": 0.0,
}
DEFAULT_LIMITS = VetoLimits(
    capped_score=0.94, extra_share=350, single_word_osa=900, short_core=5, neighbour_overlap=300
)


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledPair:
    """Two names and whether they name one entity."""

    pair_id: str
    entity_type: str
    left: str
    right: str
    is_match: bool
    left_cluster: str
    """The entity of the left name, as its source knows it."""
    right_cluster: str
    context: PairContext = NO_CONTEXT
    """What was known beside the names when the pair was judged."""


class CalibrationLabel(NamedTuple):
    """One labelled value for Platt's two numbers."""

    value: float
    """Sum of the name weights, before calibration."""
    offset: float
    """Log-odds of the context, which calibration leaves alone."""
    truth: bool


def bucket(cluster: str, buckets: int) -> int:
    """The bucket of a cluster, the same on every machine and run."""
    return int.from_bytes(hashlib.sha256(cluster.encode()).digest()[:8]) % buckets


def split(
    pairs: Sequence[LabelledPair], fold: int, folds: int = FOLDS
) -> tuple[tuple[LabelledPair, ...], tuple[LabelledPair, ...]]:
    """Return (train, held out): no cluster of a training pair lies in the held-out fold.

    A held-out pair has at least one cluster in the fold, so every held-out match is of an
    entity that training never saw.
    """
    train: list[LabelledPair] = []
    held_out: list[LabelledPair] = []
    for pair in pairs:
        buckets = {bucket(pair.left_cluster, folds), bucket(pair.right_cluster, folds)}
        (held_out if fold in buckets else train).append(pair)

    return tuple(train), tuple(held_out)


def fit(pairs: Sequence[LabelledPair], *, fitted_on: Mapping[str, object]) -> Model:
    """The model of labelled pairs; the same pairs in the same order give the same bytes."""
    status = dict.fromkeys([row.name for row in COMPARISONS], "fitted")
    status["short_form"] = "prior"  # too few labels hold one
    draft = Model(
        version="",
        normalizer=NORMALIZER_VERSION,
        fitted_on=fitted_on,
        prior=round(math.log(PRIOR_SHARE / (1 - PRIOR_SHARE)), 6),
        slope=1.0,
        intercept=0.0,
        shift=0.0,
        weights={},
        status=status,
        context=CONTEXT_PRIOR,
        limits=DEFAULT_LIMITS,
        rarity=rarity_table(pairs),
    )

    measurements: list[tuple[LabelledPair, Measures]] = []
    for pair in pairs:
        measurements.append((pair, measure_pair(pair, draft)))

    evidence = _unseen_evidence(draft, measurements)
    slope, intercept = platt(evidence)
    context = dict(CONTEXT_PRIOR)
    for row in attribute_levels(pairs):
        context[f"{row.column} {row.level}"] = row.weight
    return with_version(
        replace(
            draft,
            weights=_weights(measurements),
            slope=slope,
            intercept=intercept,
            context=context,
        )
    )


@dataclass(frozen=True, slots=True)
class FittedLevel:
    """How often a column is at a level among matches and non-matches, and what that weighs."""

    column: str
    level: str
    matches: int
    non_matches: int
    m: float
    """Share of the matches that state the column on both sides."""
    u: float
    """The same of the non-matches."""
    weight: float
    """Log-odds."""


def attribute_levels(pairs: Iterable[LabelledPair]) -> tuple[FittedLevel, ...]:
    """The levels of all attributes that labelled pairs state on both sides.

    A birth date that differs keeps the weight of its conflict, which also forbids a merge.
    """
    counts: dict[str, Counter[tuple[str, bool]]] = {}
    for pair in pairs:
        for line in pair.context.attributes:
            level = "equal" if line.score else "differing"
            counts.setdefault(line.name, Counter())[level, pair.is_match] += 1

    rows: list[FittedLevel] = []
    kinds = dict(ResolutionPolicy().attributes)
    for column, found in sorted(counts.items()):
        is_unique = COMPARATORS[AttributeKind(kinds[column])].is_unique
        for level in ("equal",) if is_unique else ("equal", "differing"):
            rows.append(_fitted_level(column, level, found))
    return tuple(rows)


def _fitted_level(
    column: str, level: str, counts: Mapping[tuple[str, bool], int], weight: float | None = None
) -> FittedLevel:
    shares: dict[bool, float] = {}
    for truth in (True, False):
        total = sum(count for (_, is_match), count in counts.items() if is_match is truth)
        # Half a pair at each of the two levels: what no label has is unlikely, not ruled out.
        shares[truth] = (counts.get((level, truth), 0) + _COUNT_PRIOR) / (total + 2 * _COUNT_PRIOR)
    fitted = math.log(shares[True] / shares[False]) if weight is None else weight
    return FittedLevel(
        column,
        level,
        counts.get((level, True), 0),
        counts.get((level, False), 0),
        round(shares[True], 6),
        round(shares[False], 6),
        round(fitted, 6),
    )


def fitted_levels(model: Model, pairs: Sequence[LabelledPair]) -> tuple[FittedLevel, ...]:
    """Every level of every column, of names and attributes, as a model weighs it."""
    counts: dict[str, Counter[tuple[str, bool]]] = {row.name: Counter() for row in COMPARISONS}
    for pair in pairs:
        for row, index in zip(COMPARISONS, measure_pair(pair, model).levels, strict=True):
            counts[row.name][row.levels[index], pair.is_match] += 1

    rows: list[FittedLevel] = []
    for row in COMPARISONS:
        for level, weight in zip(row.levels, model.weights[row.name], strict=True):
            rows.append(_fitted_level(row.name, level, counts[row.name], weight))
    return (*rows, *attribute_levels(pairs))


def measure_pair(pair: LabelledPair, model: Model) -> Measures:
    """The raw facts of a labelled pair under a model's rarity of words."""
    return measure(
        normalize(pair.left, pair.entity_type),
        normalize(pair.right, pair.entity_type),
        model.rarity_of(pair.entity_type),
    )


def evidence_of(model: Model, measures: Measures) -> float:
    """The sum of the weights, prior included, in nats, before Platt."""
    evidence = model.prior
    for row, level in zip(COMPARISONS, measures.levels, strict=True):
        evidence += model.weights[row.name][level]
    return round(evidence, 6)


def rarity_table(pairs: Iterable[LabelledPair]) -> dict[str, dict[str, int]]:
    """How much each frequent word tells, per profile, in thousandths."""
    names: dict[str, set[tuple[str, ...]]] = {}
    for pair in pairs:
        for surface in (pair.left, pair.right):
            core = normalize(surface, pair.entity_type).core
            names.setdefault(profile_of(pair.entity_type).value, set()).add(core)

    table: dict[str, dict[str, int]] = {}
    for profile, cores in sorted(names.items()):
        table[profile] = _rarity(cores)
    return table


def _rarity(cores: set[tuple[str, ...]]) -> dict[str, int]:
    counts: Counter[str] = Counter()
    for core in cores:
        counts.update(set(core))
    scale = math.log(1 + len(cores))
    rarity: dict[str, int] = {}
    for word, count in sorted(counts.items()):
        # Numbers always tell all they can: 7 is frequent and still no other number.
        if count >= _RARITY_MIN_NAMES and not _DIGIT.search(word):
            rarity[word] = round(1000 * math.log(1 + len(cores) / count) / scale)
    return rarity


def platt(evidence: Sequence[CalibrationLabel], share: float = PRIOR_SHARE) -> tuple[float, float]:
    """Slope and intercept that make a sigmoid of the evidence a probability.

    Newton's method on the weighted log-loss; `share` is the weight of all matches together.
    """
    matches = 0
    for label in evidence:
        matches += label.truth
    weight = {True: share / max(matches, 1), False: (1 - share) / max(len(evidence) - matches, 1)}
    line = (1.0, 0.0)
    loss = _log_loss(evidence, weight, line)
    for _ in range(_NEWTON_STEPS):
        step = _newton_step(evidence, weight, line)
        size = 1.0
        # A full step may overshoot where the curve is flat; halve it until the loss falls.
        while size > _SMALLEST_STEP:
            trial = (line[0] - size * step[0], line[1] - size * step[1])
            if (lower := _log_loss(evidence, weight, trial)) < loss:
                line, loss = trial, lower
                break
            size /= 2
        else:
            break

    return round(line[0], 6), round(line[1], 6)


def _log_loss(
    evidence: Sequence[CalibrationLabel], weight: dict[bool, float], line: tuple[float, float]
) -> float:
    total = 0.0
    for value, offset, truth in evidence:
        odds = line[0] * value + line[1] + offset
        loss_odds = -odds if truth else odds
        total += weight[truth] * (max(loss_odds, 0.0) + math.log1p(math.exp(-abs(loss_odds))))

    return total


def _newton_step(
    evidence: Sequence[CalibrationLabel], weight: dict[bool, float], line: tuple[float, float]
) -> tuple[float, float]:
    g0 = g1 = h00 = h01 = h11 = 0.0
    for value, offset, truth in evidence:
        odds = line[0] * value + line[1] + offset
        p = 1 / (1 + math.exp(-max(-60.0, min(60.0, odds))))
        gap = weight[truth] * (p - truth)
        curve = weight[truth] * p * (1 - p)
        g0 += gap
        g1 += gap * value
        h00 += curve
        h01 += curve * value
        h11 += curve * value * value

    # The ridge keeps one single value of evidence from dividing by zero.
    h00, h11 = h00 + _RIDGE, h11 + _RIDGE
    determinant = h00 * h11 - h01 * h01
    return ((h00 * g1 - h01 * g0) / determinant, (h11 * g0 - h01 * g1) / determinant)


def _unseen_evidence(
    draft: Model, measurements: Sequence[tuple[LabelledPair, Measures]]
) -> list[CalibrationLabel]:
    """The evidence of every pair under weights from other clusters."""
    evidence: list[CalibrationLabel] = []
    for fold in range(FOLDS):
        train: list[tuple[LabelledPair, Measures]] = []
        held_out: list[tuple[LabelledPair, Measures]] = []
        for pair, measures in measurements:
            is_held_out = bucket(pair.left_cluster, FOLDS) == fold
            (held_out if is_held_out else train).append((pair, measures))

        model = replace(draft, weights=_weights(train))
        for pair, measures in held_out:
            value = evidence_of(model, measures)
            evidence.append(CalibrationLabel(value, 0.0, pair.is_match))

    return evidence


def _weights(
    measurements: Sequence[tuple[LabelledPair, Measures]],
) -> dict[str, tuple[float, ...]]:
    weights: dict[str, tuple[float, ...]] = {}
    for index, row in enumerate(COMPARISONS):
        if row.name == "short_form":
            weights[row.name] = SHORT_FORM_PRIOR
            continue
        counts: Counter[tuple[int, bool]] = Counter()
        for pair, measures in measurements:
            counts[measures.levels[index], pair.is_match] += 1
        weights[row.name] = _monotone(row, counts)

    return weights


def _monotone(row: Comparison, counts: Mapping[tuple[int, bool], int]) -> tuple[float, ...]:
    """Log-odds per level that never rise along the levels (pool adjacent violators)."""
    # An acronym shares no word with the name: there the acronym comparison speaks alone.
    silent = row.levels[-1] == "acronym"
    sizes = len(row.levels) - silent
    pools: list[tuple[float, float, int]] = []
    for level in range(sizes):
        pool = (
            counts.get((level, True), 0) + _COUNT_PRIOR,
            counts.get((level, False), 0) + _COUNT_PRIOR,
            1,
        )
        while pools and pools[-1][0] * pool[1] < pool[0] * pools[-1][1]:
            before = pools.pop()
            pool = (before[0] + pool[0], before[1] + pool[1], before[2] + pool[2])
        pools.append(pool)

    matches = non_matches = 0.0
    for match_count, non_match_count, _ in pools:
        matches += match_count
        non_matches += non_match_count

    weights: list[float] = []
    for match_count, non_match_count, levels in pools:
        weight = math.log(match_count * non_matches / (non_match_count * matches))
        weights += [round(weight, 6)] * levels
    return (*weights, 0.0) if silent else tuple(weights)


def model_to_json(model: Model) -> str:
    """The file of a model: sorted keys, one line each, ending in a line feed."""
    content = content_of(model)
    content["version"] = model.version
    return json.dumps(content, indent=1, sort_keys=True, ensure_ascii=False) + "\n"
