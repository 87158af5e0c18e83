"""The option `vector_index`: the server proposes what is near, exact scores decide its order.

For tenants whose vectors outgrow a process's memory. The index holds the vectors of all claims,
past ones too, because a view of the past is searched by the same path: the caller filters each
chunk by what its view may see, and asks for more. More than is wanted is asked for at once, and
every proposal is scored again from its bytes, in the whole numbers of the shared matrix. What
the index does not propose is not found, so this stands outside the promise that both stores
answer alike.

The index is fed by the vector counter, like a matrix: after each batch of vectors, and before a
search that finds it behind, so that switching the option on needs no other step. Feeding goes on
where it stopped. One number of dimensions serves a database.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Any, Final, LiteralString

import neo4j

from ...schema.errors import InvalidInput
from ..port.records import PlacedVector, Target
from ..port.vectors import Hit, VectorScore, unpack_vector
from ..search.matrix import Matrix
from . import codec
from .calls import Calls, Reads, ServerLink, Writes
from .connect import our_errors
from .cypher import candidates, schema

OVERFETCH: Final = 5
"""How many times what is wanted the index is asked for: other claims hide some of it."""
MIN_HITS: Final = 50
MAX_HITS: Final = 10_000
"""Where asking for more ends."""
STEP: Final = 1_000
"""Vectors fed in one transaction."""
FILTERS_FROM: Final = (2026, 2)
"""The first server whose index filters by properties."""


@dataclass(frozen=True, slots=True)
class Dialect:
    """The texts of one server."""

    make: LiteralString
    near: LiteralString
    drop_other: LiteralString
    """An index of the other kind may stand there from before an upgrade."""


_PROCEDURE: Final = Dialect(
    "CYPHER 5 " + candidates.MAKE_INDEX, candidates.NEAREST, candidates.DROP_FILTERED
)
_CLAUSE: Final = Dialect(
    "CYPHER 25 " + candidates.MAKE_FILTERED, candidates.NEAR_FILTERED, candidates.DROP_INDEX
)


def dialect_of(link: ServerLink) -> Dialect:
    """The texts that a server's version asks for."""
    new = link.facts.numbers >= FILTERS_FROM and "25" in link.facts.languages
    return _CLAUSE if new else _PROCEDURE


class IndexedVectors:
    """A tenant's vectors for one encoder, proposed by the server."""

    def __init__(self, calls: Reads, encoder_id: str, text: LiteralString | None) -> None:
        """Search with a text; None where no vector was ever fed."""
        self._calls = calls
        self._encoder_id = encoder_id
        self._text: LiteralString | None = text

    def walk(
        self, query: Sequence[int], *, scopes: Sequence[str], first: int, exact_rows: int
    ) -> Iterator[tuple[Hit, ...]]:
        """Yield claims ring by ring of the index, each ring in the order of exact scores."""
        if self._text is None:
            return

        known: set[str] = set()
        size = max(MIN_HITS, OVERFETCH * first)
        while True:
            size = min(size, MAX_HITS)
            rows = self._rows(self._text, k=size, near=list(map(float, query)))
            fresh = [row for row in rows if row.object_id not in known]
            exact = self._exact(fresh)
            yield from exact.walk(query, scopes=scopes, first=len(fresh), exact_rows=MAX_HITS)
            if size == MAX_HITS:
                return

            # The index has no cursor: a further ring is a larger answer without the known ones.
            known.update(row.object_id for row in fresh)
            size *= 4

    def scores(self, query: Sequence[int], object_ids: Sequence[str]) -> tuple[VectorScore, ...]:
        """The exact scores of those of these claims that have vectors, in their order."""
        rows = self._rows(candidates.PARTS_OF, object_ids=list(dict.fromkeys(object_ids)))
        return self._exact(rows).scores(query, object_ids)

    def _exact(self, rows: Sequence[PlacedVector]) -> Matrix:
        # The same whole numbers as the embedded store, so both give the same order.
        matrix = Matrix(self._encoder_id)
        matrix.add(rows)
        return matrix

    def _rows(self, text: LiteralString, **bound: Any) -> list[PlacedVector]:
        records = self._calls.rows(text, encoder_id=self._encoder_id, **bound)
        return [codec.placed_vector(record, self._encoder_id) for record in records]


