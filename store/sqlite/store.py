"""The embedded store: SQLite files, one for each tenant.

A path to a file is a store of one tenant; a folder, or a path that ends in a separator, holds
a file for each tenant, named after its id where that is safe on every system, by the SHA-256 of
it where it is not; `:memory:` is a folder that is removed when the store is closed or the process
ends, so it behaves like any other across threads.
Each tenant has one writer and a pool of readers; calls of different tenants do not wait for
each other. Safe to share between threads and, through SQLite's own locks, processes.
"""

from __future__ import annotations

import hashlib
import os
import re
import weakref
from collections import Counter
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Final

from ...schema.errors import NotFound, Unavailable
from ...schema.interval import INF_US, MIN_US
from . import sql
from .caches import Caches
from .partition import Partition, Tuning, create, migrate, other_tenant, require_place, start_over

if TYPE_CHECKING:  # opening loads nothing of reading, and reading nothing of writing
    from ...resolution.names import NameRow
    from ..port.importing import ImportJournal, ImportStep
    from ..port.records import Migration, Names
    from ..port.store import Result, VectorRow
    from .reader import SqliteReader
    from .writer import SqliteWriteTx

MEMORY: Final = ":memory:"

_PLAIN_NAME: Final = re.compile(r"[a-z0-9](?:[a-z0-9_-]{0,61}[a-z0-9])?", re.ASCII)
"""Tenants that name their file themselves. No capitals: two files that differ in case are one file
on Windows and macOS."""


