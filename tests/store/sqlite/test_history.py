"""Append-only by triggers: what the file itself refuses, even from a careless statement."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from tenure.schema.entity import Identifier
from tenure.schema.interval import INF_US, Interval
from tenure.schema.vocabulary import ActionKind
from tenure.store.port.records import Flag, PermissionChange, Tombstone
from tenure.store.port.store import ActionRecord
from tenure.store.sqlite import SqliteStore
from tenure.store.sqlite.partition import Tuning, connect
from tenure.tests.store.builders import TENANT, Say, add, alias, commit, entity
from tenure.tests.store.contract.test_port_identity import judgement


@pytest.fixture
def db(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    """Return a connection to a file with a row in every table of history."""
    path = tmp_path / "memory.db"
    store = SqliteStore(path)
    store.ensure(TENANT)
    commit(store, [Say(object_id="a", value="Rome")], tx=1)
    commit(store, [Say(object_id="b", value="Oslo", start=5)], tx=2)
    add(
        store,
        tx=3,
        entities=(entity("e1"), entity("e2")),
        aliases=(alias("e1"),),
        identifiers=(Identifier(entity_id="e1", scheme="hr", value="1", tx_start=3),),
        judgements=(judgement("j", "e1", "e2", tx=3),),
        canonical=(("e2", "e1"),),
        flags=(Flag("a", "stale", True, 3),),
        permissions=(PermissionChange("a", Say(object_id="a").permissions, 3, "ann"),),
        actions=(
            ActionRecord(
                action_id="act",
                kind=ActionKind.SETTLE_TIE,
                object_id="a",
                slot_key=None,
                interval=Interval(0, 1),
                members=(),
                detail='{"x":1}',
                tx_start=3,
                tx_end=INF_US,
            ),
        ),
        tombstones=(
            Tombstone(erasure_id="t", tx=3, actor="ann", reason="", object_ids=(), entity_ids=()),
        ),
    )
    store.define(TENANT, after=0, definition="{}")
    store.put_manifest(TENANT, envelope_id="e", manifest="{}", objects=["a"], pack="{}")
    store.close()
    with closing(connect(path, Tuning())) as opened:
        yield opened


FROZEN = (
    "meta definition tx_event tombstone slot permit claim edge permission_change flag pack"
    " compiled content"
).split()
CLOSABLE = "version judgement action alias".split()
EMPTIABLE = "receipt manifest".split()


@pytest.mark.parametrize(
    "table", [*(t for t in FROZEN if t != "content"), *CLOSABLE, *EMPTIABLE, "identifier", "entity"]
)
def test_no_row_of_history_is_deleted_or_replaced(db: sqlite3.Connection, table: str) -> None:
    count = db.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
    assert count
    with pytest.raises(sqlite3.IntegrityError, match="append-only"):
        db.execute(f"DELETE FROM {table}")
    with pytest.raises(sqlite3.IntegrityError):
        db.execute(f"INSERT OR REPLACE INTO {table} SELECT * FROM {table}")
    assert db.execute(f"SELECT count(*) FROM {table}").fetchone()[0] == count


@pytest.mark.parametrize("table", [*FROZEN, *CLOSABLE, *EMPTIABLE, "identifier", "tenant_key"])
def test_no_column_of_history_is_changed(db: sqlite3.Connection, table: str) -> None:
    for column in (line[1] for line in db.execute(f"PRAGMA table_info({table})")):
        if (table, column) in {("receipt", "body"), ("manifest", "body")}:
            continue
        with pytest.raises(sqlite3.IntegrityError):
            db.execute(f"UPDATE {table} SET {column} = {0 if column == 'tx_end' else 7}")


@pytest.mark.parametrize("table", CLOSABLE)
def test_a_row_closes_once_and_later_than_it_began(db: sqlite3.Connection, table: str) -> None:
    where = f"WHERE rowid = (SELECT max(rowid) FROM {table} WHERE tx_end = {INF_US})"
    start = db.execute(f"SELECT tx_start FROM {table} {where}").fetchone()[0]
    for wrong in (start, start - 1, INF_US, INF_US + 1):
        with pytest.raises(sqlite3.IntegrityError):
            db.execute(f"UPDATE {table} SET tx_end = ? {where}", (wrong,))
    (rowid,) = db.execute(f"SELECT rowid FROM {table} {where}").fetchone()
    db.execute(f"UPDATE {table} SET tx_end = ? WHERE rowid = ?", (start + 1, rowid))
    with pytest.raises(sqlite3.IntegrityError):
        db.execute(f"UPDATE {table} SET tx_end = ? WHERE rowid = ?", (start + 2, rowid))


def test_receipts_can_only_be_shortened_and_manifests_emptied(db: sqlite3.Connection) -> None:
    for table, change in (("receipt", "body = '', fingerprint = ''"), ("manifest", "body = ''")):
        for body in ("'other'", "body || ' '"):
            with pytest.raises(sqlite3.IntegrityError):
                db.execute(f"UPDATE {table} SET body = {body}")
        db.execute(f"UPDATE {table} SET {change}")


def test_a_counter_never_goes_back(db: sqlite3.Connection) -> None:
    for column in ("seq", "last_us", "next_vid"):
        with pytest.raises(sqlite3.IntegrityError, match="never goes back"):
            db.execute(f"UPDATE counter SET {column} = {column} - 1")


def test_a_secret_key_is_never_deleted_once_something_was_written(db: sqlite3.Connection) -> None:
    with pytest.raises(sqlite3.IntegrityError, match="never deleted"):
        db.execute("DELETE FROM tenant_key")


@pytest.mark.parametrize(
    "wrong",
    [
        {"valid_until": "valid_from"},
        {"tx_end": "tx_start"},
        {"status": "'fifth'"},
        {"head": "2"},
        {"claim_id": "99"},
        {"valid_from": "'text'"},
    ],
)
def test_a_row_that_means_nothing_is_refused(db: sqlite3.Connection, wrong: dict[str, str]) -> None:
    columns = [line[1] for line in db.execute("PRAGMA table_info(version)")]
    chosen = ", ".join(
        "99" if c == "vid" else "NULL" if c == "continues" else wrong.get(c, c) for c in columns
    )
    with pytest.raises(sqlite3.IntegrityError):
        db.execute(f"INSERT INTO version SELECT {chosen} FROM version WHERE vid = 1")


def test_every_connection_sets_what_the_triggers_rely_on(db: sqlite3.Connection) -> None:
    wanted = {
        "foreign_keys": 1,
        "recursive_triggers": 1,
        "secure_delete": 1,
        "synchronous": 2,
        "journal_mode": "wal",
        "busy_timeout": 10_000,
    }
    assert {name: db.execute(f"PRAGMA {name}").fetchone()[0] for name in wanted} == wanted


def test_a_born_closed_alias_frees_its_key(store: SqliteStore) -> None:
    add(
        store,
        tx=5,
        entities=(entity("e1"), entity("e2")),
        aliases=(replace(alias("e1"), tx_end=4), alias("e2")),
    )
    assert store.check(TENANT) == ()
