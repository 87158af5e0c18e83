"""Write transactions: the lock, stamps, all or nothing, and what a plan may read."""

import threading
from dataclasses import replace

import pytest

from tenure.schema.claim import Edge, Look, Row
from tenure.schema.errors import Fault, TenureError
from tenure.schema.interval import ALL_TIME, INF_US, MIN_US, Interval
from tenure.schema.vocabulary import ActionKind, EdgeKind, Op, Status
from tenure.store.port.records import ActionClosing, Closing
from tenure.store.port.store import (
    ActionRecord,
    Ask,
    Batch,
    Clock,
    Point,
    RecordKind,
    SlotRead,
    Store,
)
from tenure.store.port.tables import ACTIONS, RECEIPTS, SLOTS
from tenure.tests.store.builders import ALL, TENANT, Say, add, after, commit, event
from tenure.tests.support.refusals import refused

OFFICE = Ask(subjects=("e1",), slots=("office",))


def clock_of(store: Store) -> Clock:
    with store.reading(TENANT) as reader:
        return reader.clock()


def test_an_empty_tenant_starts_at_the_open_start(store: Store) -> None:
    assert clock_of(store) == Clock(0, MIN_US, 1, 0)
    with store.writing(TENANT) as tx:
        assert tx.lock() == Clock(0, MIN_US, 1, 0)


def test_ensuring_twice_changes_nothing(store: Store) -> None:
    with store.reading(TENANT) as reader:
        keys = reader.keys()
    commit(store, [Say(object_id="a")], tx=10)
    store.ensure(TENANT)
    with store.reading(TENANT) as reader:
        assert reader.keys() == keys
        assert reader.clock().seq == 1
    assert len(keys) == 1
    assert len(keys[0]) == 32


def test_a_commit_moves_the_counters(store: Store) -> None:
    commit(store, [Say(object_id="a")], tx=10)
    commit(store, [Say(object_id="b", value="Rome", start=5)], tx=12)
    assert clock_of(store) == Clock(2, 12, 5, 0)


def test_leaving_by_an_error_leaves_no_trace(store: Store) -> None:
    commit(store, [Say(object_id="a")], tx=10)

    def fail() -> None:
        with store.writing(TENANT) as tx:
            clock = tx.lock()
            told = event(clock, tx=20)
            say = Say(object_id="b", slot="team")
            fields = {"slots": (say.record,), "claims": (say.assertion(20, 0),)}
            tx.apply(Batch(clock=after(clock, [told]), events=(told,), **fields))  # type: ignore[arg-type]
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert clock_of(store).seq == 1
    with store.reading(TENANT) as reader:
        assert len(list(reader.records(RecordKind.CLAIM))) == 1
    assert store.check(TENANT) == ()


def test_a_transaction_that_applies_nothing_changes_nothing(store: Store) -> None:
    with store.writing(TENANT) as tx:
        tx.lock()
    assert clock_of(store).seq == 0


@pytest.mark.parametrize("seq", [1, 3])
def test_events_take_the_next_sequence_numbers(store: Store, seq: int) -> None:
    commit(store, [Say(object_id="a")], tx=10)

    def write() -> None:
        with store.writing(TENANT) as tx:
            clock = tx.lock()
            told = replace(event(clock, tx=20), seq=seq)
            tx.apply(Batch(clock=clock._replace(seq=seq, last_us=20), events=(told,)))

    with pytest.raises(Fault):
        write()
    assert clock_of(store).seq == 1


@pytest.mark.parametrize("stamp", [9, 10])
def test_a_stamp_that_does_not_rise_is_a_fault(store: Store, stamp: int) -> None:
    commit(store, [Say(object_id="a")], tx=10)
    with refused(Fault, "invariant_broken"):
        add(store, tx=stamp)


@pytest.mark.parametrize("vid", [1, 77])
def test_every_closing_must_hit_one_open_row(store: Store, vid: int) -> None:
    commit(store, [Say(object_id="a")], tx=10)
    add(store, tx=20, close=(Closing(1, 20),))
    with refused(Fault, "invariant_broken"):
        add(store, tx=30, close=(Closing(vid, 30),))
    assert clock_of(store).last_us == 20


def test_a_row_may_be_born_closed(store: Store) -> None:
    say = Say(object_id="a")
    stated = say.assertion(10, 0)
    first = Row(1, stated.claim, Interval(0, 50), Look(Status.CLEAN, "", True), 10, 11)
    second = replace(first, vid=2, tx_start=11, tx_end=INF_US, interval=Interval(0, 40))
    with store.writing(TENANT) as tx:
        clock = tx.lock()
        events = (event(clock, tx=10), replace(event(clock, tx=11), seq=2))
        tx.apply(
            Batch(
                clock=Clock(2, 11, 3, 0),
                events=events,
                slots=(say.record,),
                claims=(stated,),
                rows=(first, second),
            )
        )
    with store.reading(TENANT) as reader:
        for tx_us, until in ((10, 50), (11, 40)):
            found = reader.versions(OFFICE, sight=ALL, point=Point(5, tx_us))
            assert [v.row.interval.end_us for v in found.versions] == [until]
    assert store.check(TENANT) == ()


