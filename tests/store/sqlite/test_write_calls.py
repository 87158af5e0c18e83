"""A write asks the file for little, and what it keeps in mind is never out of date."""

import json
import sqlite3
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from tenure import Memory, Write, connect
from tenure.resolution.known import Lookup
from tenure.schema.errors import TenureError
from tenure.store.port.store import Batch, Clock
from tenure.store.sqlite import SqliteStore
from tenure.store.sqlite.register_sql import NAME_ROWS
from tenure.store.sqlite.writer import SqliteWriteTx
from tenure.tests.store.builders import TENANT, add, after, alias, entity, event

CALLS: list[tuple[str, int]] = []
"""Statement and number of lines of every call of SQLite."""
LAST_NAMES = ("Rivera", "Chang", "Okafor", "Lindqvist")


class Counted(sqlite3.Connection):
    def execute(self, statement: str, *bound: Any) -> sqlite3.Cursor:
        CALLS.append((statement, 1))
        return super().execute(statement, *bound)

    def executemany(self, statement: str, lines: Iterable[Any]) -> sqlite3.Cursor:
        rows = list(lines)
        CALLS.append((statement, len(rows)))
        return super().executemany(statement, rows)


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int]]:
    plain = sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", lambda *a, **k: plain(*a, **(k | {"factory": Counted})))
    return CALLS


def test_a_plain_write_takes_few_calls_and_none_for_nothing(
    tmp_path: Path, counted: list[tuple[str, int]]
) -> None:
    with connect(str(tmp_path / "memory.db")) as memory:
        memory.write(subject="Sam Rivera", slot="office", value="Austin")
        memory.write(subject="Sam Rivera", slot="office", value="Boston")
        counted.clear()
        memory.write(subject="Sam Rivera", slot="office", value="Chicago")
        calls = list(counted)

    reads = _reads(calls)
    assert len(calls) <= 22, [statement.split("\n")[:2] for statement, _ in calls]
    assert len(reads) <= 5
    assert all(rows for _, rows in calls)


def test_a_correction_reads_before_its_lock_what_holds_at_its_start_and_no_more(
    tmp_path: Path, counted: list[tuple[str, int]]
) -> None:
    correction = {"subject": "Sam Rivera", "slot": "office", "op": "correct"}
    with connect(str(tmp_path / "memory.db")) as memory:
        memory.write(subject="Sam Rivera", slot="office", value="Austin", valid_from="2026-01-01")
        memory.write(**correction, value="Boston", valid_from="2026-02-01")
        counted.clear()
        memory.write(**correction, value="Chicago", valid_from="2026-03-01")
        statements = [statement for statement, _ in counted]

    before_lock = statements[: statements.index("BEGIN IMMEDIATE")]
    assert len(before_lock) <= 13, [statement.split("\n")[:2] for statement in before_lock]


def test_a_write_by_id_reads_names_before_and_in_its_transaction(
    tmp_path: Path, counted: list[tuple[str, int]]
) -> None:
    with connect(str(tmp_path / "memory.db")) as memory:
        sam = memory.write(subject="Sam Rivera", slot="office", value="Austin").entity
        memory.write(subject=sam, slot="office", value="Boston")
        counted.clear()
        memory.write(subject=sam, slot="office", value="Chicago")
        calls = list(counted)

    # The sentence needs the name before the write begins, the receipt what stands after it.
    begun = [statement for statement, _ in calls if "BEGIN" in statement]
    assert begun == ["BEGIN IMMEDIATE"]
    assert sum(statement == NAME_ROWS for statement, _ in calls) == 2
    start = [statement for statement, _ in calls].index("BEGIN IMMEDIATE")
    before, calls = calls[:start], calls[start:]
    assert len(before) <= 3, [statement.split("\n")[:2] for statement, _ in before]
    assert len(_reads(calls)) <= 6
    assert len(calls) <= 23, [statement.split("\n")[:2] for statement, _ in calls]


def test_an_import_reads_no_names_for_receipts_that_it_only_counts(
    tmp_path: Path, counted: list[tuple[str, int]]
) -> None:
    with connect(str(tmp_path / "memory.db")) as memory:
        sam = memory.write(subject="Sam Rivera", slot="office", value="Austin").entity
        counted.clear()
        memory.write(subject=sam, slot="office", value="Boston")
        assert sum(statement == NAME_ROWS for statement, _ in counted) == 2

        lines = tmp_path / "events.jsonl"
        lines.write_text(json.dumps({"subject": sam, "slot": "office", "value": "Chicago"}))
        counted.clear()
        report = memory.ingest(str(lines))
        assert report.outcomes == {"accepted": 1}
        # Its sentence names the subject; a receipt would name it once more.
        assert sum(statement == NAME_ROWS for statement, _ in counted) == 1


