"""Encoders turn texts into vectors; texts that are too long are cut into chunks.

An encoder is any object with the four members of `Encoder`. Without one, search and compile are
lexical. The id names the weights: vectors of two ids are never compared, and the id is part of an
envelope's identity. A cosine proposes candidates and decides nothing.

Chunks are cut at paragraphs before lines, lines before sentences, sentences before words. They hold
every word of the text once, in order and verbatim. A single word above the limit is cut inside.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple, Protocol, runtime_checkable

from ...schema.errors import InvalidInput

CountTokens = Callable[[str], int]

_BREAKS: Final = (
    re.compile(r"\n[ \t]*\n\s*"),
    re.compile(r"\n\s*"),
    re.compile(r"(?<=[.!?;])\s+|(?<=[\u3002\uff01\uff1f])\s*"),
    re.compile(r"\s+"),
)


@runtime_checkable
class Encoder(Protocol):
    """Turns texts into vectors; `encode` may be called from several threads at once."""

    @property
    def id(self) -> str:
        """The name with the hash of the weights: equal exactly for comparable vectors."""
        ...

    @property
    def dimensions(self) -> int:
        """The count of numbers of each vector."""
        ...

    @property
    def max_tokens(self) -> int:
        """How many tokens of a text are read; longer texts are embedded in chunks."""
        ...

    def encode(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """Make a vector of any length for each text, in order."""
        ...


@runtime_checkable
class CountsTokens(Protocol):
    """An encoder that can say how much of its limit a text takes."""

    def count_tokens(self, text: str) -> int:
        """Count the tokens of a text, those around it included."""
        ...


def bad_encoder(reason: str) -> InvalidInput:
    """The error of an encoder that cannot be used."""
    return InvalidInput(
        f"{reason}; give 'onnx', 'sentence-transformers:/folder', or an object with id, "
        "dimensions, max_tokens and encode(texts)",
        code="bad_encoder",
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


class Progress(NamedTuple):
    """How far a re-embedding is, in claims."""

    embedded: int
    missing: int
    """How many had no vector when it began."""


ShowProgress = Callable[[Progress], None]
