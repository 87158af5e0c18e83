"""What of a text cannot be guessed: identifiers, numbers, dates and names."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from ..compiler.text.sentences import facts_of

# The look behind changes no match: where a word fails at its first character, it fails at all
# others, and trying them would take half as long again.
_IDENTIFIER: Final = re.compile(
    r"(?<![\w@#])(?=[\w.@#-]*\d)[\w@#][\w.@#-]{3,}\w|\b[A-Z]{3,}[A-Z0-9_-]*\b"
)


@lru_cache(maxsize=4_096)
def identifiers(text: str) -> tuple[str, ...]:
    """The ids, numbers and codes of a text in order, each once.

    >>> identifiers('{"id": "JG7FMM", "paid_by": "credit_card_2929732", "seats": 4}')
    ('JG7FMM', 'credit_card_2929732')
    """
    return tuple(dict.fromkeys(_IDENTIFIER.findall(text)))


def has_identifier(text: str) -> bool:
    """Whether a text holds an identifier."""
    return _IDENTIFIER.search(text) is not None


def facts(text: str) -> frozenset[str]:
    """What a shorter form of a text must still hold."""
    return facts_of(text) | set(identifiers(text))
