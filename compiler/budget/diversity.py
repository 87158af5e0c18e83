"""Items that say different things: facility location, and MMR as a named option.

    f(S) = sum over items j of  value_j * max over i in S of similarity(i, j)
         + sum over checklist entries of  their points by the best item of S

f rises with every item and each adds less than before, so greedy is good, and how good depends
on the start. Up to 12 items every subset is tried; up to 60 greedy runs from every single start;
above, greedy by gain per token runs once and is compared with the best single item. Gains are
whole numbers and evaluated lazily: a gain once computed bounds every later one.

An item that does not fit is skipped, never the end of the search: stopping at the first overflow
returns nothing when the first result is long. Source 001 (MMR); checklist C-134.

Greedy selection from every single start at once, in whole rows of numpy.

The same choices as one lazy greedy run after the other, several times faster: each round gives
every start its best item by gain per token among those that still fit. Whole numbers only, and
the first of equal gains wins, so that the answer does not depend on the machine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from typing import Final

from .items import PRECISION, Item, Selection, density, read_items


def greedy_in_step(
    rows: Sequence[Sequence[int]], sizes: Sequence[int], budget: int
) -> list[list[int]]:
    """Return, for each item as the start, the places in the order of choice.

    Args:
        rows: What each item gives to each column; sums must stay below 2^38.
        sizes: Tokens of each item, none above the budget.
        budget: Tokens.
    """
    import numpy as np

    table, tokens = np.array(rows, dtype=np.int64), np.array(sizes, dtype=np.int64)
    reached, left = table.copy(), budget - tokens
    waiting = ~np.eye(len(sizes), dtype=bool)
    chosen: list[list[int]] = [[place] for place in range(len(sizes))]
    running = np.arange(len(sizes))
    while len(running):
        gains = np.maximum(table, reached[running, None, :]).sum(axis=2)
        gains -= reached[running].sum(axis=1)[:, None]
        keys = (gains << PRECISION) // np.maximum(1, tokens)
        keys[~waiting[running] | (tokens > left[running, None])] = 0
        picks = keys.argmax(axis=1)
        going = keys[np.arange(len(running)), picks] > 0
        running, picks = running[going], picks[going]
        reached[running] = np.maximum(reached[running], table[picks])
        left[running] -= tokens[picks]
        waiting[running, picks] = False
        for start, pick in zip(map(int, running), map(int, picks), strict=True):
            chosen[start].append(pick)
    return chosen


_EXHAUSTIVE: Final = 12


_EVERY_START: Final = 60


_MMR_WHOLE: Final = 1000


_INT64_BITS: Final = 62


Similarity = Callable[[str, str], int]
"""How alike two items are, a whole number of at least 0 on one scale, the same both ways."""


_Row = tuple[int, ...]


def facility_location(
    items: Sequence[Item],
    similarity: Similarity,
    budget: int,
    *,
    checklist: Mapping[str, Mapping[str, int]] | None = None,
) -> Selection:
    """Return items that together stand for all of them within the budget.

    Args:
        items: Candidates; `value` is the relevance by which each wants to be represented.
        similarity: Asked once for each unordered pair and once for each item with itself.
        budget: Tokens.
        checklist: Entry to {item id: points}; an entry counts by its best chosen item.

    Raises:
        InvalidInput: `bad_item`.
    """
    fitting = read_items(items, budget)
    rows = _rows(fitting, similarity, checklist or {})
    field = _Field(fitting, rows, budget)
    if len(fitting) <= _EXHAUSTIVE:
        return field.selection(field.exhaustive())
    if len(fitting) <= _EVERY_START:
        return field.selection(min(field.from_every_start(), key=field.rank))
    single = max(range(len(fitting)), key=lambda place: (sum(rows[place]), -place))
    return field.selection(min((field.greedy(()), (single,)), key=field.rank))


def mmr(
    items: Sequence[Item], similarity: Similarity, budget: int, *, relevance_permille: int = 700
) -> Selection:
    """Return items by maximal marginal relevance, skipping what does not fit.

    Each choice maximises `relevance * value - (1 - relevance) * similarity to the nearest chosen
    item`; value and similarity must share a scale. It keeps parity with source 001 and reaches
    less than `facility_location`. The selection's value is the sum of the chosen values.

    Raises:
        InvalidInput: `bad_item`.
    """
    waiting = {item.id: item for item in read_items(items, budget)}
    nearest = dict.fromkeys(waiting, 0)
    chosen: list[Item] = []
    left = budget
    while waiting:
        name = min(
            waiting,
            key=lambda name: (
                (_MMR_WHOLE - relevance_permille) * nearest[name]
                - relevance_permille * waiting[name].value,
                name,
            ),
        )
        item = waiting.pop(name)
        if item.tokens > left:
            continue
        left -= item.tokens
        chosen.append(item)
        for other in waiting:
            nearest[other] = max(nearest[other], similarity(name, other))
    return _selection(chosen, _running(item.value for item in chosen))


@dataclass(frozen=True, slots=True)
class _Field:
    """The items by id, what each gives to every column, and the budget."""

    items: tuple[Item, ...]
    rows: tuple[_Row, ...]
    budget: int

    def greedy(self, start: tuple[int, ...]) -> tuple[int, ...]:
        """Return a start completed by the best gain per token that fits, lazily evaluated."""
        chosen = list(start)
        reached = self._join((), start)
        left = self.budget - sum(self.items[place].tokens for place in start)
        heap = [
            (-density(sum(row), self.items[place].tokens), place)
            for place, row in enumerate(self.rows)
            if place not in start
        ]
        heapify(heap)
        while heap:
            _, place = heappop(heap)
            tokens = self.items[place].tokens
            if tokens > left:
                continue
            gain = _gain(self.rows[place], reached)
            key = (-density(gain, tokens), place)
            if heap and key > heap[0]:
                heappush(heap, key)
            elif gain:
                chosen.append(place)
                left -= tokens
                reached = self._join(reached, (place,))
        return tuple(chosen)

    def from_every_start(self) -> Iterable[Sequence[int]]:
        """Return the greedy completion of each single item, all starts in step where they can."""
        most = sum(map(max, *self.rows))
        if most < 2 ** (_INT64_BITS - PRECISION):
            return greedy_in_step(self.rows, [item.tokens for item in self.items], self.budget)
        return [self.greedy((place,)) for place in range(len(self.items))]

    def exhaustive(self) -> tuple[int, ...]:
        """Return the best of all subsets: most value, then fewest tokens, then smallest ids."""
        best = _Best(self.rank(self.greedy(())))
        suffixes: list[_Row] = [()]
        for place in range(len(self.items) - 1, -1, -1):
            suffixes.append(self._join(suffixes[-1], (place,)))
        self._branch((), (), self.budget, _Branching(suffixes[::-1], best))
        return best.key[2]

    def _branch(self, taken: tuple[int, ...], reached: _Row, left: int, search: _Branching) -> None:
        used = self.budget - left
        search.best.offer((-sum(reached), used, taken))
        for place in range(taken[-1] + 1 if taken else 0, len(self.items)):
            # No completion stands for more than the whole rest together does.
            rest = search.suffixes[place]
            most = sum(map(max, reached, rest)) if reached else sum(rest)
            if (-most, used) > search.best.key[:2]:
                return
            tokens = self.items[place].tokens
            if tokens <= left:
                joined = self._join(reached, (place,))
                self._branch((*taken, place), joined, left - tokens, search)

    def rank(self, places: Sequence[int]) -> tuple[int, int, tuple[int, ...]]:
        """Return the key by which the better of two answers is the smaller."""
        tokens = sum(self.items[place].tokens for place in places)
        return -sum(self._join((), places)), tokens, tuple(sorted(places))

    def selection(self, places: Sequence[int]) -> Selection:
        """Return the answer with its trace."""
        reached: _Row = ()
        values: list[int] = []
        for place in places:
            reached = self._join(reached, (place,))
            values.append(sum(reached))
        return _selection([self.items[place] for place in places], values)

    def _join(self, reached: _Row, places: Sequence[int]) -> _Row:
        for place in places:
            row = self.rows[place]
            reached = tuple(map(max, reached, row)) if reached else row
        return reached


@dataclass(slots=True)
class _Best:
    """The best subset so far, while the search runs."""

    key: tuple[int, int, tuple[int, ...]]

    def offer(self, key: tuple[int, int, tuple[int, ...]]) -> None:
        self.key = min(self.key, key)


@dataclass(frozen=True, slots=True)
class _Branching:
    """What every branch of the search shares."""

    suffixes: Sequence[_Row]
    """What all items from a place on reach together."""
    best: _Best


def _rows(
    items: Sequence[Item], similarity: Similarity, checklist: Mapping[str, Mapping[str, int]]
) -> tuple[_Row, ...]:
    alike: dict[tuple[int, int], int] = {}
    for one in range(len(items)):
        for other in range(one, len(items)):
            alike[one, other] = alike[other, one] = similarity(items[one].id, items[other].id)
    entries = [checklist[name] for name in sorted(checklist)]
    return tuple(
        (
            *(item.value * alike[place, column] for column, item in enumerate(items)),
            *(entry.get(own.id, 0) for entry in entries),
        )
        for place, own in enumerate(items)
    )


def _gain(row: _Row, reached: _Row) -> int:
    if not reached:
        return sum(row)
    return sum([new - old for new, old in zip(row, reached, strict=True) if new > old])


def _running(values: Iterable[int]) -> list[int]:
    sums: list[int] = []
    for value in values:
        sums.append(value + (sums[-1] if sums else 0))
    return sums


def _selection(chosen: Sequence[Item], values: Sequence[int]) -> Selection:
    sizes = _running(item.tokens for item in chosen)
    return Selection(
        ids=tuple(item.id for item in chosen),
        tokens=sizes[-1] if sizes else 0,
        value=values[-1] if values else 0,
        trace=tuple(zip(sizes, values, strict=True)),
    )
