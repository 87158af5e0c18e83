"""Which optional sections take part: "nothing, or at least the floor".

The choice is a knapsack at heart, so it is searched: branch and bound over in and out, best
promise first. The bound is the Lagrangian at one shadow price: what each section would bring if
every token cost that much, plus the budget at that price. It holds at any price, so that a
bound inherited from above is tried before a new one is worked out. With at most eight optional
sections this is an enumeration that mostly ends early.

Equal optima: the smallest sorted tuple of included ids. Dropping the worst section again and
again, or ranking by base per floor token, misses the optimum and is not used. Source 000, 6.2.3
("t_min or zero" is a tie there; `base` breaks it: R12); checklist C-119, C-140.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from .problem import Problem, Solution

_SLACK: Final = 1e-9  # of the value: bounds are floats, and an equal optimum must not be cut off
_HALVINGS: Final = 24


def choose(problem: Problem) -> Solution:
    """Return the best solution over all sets that hold the required sections.

    The required sections must fit.
    """
    required = problem.places(required=True)
    optional = problem.places(required=False)
    if not optional:
        return problem.solve(required)
    price = _best_price(problem, required, optional)
    worth = {place: problem.worth(place, price)[0] for place in optional}
    order = sorted(optional, key=lambda place: (-abs(worth[place]), place))
    search = _Search(problem, problem.solve(required))
    search.visit(required, tuple(order), price)
    return search.best


@dataclass(slots=True)
class _Search:
    """The best solution so far, while the search runs."""

    problem: Problem
    best: Solution

    def visit(self, taken: tuple[int, ...], undecided: tuple[int, ...], price: float) -> None:
        if self.problem.room(taken) < 0 or self._hopeless(taken, undecided, price):
            return
        if not undecided:
            self._keep(self.problem.solve(taken))
            return
        price = _best_price(self.problem, taken, undecided)
        if self._hopeless(taken, undecided, price):
            return
        head, rest = undecided[0], undecided[1:]
        self.visit((*taken, head), rest, price)
        self.visit(taken, rest, price)

    def _hopeless(self, taken: tuple[int, ...], undecided: tuple[int, ...], price: float) -> bool:
        bound = _lagrangian(self.problem, taken, undecided, price)[0]
        return bound < self.best.value - _SLACK * max(1.0, abs(self.best.value))

    def _keep(self, found: Solution) -> None:
        if (-found.value, found.ids) < (-self.best.value, self.best.ids):
            self.best = found


def _lagrangian(
    problem: Problem, taken: tuple[int, ...], undecided: tuple[int, ...], price: float
) -> tuple[float, float]:
    """Return the bound at a price, and the tokens that would be asked for."""
    value, tokens = price * problem.budget, 0.0
    for place in taken:
        worth, asked = problem.worth(place, price)
        value, tokens = value + worth, tokens + asked
    for place in undecided:
        worth, asked = problem.worth(place, price)
        if worth > 0:
            value, tokens = value + worth, tokens + asked
    return value, tokens


def _best_price(problem: Problem, taken: tuple[int, ...], undecided: tuple[int, ...]) -> float:
    """Return a price near the one with the smallest bound."""
    if _lagrangian(problem, taken, undecided, 0.0)[1] <= problem.budget:
        return 0.0
    low, high = 0.0, 1.0
    while _lagrangian(problem, taken, undecided, high)[1] > problem.budget:
        low, high = high, high * 16
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if _lagrangian(problem, taken, undecided, middle)[1] > problem.budget:
            low = middle
        else:
            high = middle
    return high
