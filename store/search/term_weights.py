"""Telling words: which words of a question propose claims, and how much each of them counts.

The fewer claims hold a word, the more it tells (Spärck Jones 1972): a word counts one, and one
more for each time that twice as many claims could hold it before it is too common to propose.
Whole numbers and powers of two alone, so that a server and a file propose in the same order.

Where claims are told one after the other, what answers a question stands beside other hits of it:
one that few words of its own propose is led to by those around it, a lone one is passed over.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

HALVINGS: Final = tuple(1 << step for step in range(32))
"""Powers of two: a word's weight is how many of them its claims may be multiplied by."""
_FLOOR: Final = 4_096
"""Claims that may hold a word however few are wanted: a count and a sum over so many is cheap."""
OWN_SHARE: Final = 6
BESIDE_SHARES: Final = (4, 3, 2, 1)
"""What the weight of a claim counts for itself, and for those one, two, three and four places
beside it: the triangular window of talk that the compiler scores with."""
_POOL: Final = 8


def is_searchable(term: str) -> bool:
    """Whether a text can be a term: an index splits at ASCII signs and at white space."""
    return bool(term) and all(c.isalnum() if c.isascii() else not c.isspace() for c in term)


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
    """Return the terms that propose with their weights; the first where all are common.

    `spread` says by term how many claims hold it; above what is common it need not be exact.

    >>> telling_weights({"fox": 2, "the": 90_000, "gnu": 0}, 10)
    {'fox': 12}
    """
    common_count = common(limit)
    weights: dict[str, int] = {}
    for term, count in spread.items():
        if 0 < count <= common_count:
            weights[term] = weight(count, common_count)

    return weights or dict.fromkeys(sorted(spread)[:1], 1)


def pool(limit: int) -> int:
    """Return how many of the most telling claims lift each other, where `limit` are wanted."""
    return _POOL * (limit + 1)


def lifted_order(weights: Mapping[int, int], places: Mapping[int, int]) -> list[int]:
    """Return the numbers of claims by their own weight and that of claims beside them.

    `places` are the row numbers of texts that may be seen: what a caller may not see moves nothing
    that it may, and facts that were written in turn say nothing of each other.
    Of equals the newest comes first.

    >>> lifted_order({1: 2, 2: 2, 90: 3}, {1: 1, 2: 2, 90: 90})
    [2, 1, 90]
    """
    worth = dict[int, int]()
    for number, weight in weights.items():
        worth[number] = OWN_SHARE * weight

    number_at = dict(zip(places.values(), places, strict=True))
    for number, place in places.items():
        own_weight = weights[number]
        for distance, share in enumerate(BESIDE_SHARES, start=1):
            for neighbour in (number_at.get(place - distance), number_at.get(place + distance)):
                if neighbour is not None:
                    worth[neighbour] += share * own_weight

    order = sorted(worth, reverse=True)
    order.sort(key=worth.__getitem__, reverse=True)  # which keeps the order of equals
    return order
