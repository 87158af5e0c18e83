"""Actions that ask about ties: of batches, of what a correction uncovers, and what they cost."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from tenure.schema.interval import INF_US, Interval
from tenure.schema.vocabulary import ActionKind
from tenure.store.port.store import ActionRecord
from tenure.store.sqlite.writer import SqliteWriteTx
from tenure.tests.store.drafts import draft, submission, uid, write, write_all
from tenure.tests.store.small_store import SmallStore


def waiting(store: SmallStore) -> list[ActionRecord]:
    actions = [action for _, action in sorted(store.state.actions.items())]
    return [a for a in actions if a.kind is ActionKind.SETTLE_TIE and a.tx_end == INF_US]


def test_a_tie_that_its_own_batch_settles_asks_nobody(store: SmallStore) -> None:
    write(store, draft("a", value="NYC"))

    tied, _ = write(store, draft("b", value="Rome"), draft("c", value="Oslo", op="correct"))

    assert store.state.actions == {}
    assert tied.actions == ()


def test_a_batch_may_settle_the_stored_tie_that_it_widens(store: SmallStore) -> None:
    write(store, draft("a", value="NYC"))
    write(store, draft("b", value="Rome"))

    write(store, draft("c", value="Bern"), draft("d", value="Oslo", op="correct"))

    assert waiting(store) == []
    assert len(store.state.actions) == 1


def test_a_tie_that_a_later_write_of_a_group_settles_was_asked_about(store: SmallStore) -> None:
    write(store, draft("a", value="NYC"))

    write_all(
        store,
        submission(draft("b", value="Rome")),
        submission(draft("c", value="Oslo", op="correct")),
        now=5,
    )

    (action,) = store.state.actions.values()
    assert (action.tx_start, action.tx_end, action.outcome) == (5, 6, "settled")


def test_what_a_retraction_uncovers_is_asked_about_one_of_the_tied(store: SmallStore) -> None:
    for name, value, level in (("a", "NYC", 2), ("b", "Rome", 2), ("c", "Oslo", 1)):
        write(store, draft(name, value=value, level=level, span=(0, 10)))

    (receipt,) = write(store, draft("d", value="Oslo", op="retract", level=1, span=(0, 10)))

    (action,) = waiting(store)
    assert action.object_id == uid("b")
    assert action.members == tuple(sorted((uid("a"), uid("b"))))
    assert receipt.actions == (action.action_id,)

    write(store, draft("e", value="Bern", op="correct", span=(0, 10)))
    assert waiting(store) == []


def test_an_older_tie_keeps_its_action_while_the_newest_is_settled(store: SmallStore) -> None:
    for time in (0, 100):
        for value in ("NYC", "Rome"):
            write(store, draft(f"{value}{time}", value=f"{value} {time}", span=(time, INF_US)))

    write(store, draft("c", value="Bern", op="correct", span=(100, INF_US)))

    (action,) = waiting(store)
    assert action.interval == Interval(0, INF_US)
    assert uid("NYC0") in action.members


def test_a_batch_reads_no_more_where_older_batches_left_ties(
    store: SmallStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = 0
    open_rows, find = SqliteWriteTx.open_rows, SqliteWriteTx.find

    def counted_rows(tx: SqliteWriteTx, reads: Sequence[Any]) -> Any:
        nonlocal lines
        rows_by_read = open_rows(tx, reads)
        lines += sum(map(len, rows_by_read))
        return rows_by_read

    def counted_records(tx: SqliteWriteTx, *asked: Any, **options: Any) -> tuple[Any, ...]:
        nonlocal lines
        records = find(tx, *asked, **options)
        lines += len(records)
        return records

    monkeypatch.setattr(SqliteWriteTx, "open_rows", counted_rows)
    monkeypatch.setattr(SqliteWriteTx, "find", counted_records)

    counts: list[int] = []
    for batch in range(12):
        lines = 0
        names = [f"{batch}/{number}" for number in range(5)]
        drafts = [draft(name, value=name, span=(batch * 10, INF_US)) for name in names]
        write(store, *drafts, now=batch + 1)
        counts.append(lines)

    # Each batch of five ties over all time to come; the next one cuts that off and leaves the rest.
    assert len(waiting(store)) == 12 * 4
    assert counts[3] > 0
    assert counts[11] == counts[3]
