"""The optimum of a fixed set of sections, in whole tokens.

The objective is separable and concave, so giving every token to the section that gains most by
it is exact (Fox 1966). That takes B steps; here a bisection on the *integer* counts finds a
shadow price at which nearly everything is given out, and a heap with exact keys hands out the
few tokens that are left. Rounding the continuous optimum down is no substitute: its integer
neighbours are several tokens away where steep sections stand beside a flat one.

Keys are (gain to 12 significant digits, place in the order of ids): equal gains go to the lower
id. Checklist
C-120, C-121, C-140.
"""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heapify, heappop, heappush
from typing import Final

from .marginals import Marginal
from .section import significant

_HALVINGS: Final = 64
_NEWTON_STEPS: Final = 40  # most problems need 8 to 20; after that bisection is sure to end


def fill(marginals: Sequence[Marginal], room: int) -> list[int]:
    """The units above the floor of each section, exact; at most `room` in all.

    Args:
        marginals: The sections in the order of their ids.
        room: Tokens above the sum of the floors, at least 0.
    """
    units = _counts(marginals, room)
    return top_up(marginals, units, room - sum(units))


def top_up(marginals: Sequence[Marginal], units: list[int], left: int) -> list[int]:
    """Give out `left` more units one by one, best first; stop at the first without gain."""
    heap: list[tuple[float, int]] = []
    for place, item in enumerate(marginals):
        if units[place] < item.room:
            heappush(heap, (-item.gain(units[place]), place))

    while heap and left:
        gain, place = heappop(heap)
        if gain >= 0:
            break

        item = marginals[place]
        # A piece of a curve is handed out at once: its units all gain the same.
        run = min(item.run(units[place]), left)
        units[place] += run
        left -= run
        if units[place] < item.room:
            heappush(heap, (-item.gain(units[place]), place))

    return units


def fill_on_grid(marginals: Sequence[Marginal], room: int, quantum: int) -> list[int]:
    """Give out `room` tokens in whole quanta by gain per token, best first.

    A grid keeps a cache plan stable: a small change of a score does not move a boundary. Every
    section stands at its floor plus whole quanta or at its cap, and at most one, which takes
    what is left in the end, stands off the grid. Which one that is makes the answer near to the
    optimum, not exact: exact is a quantum of 1.
    """
    units = [0] * len(marginals)
    first_step = min(quantum, room)
    heap: list[tuple[float, int, int]] = []
    for place, item in enumerate(marginals):
        heap.append(_offer(item, 0, place, first_step))
    heapify(heap)

    while heap and room:
        loss, place, step = heappop(heap)
        if loss >= 0:
            break

        if step > room:
            heappush(heap, _offer(marginals[place], units[place], place, room))
            continue

        units[place] += step
        room -= step
        heappush(heap, _offer(marginals[place], units[place], place, quantum))

    return units


def _offer(item: Marginal, units: int, place: int, step: int) -> tuple[float, int, int]:
    """What a section would do with its next step: (gain per token below 0, place, tokens)."""
    step = min(step, item.room - units)
    if step <= 0:
        return 0.0, place, 0
    return -significant((item.value(units + step) - item.value(units)) / step), place, step


def shadow_price(marginals: Sequence[Marginal], room: int) -> float:
    """Return lambda of the continuous optimum; 0 when tokens stay unused.

    With no room at all it is the largest first marginal: what the first token would bring.
    """
    free = [item for item in marginals if item.room]
    dearest = max((item.first() for item in free), default=0.0)
    if room == 0:
        return max(0.0, dearest)

    # At a price of nothing everybody takes all they can use: where that fits, tokens stay over.
    if sum(item.demand(0.0)[0] for item in free) <= room:
        return 0.0

    low, high = 0.0, dearest
    price, step = high / 2, 0
    while True:
        excess, slope = _excess(free, price, room)
        low, high = (price, high) if excess > 0 else (low, price)

        # Newton, kept inside the bracket; where the demand falls in steps it has no slope.
        newton = slope and step < _NEWTON_STEPS
        following = price + excess / slope if newton else low
        if not low < following < high:
            following = (low + high) / 2

        # Some ten times the distance of neighbouring floats: nearer they need not come.
        if abs(following - price) <= 4e-15 * price:
            return following

        price, step = following, step + 1


def _excess(free: Sequence[Marginal], price: float, room: int) -> tuple[float, float]:
    excess, slope = -float(room), 0.0
    for item in free:
        tokens, fall = item.demand(price)
        excess += tokens
        slope += fall
    return excess, slope


def _counts(marginals: Sequence[Marginal], room: int) -> list[int]:
    """Return counts that no optimum is below in any section, at most 2n + 1 tokens short."""
    price = shadow_price(marginals, room)
    low, high = 0.0, float("inf")
    best = [0] * len(marginals)

    # Rounding may give each section a unit too many or too few, so a total nearer than that is
    # no better: the heap does the rest.
    slack = len(marginals)
    for _ in range(_HALVINGS):
        counts = [item.units(price) for item in marginals]
        total = sum(counts)
        if total <= room:
            best, high = counts, price
            if room - total <= slack or not price:
                break
        else:
            low = price

        price = _next_price(marginals, price, total - room + slack / 2, (low, high))

    return [item.surely(count) for item, count in zip(marginals, best, strict=True)]


def _next_price(
    marginals: Sequence[Marginal], price: float, excess: float, bracket: tuple[float, float]
) -> float:
    """A price between the bracket's ends that should give out `over` tokens less."""
    low, high = bracket
    slope = sum(item.demand(price)[1] for item in marginals)
    following = price + excess / slope if slope else low
    if low < following < high:
        return following

    return price * 2 if high == float("inf") else (low + high) / 2
