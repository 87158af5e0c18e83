"""Files and folders: what is made, what is refused and how, and that nothing is half-made."""

import functools
import gc
import hashlib
import os
import shutil
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from tenure.schema.errors import (
    Conflict,
    Fault,
    Forbidden,
    InvalidInput,
    NotFound,
    TenureError,
    Unavailable,
)
from tenure.store.port.store import Point
from tenure.store.port.tables import SLOTS
from tenure.store.sqlite import SqliteStore, open_store
from tenure.store.sqlite.partition import Tuning, meaning
from tenure.store.sqlite.schema import SCHEMA_VERSION
from tenure.store.sqlite.writer import SqliteWriteTx
from tenure.tests.store.builders import ALL, TENANT, Say, add, commit
from tenure.tests.store.contract.test_port_versions import OFFICE
from tenure.tests.support.refusals import refused


def error_of(store: SqliteStore, tenant: str = TENANT) -> TenureError:
    with pytest.raises(TenureError) as caught:
        store.ensure(tenant)
    return caught.value


def test_a_file_is_made_once_and_opens_again(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    for number in range(2):
        store = open_store(path)
        assert store.url == str(path)
        store.ensure(TENANT)
        commit(store, [Say(object_id=f"o{number}", start=number)])
        store.close()
    assert [p.name for p in tmp_path.iterdir()] == ["memory.db"]
    store = SqliteStore(path)
    store.ensure(TENANT)
    assert store.check(TENANT) == ()
    store.close()


def test_a_tenant_that_is_promised_is_made_by_its_first_use(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    store = SqliteStore(path)
    store.ensure(TENANT, key=b"k" * 32, at_once=False)
    assert store.newest(TENANT, 0)[1] == ()
    assert not path.exists()
    with pytest.raises(Forbidden):
        store.ensure("other", at_once=False)

    with store.reading(TENANT) as reader:
        assert reader.keys() == (b"k" * 32,)
    assert path.exists()
    store.close()


def test_work_that_is_refused_or_writes_nothing_makes_no_file(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    store = SqliteStore(path)
    store.ensure(TENANT, at_once=False)

    with pytest.raises(NotFound):
        store.transact(TENANT, work_of_nobody)
    assert store.transact(TENANT, lambda tx: tx.lock().next_vid) == 1
    assert list(tmp_path.iterdir()) == []
    store.close()


def work_of_nobody(tx: SqliteWriteTx) -> None:
    tx.lock()
    raise NotFound("there is nobody of this name", code="unknown_entity")


def test_a_tenant_that_is_made_at_once_has_the_key_it_was_promised_with(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "memory.db")
    store.ensure(TENANT, key=b"k" * 32, at_once=False)
    store.ensure(TENANT)
    with store.reading(TENANT) as reader:
        assert reader.keys() == (b"k" * 32,)
    store.close()


def test_a_promise_does_not_outrank_what_another_process_made(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    store, other = SqliteStore(path), SqliteStore(path)
    store.ensure(TENANT, key=b"k" * 32, at_once=False)
    other.ensure(TENANT, key=b"o" * 32)
    with refused(Conflict, "key_mismatch"):
        store.check(TENANT)
    other.close()
    store.close()


def test_a_file_refuses_another_tenant(store: SqliteStore) -> None:
    error = error_of(store, "other")
    assert isinstance(error, Forbidden)
    assert error.code == "tenant_mismatch"
    assert TENANT not in str(error)
    with pytest.raises(Forbidden), store.reading("other"):
        pass


@pytest.mark.parametrize("exists", [True, False])
def test_a_folder_holds_a_file_for_each_tenant(tmp_path: Path, exists: bool) -> None:
    folder = tmp_path / "tenants"
    if exists:
        folder.mkdir()
    store = SqliteStore(folder if exists else f"{folder}/")
    plain = ["a", "con", "acme-eu_2"]
    unsafe = ["../evil", "ü" * 200, "Acme", "acme-EU_2", "a.b", "-a", "a\n", "a" * 64]
    for name in (*plain, *unsafe):
        store.ensure(name)
    made = {p.name for p in folder.iterdir() if p.suffix == ".db"}
    readable = {f"tenant-{name}.db" for name in plain}
    assert made == readable | {hashed_name(name) for name in unsafe}
    store.close()


def hashed_name(tenant: str) -> str:
    return f"{hashlib.sha256(tenant.encode()).hexdigest()}.db"


def test_a_file_of_before_readable_names_is_found_under_its_own(tmp_path: Path) -> None:
    store = SqliteStore(f"{tmp_path}/")
    store.ensure("acme")
    commit(store, [Say(object_id="a")], tenant="acme")
    old = tmp_path / hashed_name("acme")
    readable = store.path_of("acme")
    store.close()
    readable.rename(old)

    again = SqliteStore(f"{tmp_path}/")
    again.ensure("acme")
    with again.reading("acme") as reader:
        assert reader.clock().seq == 1
    again.close()
    assert [path.name for path in tmp_path.glob("*.db")] == [old.name]


def test_a_tenant_that_was_never_made_is_not_found(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path)
    with pytest.raises(NotFound), store.writing("nobody"):
        pass
    assert list(tmp_path.iterdir()) == []
    store.close()


def test_a_file_without_a_tenant_is_not_found(tmp_path: Path) -> None:
    (tmp_path / "empty.db").touch()
    store = SqliteStore(tmp_path / "empty.db")
    with pytest.raises(NotFound), store.reading(TENANT):
        pass
    store.ensure(TENANT)
    store.close()


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    for path in (tmp_path / "no" / "memory.db", f"{tmp_path}/no/such/"):
        error = error_of(SqliteStore(path))
        assert isinstance(error, InvalidInput)
        assert error.code == "missing_folder"
    assert list(tmp_path.iterdir()) == []


def test_what_is_no_database_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "letter.txt"
    path.write_text("Dear reader, " * 500)
    error = error_of(SqliteStore(path))
    assert isinstance(error, InvalidInput)
    assert error.code == "not_a_store"
    assert path.read_text() == "Dear reader, " * 500


def test_the_database_of_another_program_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    with closing(sqlite3.connect(path)) as db:
        db.execute("CREATE TABLE things (name TEXT)")
        db.commit()
    before = path.read_bytes()
    assert error_of(SqliteStore(path)).code == "not_a_store"
    assert path.read_bytes() == before


def test_a_newer_schema_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    store = SqliteStore(path)
    store.ensure(TENANT)
    store.close()
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA user_version = 999")
    error = error_of(SqliteStore(path))
    assert isinstance(error, Unavailable)
    assert error.code == "newer_schema"
    with pytest.raises(Unavailable), SqliteStore(path).reading(TENANT):
        pass


def test_a_file_that_a_newer_process_migrates_is_refused_from_then_on(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"

    def read(store: SqliteStore) -> None:
        with store.reading(TENANT):
            pass

    calls: dict[str, Callable[[SqliteStore], object]] = {
        "read": read,
        "write": lambda store: store.transact(TENANT, lambda tx: tx.lock()),
        "define": lambda store: store.define(TENANT, after=0, definition="{}"),
        "usage": lambda store: store.log_usage(TENANT, ["a"], at_us=1),
        "check": lambda store: store.check(TENANT),
        "abort": lambda store: store.abort_import(TENANT),
    }
    with closing(SqliteStore(path)) as store:
        store.ensure(TENANT)
        read(store)
        with closing(sqlite3.connect(path)) as db:
            db.execute(f"PRAGMA user_version = {SCHEMA_VERSION + 1}")

        codes: dict[str, str] = {}
        for name, call in calls.items():
            with pytest.raises(Unavailable) as refusal:
                call(store)
            codes[name] = refusal.value.code
    assert codes == dict.fromkeys(calls, "newer_schema")


@pytest.mark.parametrize("replaced", [False, True])
def test_a_file_that_left_its_place_takes_no_write(tmp_path: Path, replaced: bool) -> None:
    path, elsewhere = tmp_path / "memory.db", tmp_path / "moved.db"
    calls: dict[str, Callable[[SqliteStore], object]] = {
        "write": lambda store: store.transact(TENANT, lambda tx: tx.lock()),
        "define": lambda store: store.define(TENANT, after=0, definition="{}"),
        "check": lambda store: store.check(TENANT),
        "abort": lambda store: store.abort_import(TENANT),
    }
    with closing(SqliteStore(path)) as store:
        store.ensure(TENANT)
        path.rename(elsewhere)
        if replaced:
            path.write_bytes(elsewhere.read_bytes())

        for call in calls.values():
            with refused(Unavailable, "store_unreachable", match="was moved, removed or replaced"):
                call(store)
        assert path.exists() is replaced

        elsewhere.rename(path)
        for name in ("write", "define", "check"):
            calls[name](store)


def test_a_damaged_file_is_reported_and_found_by_the_doctor(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    store = SqliteStore(path)
    store.ensure(TENANT)
    for number in range(50):
        commit(store, [Say(object_id=f"o{number}", subject=f"e{number}")])
    store.close()
    whole = bytearray(path.read_bytes())
    for start in range(8 * 4096, len(whole), 4096):
        whole[start : start + 512] = b"\xff" * 512
    path.write_bytes(whole)
    store = SqliteStore(path)
    with refused(Unavailable, "store_corrupt"):
        for number in range(50):
            with store.reading(TENANT) as reader:
                reader.versions(
                    type(OFFICE)(subjects=(f"e{number}",)), sight=ALL, point=Point(5, 9_999)
                )
    store.close()


def test_a_full_disk_keeps_nothing_of_the_write(store: SqliteStore) -> None:
    commit(store, [Say(object_id="a")], tx=1)
    with store.writing(TENANT) as tx:
        tx.lock()
        pages = tx._db.execute("PRAGMA page_count").fetchone()[0]
        tx._db.execute(f"PRAGMA max_page_count = {pages + 1}")
    with refused(Unavailable, "store_full"):
        commit(store, [Say(object_id="b", slot="team", text="x" * 50_000)], tx=2)
    with store.writing(TENANT) as tx:
        assert tx.lock().seq == 1
        tx._db.execute("PRAGMA max_page_count = 1073741823")
    commit(store, [Say(object_id="b", slot="team", text="x" * 50_000)], tx=2)
    assert store.check(TENANT) == ()


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE claim SET op = CAST(x'fff0' AS TEXT)",  # no UTF-8
        "UPDATE version SET claim_id = claim_id + 7",  # a version of no claim
    ],
)
def test_rows_that_contradict_each_other_are_told_as_damage(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "memory.db"
    store = SqliteStore(path)
    store.ensure(TENANT)
    commit(store, [Say(object_id="a")])
    store.close()
    with closing(sqlite3.connect(path)) as db, db:
        triggers = db.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall()
        db.executescript(";".join([*(f"DROP TRIGGER {name}" for (name,) in triggers), damage]))
    store = SqliteStore(path)
    with refused(Unavailable, "store_corrupt"), store.reading(TENANT) as reader:
        reader.versions(type(OFFICE)(subjects=("e1",)), sight=ALL, point=Point(5, 9_999))
        raise KeyError("a row that refers to none")
    store.close()


def test_a_callers_own_error_inside_a_snapshot_stays_what_it_is(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "memory.db")
    store.ensure(TENANT)
    with pytest.raises(KeyError), store.reading(TENANT):
        raise KeyError("theirs")
    store.close()


@pytest.mark.parametrize(
    ("code", "name"),
    [
        (sqlite3.SQLITE_READONLY, "store_read_only"),
        (sqlite3.SQLITE_READONLY_DIRECTORY, "store_read_only"),
        (sqlite3.SQLITE_IOERR_WRITE, "store_unreachable"),
        (sqlite3.SQLITE_CANTOPEN_ISDIR, "store_unreachable"),
        (sqlite3.SQLITE_BUSY_SNAPSHOT, "store_busy"),
        (sqlite3.SQLITE_CORRUPT_VTAB, "store_corrupt"),
        (sqlite3.SQLITE_CONSTRAINT_CHECK, "invariant_broken"),
    ],
)
def test_every_error_of_sqlite_has_a_meaning(code: int, name: str) -> None:
    error = sqlite3.OperationalError("bad")
    error.sqlite_errorcode = code
    found = meaning(error, Path("x.db"))
    assert found.code == name
    assert isinstance(found, Fault) is (name == "invariant_broken")


def test_a_read_only_file_cannot_be_written(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    store = SqliteStore(path)
    store.ensure(TENANT)
    store.close()
    with (
        closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as db,
        pytest.raises(sqlite3.OperationalError) as caught,
    ):
        db.execute("CREATE TABLE t (x)")
    assert meaning(caught.value, path).code == "store_read_only"


@pytest.mark.skipif(not Path("/proc/self").is_dir(), reason="no file system that refused files")
def test_a_folder_that_takes_no_files_is_unreachable() -> None:
    error = error_of(SqliteStore("/proc/self/tenure.db"))
    assert isinstance(error, Unavailable)
    assert error.code == "store_unreachable"


def test_a_folder_in_the_place_of_the_file_is_unreachable(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "memory.db")
    (tmp_path / "memory.db").mkdir()
    error = error_of(store)
    assert error.code == "store_unreachable"


def test_memory_is_shared_by_threads_and_gone_after_close() -> None:
    store = SqliteStore(":memory:")
    store.ensure(TENANT)
    folder = store.path_of(TENANT).parent
    thread = threading.Thread(target=lambda: commit(store, [Say(object_id="a")]))
    thread.start()
    thread.join(30)
    with store.reading(TENANT) as reader:
        assert reader.clock().seq == 1
    assert folder.is_dir()
    store.close()
    assert not folder.exists()


def test_memory_that_nobody_closed_is_gone_with_the_store() -> None:
    store = SqliteStore(":memory:")
    folder = store.path_of(TENANT).parent
    assert folder.is_dir()
    del store
    gc.collect()
    assert not folder.exists()


def test_the_file_of_the_home_folder_may_be_named_by_a_tilde(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    store = SqliteStore("~/memory.db")
    store.ensure(TENANT)
    store.close()
    assert (tmp_path / "memory.db").is_file()


def test_sixteen_threads_make_one_tenant(tmp_path: Path) -> None:
    failed: list[TenureError] = []

    def work(store: SqliteStore) -> None:
        try:
            store.ensure(TENANT)
        except TenureError as error:
            failed.append(error)

    with ExitStack() as stack:
        path = tmp_path / "memory.db"
        stores = [stack.enter_context(closing(SqliteStore(path))) for _ in range(16)]
        threads = [threading.Thread(target=work, args=(s,)) for s in stores]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        assert failed == []

        keys = set()
        for store in stores:
            with store.reading(TENANT) as reader:
                keys.add(reader.keys())
    assert len(keys) == 1


@pytest.mark.parametrize("statements", range(4))
def test_a_file_that_another_makes_while_this_one_looks_is_a_store(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, statements: int
) -> None:
    path = tmp_path / "memory.db"
    calls = 0

    class Overtaken(sqlite3.Connection):
        """After so many statements that look at the file, another store has made it."""

        def execute(self, statement: str, *values: object) -> sqlite3.Cursor:
            nonlocal calls
            if "user_version" in statement or "application_id" in statement or calls:
                calls += 1
            if calls == statements + 1:
                with monkeypatch.context() as other:
                    other.setattr(sqlite3, "connect", plain)
                    with closing(SqliteStore(path)) as store:
                        store.ensure(TENANT)
            return super().execute(statement, *values)

    plain = sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", functools.partial(sqlite3.connect, factory=Overtaken))
    with closing(SqliteStore(path)) as store:
        store.ensure(TENANT)
        assert store.check(TENANT) == ()
    assert calls > statements


def test_a_creation_that_fails_leaves_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "tenure.store.sqlite.partition.MIGRATIONS",
        (("CREATE TABLE t (x);", "CREATE TABLE t (x);"),),
    )
    store = SqliteStore(tmp_path / "memory.db")
    with pytest.raises(Fault):
        store.ensure(TENANT)
    monkeypatch.undo()
    store.ensure(TENANT)
    assert store.check(TENANT) == ()
    store.close()


def test_a_second_process_is_waited_for_and_then_reported(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    store = SqliteStore(path, Tuning(busy_s=0.1))
    store.ensure(TENANT)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with refused(Unavailable, "store_busy"):
            commit(store, [Say(object_id="a")])
        other.execute("ROLLBACK")
    commit(store, [Say(object_id="a")])
    store.close()


def test_a_writer_of_the_same_process_is_waited_for_and_then_reported(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "memory.db", Tuning(busy_s=0.1))
    store.ensure(TENANT)
    with store.writing(TENANT) as tx:
        tx.lock()
        with pytest.raises(Unavailable) as caught:
            store.log_usage(TENANT, ["a"], at_us=1)
    assert caught.value.code == "store_busy"
    store.log_usage(TENANT, ["a"], at_us=1)
    store.close()


def test_reading_goes_on_while_another_writes(store: SqliteStore) -> None:
    commit(store, [Say(object_id="a")], tx=1)
    with store.writing(TENANT) as tx:
        tx.lock()
        with store.reading(TENANT) as reader, store.reading(TENANT) as second:
            assert reader.clock() == second.clock()


def test_a_reader_refuses_to_write(store: SqliteStore) -> None:
    with pytest.raises(Unavailable), store.reading(TENANT) as reader:
        reader._db.execute("DELETE FROM usage")


def test_a_write_begins_with_the_lock(store: SqliteStore) -> None:
    with pytest.raises(Fault), store.writing(TENANT) as tx:
        tx.find(SLOTS, "slot_key", [])


def test_a_moved_file_keeps_everything(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "one.db")
    store.ensure(TENANT)
    commit(store, [Say(object_id="a")], tx=1)
    store.close()
    shutil.move(tmp_path / "one.db", tmp_path / "two.db")
    store = SqliteStore(tmp_path / "two.db")
    with store.reading(TENANT) as reader:
        assert reader.versions(OFFICE, sight=ALL, point=Point(5, 1)).versions
    store.close()


def test_an_erased_text_is_in_no_file(tmp_path: Path) -> None:
    from tenure.tests.store.contract.test_port_erasure import erase

    store = SqliteStore(tmp_path / "memory.db")
    store.ensure(TENANT)
    for number in range(200):
        word = "xylophonist" if number == 100 else f"word{number}"
        say = Say(object_id=f"o{number}", subject=f"e{number}", value=word, text=f"{word} " * 30)
        commit(store, [say], tx=number + 1)
    commit(store, [Say(object_id="x", subject="e100", value="later", level=1)], tx=300)
    store.put_manifest(TENANT, envelope_id="e", manifest="xylophonist", objects=["o100"], pack="{}")
    add(store, tx=301)
    assert any(b"xylophonist" in p.read_bytes() for p in tmp_path.iterdir())
    erase(store, 400, objects=("o100",))
    for path in tmp_path.iterdir():
        data = path.read_bytes()
        assert b"xylophonist" not in data, path
        assert b"xylophon" not in data, path
    assert store.check(TENANT) == ()
    store.close()


def test_an_erasure_behind_an_open_reader_is_flushed_later(tmp_path: Path) -> None:
    from tenure.tests.store.contract.test_port_erasure import erase

    store = SqliteStore(tmp_path / "memory.db")
    store.ensure(TENANT)
    commit(store, [Say(object_id="a", value="xylophonist")], tx=1)
    with store.reading(TENANT) as reader:
        erase(store, 2, objects=("a",))
        (seen,) = reader.versions(OFFICE, sight=ALL, point=Point(5, 1)).versions
        assert seen.content
    with store.reading(TENANT) as reader:
        (seen,) = reader.versions(OFFICE, sight=ALL, point=Point(5, 1)).versions
        assert seen.content is None
    store.log_usage(TENANT, [], at_us=1)
    commit(store, [Say(object_id="b", slot="team")], tx=3)
    assert not any(b"xylophonist" in p.read_bytes() for p in tmp_path.iterdir())
    store.close()


def test_an_old_sqlite_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite3, "sqlite_version_info", (3, 35, 5))
    error = error_of(SqliteStore(tmp_path / "memory.db"))
    assert error.code == "store_unreachable"
    assert list(tmp_path.glob("*.db-*")) == []


def test_nothing_is_left_open_behind(tmp_path: Path) -> None:
    code = (
        "import sys, warnings; warnings.simplefilter('error')\n"
        "from tenure.store.sqlite import SqliteStore\n"
        "s = SqliteStore(sys.argv[1]); s.ensure('t')\n"
        "with s.reading('t') as r: r.clock()\n"
        "s.close()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "m.db")],
        env=os.environ,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.returncode, done.stderr) == (0, "")