def test_open_rows_give_heads_and_denials_and_hidden_ones_on_demand(store: Store) -> None:
    commit(store, [Say(object_id="old", value="Rome", start=0)], tx=10)
    commit(store, [Say(object_id="new", value="Oslo", start=5)], tx=11)
    commit(store, [Say(object_id="no", value="Bonn", start=6, op=Op.DENY)], tx=12)
    key = Say(object_id="x").slot_key
    with store.writing(TENANT) as tx:
        tx.lock()
        brief, full, early = tx.open_rows(
            [
                SlotRead((key,), Interval(7, 8), False),
                SlotRead((key,), Interval(7, 8), True),
                SlotRead((key,), Interval(0, 5), False),
            ]
        )
    assert [(r.claim.object_id, r.look.head) for r in brief] == [("new", True), ("no", False)]
    assert [r.claim.object_id for r in full] == ["old", "new", "no"]
    assert [r.vid for r in full] == sorted(r.vid for r in full)
    assert [r.claim.object_id for r in early] == ["old"]
    assert full[0].claim.value_key == "s:Rome"


def test_open_rows_of_a_value_leave_out_the_other_values_of_the_slot(store: Store) -> None:
    says: list[Say] = []
    for number in range(5):
        says.append(Say(object_id=f"o{number}", slot="team", value=f"Team {number}", many=True))
        commit(store, says[-1:], tx=number + 1)
    commit(store, [replace(says[3], object_id="no", op=Op.DENY)], tx=11)
    key = says[0].slot_key
    with store.writing(TENANT) as tx:
        tx.lock()
        own, two, unknown, later = tx.open_rows(
            [
                SlotRead((key,), ALL_TIME, False, ("s:Team 3",)),
                SlotRead((key,), ALL_TIME, True, ("s:Team 0", "s:Team 4")),
                SlotRead((key,), ALL_TIME, True, ("s:Team 9",)),
                SlotRead((key,), Interval(-9, -8), True, ("s:Team 1",)),
            ]
        )
    assert sorted(row.claim.object_id for row in own) == ["no", "o3"]
    assert [row.claim.object_id for row in two] == ["o0", "o4"]
    assert unknown == later == ()
    assert store.check(TENANT) == ()


def test_open_rows_join_the_slots_of_a_cluster_and_leave_quarantined_ones_out(
    store: Store,
) -> None:
    commit(store, [Say(object_id="a", subject="e1")], tx=10)
    commit(store, [Say(object_id="b", subject="e2", value="Oslo")], tx=11)
    commit(store, [Say(object_id="q", subject="e1", quarantine="policy_hold")], tx=12)
    keys = tuple(Say(object_id="x", subject=s).slot_key for s in ("e1", "e2"))
    with store.writing(TENANT) as tx:
        tx.lock()
        (rows,) = tx.open_rows([SlotRead(keys, ALL_TIME, True)])
        held = tx.rows_of(["q", "b"])
    assert [r.claim.object_id for r in rows] == ["a", "b"]
    assert [(r.claim.object_id, r.look.status) for r in held] == [
        ("b", Status.CLEAN),
        ("q", Status.QUARANTINED),
    ]


def test_slot_claims_come_in_order_of_writing_without_quarantined_ones(store: Store) -> None:
    for number, name in enumerate(("z", "a", "m")):
        commit(store, [Say(object_id=name, value=name)], tx=10 + number)
    commit(store, [Say(object_id="q", quarantine="policy_hold")], tx=20)
    with store.writing(TENANT) as tx:
        tx.lock()
        claims = tx.slot_claims([Say(object_id="x").slot_key])
    assert [c.object_id for c in claims] == ["z", "a", "m"]


def test_slots_are_found_by_key_and_by_subject(store: Store) -> None:
    says = [
        Say(object_id="a"),
        Say(object_id="b", slot="team", many=True),
        Say(object_id="t", slot=None),
        Say(object_id="c", subject="e2"),
    ]
    commit(store, says, tx=10)
    with store.writing(TENANT) as tx:
        tx.lock()
        assert tx.find(SLOTS, "slot_key", [says[1].slot_key, "nowhere"]) == (says[1].record,)
        assert tx.find(SLOTS, "subject_id", ["e1"]) == (says[0].record, says[1].record)
    with store.reading(TENANT) as reader:
        assert reader.slot_in_use("team")
        assert not reader.slot_in_use("tea")


def test_assertions_return_the_whole_claim(store: Store) -> None:
    say = Say(object_id="a", value_entity="e9", derived_from=(), many=True)
    commit(store, [say], tx=10)
    with store.writing(TENANT) as tx:
        tx.lock()
        assert tx.assertions(["a", "nothing"]) == {"a": say.assertion(10, 0)}


