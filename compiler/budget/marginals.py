"""The worth of one token more: a section's utility as the solver sees it.

Two shapes, one set of methods. `k` counts tokens above the floor, `room` is the most of them,
`price` is mu times the cost of a token. Gains fall as k rises; `gain(k)` is an exact key of 12
significant digits, so that two machines whose last bits of a logarithm differ still agree.

Checklist C-119, C-122.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from itertools import pairwise
from math import expm1, log1p
from typing import Final, Protocol

from .section import Section, significant

_STEEPEST: Final = 500.0  # e^500 units of gain are past any token count, and expm1 still holds it
_BLUR: Final = 1e-11  # units this near to each other, relatively, may share one rounded key


class Marginal(Protocol):
    """What the solver asks about one section."""

    @property
    def room(self) -> int:
        """Tokens between floor and cap."""
        ...

    def gain(self, k: int) -> float:
        """Worth of the unit that follows k units, as an exact key."""
        ...

    def run(self, k: int) -> int:
        """How many units from k on share one gain."""
        ...

    def units(self, price: float) -> int:
        """Units whose gain is at least the shadow price."""
        ...

    def surely(self, units: int) -> int:
        """The part of those units that no rounding can have added."""
        ...

    def demand(self, price: float) -> tuple[float, float]:
        """Continuous tokens above the floor at a shadow price, and how fast they fall."""
        ...

    def first(self) -> float:
        """The continuous marginal at the floor."""
        ...

    def value(self, k: float) -> float:
        """Utility of k units above the floor, less their price."""
        ...


@dataclass(frozen=True, slots=True)
class LogMarginal:
    """`scale * ln(1 + k / beta)`, less a price for each token."""

    scale: float
    beta: float
    room: int
    price: float

    def gain(self, k: int) -> float:
        """Return `scale * ln(1 + 1 / (beta + k)) - price`, to 12 digits."""
        gain = significant(self.scale * log1p(1.0 / (self.beta + k)))
        return significant(gain - self.price) if self.price else gain

    def run(self, k: int) -> int:
        """Return 1: every unit is worth less than the one before."""
        return 1

    def units(self, price: float) -> int:
        """The closed form of the number of units worth at least `price`."""
        if not self.scale:
            return 0

        ratio = (price + self.price) / self.scale
        if ratio <= 0:
            return self.room
        if ratio > _STEEPEST:
            return 0

        units = 1.0 / expm1(ratio) - self.beta
        if units >= self.room:
            return self.room

        return max(0, int(units) + 1) if units >= 0 else 0

    def surely(self, units: int) -> int:
        """One unit less, and more where neighbours round to one key."""
        return max(0, units - 1 - int((self.beta + units) * _BLUR))

    def demand(self, price: float) -> tuple[float, float]:
        """The clipped `scale / (price + own price) - beta` and its slope."""
        denominator = price + self.price
        if denominator <= 0:
            return (float(self.room) if self.scale else 0.0), 0.0

        demand = self.scale / denominator - self.beta
        if demand <= 0:
            return 0.0, 0.0
        if demand >= self.room:
            return float(self.room), 0.0

        return demand, self.scale / denominator / denominator

    def first(self) -> float:
        """Return `scale / beta - price`."""
        return self.scale / self.beta - self.price

    def value(self, k: float) -> float:
        """The utility above the floor."""
        return self.scale * log1p(k / self.beta) - self.price * k


@dataclass(frozen=True, slots=True)
class CurveMarginal:
    """A piecewise linear concave utility; between two bends all units are worth the same."""

    ends: tuple[int, ...]
    """Tokens above the floor at which each piece ends; pieces not worth their price are gone."""
    slopes: tuple[float, ...]
    """Gain of each unit of the piece, price taken off."""

    @property
    def room(self) -> int:
        """Tokens between floor and cap."""
        return self.ends[-1] if self.ends else 0

    def gain(self, k: int) -> float:
        """The slope of the piece that holds unit k."""
        return self.slopes[bisect_right(self.ends, k)]

    def run(self, k: int) -> int:
        """The units that are left of the piece."""
        return self.ends[bisect_right(self.ends, k)] - k

    def units(self, price: float) -> int:
        """The end of the last piece whose slope is at least `price`."""
        units = 0
        for end, slope in zip(self.ends, self.slopes, strict=True):
            units = end if slope >= price else units
        return units

    def surely(self, units: int) -> int:
        """The units themselves: slopes are compared exactly."""
        return units

    def demand(self, price: float) -> tuple[float, float]:
        """The same count; it falls in steps."""
        return float(self.units(price)), 0.0

    def first(self) -> float:
        """The first slope."""
        return self.slopes[0] if self.slopes else 0.0

    def value(self, k: float) -> float:
        """The utility above the floor."""
        total, start = 0.0, 0.0
        for end, slope in zip(self.ends, self.slopes, strict=True):
            total += slope * max(0, min(k, end) - start)
            start = end
        return total


def marginal(section: Section, mu: float) -> Marginal:
    """The section's marginal under the cost factor `mu`."""
    price = significant(mu * section.cost)
    room = section.t_max - section.t_min
    if section.curve:
        return _curve_marginal(section, room, price)
    return LogMarginal(significant(section.w * section.alpha), section.beta, room, price)


def floor_value(section: Section, mu: float) -> float:
    """What the section is worth at its floor: base, curve up to there, cost."""
    utility = 0.0
    for (left, low), (right, high) in pairwise(section.curve):
        overlap = max(0, min(section.t_min, right) - left)
        utility += (high - low) / (right - left) * overlap
    return section.w * (section.base + utility) - mu * section.cost * section.t_min


def _curve_marginal(section: Section, room: int, price: float) -> CurveMarginal:
    ends: list[int] = []
    slopes: list[float] = []
    for (left, low), (right, high) in pairwise(section.curve):
        end = min(right - section.t_min, room)
        slope = significant(significant(section.w * (high - low) / (right - left)) - price)
        if slope <= 0:
            break

        if end > (ends[-1] if ends else 0):
            ends.append(end)
            slopes.append(slope)

    return CurveMarginal(tuple(ends), tuple(slopes))
