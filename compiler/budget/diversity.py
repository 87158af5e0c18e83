"""Items that say different things: maximal marginal relevance, a named option of the policy.

An item that does not fit is skipped, never the end of the search: stopping at the first overflow
chooses nothing when the first text is long. Checklist C-134.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from .items import Item, Selection, read_items

_MMR_WHOLE: Final = 1000

Similarity = Callable[[str, str], int]
"""How alike two items are, a whole number of at least 0 on one scale, the same both ways."""


def mmr(
    items: Sequence[Item], similarity: Similarity, budget: int, *, relevance_permille: int = 700
) -> Selection:
    """Choose items by maximal marginal relevance (Carbonell, Goldstein 1998).

    Each choice maximises `relevance * value - (1 - relevance) * similarity to the nearest chosen
    item`; value and similarity must share a scale. The selection's value
    is the sum of the chosen values.

    Raises:
        InvalidInput: `bad_item`.
    """
    waiting = {item.id: item for item in read_items(items, budget)}
    nearest = dict.fromkeys(waiting, 0)
    selection: list[Item] = []
    left = budget

    def regret(name: str) -> tuple[int, str]:
        redundancy = (_MMR_WHOLE - relevance_permille) * nearest[name]
        return redundancy - relevance_permille * waiting[name].value, name

    while waiting:
        item = waiting.pop(min(waiting, key=regret))
        if item.tokens > left:
            continue

        left -= item.tokens
        selection.append(item)
        for name in waiting:
            nearest[name] = max(nearest[name], similarity(item.id, name))

    ids: list[str] = []
    trace = [(0, 0)]
    for item in selection:
        tokens, value = trace[-1]
        ids.append(item.id)
        trace.append((tokens + item.tokens, value + item.value))

    tokens, value = trace[-1]
    return Selection(tuple(ids), tokens, value, tuple(trace[1:]))
