"""One tenant's file: its connections, its writer, its pool of readers, and how it comes to be.

The file records its tenant and refuses another, and a schema of another version: at opening, and
in every transaction, because a newer process may migrate it while this one runs. It is made
in one transaction, so an interrupted creation leaves nothing that looks like a store. Writers
of one process take turns at `turn`; those of other processes are held off by SQLite itself.
Readers are handed out one per use and kept for the next, so no two threads share one. Here
SQLite's errors become ours.
"""

from __future__ import annotations

import hmac
import os
import sqlite3
import time
from collections.abc import Generator, Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Final, Literal

from ...schema.errors import (
    Conflict,
    Fault,
    Forbidden,
    InvalidInput,
    NotFound,
    TenureError,
    Unavailable,
)
from ...schema.interval import MIN_US
from ...schema.terms import stemmed_again
from ..port.importing import ImportJournal, import_in_progress, no_import
from ..search.caches import DEFAULT_BOUNDS, READERS, CacheBounds
from . import register_sql, sql
from .caches import Caches
from .schema import APPLICATION_ID, FIRST_VERSION, MIGRATIONS, SCHEMA_VERSION

if TYPE_CHECKING:
    from ..port.records import Migration

OLDEST: Final = (3, 40)
"""The SQLite this store is tested with; older ones lack STRICT tables or plan otherwise."""

_STATEMENTS: Final = 512
"""Prepared statements kept per connection: more than `statements` has."""
_LOG_PAGES: Final = 4_000
"""Pages of the write-ahead log, 16 MiB, after which they are copied into the file. A batch of a
hundred writes some 1,000, of which the next ones write most again: at SQLite's own 1,000 each batch
copied its own."""

_TEXTS: Final = {
    "store_busy": "is being written by another process and stayed so; try again",
    "store_corrupt": "is damaged; restore it from a backup or an export, then run `tenure doctor`",
    "store_full": "has a full disk; nothing of this write was kept: free space, then retry",
    "store_read_only": "or its folder is read-only; make both writable for this user",
    "store_unreachable": "cannot be opened or read; check the path, its folder and their"
    " permissions",
    "not_a_store": "is not a tenure store; give another path",
}
"""What is said of a path, by the code of the error."""
_CODES: Final = {
    sqlite3.SQLITE_PERM: "store_read_only",
    sqlite3.SQLITE_BUSY: "store_busy",
    sqlite3.SQLITE_LOCKED: "store_busy",
    sqlite3.SQLITE_READONLY: "store_read_only",
    sqlite3.SQLITE_IOERR: "store_unreachable",
    sqlite3.SQLITE_CORRUPT: "store_corrupt",
    sqlite3.SQLITE_FULL: "store_full",
    sqlite3.SQLITE_CANTOPEN: "store_unreachable",
    sqlite3.SQLITE_NOTADB: "not_a_store",
}
"""The code of the error that an error of SQLite represents."""

KEY_BYTES: Final = 32
_TURN_S: Final = 0.02
"""Seconds between tries to switch a new file to WAL while another process has it."""
_MIGRATION_MS: Final = 600_000
"""How long an opening waits for the process that migrates the file."""
_STATE: Final = """
    SELECT user_version, application_id, (SELECT count(*) FROM sqlite_master)
    FROM pragma_user_version, pragma_application_id
"""


@dataclass(frozen=True, slots=True)
class Tuning:
    """How connections are opened."""

    busy_s: float = 10.0
    """Seconds a writer waits for another one before `store_busy`."""
    sync: Literal["full", "normal", "off"] = "full"
    """When the disk must have it: at every commit; at checkpoints, so that a power failure may take
    the last moments but never breaks the file; or never, for a store that dies with the process."""
    bounds: CacheBounds = DEFAULT_BOUNDS
    """Memory for the pages of its connections, and for what its readers and writers share."""


