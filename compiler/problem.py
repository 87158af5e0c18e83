"""One allocation problem, prepared once and solved for any set of its sections.

A set of sections is written as a tuple of places in the order of ids. `Problem.solve` gives the
exact solution of a set, `Problem.bound` a value that no solution can pass at a shadow price: the
Lagrangian of the same problem. Both are pure.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import fsum

from .budget.grid import fill_on_grid
from .budget.marginals import Marginal, floor_value, marginal
from .budget.section import Section, significant
from .budget.waterfill import fill, shadow_price


@dataclass(frozen=True, slots=True)
class Solution:
    """The best tokens of one set of sections."""

    value: float
    """Objective, to 12 significant digits."""
    places: tuple[int, ...]
    """Places of the included sections, rising."""
    ids: tuple[str, ...]
    """Their ids, in the same order."""
    tokens: tuple[int, ...]
    """Their tokens, in the same order."""


@dataclass(frozen=True, slots=True)
class Problem:
    """Sections by id, a budget, the worth of cost and the step."""

    sections: tuple[Section, ...]
    budget: int
    mu: float
    quantum: int
    marginals: tuple[Marginal, ...] = field(init=False)
    floors: tuple[float, ...] = field(init=False)

    def __post_init__(self) -> None:
        read = tuple(marginal(section, self.mu) for section in self.sections)
        floors = tuple(floor_value(section, self.mu) for section in self.sections)
        object.__setattr__(self, "marginals", read)
        object.__setattr__(self, "floors", floors)

    def places(self, *, required: bool) -> tuple[int, ...]:
        """Return the places of the required, or of the optional, sections."""
        every = enumerate(self.sections)
        return tuple(place for place, section in every if section.required is required)

    def room(self, places: Sequence[int]) -> int:
        """Return the tokens above the floors of a set; negative when it does not fit."""
        return self.budget - sum(self.sections[place].t_min for place in places)

    def price_of(self, places: Sequence[int]) -> float:
        """Return the shadow price of a set that fits."""
        return shadow_price([self.marginals[place] for place in places], self.room(places))

    def solve(self, places: Sequence[int]) -> Solution:
        """Return the best tokens of a set that fits."""
        chosen = tuple(sorted(places))
        marginals = [self.marginals[place] for place in chosen]
        room = self.room(chosen)
        units = (
            fill(marginals, room)
            if self.quantum == 1
            else fill_on_grid(marginals, room, self.quantum)
        )
        gains = (item.value(k) for item, k in zip(marginals, units, strict=True))
        floors = (self.floors[place] for place in chosen)
        return Solution(
            value=significant(fsum((*gains, *floors))),
            places=chosen,
            ids=tuple(self.sections[place].id for place in chosen),
            tokens=tuple(
                self.sections[place].t_min + k for place, k in zip(chosen, units, strict=True)
            ),
        )

    def worth(self, place: int, price: float) -> tuple[float, float]:
        """Return the most a section can bring at a shadow price, and the tokens it then takes."""
        item = self.marginals[place]
        extra = item.demand(price)[0]
        tokens = self.sections[place].t_min + extra
        return self.floors[place] + item.value(extra) - price * tokens, tokens
