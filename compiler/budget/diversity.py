"""Items that say different things: facility location, and MMR as a named option.

    f(S) = sum over items j of  value_j * max over i in S of similarity(i, j)
         + sum over checklist entries of  their points by the best item of S

f rises with every item and each adds less than before, so greedy is good, and how good depends
on the start: it runs from every single item, by gain per token, and the best answer is taken.
That is for the two dozen items that a section hands in; gains are whole numbers and evaluated
lazily, because a gain once computed bounds every later one (Minoux 1978).

An item that does not fit is skipped, never the end of the search: stopping at the first overflow
chooses nothing when the first text is long. Checklist C-134.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from itertools import accumulate
from typing import Final

from .items import Item, Selection, density, read_items

_MMR_WHOLE: Final = 1000

Similarity = Callable[[str, str], int]
"""How alike two items are, a whole number of at least 0 on one scale, the same both ways."""

_Row = tuple[int, ...]
"""What an item gives to each column: to every item that it stands for, to every entry."""


def facility_location(
    items: Sequence[Item],
    similarity: Similarity,
    budget: int,
    *,
    checklist: Mapping[str, Mapping[str, int]] | None = None,
) -> Selection:
    """Choose items that together stand for all of them within the budget.

    Args:
        items: Candidates; `value` is the relevance by which each wants to be represented.
        similarity: Asked once for each unordered pair and once for each item with itself.
        budget: Tokens.
        checklist: Entry to {item id: points}; an entry counts by its best chosen item.

    Raises:
        InvalidInput: `bad_item`.
    """
    candidates = read_items(items, budget)
    coverage = _Coverage(candidates, _rows(candidates, similarity, checklist or {}), budget)
    starts = range(len(candidates))
    answers = [(), *(coverage.greedy(start) for start in starts)]
    return coverage.selection(min(answers, key=coverage.rank))


def mmr(
    items: Sequence[Item], similarity: Similarity, budget: int, *, relevance_permille: int = 700
) -> Selection:
    """Choose items by maximal marginal relevance (Carbonell, Goldstein 1998).

    Each choice maximises `relevance * value - (1 - relevance) * similarity to the nearest chosen
    item`; value and similarity must share a scale. It reaches less than `facility_location`. The
    selection's value is the sum of the chosen values.

    Raises:
        InvalidInput: `bad_item`.
    """
    waiting = {item.id: item for item in read_items(items, budget)}
    nearest = dict.fromkeys(waiting, 0)
    chosen: list[Item] = []
    left = budget

    def regret(name: str) -> tuple[int, str]:
        redundancy = (_MMR_WHOLE - relevance_permille) * nearest[name]
        return redundancy - relevance_permille * waiting[name].value, name

    while waiting:
        item = waiting.pop(min(waiting, key=regret))
        if item.tokens > left:
            continue

        left -= item.tokens
        chosen.append(item)
        for name in waiting:
            nearest[name] = max(nearest[name], similarity(item.id, name))

    return _selection(chosen, list(accumulate(item.value for item in chosen)))


@dataclass(frozen=True, slots=True)
class _Coverage:
    """The items by id, what each gives to every column, and the budget."""

    items: tuple[Item, ...]
    rows: tuple[_Row, ...]
    budget: int

    def greedy(self, start: int) -> tuple[int, ...]:
        """Complete a first item by the best gain per token that fits, lazily evaluated."""
        positions = [start]
        reached = self.rows[start]
        left = self.budget - self.items[start].tokens
        heap: list[tuple[int, int]] = []
        for position, row in enumerate(self.rows):
            if position != start:
                heap.append((-density(sum(row), self.items[position].tokens), position))
        heapify(heap)

        while heap:
            _, position = heappop(heap)
            tokens = self.items[position].tokens
            if tokens > left:
                continue

            # The key of an item that waits was computed earlier, and gains only fall: one whose
            # fresh key still beats the best waiting key is the best of all.
            row = self.rows[position]
            gain = _gain(row, reached)
            key = (-density(gain, tokens), position)
            if heap and key > heap[0]:
                heappush(heap, key)
            elif gain:
                positions.append(position)
                left -= tokens
                reached = tuple(map(max, reached, row))

        return tuple(positions)

    def rank(self, positions: Sequence[int]) -> tuple[int, int, tuple[int, ...]]:
        """The key by which the better of two answers is the smaller."""
        tokens = sum(self.items[position].tokens for position in positions)
        return -sum(self._union(positions)), tokens, tuple(sorted(positions))

    def selection(self, positions: Sequence[int]) -> Selection:
        """An answer with its trace."""
        values = [sum(self._union(positions[:count])) for count in range(1, len(positions) + 1)]
        return _selection([self.items[position] for position in positions], values)

    def _union(self, positions: Sequence[int]) -> _Row:
        rows = [self.rows[position] for position in positions]
        return tuple(map(max, zip(*rows, strict=True))) if rows else ()


def _rows(
    items: Sequence[Item], similarity: Similarity, checklist: Mapping[str, Mapping[str, int]]
) -> tuple[_Row, ...]:
    likeness: dict[tuple[int, int], int] = {}
    for left in range(len(items)):
        for right in range(left, len(items)):
            alike = similarity(items[left].id, items[right].id)
            likeness[left, right] = likeness[right, left] = alike

    entries = [checklist[name] for name in sorted(checklist)]
    rows: list[_Row] = []
    for position, item in enumerate(items):
        columns = [other.value * likeness[position, i] for i, other in enumerate(items)]
        columns.extend(entry.get(item.id, 0) for entry in entries)
        rows.append(tuple(columns))
    return tuple(rows)


def _gain(row: _Row, reached: _Row) -> int:
    return sum([new - old for new, old in zip(row, reached, strict=True) if new > old])


def _selection(chosen: Sequence[Item], values: Sequence[int]) -> Selection:
    sizes = list(accumulate(item.tokens for item in chosen))
    return Selection(
        ids=tuple(item.id for item in chosen),
        tokens=sizes[-1] if sizes else 0,
        value=values[-1] if values else 0,
        trace=tuple(zip(sizes, values, strict=True)),
    )
