"""Committing groups of writes: stamps, retries, refusals, netting, ties, staleness, pending."""

from contextlib import closing
from typing import Any

import pytest

from tenure.schema.errors import Conflict, NotFound
from tenure.schema.interval import INF_US, Interval
from tenure.schema.vocabulary import ActionKind, ObjectType, Op, Outcome, Status
from tenure.store.operations.change import Mandate
from tenure.store.operations.erase import erase
from tenure.tests.store.drafts import draft, submission, uid, write, write_all
from tenure.tests.store.small_store import SmallStore


def open_rows(store: SmallStore) -> list[Any]:
    return [row for _, row in sorted(store.state.rows.items()) if row.live]


def shown(store: SmallStore, at: int, slot: str = "office") -> list[str]:
    """Return the value keys that an instant shows now, over all subjects."""
    claims = store.state.claims
    return sorted(
        row.claim.value_key
        for row in open_rows(store)
        if row.look.head
        and row.look.status is Status.CLEAN
        and row.claim.op is not Op.DENY
        and at in row.interval
        and claims[row.claim.object_id].details.slot == slot
    )


def opened(store: SmallStore, kind: ActionKind) -> list[Any]:
    return [a for a in store.state.actions.values() if a.kind is kind and a.tx_end == INF_US]


def test_each_write_of_a_group_has_its_own_stamp(store: SmallStore) -> None:
    results = write_all(
        store,
        submission(draft("a", value="NYC", span=(0, INF_US))),
        submission(draft("b", value="Rome", span=(10, INF_US))),
        now=100,
    )
    assert [type(r) for r in results] == [tuple, tuple]
    assert [e.tx for e in store.state.events] == [100, 101]
    assert shown(store, 5) == ["s:NYC"]
    assert shown(store, 15) == ["s:Rome"]
    born_closed = [row for row in store.state.rows.values() if row.tx_end == 101]
    assert [row.tx_start for row in born_closed] == [100]


def test_rows_do_not_depend_on_how_writes_are_grouped() -> None:
    drafts = [
        draft("a", value="NYC", span=(0, INF_US), level=2),
        draft("b", value="Rome", span=(5, INF_US), level=1),
        draft("c", value="NYC", span=(0, 8), op="retract", level=2),
        draft("d", value="Oslo", span=(2, 20), level=3),
        draft("e", value="Bern", span=(1, 30), op="correct", level=3),
        draft("f", value="Rome", span=(7, 9), level=0),
    ]
    with closing(SmallStore()) as alone, closing(SmallStore()) as together:
        for one in drafts:
            write(alone, one)
        write_all(together, *(submission(one) for one in drafts))
        assert alone.state.rows == together.state.rows
        assert alone.state.edges == together.state.edges


def test_what_people_are_asked_does_not_depend_on_how_writes_are_grouped() -> None:
    """Ties open and end, and what was derived goes stale, at the stamps that lead to it."""
    belief: dict[str, Any] = {"slot": None, "value_key": "text", "derived_from": (uid("a"),)}
    drafts = [
        draft("a", value="NYC", span=(0, 20)),
        draft("b", value="Rome", span=(0, 10)),  # ties
        draft("c", object_type=ObjectType.INFERRED_BELIEF, **belief),
        draft("d", slot=None, value_key="text", derived_from=(uid("c"),)),
        draft("e", value="Rome", span=(0, 10), op="correct"),  # settles, and changes the source
        draft("f", value="Oslo", span=(15, INF_US)),  # changes it again
        draft("g", value="Bern", span=(15, INF_US)),  # ties
        draft("h", value="Bern", span=(0, INF_US), op="correct"),  # settles
    ]
    outcomes: list[tuple[Any, ...]] = []
    for size in (1, 2, 3, len(drafts)):
        with closing(SmallStore()) as store:
            for start in range(0, len(drafts), size):
                write_all(store, *map(submission, drafts[start : start + size]))
            state = store.state
        outcomes.append((state.rows, state.actions, sorted(state.flags, key=repr)))

    one_by_one = outcomes[0]
    assert all(grouped == one_by_one for grouped in outcomes)
    _, actions, flags = one_by_one
    ties = [a for a in actions.values() if a.kind is ActionKind.SETTLE_TIE]
    assert len(ties) >= 2
    assert all(tie.tx_end < INF_US for tie in ties)
    assert len({flag.tx for flag in flags}) >= 2


def test_a_retry_of_what_was_erased_says_so(store: SmallStore) -> None:
    once = draft("a", value="NYC", idempotency_key="k")
    write(store, once)
    with store.writing("default") as tx:
        mandate = Mandate(operation_id=uid("erase"), actor="steward", now_us=9, reason="asked")
        erase(tx, object_id=uid("a"), mandate=mandate)
    with pytest.raises(NotFound):
        write(store, once)


def test_twins_in_one_group_are_written_once(store: SmallStore) -> None:
    once = draft("a", value="NYC", idempotency_key="k")
    other = draft("a", value="Rome", idempotency_key="k", fingerprint="other")
    first, twin, clash = write_all(store, submission(once), submission(once), submission(other))
    assert isinstance(first, tuple)
    assert isinstance(twin, tuple)
    assert isinstance(clash, Conflict)
    assert not first[0].replayed
    assert twin[0].replayed
    assert store.state.clock.seq == 1


