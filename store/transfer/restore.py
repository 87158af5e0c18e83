"""Restoring an export into an empty tenant, in groups that are transactions of their own.

An embedded store gets its first group when all lines are checked. A server works during the check
and would only wait for it: there the footer's seal is compared first, and a group is checked when
it is read, while the one before it is written. Either way nobody reads of an export before its last
line was checked, and no record of a bad one stays.

Any number of records fits a server of any size: a group holds some thousand of them. The store
keeps a journal of how far the restore has come and refuses every other caller until its last
group stands, so that nothing half-written is ever read. Whoever is interrupted goes on with
`resume`: the journal moves in the transaction of its group, so that no record is lost or written
twice, also when two processes resume at once.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby, islice
from operator import itemgetter
from typing import IO, Any, Final

from ...schema.errors import Conflict, Fault, InvalidInput
from ...schema.interval import INF_US
from ...schema.values import check_not_future
from ..port.importing import GroupTx, ImportJournal, import_in_progress
from ..port.store import Batch, RecordKind, Store
from .transfer import (
    ExportCheck,
    SealedExport,
    bad_line,
    batch_of,
    check_lines,
    record_of,
    sealed_export,
)

GROUP_RECORDS: Final = 2_000
"""Records of one transaction: what 2 GB of a server's heap hold several times over."""

GROUP_CHARACTERS: Final = 1 << 23
"""Characters of their lines after which a group ends early."""

BATCH_RECORDS: Final = 1_000
"""Records of one kind that are applied at once."""

_IN_MEMORY: Final = 1 << 23
"""Bytes of an export that are kept in memory rather than in a temporary file."""

_CHECKED_EACH: Final = 10_000
"""Lines between two reports of the check."""

_Records = Sequence[tuple[RecordKind, Any]]
"""Records in their order, those of one transaction at most."""


@dataclass(frozen=True, slots=True)
class RestoreProgress:
    """How far a restore has come."""

    lines_checked: int
    """Lines whose form was checked before the first group that this restore writes."""
    records_written: int
    """Records that are in the store, or whose commit is on its way."""
    total: int
    """Records in all; 0 while they are being checked."""


Watch = Callable[[RestoreProgress], None]
"""Told some thousand lines apart while they are checked, then after each transaction."""


def restore(
    lines: Iterable[str],
    store: Store,
    tenant: str,
    *,
    resume: bool = False,
    latest_us: int = INF_US,
    watch: Watch | None = None,
) -> None:
    """Write an export into an empty tenant, which is made when it is not there.

    The tenant takes over the keys of a privileged export and keeps its own otherwise. `resume`
    goes on with a restore of the same lines that was interrupted; one that is complete stays
    as it is.

    Raises:
        Conflict: `tenant_not_empty`; `in_progress` without `resume`, or for other lines.
        InvalidInput: `bad_export`, with the number of the first bad line; no record stays;
            `tx_in_future` where its last stamp is later than `latest_us`.
        Unavailable: the store gave up; what stands stays, for `resume`.
    """
    tell = watch or _no_watch
    store.expect_import(tenant)
    with tempfile.SpooledTemporaryFile(
        _IN_MEMORY, "w+", encoding="utf-8", errors="surrogatepass", newline="\n"
    ) as file:
        source = _source(lines, store, file, tell)
        check_not_future(source.export.header.last_us, latest_us, "the export ends")
        store.ensure(tenant)
        journal = store.import_step(tenant, partial(_begin, source.export, resume))
        if journal is None:
            return

        try:
            _apply_groups(store, tenant, source, journal)
        except (InvalidInput, Fault):
            # Another try would meet the same: an export that does not fit leaves nothing.
            store.abort_import(tenant)
            raise


def _no_watch(_: RestoreProgress) -> None:
    pass


def _tell_check(tell: Watch, number: int) -> None:
    if number % _CHECKED_EACH == 0:
        tell(RestoreProgress(number, 0, 0))


def _begin(
    export: SealedExport, resume: bool, tx: GroupTx, journal: ImportJournal | None
) -> ImportJournal | None:
    """The step before the first group: the journal of this restore, None when nothing is left."""
    header, clock = export.header, tx.lock()
    if journal is not None:
        if not resume or journal.is_aborting or journal.digest != export.digest:
            raise import_in_progress(journal)
        return journal

    # Its counters say whether a tenant was ever written to, without a look at its tables.
    if clock.seq or clock.next_vid > 1:
        if resume and clock[:3] == header.clock(header.seq, header.last_us)[:3]:
            return None
        raise Conflict(
            "the tenant has writes of its own; import into a new store or tenant",
            code="tenant_not_empty",
        )

    # First of all, because sessions are sealed with the keys.
    tx.apply(Batch(clock=header.clock(clock.seq, clock.last_us), keys=header.keys))
    return ImportJournal(export.digest, 0, export.records) if export.records else None