def connect(path: Path, tuning: Tuning, *, reader: bool = False) -> sqlite3.Connection:
    """Open a connection; a reader's refuses to write.

    Raises:
        Unavailable: The file cannot be opened, or SQLite is too old.
    """
    if sqlite3.sqlite_version_info < OLDEST:
        raise Unavailable(
            f"this Python has SQLite {sqlite3.sqlite_version}; the embedded store needs "
            f"{'.'.join(map(str, OLDEST))} or newer: use another build of Python",
            code="store_unreachable",
        )

    pages_kib = tuning.bounds.most_bytes("reader_pages" if reader else "writer_pages") // 1_024
    with our_errors(path):
        db = sqlite3.connect(
            path,
            timeout=tuning.busy_s,
            isolation_level=None,
            check_same_thread=False,
            cached_statements=_STATEMENTS,
        )
        try:
            for pragma in (
                "foreign_keys = ON",
                "recursive_triggers = ON",
                "secure_delete = ON",
                "temp_store = MEMORY",
                "trusted_schema = OFF",
                f"synchronous = {tuning.sync}",
                "fullfsync = ON",  # macOS alone knows it: there fsync stops at the drive's cache
                f"cache_size = -{pages_kib}",
                f"wal_autocheckpoint = {_LOG_PAGES}",
                f"query_only = {'ON' if reader else 'OFF'}",
            ):
                db.execute(f"PRAGMA {pragma}")
            db.create_function("stemmed_again", 1, stemmed_again, deterministic=True)
        except sqlite3.Error:
            db.close()
            raise

    return db


def moved(path: Path) -> TenureError:
    """The error of a file that does not stand where it was opened any more."""
    return Unavailable(
        f"{path} was moved, removed or replaced while it was open; put it back, or end this "
        "process and open the store where it is",
        code="store_unreachable",
        path=str(path),
    )


def require_place(path: Path) -> None:
    """Refuse the path of a file or a folder that nothing can be in.

    Raises:
        InvalidInput: `missing_folder`.
    """
    if not path.parent.is_dir():
        raise InvalidInput(
            f"the folder {path.parent} does not exist; make it first",
            code="missing_folder",
            path=str(path),
        )


def _error_of(code: str, path: Path) -> TenureError:
    error = InvalidInput if code == "not_a_store" else Unavailable
    return error(f"{path} {_TEXTS[code]}", code=code, path=str(path))


def meaning(error: sqlite3.Error, path: Path) -> TenureError:
    """Return the error of ours that an error of SQLite represents."""
    number = getattr(error, "sqlite_errorcode", None)
    code = None if number is None else _CODES.get(number & 0xFF)
    if "not decode to UTF-8" in str(error):  # the driver's own words: it gives no code
        code = "store_corrupt"
    if code:
        return _error_of(code, path)
    if isinstance(error, sqlite3.ProgrammingError) and "closed" in str(error):
        return Unavailable(f"{path} was closed; connect again", code="store_closed")
    return Fault(
        f"the store refused a statement: {error}; please report it",
        code="invariant_broken",
        path=str(path),
    )


def _is_damaged(db: sqlite3.Connection) -> bool:
    """Whether the file contradicts itself; that is looked for where a read failed by surprise."""
    checks = ("PRAGMA integrity_check(1)", "PRAGMA foreign_key_check")
    return [row for check in checks for row in db.execute(check)] != [("ok",)]


@contextmanager
def our_errors(path: Path) -> Generator[None]:
    """Turn every error of SQLite into one of ours."""
    try:
        yield
    except sqlite3.Error as error:
        raise meaning(error, path) from error


@contextmanager
def transaction(db: sqlite3.Connection) -> Generator[None]:
    """Run a write transaction: a clean end commits, an error rolls back."""
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
        db.execute("COMMIT")
    finally:
        if db.in_transaction:
            db.execute("ROLLBACK")


def read_journal(db: sqlite3.Connection) -> ImportJournal | None:
    """How far an import has come; None where none is in progress."""
    line = db.execute(register_sql.JOURNAL).fetchone()
    return None if line is None else ImportJournal(*line)


def keep_journal(db: sqlite3.Connection, journal: ImportJournal | None) -> None:
    """Keep a journal inside the open transaction; None ends the import."""
    if journal is None:
        db.execute(register_sql.DROP_JOURNAL)
        return
    db.execute(register_sql.PUT_JOURNAL, (journal.digest, journal.applied, journal.total))


_PLACE_S: Final = 1.0
"""How long a reader trusts that the file stands where it was opened."""


