"""The tables of records: both stores write what they read, and the file has their columns."""

import sqlite3
from collections.abc import Callable
from dataclasses import fields
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenure.schema.interval import INF_US, Interval
from tenure.schema.terms import stemmed_again
from tenure.store.port import tables
from tenure.store.port.tables import Lists, RecordTable
from tenure.store.sqlite.codec import list_json, words
from tenure.store.sqlite.schema import MIGRATIONS

TABLES: dict[str, RecordTable[Any]] = {
    "tx_event": tables.EVENTS,
    "tombstone": tables.TOMBSTONES,
    "entity": tables.ENTITIES,
    "alias": tables.ALIASES,
    "identifier": tables.IDENTIFIERS,
    "judgement": tables.JUDGEMENTS,
    "review": tables.REVIEWS,
    "action": tables.ACTIONS,
    "receipt": tables.RECEIPTS,
}
NAMED_OTHERWISE = {"edge": tables.EDGES}
FILE, GRAPH = Lists(list_json, words), Lists(list, tuple)
TIMES = st.integers(0, 50)


def a_record(kind: type[Any]) -> st.SearchStrategy[Any]:
    interval = st.builds(lambda start, length: Interval(start, start + length), TIMES, TIMES.map(
        lambda length: length + 1
    ))  # fmt: skip
    stated: dict[str, st.SearchStrategy[Any]] = {
        "tx_start": TIMES,
        "tx_end": TIMES.map(lambda tx: tx + 100) | st.just(INF_US),
        "interval": interval,
        "candidates": st.just(()),
    }
    own = {field.name: stated[field.name] for field in fields(kind) if field.name in stated}
    return st.builds(kind, **own)


@pytest.mark.parametrize("lists", [FILE, GRAPH], ids=["file", "graph"])
@pytest.mark.parametrize("table", [*TABLES.values(), *NAMED_OTHERWISE.values()])
@given(data=st.data())
def test_a_record_reads_as_it_was_written(
    lists: Lists, table: RecordTable[Any], data: st.DataObject
) -> None:
    record = data.draw(a_record(table.record))
    assert tables.line_decoder(table, lists)(tables.line_encoder(table, lists)(record)) == record
    properties = tables.property_encoder(table, lists)(record)
    stored = {name: value for name, value in properties.items() if value is not None}
    assert tables.property_decoder(table, lists)(stored) == record


@pytest.mark.parametrize("table", [table for table in TABLES.values() if table.ends])
@given(data=st.data())
def test_a_closing_that_a_stamp_cannot_know_reads_as_open(
    table: RecordTable[Any], data: st.DataObject
) -> None:
    record = data.draw(a_record(table.record))
    line = tables.line_encoder(table, FILE)(record)
    decode: Callable[..., Any] = tables.line_decoder(table, FILE)
    if record.tx_end < INF_US:
        assert decode(line, record.tx_end) == record
    before = decode(line, record.tx_end - 1)
    for name, value in table.ends.items():
        assert getattr(before, name) == value


@pytest.mark.parametrize("name", TABLES)
def test_the_file_has_the_columns_of_a_record(name: str) -> None:
    db = sqlite3.connect(":memory:")
    db.create_function("stemmed_again", 1, stemmed_again)
    for parts in MIGRATIONS:
        for part in parts:
            db.executescript(part)
    stored = [column for _, column, *_ in db.execute(f"PRAGMA table_info({name})")]
    db.close()
    assert set(tables.names_of(TABLES[name])) <= set(stored)
