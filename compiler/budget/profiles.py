"""From a profile's shares and a task's signals to the sections that the allocator divides.

Shares become floors and caps of what the fixed layers leave; they never divide the budget by
themselves. A profile that adds up to more than the whole is refused where the policy is made.
Signals arrive as ratios, counts, levels and days; each is brought to 0..1 by its declared clamp and
the weighted sum only scales a section's weight.

Numbers are permille throughout. Checklist C-226, C-227, C-229.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from enum import StrEnum
from fractions import Fraction
from types import MappingProxyType
from typing import Final, NamedTuple

from ...schema.errors import InvalidInput, unknown
from ...schema.policy import SIGNALS_SHIPPED, BudgetProfileRule, SignalRule

_PERMILLE: Final = 1000

RISK_LEVELS: Final[Mapping[str, float]] = MappingProxyType({"low": 0.0, "medium": 0.5, "high": 1.0})
"""Values of `risk_weight` where it is stated as a word."""


class Layer(StrEnum):
    """The parts of a budget that have shares."""

    EVIDENCE = "evidence"
    MEMORY = "memory"
    CONVERSATION = "conversation"


class SectionShare(NamedTuple):
    """The least and the most of the budget that a layer or a section takes, in permille of it."""

    floor: int
    ceiling: int


def profile(name: str, rules: Sequence[BudgetProfileRule]) -> Mapping[Layer, SectionShare]:
    """The shares of a profile of the policy.

    Raises:
        InvalidInput: `unknown_vocabulary`, naming the nearest profiles.
    """
    for rule in rules:
        if rule.name == name:
            shares: dict[Layer, SectionShare] = {}
            for row in rule.shares:
                shares[Layer(row.layer)] = SectionShare(row.floor, row.ceiling)
            return shares

    raise unknown("profile", name, [rule.name for rule in rules])


def section_weights(
    signals: Mapping[str, float], rules: Sequence[SignalRule] = SIGNALS_SHIPPED
) -> dict[Layer, int]:
    """The weights of evidence, memory and conversation, normalised to 1000 together.

    `rules` is the policy's table. A signal that is absent adds
    nothing. What rounding leaves goes to the largest remainder,
    ties to the layer that is named first.

    >>> section_weights({"checklist_evidence_ratio": 1, "dialogue_depth": 20})
    {<Layer.EVIDENCE: 'evidence'>: 361, <Layer.MEMORY: 'memory'>: 278, \
<Layer.CONVERSATION: 'conversation'>: 361}

    Raises:
        InvalidInput: `unknown_vocabulary` for a signal nobody declared, `bad_share` for a value
            that is not a finite number of at least 0.
    """
    rule_of = {rule.name: rule for rule in rules}
    raw: dict[Layer, Fraction] = dict.fromkeys(Layer, Fraction(1))
    for name in sorted(signals):
        if name not in rule_of:
            raise unknown("signal", name, rule_of)
        rule = rule_of[name]
        raw[Layer(rule.layer)] += clamp(name, signals[name], rule) * rule.weight / _PERMILLE

    # Largest remainder (Hamilton): whole numbers that add up to exactly the whole.
    total = sum(raw.values())
    weights: dict[Layer, int] = {}
    remainders: dict[Layer, Fraction] = {}
    for layer, weight in raw.items():
        exact = weight * _PERMILLE / total
        weights[layer] = math.floor(exact)
        remainders[layer] = exact - weights[layer]

    layers = sorted(remainders, key=lambda layer: -remainders[layer])
    for layer in layers[: _PERMILLE - sum(weights.values())]:
        weights[layer] += 1

    return weights


def clamp(name: str, value: float, rule: SignalRule) -> Fraction:
    """A signal's value on the scale 0..1.

    Raises:
        InvalidInput: `bad_share`, for a value that is not a finite number of at least 0.
    """
    if not math.isfinite(value) or value < 0:
        raise InvalidInput(
            f"signal {name!r} must be a finite number of at least 0, not {value!r}",
            code="bad_share",
        )

    part = min(Fraction(1), Fraction(value) / Fraction(rule.full))
    return 1 - part if rule.falling else part


def risk_weight(level: str) -> float:
    """The signal value of a risk level.

    Raises:
        InvalidInput: `unknown_vocabulary`.
    """
    if level not in RISK_LEVELS:
        raise unknown("risk level", level, RISK_LEVELS)

    return RISK_LEVELS[level]
