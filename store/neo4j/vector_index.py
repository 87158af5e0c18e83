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

Sources: neo4j 8; settled 8 (the promise and its bounds).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Any, Final, LiteralString

import neo4j

from ...schema.errors import InvalidInput
from ..port.store import VectorRow
from ..port.targets import Target
from ..port.vectors import Hit, VectorScore, unpacked
from ..search.matrix import Matrix
from .calls import Calls, Link, Reads, Writes
from .connect import translated
from .cypher import schema as schema_statements
from .cypher import vectors as cypher

OVERFETCH: Final = 5
"""How many times what is wanted the index is asked for: other claims hide some of it."""
LEAST: Final = 50
MOST: Final = 10_000
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


_PROCEDURE: Final = Dialect("CYPHER 5 " + cypher.MAKE_INDEX, cypher.NEAR, cypher.DROP_FILTERED)
_CLAUSE: Final = Dialect(
    "CYPHER 25 " + cypher.MAKE_FILTERED, cypher.NEAR_FILTERED, cypher.DROP_INDEX
)


def dialect_of(link: Link) -> Dialect:
    """Return the texts that a server's version asks for."""
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
        self, query: Sequence[int], *, first: int, exact_rows: int
    ) -> Iterator[tuple[Hit, ...]]:
        """Yield claims ring by ring of the index, each ring in the order of exact scores."""
        if self._text is None:
            return
        seen: set[str] = set()
        wanted, asked = max(LEAST, OVERFETCH * first), 0
        while asked < MOST:
            asked = min(wanted, MOST)
            rows = self._rows(self._text, k=asked, near=[float(x) for x in query])
            fresh = [row for row in rows if row.object_id not in seen]
            yield from self._exact(fresh).walk(query, first=len(fresh), exact_rows=MOST)
            seen.update(row.object_id for row in fresh)
            wanted *= 4

    def scores(self, query: Sequence[int], object_ids: Sequence[str]) -> tuple[VectorScore, ...]:
        """Return the exact scores of those of these claims that have vectors, in their order."""
        rows = self._rows(cypher.PARTS_OF, object_ids=list(dict.fromkeys(object_ids)))
        return self._exact(rows).scores(query, object_ids)

    def _exact(self, rows: Sequence[VectorRow]) -> Matrix:
        matrix = Matrix(self._encoder_id)
        matrix.add(rows)
        return matrix

    def _rows(self, text: LiteralString, **bound: Any) -> list[VectorRow]:
        found = self._calls.rows(text, encoder_id=self._encoder_id, **bound)
        return [_row(record, self._encoder_id) for record in found]


def _row(record: Mapping[str, Any], encoder_id: str) -> VectorRow:
    return VectorRow(record["object_id"], encoder_id, record["part"], bytes(record["vec16"]))


def searching(
    link: Link, calls: Reads, indexes: Indexes, write: Callable[[str, Callable[[Writes], int]], int]
) -> Callable[[str, int], IndexedVectors]:
    """Return what gives the vectors of an encoder, fed up to a vector number.

    `write` runs a piece of work in a transaction of its own, and returns what it returns.
    """

    def near(encoder_id: str, until: int) -> IndexedVectors:
        fed, tenant = fed_until(calls, encoder_id), calls.tenant
        dimensions = first_dimensions(calls, encoder_id)
        if not dimensions:
            return IndexedVectors(calls, encoder_id, None)
        indexes.make(link, dimensions)
        while fed < until:
            fed = write(tenant, lambda writes: feed(writes, encoder_id, until))
        return IndexedVectors(calls, encoder_id, dialect_of(link).near)

    return near


def fed_until(calls: Calls, encoder_id: str) -> int:
    """Return the number of the last vector that is in the index."""
    return next((int(r["fed"]) for r in calls.rows(cypher.FED, encoder_id=encoder_id)), 0)


def first_dimensions(calls: Calls, encoder_id: str) -> int:
    """Return the length of a tenant's vectors; 0 without any."""
    found = calls.rows(cypher.FIRST_VECTOR, encoder_id=encoder_id)
    return next((len(record["vec16"]) // 2 for record in found), 0)


def feed(calls: Writes, encoder_id: str, until: int) -> int:
    """Put the next vectors into the index, and return the number of the last one."""
    (held,) = calls.rows(cypher.LOCK_FEED, encoder_id=encoder_id)
    after = int(held["fed"])
    if after >= until:
        return after
    reached = min(after + STEP, until)
    found = calls.rows(cypher.UNFED, encoder_id=encoder_id, after=after, until=reached)
    calls.rows(cypher.FEED, encoder_id=encoder_id, rows=list(_fed(found)))
    calls.rows(cypher.SET_FED, encoder_id=encoder_id, until=reached)
    return reached


def _fed(found: Iterable[neo4j.Record]) -> Iterator[dict[str, Any]]:
    for record in found:
        numbers = unpacked(bytes(record["vec16"]))
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

    def make(self, link: Link, dimensions: int) -> None:
        """Make the index of a link's database, or check the one that is there.

        Raises:
            InvalidInput: `bad_vector` when it holds vectors of another length.
        """
        with self._lock:
            if self._made.get(link.target) != dimensions:
                _make(link, dimensions)
                self._made[link.target] = dimensions


def _make(link: Link, dimensions: int) -> None:
    dialect = dialect_of(link)
    config = {"vector.dimensions": dimensions, "vector.similarity_function": "cosine"}
    with translated(link.target), link.session(neo4j.WRITE_ACCESS) as session:
        held = list(session.run(link.dialect + cypher.HELD_INDEX))
        for record in held:
            other = int(record["config"]["vector.dimensions"])
            if other != dimensions:
                raise InvalidInput(
                    f"the vector index of {link.target.database!r} holds vectors of {other}"
                    f" numbers, this encoder makes {dimensions}: open the store without"
                    f" vector_index, or drop the index {record['name']}",
                    code="bad_vector",
                )
        session.run(link.dialect + dialect.drop_other).consume()
        session.run(link.dialect + cypher.FEED_KEY).consume()
        session.run(dialect.make, options={"indexConfig": config}).consume()
        session.run(link.dialect + schema_statements.AWAIT_INDEXES).consume()
