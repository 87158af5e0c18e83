"""What a store offers to an import that comes in groups, each a transaction of its own.

Between its first group and its last a tenant holds a part of its history, which no reader may
take for the whole. So the store keeps a journal of how far the import has come, and while there
is one it refuses every other reader and writer of the tenant, with `in_progress`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol

from ...schema.errors import Conflict

if TYPE_CHECKING:
    from .records import Batch, Clock

ABORTING: Final = -1
"""What a journal says was applied, once an abort has begun to take it away."""


@dataclass(frozen=True, slots=True)
class ImportJournal:
    """How far the import of an export has come."""

    digest: str
    """The SHA-256 of the export's lines, in hex: only the same file may go on."""
    applied: int
    """How many of its records are in the store; `ABORTING` while they are being removed."""
    total: int
    """How many records the export has."""

    @property
    def is_aborting(self) -> bool:
        """Whether its records are being removed."""
        return self.applied == ABORTING

    @property
    def state(self) -> str:
        """A clause that says how far it is.

        >>> ImportJournal("ab", 2_000, 60_000).state
        '2,000 of 60,000 records stand'
        """
        if self.is_aborting:
            return "its records are being removed"
        return f"{self.applied:,} of {self.total:,} records stand"


class GroupTx(Protocol):
    """The part of a write transaction that a group of an import needs."""

    def lock(self) -> Clock:
        """The counters under the tenant's write lock."""
        ...

    def apply(self, batch: Batch) -> None:
        """Write a batch."""
        ...


ImportStep = Callable[[GroupTx, ImportJournal | None], ImportJournal | None]
"""One transaction of an import: from the journal before it to the one after it, None for done."""


class Importing(Protocol):
    """Imports in groups; a part of `Store`."""

    @property
    def writes_elsewhere(self) -> bool:
        """Whether it writes in another process, while which lines can be checked."""
        ...

    def expect_import(self, tenant: str) -> None:
        """Hear that an import into a tenant will come, and prepare while its lines are read.

        Nothing is stored and no tenant is made. What fails is met again by the import itself.
        """
        ...

    def import_step(self, tenant: str, step: ImportStep) -> ImportJournal | None:
        """Run a step of an import under the tenant's write lock, and keep the journal it returns.

        A server may ask for another try: the step may run several times, so it must leave
        nothing outside its transaction. One that moves the journal, and has another one behind
        it, may still be on its way when this returns: any later call of the store meets it, and
        the next step runs it again where its commit has failed.
        """
        ...

    def abort_import(self, tenant: str) -> None:
        """Remove all that an import in progress has written; the tenant and its keys stay.

        An interrupted removal goes on when it is asked for again.
        """
        ...


def import_in_progress(journal: ImportJournal) -> Conflict:
    """What a caller is told who meets a tenant in the middle of its import."""
    return Conflict(
        f"an import into this tenant is not complete: {journal.state}; go on with "
        "`tenure import FILE --resume`, or take it back with `tenure import --abort`",
        code="in_progress",
        applied=journal.applied,
        total=journal.total,
    )


def no_import() -> Conflict:
    """What a caller is told who would abort an import that is not there."""
    return Conflict(
        "no import into this tenant is in progress; there is nothing to take back",
        code="no_import",
    )
