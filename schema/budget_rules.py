"""What a policy pack says of a budget's layers and of detectors, as rows of tables.

A profile gives the layers of a kind of task their shares, a signal scales a layer's weight, and a
limit says from which score on a text of a channel is set apart. Names of profiles and signals are
free; those of layers and channels are the compiler's. Shares and weights are permille.

Checklist C-187, C-226 to C-230, C-318.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import inf, isfinite
from typing import Final

from .compile_terms import SectionName
from .crosswalk import USUAL_SHARES, PackLayer
from .errors import InvalidInput
from .short_repr import short_repr

BUDGET_LAYERS: Final = ("evidence", "memory", "conversation")
"""The layers that profiles and signals speak of."""

SCANNED_CHANNELS: Final = (
    "platform", "developer", "user", "agent", "tool", "document", "web", "model",
)  # fmt: skip
"""The channels that detectors have limits for."""

_WHOLE: Final = 1_000
_SLACK: Final = USUAL_SHARES[PackLayer.SLACK][0]
"""Permille that a profile's least shares leave free."""


@dataclass(frozen=True, slots=True)
class LayerShare:
    """The least and the most of the budget that a layer takes."""

    __repr__ = short_repr

    layer: str
    floor: int
    ceiling: int


@dataclass(frozen=True, slots=True)
class BudgetProfileRule:
    """The shares of one kind of task."""

    __repr__ = short_repr

    name: str
    shares: tuple[LayerShare, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SignalRule:
    """How one signal of a request is read."""

    __repr__ = short_repr

    name: str
    layer: str
    """Whose weight it scales."""
    full: float
    """At or above this value the signal is at its end of the scale."""
    falling: bool = False
    """Whether a small value is the strong one, as an age in days."""
    weight: int = 300
    """How much of a weight of 1 it can add; the base weight is 1."""


@dataclass(frozen=True, slots=True)
class DetectorLimit:
    """From when on detectors set apart what one channel brings."""

    __repr__ = short_repr

    channel: str
    score: int
    """Sum of severities, each code counted once, from which a text is quarantined."""
    length: int
    """Characters above which a text counts as dilution."""


def _profile(name: str, **shares: tuple[int, int]) -> BudgetProfileRule:
    return BudgetProfileRule(
        name, tuple(LayerShare(layer, *share) for layer, share in shares.items())
    )


PROFILES_SHIPPED: Final = (
    _profile("research", evidence=(550, 650), memory=(200, 250), conversation=(100, 150)),
    _profile("requirements", evidence=(450, 550), memory=(250, 300), conversation=(150, 200)),
    _profile("test_cases", evidence=(500, 600), memory=(200, 250), conversation=(100, 150)),
)
"""Shares of what the stable layers leave, by kind of task (C-229)."""

SIGNALS_SHIPPED: Final = (
    SignalRule(name="checklist_evidence_ratio", layer="evidence", full=1),
    # Five calls fill a turn; more say nothing further about how much evidence is wanted.
    SignalRule(name="expected_tool_calls", layer="evidence", full=5),
    SignalRule(name="risk_weight", layer="evidence", full=1),
    SignalRule(name="retrieval_hit_rate", layer="memory", full=1),
    SignalRule(name="similarity", layer="memory", full=1),
    # Days since the memory was confirmed: after a month it earns no bonus.
    SignalRule(name="freshness", layer="memory", full=30, falling=True),
    SignalRule(name="unresolved_questions", layer="conversation", full=5),
    # Twenty turns are the span of the progressive history before it folds.
    SignalRule(name="dialogue_depth", layer="conversation", full=20),
)
"""The eight signals of the allocator (C-227)."""

DETECTORS_SHIPPED: Final = (
    # Severities never add up to 1,000: what the operator wrote is not second-guessed.
    DetectorLimit("platform", 1_000, 200_000),
    DetectorLimit("developer", 1_000, 200_000),
    # A user may well say "ignore my last message"; one weak mark is not enough.
    DetectorLimit("user", 60, 100_000),
    DetectorLimit("agent", 60, 200_000),
    DetectorLimit("tool", 60, 200_000),
    DetectorLimit("document", 60, 1_000_000),
    DetectorLimit("web", 60, 200_000),
    DetectorLimit("model", 60, 200_000),
)
"""Lengths are far above an honest item of the channel."""


def check_profiles(profiles: Sequence[BudgetProfileRule]) -> None:
    """Refuse profiles that no budget could keep: below 0, above the whole, or of other layers.

    Raises:
        InvalidInput: `bad_policy`.
    """
    _check_unique("profile", (rule.name for rule in profiles))
    for rule in profiles:
        layers = [share.layer for share in rule.shares]
        if rule.name == "default" or sorted(layers) != sorted(BUDGET_LAYERS):
            raise _bad_policy(
                f"profile {rule.name!r} has a name of its own and one share for each of "
                f"{', '.join(BUDGET_LAYERS)}"
            )

        for share in rule.shares:
            if not 0 <= share.floor <= share.ceiling <= _WHOLE:
                raise _bad_policy(
                    f"the share of {share.layer!r} in profile {rule.name!r} must rise within "
                    f"0..1000 permille, got {share.floor}..{share.ceiling}"
                )

        total = sum(share.floor for share in rule.shares)
        if total + _SLACK > _WHOLE:
            raise _bad_policy(
                f"the least shares of profile {rule.name!r} add up to {total} permille; with a "
                f"slack of {_SLACK} they must keep to 1000"
            )


def check_signals(signals: Sequence[SignalRule]) -> None:
    """Refuse signals of other layers, or with numbers that no scale has.

    Raises:
        InvalidInput: `bad_policy`.
    """
    _check_unique("signal", (rule.name for rule in signals))
    for rule in signals:
        is_scale = isfinite(rule.full) and rule.full > 0 and 0 <= rule.weight <= _WHOLE
        if rule.layer not in BUDGET_LAYERS or not is_scale:
            raise _bad_policy(
                f"signal {rule.name!r} has a layer of {', '.join(BUDGET_LAYERS)}, a full value "
                "above 0 and a weight of 0 to 1000 permille"
            )


def check_sections(numbers: Sequence[tuple[str, float]], *, ceiling: float = inf) -> None:
    """Refuse a number of no section, which nothing would read, or beyond 0 and the ceiling.

    Raises:
        InvalidInput: `bad_policy`.
    """
    sections = tuple(SectionName)
    names = [name for name, _ in numbers if name not in sections]
    if names:
        raise _bad_policy(
            f"no section is called {', '.join(names)}; they are {', '.join(sections)}"
        )

    names = [name for name, number in numbers if not (0 <= number <= ceiling and isfinite(number))]
    if names:
        limits = "a finite number of at least 0" if ceiling == inf else f"0 to {ceiling:g}"
        raise _bad_policy(f"what a policy gives a section is {limits}: {', '.join(names)}")


def check_detectors(limits: Sequence[DetectorLimit]) -> None:
    """Refuse limits that leave a channel out, or that are below 1.

    Raises:
        InvalidInput: `bad_policy`.
    """
    channels = sorted(limit.channel for limit in limits)
    is_positive = all(limit.score > 0 and limit.length > 0 for limit in limits)
    if channels != sorted(SCANNED_CHANNELS) or not is_positive:
        raise _bad_policy(
            "detectors give each channel one score and one length above 0: "
            + ", ".join(SCANNED_CHANNELS)
        )


def _check_unique(term: str, names: Iterable[str]) -> None:
    repeated_names = [name for name, count in Counter(names).items() if count > 1 or not name]
    if repeated_names:
        raise _bad_policy(f"each {term} has a name of its own: {', '.join(repeated_names)}")


def _bad_policy(message: str) -> InvalidInput:
    return InvalidInput(message, code="bad_policy")