@dataclass(frozen=True, slots=True)
class _Source:
    """An export, and where its lines are kept."""

    export: SealedExport
    file: IO[str]
    """All of its lines."""
    is_checked: bool
    """Whether they were checked; otherwise each is when it is read."""
    tell: Watch

    def groups(self, start: int) -> Iterator[_Records]:
        """The records behind the first `start`, in groups for one transaction each.

        Raises:
            InvalidInput: `bad_export`, before the last group.
        """
        group: list[tuple[RecordKind, Any]] = []
        characters, left = 0, self.export.records - start
        self.file.seek(0)
        records = self._read_records(start) if self.is_checked else self._check_records(start)
        for size, kind, record in records:
            group.append((kind, record))
            characters += size
            left -= 1
            # The last group waits for what the check says of the end.
            if left and (len(group) == GROUP_RECORDS or characters >= GROUP_CHARACTERS):
                yield group
                group, characters = [], 0

        if group:
            yield group

    def _read_records(self, start: int) -> Iterator[tuple[int, RecordKind, Any]]:
        for line in islice(self.file, 1 + start, 1 + self.export.records):
            yield len(line), *record_of(line, self.export.header)

    def _check_records(self, start: int) -> Iterator[tuple[int, RecordKind, Any]]:
        check = ExportCheck()
        for line in self.file:
            pair = check.take(line.rstrip("\n"))
            if check.number <= 1 + start:
                _tell_check(self.tell, check.number)
            elif pair is not None:
                yield len(line), *pair
        check.end()


def _source(lines: Iterable[str], store: Store, file: IO[str], tell: Watch) -> _Source:
    """An export in a file, checked unless the store writes during the check."""
    watch = partial(_tell_check, tell)
    if not store.writes_elsewhere:
        export = check_lines(lines, file.write, watch)
        return _Source(export, file, is_checked=True, tell=tell)

    seal = sealed_export(lines, file.write)
    if seal is not None and seal.records:
        return _Source(seal, file, is_checked=False, tell=tell)

    # Some line is bad, and the check says which; or there is no group that could wait for it.
    file.seek(0)
    export = check_lines(file, lambda _: None, watch)
    return _Source(export, file, is_checked=True, tell=tell)


def _apply_groups(store: Store, tenant: str, source: _Source, journal: ImportJournal) -> None:
    export, position = source.export, journal.applied
    groups = source.groups(position)

    # A server writes while Python would wait: a group is read while the one before it is
    # written, and never more than one, because records take many times the memory of lines.
    with ThreadPoolExecutor(max_workers=1) as executor:
        future = executor.submit(next, groups, None)
        while (group := future.result()) is not None:
            future = executor.submit(next, groups, None)
            _write(store, tenant, export, group, position)

            position += len(group)
            source.tell(RestoreProgress(export.records, position, export.records))


def _write(store: Store, tenant: str, export: SealedExport, group: _Records, start: int) -> None:
    """Write a group; where the store refuses it, halves of it lead to the record at fault.

    Raises:
        InvalidInput: `bad_export`, with the number of its line.
    """
    try:
        store.import_step(tenant, partial(_apply_group, export, group, start))
    except Fault as error:
        if error.code != "invariant_broken":
            raise
        if len(group) == 1:
            raise bad_line(start + 2, "it does not fit the records before it") from error
        middle = len(group) // 2
        _write(store, tenant, export, group[:middle], start)
        _write(store, tenant, export, group[middle:], start + middle)


def _apply_group(
    export: SealedExport,
    group: _Records,
    start: int,
    tx: GroupTx,
    journal: ImportJournal | None,
) -> ImportJournal | None:
    """The step that writes one group and moves the journal behind it."""
    header, end = export.header, start + len(group)
    clock = tx.lock()
    if journal is None:
        # The commit of the last group whose answer was lost, or another process was faster.
        if clock[:3] == header.clock(header.seq, header.last_us)[:3]:
            return None
        raise Conflict(
            "the restore was taken back by another process; begin it again",
            code="no_import",
        )
    # This very group was committed and its answer was lost on the way.
    if journal.digest == export.digest and journal.applied >= end:
        return journal
    if journal.digest != export.digest or journal.applied != start:
        raise import_in_progress(journal)

    seq, last_us = clock.seq, clock.last_us
    for kind, pairs in groupby(group, key=itemgetter(0)):
        records = (record for _, record in pairs)
        while batch := list(islice(records, BATCH_RECORDS)):
            if kind is RecordKind.EVENT:
                seq, last_us = batch[-1].seq, batch[-1].tx
            tx.apply(batch_of(kind, batch, header.clock(seq, last_us)))

    return None if end == export.records else replace(journal, applied=end)
