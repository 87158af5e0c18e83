"""A restore in groups: it can be cut off anywhere, and nobody reads what is not complete."""

import json
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tenure.schema.errors import Conflict, Fault, InvalidInput, NotFound, TenureError, Unavailable
from tenure.store.port.importing import ABORTING, GroupTx, ImportJournal
from tenure.store.port.store import Store, VectorRow
from tenure.store.transfer import restore as groups
from tenure.store.transfer.restore import RestoreProgress, restore
from tenure.store.transfer.transfer import ExportCheck, record_of
from tenure.tests.store.builders import TENANT, Say, StoreFactory, commit
from tenure.tests.store.contract.test_port_transfer import exported, lived_in, signed
from tenure.tests.support.refusals import refused


class CutOffError(Exception):
    """The process ends here."""


@pytest.fixture
def lines(store_factory: StoreFactory, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """An export whose groups are small enough to be many."""
    monkeypatch.setattr(groups, "GROUP_RECORDS", 7)
    store = store_factory()
    store.ensure(TENANT)
    lived_in(store)
    return exported(store, keys=True)


def cut_off(store: Store, lines: list[str], after: int) -> None:
    """Restore until so many groups stand, then die."""
    stands = iter(range(1, 1_000))

    def die(_: RestoreProgress) -> None:
        if next(stands) == after:
            raise CutOffError

    with pytest.raises(CutOffError):
        restore(lines, store, TENANT, watch=die)


def test_a_restore_that_is_cut_off_goes_on_and_doubles_nothing(
    store_factory: StoreFactory, lines: list[str]
) -> None:
    store = store_factory()
    cut_off(store, lines, after=3)
    told: list[RestoreProgress] = []
    restore(lines, store, TENANT, resume=True, watch=told.append)

    assert exported(store, keys=True) == lines
    assert store.check(TENANT) == ()
    records = len(lines) - 2
    assert told[0].records_written == 28
    assert told[-1] == RestoreProgress(records, records, records)


def test_until_the_last_group_stands_nobody_reads_or_writes(
    store_factory: StoreFactory, lines: list[str]
) -> None:
    store = store_factory()
    cut_off(store, lines, after=5)

    def read() -> None:
        with store.reading(TENANT):
            pass

    calls: list[Callable[[], object]] = [
        read,
        lambda: commit(store, [Say(object_id="z")], tx=500),
        lambda: store.check(TENANT),
        lambda: store.newest(TENANT, 0),
        lambda: store.define(TENANT, after=0, definition="{}"),
        lambda: store.put_vectors(TENANT, [VectorRow("a", "m", "0", b"")]),
        lambda: store.put_manifest(TENANT, envelope_id="e", manifest="", objects=[], pack=""),
        lambda: restore(lines, store, TENANT),
        lambda: restore([*lines[:1], *lines[1:]], store, TENANT),
    ]
    for call in calls:
        with refused(Conflict, "in_progress") as caught:
            call()
        assert caught.value.data["applied"] == 35

    restore(lines, store, TENANT, resume=True)
    assert exported(store, keys=True) == lines


def test_another_file_does_not_go_on_where_this_one_stopped(
    store_factory: StoreFactory, lines: list[str]
) -> None:
    other = store_factory()
    other.ensure(TENANT)
    commit(other, [Say(object_id="other")], tx=3)

    store = store_factory()
    cut_off(store, lines, after=2)
    with refused(Conflict, "in_progress"):
        restore(exported(other), store, TENANT, resume=True)


def test_a_complete_restore_is_resumed_without_effect(
    store_factory: StoreFactory, lines: list[str]
) -> None:
    store = store_factory()
    restore(lines, store, TENANT, resume=True)
    restore(lines, store, TENANT, resume=True)
    assert exported(store, keys=True) == lines


def test_an_aborted_restore_leaves_an_empty_tenant_with_its_keys(
    store_factory: StoreFactory, lines: list[str]
) -> None:
    store = store_factory()
    cut_off(store, lines, after=6)
    store.abort_import(TENANT)

    assert len(exported(store)) == 2
    assert store.check(TENANT) == ()
    with store.reading(TENANT) as reader:
        assert reader.clock()[:3] == (0, reader.clock().last_us, 1)
    restore(lines, store, TENANT)
    assert exported(store, keys=True) == lines


def with_bad_last_record(lines: list[str]) -> list[str]:
    """An export whose seal holds and whose last record is none."""
    return signed([*lines[:-2], '{"kind":"session_event","record":{}}', lines[-1]])


def with_wrong_counts(lines: list[str]) -> list[str]:
    """An export whose seal holds and whose footer counts as many records as a group has."""
    digest = json.loads(lines[-1])["end"]["sha256"]
    return [*lines[:-1], json.dumps({"end": {"counts": {"event": 7}, "sha256": digest}})]


def with_wrong_counters(lines: list[str]) -> list[str]:
    """An export whose seal holds and whose header has a stamp that no event has."""
    header = json.loads(lines[0])
    return signed([json.dumps({**header, "seq": header["seq"] + 1}), *lines[1:]])


@pytest.mark.parametrize("is_last_group_full", [False, True])
@pytest.mark.parametrize("spoil", [with_bad_last_record, with_wrong_counts, with_wrong_counters])
def test_what_is_bad_behind_groups_that_stand_is_met_before_the_last_and_leaves_nothing(
    store_factory: StoreFactory,
    lines: list[str],
    monkeypatch: pytest.MonkeyPatch,
    spoil: Callable[[list[str]], list[str]],
    is_last_group_full: bool,
) -> None:
    records = len(lines) - 2
    assert records % 7
    if is_last_group_full:
        monkeypatch.setattr(groups, "GROUP_RECORDS", next(n for n in (2, 3, 5) if not records % n))

    store = store_factory()
    store.ensure(TENANT)
    before = exported(store)
    with refused(InvalidInput, "bad_export"):
        restore(spoil(lines), store, TENANT)
    assert exported(store) == before

    restore(lines, store, TENANT)
    assert exported(store, keys=True) == lines


def test_an_export_of_an_empty_tenant_is_checked_too(store_factory: StoreFactory) -> None:
    first, second = store_factory(), store_factory()
    first.ensure(TENANT)
    second.ensure(TENANT)
    empty, before = exported(first, keys=True), exported(second, keys=True)
    for spoil in (with_wrong_counts, with_wrong_counters):
        with pytest.raises(InvalidInput):
            restore(spoil(empty), second, TENANT)
        assert exported(second, keys=True) == before

    restore(empty, second, TENANT)
    assert exported(second, keys=True) == empty


def test_a_restore_that_goes_on_checks_from_the_first_line(
    store_factory: StoreFactory, lines: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    store = store_factory()
    cut_off(store, lines, after=3)
    monkeypatch.setattr(groups, "_CHECKED_EACH", 5)
    reports: list[RestoreProgress] = []
    restore(lines, store, TENANT, resume=True, watch=reports.append)
    assert reports[0] == RestoreProgress(5, 0, 0)
    assert exported(store, keys=True) == lines


def test_what_is_said_of_an_import_stores_nothing(store_factory: StoreFactory) -> None:
    store = store_factory()
    store.expect_import(TENANT)
    with pytest.raises(NotFound), store.reading(TENANT):
        pass


def test_an_import_is_announced_before_its_lines_are_read(
    store_factory: StoreFactory, lines: list[str]
) -> None:
    order: list[str] = []
    store = BrokenStore(store_factory(), CutOffError(), behind=99)
    store.expect_import = order.append  # type: ignore[method-assign, assignment]

    def read() -> Iterator[str]:
        order.append("read")
        yield from lines

    restore(read(), store, TENANT)  # type: ignore[arg-type]
    assert order == [TENANT, "read"]


def test_what_is_not_being_restored_is_not_taken_back(store: Store) -> None:
    commit(store, [Say(object_id="a")], tx=1)
    before = exported(store)
    with refused(Conflict, "no_import"):
        store.abort_import(TENANT)
    assert exported(store) == before


def test_an_abort_that_was_cut_off_can_only_be_ended(
    store_factory: StoreFactory, lines: list[str]
) -> None:
    store = store_factory()
    cut_off(store, lines, after=6)

    def begin(_: GroupTx, journal: ImportJournal | None) -> ImportJournal:
        assert journal is not None
        return ImportJournal(journal.digest, ABORTING, journal.total)

    store.import_step(TENANT, begin)
    with pytest.raises(Conflict, match="being removed"):
        restore(lines, store, TENANT, resume=True)
    store.abort_import(TENANT)
    assert len(exported(store)) == 2


def test_two_processes_that_resume_at_once_write_each_record_once(
    store_factory: StoreFactory, lines: list[str]
) -> None:
    store = store_factory()
    cut_off(store, lines, after=2)

    def other_goes_on(progress: RestoreProgress) -> None:
        if progress.records_written == 28:
            restore(lines, store, TENANT, resume=True)

    restore(lines, store, TENANT, resume=True, watch=other_goes_on)
    assert exported(store, keys=True) == lines
    assert store.check(TENANT) == ()


def test_a_restore_that_another_process_took_back_says_so(
    store_factory: StoreFactory, lines: list[str]
) -> None:
    store = store_factory()

    def other_aborts(progress: RestoreProgress) -> None:
        if progress.records_written == 14:
            store.abort_import(TENANT)

    with refused(Conflict, "no_import"):
        restore(lines, store, TENANT, watch=other_aborts)
    assert len(exported(store)) == 2


class BrokenStore:
    """A store whose imports meet an error behind some steps; all else is the store's."""

    def __init__(self, store: Store, error: Exception, behind: int) -> None:
        self._store = store
        self._error = error
        self._left = behind
        self.ensure = store.ensure
        self.writes_elsewhere = store.writes_elsewhere
        self.expect_import = store.expect_import
        self.abort_import = store.abort_import

    def import_step(self, tenant: str, step: object) -> ImportJournal | None:
        self._left -= 1
        if self._left < 0:
            raise self._error
        return self._store.import_step(tenant, step)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("error", "stays", "told"),
    [
        (Fault("it does not fit", code="invariant_broken"), False, "bad_export"),
        (Unavailable("no memory is left", code="store_unreachable"), True, "store_unreachable"),
    ],
)
def test_only_what_a_retry_may_mend_keeps_what_stands(
    store_factory: StoreFactory, lines: list[str], error: Exception, stays: bool, told: str
) -> None:
    store = store_factory()
    broken = BrokenStore(store, error, behind=4)
    with refused(TenureError, told):
        restore(lines, broken, TENANT)  # type: ignore[arg-type]
    if stays:
        restore(lines, store, TENANT, resume=True)
    else:
        restore(lines, store, TENANT)
    assert exported(store, keys=True) == lines


class ForgetfulStore(BrokenStore):
    """A store that runs each step twice, as a server does whose answer was lost."""

    def import_step(self, tenant: str, step: object) -> ImportJournal | None:
        self._store.import_step(tenant, step)  # type: ignore[arg-type]
        return self._store.import_step(tenant, step)  # type: ignore[arg-type]


def test_a_group_whose_answer_was_lost_is_not_written_again(
    store_factory: StoreFactory, lines: list[str]
) -> None:
    store = store_factory()
    cut_off(store, lines, after=1)
    twice = ForgetfulStore(store, CutOffError(), behind=0)
    restore(lines, twice, TENANT, resume=True)  # type: ignore[arg-type]
    assert exported(store, keys=True) == lines


class FailingStore(BrokenStore):
    """A store whose steps fail once after their work, and are tried again, as a server's are."""

    def import_step(self, tenant: str, step: object) -> ImportJournal | None:
        def work(tx: GroupTx, journal: ImportJournal | None) -> ImportJournal | None:
            step(tx, journal)  # type: ignore[operator]
            raise CutOffError

        with pytest.raises(CutOffError):
            self._store.import_step(tenant, work)
        return self._store.import_step(tenant, step)  # type: ignore[arg-type]


def tell_records(
    monkeypatch: pytest.MonkeyPatch, store: Store, another: Callable[[], None]
) -> None:
    """Call a function for each record that is read for its group."""
    take = ExportCheck.take

    def taken(check: ExportCheck, line: str) -> Any:
        record = take(check, line)
        if record is not None:
            another()
        return record

    def read(line: str, header: Any) -> Any:
        another()
        return record_of(line, header)

    # A store that writes elsewhere gets the records of the check itself.
    if store.writes_elsewhere:
        monkeypatch.setattr(ExportCheck, "take", taken)
    else:
        monkeypatch.setattr(groups, "record_of", read)


def test_a_group_that_failed_is_tried_with_the_same_records(
    store_factory: StoreFactory, lines: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    count = 0

    def another() -> None:
        nonlocal count
        count += 1

    store = store_factory()
    tell_records(monkeypatch, store, another)
    restore(lines, FailingStore(store, CutOffError(), behind=0), TENANT)  # type: ignore[arg-type]
    assert exported(store, keys=True) == lines
    assert count == len(lines) - 2


def test_one_group_is_read_while_the_one_before_it_is_written(
    store_factory: StoreFactory, lines: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    count, is_ahead = 0, threading.Condition()

    def another() -> None:
        nonlocal count
        with is_ahead:
            count += 1
            is_ahead.notify()

    store = store_factory()
    tell_records(monkeypatch, store, another)
    records = len(lines) - 2
    numbers = iter(range(1_000))

    class WaitingStore(BrokenStore):
        """A store that writes a group when the next one is read."""

        def import_step(self, tenant: str, step: object) -> ImportJournal | None:
            # the first step writes no group, it begins the journal
            read = min(7 * (next(numbers) + 1), records)
            if read > 7:
                with is_ahead:
                    assert is_ahead.wait_for(lambda: count >= read, timeout=30)
            journal = self._store.import_step(tenant, step)  # type: ignore[arg-type]
            assert count <= read
            return journal

    restore(lines, WaitingStore(store, CutOffError(), behind=0), TENANT)  # type: ignore[arg-type]
    assert exported(store, keys=True) == lines
