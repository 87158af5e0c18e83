"""The session log: append-only, sealed, compared before it is set, and empty where it must be."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from tenure.schema.errors import Conflict, Fault
from tenure.store.commit.sessions import append_events
from tenure.store.port.records import (
    LOG_START,
    SessionHead,
    SessionPlace,
    SessionRecord,
    SessionSnapshot,
    SessionText,
    seal,
)
from tenure.store.port.store import Batch, Store, WriteTx
from tenure.store.transfer.restore import restore
from tenure.store.transfer.transfer import export_lines
from tenure.tests.store.builders import TENANT, Say, commit
from tenure.tests.support.refusals import refused

StoreFactory = Callable[[], Store]
ANN = "session=s1,user=ann"


def said(seq: int, *texts: str, session: str = ANN) -> SessionRecord:
    return SessionRecord(
        session=session,
        seq=seq,
        kind="turn_started",
        actor="ann",
        last_us=0,
        recorded_us=1_000 + seq,
        body='{"parts":[]}',
        texts=tuple(map(SessionText, texts)),
    )


def append(
    store: Store, expected: int, *records: SessionRecord, snapshot: str | None = None
) -> int:
    session = records[0].session
    return store.transact(
        TENANT, lambda tx: append_events(tx, session, expected, records, snapshot)
    )


def newest_snapshot(store: Store, session: str = ANN) -> SessionSnapshot | None:
    with store.reading(TENANT) as reader:
        return reader.session_snapshot(session)


def events(store: Store, session: str = ANN, after: int = 0) -> tuple[SessionRecord, ...]:
    with store.reading(TENANT) as reader:
        return reader.session_events(session, after=after)


def empty(store: Store, seq: int) -> None:
    def work(tx: WriteTx) -> None:
        tx.lock()
        tx.empty_session_texts([SessionPlace(ANN, seq, part) for part in (0, 1)])

    store.transact(TENANT, work)


def texts_of(records: tuple[SessionRecord, ...]) -> list[list[str | None]]:
    return [[text.text for text in record.texts] for record in records]


def test_what_is_appended_is_read_in_order_with_its_texts(store: Store) -> None:
    append(store, 0, said(1, "first", ""), said(2))
    append(store, 2, said(3, "東京 \u2028"))

    assert texts_of(events(store)) == [["first", ""], [], ["東京 \u2028"]]
    assert [record.seq for record in events(store, after=2)] == [3]
    with store.reading(TENANT) as reader:
        assert reader.sessions() == ((ANN, 3, 1_003),)
        assert reader.session_events(ANN, after=0, until=1) == events(store)[:1]


def test_of_two_that_append_behind_one_head_the_second_is_told(store: Store) -> None:
    append(store, 0, said(1, "mine"))
    with refused(Conflict, "stale_version") as refusal:
        append(store, 0, said(1, "yours"))
    assert refusal.value.data["seq"] == 1
    assert texts_of(events(store)) == [["mine"]]


def test_a_batch_that_leaves_a_gap_leaves_no_trace(store: Store) -> None:
    def leap(tx: WriteTx) -> None:
        tx.apply(Batch(clock=tx.lock(), session_events=(said(1), said(3))))

    with pytest.raises(Fault):
        store.transact(TENANT, leap)
    assert events(store) == ()


def test_sessions_share_nothing_but_the_tenant(store: Store) -> None:
    append(store, 0, said(1, "ann's"))
    append(store, 0, said(1, "bob's", session="session=s1,user=bob"))
    assert texts_of(events(store)) == [["ann's"]]
    assert texts_of(events(store, "session=s1,user=bob")) == [["bob's"]]


def test_an_event_carries_the_last_stamp_and_takes_none(store: Store) -> None:
    commit(store, [Say(object_id="a")], tx=70)
    assert append(store, 0, said(1)) == 70
    assert events(store)[0].last_us == 70
    with store.reading(TENANT) as reader:
        assert reader.clock().seq == 1


def test_the_chain_covers_every_field_and_text(store: Store) -> None:
    append(store, 0, said(1, "a"), said(2, "b"))
    first, second = events(store)
    assert first.digest != second.digest
    assert store.check(TENANT) == ()


CHANGES: dict[str, Any] = {
    "session": "session=s2,user=ann",
    "seq": 2,
    "kind": "turn_ended",
    "actor": "bob",
    "last_us": 1,
    "recorded_us": 1,
    "body": "{}",
    "texts": (SessionText("b"),),
}


@pytest.mark.parametrize("field", CHANGES)
def test_a_change_of_any_field_breaks_the_seal(field: str) -> None:
    head, record = SessionHead(0, LOG_START), said(1, "a")
    changed = replace(record, **{field: CHANGES[field]})
    assert seal(b"key", head, record).digest != seal(b"key", head, changed).digest


def test_emptied_texts_are_gone_and_the_chain_still_holds(store: Store) -> None:
    append(store, 0, said(1, "keep"), said(2, "forget", "me"))
    before = events(store)

    empty(store, 2)
    assert texts_of(events(store)) == [["keep"], [None, None]]
    assert [record.digest for record in events(store)] == [record.digest for record in before]
    assert store.check(TENANT) == ()


def test_an_export_brings_the_log_along_and_erased_texts_stay_erased(
    store: Store, store_factory: StoreFactory
) -> None:
    append(store, 0, said(1, "keep"), said(2, "forget"))
    empty(store, 2)
    with store.reading(TENANT) as reader:
        lines = list(export_lines(reader, tenant=TENANT))

    # Another tenant has another key, and so another chain, which verifies there.
    other = store_factory()
    restore(lines, other, TENANT)
    assert texts_of(events(other)) == [["keep"], [None]]
    assert [(r.seq, r.kind, r.body) for r in events(other)] == [
        (r.seq, r.kind, r.body) for r in events(store)
    ]
    assert other.check(TENANT) == ()


def test_the_newest_snapshot_of_a_session_is_read_and_no_export_carries_it(
    store: Store, store_factory: StoreFactory
) -> None:
    assert newest_snapshot(store) is None
    append(store, 0, said(1, "a"), said(2, "b"), snapshot="up to two")
    append(store, 0, said(1, session="session=s1,user=bob"))
    append(store, 2, said(3, "c"))
    assert newest_snapshot(store) == (2, "up to two")
    for seq in (4, 5, 6):
        append(store, seq - 1, said(seq), snapshot=f"up to {seq}")
    assert newest_snapshot(store) == (6, "up to 6")
    assert newest_snapshot(store, "session=s1,user=bob") is None
    assert store.check(TENANT) == ()

    with store.reading(TENANT) as reader:
        lines = list(export_lines(reader, tenant=TENANT))
    other = store_factory()
    restore(lines, other, TENANT)
    assert newest_snapshot(other) is None


def test_who_loses_an_append_leaves_no_snapshot(store: Store) -> None:
    append(store, 0, said(1, "mine"))
    with pytest.raises(Conflict):
        append(store, 0, said(1, "yours"), snapshot="of the loser")
    assert newest_snapshot(store) is None


def test_an_erasure_takes_every_snapshot_of_its_session_along(store: Store) -> None:
    append(store, 0, said(1, "keep"), said(2, "forget", "me"), snapshot="forget me")
    append(store, 0, said(1, session="session=s2"), snapshot="of another")
    empty(store, 2)
    assert newest_snapshot(store) is None
    assert newest_snapshot(store, "session=s2") == (1, "of another")


def test_a_session_without_events_takes_no_snapshot(store: Store) -> None:
    def keep(tx: WriteTx) -> None:
        tx.lock()
        tx.put_session_snapshot(ANN, "of nothing")

    with pytest.raises(Fault):
        store.transact(TENANT, keep)
    assert newest_snapshot(store) is None
