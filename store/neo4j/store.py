"""The server store: any number of tenants on Neo4j servers.

`open_store` names the server; a `resolve` function may send each tenant to a (uri, database) of
its own, so that cells, clusters and Aura work unchanged. One driver a server, opened when it is
first needed, together with the schema. Safe to share between threads; processes are kept apart
by the server's own locks. Sessions of one target share bookmarks, so that a read sees every
earlier write of this store, on a cluster too.

A unit of work is tried again as a whole (`transact`) when the server says that it may succeed,
or when two first writers met on a constraint. A commit of unknown outcome is looked up before
anything is done again.
"""

from __future__ import annotations

import contextlib
import hmac
import os
import secrets
from collections.abc import Callable, Generator, Mapping, Sequence
from threading import Lock, Thread
from typing import TYPE_CHECKING, Any, Final

import neo4j
from neo4j import exceptions as driver_errors

from ...resolution.names import NameRow
from ...schema.errors import Conflict, TenureError, Unavailable
from ...schema.interval import MIN_US
from ..port.importing import ImportJournal, ImportStep, import_in_progress
from ..port.records import Migration, Names, Resolve, Target
from ..port.store import Result, VectorRow
from ..port.vectors import Vectors
from . import applying, checking
from .applying import journal_of
from .calls import CallLimits, ClaimCache, Pauses, Reads, ServerLink, Writes, retryable, run_at_once
from .connect import DriverSettings, connect, our_errors
from .cypher import core, register
from .reader import Neo4jReader, no_such_tenant
from .writer import Neo4jWriteTx, landed

if TYPE_CHECKING:
    from .importing import ImportSteps
    from .vector_index import Indexes

KEY_BYTES: Final = 32

Failure = driver_errors.DriverError | driver_errors.Neo4jError
_FAILURES: Final = (driver_errors.DriverError, driver_errors.Neo4jError)


