"""Encoders: what turns texts into vectors.

An encoder is any object with the four members of `Encoder`; two come with tenure, each behind
an extra. Without an encoder search and compile are lexical.

The id names the weights: vectors of two ids are never compared, and the id is part of an
envelope's identity. Cosine proposes candidates; it decides no merge, no supersession and no
contradiction.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from ...schema.errors import InvalidInput


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
