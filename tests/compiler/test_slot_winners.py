"""What wins a slot from another scope is found by whatever finds what it beat."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tenure.compiler.envelope.envelope import Envelope
from tenure.compiler.ir.records import Neighbours as Hits
from tenure.schema.vocabulary import Sensitivity
from tenure.store.port.vectors import VectorScore
from tenure.tests.compiler.fake_reader import Bench, uid

MINE = {"scope": {"user": "ann"}}


def bench(**winner: Any) -> Bench:
    """Return a world whose tenant says Rome and whose user Ann says otherwise."""
    made = Bench()
    made.world.person("Sam Rivera")
    made.world.add(
        "rome", subject="Sam Rivera", slot="office", value="Rome", text="near the colosseum",
        why="marble quarry", level=2,
    )  # fmt: skip
    made.world.add(
        "oslo", subject="Sam Rivera", slot="office", value="Oslo", text="by the fjord",
        why="salmon trade", level=2, **{**MINE, **winner},
    )  # fmt: skip
    return made


def ids(made: Bench, envelope: Envelope) -> list[str]:
    return [made.world.name_of(o.object_id) for o in envelope.trace.compiled_objects]


def test_words_of_the_loser_find_the_winner() -> None:
    made = bench()
    envelope = made.compile(query="Rome marathon")
    assert "oslo" in ids(made, envelope)
    assert "rome" not in ids(made, envelope)
    (winner,) = (o for o in envelope.trace.compiled_objects if o.stands_for)
    assert [made.world.name_of(i) for i in winner.stands_for] == ["rome"]
    assert winner.score > 500_000
    lost = {made.world.name_of(o.object_id): o for o in envelope.trace.omitted_objects}
    assert (lost["rome"].reason, lost["rome"].detail) == ("overridden", "other_scope")


def test_a_winner_that_matches_by_itself_needs_no_loser() -> None:
    made = bench()
    assert "oslo" in ids(made, made.compile(query="Oslo marathon"))


def test_where_neither_matches_neither_enters() -> None:
    made = bench()
    envelope = made.compile(query="unrelated glacier")
    assert not {"oslo", "rome"} & set(ids(made, envelope))


def test_a_winner_for_another_task_type_still_stays_out() -> None:
    made = bench(tasks=("data_extraction",))
    assert not {"oslo", "rome"} & set(ids(made, made.compile(query="Rome marathon")))


def test_a_gap_or_denial_that_wins_shows_nothing() -> None:
    made = bench(op="deny")
    assert not {"oslo", "rome"} & set(ids(made, made.compile(query="Rome marathon")))


class Near:
    """An index that finds what the tenant says."""

    def __init__(self, made: Bench) -> None:
        self.rows = [v for v in made.world.rows if v.row.claim.object_id == uid("rome")]

    def prefetch(self, query: Any, *, limit: int) -> None:
        return None

    def facts(self, query: Any, *, limit: int) -> Hits:
        return Hits([], [])

    def nearest(self, query: Any, *, limit: int) -> Hits:
        return Hits([VectorScore(uid("rome"), 14_000_000, 9_000_000)], self.rows)

    def scores(self, query: Any, object_ids: Any) -> list[VectorScore]:
        return [VectorScore(i, 1_000_000, 1_000) for i in object_ids if i == uid("oslo")]


def test_a_vector_that_finds_the_loser_finds_the_winner() -> None:
    made = bench()
    made.index, made.encoder_id = Near(made), "toy"
    envelope = made.compile(query="glacier", query_vector=[1.0])
    assert "oslo" in ids(made, envelope)
    (winner,) = (o for o in envelope.trace.compiled_objects if o.stands_for)
    masked = bench(sensitivity=())
    masked.world.rows[0] = replace(
        masked.world.rows[0],
        details=replace(masked.world.rows[0].details, sensitivity=(Sensitivity.PERSONAL,)),
    )
    masked.rules(show_personal_to=("hr",))
    masked.index, masked.encoder_id = Near(masked), "toy"
    hidden = masked.compile(query="glacier", query_vector=[1.0])
    scores = [o.score for o in hidden.trace.compiled_objects if o.stands_for]
    assert scores == [] or scores[0] < winner.score
