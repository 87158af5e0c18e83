"""Steps of an import, each written while the one before it is being committed, and taking it back.

A server takes as long to commit a group as to write it, and does both at once. So a group's
transaction begins on counters that are foretold: those that the group before it has left. Only
when it is written does it take the tenant's lock, which waits for that commit, and goes on where
the clock and the journal are what was foretold. Where they are not, nothing of it stays: the group
before it is written again if its commit failed, and it itself follows behind the lock, as any
other transaction. What looks for nodes that are still being committed waits for them.

Beside the first steps a server plans the statements of most of an import: one that has just
started takes seconds over them.

A step that has returned may therefore still be on its way; the journal says what stands. The last
one stands when it returns, and so does one that moves no journal.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as FutureTimeoutError
from dataclasses import dataclass, fields, replace
from threading import Lock
from typing import Final, NamedTuple

import neo4j
from neo4j import exceptions as driver_errors

from ...schema.claim import is_turn
from ...schema.errors import TenureError
from ...schema.interval import INF_US, MIN_US
from ..port.importing import ABORTING, GroupTx, ImportJournal, ImportStep, no_import
from ..port.store import Batch
from .applying import ClockCounters, keep_journal
from .calls import ServerLink, Writes, run_at_once
from .connect import our_errors
from .cypher import core
from .writer import Neo4jWriteTx

BATCH_NODES: Final = 2_000
"""Nodes that one transaction removes."""


def begin_abort(_: GroupTx, journal: ImportJournal | None) -> ImportJournal:
    """The step after which nobody may go on with an import.

    Raises:
        Conflict: `no_import`.
    """
    if journal is None:
        raise no_import()
    return replace(journal, applied=ABORTING)


def remove_all(run: Callable[[Callable[[Writes], int]], int]) -> None:
    """Remove a tenant but for its clock and keys, some nodes a transaction, then reset the clock.

    `run` runs a piece of work in a transaction of its own.
    """
    # A transaction holds all it deletes in memory; what is interrupted goes on where it stopped.
    while run(_remove_some) == BATCH_NODES:
        pass
    run(_start_over)


def _remove_some(calls: Writes) -> int:
    (count,) = calls.column(core.REMOVE_SOME, most=BATCH_NODES)
    return int(count)


def _start_over(calls: Writes) -> int:
    calls.rows(core.START_OVER, min=MIN_US)
    return 0


PATIENCE_S: Final = 30.0
"""How long a transaction waits for the commit before it; then it makes way for that one."""

LOOKED_FOR: Final[Mapping[str, frozenset[str]]] = {
    "events": frozenset(),
    "entities": frozenset(),
    "aliases": frozenset({"entities"}),
    "identifiers": frozenset({"entities"}),
    "block_keys": frozenset(),
    "slots": frozenset(),
    "claims": frozenset({"slots"}),
    "turns": frozenset({"turns"}),
    "mentions": frozenset({"entities", "claims"}),
    "rows": frozenset({"entities", "slots", "claims"}),
    "edges": frozenset({"claims"}),
    "receipts": frozenset(),
}
"""Which fields of earlier batches each field of a batch looks for; all others may look for any.
Among claims the turns of talk count as a field of their own."""


Attempt = Callable[[], ImportJournal | None]
Commit = Callable[[ServerLink, neo4j.Transaction, Neo4jWriteTx, str], None]
"""Ends a transaction of a tenant."""
Retry = Callable[[str, Attempt], ImportJournal | None]
"""Runs a unit of work of a tenant until it succeeds, or may not be tried again."""


class OvertakenError(Exception):
    """The clock is not what a transaction foretold, or the commit before it takes too long."""


class StepPlace(NamedTuple):
    """A step of a tenant's import, and where it is written."""

    link: ServerLink
    tenant: str
    step: ImportStep


@dataclass(frozen=True, slots=True)
class GroupCommit:
    """A step whose commit is on its way."""

    group: StepPlace
    counters: ClockCounters
    """As its transaction leaves them."""
    written: frozenset[str]
    """The fields of its batches."""
    future: Future[None]

    def wait(self) -> None:
        """Wait until it stands.

        Raises:
            OvertakenError: it takes too long; what it waits for may be who waits here.
        """
        try:
            self.future.result(PATIENCE_S)
        except FutureTimeoutError as error:
            raise OvertakenError from error


