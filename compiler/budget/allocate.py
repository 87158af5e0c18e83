"""The division of a token budget between sections, exact in whole tokens.

    maximise   sum of  w (base + alpha ln(1 + (t - t_min) / beta)) - mu cost t  over included
    subject to sum t <= budget,  t_min <= t <= t_max if included, else 0,  required ones included

>>> from tenure.compiler.budget.allocate import Section, allocate
>>> answer = allocate(
...     [
...         Section("evidence", w=1, alpha=5, beta=10, t_min=0, t_max=20),
...         Section("memory", w=1, alpha=1, beta=10, t_min=0, t_max=100),
...     ],
...     70,
... )
>>> dict(answer.tokens), round(answer.shadow_price, 6)
({'evidence': 20, 'memory': 50}, 0.016667)

The objective is separable and concave, so giving each token to the section that gains most by it
is exact (Fox 1966). A bisection on the price finds the whole counts at which nearly everything is
given out, and a heap gives out the rest. Optional sections are decided by enumeration of their
sets. Gains are compared as keys of 12 significant digits, equal ones by id, so the answer depends
neither on the order of the sections nor on the last bit of a logarithm.

A compile measures concave curves in place of the logarithm, all of them required, and divides them
by `divide`: their segments sorted by slope, which is the same optimum. Checklist C-115 to C-122,
C-138, C-140, C-141.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from heapq import heapify, heappop, heappush
from itertools import combinations, pairwise
from math import fsum, log1p
from operator import attrgetter
from typing import Final, NamedTuple, cast

from ...schema.errors import ContextBudgetExhausted, InvalidInput, did_you_mean
from ...schema.records import FrozenDict, short_repr

_LARGEST: Final = 1e12  # of any number; beyond it the products could leave the floats
_LEAST_BETA: Final = 1e-9
_REQUIRED_FIELDS: Final = 6
"""The first fields of a section, which have no default."""
_MOST_OPTIONAL: Final = 10
"""Optional sections of one call, whose sets are all tried."""
_FLOOR: Final = attrgetter("section.t_min")

Curve = Sequence[tuple[int, float]]
"""(tokens, utility) points of a concave curve from (0, 0) on."""


@dataclass(frozen=True, slots=True)
class Section:
    """One claimant of the token budget.

    Raises:
        InvalidInput: `bad_section`, for a number that is not finite, a weight beyond 0 to 1, or
            limits in the wrong order.
    """

    __repr__ = short_repr

    id: str
    """Unique in one call; equal gains go to the smaller id."""
    w: float
    """Weight of the whole section, 0 to 1; 0 keeps the section at its floor (C-118)."""
    alpha: float
    """Scale of the logarithmic utility, at least 0."""
    beta: float
    """Tokens above the floor after which a further token has lost half its worth; above 0."""
    t_min: int
    """Floor in tokens, for a section that is included."""
    t_max: int
    """Cap in tokens, at least `t_min`."""
    cost: float = 0.0
    """Cost of one token, in the unit that `mu` turns into utility; at least 0."""
    base: float = 0.0
    """Utility of reaching the floor, before the weight; it decides over optional sections."""
    required: bool = True
    """Whether the section must be included."""

    def __post_init__(self) -> None:
        for name in ("w", "alpha", "beta", "cost", "base"):
            _check_number(self.id, name, getattr(self, name))
        if self.w > 1:
            raise _bad_section(self.id, f"w is a weight of 0 to 1, not {self.w!r}")

        for name in ("t_min", "t_max"):
            _check_tokens(self.id, name, getattr(self, name))
        if self.t_min > self.t_max:
            raise _bad_section(self.id, f"t_min {self.t_min} is above t_max {self.t_max}")
        if self.beta < _LEAST_BETA:
            raise _bad_section(self.id, f"beta must be at least {_LEAST_BETA}, not {self.beta!r}")


@dataclass(frozen=True, slots=True)
class Allocation:
    """The best division of the budget; the same sections in any order give the same answer."""

    __repr__ = short_repr

    tokens: Mapping[str, int]
    """Tokens of every section by id, in the order of the ids; 0 for one that is left out."""
    included_ids: tuple[str, ...]
    """Ids of the included sections, sorted."""
    used_tokens: int
    """Sum of all tokens, never above the budget."""
    objective: float
    """Utility less cost of the whole, to 12 significant digits."""
    shadow_price: float
    """Utility of one more token (lambda), to 12 significant digits; 0 when tokens stay unused."""


def allocate(
    sections: Iterable[Section | Mapping[str, object]],
    budget: int,
    mu: float = 0.0,
    quantum: int = 1,
) -> Allocation:
    """Divide a budget between sections.

    With a `quantum` above 1 the answer is near to the optimum, and the boundaries of a cache plan
    stay where they are.

    Args:
        sections: Sections, or mappings with the same field names; ids must differ.
        budget: Tokens for all sections together, at least 0.
        mu: Utility that one unit of cost is worth.
        quantum: Tokens are given out in whole steps of it.

    Raises:
        ContextBudgetExhausted: `required_over_budget`, when the required floors pass the budget.
        InvalidInput: `bad_section` or `bad_budget`.
    """
    _check_limits(budget, mu, quantum)
    marginals = [marginal(section, float(mu)) for section in _read_sections(sections)]
    required = [item for item in marginals if item.section.required]
    optional = [item for item in marginals if not item.section.required]
    if len(optional) > _MOST_OPTIONAL:
        reason = f"at most {_MOST_OPTIONAL} sections may be optional, got {len(optional)}"
        raise _bad_section(optional[_MOST_OPTIONAL].section.id, reason)

    floors = sum(map(_FLOOR, required))
    if floors > budget:
        raise ContextBudgetExhausted(
            f"the required sections need at least {floors} tokens and the budget is {budget}: "
            f"raise it by {floors - budget} or lower a floor",
            code="required_over_budget",
            shortfall=floors - budget,
            required_tokens=floors,
            budget_tokens=budget,
        )

    solutions: list[_Solution] = []
    for size in range(len(optional) + 1):
        for further in combinations(optional, size):
            members = sorted((*required, *further), key=lambda item: item.section.id)
            room = budget - sum(map(_FLOOR, members))
            if room >= 0:
                solutions.append(_solve(members, room, quantum))

    best = min(solutions, key=lambda solution: (-solution.value, solution.ids))
    tokens = {item.section.id: 0 for item in marginals}
    tokens.update(zip(best.ids, best.tokens, strict=True))
    return Allocation(
        tokens=FrozenDict(tokens),
        included_ids=best.ids,
        used_tokens=sum(best.tokens),
        objective=best.value,
        shadow_price=significant(_price(best.members, budget - sum(map(_FLOOR, best.members)))),
    )


class _Solution(NamedTuple):
    """The best tokens of one set of sections, in the order of their ids."""

    value: float
    ids: tuple[str, ...]
    tokens: tuple[int, ...]
    members: tuple[Marginal, ...]


def _solve(members: Sequence[Marginal], room: int, quantum: int) -> _Solution:
    units = [0] * len(members)
    units = fill(members, room) if quantum == 1 else _fill_on_grid(members, room, quantum, units)
    worth: list[float] = []
    tokens: list[int] = []
    for item, count in zip(members, units, strict=True):
        worth += [item.value(count), item.floor]
        tokens.append(item.section.t_min + count)
    # fsum is exact, so that the order of the sections cannot move the last bit.
    ids = tuple(item.section.id for item in members)
    return _Solution(significant(fsum(worth)), ids, tuple(tokens), tuple(members))


# --- the worth of one token more


@dataclass(frozen=True, slots=True)
class Marginal:
    """What one token more brings a section; `k` counts tokens above its floor."""

    section: Section
    room: int
    """Tokens between floor and cap."""
    scale: float
    price: float
    """Mu times the cost of a token."""
    floor: float
    """What the section is worth at its floor."""

    def gain(self, k: int) -> float:
        """Worth of the token behind k others, as a key of 12 digits that falls as k rises."""
        gain = significant(self.scale * log1p(1.0 / (self.section.beta + k)))
        return significant(gain - self.price) if self.price else gain

    def units(self, price: float) -> int:
        """How many tokens gain at least so much."""
        low, high = 0, self.room
        while low < high:
            middle = (low + high) // 2
            low, high = (middle + 1, high) if self.gain(middle) >= price else (low, middle)
        return low

    def demand(self, price: float) -> float:
        """Tokens of the continuous optimum at a price."""
        if not self.scale or price + self.price <= 0:
            return float(self.room) if self.scale else 0.0
        demand = self.scale / (price + self.price) - self.section.beta
        return min(max(demand, 0.0), float(self.room))

    @property
    def first(self) -> float:
        """The continuous gain at the floor."""
        return self.scale / self.section.beta - self.price

    def value(self, k: int) -> float:
        """Utility of k tokens above the floor, less their price."""
        return self.scale * log1p(k / self.section.beta) - self.price * k


def marginal(section: Section, mu: float) -> Marginal:
    """The section's gains under the cost factor `mu`."""
    price = significant(mu * section.cost)
    floor = section.w * section.base - mu * section.cost * section.t_min
    scale = significant(section.w * section.alpha)
    return Marginal(section, section.t_max - section.t_min, scale, price, floor)


