"""Actions that ask about ties: of batches, of what a correction uncovers, and what they cost."""

from collections.abc import Iterator, Sequence
from contextlib import closing
from typing import Any

import pytest

from tenure.schema.errors import Conflict
from tenure.schema.interval import INF_US, Interval
from tenure.schema.limits import TIED_CLAIMS
from tenure.schema.vocabulary import ActionKind
from tenure.schema.write import Submission
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


# ---- Ties with very many members: refused before they cost every other writer his turn.


@pytest.fixture
def crowded(monkeypatch: pytest.MonkeyPatch) -> Iterator[SmallStore]:
    """A store with as many equal claims of one slot as may be."""
    monkeypatch.setattr("tenure.store.commit.commit.TIED_CLAIMS", 4)
    with closing(SmallStore()) as store:
        for number in range(4):
            write(store, draft(f"d{number}", value=f"v{number}"))
        yield store


def one_more(name: str = "e", **terms: object) -> Submission:
    return submission(draft(name, **{"value": f"value of {name}", **terms}))  # type: ignore[arg-type]


def test_the_limit_is_told_in_the_documents() -> None:
    assert TIED_CLAIMS == 200


def test_a_claim_that_would_crowd_a_tie_is_refused_and_leaves_nothing(crowded: SmallStore) -> None:
    rows, seq = dict(crowded.state.rows), crowded.state.events[-1].tx

    (refusal,) = write_all(crowded, one_more())

    assert isinstance(refusal, Conflict)
    assert (refusal.code, refusal.data["members"]) == ("conflict_too_large", 4)
    assert (crowded.state.rows, crowded.state.events[-1].tx) == (rows, seq)


def test_its_neighbours_in_a_group_are_written_as_if_it_were_not_there(
    crowded: SmallStore,
) -> None:
    answers = write_all(
        crowded,
        one_more("e", subject="Cleo"),
        one_more("f"),
        one_more("g", subject="Ben"),
        now=500,
    )

    assert [isinstance(answer, Conflict) for answer in answers] == [False, True, False]
    assert [event.tx for event in crowded.state.events[-2:]] == [500, 501]


def test_what_is_refused_counts_against_nobody(crowded: SmallStore) -> None:
    for number in range(3):
        write(crowded, draft(f"c{number}", subject="Cleo", value=f"v{number}"))

    # The first batch would be the fourth about Cleo, but its second claim is one too many.
    answers = write_all(
        crowded,
        submission(draft("x", subject="Cleo", value="x"), draft("y", value="y")),
        one_more("z", subject="Cleo"),
        one_more("w"),
    )

    assert [isinstance(answer, Conflict) for answer in answers] == [True, False, True]
    refusals = [answer for answer in answers if isinstance(answer, Conflict)]
    assert [refusal.data["members"] for refusal in refusals] == [4, 4]


def test_a_whole_batch_counts_together() -> None:
    drafts = [draft(f"d{number}", value=f"v{number}") for number in range(TIED_CLAIMS + 1)]

    with closing(SmallStore()) as store:
        (refusal,) = write_all(store, submission(*drafts))

        assert isinstance(refusal, Conflict)
        assert not store.state.rows


@pytest.mark.parametrize(
    "terms",
    [
        {"value": "v1"},
        {"op": "correct"},
        {"op": "retract", "value": "v2"},
        {"level": 1},
        {"span": (50, 60)},
        {"slot": "title"},
    ],
    ids=["confirms", "corrects", "retracts", "stronger", "later", "other slot"],
)
def test_what_joins_no_tie_is_written(crowded: SmallStore, terms: dict[str, object]) -> None:
    (answer,) = write_all(crowded, one_more(**terms))

    assert not isinstance(answer, Exception)


def test_a_replay_tells_a_history_as_it_was(crowded: SmallStore) -> None:
    (answer,) = write_all(crowded, submission(draft("e", value="v9"), stated_tx=10_000))

    assert not isinstance(answer, Exception)
