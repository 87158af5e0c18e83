"""The journal of an import in groups, as the clock of a tenant keeps it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from typing import Any, Final

from ...schema.interval import MIN_US
from ..port.importing import ABORTING, GroupTx, ImportJournal, no_import
from .calls import Writes
from .cypher import importing as cypher

BATCH_NODES: Final = 2_000
"""Nodes that one transaction removes."""


def journal_of(record: Mapping[str, Any]) -> ImportJournal | None:
    """The journal that a clock's record holds; None where no import is in progress."""
    if record["import_digest"] is None:
        return None
    return ImportJournal(record["import_digest"], record["import_applied"], record["import_total"])


def keep_journal(calls: Writes, journal: ImportJournal | None) -> None:
    """Keep a journal inside the open transaction; None ends the import."""
    properties: dict[str, Any] = dict.fromkeys(("digest", "applied", "total"))
    if journal is not None:
        properties = asdict(journal)
    calls.rows(cypher.KEEP_JOURNAL, journal=properties)


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
    (count,) = calls.column(cypher.REMOVE_SOME, most=BATCH_NODES)
    return int(count)


def _start_over(calls: Writes) -> int:
    calls.rows(cypher.START_OVER, min=MIN_US)
    return 0
