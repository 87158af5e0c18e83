"""Chunking: a text in pieces that an encoder reads as a whole.

Pieces are cut where the text has a break, as late as the limit allows: paragraphs before
lines, lines before sentences, sentences before words. They hold every word of the text once, in
order and verbatim. A single word above the limit is cut inside. The tokens of parts are
taken to add up, which is so for every tokenizer that begins anew at a space.

Pure; how many tokens a text has, the caller's encoder says.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

CountTokens = Callable[[str], int]

_BREAKS: Final = (
    re.compile(r"\n[ \t]*\n\s*"),
    re.compile(r"\n\s*"),
    re.compile(r"(?<=[.!?;])\s+|(?<=[\u3002\uff01\uff1f])\s*"),
    re.compile(r"\s+"),
)


def chunks_of(text: str, *, limit: int, count: CountTokens) -> tuple[str, ...]:
    """The pieces of a text, in order, each of at most `limit` tokens; none when empty.

    >>> chunks_of("one two three. four five", limit=3, count=lambda text: len(text.split()))
    ('one two three.', 'four five')
    """
    bare = text.strip()
    return tuple(_pieces(bare, limit, count, 0)) if bare else ()


def _pieces(text: str, limit: int, count: CountTokens, depth: int) -> list[str]:
    if count(text) <= limit:
        return [text]
    if depth == len(_BREAKS):
        return _halves(text, limit, count)

    # What a tokenizer adds around a text is paid once a piece, not once a part.
    overhead = count("")
    pieces: list[str] = []
    first, last, size = 0, 0, 0
    for start, end in _parts(text, depth):
        cost = count(text[start:end]) - overhead
        if size and size + cost + overhead > limit:
            pieces.append(text[first:last])
            size = 0
        if cost + overhead > limit:
            pieces += _pieces(text[start:end], limit, count, depth + 1)
        else:
            first = first if size else start
            last, size = end, size + cost

    if size:
        pieces.append(text[first:last])
    return pieces


def _parts(text: str, depth: int) -> list[tuple[int, int]]:
    breaks = list(_BREAKS[depth].finditer(text))
    starts = [0, *(match.end() for match in breaks)]
    ends = [*(match.start() for match in breaks), len(text)]
    return [(start, end) for start, end in zip(starts, ends, strict=True) if start < end]


def _halves(word: str, limit: int, count: CountTokens) -> list[str]:
    if len(word) == 1 or count(word) <= limit:
        return [word]
    middle = len(word) // 2
    return [*_halves(word[:middle], limit, count), *_halves(word[middle:], limit, count)]