def test_new_names_of_a_batch_are_looked_up_together(
    tmp_path: Path, counted: list[tuple[str, int]]
) -> None:
    names = [f"{first} {last}" for first in ("Ada", "Ben", "Cleo", "Dora") for last in LAST_NAMES]
    with connect(str(tmp_path / "memory.db")) as memory:
        writes = [Write(subject=name, slot="office", value="Austin") for name in names]
        memory.write_many(writes[:6])

        counted.clear()
        memory.write_many(writes[6:7])
        single = _reads(counted)
        counted.clear()
        memory.write_many(writes[7:])
        batch = _reads(counted)

    # Of each mention alone: whether a norm is there, and those that tie at the cut.
    of_each = 2 * len(writes[7:])
    assert len(batch) <= len(single) + of_each, [statement.split("\n")[:2] for statement in batch]


def _reads(calls: list[tuple[str, int]]) -> list[str]:
    return [statement for statement, _ in calls if statement.lstrip().startswith(("SELECT", "W"))]


def _teach(tx: SqliteWriteTx, clock: Clock) -> None:
    """Name another entity in the open transaction."""
    told = event(clock)
    batch = Batch(
        clock=after(clock, [told]),
        events=(told,),
        entities=(entity("e2"),),
        aliases=(alias("e2", "Lee"),),
    )
    tx.apply(batch)


def test_a_merge_by_another_process_is_seen_by_the_next_write(tmp_path: Path) -> None:
    path = str(tmp_path / "memory.db")
    with connect(path) as memory, connect(path) as other:
        lee = other.write(subject="Lee Chang", slot="office", value="Denver").entity
        sam = memory.write(subject="Sam Rivera", slot="office", value="Austin").entity
        memory.write(subject="Sam Rivera", slot="office", value="Boston")
        root = other.entities.merge(str(sam), str(lee)).canonical_id
        assert root == lee
        assert memory.write(subject="Sam Rivera", slot="office", value="Fargo").entity == root


def test_an_erasure_by_another_process_is_seen_by_the_next_write(tmp_path: Path) -> None:
    path = str(tmp_path / "memory.db")
    with connect(path) as memory, connect(path) as other:
        sam = memory.write(subject="Sam Rivera", slot="office", value="Austin").entity
        memory.write(subject="Sam Rivera", slot="office", value="Boston")
        other.erase(entity=str(sam), reason="asked for")
        again = memory.write(subject="Sam Rivera", slot="office", value="Chicago").entity
        assert again != sam


def test_what_an_abandoned_transaction_saw_of_names_does_not_outlive_it(store: SqliteStore) -> None:
    add(store, entities=(entity("e1"),), aliases=(alias("e1", "Sam"),))
    lookup = Lookup(norms=("sam", "lee"))

    with pytest.raises(ZeroDivisionError), store.writing(TENANT) as tx:
        clock = tx.lock()
        assert set(tx.known(lookup, scopes=["tenant"], tx_us=clock.last_us).entities) == {"e1"}
        _teach(tx, clock)
        names = tx.known(lookup, scopes=["tenant"], tx_us=clock.last_us + 1).entities
        assert set(names) == {"e1", "e2"}
        raise ZeroDivisionError

    with store.writing(TENANT) as tx:
        clock = tx.lock()
        assert set(tx.known(lookup, scopes=["tenant"], tx_us=clock.last_us).entities) == {"e1"}


def test_a_permission_set_of_an_abandoned_transaction_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def write(memory: Memory, classification: str) -> str:
        receipt = memory.write(
            subject="Sam Rivera",
            slot="office",
            value=classification,
            security_classification=classification,
        )
        return receipt.object_id

    with connect(str(tmp_path / "memory.db")) as memory:
        write(memory, "public")
        finish = SqliteWriteTx.finish

        def fail(tx: SqliteWriteTx) -> None:
            monkeypatch.setattr(SqliteWriteTx, "finish", finish)
            raise sqlite3.OperationalError("disk I/O error")

        monkeypatch.setattr(SqliteWriteTx, "finish", fail)
        with pytest.raises(TenureError):
            write(memory, "confidential")
        restricted = write(memory, "restricted")
        confidential = write(memory, "confidential")

        classes = [
            memory.explain(object_id).object.security_classification
            for object_id in (restricted, confidential)
        ]
        assert classes == ["restricted", "confidential"]


def test_the_vocabulary_is_read_while_somebody_writes(store: SqliteStore) -> None:
    store.define(TENANT, after=0, definition="{}")

    with store.writing(TENANT) as tx:
        tx.lock()
        assert store.newest(TENANT, 0)[1] == ((1, "{}"),)
