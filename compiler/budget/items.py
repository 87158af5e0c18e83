"""An item that competes for the tokens of one section, and what a selection answers.

Values are integers: whoever scores scales once (say to 0..1,000,000) and from there on no float
decides. Ties go to the smaller id everywhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from ...schema.errors import InvalidInput

PRECISION: Final = 24
"""Bits that gain per token is shifted by, so that whole numbers tell near ones apart."""


@dataclass(frozen=True, slots=True)
class Item:
    """One candidate of a section."""

    id: str
    """Unique in one call."""
    tokens: int
    """Size, at least 0; an item that is larger than the budget is passed over."""
    value: int
    """Relevance on any integer scale; at 0 or below the item is never worth a token."""


@dataclass(frozen=True, slots=True)
class Selection:
    """What was chosen, in the order of choice."""

    ids: tuple[str, ...]
    """Chosen ids, first choice first."""
    tokens: int
    """Sum of their sizes."""
    value: int
    """What the method maximises, reached by the whole selection."""
    trace: tuple[tuple[int, int], ...]
    """(tokens, value) after each choice; `concave_envelope` makes a section's curve of it."""


def read_items(items: Sequence[Item], budget: int) -> tuple[Item, ...]:
    """Return by id the items that fit the budget alone and have a value.

    Raises:
        InvalidInput: `bad_item`, for a size below 0, a number that is not whole or an id twice.
    """
    known: set[str] = set()
    for item in items:
        if not _whole(item.tokens) or not _whole(item.value) or item.tokens < 0:
            raise InvalidInput(
                f"item {item.id!r}: tokens and value must be whole numbers and tokens not "
                f"negative, got {item.tokens!r} and {item.value!r}",
                code="bad_item",
            )

        if item.id in known:
            raise InvalidInput(f"item {item.id!r} is stated twice", code="bad_item")
        known.add(item.id)

    # By id, because every method breaks its ties by this order.
    fitting = [item for item in items if item.value > 0 and item.tokens <= budget]
    return tuple(sorted(fitting, key=lambda item: item.id))


def density(gain: int, tokens: int) -> int:
    """Return gain per token as a whole number that is fine enough to compare by."""
    return (gain << PRECISION) // max(1, tokens)


def _whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
