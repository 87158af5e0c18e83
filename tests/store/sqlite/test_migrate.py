"""The schema of a file: brought up to date as a whole or not at all, and mended."""

import json
import sqlite3
import threading
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tenure.faces.cli.main import app
from tenure.schema.errors import Fault, NotFound, Unavailable
from tenure.schema.vocabulary import ReviewState
from tenure.store.sqlite import SqliteStore
from tenure.store.sqlite.partition import Tuning
from tenure.store.sqlite.schema import FIRST_VERSION, MIGRATIONS, SCHEMA_VERSION
from tenure.tests.store.builders import TENANT, Say, add, commit, waiting_case
from tenure.tests.support.refusals import refused

NEXT = ("CREATE TABLE later (x INTEGER) STRICT;\nCREATE INDEX later_x ON later (x);\n",)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    store = SqliteStore(tmp_path / "memory.db")
    store.ensure(TENANT)
    commit(store, [Say(object_id="a")])
    store.close()
    return tmp_path / "memory.db"


def newer_code(monkeypatch: pytest.MonkeyPatch, *parts: str) -> None:
    where = "tenure.store.sqlite.partition."
    monkeypatch.setattr(where + "MIGRATIONS", (*MIGRATIONS, parts))
    monkeypatch.setattr(where + "SCHEMA_VERSION", SCHEMA_VERSION + 1)


def run(path: Path, sql: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        return db.execute(sql).fetchall()


def test_a_current_file_needs_nothing(path: Path) -> None:
    store = SqliteStore(path)
    assert store.migrate(TENANT) == (SCHEMA_VERSION, SCHEMA_VERSION, ())
    store.close()


def test_an_older_file_is_brought_up_to_date(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    newer_code(monkeypatch, *NEXT)
    store = SqliteStore(path)
    told = store.migrate(TENANT, dry_run=True)
    assert told.steps == ("CREATE TABLE later", "CREATE INDEX later_x")
    assert run(path, "PRAGMA user_version") == [(SCHEMA_VERSION,)]
    assert store.migrate(TENANT) == told
    assert run(path, "PRAGMA user_version") == [(SCHEMA_VERSION + 1,)]
    assert store.migrate(TENANT).steps == ()
    with store.reading(TENANT) as reader:
        assert reader.clock().seq == 1
    store.close()


def test_an_older_file_learns_which_cases_wait(path: Path) -> None:
    store = SqliteStore(path)
    cases = [waiting_case(f"e{n}", tx=2, object_id="a") for n in (1, 2)]
    add(store, tx=2, reviews=tuple(cases))
    rejected = replace(cases[0], state=ReviewState.REJECTED, version=2, decided_tx=3)
    add(store, tx=3, reviews=(rejected,))
    with store.reading(TENANT) as reader:
        details = reader.assertions(["a"])["a"].details
    store.close()
    for statement in (
        "DROP TRIGGER review_waits",
        "DROP TABLE waiting",
        "DROP INDEX review_by_object",
        "DROP INDEX alias_closed",
        "PRAGMA user_version = 17",
    ):
        run(path, statement)

    store = SqliteStore(path)
    assert "CREATE TABLE waiting" in store.migrate(TENANT).steps
    with store.writing(TENANT) as tx:
        tx.lock()
        assert tx.waiting(details.actor, details.source_origin, limit=9) == 1
    assert store.check(TENANT) == ()
    run(path, "DELETE FROM waiting")
    assert any("a case that waits" in finding for finding in store.check(TENANT))
    store.close()


def test_an_older_file_has_its_terms_stemmed_again(path: Path) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        trigger = "SELECT sql FROM sqlite_master WHERE name = 'content_same'"
        (guard,) = db.execute(trigger).fetchone()
        db.execute("DROP TRIGGER content_same")
        db.execute("UPDATE content SET terms = 'kunden kundigungsfrist'")
        db.execute("INSERT INTO text_all (text_all) VALUES ('rebuild')")
        db.execute("INSERT INTO text_live (text_live) VALUES ('rebuild')")
        db.execute(guard)
        db.execute("PRAGMA user_version = 18")

    store = SqliteStore(path)
    store.migrate(TENANT)
    assert store.check(TENANT) == ()
    store.close()
    assert run(path, "SELECT terms FROM content") == [("kund kundigung frist",)]
    assert run(path, trigger) == [(guard,)]


def test_a_migration_that_fails_leaves_the_file_as_it_was(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    newer_code(monkeypatch, *NEXT, "CREATE TABLE later (y INTEGER) STRICT;\n")
    store = SqliteStore(path)
    with pytest.raises(Fault):
        store.migrate(TENANT)
    monkeypatch.undo()
    assert store.migrate(TENANT).steps == ()
    assert run(path, "SELECT name FROM sqlite_master WHERE name = 'later'") == []
    store.close()


def test_a_guard_and_an_index_that_are_gone_are_made_again(path: Path) -> None:
    run(path, "DROP TRIGGER identifier_same")
    run(path, "DROP INDEX alias_by_norm")
    store = SqliteStore(path)
    steps = store.migrate(TENANT).steps
    assert sorted(steps) == ["CREATE INDEX alias_by_norm", "CREATE TRIGGER identifier_same"]
    assert store.migrate(TENANT).steps == ()
    store.close()


def test_a_newer_file_and_a_missing_tenant_are_refused(path: Path, tmp_path: Path) -> None:
    run(path, "PRAGMA user_version = 99")
    store = SqliteStore(path)
    with refused(Unavailable, "newer_schema", match="upgrade tenure"):
        store.migrate(TENANT)
    store.close()
    empty = SqliteStore(tmp_path)
    with refused(NotFound, "unknown_tenant"):
        empty.migrate("nobody")
    empty.close()


def test_the_command_line_says_what_it_did(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def tenure(*words: str) -> str:
        result = CliRunner().invoke(app, ["--store", str(path), "--tenant", TENANT, *words])
        assert result.exit_code == 0, result.output
        return result.stdout

    assert "already current" in tenure("migrate")
    newer_code(monkeypatch, *NEXT)
    assert "would go from schema" in tenure("migrate", "--dry-run")
    (done,) = json.loads(tenure("--json", "migrate"))
    assert (done["before"], done["after"]) == (SCHEMA_VERSION, SCHEMA_VERSION + 1)
    assert done["steps"] == ["CREATE TABLE later", "CREATE INDEX later_x"]
    assert done["dry_run"] is False


def test_a_store_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["--store", str(tmp_path / "none.db"), "migrate"])
    assert (result.exit_code, (tmp_path / "none.db").exists()) == (1, False)
    assert "[unknown_store]" in result.stderr


def test_an_opening_waits_for_the_process_that_migrates(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    newer_code(monkeypatch, *NEXT)
    store = SqliteStore(path, Tuning(busy_s=0.05))
    with closing(sqlite3.connect(path, isolation_level=None, check_same_thread=False)) as other:
        other.execute("BEGIN IMMEDIATE")
        release = threading.Timer(0.5, other.execute, ["COMMIT"])
        release.start()
        store.ensure(TENANT)
        release.join()
    assert run(path, "PRAGMA user_version") == [(SCHEMA_VERSION + 1,)]
    store.close()


def test_a_file_of_a_development_version_is_refused_with_the_way_out(path: Path) -> None:
    run(path, f"PRAGMA user_version = {FIRST_VERSION - 1}")
    store = SqliteStore(path)
    for call in (store.ensure, store.migrate):
        with refused(Unavailable, "older_schema", match="import the export"):
            call(TENANT)
    assert run(path, "PRAGMA user_version") == [(FIRST_VERSION - 1,)]
    store.close()