class Partition:
    """One tenant's file, open."""

    def __init__(self, path: Path, tenant: str, tuning: Tuning) -> None:
        self.path = path
        self.tenant = tenant
        self.caches = Caches(tuning.bounds)
        self.turn = Lock()
        """Held by the one writer of this process."""
        self._tuning = tuning
        self._guard = Lock()
        self._idle: list[sqlite3.Connection] = []
        self._closed = False
        self._complete = False
        """Whether the tenant has writes and no import in progress: no other can begin then."""
        self.checkpoint_due = False
        """An erasure is still to be flushed out of the write-ahead log."""
        self._writer = connect(path, tuning)

        try:
            _check_file(self._writer, path, tenant)
        except (Forbidden, InvalidInput, NotFound, Unavailable):
            self._writer.close()
            raise

        self._inode = path.stat().st_ino
        self._place_due_s = 0.0

    @property
    def writer(self) -> sqlite3.Connection:
        """Return the writing connection; only for the holder of `turn`."""
        return self._writer

    @contextmanager
    def taking_turn(self) -> Generator[sqlite3.Connection]:
        """Hold the place of the one writer of this process.

        Raises:
            Unavailable: `store_busy` after the time-out, `store_closed`, `store_unreachable`.
        """
        if not self.turn.acquire(timeout=self._tuning.busy_s):
            raise Unavailable(
                f"{self.path} is busy with another write of this process; try again",
                code="store_busy",
                path=str(self.path),
            )

        try:
            self._require_open()
            self._require_place()
            yield self._writer
        except sqlite3.Error as error:
            raise meaning(error, self.path) from error
        finally:
            self.turn.release()

    @contextmanager
    def altering(self) -> Generator[sqlite3.Connection]:
        """Hold the writer's place in a transaction for what takes no stamp.

        Raises:
            Conflict: `in_progress`.
            Unavailable: `store_busy`, `store_closed`.
        """
        with self.taking_turn() as db, transaction(db):
            self.require_schema(_version_of(db))
            self.require_complete(db)
            yield db

    def require_schema(self, version: int) -> None:
        """Refuse a file that a newer tenure has migrated since this process opened it.

        Raises:
            Unavailable: `newer_schema`.
        """
        if version != SCHEMA_VERSION:
            raise _newer_schema(self.path, version)

    def require_complete(self, db: sqlite3.Connection) -> None:
        """Refuse a snapshot of a tenant whose import is not complete.

        Raises:
            Conflict: `in_progress`.
        """
        if self._complete:
            return

        journal = read_journal(db)
        if journal is not None:
            raise import_in_progress(journal)
        self._complete = db.execute(register_sql.STAMPED).fetchone()[0] > 0

    @contextmanager
    def reading(self) -> Generator[sqlite3.Connection]:
        """Hand out a reading connection inside a transaction: one snapshot.

        Raises:
            Conflict: `in_progress`.
            Unavailable: `newer_schema`, `store_unreachable`.
        """
        now_s = time.monotonic()
        if now_s >= self._place_due_s:
            self._require_place()
            self._place_due_s = now_s + _PLACE_S

        db = self._take()
        try:
            with our_errors(self.path):
                db.execute("BEGIN")
                try:
                    self.require_schema(_version_of(db))
                    self.require_complete(db)
                    yield db
                except (LookupError, TypeError, ValueError) as error:
                    if _is_damaged(db):  # a row that refers to none, a value that cannot be read
                        raise _error_of("store_corrupt", self.path) from error
                    raise
                finally:
                    db.execute("ROLLBACK")
        finally:
            self._give(db)

    @contextmanager
    def asking(self) -> Generator[sqlite3.Connection]:
        """Hand out a connection for one statement that reads, which is its own snapshot.

        It is the writer's where nobody writes: that one keeps its pages over its own commits,
        while a reader finds the file changed by them and reads its first pages again.

        The version of the schema is not asked here, because that would be a second statement: what
        is read so, the vocabulary, is used by reads and writes that do ask.
        """
        is_free = self.turn.acquire(blocking=False)
        db = None
        try:
            self._require_open()
            db = self._writer if is_free else self._take()
            with our_errors(self.path):
                self.require_complete(db)
                yield db
        finally:
            if is_free:
                self.turn.release()
            elif db:
                self._give(db)

    @contextmanager
    def examining(self) -> Generator[sqlite3.Connection]:
        """Hand out a snapshot on a connection of its own, which may make temporary tables."""
        self._require_open()
        self._require_place()
        with closing(connect(self.path, self._tuning)) as db, our_errors(self.path):
            db.execute("BEGIN")
            self.require_schema(_version_of(db))
            self.require_complete(db)
            yield db

    def _take(self) -> sqlite3.Connection:
        with self._guard:
            self._require_open()
            if self._idle:
                return self._idle.pop()

        return connect(self.path, self._tuning, reader=True)

    def _give(self, db: sqlite3.Connection) -> None:
        with self._guard:
            if not self._closed and len(self._idle) < READERS and not db.in_transaction:
                self._idle.append(db)
                return

        db.close()

    def _require_open(self) -> None:
        if self._closed:
            raise Unavailable(f"{self.path} was closed; connect again", code="store_closed")

    def _require_place(self) -> None:
        """Refuse a file that left its place: connections follow it, and a new one makes another."""
        try:
            inode = self.path.stat().st_ino
        except OSError:
            inode = None
        if inode != self._inode:
            raise moved(self.path)

    def flush(self) -> None:
        """Empty the write-ahead log after an erasure; readers in the way put it off."""
        if not self.checkpoint_due:
            return

        self._writer.execute("PRAGMA busy_timeout = 200")
        # what was committed stays committed: a checkpoint that fails is tried again later
        with suppress(sqlite3.OperationalError):
            is_blocked, _, _ = self._writer.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            self.checkpoint_due = bool(is_blocked)

        self._writer.execute(f"PRAGMA busy_timeout = {round(self._tuning.busy_s * 1000)}")

    def close(self) -> None:
        """Wait for the write that runs, then close every connection."""
        with self.turn:
            with self._guard:
                if self._closed:
                    return
                self._closed = True
                idle, self._idle = self._idle, []
            for db in idle:
                db.close()
            with our_errors(self.path), closing(self._writer):
                self.flush()


