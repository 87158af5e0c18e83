"""What an erasure empties: contents, index entries, vectors, and every record that repeats them.

Ids, times and the skeleton of supersession stay, so that a read of the past finds the row and
says *erased*, and the audit chain still verifies. Everything goes with the transaction that
marks the erasure, so no reader sees half of one; the statements take at most `LARGEST` ids.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...schema.interval import INF_US, MIN_US
from ..port.receipts import without_candidates
from .applying import LARGEST, ClockCounters
from .calls import Writes
from .cypher import core as cypher
from .cypher import register


def empty(
    calls: Writes,
    counters: ClockCounters,
    object_ids: Sequence[str],
    entity_ids: Sequence[str],
    nameless_ids: Sequence[str],
) -> None:
    """Empty what repeats these objects and entities."""
    # Norms outlive their aliases here, and go last, when nobody has them any more.
    norms: list[str] = []
    for ids in _slices(object_ids):
        calls.rows(cypher.EMPTY_OBJECTS, object_ids=ids)
        calls.rows(cypher.EMPTY_VECTORS, object_ids=ids)
        for record in calls.rows(register.EMPTY_RECORDS, object_ids=ids, min=MIN_US, inf=INF_US):
            norms += record["norms"]

    for ids in _slices(entity_ids):
        for record in calls.rows(register.EMPTY_ENTITIES, entity_ids=ids):
            norms += record["norms"]
    for ids in _slices([*entity_ids, *nameless_ids]):
        _empty_namings(calls, ids)

    for part in _slices(norms):
        counters.norms -= sum(map(int, calls.column(register.EMPTY_NORMS, norms=part)))

    counters.store(calls)
    calls.forget_claims()


def _empty_namings(calls: Writes, entity_ids: list[str]) -> None:
    """Empty the cases and receipts of others that repeat the names of entities."""
    rows: list[dict[str, str]] = []
    for record in calls.rows(register.EMPTY_NAMINGS, entity_ids=entity_ids):
        body = without_candidates(record["body"], entity_ids)
        if body != record["body"]:
            rows.append({"object_id": record["object_id"], "body": body})
    for start in range(0, len(rows), LARGEST):
        calls.rows(register.SHORTEN_RECEIPTS, rows=rows[start : start + LARGEST])


def _slices(ids: Sequence[str]) -> Iterator[list[str]]:
    distinct = list(dict.fromkeys(ids))
    for start in range(0, len(distinct), LARGEST):
        yield distinct[start : start + LARGEST]
