"""Why a case came to a person: the evidence as a waterfall from the prior to the score.

Weights are log-odds, so they add up; the axis carries the probabilities that people know. A veto
is no weight: it is a wall below the score from which a pair is bound by itself.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

from ...schema.entity import Feature
from ..stewardship.review_page import ReviewPage, best_of

WIDTH: Final = 340
"""As wide as a telephone: the words stand above their bars, so that nothing is cut off."""
ROW: Final = 42
_MARGIN: Final = 18
"""Units at either end of the axis, where half of a label needs its room."""
_BOUND: Final = 12.0
"""Log-odds beyond which the axis is cut: 0.999994."""


@dataclass(frozen=True, slots=True)
class WaterfallStep:
    """One line of evidence."""

    words: str
    weight: str
    x: int
    width: int
    y: int
    speaks_for: bool


@dataclass(frozen=True, slots=True)
class Mark:
    """A probability on the axis."""

    label: str
    x: int


@dataclass(frozen=True, slots=True)
class Waterfall:
    """The picture of a case's best candidate."""

    steps: tuple[WaterfallStep, ...]
    marks: tuple[Mark, ...]
    total: Mark
    width: int
    height: int
    vetoes: tuple[str, ...]


def waterfall_of(record: ReviewPage) -> Waterfall | None:
    """The picture of a case; None where it has no candidate with evidence."""
    best = best_of(record.review)
    if best is None or not best.features:
        return None

    features = sorted(best.features, key=lambda f: (-abs(f.weight), f.name))
    prior = best.log_odds - math.fsum(feature.weight for feature in features)
    ends = [prior]
    for feature in features:
        ends.append(ends[-1] + feature.weight)

    bars = [p for p in (record.review_above, record.bind_at) if 0 < p < 1]
    lowest = max(-_BOUND, min(*ends, *map(_log_odds, bars)) - 1)
    highest = min(_BOUND, max(*ends, *map(_log_odds, bars)) + 1)

    def x_of(log_odds: float) -> int:
        share = (min(max(log_odds, lowest), highest) - lowest) / (highest - lowest)
        return _MARGIN + round(share * (WIDTH - 2 * _MARGIN))

    steps: list[WaterfallStep] = []
    # What a rule proposes was never weighed: then the score is the rule's, and no prior is told.
    if any(map(_has_weight, features)):
        steps.append(
            WaterfallStep("before any evidence", "", x_of(prior) - 2, 4, 0, speaks_for=True)
        )
    for place, feature in enumerate(features):
        left, right = sorted((x_of(ends[place]), x_of(ends[place + 1])))
        steps.append(
            WaterfallStep(
                feature.detail or feature.name.replace("_", " "),
                f"{feature.weight:+.1f}" if _has_weight(feature) else "by rule",
                left,
                max(2, right - left),
                len(steps) * ROW,
                speaks_for=feature.weight >= 0,
            )
        )

    marks = tuple(Mark(f"{bar:.2f}", x_of(_log_odds(bar))) for bar in bars)
    total = Mark(f"{best.score:.2f}", x_of(best.log_odds))
    height = len(steps) * ROW + 40
    return Waterfall(tuple(steps), marks, total, WIDTH, height, record.vetoes)


def _has_weight(feature: Feature) -> bool:
    """Whether a line of evidence is more than nothing at the precision that is shown."""
    return abs(feature.weight) >= 0.05


def _log_odds(probability: float) -> float:
    return math.log(probability / (1 - probability))