def create(path: Path, tenant: str, key: bytes | None, tuning: Tuning) -> None:
    """Make a tenant's file, or check the one that is there.

    Raises:
        Conflict: `key_mismatch` when the tenant has another first key.
        Forbidden: `tenant_mismatch`.
        InvalidInput: `not_a_store`, `missing_folder`.
        Unavailable: `newer_schema`, `store_read_only`, `store_full`, `store_unreachable`.
    """
    require_place(path)

    fresh = not path.exists()
    if fresh:
        # It will hold the tenant's secret key; what cannot be made here is told by the next line.
        with suppress(OSError):
            path.touch(mode=0o600)

    try:
        with closing(connect(path, tuning)) as db, our_errors(path):
            _prepare(db, path, tuning)
            if 0 < _schema_of(db, path) < SCHEMA_VERSION:
                # Another process may be at it, and a migration lasts longer than any write.
                db.execute(f"PRAGMA busy_timeout = {_MIGRATION_MS}")
            with transaction(db):
                _migrate(db, path, tenant, key)
            _check_key(db, key)
            _check_file(db, path, tenant)
    finally:
        # a creation that failed leaves no empty file behind
        if fresh and path.exists() and path.stat().st_size == 0:
            path.unlink()


def _prepare(db: sqlite3.Connection, path: Path, tuning: Tuning) -> None:
    """Refuse a foreign database before anything of it is changed, then switch to WAL."""
    _schema_of(db, path)
    deadline = time.monotonic() + tuning.busy_s
    while True:
        try:
            db.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            # SQLite calls no busy handler while the journal mode changes
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
            time.sleep(_TURN_S)
        else:
            return


def _schema_of(db: sqlite3.Connection, path: Path) -> int:
    """Return the schema version of a file; 0 for an empty one."""
    # One statement, so one snapshot: between two, another process may make or migrate the file.
    version, application, objects = db.execute(_STATE).fetchone()
    if application != APPLICATION_ID:
        if objects:
            raise InvalidInput(
                f"{path} is an SQLite database of another program; give another path",
                code="not_a_store",
                path=str(path),
            )
        return 0

    if version > SCHEMA_VERSION:
        raise _newer_schema(path, version)
    if version < FIRST_VERSION:
        raise Unavailable(
            f"{path} was written by a development version of tenure (schema {version}); export it "
            "with that version (tenure export) and import the export into a new store",
            code="older_schema",
            schema=version,
        )

    return int(version)


def _version_of(db: sqlite3.Connection) -> int:
    (version,) = db.execute("PRAGMA user_version").fetchone()
    return int(version)


def _newer_schema(path: Path, version: int) -> Unavailable:
    return Unavailable(
        f"{path} was written by a newer tenure (schema {version}, this one knows "
        f"{SCHEMA_VERSION}); upgrade tenure",
        code="newer_schema",
        schema=version,
    )


def migrate(path: Path, tenant: str, tuning: Tuning, *, dry_run: bool) -> Migration:
    """Bring a tenant's file to this code's schema, and remake guards and indices that are gone.

    Raises:
        Forbidden: `tenant_mismatch`.
        NotFound: `unknown_tenant`.
        InvalidInput: `not_a_store`.
        Unavailable: `newer_schema`, `store_busy`, `store_read_only`, `store_full`.
    """
    with closing(connect(path, tuning)) as db, our_errors(path):
        _check_file(db, path, tenant)
        with transaction(db):  # a dry run does nothing in it
            version = _schema_of(db, path)
            steps = [*_lost_guards(db, version), *_steps_between(version, SCHEMA_VERSION)]
            if steps and not dry_run:
                for step in steps:
                    db.execute(step)
                _mark(db)

    from ..port.records import Migration

    return Migration(version, SCHEMA_VERSION, tuple(map(_step, steps)))


