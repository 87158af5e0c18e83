"""The nine state layers and the eight object types: what tenure an object has by default.

A layer says which ids isolate an object and how long it lives; an object type says how fast it
decays and what retires it. A write's own values win over its slot, the slot over the object type,
the object type over the layer. Authority never comes from a layer.

An age counts in half-lives, so one function serves days and turns. Strength falls by halves, at one
step or along a sigmoid; it never rises, and starts at 1 except for a plain sigmoid. A confirmation
makes an object young again; use does not. The policy says which types fade and how.
Checklist C-003 to C-012, C-029, C-031, C-157 to C-159.

>>> [Fading(DecayKind.SIGMOID).strength(age) for age in (0.0, 0.8, 1.0, 1.2)]
[1.0, 0.880837066, 0.5000227, 0.119208334]
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from .errors import InvalidInput
from .records import short_repr
from .vocabulary import ObjectType, RetirementRule, StateLayer

_PARTS: Final = 10**9
_FLAT: Final = 700.0
"""An exponent from which a curve is nothing: `exp` ends near 709."""


class DecayKind(StrEnum):
    """The curve between full strength and none."""

    HALF_LIFE = "half_life"
    STEP = "step"
    SIGMOID = "sigmoid"


@dataclass(frozen=True, slots=True)
class Fading:
    """A curve with its numbers."""

    kind: DecayKind = DecayKind.HALF_LIFE
    left: float = 0.1
    """Strength that a step leaves, 0 to 1."""
    steepness: float = 10.0
    """Kappa of the sigmoid, for one half-life; above 0."""

    def strength(self, half_lives: float) -> float:
        """The strength after an age, 1.0 for none.

        Rounded to 1e-9, so that no last bit of a machine's power function decides.
        """
        # A clock that runs back makes nothing stronger than it was when written.
        age = max(half_lives, 0.0)
        if self.kind is DecayKind.STEP:
            return 1.0 if age <= 1 else _to_nine_decimals(self.left)

        if self.kind is DecayKind.SIGMOID:
            # Scaled so that the curve begins at exactly 1 instead of just below it.
            rise = self.steepness * (age - 1)
            start = 1 + math.exp(-self.steepness)
            return 0.0 if rise > _FLAT else _to_nine_decimals(start / (1 + math.exp(rise)))

        return _to_nine_decimals(math.pow(2.0, -age))


def half_life_of(rate: float) -> float:
    """The half-life of what fades by `exp(-rate * age)`, in the unit of the age.

    >>> round(half_life_of(0.3), 3)
    2.31
    """
    return math.log(2) / rate


def _to_nine_decimals(strength: float) -> float:
    return round(strength * _PARTS) / _PARTS


HALVING: Final = Fading()


@dataclass(frozen=True, slots=True, kw_only=True)
class DecayPolicy:
    """Along which curve what an object type holds fades (C-157 to C-159)."""

    __repr__ = short_repr

    kinds: tuple[tuple[str, str], ...] = ()
    """(object type, `half_life`, `step` or `sigmoid`); a type that is not named fades by halves."""
    step_left: float = 0.1
    """Strength behind a step: below the threshold of every object type, so that it retires."""
    steepness: float = 10.0
    """Of a sigmoid: with 10, 88 % are left at 0.8 half-lives and 12 % at 1.2."""

    def __post_init__(self) -> None:
        for name, kind in self.kinds:
            if name not in tuple(ObjectType) or kind not in tuple(DecayKind):
                raise InvalidInput(
                    f"{name!r} cannot fade as {kind!r}: state an object type with "
                    f"{', '.join(DecayKind)}",
                    code="bad_policy",
                )

        if not (0 <= self.step_left <= 1 and 0 < self.steepness <= 500):
            raise InvalidInput(
                "step_left lies in 0 to 1, steepness above 0 and at most 500", code="bad_policy"
            )

    def fading(self, object_type: str) -> Fading:
        """How an object type fades."""
        if not self.kinds:
            return HALVING
        kind = dict(self.kinds).get(object_type)
        return Fading(DecayKind(kind), self.step_left, self.steepness) if kind else HALVING


_ARCHIVE = RetirementRule.ARCHIVE
_ASK = RetirementRule.TRIGGER_USER_CONFIRMATION
_DEMOTE = RetirementRule.DEMOTE_TO_ARCHIVAL


@dataclass(frozen=True, slots=True)
class DecayRule:
    """How fast the strength of an object falls; along which curve, the policy says."""

    __repr__ = short_repr

    half_life_days: float
    """Days until the strength halves, or falls at once where it falls by a step; above 0."""
    minimum_threshold: float
    """Strength below which the object is due, 0 to 1."""

    def __post_init__(self) -> None:
        if not 0 < self.half_life_days <= 365_000:
            raise InvalidInput(
                f"half_life_days {self.half_life_days!r} must be above 0 and at most 365000",
                code="bad_decay_rule",
            )

        if not 0 <= self.minimum_threshold <= 1:
            raise InvalidInput(
                f"minimum_threshold {self.minimum_threshold!r} must lie in 0 to 1",
                code="bad_decay_rule",
            )

    def strength(self, age_us: int, fading: Fading = HALVING) -> float:
        """The strength after an age in microseconds, 1.0 for no age."""
        return fading.strength(age_us / (self.half_life_days * 86_400_000_000))

    def due(self, age_us: int, fading: Fading = HALVING) -> bool:
        """Whether the object is below its threshold at this age."""
        return self.strength(age_us, fading) < self.minimum_threshold


@dataclass(frozen=True, slots=True)
class LayerProfile:
    """The tenure of a state layer."""

    layer: StateLayer
    lifespan: str
    isolation: str
    risk: str
    retirement: RetirementRule
    decay: DecayRule | None
    needs: str | None = None
    """The scope id without which a write to this layer is refused (`scope_missing`)."""
    takes: tuple[str, ...] = ()
    """The scope ids that the principal fills in."""


_L = StateLayer
LAYERS: Final = {
    p.layer: p
    for p in (
        LayerProfile(_L.SESSION, "until the session closes", "user and session id",
                     "context bloat", _ARCHIVE, None, "session", ("user", "session")),
        LayerProfile(_L.TASK, "until the task closes", "user and session id",
                     "execution derailment", _ARCHIVE, None, "session", ("user", "session")),
        LayerProfile(_L.PROJECT, "until the project closes", "signed project id",
                     "cross-project bleed", _ARCHIVE, None, "project", ("project",)),
        LayerProfile(_L.USER, "open", "user id",
                     "overgeneralised personalisation", _ASK, None, None, ("user",)),
        LayerProfile(_L.TENANT, "open", "tenant",
                     "leakage between tenants", _ARCHIVE, None),
        LayerProfile(_L.CORPUS, "30-day half-life", "tenant and access lists",
                     "indirect prompt injection", _ARCHIVE, DecayRule(30, 0.30)),
        LayerProfile(_L.TOOL, "until the tool's next version", "tenant",
                     "tool contract violations", _ARCHIVE, None),
        LayerProfile(_L.POLICY, "until superseded", "tenant, written by developers only",
                     "direct prompt bypass", _ARCHIVE, None),
        LayerProfile(_L.BELIEF, "30-day half-life", "tenant, verified on evidence updates",
                     "belief laundering", _DEMOTE, DecayRule(30, 0.50)),
    )
}  # fmt: skip
"""Which ids a write to a layer takes from its caller, and which one it needs."""


@dataclass(frozen=True, slots=True)
class TypeProfile:
    """The tenure of an object type."""

    object_type: ObjectType
    layer: StateLayer
    decay: DecayRule | None
    retirement: RetirementRule


_T = ObjectType
OBJECT_TYPES: Final = {
    p.object_type: p
    for p in (
        TypeProfile(_T.PREFERENCE, _L.USER, DecayRule(180, 0.25), _ASK),
        TypeProfile(_T.IDENTITY_FACT, _L.TENANT, DecayRule(730, 0.25), _ASK),
        TypeProfile(_T.PROJECT_DECISION, _L.PROJECT, None, _ARCHIVE),
        TypeProfile(_T.RETRIEVED_PASSAGE, _L.CORPUS, DecayRule(30, 0.30), _ARCHIVE),
        TypeProfile(_T.POLICY_RULE, _L.POLICY, None, _ARCHIVE),
        TypeProfile(_T.TOOL_SCHEMA, _L.TOOL, None, _ARCHIVE),
        TypeProfile(_T.INFERRED_BELIEF, _L.BELIEF, DecayRule(30, 0.50), _DEMOTE),
        TypeProfile(_T.ACTIONABLE_CONSTRAINT, _L.USER, DecayRule(90, 0.25), _ASK),
    )
}
"""Layer, decay and retirement of a write that states none."""