def fill(marginals: Sequence[Marginal], room: int) -> list[int]:
    """The tokens above the floor of each section, exact; at most `room` in all."""
    low, high = 0.0, max((item.gain(0) for item in marginals if item.room), default=0.0)
    units = [0] * len(marginals)
    wanted = [item.units(5e-324) for item in marginals]
    if sum(wanted) <= room:
        return wanted

    # A unit a section more or less: the heap gives these out faster than the price is halved.
    while room - sum(units) > 2 * len(marginals):
        price = (low + high) / 2
        if not low < price < high:
            break
        counts = [item.units(price) for item in marginals]
        if sum(counts) <= room:
            units, high = counts, price
        else:
            low = price

    return _fill_on_grid(marginals, room - sum(units), 1, units)


def _fill_on_grid(
    marginals: Sequence[Marginal], room: int, quantum: int, units: list[int]
) -> list[int]:
    """Give out `room` tokens more in whole quanta by gain per token, best first.

    Every section stays at its floor plus whole quanta or at its cap, and at most one, which takes
    what is left in the end, stays off the grid.
    """

    def offer(place: int, most: int) -> tuple[float, int, int]:
        item, count = marginals[place], units[place]
        step = min(most, item.room - count)
        if step <= 0:
            return 0.0, place, 0
        if quantum == 1:
            # What gains the same is given out at once.
            gain = item.gain(count)
            return -gain, place, min(item.units(gain) - count, room)
        gain = significant((item.value(count + step) - item.value(count)) / step)
        return -gain, place, step

    heap = [offer(place, min(quantum, room)) for place in range(len(marginals))]
    heapify(heap)
    while heap and room:
        loss, place, step = heappop(heap)
        if loss >= 0:
            break
        if step > room:
            heappush(heap, offer(place, room))
            continue
        units[place] += step
        room -= step
        heappush(heap, offer(place, quantum))
    return units


