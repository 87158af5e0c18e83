"""The schema of a file: brought up to date as a whole or not at all, and mended."""

from __future__ import annotations

import json
import sqlite3
import threading
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tenure import Principal, connect
from tenure.schema.claim import Authorship
from tenure.schema.errors import Fault, NotFound, Unavailable
from tenure.schema.principal import OWNER, Scope
from tenure.schema.vocabulary import ObjectType
from tenure.service.cli.main import app
from tenure.store.sqlite import SqliteStore
from tenure.store.sqlite.connection import Tuning
from tenure.store.sqlite.sql.schema import MIGRATIONS, SCHEMA_VERSION
from tenure.tests.store.builders import TENANT, Say, commit
from tenure.tests.store.sqlite.older_files import (
    BEFORE_INDICES_OF_READS,
    BEFORE_SEARCHED_SCOPES,
    BEFORE_TAUGHT_IDENTIFIERS,
    BEFORE_TURNS,
    STRICT,
    before_authorship,
)

NEXT = ("CREATE TABLE later (x INTEGER) STRICT;\nCREATE INDEX later_x ON later (x);\n",)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    store = SqliteStore(tmp_path / "memory.db")
    store.ensure(TENANT)
    commit(store, [Say(object_id="a")])
    store.close()
    return tmp_path / "memory.db"


def undo_indices_of_reads(file: Path) -> None:
    """Take back what the four newest migrations made of a file."""
    for statement in BEFORE_INDICES_OF_READS:
        run(file, statement)


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


def test_an_older_file_finds_the_open_heads_of_a_slot_by_their_ends(tmp_path: Path) -> None:
    file = tmp_path / "older.db"
    with connect(str(file)) as memory:
        for value in ("bronze", "silver"):
            memory.write("Orchid Foods", "pricing_tier", value)

    before_ends = next(n for n, parts in enumerate(MIGRATIONS) if "open_until" in parts[0])
    undo_indices_of_reads(file)
    run(file, "DROP INDEX claim_standing_subject")
    run(file, f"PRAGMA user_version = {before_ends}")

    with connect(str(file)) as memory:
        memory.write("Orchid Foods", "pricing_tier", "gold")
        assert memory.as_of().value("Orchid Foods", "pricing_tier") == "gold"
        assert len(memory.as_of().timeline("Orchid Foods", "pricing_tier")) == 3
        assert memory.doctor() == ()
    assert run(file, "PRAGMA user_version") == [(SCHEMA_VERSION,)]


def test_an_older_file_changes_its_indices_for_those_of_today(tmp_path: Path) -> None:
    file = tmp_path / "older.db"
    with connect(str(file)) as memory:
        for value in ("bronze", "silver", "gold"):
            memory.write("Orchid Foods", "pricing_tier", value)

    before = next(n for n, parts in enumerate(MIGRATIONS) if "INDEX version_open ON" in parts[0])
    undo_indices_of_reads(file)
    older = {"version_open_head", "version_open_until", "version_by_tx", "slot_by_subject"}
    for name in older:
        run(file, f"CREATE INDEX {name} ON {name.split('_')[0]} (slot_id)")
    run(file, f"PRAGMA user_version = {before}")

    with connect(str(file)) as memory:
        assert memory.as_of().value("Orchid Foods", "pricing_tier") == "gold"
        assert memory.doctor() == ()
        memory.write("Orchid Foods", "pricing_tier", "none")
        assert len(memory.as_of().timeline("Orchid Foods", "pricing_tier")) == 4
    names = {str(name) for (name,) in run(file, "SELECT name FROM sqlite_master")}
    assert "version_open" in names
    assert not names & older


def test_an_older_file_tells_whose_wishes_it_holds(tmp_path: Path) -> None:
    file = tmp_path / "older.db"
    with connect(str(file)) as memory:
        memory.write("person:Ann Lee", "code_style", "terse")

    before = next(n for n, parts in enumerate(MIGRATIONS) if "standing_subject" in parts[0])
    undo_indices_of_reads(file)
    run(file, "DROP INDEX claim_standing_subject")
    run(file, f"PRAGMA user_version = {before}")

    with connect(str(file)) as memory:
        assert "terse" in memory.compile("assistant", "How should it be written?").text
        assert memory.doctor() == ()
    assert run(file, "PRAGMA user_version") == [(SCHEMA_VERSION,)]


