"""Copy an embedded store while it is in use, and list its files.

A copy is a store of its own: one consistent snapshot of a tenant's file, checked before it gets its
name. It has the tenant's keys, so only its owner can read it. Originals next to the store are
separate files and are not copied.
"""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from ...schema.errors import InvalidInput, NotFound, Unavailable


@dataclass(frozen=True, slots=True)
class TenantFile:
    """The file of one tenant."""

    tenant: str
    path: str
    bytes: int
    """Of the file and of what is not yet folded into it."""
    last_us: int
    """Stamp of the last transaction; 0 or less before any."""


def copy_store(source: Path, file: IO[bytes], folder: Path) -> None:
    """Copy a tenant's file as it is at one moment, also while others write to it.

    The snapshot is made in a folder of its own inside `folder`.

    Raises:
        InvalidInput: `not_a_store`.
        NotFound: `unknown_file`.
        Unavailable: `store_corrupt`.
    """
    if not source.is_file():
        raise NotFound(f"there is no file {source}", code="unknown_file")
    tenant_file(source)
    with tempfile.TemporaryDirectory(dir=folder, prefix=".part-") as part:
        copy = Path(part) / "copy.db"
        _snapshot(source, copy)
        with copy.open("rb") as copied_bytes:
            shutil.copyfileobj(copied_bytes, file)


def _snapshot(source: Path, copy: Path) -> None:
    """Write one consistent state of a file into another, and check what was written."""
    try:
        with (
            closing(sqlite3.connect(f"{source.resolve().as_uri()}?mode=ro", uri=True)) as db,
            closing(sqlite3.connect(copy)) as copied_db,
        ):
            db.backup(copied_db)
            (verdict,) = copied_db.execute("PRAGMA integrity_check").fetchone()
            # The copy is one file: nothing of it may be in a log next to it.
            copied_db.execute("PRAGMA journal_mode = DELETE")
    except sqlite3.Error as error:
        verdict = str(error)

    if verdict != "ok":
        raise Unavailable(
            f"{source} cannot be copied: {verdict}; run tenure doctor", code="store_corrupt"
        )


def tenant_files(root: Path) -> Iterator[TenantFile]:
    """The tenants of a file or of a folder, by path; files of others are passed over."""
    for path in sorted(root.glob("*.db")) if root.is_dir() else [root]:
        try:
            yield tenant_file(path)
        except InvalidInput:  # somebody else's file in the folder
            continue


def tenant_file(path: Path) -> TenantFile:
    """What a file holds.

    Raises:
        InvalidInput: `not_a_store`.
    """
    if path.exists() and not path.is_file():  # reading a pipe would wait for a writer
        raise InvalidInput(f"{path} is no file", code="not_a_store")
    try:
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as db:
            (tenant,) = db.execute("SELECT tenant FROM meta").fetchone()
            (last_us,) = db.execute("SELECT last_us FROM counter").fetchone()
    except (sqlite3.Error, TypeError) as error:
        raise InvalidInput(f"{path} is no store of tenure", code="not_a_store") from error

    size = path.stat().st_size
    log = path.with_name(path.name + "-wal")
    if log.exists():
        size += log.stat().st_size
    return TenantFile(tenant, str(path), size, last_us)