def _price(marginals: Sequence[Marginal], room: int) -> float:
    """Lambda of the continuous optimum; without room what the first token would bring."""
    free = [item for item in marginals if item.room]
    low, high = 0.0, max((item.first for item in free), default=0.0)
    if not room:
        return max(0.0, high)
    if sum(item.demand(5e-324) for item in free) <= room:
        return 0.0

    # Some ten times the distance of neighbouring floats: nearer they need not come.
    while high - low > 4e-15 * high:
        middle = (low + high) / 2
        excess = sum(item.demand(middle) for item in free) > room
        low, high = (middle, high) if excess else (low, middle)
    return high


# --- measured curves


def divide(
    curves: Mapping[str, Curve], limits: Mapping[str, tuple[int, int]], room: int
) -> tuple[dict[str, int], float]:
    """Divide a room between concave curves: the tokens of each, and what one token more brings.

    The curves are weighted and net of their price. Each has a floor and a cap; where the room does
    not hold all floors, none has one.

    >>> divide({"a": [(0, 0), (10, 5)], "b": [(0, 0), (10, 9)]}, {"a": (0, 10), "b": (0, 10)}, 15)
    ({'a': 5, 'b': 10}, 0.5)
    """
    floors = {name: min(limits[name][0], curve[-1][0]) for name, curve in curves.items()}
    if sum(floors.values()) > room:
        floors = dict.fromkeys(curves, 0)

    segments: list[tuple[float, str, int, int]] = []
    for name, curve in curves.items():
        cap = min(limits[name][1], curve[-1][0])
        for (left, low), (right, high) in pairwise(curve):
            slope = (high - low) / (right - left)
            start, end = max(left, floors[name]), min(right, cap)
            if start < end and slope > 0:
                segments.append((-significant(slope), name, start, end - start))

    tokens = dict(floors)
    room -= sum(floors.values())
    price = 0.0
    for negative, name, _, length in sorted(segments):
        if length > room and not price:
            price = -negative
        tokens[name] += min(length, room)
        room -= min(length, room)
    return tokens, price