def test_an_older_file_finds_what_each_user_alone_may_read(tmp_path: Path) -> None:
    file = tmp_path / "older.db"
    with connect(str(file)) as memory:
        for user in ("ann", "bob"):
            bound = memory.bind(Principal(user=user))
            scope = {"user": user}
            bound.write("Sam Rivera", "office", f"the dome of {user}", scope=scope)
            bound.write("Sam Rivera", "office", f"the mill of {user}", scope=scope)
            bound.write(content=f"The dome of {user}.", why_it_matters="seen", scope=scope)

    before = next(n for n, parts in enumerate(MIGRATIONS) if "VIEW searchable" in parts[0])
    for statement in (
        *BEFORE_SEARCHED_SCOPES,
        f"PRAGMA user_version = {before}",
    ):
        run(file, statement)

    with connect(str(file)) as memory:
        ann = memory.bind(Principal(user="ann"))
        hits = ann.as_of().search("dome mill").hits
        assert {str(hit.object.content) for hit in hits} == {
            "The dome of ann.",
            "Sam Rivera office: the mill of ann",
        }
        assert memory.doctor() == ()


def test_an_older_file_learns_who_taught_its_identifiers(tmp_path: Path) -> None:
    file = tmp_path / "older.db"
    with connect(str(file)) as memory:
        ann = memory.bind(Principal(user="ann", session="s1"))
        sam: dict[str, object] = {"name": "Sam Rivera", "type": "person"}
        scope = {"user": "ann", "session": "s1"}
        first = memory.write(sam | {"external_ids": {"crm": "7"}}, "office", "Rome")
        later = ann.write(
            sam | {"external_ids": {"user": "ann", "email": "a@x.example"}},
            "title", "CFO", scope=scope,
        )  # fmt: skip
        value = ann.write(
            "Nova", "owner", {"name": "Dana Kim", "external_ids": {"crm": "8"}}, scope=scope
        )

    columns = "scheme, value, scope_id, object_id"
    taught = run(file, f"SELECT {columns} FROM identifier ORDER BY scheme, value")
    assert taught == [
        ("crm", "7", "tenant", first.object_id),
        ("crm", "8", "user=ann,session=s1", value.object_id),
        ("email", "a@x.example", "user=ann,session=s1", later.object_id),
        ("user", "ann", "user=ann", later.object_id),
    ]
    for statement in BEFORE_TAUGHT_IDENTIFIERS:
        run(file, statement)
    run(file, "INSERT INTO identifier SELECT 99, entity_id, 'tax', '1', 2, tx_end FROM identifier"
              " LIMIT 1")  # fmt: skip
    before = next(n for n, parts in enumerate(MIGRATIONS) if "object_id TEXT NOT NULL DEFAULT" in
                  parts[0])  # fmt: skip
    run(file, f"PRAGMA user_version = {before}")

    with connect(str(file)) as memory:
        assert memory.doctor() == ()
    # Of what no write is known any more, all that is sure is that everybody could read it.
    taught.insert(3, ("tax", "1", "tenant", ""))
    assert run(file, f"SELECT {columns} FROM identifier ORDER BY scheme, value") == taught
    with pytest.raises(sqlite3.IntegrityError, match="append-only: identifier"):
        run(file, "UPDATE identifier SET scope_id = 'tenant'")


def test_an_older_file_numbers_the_turns_of_each_scope(tmp_path: Path) -> None:
    file = tmp_path / "older.db"
    with connect(str(file)) as memory:
        users = [memory.bind(Principal(user=user)) for user in ("ann", "bob")]
        for text in ("the dome", "the mill"):
            for user in users:
                user.observe(text)
        memory.write("Orchid Foods", "pricing_tier", "gold")
        memory.write(content="A page of the dome.", why_it_matters="read")

    turns = "SELECT scope_id, turn, claim_id FROM claim ORDER BY claim_id"
    numbered = run(file, turns)
    assert [turn for _, turn, _ in numbered] == [1, 1, 2, 2, None, None]
    before = next(n for n, parts in enumerate(MIGRATIONS) if "claim_turn" in parts[0])
    for statement in (*BEFORE_TURNS, f"PRAGMA user_version = {before}"):
        run(file, statement)

    with connect(str(file)) as memory:
        assert run(file, turns) == numbered
        assert memory.doctor() == ()
        memory.bind(Principal(user="ann")).observe("the barn")
    assert run(file, turns)[-1][1] == 3
    for change in ("turn = 9", "level = 1", "turn = NULL"):
        with pytest.raises(sqlite3.IntegrityError, match="append-only: claim"):
            run(file, f"UPDATE claim SET {change} WHERE claim_id = 1")


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
    with pytest.raises(Unavailable, match="upgrade tenure") as newer:
        store.migrate(TENANT)
    assert newer.value.code == "newer_schema"
    store.close()
    empty = SqliteStore(tmp_path)
    with pytest.raises(NotFound) as nobody:
        empty.migrate("nobody")
    assert nobody.value.code == "unknown_tenant"
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


