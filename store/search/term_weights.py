"""Telling words: which words of a question propose claims, and how much each of them counts.

The fewer claims hold a word, the more it tells (Spärck Jones 1972): a word counts one, and one
more for each time that twice as many claims could hold it before it is too common to propose.
Whole numbers and powers of two alone, so that a server and a file propose in the same order.
"""

from __future__ import annotations

from typing import Final

HALVINGS: Final = tuple(1 << step for step in range(32))
"""Powers of two: a word's weight is how many of them its claims may be multiplied by."""
_FLOOR: Final = 4_096
"""Claims that may hold a word however few are wanted: a count and a sum over so many is cheap."""


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