def test_the_twin_of_a_refused_write_is_refused_alike(store: SmallStore) -> None:
    bad = draft("a", subject=uid("nobody"), value="NYC", idempotency_key="k")
    first, twin = write_all(store, submission(bad), submission(bad))
    assert isinstance(first, NotFound)
    assert twin is first


def test_a_refused_write_takes_no_neighbour_down_and_no_stamp(store: SmallStore) -> None:
    good, bad, also_good = write_all(
        store,
        submission(draft("a", value="NYC")),
        submission(draft("b", subject="New", value="X"), draft("c", subject=uid("no"), value="X")),
        submission(draft("d", value="Rome", span=(3, INF_US))),
        now=100,
    )
    assert isinstance(bad, NotFound)
    assert isinstance(good, tuple)
    assert isinstance(also_good, tuple)
    assert [e.tx for e in store.state.events] == [100, 101]
    assert [e.name for e in store.state.entities.values()] == ["Ann"]  # nothing left of "New"


def test_a_repeated_replay_group_is_skipped(store: SmallStore) -> None:
    write(store, draft("a", value="NYC"), stated_tx=500)
    (again,) = write(store, draft("a", value="NYC"), stated_tx=500)
    assert again.replayed
    assert store.state.clock.seq == 1


def test_one_write_is_netted_under_one_stamp(store: SmallStore) -> None:
    write(store, draft("base", value="base"), now=1)
    write(
        store,
        draft("oops", value="oops", span=(10, INF_US)),
        draft("undo", value="oops", op="retract", span=(10, INF_US)),
        now=100,
    )
    assert shown(store, 20) == ["s:base"]
    assert uid("oops") not in {row.claim.object_id for row in store.state.rows.values()}
    assert len(store.state.claims) == 3
    assert {e.tx for e in store.state.events} == {1, 100}


def test_a_start_that_is_not_stated_is_the_writes_own_stamp(store: SmallStore) -> None:
    write(store, draft("a", value="NYC", span=(None, INF_US)), now=70)
    assert [row.interval for row in open_rows(store)] == [Interval(70, INF_US)]


def test_a_tie_opens_an_action_and_its_end_closes_it(store: SmallStore) -> None:
    write(store, draft("a", value="NYC", span=(0, 20)))
    (tied,) = write(store, draft("b", value="Rome", span=(0, 10)))
    (action,) = opened(store, ActionKind.SETTLE_TIE)
    assert tied.outcome is Outcome.DISPUTED
    assert tied.actions == (action.action_id,)
    assert action.interval == Interval(0, 10)
    assert action.members == tuple(sorted((uid("a"), uid("b"))))
    write(store, draft("c", value="Rome", span=(0, 10), op="correct"))
    assert opened(store, ActionKind.SETTLE_TIE) == []
    assert store.state.actions[action.action_id].outcome == "settled"


def test_settling_one_tie_leaves_another_of_the_slot_open(store: SmallStore) -> None:
    for name, value, span in (
        ("a", "NYC", (0, 10)),
        ("b", "Rome", (0, 10)),
        ("c", "Oslo", (100, 110)),
        ("d", "Bern", (100, 110)),
    ):
        write(store, draft(name, value=value, span=span))
    write(store, draft("e", value="Rome", span=(0, 10), op="correct"))
    (left,) = opened(store, ActionKind.SETTLE_TIE)
    assert left.interval == Interval(100, 110)


def test_what_was_derived_from_a_changed_object_is_flagged_stale(store: SmallStore) -> None:
    belief: dict[str, Any] = {
        "object_type": ObjectType.INFERRED_BELIEF,
        "derived_from": (uid("a"),),
    }
    write(store, draft("a", value="NYC"))
    write(store, draft("b", slot=None, value_key="text", **belief))
    write(store, draft("c", slot=None, value_key="text", derived_from=(uid("b"),)))
    write(store, draft("d", value="Rome", span=(5, INF_US)))
    assert {(f.object_id, f.kind) for f in store.state.flags} == {
        (uid("b"), "stale"),
        (uid("c"), "stale"),
    }
    assert [a.object_id for a in opened(store, ActionKind.REVERIFY_BELIEF)] == [uid("b")]
    assert [a.object_id for a in opened(store, ActionKind.REGENERATE_SUMMARY)] == [uid("c")]


def test_a_write_beside_many_values_reads_the_rows_of_its_own_value(store: Any) -> None:
    for number in range(20):
        write(store, draft(f"o{number}", slot="specialty", value=f"field {number}"), now=number + 1)
    drafts = [draft("new", slot="specialty", value="field 7")]
    (receipt,) = write(store, *drafts, now=100)
    assert [met.object_id for met in receipt.relations] == [uid("o7")]

    # A withdrawal of all values needs all of them.
    every = draft("none", slot="specialty", op=Op.DELETE)
    (receipt,) = write(store, every, now=200)
    assert len(receipt.relations) == 20
