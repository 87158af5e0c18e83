"""The hits of a text search as columns.

One statement brings of each hit the number of its row, the words it holds as bits, how long it is,
and whether it is talk or a fact; no text leaves the server.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ...schema.principal import Sight
from ..port.records import TextPool
from ..port.store import Point
from ..search.term_weights import POOL_TERMS, pool_weights
from ..search.text_pool import PoolRow, pool_of, visible_hits
from .calls import Reads
from .cypher import candidates as cypher
from .versions import ALL_HITS, Search, bounds, seen_at


class PoolAsk(NamedTuple):
    """What is asked of a pool."""

    limit: int
    unless: int
    """At most so many hits make no pool: their records cost less."""


class PoolAnswer(NamedTuple):
    """What a search answered that met more than a page, and no more than one call can tell."""

    rows: Sequence[Sequence[Any]]
    """Of all hits, best first; a bit for each word of the search in the order of its terms."""
    holders: Sequence[int]
    """How many claims hold each of these words."""
    last_us: int
    """The stamp that it holds for."""


def pool_of_answer(answer: PoolAnswer, search: Search, ask: PoolAsk) -> TextPool | None:
    """The columns that a search brought; None where hits that may be seen are at most `unless`."""
    visible = visible_hits(map(_row, answer.rows), ask.limit)
    if len(visible.rows) <= ask.unless:
        return None

    words = list(pool_weights(dict(zip(search.terms, answer.holders, strict=True)), ask.limit))
    # The bits of a pool stand in the order of its words, the rarest first.
    bits = [(1 << search.terms.index(word), 1 << place) for place, word in enumerate(words)]
    masks: dict[int, int] = {}
    for mask in {row.mask for row in visible.rows}:
        masks[mask] = sum(bit for bit_of_term, bit in bits if mask & bit_of_term)
    rows = [row._replace(mask=masks[row.mask]) for row in visible.rows]
    return pool_of(visible._replace(rows=rows), words)


def text_pool(
    calls: Reads, search: Search | None, ask: PoolAsk, *, sight: Sight, point: Point
) -> TextPool | None:
    """The columns of the first hits that may be seen; None where they are at most `unless`."""
    if search is None:
        return None

    search = search._replace(most=ask.limit + 1)
    while True:
        bound = bounds(search) | seen_at(sight, point)
        questions = [search.question(calls.tenant)]
        (record,) = calls.rows(cypher.POOL, searches=questions, pool_terms=POOL_TERMS, **bound)
        rows: list[list[Any]] = record["rows"]
        proposals: int = record["proposed"]
        last_us: int = record["last_us"]
        places: list[int] = record["words"]
        if search.is_overtaken(point, last_us):
            search = search._replace(live=False)
            continue

        visible = visible_hits(map(_row, rows), ask.limit)
        if proposals >= search.most and not visible.cut:
            search = search._replace(most=ALL_HITS)
            continue

        if len(visible.rows) <= ask.unless:
            return None
        return pool_of(visible, [search.terms[place] for place in places])


def _row(columns: Sequence[Any]) -> PoolRow | None:
    """A hit as a statement returns it; None for one that is hidden, of which nothing is told."""
    return PoolRow(*columns) if columns else None