class Neo4jStore:
    """A store over one or more Neo4j servers."""

    def __init__(
        self,
        target: Target,
        *,
        auth: tuple[str, str] | None,
        resolve: Resolve | None = None,
        limits: CallLimits | None = None,
        settings: DriverSettings | None = None,
        vector_index: bool = False,
    ) -> None:
        """Name a store; a server is asked when a tenant needs it."""
        self._target = target
        self._auth = auth
        self._resolve = resolve
        self._limits = limits or CallLimits()
        self._settings = settings
        self._indexes = _indexes() if vector_index else None
        self._links: dict[Target, ServerLink] = {}
        self._drivers: dict[tuple[str, tuple[str, str] | None], tuple[neo4j.Driver, Any]] = {}
        self._imports: ImportSteps | None = None
        self._guard = Lock()
        self._closed = False

    @property
    def url(self) -> str:
        """Where it is."""
        return self._target.uri

    @property
    def used_bytes(self) -> Mapping[str, int]:
        """About what the caches of all its tenants take in this process, by their names."""
        with self._guard:
            links = list(self._links.values())
        return {"claims": sum(link.claims.bodies.nbytes for link in links)}

    def link(self, tenant: str) -> ServerLink:
        """The driver of a tenant's server, its schema brought up to date.

        Whoever asks for it meets all that this store's import of the tenant has written.

        Raises:
            Unavailable: `store_closed`, `store_unreachable`, `newer_schema`,
                `schema_incomplete`.
            Forbidden: the server refuses the credentials.
        """
        if self._imports is not None:
            self._imports.wait(tenant)
        return self._prepared_link(tenant)

    def _prepared_link(self, tenant: str) -> ServerLink:
        target = self._target_of(tenant)
        with self._guard:
            if target not in self._links:
                link = self._open(target)
                checking.prepare(link)
                self._links[target] = link

            return self._links[target]

    def _target_of(self, tenant: str) -> Target:
        return self._target if self._resolve is None else self._resolve(tenant)

    def _open(self, target: Target) -> ServerLink:
        """Open a target's driver, unless it is open; the caller holds the guard."""
        if self._closed:
            raise Unavailable(
                f"{self.url} was closed; connect again", code="store_closed", uri=self.url
            )

        auth = target.auth or self._auth
        if (target.uri, auth) not in self._drivers:
            self._drivers[target.uri, auth] = connect(target, auth=auth, settings=self._settings)
        driver, facts = self._drivers[target.uri, auth]

        return ServerLink(
            driver=driver,
            target=target,
            facts=facts,
            limits=self._limits,
            bookmarks=neo4j.GraphDatabase.bookmark_manager(),
            claims=ClaimCache(self._limits.claims_kib),
        )

    def migrate(self, tenant: str, *, dry_run: bool = False) -> Migration:
        """Bring the schema of a tenant's database up to date, and mend what is missing.

        Raises:
            Unavailable: `newer_schema`, `schema_incomplete`, `store_unreachable`.
            Forbidden: the server refuses the credentials.
        """
        with self._guard:
            link = self._open(self._target_of(tenant))
        return checking.migrate(link, dry_run=dry_run)

    # --- tenants

    def ensure(self, tenant: str, *, key: bytes | None = None, at_once: bool = True) -> None:
        """Create a tenant when it is not there; `key` sets its first secret key.

        It is one node, so it is always made at once.

        Raises:
            Conflict: `key_mismatch`.
        """
        secret = key or os.urandom(KEY_BYTES)

        def make(calls: Writes) -> bytes:
            (record,) = calls.rows(core.ENSURE, min=MIN_US, secret=secret)
            return bytes(record["secret"])

        first = self._retry(tenant, lambda: self._run_alone(tenant, make))
        if key is not None and not hmac.compare_digest(first, key):
            raise Conflict(
                "the tenant has another secret key; open it without tenant_key",
                code="key_mismatch",
            )

    # --- transactions

    @contextlib.contextmanager
    def reading(
        self, tenant: str, names: Callable[[], Names] | None = None
    ) -> Generator[Neo4jReader]:
        """Open a snapshot; `names` tells what will be looked up first."""
        link = self.link(tenant)
        with link.reads(tenant) as calls:
            yield Neo4jReader(calls, names() if names else None, self._nearness(link, calls))

    @contextlib.contextmanager
    def writing(self, tenant: str) -> Generator[Neo4jWriteTx]:
        """Open a write transaction; leaving it cleanly commits, an error rolls back."""
        link = self.link(tenant)
        with our_errors(link.target), self._transaction(link, tenant) as tx:
            yield tx

    def transact(self, tenant: str, work: Callable[[Neo4jWriteTx], Result]) -> Result:
        """What a piece of work returns, run in a write transaction of its own.

        The work may run several times; only its last run is kept.
        """

        def attempt() -> Result:
            with self._transaction(self.link(tenant), tenant) as tx:
                return work(tx)

        return self._retry(tenant, attempt)

    @property
    def writes_elsewhere(self) -> bool:
        """Whether it writes in another process: the server."""
        return True

    def expect_import(self, tenant: str) -> None:
        """Hear that an import will come: its largest statements are planned meanwhile."""
        self._import_steps().plan(lambda: self._prepared_link(tenant), tenant)

    def expect_reads(self, tenant: str) -> None:
        """Hear that compiles will come: a server plans their statements meanwhile."""
        from .prefetch import plan_reads

        def plan() -> None:
            errors = TenureError, driver_errors.Neo4jError, driver_errors.DriverError
            # Nothing waits for it: what fails here fails again where its caller learns of it.
            with contextlib.suppress(*errors), self._prepared_link(tenant).reads(tenant) as calls:
                plan_reads(calls)

        Thread(target=plan, name="tenure-plan-reads", daemon=True).start()

    def import_step(self, tenant: str, step: ImportStep) -> ImportJournal | None:
        """Run a step of an import, and keep the journal it returns; it may run several times."""
        link = self._prepared_link(tenant)
        return self._import_steps().run(link, tenant, step)

    def _import_steps(self) -> ImportSteps:
        """The steps of imports, of which most processes run none."""
        from .importing import ImportSteps

        with self._guard:
            if self._imports is None:
                self._imports = ImportSteps(self._commit, self._retry)
            return self._imports

    def abort_import(self, tenant: str) -> None:
        """Remove all that an import in progress has written; the tenant and its keys stay.

        Raises:
            Conflict: `no_import`.
        """
        from .importing import begin_abort, remove_all

        self.import_step(tenant, begin_abort)
        remove_all(lambda work: self._retry(tenant, lambda: self._run_alone(tenant, work)))

    def _retry(self, tenant: str, attempt: Callable[[], Result]) -> Result:
        """Run a unit of work until it succeeds or may not be tried again."""
        link = self.link(tenant)
        pauses, constraint = Pauses(link.limits), False
        with our_errors(link.target):
            while True:
                try:
                    return attempt()
                except _FAILURES as error:
                    first = isinstance(error, driver_errors.ConstraintError) and not constraint
                    constraint = constraint or first
                    if not (first or retryable(error)) or not pauses.wait(error):
                        raise

    @contextlib.contextmanager
    def _transaction(self, link: ServerLink, tenant: str) -> Generator[Neo4jWriteTx]:
        with link.session(neo4j.WRITE_ACCESS) as session:
            tx = link.begin(session)
            with contextlib.ExitStack() as undo:
                undo.callback(tx.close)  # which rolls back what was not committed
                writer = Neo4jWriteTx(Writes(link, tx, tenant))
                yield writer
                self._commit(link, tx, writer, tenant)

    def _commit(
        self, link: ServerLink, tx: neo4j.Transaction, writer: Neo4jWriteTx, tenant: str
    ) -> None:
        try:
            tx.commit()
        except (driver_errors.IncompleteCommit, driver_errors.ServiceUnavailable) as error:
            landing = (
                None if writer.mark is None else self._landed(link, tenant, writer.mark, error)
            )
            if landing is None:
                raise
            if not landing:  # nothing of it is there, so that another try does no harm
                raise driver_errors.SessionExpired("the commit did not happen") from error

    def _landed(
        self, link: ServerLink, tenant: str, mark: tuple[int, bytes], failure: Failure
    ) -> bool | None:
        """Whether a commit whose answer was lost stands in the log; None: nobody answers."""
        pauses = Pauses(link.limits)
        error: Exception = failure
        while pauses.wait(error):
            try:
                with link.session(neo4j.WRITE_ACCESS) as session, link.begin(session) as tx:
                    return landed(Writes(link, tx, tenant), mark)
            except _FAILURES as refusal:
                if not retryable(refusal):
                    raise
                error = refusal

        return None

    def _run_alone(self, tenant: str, work: Callable[[Writes], Result]) -> Result:
        """Run statements in a transaction that takes no lock of its own."""
        link = self.link(tenant)
        with link.session(neo4j.WRITE_ACCESS) as session, link.begin(session) as tx:
            answer = work(Writes(link, tx, tenant))
            tx.commit()
            return answer

    # --- what has no stamp

    def name_rows(self, tenant: str, entity_ids: Sequence[str]) -> tuple[NameRow, ...]:
        """Return the open names of raw entities, in one call."""
        with self.reading(tenant) as reader:
            return reader.name_rows(entity_ids, tx_us=reader.last_us())

    def newest(self, tenant: str, after: int) -> tuple[int, tuple[tuple[int, str], ...]]:
        """Return the last stamp and the definitions above a number: what a view is pinned to."""
        with self.reading(tenant) as reader:
            return reader.clock().last_us, reader.definitions(after)

    def define(self, tenant: str, *, after: int, definition: str) -> bool:
        """Append a vocabulary definition when the list still has `after` entries."""

        def append(tx: Neo4jWriteTx) -> bool:
            tx.lock()
            if tx.counters.definitions != after:
                return False
            applying.define(tx.calls, tx.counters, [definition])
            tx.counters.store(tx.calls)
            return True

        return self.transact(tenant, append)

    def put_vectors(self, tenant: str, rows: Sequence[VectorRow]) -> None:
        """Add or replace vectors; takes no stamp."""

        def put(tx: Neo4jWriteTx) -> None:
            tx.lock()
            applying.put_vectors(tx.calls, tx.counters, rows)
            tx.counters.store(tx.calls)

        self.transact(tenant, put)

        if self._indexes is not None:
            for encoder_id in sorted({row.encoder_id for row in rows}):
                with self.reading(tenant) as reader:
                    reader.near(encoder_id)

    def _nearness(self, link: ServerLink, calls: Reads) -> Callable[[str, int], Vectors] | None:
        """What makes the server's vector index of an encoder; None without the option."""
        if self._indexes is None:
            return None
        from .vector_index import searching  # the numbers load only where they are wanted

        return searching(link, calls, self._indexes, self._feed)

    def _feed(self, tenant: str, work: Callable[[Writes], int]) -> int:
        return self._retry(tenant, lambda: self._run_alone(tenant, work))

    def put_manifest(
        self, tenant: str, *, envelope_id: str, manifest: str, objects: Sequence[str], pack: str
    ) -> None:
        """Store a manifest, the objects it compiled and its policy pack; idempotent."""
        row = {
            "envelope_id": envelope_id,
            "body": manifest,
            "pack": applying.digest_of(pack),
            "pack_body": pack,
            "object_ids": list(objects),
        }

        # A manifest that stands is not written again, so a lost answer does no harm either.
        records = self._retry(
            tenant, lambda: run_at_once(self.link(tenant), tenant, core.KEEP_MANIFEST, row=row)
        )
        if not records:
            raise no_such_tenant()
        journal = journal_of(records[0]["journal"])
        if journal is not None:
            raise import_in_progress(journal)

    def log_usage(self, tenant: str, object_ids: Sequence[str], *, at_us: int) -> None:
        """Record that objects were used; waits for no writer of facts."""
        uses_of: dict[str, int] = {}
        for object_id in sorted(object_ids):  # one order for all, so that none deadlock
            uses_of[object_id] = uses_of.get(object_id, 0) + 1

        # A retry after a lost answer has the same number, so that nothing is counted twice.
        call = secrets.randbits(63)
        rows: list[dict[str, object]] = []
        for object_id, uses in uses_of.items():
            rows.append({"object_id": object_id, "uses": uses, "last_us": at_us, "call": call})

        link = self.link(tenant)
        self._retry(tenant, lambda: run_at_once(link, tenant, register.LOG_USAGE, rows=rows))

    def check(self, tenant: str) -> tuple[str, ...]:
        """One sentence for each broken invariant; empty when all hold.

        Raises:
            Conflict: `in_progress`.
        """
        with self.reading(tenant):  # refuses a tenant whose import is not complete
            pass
        with self.link(tenant).reads(tenant) as calls:
            return tuple(checking.violations(calls))

    def close(self) -> None:
        """Release everything; nothing buffered is lost."""
        if self._imports is not None:
            self._imports.close()
        with self._guard:
            self._closed = True
            drivers, self._drivers, self._links = self._drivers, {}, {}
        for driver, _ in drivers.values():
            driver.close()


def _indexes() -> Indexes:
    from .vector_index import Indexes

    return Indexes()


def open_store(
    url: str,
    *,
    auth: tuple[str, str] | None = None,
    database: str = "neo4j",
    resolve: Resolve | None = None,
    limits: CallLimits | None = None,
    settings: DriverSettings | None = None,
    vector_index: bool = False,
    prepare: bool = True,
) -> Neo4jStore:
    """Open the store on a Neo4j server, and prove that it answers.

    `resolve` names the server and database of each tenant where they are not all on one; then,
    and without `prepare`, a server is asked only when a tenant needs it. `vector_index` lets
    the server's own vector index propose candidates.

    Raises:
        Unavailable: nothing answers, it is no Neo4j, its version is too old, or its schema is
            newer than this code or incomplete.
        Forbidden: the server refuses the credentials.
        InvalidInput: the address is malformed or the database does not exist.
    """
    store = Neo4jStore(
        Target(uri=url, database=database),
        auth=auth,
        resolve=resolve,
        limits=limits,
        settings=settings,
        vector_index=vector_index,
    )
    if resolve is None and prepare:
        with contextlib.ExitStack() as undo:
            undo.callback(store.close)
            store.link("")
            undo.pop_all()

    return store