def test_an_older_file_learns_what_actor_and_level_prove_of_its_writers(tmp_path: Path) -> None:
    path = tmp_path / "older.db"
    store = SqliteStore(path)
    store.ensure(TENANT)
    own = Scope(user="ann")
    rule = ObjectType.PREFERENCE
    commit(
        store,
        [
            Say(object_id="own", scope=own),
            Say(object_id="shared", slot="a", object_type=rule),
            Say(object_id="policy", slot="b", level=1),
        ],
    )
    store.close()
    before_authorship(path)

    store = SqliteStore(path)
    store.ensure(TENANT)
    with store.writing(TENANT) as tx:
        tx.lock()
        claims = tx.assertions(("own", "shared", "policy"))
    assert {name: claim.details.authorship for name, claim in claims.items()} == {
        "own": Authorship("ann", None, False),
        "shared": Authorship(None, None, False),
        "policy": Authorship(None, None, True),
    }
    assert [sentence[:20] for sentence in store.check(TENANT)] == ["1 rules, preferences"]
    with pytest.raises(sqlite3.IntegrityError, match="append-only: claim"):
        run(path, "UPDATE claim SET directs = 1")
    store.close()


def test_an_opening_waits_for_the_process_that_migrates(path: Path) -> None:
    before_authorship(path)
    store = SqliteStore(path, Tuning(busy_s=0.05))
    with closing(sqlite3.connect(path, isolation_level=None, check_same_thread=False)) as other:
        other.execute("BEGIN IMMEDIATE")
        release = threading.Timer(0.5, other.execute, ["COMMIT"])
        release.start()
        store.ensure(TENANT)
        release.join()
    assert run(path, "PRAGMA user_version") == [(SCHEMA_VERSION,)]
    store.close()


def test_an_older_file_makes_digests_of_keys_and_empties_the_paths_of_erased_claims(
    path: Path,
) -> None:
    with connect(str(path), principal=replace(OWNER, tenant=TENANT)) as memory:
        ann = memory.bind(Principal(tenant=TENANT, user="ann"))
        fields = {"subject": "Sam", "slot": "office", "source_origin": "user://zanzibar/7"}
        first = ann.write(**fields, value="NYC", idempotency_key="key of zanzibar")
        gone = ann.write(**fields, value="LA").object_id
        memory.erase(gone, reason="asked to")

    before_digests = next(n for n, parts in enumerate(MIGRATIONS) if "digest(" in parts[0])
    for name in ("claim_same", "receipt_change"):
        run(path, f"DROP TRIGGER {name}")
    for statement in (
        *BEFORE_INDICES_OF_READS,
        "DROP INDEX claim_standing_subject",
        "DROP TABLE import_journal",
        "UPDATE receipt SET idempotency_key = 'key of zanzibar' WHERE idempotency_key IS NOT NULL",
        f"UPDATE claim SET update_path = 'user://zanzibar' WHERE object_id = '{gone}'",
        STRICT.format(name="claim_same", table="claim"),
        STRICT.format(name="receipt_change", table="receipt"),
        f"PRAGMA user_version = {before_digests}",
    ):
        run(path, statement)

    with connect(str(path), principal=replace(OWNER, tenant=TENANT)) as memory:
        assert run(path, f"SELECT update_path FROM claim WHERE object_id = '{gone}'") == [("",)]
        assert run(path, "SELECT 1 FROM receipt WHERE idempotency_key LIKE '%zanzibar%'") == []
        fields |= {"value": "NYC", "idempotency_key": "key of zanzibar"}
        ann = memory.bind(Principal(tenant=TENANT, user="ann"))
        assert ann.write(**fields).object_id == first.object_id
        assert not memory.bind(Principal(tenant=TENANT, user="bob")).write(**fields).replayed
        assert memory.doctor() == ()
