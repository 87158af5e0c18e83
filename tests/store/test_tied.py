"""Ties with very many members: refused before they cost every other writer his turn."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest

from tenure.schema.errors import Conflict
from tenure.schema.limits import TIED_CLAIMS
from tenure.schema.write import Submission
from tenure.tests.store.drafts import draft, submission, write, write_all
from tenure.tests.store.small_store import SmallStore


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
