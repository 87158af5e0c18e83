"""Connections to a tenant's file, and what SQLite's errors mean to a caller.

Every connection runs with foreign keys, recursive triggers (without them an INSERT OR REPLACE
would pass the delete triggers), secure delete and a busy time-out. Files are in WAL mode with
`synchronous=FULL`: an acknowledged commit survives a power loss. Transactions are begun and
ended here by hand; Python's own are switched off.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from ...schema.errors import Fault, InvalidInput, TenureError, Unavailable
from ...schema.signing import stored_digest
from ..search.cache_bounds import DEFAULT_BOUNDS, CacheBounds

OLDEST: Final = (3, 40)
"""The SQLite this store is tested with; older ones lack STRICT tables or plan otherwise."""

_STATEMENTS: Final = 512
"""Prepared statements kept per connection: more than `statements` has."""
_LOG_PAGES: Final = 4_000
"""Pages of the write-ahead log, 16 MiB, after which they are copied into the file. A batch of a
hundred writes some 1,000, of which the next ones write most again: at SQLite's own 1,000 each batch
copied its own."""


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
            # For the migration that makes digests of the keys of older versions.
            db.create_function("tenure_key_digest", 3, stored_digest, deterministic=True)
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
        except sqlite3.Error:
            db.close()
            raise

    return db


def _busy(path: Path) -> TenureError:
    return Unavailable(
        f"{path} is being written by another process and stayed so; try again",
        code="store_busy",
        path=str(path),
    )


def _corrupt(path: Path) -> TenureError:
    return Unavailable(
        f"{path} is damaged; restore it from a backup or an export, then run `tenure doctor`",
        code="store_corrupt",
        path=str(path),
    )


def _full(path: Path) -> TenureError:
    return Unavailable(
        f"the disk of {path} is full; nothing of this write was kept: free space, then retry",
        code="store_full",
        path=str(path),
    )


def _read_only(path: Path) -> TenureError:
    return Unavailable(
        f"{path} or its folder is read-only; make both writable for this user",
        code="store_read_only",
        path=str(path),
    )


def _not_a_store(path: Path) -> TenureError:
    return InvalidInput(
        f"{path} is not a tenure store; give another path",
        code="not_a_store",
        path=str(path),
    )


def _unreachable(path: Path) -> TenureError:
    return Unavailable(
        f"{path} cannot be opened or read; check the path, its folder and their permissions",
        code="store_unreachable",
        path=str(path),
    )


def moved(path: Path) -> TenureError:
    """The error of a file that does not stand where it was opened any more."""
    return Unavailable(
        f"{path} was moved, removed or replaced while it was open; put it back, or end this "
        "process and open the store where it is",
        code="store_unreachable",
        path=str(path),
    )


def require_place(path: Path) -> None:
    """Refuse the path of a file or a folder that nothing can stand in.

    Raises:
        InvalidInput: `missing_folder`.
    """
    if not path.parent.is_dir():
        raise InvalidInput(
            f"the folder {path.parent} does not exist; make it first",
            code="missing_folder",
            path=str(path),
        )


_MEANING: Final[dict[int, Callable[[Path], TenureError]]] = {
    sqlite3.SQLITE_PERM: _read_only,
    sqlite3.SQLITE_BUSY: _busy,
    sqlite3.SQLITE_LOCKED: _busy,
    sqlite3.SQLITE_READONLY: _read_only,
    sqlite3.SQLITE_IOERR: _unreachable,
    sqlite3.SQLITE_CORRUPT: _corrupt,
    sqlite3.SQLITE_FULL: _full,
    sqlite3.SQLITE_CANTOPEN: _unreachable,
    sqlite3.SQLITE_NOTADB: _not_a_store,
}


def meaning(error: sqlite3.Error, path: Path) -> TenureError:
    """Return the error of ours that an error of SQLite stands for."""
    number = getattr(error, "sqlite_errorcode", None)
    if number is not None and (build := _MEANING.get(number & 0xFF)):
        return build(path)
    if isinstance(error, sqlite3.ProgrammingError) and "closed" in str(error):
        return Unavailable(f"{path} was closed; connect again", code="store_closed")
    return Fault(
        f"the store refused a statement: {error}; please report it",
        code="invariant_broken",
        path=str(path),
    )


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