def searching(
    link: ServerLink,
    calls: Reads,
    indexes: Indexes,
    write: Callable[[str, Callable[[Writes], int]], int],
) -> Callable[[str, int], IndexedVectors]:
    """What gives the vectors of an encoder, fed up to a vector number.

    `write` runs a piece of work in a transaction of its own, and returns what it returns.
    """

    def near(encoder_id: str, until: int) -> IndexedVectors:
        position, tenant = fed_until(calls, encoder_id), calls.tenant
        dimensions = first_dimensions(calls, encoder_id)
        if not dimensions:
            return IndexedVectors(calls, encoder_id, None)

        indexes.make(link, dimensions)
        while position < until:
            position = write(tenant, lambda writes: feed(writes, encoder_id, until))
        return IndexedVectors(calls, encoder_id, dialect_of(link).near)

    return near


def fed_until(calls: Calls, encoder_id: str) -> int:
    """The number of the last vector that is in the index."""
    return next(map(int, calls.column(candidates.FEED_POSITION, encoder_id=encoder_id)), 0)


def first_dimensions(calls: Calls, encoder_id: str) -> int:
    """The length of a tenant's vectors; 0 without any."""
    records = calls.rows(candidates.FIRST_VECTOR, encoder_id=encoder_id)
    return next((len(record["vec16"]) // 2 for record in records), 0)


def feed(calls: Writes, encoder_id: str, until: int) -> int:
    """Put the next vectors into the index, and return the number of the last one."""
    (row,) = calls.rows(candidates.LOCK_FEED, encoder_id=encoder_id)
    after = int(row["fed"])
    if after >= until:
        return after

    # Bounded by numbers, not by rows: replaced vectors leave gaps, and the position moves on.
    last = min(after + STEP, until)
    records = calls.rows(candidates.PENDING, encoder_id=encoder_id, after=after, until=last)
    calls.rows(candidates.FEED, encoder_id=encoder_id, rows=list(_embeddings(records)))
    calls.rows(candidates.SET_FED, encoder_id=encoder_id, until=last)
    return last


def _embeddings(records: Iterable[neo4j.Record]) -> Iterator[dict[str, Any]]:
    for record in records:
        numbers = unpack_vector(bytes(record["vec16"]))
        yield {
            "object_id": record["object_id"],
            "part": record["part"],
            "embedding": [float(number) for number in numbers],
        }


class Indexes:
    """Which databases have their index; safe to share between threads."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._made: dict[Target, int] = {}

    def make(self, link: ServerLink, dimensions: int) -> None:
        """Make the index of a link's database, or check the one that is there.

        Raises:
            InvalidInput: `bad_vector` when it holds vectors of another length.
        """
        with self._lock:
            if self._made.get(link.target) != dimensions:
                _make(link, dimensions)
                self._made[link.target] = dimensions


def _make(link: ServerLink, dimensions: int) -> None:
    dialect = dialect_of(link)
    config = {"vector.dimensions": dimensions, "vector.similarity_function": "cosine"}
    with our_errors(link.target), link.session(neo4j.WRITE_ACCESS) as session:
        for record in list(session.run(link.dialect + candidates.PRESENT_INDEX)):
            size = int(record["config"]["vector.dimensions"])
            if size != dimensions:
                raise InvalidInput(
                    f"the vector index of {link.target.database!r} holds vectors of {size}"
                    f" numbers, this encoder makes {dimensions}: open the store without"
                    f" vector_index, or drop the index {record['name']}",
                    code="bad_vector",
                )

        session.run(link.dialect + dialect.drop_other).consume()
        session.run(link.dialect + candidates.FEED_KEY).consume()
        session.run(dialect.make, options={"indexConfig": config}).consume()
        session.run(link.dialect + schema.AWAIT_INDEXES).consume()
