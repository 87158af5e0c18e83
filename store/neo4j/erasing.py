"""What an erasure empties: contents, index entries, vectors, and every record that repeats them.

Ids, times and the skeleton of supersession stay, so that a read of the past finds the row and
says *erased*, and the audit chain still verifies. Everything goes with the transaction that
marks the erasure, so no reader sees half of one; the statements take at most `LARGEST` ids.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...schema.interval import MIN_US
from .applying import LARGEST, ClockCounters
from .calls import Writes
from .cypher import core as cypher
from .cypher import register


def empty(
    calls: Writes, counters: ClockCounters, object_ids: Sequence[str], entity_ids: Sequence[str]
) -> None:
    """Empty what repeats these objects and entities."""
    for ids in _slices(object_ids):
        calls.rows(cypher.EMPTY_OBJECTS, object_ids=ids)
        calls.rows(cypher.EMPTY_VECTORS, object_ids=ids)
        calls.rows(register.EMPTY_RECORDS, object_ids=ids, min=MIN_US)

    for ids in _slices(entity_ids):
        for record in calls.rows(register.EMPTY_ENTITIES, entity_ids=ids):
            counts = calls.column(register.EMPTY_NORMS, norms=record["norms"])
            counters.norms -= sum(map(int, counts))

    counters.store(calls)
    calls.bodies.clear()  # nothing erased stays decoded


def _slices(ids: Sequence[str]) -> Iterator[list[str]]:
    distinct = list(dict.fromkeys(ids))
    for start in range(0, len(distinct), LARGEST):
        yield distinct[start : start + LARGEST]
