"""The hits of a search as columns: the numbers that rank thousands, before a record is made.

What thousands of hits cost are their records. A pool tells of each hit only where it stands, how
long it is and which words it holds, so that who ranks reads the records of the best alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Generic, NamedTuple, TypeVar

from ..port.records import TextPool

T = TypeVar("T")


class PoolRow(NamedTuple):
    """A hit that the caller may see."""

    vid: int
    """Number of its row at the point."""
    mask: int
    """Which words it holds, a bit each."""
    size: int
    """Characters of its terms."""
    scope_id: str
    turn: int
    """Its number among the turns of its scope; 0 for what nobody said."""
    is_fact: bool
    """Whether it has a slot."""


class VisibleHits(NamedTuple, Generic[T]):
    """The first hits that may be seen."""

    rows: list[T]
    withheld: int
    """Hits before the last of them that may not be seen."""
    cut: bool
    """Whether another one could be seen behind them."""


def visible_hits(hits: Iterable[T | None], limit: int) -> VisibleHits[T]:
    """The first `limit` of hits that may be seen; None stands for one that may not.

    >>> visible_hits(["a", None, "b", "c", None], 2)
    VisibleHits(rows=['a', 'b'], withheld=1, cut=True)
    """
    rows: list[T] = []
    withheld = 0
    for hit in hits:
        if hit is None:
            withheld += 1
        elif len(rows) == limit:
            return VisibleHits(rows, withheld, True)
        else:
            rows.append(hit)
    return VisibleHits(rows, withheld, False)


def pool_of(page: VisibleHits[PoolRow], terms: Sequence[str]) -> TextPool:
    """The columns of one hit or more, for words in the order of their bits."""
    vids, masks, sizes, scopes, turns, facts = zip(*sorted(page.rows), strict=True)
    return TextPool(tuple(terms), vids, masks, sizes, scopes, turns, facts, page.withheld, page.cut)
