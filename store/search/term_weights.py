"""Which words of a question propose claims, how much each counts, and the columns of many hits.

The fewer claims hold a word, the more it tells (Spärck Jones 1972): a word counts one, and one
more for each time that twice as many claims could hold it before it is too common to propose.
Whole numbers and powers of two alone, so that a server and a file propose in the same order.
Claims are counted in the scopes of the caller: of a tenant with thousands of users everybody says
"dinner", and to each of them it still tells which of their own memories is meant.

What thousands of hits cost are their records. A pool tells of each hit only where it is, how
long it is and which words it holds, so that a ranking reads the records of the best alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, Generic, NamedTuple, TypeVar

from ...schema.principal import AUDIT, Sight
from ..port.records import TextPool

HALVINGS: Final = tuple(1 << step for step in range(32))
"""Powers of two: a word's weight is how many of them its claims may be multiplied by."""
_FLOOR: Final = 6_000
"""Claims that may hold a word however few are wanted: a count and a sum over so many is cheap."""
POOL_TERMS: Final = 24
"""Words that a pool tells apart: a score of 32 bits adds so many bits exactly."""
_PROPOSALS: Final = 8
"""Times as many claims as are wanted: some may not be seen, or not at the point."""
_MOST_SCOPES: Final = 64
"""Scopes that one search names. A caller of more sees so much that the tenant's counts serve."""

T = TypeVar("T")


def searched_scopes(sight: Sight) -> tuple[str, ...]:
    """Return the scopes that a search of a sight is narrowed to; none for the whole tenant.

    Who audits is told how much of the tenant is withheld, so such a search meets all of it.
    """
    is_auditor = not AUDIT.roles.isdisjoint(sight.tags)
    return () if is_auditor or len(sight.scopes) > _MOST_SCOPES else sight.scopes


def is_searchable(term: str) -> bool:
    """Whether a text can be a term: an index splits at ASCII signs and at white space."""
    if term.isascii():  # as nearly every word is
        return term.isalnum()
    return all(c.isalnum() if c.isascii() else not c.isspace() for c in term)


def common(limit: int) -> int:
    """Return how many claims may hold a word that proposes, where `limit` are wanted."""
    return max(_FLOOR, 2 * limit)


def weight(count: int, common_count: int) -> int:
    """Return what a word counts that `held` claims hold, of at most `most`; 0 above that.

    >>> [weight(held, 1024) for held in (1, 2, 3, 512, 513, 1024, 1025)]
    [11, 10, 9, 2, 1, 1, 0]
    """
    return (common_count // count).bit_length()


def telling_weights(spread: Mapping[str, int], limit: int) -> dict[str, int]:
    """Return the terms that propose with their weights; where all are common, one that is held.

    `spread` says by term how many claims hold it; above what is common it need not be exact.

    >>> telling_weights({"fox": 2, "the": 90_000, "gnu": 0}, 10)
    {'fox': 12}
    >>> telling_weights({"any": 0, "the": 90_000, "to": 80_000}, 10)
    {'the': 1}
    """
    common_count = common(limit)
    weights: dict[str, int] = {}
    for term, count in spread.items():
        if 0 < count <= common_count:
            weights[term] = weight(count, common_count)

    # A word that nobody has would propose nothing at all.
    common_terms = sorted(term for term, count in spread.items() if count) or sorted(spread)
    return weights or dict.fromkeys(common_terms[:1], 1)


def proposals(limit: int) -> int:
    """Return how many of the most telling claims are looked at first, where `limit` are wanted."""
    return _PROPOSALS * (limit + 1)


def pool_weights(spread: Mapping[str, int], limit: int) -> dict[str, int]:
    """Return the words of a pool in the order of their bits, with what each counts.

    The rarest come first, equal ones by the alphabet; a common one proposes nothing and counts
    nothing, but which hits hold it is told.

    >>> pool_weights({"the": 90_000, "fox": 2, "gnu": 0}, 10)
    {'fox': 12, 'the': 0}
    """
    common_count = common(limit)
    order = sorted(spread, key=lambda term: (min(spread[term], common_count + 1), term))
    words = [term for term in order if spread[term]][:POOL_TERMS]
    telling = telling_weights({word: spread[word] for word in words}, limit)
    return {word: telling.get(word, 0) for word in words}


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
    """The first `limit` of hits that may be seen; None represents one that may not.

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
