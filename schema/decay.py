"""How strength falls with age: by halves, at one step, or along a sigmoid.

An age counts in half-lives, so one function serves days and turns (two clocks, both
handed in). Every curve starts at 1 and never rises (a plain sigmoid does not start at
1). What makes an object young again is a confirmation, which moves the anchor of its age; use
does not. Which object types fade how is a policy, because it says how a kind of knowledge ages.

>>> [Fading(DecayKind.SIGMOID).strength(age) for age in (0.0, 0.8, 1.0, 1.2)]
[1.0, 0.880837066, 0.5000227, 0.119208334]

Checklist C-157 to C-159.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from .errors import InvalidInput
from .short_repr import short_repr
from .vocabulary import ObjectType

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