def concave_envelope(trace: Iterable[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """The smallest concave curve from (0, 0) that no (tokens, value) point lies above.

    Points rise in tokens and in value; what adds tokens without value is left out. Every point
    is a size at which the section really attains that value. Value that costs no token is
    taken off all points: no budget decides about it.

    >>> concave_envelope([(10, 50), (30, 60), (40, 90)])
    ((0, 0), (10, 50), (40, 90))
    """
    points = sorted(set(trace))
    free = max((value for tokens, value in points if not tokens), default=0)
    curve: list[tuple[int, int]] = [(0, 0)]
    for tokens, utility in points:
        value = utility - free
        if value <= curve[-1][1] or not tokens:
            continue
        while len(curve) > 1 and _dips(curve[-2], curve[-1], (tokens, value)):
            curve.pop()
        curve.append((tokens, value))
    return tuple(curve)


def _dips(left: tuple[int, int], middle: tuple[int, int], right: tuple[int, int]) -> bool:
    """Whether the middle lies on or below the line between its neighbours."""
    rise = (right[1] - left[1]) * (middle[0] - left[0])
    return (middle[1] - left[1]) * (right[0] - left[0]) <= rise


def significant(number: float) -> float:
    """Round to 12 significant digits, so that no last bit of a float decides anything.

    >>> significant(0.1 + 0.2) == significant(0.3)
    True
    """
    return float(f"{number:.11e}")


# --- what is refused


def _read_sections(sections: Iterable[Section | Mapping[str, object]]) -> list[Section]:
    """The sections by id, reading plain mappings too."""
    by_id: list[Section] = []
    for stated in sections:
        by_id.append(stated if isinstance(stated, Section) else _from_mapping(stated))

    by_id.sort(key=lambda section: section.id)
    for left, right in pairwise(by_id):
        if left.id == right.id:
            raise _bad_section(left.id, "the id is stated twice")
    return by_id


def _from_mapping(raw: Mapping[str, object]) -> Section:
    # In the order of the fields: those without a default, which must be stated, come first.
    known = [field.name for field in fields(Section)]
    name = raw.get("id")
    for key in raw:
        if key not in known:
            raise _bad_section(name, f"unknown field {key!r}; {did_you_mean(key, known)}")

    missing = [key for key in known[:_REQUIRED_FIELDS] if key not in raw]
    if missing:
        raise _bad_section(name, "missing " + ", ".join(missing))
    if not isinstance(name, str):
        raise _bad_section(name, "the id must be a text")

    return Section(**raw)  # type: ignore[arg-type]  # the section checks every field itself


def _check_number(section_id: str, name: str, value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise _bad_section(section_id, f"{name} must be a finite number, not {value!r}")
    if value < 0 and name != "base":
        raise _bad_section(section_id, f"{name} must not be negative, got {value!r}")
    if abs(value) > _LARGEST:
        raise _bad_section(section_id, f"{name} must be at most {_LARGEST:g}, got {value!r}")


def _check_tokens(section_id: str, name: str, value: object) -> None:
    is_whole = isinstance(value, int) and not isinstance(value, bool)
    if not is_whole or not 0 <= cast(int, value) <= _LARGEST:
        raise _bad_section(section_id, f"{name} must be a whole number of tokens, not {value!r}")


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


def _bad_section(section_id: object, reason: str) -> InvalidInput:
    """The error that names the section and what is wrong with it."""
    return InvalidInput(f"section {section_id!r}: {reason}", code="bad_section", section=section_id)
