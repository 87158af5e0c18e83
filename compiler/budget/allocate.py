"""The division of a token budget between sections, exact in whole tokens.

    maximise   sum of  w (base + alpha ln(1 + (t - t_min) / beta)) - mu cost t  over included
    subject to sum t <= budget,  t_min <= t <= t_max if included, else 0,  required ones included

>>> from tenure.compiler.budget.allocate import allocate
>>> from tenure.compiler.budget.section import Section
>>> answer = allocate(
...     [
...         Section("evidence", w=1, alpha=5, beta=10, t_min=0, t_max=20),
...         Section("memory", w=1, alpha=1, beta=10, t_min=0, t_max=100),
...     ],
...     70,
... )
>>> dict(answer.tokens), round(answer.shadow_price, 6)
({'evidence': 20, 'memory': 50}, 0.016667)

The answer does not depend on the order of the sections. A fixed set is solved by `waterfill`, the
choice between optional sections by a search over sets. Nothing here shortens a text.
Checklist C-115 to C-122, C-138, C-140, C-141.

Which optional sections take part: "nothing, or at least the floor".

The choice is a knapsack at heart, so it is searched: branch and bound over in and out, best
promise first. The bound is the Lagrangian at one shadow price: what each section would bring if
every token cost that much, plus the budget at that price. It holds at any price, so that a
bound inherited from above is tried before a new one is worked out. With at most eight optional
sections this is an enumeration that mostly ends early.

Equal optima: the smallest sorted tuple of included ids. Dropping the worst section again and
again, or ranking by base per floor token, misses the optimum and is not used.
Where the floor and nothing tie, `base` decides. Checklist C-119, C-140.

One allocation problem, prepared once and solved for any set of its sections.

A set of sections is written as a tuple of places in the order of ids. `Problem.solve` gives the
exact solution of a set, `Problem.bound` a value that no solution can pass at a shadow price: the
Lagrangian of the same problem. Both are pure.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import fsum
from typing import Final

from ...schema.errors import ContextBudgetExhausted, InvalidInput
from .marginals import Marginal, floor_value, marginal
from .section import Allocation, Section, allocation, read_sections, significant
from .waterfill import fill, fill_on_grid, shadow_price

_SLACK: Final = 1e-9  # of the value: bounds are floats, and an equal optimum must not be cut off


_HALVINGS: Final = 24


def choose(problem: Problem) -> Solution:
    """The best solution over all sets that hold the required sections.

    The required sections must fit.
    """
    required_places = problem.places(required=True)
    optional_places = problem.places(required=False)
    if not optional_places:
        return problem.solve(required_places)

    price = _best_price(problem, required_places, optional_places)

    def urgency(place: int) -> tuple[float, int]:
        # What is surest to go in, or to stay out, is decided first: the bound closes soonest.
        return -abs(problem.worth(place, price)[0]), place

    order = tuple(sorted(optional_places, key=urgency))
    search = _Search(problem, problem.solve(required_places))
    search.visit(required_places, order, price)
    return search.best


@dataclass(slots=True)
class _Search:
    """The best solution so far, while the search runs."""

    problem: Problem
    best: Solution

    def visit(self, members: tuple[int, ...], open_places: tuple[int, ...], price: float) -> None:
        if self.problem.room(members) < 0 or self._hopeless(members, open_places, price):
            return

        if not open_places:
            self._keep(self.problem.solve(members))
            return

        price = _best_price(self.problem, members, open_places)
        if self._hopeless(members, open_places, price):
            return

        head, remainder = open_places[0], open_places[1:]
        self.visit((*members, head), remainder, price)
        self.visit(members, remainder, price)

    def _hopeless(
        self, members: tuple[int, ...], open_places: tuple[int, ...], price: float
    ) -> bool:
        bound = _lagrangian(self.problem, members, open_places, price)[0]
        return bound < self.best.value - _SLACK * max(1.0, abs(self.best.value))

    def _keep(self, candidate: Solution) -> None:
        if (-candidate.value, candidate.ids) < (-self.best.value, self.best.ids):
            self.best = candidate


def _lagrangian(
    problem: Problem, members: tuple[int, ...], open_places: tuple[int, ...], price: float
) -> tuple[float, float]:
    """The bound at a price, and the tokens that would be asked for."""
    value, tokens = price * problem.budget, 0.0
    for place in members:
        worth, demand = problem.worth(place, price)
        value, tokens = value + worth, tokens + demand

    for place in open_places:
        worth, demand = problem.worth(place, price)
        if worth > 0:
            value, tokens = value + worth, tokens + demand

    return value, tokens


def _best_price(problem: Problem, members: tuple[int, ...], open_places: tuple[int, ...]) -> float:
    """A price near the one with the smallest bound."""
    if _lagrangian(problem, members, open_places, 0.0)[1] <= problem.budget:
        return 0.0

    low, high = 0.0, 1.0
    while _lagrangian(problem, members, open_places, high)[1] > problem.budget:
        low, high = high, high * 16

    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if _lagrangian(problem, members, open_places, middle)[1] > problem.budget:
            low = middle
        else:
            high = middle

    return high


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
        marginals: list[Marginal] = []
        floors: list[float] = []
        for section in self.sections:
            marginals.append(marginal(section, self.mu))
            floors.append(floor_value(section, self.mu))

        # Frozen, and asked for once for every set of optional sections that is tried.
        object.__setattr__(self, "marginals", tuple(marginals))
        object.__setattr__(self, "floors", tuple(floors))

    def places(self, *, required: bool) -> tuple[int, ...]:
        """The places of the required, or of the optional, sections."""
        places: list[int] = []
        for place, section in enumerate(self.sections):
            if section.required is required:
                places.append(place)
        return tuple(places)

    def room(self, places: Sequence[int]) -> int:
        """The tokens above the floors of a set; negative when it does not fit."""
        return self.budget - sum(self.sections[place].t_min for place in places)

    def _marginals_of(self, places: Sequence[int]) -> list[Marginal]:
        return [self.marginals[place] for place in places]

    def price_of(self, places: Sequence[int]) -> float:
        """The shadow price of a set that fits."""
        return shadow_price(self._marginals_of(places), self.room(places))

    def solve(self, places: Sequence[int]) -> Solution:
        """The best tokens of a set that fits."""
        rising = tuple(sorted(places))
        marginals = self._marginals_of(rising)
        room = self.room(rising)
        if self.quantum == 1:
            units = fill(marginals, room)
        else:
            units = fill_on_grid(marginals, room, self.quantum)

        ids: list[str] = []
        tokens: list[int] = []
        utilities: list[float] = []
        for place, k in zip(rising, units, strict=True):
            ids.append(self.sections[place].id)
            tokens.append(self.sections[place].t_min + k)
            utilities += [self.marginals[place].value(k), self.floors[place]]

        # fsum is exact, so that the order of the sections cannot move the last bit.
        value = significant(fsum(utilities))
        return Solution(value, rising, tuple(ids), tuple(tokens))

    def worth(self, place: int, price: float) -> tuple[float, float]:
        """The most a section can bring at a shadow price, and the tokens it then takes."""
        item = self.marginals[place]
        extra = item.demand(price)[0]
        tokens = self.sections[place].t_min + extra
        return self.floors[place] + item.value(extra) - price * tokens, tokens


def allocate(
    sections: Iterable[Section | Mapping[str, object]],
    budget: int,
    mu: float = 0,
    quantum: int = 1,
) -> Allocation:
    """Divide the budget so that utility less cost is greatest.

    Of equal optima the one with the smallest sorted tuple of included ids is taken, and equal
    gains go to the smaller id. With `mu` above 0 tokens may stay unused.

    Args:
        sections: Sections, or mappings with the same field names; ids must differ.
        budget: Tokens for all sections together, at least 0.
        mu: Utility that one unit of cost is worth.
        quantum: Step of the sizes above the floor: every section but at most one stands at its
            floor plus whole quanta, or at its cap.

    Raises:
        ContextBudgetExhausted: `required_over_budget`, with the `shortfall` in tokens.
        InvalidInput: `bad_section` or `bad_budget`.
    """
    _check_limits(budget, mu, quantum)
    problem = Problem(read_sections(sections), budget, float(mu), quantum)
    floors = budget - problem.room(problem.places(required=True))
    if floors > budget:
        raise ContextBudgetExhausted(
            f"the required sections need at least {floors} tokens and the budget is {budget}: "
            f"raise it by {floors - budget} or lower a floor",
            code="required_over_budget",
            shortfall=floors - budget,
            required_tokens=floors,
            budget_tokens=budget,
        )

    return _answer(problem, choose(problem))


def _answer(problem: Problem, best: Solution) -> Allocation:
    tokens = {section.id: 0 for section in problem.sections}
    tokens.update(zip(best.ids, best.tokens, strict=True))
    return allocation(
        tokens,
        best.ids,
        objective=best.value,
        shadow_price=significant(problem.price_of(best.places)),
    )


def _check_limits(budget: object, mu: float, quantum: object) -> None:
    for name, value, floor in (("budget", budget, 0), ("quantum", quantum, 1)):
        if isinstance(value, bool) or not isinstance(value, int) or value < floor:
            raise InvalidInput(
                f"{name} must be a whole number of at least {floor}, not {value!r}",
                code="bad_budget",
            )

    if isinstance(mu, bool) or not math.isfinite(mu) or mu < 0:
        raise InvalidInput(
            f"mu must be a finite number of at least 0, not {mu!r}", code="bad_budget"
        )
