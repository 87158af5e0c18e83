"""How many texts may compete for a budget: several times what it holds, told by their lengths.

What stands behind so many better ones is never shown, yet to make pieces of it and to price them
would take most of a compile. Stored texts meet the bound twice: before they become pieces, and with
a narrower one where all pieces of a section compete. Lengths are characters, since counting tokens
would cost what the bound is to save.
"""

from __future__ import annotations

from typing import Final

FAIR_TOKENS: Final = 200
"""Tokens from which a text must be worth its length."""

_CHARS_A_TOKEN: Final = 4


def room_of(budget: int, times: int) -> int:
    """The characters of so many budgets, which are in tokens."""
    return times * budget * _CHARS_A_TOKEN


def size_of(text: str) -> int:
    """The characters that a text takes of the room; of a long one no more than of a fair one.

    A long text may stay out in the end, and must not keep out those that would stand in its place.
    """
    return min(len(text), FAIR_TOKENS * _CHARS_A_TOKEN)
