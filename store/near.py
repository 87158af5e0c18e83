"""Near: how a vector search proposes claims, whoever holds the vectors.

The matrix of a process holds all vectors of a tenant and is exact; a server may be told to keep
an index of its own for tenants that outgrow memory. Both walk claims best first and give exact
scores of the claims they are asked about, so a search is written once.

Pure: no numbers are computed here. Sources: settled 8; neo4j 8.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple, Protocol

from .port.vectors import VectorScore


class Hit(NamedTuple):
    """A claim of a walk."""

    object_id: str
    score: int


class Vectors(Protocol):
    """The vectors of one tenant for one encoder."""

    def walk(
        self, query: Sequence[int], *, first: int, exact_rows: int
    ) -> Iterator[tuple[Hit, ...]]:
        """Yield claims by the exact score of their content, in chunks, each best first.

        `first` is how many are wanted at least; `exact_rows` is how many claims are scored
        one by one before anything proposes.
        """
        ...

    def scores(self, query: Sequence[int], object_ids: Sequence[str]) -> tuple[VectorScore, ...]:
        """Return the exact scores of those of these claims that have vectors, in their order."""
        ...
