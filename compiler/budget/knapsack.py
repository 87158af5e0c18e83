"""The most valuable items that fit: 0/1 knapsack for values that add up.

Dynamic programming over tokens is exact up to ten million cells (items times budget). Above,
sizes are rounded up into buckets, so that the answer still fits and is still exact for the
rounded sizes; where buckets would become coarse, items are taken by value per token. Both of
these also try the other cheap answers and keep the best, and neither stops at the first item
that does not fit: it skips and goes on.

Of equal optima the one is chosen that holds the smallest id, then the next, and so on. numpy is
imported on first use, where it is installed; the plain Python path makes the same choice and takes
about a second for ten million cells. Checklist C-140; a general
integer solver is not needed and serves only as the oracle of the tests.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from itertools import filterfalse
from typing import Any, Final

from .items import Item, density, read_items

_CELLS: Final = 10_000_000
_BUCKETS: Final = 1_000  # fewer would round sizes by more than a few per mille
_SMALL: Final = 20_000  # cells below which numpy's own overhead is larger than the work
_INT64: Final = 2**62


def knapsack(items: Sequence[Item], budget: int) -> tuple[str, ...]:
    """The ids of the most valuable items whose tokens fit the budget, sorted.

    >>> knapsack([Item("a", 6, 30), Item("b", 5, 24), Item("c", 5, 24)], 10)
    ('b', 'c')

    Raises:
        InvalidInput: `bad_item`.
    """
    fitting = read_items(items, budget)
    if _size(fitting) <= budget:
        return _ids(fitting)

    width = -(-len(fitting) * budget // _CELLS)
    if width <= 1:
        return _ids(_exact(fitting, budget, 1))

    # By density alone is wrong by up to half (a small dense item keeps a large one out), the best
    # single item is the textbook's repair of that, and the buckets are better where they are fine.
    answers = [_by_density(fitting, budget), [max(fitting, key=lambda item: item.value)]]
    if budget // width >= _BUCKETS:
        answers.insert(0, _fill(_exact(fitting, budget, width), fitting, budget))

    return _ids(max(answers, key=_worth))


def _size(selection: Sequence[Item]) -> int:
    return sum(item.tokens for item in selection)


def _worth(selection: Sequence[Item]) -> int:
    return sum(item.value for item in selection)


def _ids(selection: Sequence[Item]) -> tuple[str, ...]:
    return tuple(sorted(item.id for item in selection))


def _exact(items: Sequence[Item], budget: int, width: int) -> list[Item]:
    """The optimum for sizes rounded up to whole buckets."""
    sizes: list[int] = []
    values: list[int] = []
    for item in items:
        sizes.append(-(-item.tokens // width))
        values.append(item.value)

    room = budget // width
    keeps = _decider(items, room)(sizes, values, room)
    selection: list[Item] = []

    for item, size, keep in zip(items, sizes, keeps, strict=True):
        if size <= room and keep[room]:
            selection.append(item)
            room -= size

    return selection


_Decide = Callable[[list[int], list[int], int], Sequence[Any]]


def _decider(items: Sequence[Item], room: int) -> _Decide:
    # numpy's integers wrap around in silence, Python's do not.
    overflows = _worth(items) >= _INT64
    if overflows or len(items) * room <= _SMALL or not has_numpy():
        return decide_in_python
    return decide_in_numpy


@cache
def has_numpy() -> bool:
    """Whether numpy is installed; it comes with the extra `[vectors]`."""
    try:
        import numpy  # noqa: F401  # pyright: ignore[reportUnusedImport]
    except ModuleNotFoundError:
        return False
    return True


def decide_in_python(sizes: list[int], values: list[int], room: int) -> Sequence[Any]:
    """Return for each item and each room whether the best of it and its successors holds it."""
    best = [0] * (room + 1)
    keeps: list[bytearray] = []
    for size, value in zip(reversed(sizes), reversed(values), strict=True):
        keep = bytearray(room + 1)
        for left in range(room, size - 1, -1):
            total = best[left - size] + value
            if total >= best[left]:
                best[left] = total
                keep[left] = 1

        keeps.append(keep)

    return keeps[::-1]


def decide_in_numpy(sizes: list[int], values: list[int], room: int) -> Sequence[Any]:
    """The same table as `decide_in_python`, by whole rows."""
    import numpy as np

    best = np.zeros(room + 1, dtype=np.int64)
    keeps = np.zeros((len(sizes), room + 1), dtype=bool)

    for row in range(len(sizes) - 1, -1, -1):
        size = sizes[row]
        totals = best[: room + 1 - size] + values[row]
        np.greater_equal(totals, best[size:], out=keeps[row, size:])
        np.maximum(best[size:], totals, out=best[size:])

    return list(keeps)


def _by_density(items: Sequence[Item], budget: int) -> list[Item]:
    ranked = sorted(items, key=lambda item: (-density(item.value, item.tokens), item.id))
    return _take(ranked, budget)


def _fill(selection: list[Item], items: Sequence[Item], budget: int) -> list[Item]:
    """The choice with what still fits into the tokens that rounding left over."""
    known = _ids(selection)
    others = filterfalse(lambda item: item.id in known, items)
    left = budget - _size(selection)

    return selection + _by_density(list(others), left)


def _take(ranked: Sequence[Item], budget: int) -> list[Item]:
    selection: list[Item] = []
    for item in ranked:
        if item.tokens <= budget:
            selection.append(item)
            budget -= item.tokens
    return selection