class SqliteStore:
    """A store over one file or a folder of files."""

    def __init__(self, path: str | os.PathLike[str], tuning: Tuning | None = None) -> None:
        """Name a store; files are opened, and made, when a tenant needs them."""
        self._name = os.fspath(path)
        self._tuning = tuning or Tuning()
        if self._name == MEMORY:
            self._tuning = replace(self._tuning, sync="off")
        self._partitions: dict[str, Partition] = {}
        self._promises: dict[str, bytes | None] = {}
        """Tenants that their first write makes, by the secret key they begin with: neither a
        read nor a write that is refused leaves a file."""
        self._blank: SqliteStore | None = None
        """What those tenants read until then: nothing, from files in memory."""
        self._guard = Lock()
        self._closed = False
        self._remove: weakref.finalize[..., SqliteStore] | None = None
        if self._name == MEMORY:
            import shutil  # both bring archive formats along, which no file needs
            import tempfile

            self._root = Path(tempfile.mkdtemp(prefix="tenure-"))
            self._remove = weakref.finalize(self, shutil.rmtree, self._root, ignore_errors=True)
        else:
            self._root = Path(self._name).expanduser()

        self._folder = (
            self._remove is not None or self._name.endswith(("/", os.sep)) or self._root.is_dir()
        )

    @property
    def url(self) -> str:
        """Return where it is."""
        return self._name

    @property
    def artifacts(self) -> Path:
        """Return the folder that stands next to the files, for the artifacts of its tenants."""
        if self._folder:
            return self._root / "artifacts"
        return self._root.with_name(self._root.name + ".artifacts")

    @property
    def answers(self) -> Path:
        """The file that stands next to the files, for what models answered about texts."""
        if self._folder:
            return self._root / "answers"
        return self._root.with_name(self._root.name + ".answers")

    def path_of(self, tenant: str) -> Path:
        """Return the file of a tenant."""
        if not self._folder:
            return self._root

        # Files of before readable names keep theirs: a process of then may have one open.
        hashed = self._root / f"{hashlib.sha256(tenant.encode()).hexdigest()}.db"
        if _PLAIN_NAME.fullmatch(tenant) is None or hashed.exists():
            return hashed
        return self._root / f"tenant-{tenant}.db"

    @property
    def used_bytes(self) -> Mapping[str, int]:
        """About what the caches of all its tenants take in this process, by their names."""
        with self._guard:
            partitions = list(self._partitions.values())
        sizes: Counter[str] = Counter()
        for partition in partitions:
            sizes.update(partition.caches.used_bytes())
        return sizes

    def ensure(self, tenant: str, *, key: bytes | None = None, at_once: bool = True) -> None:
        """Create a tenant when it is not there; `key` sets its first secret key.

        Not `at_once`, the first write makes it, or the first question for its keys.

        Raises:
            Conflict: `key_mismatch`.
            Forbidden: `tenant_mismatch`.
            InvalidInput: `not_a_store`, `missing_folder`.
            Unavailable: `newer_schema`, `store_busy`, `store_closed`, `store_corrupt`,
                `store_full`, `store_read_only`, `store_unreachable`.
        """
        self._require_open()
        path = self.path_of(tenant)
        require_place(self._root if self._folder else path)
        if at_once or path.exists():
            self._create(tenant, key)
            self._partition(tenant)
            return

        # A file has one tenant, also while it is only promised.
        if not self._folder and self._promises.keys() - {tenant}:
            raise other_tenant()
        self._promises[tenant] = key

    def migrate(self, tenant: str, *, dry_run: bool = False) -> Migration:
        """Bring the schema of a tenant's file up to date, and mend what is missing.

        Raises:
            Forbidden: `tenant_mismatch`.
            InvalidInput: `not_a_store`.
            NotFound: `unknown_tenant`.
            Unavailable: `newer_schema`, `store_busy`, `store_read_only`, `store_full`.
        """
        self._require_open()
        path = self.path_of(tenant)
        if not path.is_file():
            raise _unknown()

        return migrate(path, tenant, self._tuning, dry_run=dry_run)

    @contextmanager
    def reading(
        self, tenant: str, names: Callable[[], Names] | None = None
    ) -> Generator[SqliteReader]:
        """Open a snapshot; `names` would save a round trip, and here there is none."""
        from .reader import SqliteReader

        if not self._is_promise(tenant):
            partition = self._partition(tenant)
            with partition.reading() as db:
                yield SqliteReader(db, partition.caches, str(partition.path))
            return

        blank = self._blank_of(tenant)._partition(tenant)
        with blank.reading() as db:
            keys = partial(self._keys, tenant)
            yield SqliteReader(db, blank.caches, str(self.path_of(tenant)), keys)

    @contextmanager
    def writing(self, tenant: str) -> Generator[SqliteWriteTx]:
        """Open a write transaction; leaving it cleanly commits, an error rolls back."""
        from .writer import SqliteWriteTx

        partition = self._partition(tenant)
        with partition.taking_turn() as db:
            tx = SqliteWriteTx(partition, db)
            try:
                yield tx
                tx.finish()
            finally:
                tx.abandon()

    def transact(self, tenant: str, work: Callable[[SqliteWriteTx], Result]) -> Result:
        """Return what a piece of work returns, run in a write transaction of its own.

        Where it would be the first of a file, it runs on an empty store in memory before: what is
        refused, or writes nothing, makes no file.
        """
        is_file = self._remove is None
        if is_file and self._is_promise(tenant):
            result, is_written = self._rehearsed(tenant, work)
            if not is_written:
                return result

        with self.writing(tenant) as tx:
            return work(tx)

    @property
    def writes_elsewhere(self) -> bool:
        """Whether it writes in another process: no."""
        return False

    def expect_import(self, tenant: str) -> None:
        """Nothing: a file has nothing to prepare."""

    def expect_reads(self, tenant: str) -> None:
        """Nothing: a file has nothing to prepare."""

    def import_step(self, tenant: str, step: ImportStep) -> ImportJournal | None:
        """Run a step of an import, and keep the journal it returns."""
        from .partition import keep_journal, read_journal

        with self.writing(tenant) as tx:
            tx.lock(importing=True)
            db = self._partition(tenant).writer
            journal = step(tx, read_journal(db))
            keep_journal(db, journal)
            return journal

    def abort_import(self, tenant: str) -> None:
        """Remove all that an import in progress has written; the tenant and its keys stay.

        Raises:
            Conflict: `no_import`.
        """
        partition = self._partition(tenant)
        with partition.taking_turn():
            start_over(partition.path, tenant, self._tuning)
            # The old ones know numbers of what is gone.
            partition.caches = Caches(self._tuning.bounds)

    def name_rows(self, tenant: str, entity_ids: Sequence[str]) -> tuple[NameRow, ...]:
        """Return the open names of raw entities, in one call."""
        if self._is_promise(tenant):
            return ()
        from .identity import read_names

        with self._partition(tenant).asking() as db:
            return read_names(db, entity_ids, INF_US - 1)

    def newest(self, tenant: str, after: int) -> tuple[int, tuple[tuple[int, str], ...]]:
        """Return the last stamp and the definitions above a number: what a view is pinned to."""
        if self._is_promise(tenant):
            return MIN_US, ()
        with self._partition(tenant).asking() as db:
            last_us, count = db.execute(sql.NEWEST).fetchone()
            # Definitions are only ever added: what is read a moment later holds what stood then.
            lines = db.execute(sql.DEFINITIONS, (after,)).fetchall() if count > after else ()
        return last_us, tuple(lines)

    def define(self, tenant: str, *, after: int, definition: str) -> bool:
        """Append a vocabulary definition when the list still has `after` entries."""
        from . import apply

        with self._partition(tenant).altering() as db:
            if db.execute(sql.COUNT_DEFINITIONS).fetchone()[0] != after:
                return False
            apply.define(db, definition)
            return True

    def put_vectors(self, tenant: str, rows: Sequence[VectorRow]) -> None:
        """Add or replace vectors; takes no stamp."""
        from . import apply

        with self._partition(tenant).altering() as db:
            apply.put_vectors(db, rows)

    def put_manifest(
        self, tenant: str, *, envelope_id: str, manifest: str, objects: Sequence[str], pack: str
    ) -> None:
        """Store a manifest, the objects it compiled and its policy pack; idempotent."""
        from ..port.records import ManifestRecord
        from . import apply

        with self._partition(tenant).altering() as db:
            record = ManifestRecord(
                envelope_id=envelope_id,
                manifest=manifest,
                object_ids=tuple(objects),
                pack=apply.put_pack(db, pack),
            )
            apply.put_manifest(db, record)

    def log_usage(self, tenant: str, object_ids: Sequence[str], *, at_us: int) -> None:
        """Record that objects were used."""
        from . import apply

        with self._partition(tenant).altering() as db:
            apply.use(db, object_ids, at_us)

    def check(self, tenant: str) -> tuple[str, ...]:
        """Return one sentence for each broken invariant; empty when all hold."""
        from . import check

        with self._partition(tenant).examining() as db:
            return tuple(check.problems_of(db))

    def close(self) -> None:
        """Release everything; nothing buffered is lost."""
        with self._guard:
            self._closed = True
            partitions, self._partitions = self._partitions, {}
            blank, self._blank = self._blank, None

        for partition in partitions.values():
            partition.close()
        if blank is not None:
            blank.close()

        if self._remove is not None:
            self._remove()

    def _require_open(self) -> None:
        if self._closed:
            raise Unavailable(f"{self._name} was closed; connect again", code="store_closed")

    def _partition(self, tenant: str) -> Partition:
        partition = self._partitions.get(tenant)
        if partition is not None:
            return partition

        with self._guard:
            self._require_open()
            if tenant not in self._partitions:
                self._partitions[tenant] = self._opened(tenant)
            return self._partitions[tenant]

    def _create(self, tenant: str, key: bytes | None) -> None:
        """Make the file of a tenant, or check the one that another process made meanwhile."""
        if self._folder:
            self._root.mkdir(exist_ok=True)
        create(self.path_of(tenant), tenant, key or self._promises.get(tenant), self._tuning)
        # From here on an import may give the tenant other keys.
        self._promises.pop(tenant, None)

    def _opened(self, tenant: str) -> Partition:
        path = self.path_of(tenant)
        if tenant in self._promises:
            self._create(tenant, None)
        if not path.is_file():
            raise _unknown()
        return Partition(path, tenant, self._tuning)

    def _is_promise(self, tenant: str) -> bool:
        """Whether a tenant may be made and nothing has made it yet."""
        if tenant in self._partitions or tenant not in self._promises:
            return False
        return not self.path_of(tenant).exists()

    @staticmethod
    def _rehearsed(tenant: str, work: Callable[[SqliteWriteTx], Result]) -> tuple[Result, bool]:
        """What a piece of work returns on an empty store, and whether it wrote anything."""
        rehearsal = SqliteStore(MEMORY)
        try:
            rehearsal.ensure(tenant)
            # Rows are counted: an event of a session or an envelope takes no stamp.
            writer = rehearsal._partition(tenant).writer
            count = writer.total_changes
            result = rehearsal.transact(tenant, work)
            is_written = writer.total_changes > count
        finally:
            rehearsal.close()
        return result, is_written

    def _blank_of(self, tenant: str) -> SqliteStore:
        """A store in memory that knows the tenant and holds nothing."""
        with self._guard:
            self._require_open()
            if self._blank is None:
                self._blank = SqliteStore(MEMORY)
            blank = self._blank

        blank.ensure(tenant)
        return blank

    def _keys(self, tenant: str) -> tuple[bytes, ...]:
        """The tenant's own secret keys, for which its file is made."""
        self._partition(tenant)
        with self.reading(tenant) as reader:
            return reader.keys()


def _unknown() -> NotFound:
    return NotFound("this store holds no such tenant; call ensure first", code="unknown_tenant")


def open_store(path: str | os.PathLike[str]) -> SqliteStore:
    """Return the embedded store at a file, a folder, or `:memory:`."""
    return SqliteStore(path)
