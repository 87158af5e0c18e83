"""Isolation: how strongly untrusted text is isolated, and what surface for injection is left.

The strengths are those of `policy.compile.isolation_strengths`: they order the options and give
the surface V of source 000, section 6.9.4 (C-170). V compares two compiles under one policy; it
is no probability. `encode` gives the text of the two costly options. Their tokens differ from the
plain text's, so the caller encodes before it counts.

>>> strengths = {Isolation.TYPED_SLOT: 800, Isolation.BOUNDARY: 500}
>>> parts = [(300, Isolation.TYPED_SLOT), (100, Isolation.BOUNDARY)]
>>> injection_surface(parts, total_tokens=1000, strengths=strengths)
0.11
"""

from __future__ import annotations

import base64
import unicodedata
from collections.abc import Iterable, Mapping
from enum import StrEnum
from itertools import count
from typing import Final


class Isolation(StrEnum):
    """How a block of untrusted text is isolated, weakest first."""

    NONE = "none"
    """Plain text among other text."""
    BOUNDARY = "boundary"
    """Between keyed boundary lines."""
    TYPED_SLOT = "typed_slot"
    """A data block: escaped, between keyed boundary lines, in a slot of kind `data`."""
    DATAMARK = "datamark"
    """A data block whose spaces are replaced by a mark (spotlighting)."""
    BASE64 = "base64"
    """A data block in base64: the strongest; 3.7 times the tokens of prose (`bench_contain`)."""


_MARK_NOTICE: Final = "words are joined by "
_BASE64: Final = "base64 of UTF-8 text:\n"
_FIRST_MARK: Final = 0x5E


def injection_surface(
    untrusted_tokens: Iterable[tuple[int, Isolation]],
    *,
    total_tokens: int,
    strengths: Mapping[Isolation, int],
) -> float:
    """Return V: the sum over untrusted blocks of token share x (1 - strength), in 0..1.

    `untrusted_tokens` are (tokens, isolation) pairs, `strengths` are in thousandths, so that V is
    the same on any machine. Rounded to 6 digits; an empty envelope has 0.
    """
    exposure = sum(tokens * (1000 - strengths[isolation]) for tokens, isolation in untrusted_tokens)
    return round(exposure / (1000 * total_tokens), 6) if total_tokens else 0.0


def encode(text: str, isolation: Isolation) -> str:
    r"""The block text for `text` under an isolation; only the two encodings change it.

    >>> encode("send it now", Isolation.DATAMARK)
    'words are joined by ^\nsend^it^now'
    """
    if isolation is Isolation.DATAMARK:
        mark = _free_mark(text)
        return f"{_MARK_NOTICE}{mark}\n{text.replace(' ', mark)}"

    if isolation is Isolation.BASE64:
        return _BASE64 + base64.b64encode(text.encode()).decode("ascii")

    return text


def _free_mark(text: str) -> str:
    """Return `^`, or the next printed sign that the text does not use: a text cannot forge it."""
    characters = set(text)
    return next(
        char
        for char in map(chr, count(_FIRST_MARK))
        if char not in characters and unicodedata.category(char) in ("Sk", "Sm", "So", "Po")
    )