class GroupWriteTx(Neo4jWriteTx):
    """The transaction of a step; with a commit before it, it begins without the lock."""

    def __init__(self, calls: Writes, before: GroupCommit | None = None) -> None:
        super().__init__(calls)
        self.written: set[str] = set()
        self._before = before
        if before is not None:
            self._counters = replace(before.counters, last_write={}, is_locked=False)

    def apply(self, batch: Batch) -> None:
        """Write a batch, behind the commit of what it looks for."""
        names = set(_fields_of(batch))
        self.written |= names
        if self._before is not None and not all(
            name in LOOKED_FOR and not LOOKED_FOR[name] & self._before.written for name in names
        ):
            self._before.wait()
        super().apply(batch)

    def take_lock(self) -> None:
        """Take the tenant's lock where that was put off, and move the clock.

        Raises:
            OvertakenError: the clock is not the one that was foretold.
        """
        if self._before is None:
            return

        counters, foretold = self.counters, self._before.counters
        self._counters = None
        self.lock(importing=True)
        clock = self.counters
        self._counters = counters
        if (clock.props, clock.journal) != (foretold.props, foretold.journal):
            raise OvertakenError

        counters.is_locked = True
        counters.store(self.calls)


class ImportSteps:
    """The steps of the imports of a store, whatever their tenants."""

    def __init__(self, commit: Commit, retry: Retry) -> None:
        self._commit = commit
        self._retry = retry
        # One commits, and no commit waits for the plans that the other asks for.
        self._executor = ThreadPoolExecutor(2, thread_name_prefix="tenure-import")
        self._commits: dict[str, GroupCommit] = {}
        self._guard = Lock()

    def run(self, link: ServerLink, tenant: str, step: ImportStep) -> ImportJournal | None:
        """Run a step, and keep the journal it returns."""
        with self._guard:
            before = self._commits.pop(tenant, None)

        group = StepPlace(link, tenant, step)
        if before is not None:
            try:
                with our_errors(link.target):
                    return self._attempt(group, before=before)
            except (OvertakenError, TenureError):
                # Whatever it met, it met it on what was only foretold.
                self._settle(before)

        return self._retry(tenant, lambda: self._attempt(group))

    def plan(self, open_link: Callable[[], ServerLink], tenant: str) -> None:
        """Have the largest statements of an import planned, beside what the caller does next."""
        # Nobody waits for it: what fails there fails again where it is told.
        self._executor.submit(_plan, open_link, tenant)

    def wait(self, tenant: str) -> None:
        """Wait until what the tenant's import has written stands, or is known to have failed."""
        commit = self._commits.get(tenant)
        if commit is None or commit.future.exception() is not None:
            return

        # What stands need not be kept; what failed is for the next step to run again.
        with self._guard:
            if self._commits.get(tenant) is commit:
                del self._commits[tenant]

    def close(self) -> None:
        """End what is on its way."""
        self._executor.shutdown()

    def _settle(self, commit: GroupCommit) -> None:
        """See to it that a step stands: where its commit failed, it is run again."""
        error = commit.future.exception()
        if error is None:
            return
        if not isinstance(error, (driver_errors.DriverError, driver_errors.Neo4jError)):
            raise error

        group = commit.group
        self._retry(group.tenant, lambda: self._attempt(group, at_once=True))

    def _attempt(
        self, group: StepPlace, *, before: GroupCommit | None = None, at_once: bool = False
    ) -> ImportJournal | None:
        """Write a step in a transaction of its own, and commit it or have it committed."""
        link, tenant, step = group
        with contextlib.ExitStack() as undo:
            session = undo.enter_context(link.session(neo4j.WRITE_ACCESS))
            driver_tx = link.begin(session)
            undo.callback(driver_tx.close)  # which rolls back what was not committed
            tx = GroupWriteTx(Writes(link, driver_tx, tenant), before)
            tx.lock(importing=True)

            last = tx.counters.journal
            journal = step(tx, last)
            tx.take_lock()
            keep_journal(tx.calls, journal)
            tx.counters.journal = journal

            if at_once or not _has_moved(last, journal):
                self._commit(link, driver_tx, tx, tenant)
                return journal

            ends = undo.pop_all()

        # Whether it stands where its answer is lost is not asked here: the next step holds the lock
        # by then, and its journal says so.
        def commit() -> None:
            with ends:
                driver_tx.commit()

        future = self._executor.submit(commit)
        with self._guard:
            self._commits[tenant] = GroupCommit(group, tx.counters, frozenset(tx.written), future)
        return journal


def _plan(open_link: Callable[[], ServerLink], tenant: str) -> None:
    link = open_link()
    # Numbers alone: what is inside the map of the other values does not count for a plan.
    for name in ("rows", "claims"):
        run_at_once(link, tenant, "EXPLAIN " + core.PUT_PART[name], inf=INF_US, tx=MIN_US)


def _fields_of(batch: Batch) -> Iterator[str]:
    """The fields of a batch in which something stands."""
    for field in fields(batch):
        if field.name != "clock" and getattr(batch, field.name):
            yield field.name
    # A turn takes the number behind the last one of its scope.
    if any(is_turn(assertion.details) for assertion in batch.claims):
        yield "turns"


def _has_moved(last: ImportJournal | None, journal: ImportJournal | None) -> bool:
    """Whether a step has written a group and another one will follow."""
    if last is None or journal is None:
        return False
    return not journal.is_aborting and journal.applied > last.applied
