"""Allocation on a coarser grid than one token, exact.

A grid keeps a cache plan stable: a small change of a score does not move a boundary. Every
section stands at its floor plus whole quanta or at its cap, and at most one stands off the grid.
Greedy by gain per token comes near (a gap of 1e-4, relative) and serves as the first answer.
The exact one is a multiple-choice search over what the continuous optimum leaves possible: at
its shadow price every choice of a section has a loss, the losses add up, and no choice counts
whose losses pass those of the answer in hand. Losses are whole multiples of a small unit, so
that ties are exact; they go to the lower id.

Source 000, 6.4.4; checklist C-141; R12.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from typing import Final

from .marginals import Marginal
from .section import significant
from .waterfill import fill, shadow_price

_UNIT: Final = 1e-13  # of the value that is lost at most; coarser than the noise of a logarithm


def fill_on_grid(marginals: Sequence[Marginal], room: int, quantum: int) -> list[int]:
    """Return the units above the floor of each section, at most one of them off the grid."""
    first = _greedy(marginals, room, quantum)
    losses = _Losses.at(marginals, room, quantum)
    best = (losses.total(first), tuple(-k for k in first))
    for place, item in enumerate(marginals):
        alone = fill([item], room)[0]
        for loss, chosen in _others(losses, place, quantum, best[0]):
            k = min(alone, room - sum(chosen))
            units = (*chosen[:place], k, *chosen[place:])
            total = loss + losses.of(place, k) + losses.unused(room - sum(units))
            best = min(best, (total, tuple(-k for k in units)))
    return [-k for k in best[1]]


@dataclass(frozen=True, slots=True)
class _Losses:
    """What each choice loses against the continuous optimum, in whole units."""

    marginals: Sequence[Marginal]
    room: int
    price: float
    tops: tuple[float, ...]
    """The most each section can bring at the price."""
    unit: float

    @classmethod
    def at(cls, marginals: Sequence[Marginal], room: int, quantum: int) -> _Losses:
        price = shadow_price(marginals, room)
        best = [item.demand(price)[0] for item in marginals]
        tops = tuple(item.value(k) - price * k for item, k in zip(marginals, best, strict=True))
        steps = (abs(item.value(min(quantum, item.room))) for item in marginals)
        unit = significant((sum(map(abs, tops)) + sum(steps) + price * room) * _UNIT) or 1.0
        return cls(marginals, room, price, tops, unit)

    def of(self, place: int, k: int) -> int:
        value = self.marginals[place].value(k) - self.price * k
        return round((self.tops[place] - value) / self.unit)

    def unused(self, tokens: int) -> int:
        return round(self.price * tokens / self.unit)

    def total(self, units: Sequence[int]) -> int:
        lost = sum(self.of(place, k) for place, k in enumerate(units))
        return lost + self.unused(self.room - sum(units))

    def choices(self, place: int, quantum: int, limit: int) -> list[tuple[int, int]]:
        """Return the (units, loss) on the grid that lose at most `limit`."""
        item = self.marginals[place]
        middle = int(item.demand(self.price)[0]) // quantum * quantum
        below = self._while_within(place, range(middle, -1, -quantum), limit)
        above = self._while_within(place, range(middle + quantum, item.room, quantum), limit)
        cap = self._while_within(place, (item.room,), limit) if item.room % quantum else ()
        whole = () if item.room % quantum or middle == item.room else (item.room,)
        return [*below, *above, *cap, *self._while_within(place, whole, limit)]

    def _while_within(
        self, place: int, counts: Iterable[int], limit: int
    ) -> Iterator[tuple[int, int]]:
        # The loss is convex in the units: past the first that is too dear all are.
        for k in counts:
            loss = self.of(place, k)
            if loss > limit:
                return
            yield k, loss


def _others(
    losses: _Losses, off_grid: int, quantum: int, limit: int
) -> list[tuple[int, tuple[int, ...]]]:
    """Return (loss, units) of every section but one, the best for each sum of tokens."""
    states: dict[int, tuple[int, tuple[int, ...]]] = {0: (0, ())}
    for place in range(len(losses.marginals)):
        if place == off_grid:
            continue
        options = losses.choices(place, quantum, limit)
        following: dict[int, tuple[int, tuple[int, ...]]] = {}
        for used, (lost, units) in states.items():
            for k, loss in options:
                total, tokens = lost + loss, used + k
                if total > limit or tokens > losses.room:
                    continue
                known = following.get(tokens)
                state = (total, (*units, k))
                if known is None or _rank(state) < _rank(known):
                    following[tokens] = state
        states = following
    return list(states.values())


def _rank(state: tuple[int, tuple[int, ...]]) -> tuple[int, tuple[int, ...]]:
    return state[0], tuple(-k for k in state[1])


def _greedy(marginals: Sequence[Marginal], room: int, quantum: int) -> list[int]:
    units = [0] * len(marginals)
    heap = [_offer(item, 0, place, min(quantum, room)) for place, item in enumerate(marginals)]
    heapify(heap)
    left = room
    while heap and left:
        gain, place, step = heappop(heap)
        if gain >= 0:
            break
        item = marginals[place]
        if step > left:  # the one section that may stand off the grid
            heappush(heap, _offer(item, units[place], place, left))
            continue
        units[place] += step
        left -= step
        heappush(heap, _offer(item, units[place], place, quantum))
    return units


def _offer(item: Marginal, units: int, place: int, step: int) -> tuple[float, int, int]:
    step = min(step, item.room - units)
    if step <= 0:
        return 0.0, place, 0
    return -significant((item.value(units + step) - item.value(units)) / step), place, step