def _migrate(db: sqlite3.Connection, path: Path, tenant: str, key: bytes | None) -> None:
    """Bring a file to this code's schema; runs inside one transaction."""
    version = _schema_of(db, path)
    if version == SCHEMA_VERSION:
        return

    for statement in _steps_between(version, SCHEMA_VERSION):
        db.execute(statement)

    if version == 0:
        _found_tenant(db, tenant, [key or os.urandom(KEY_BYTES)])

    _mark(db)


def _found_tenant(db: sqlite3.Connection, tenant: str, keys: Iterable[bytes]) -> None:
    """Write what a tenant has before its first write."""
    db.execute(sql.CREATE_META, (tenant,))
    db.execute(sql.CREATE_COUNTER, (MIN_US,))
    db.executemany(sql.PUT_KEY, enumerate(keys))


def start_over(path: Path, tenant: str, tuning: Tuning) -> None:
    """Make a file whose import is not complete that of a new tenant with the same keys.

    Raises:
        Conflict: `no_import`; nothing was changed.
        Unavailable: `newer_schema`.
    """
    with closing(connect(path, tuning)) as db, our_errors(path):
        # Triggers let nobody delete history, so tables are made again; they go in any order.
        db.execute("PRAGMA foreign_keys = OFF")
        with transaction(db):
            _schema_of(db, path)
            if read_journal(db) is None:
                raise no_import()

            keys = [secret for (secret,) in db.execute(sql.KEYS)]
            for kind, name in db.execute(register_sql.TABLES_AND_VIEWS).fetchall():
                db.execute(f'DROP {kind} "{name}"')

            for statement in _steps_between(0, SCHEMA_VERSION):
                db.execute(statement)
            _found_tenant(db, tenant, keys)


def _mark(db: sqlite3.Connection) -> None:
    db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    db.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")


def _steps_between(version: int, target: int) -> Iterator[str]:
    """The statements that lead from a schema version to a later one."""
    first, last = (max(number - FIRST_VERSION + 1, 0) for number in (version, target))
    for parts in MIGRATIONS[first:last]:
        for part in parts:
            yield from _statements(part)


def _lost_guards(db: sqlite3.Connection, version: int) -> Iterable[str]:
    """The statements whose index or trigger a file of this version lacks."""
    present = {str(name) for (name,) in db.execute("SELECT name FROM sqlite_master").fetchall()}
    missing: dict[str, str] = {}

    for statement in _steps_between(0, version):
        kind, name = _step(statement).rsplit(" ", 1)
        made_once = kind.startswith("CREATE") and kind.endswith(("INDEX", "TRIGGER", "VIEW"))
        # A later version may drop a guard and make it again: the last text of a name is its own.
        if made_once and name not in present:
            missing[name] = statement
        elif kind.startswith("DROP"):
            missing.pop(name, None)

    return missing.values()


def _step(statement: str) -> str:
    """Return what a statement makes, `CREATE INDEX alias_by_norm`."""
    words = statement.replace("(", " ").replace(";", " ").replace("IF EXISTS", "").split()
    kinds = ("TABLE", "INDEX", "TRIGGER", "VIEW")
    place = next((position for position, word in enumerate(words) if word in kinds), 0)

    return " ".join(words[: place + 2])


def _statements(script: str) -> Iterator[str]:
    """Split a script, because `executescript` would end the transaction it runs in."""
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""


def _check_key(db: sqlite3.Connection, key: bytes | None) -> None:
    if key is None:
        return

    first = db.execute(sql.KEYS).fetchone()[0]
    if not hmac.compare_digest(first, key):
        raise Conflict(
            "the tenant has another secret key; open it without tenant_key",
            code="key_mismatch",
        )


def _check_file(db: sqlite3.Connection, path: Path, tenant: str) -> None:
    """Refuse what is no store, a newer one, and another tenant's."""
    with our_errors(path):
        if _schema_of(db, path) == 0:
            raise NotFound(f"{path} holds no tenant yet; call ensure first", code="unknown_tenant")
        owner = db.execute(sql.TENANT).fetchone()[0]

    if owner != tenant:
        raise other_tenant()


def other_tenant() -> Forbidden:
    """The error of a file whose tenant is another one."""
    return Forbidden(
        "the file belongs to another tenant; open it with a principal of that tenant",
        code="tenant_mismatch",
    )
