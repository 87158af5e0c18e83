r"""Subunits: a text as verbatim sentences, list items and lines, and what must not get lost.

Cuts are made after sentence ends and at line ends only, never inside a word or a number.
`propositions` are the same pieces seen as statements; `facts_of` are the numbers, names, dates
and negations that a shortened text must still hold (settled 10, "fidelity").

>>> subunits("Rate is 3.5 %. It fell.\n- sold in May")
('Rate is 3.5 %.', 'It fell.', '- sold in May')
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

_SENTENCE: Final = re.compile(
    "(?<=[.!?])\\s+(?=[\"'(\\[]?[^\\W_a-z])|\\n+|(?<=[\u3002\uff01\uff1f])"
)
_ALNUM: Final = re.compile(r"[^\W_]")
_NUMBER: Final = re.compile(r"\d(?:[\d.,:/-]*\d)?")
_NAME: Final = re.compile(r"\b[A-Z][\w-]*[A-Za-z][\w-]*\b")
_NEGATION: Final = re.compile(
    r"\b(?:no|not|never|none|nothing|neither|nor|without|cannot|nicht|kein\w*|ohne|jamais|pas"
    r"|sans|sin|nunca)\b|n't\b",
    re.IGNORECASE,
)
MAX_UNITS: Final = 400
"""Subunits looked at in one text; a longer one is a book, not a passage."""


@lru_cache(maxsize=1_024)
def subunits(text: str) -> tuple[str, ...]:
    """Return the sentences and lines of a text, each verbatim without outer spaces."""
    parts = (part.strip() for part in _SENTENCE.split(text) if part)
    return tuple(part for part in parts if _ALNUM.search(part))[:MAX_UNITS]


@lru_cache(maxsize=4_096)
def facts_of(text: str) -> frozenset[str]:
    """Return the numbers, dates, names and negations of a text.

    >>> sorted(facts_of("Nova never shipped 12 units to Chicago"))
    ['12', 'Chicago', 'Nova', 'not']
    """
    found = {*_NUMBER.findall(text), *_NAME.findall(text)}
    return frozenset(found | ({"not"} if _NEGATION.search(text) else set()))


def numbers_of(text: str) -> frozenset[str]:
    """Return the numbers and dates of a text."""
    return frozenset(_NUMBER.findall(text))


def negates(text: str) -> bool:
    """Tell whether a text holds a negation."""
    return _NEGATION.search(text) is not None