def test_dependants_are_followed_to_the_end(store: Store) -> None:
    names = ("a", "b", "c", "d")
    commit(store, [Say(object_id=n, slot=None) for n in names], tx=10)
    edges = tuple(
        Edge(kind=kind, src=src, dst=dst, interval=ALL_TIME, reason="", relation="", tx=11)
        for kind, src, dst in (
            (EdgeKind.DERIVED_FROM, "b", "a"),
            (EdgeKind.DERIVED_FROM, "c", "b"),
            (EdgeKind.DERIVED_FROM, "a", "c"),
            (EdgeKind.SUPERSEDES, "d", "a"),
        )
    )
    add(store, tx=11, edges=edges)
    with store.writing(TENANT) as tx:
        tx.lock()
        assert tx.dependants(["a"]) == ("b", "c")
        assert tx.dependants(["d"]) == ()


def test_receipts_are_found_by_key_and_by_object(store: Store) -> None:
    commit(store, [Say(object_id="a", key="k1")], tx=10)
    commit(store, [Say(object_id="b", slot="team")], tx=11)
    with store.writing(TENANT) as tx:
        tx.lock()
        assert [r.object_id for r in tx.find(RECEIPTS, "idempotency_key", ["k1", "k2"])] == ["a"]
        found = tx.find(RECEIPTS, "object_id", ["b", "a", "c"])
    assert [(r.object_id, r.idempotency_key) for r in found] == [("a", "k1"), ("b", None)]
    with store.reading(TENANT) as reader:
        assert reader.find(RECEIPTS, "object_id", ["b"]) == (found[1],)


def test_a_key_is_used_once(store: Store) -> None:
    commit(store, [Say(object_id="a", key="k1")], tx=10)
    with pytest.raises(TenureError):
        commit(store, [Say(object_id="b", slot="team", key="k1")], tx=11)
    assert clock_of(store).seq == 1


def test_actions_open_close_and_are_known_as_of_a_tx(store: Store) -> None:
    action = ActionRecord(
        action_id="act",
        kind=ActionKind.SETTLE_TIE,
        object_id="a",
        slot_key="slot",
        interval=Interval(0, 5),
        members=("a", "b"),
        detail='{"x":1}',
        tx_start=10,
        tx_end=INF_US,
    )
    add(store, tx=10, actions=(action,))
    with store.writing(TENANT) as tx:
        tx.lock()
        assert tx.find(ACTIONS, "slot_key", ["slot"], open_only=True) == (action,)
        assert tx.find(ACTIONS, "object_id", ["a"], open_only=True) == (action,)
        assert tx.find(ACTIONS, "object_id", (), open_only=True) == ()
    add(store, tx=20, closed_actions=(ActionClosing("act", 20, "settled", "ann"),))
    closed = replace(action, tx_end=20, outcome="settled", closed_by="ann")
    with store.writing(TENANT) as tx:
        tx.lock()
        assert tx.find(ACTIONS, "slot_key", ["slot"], open_only=True) == ()
        assert [one.outcome for one in tx.find(ACTIONS, "slot_key", ["slot"])] == ["settled"]
    with store.reading(TENANT) as reader:
        assert reader.actions(open_only=True, tx_us=19) == (action,)
        assert reader.actions(open_only=False, tx_us=19) == (action,)
        assert reader.actions(open_only=True, tx_us=20) == ()
        assert reader.actions(open_only=False, tx_us=20) == (closed,)
        assert reader.actions(open_only=False, tx_us=9) == ()
    with pytest.raises(Fault):
        add(store, tx=30, closed_actions=(ActionClosing("act", 30, "again", "ann"),))


def test_writers_take_turns_and_every_write_is_there(store: Store) -> None:
    def work(number: int) -> None:
        for step in range(4):
            commit(store, [Say(object_id=f"{number}-{step}", subject=f"e{number}", start=step)])

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert clock_of(store).seq == 32
    with store.reading(TENANT) as reader:
        events = list(reader.records(RecordKind.EVENT))
    assert [e.seq for e in events] == list(range(1, 33))  # type: ignore[attr-defined]
    assert store.check(TENANT) == ()


def test_an_open_snapshot_sees_nothing_newer(store: Store) -> None:
    commit(store, [Say(object_id="a")], tx=10)
    with store.reading(TENANT) as before:
        commit(store, [Say(object_id="b", value="Rome", start=3)], tx=11)
        assert before.clock().last_us == 10
        found = before.versions(OFFICE, sight=ALL, point=Point(9, INF_US))
        assert [v.row.claim.object_id for v in found.versions] == ["a"]
        with store.reading(TENANT) as later:
            found = later.versions(OFFICE, sight=ALL, point=Point(9, INF_US))
            assert [v.row.claim.object_id for v in found.versions] == ["b"]
