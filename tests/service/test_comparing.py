"""Ablation over a store: what an envelope is worth without some of its objects."""

from __future__ import annotations

from tenure import ablate, connect


def test_the_object_that_carries_the_answer_is_worth_the_most() -> None:
    with connect(":memory:") as memory:
        home = memory.write(subject="Sam", slot="office", value="Chicago")
        role = memory.write(subject="Sam", slot="title", value="engineer")
        report = ablate(
            memory,
            {"task": "analytical_reporting", "query": "office and title of Sam"},
            utility=lambda envelope: float("Chicago" in envelope.text),
            pairs=True,
        )
    assert report.utility == 1.0
    assert dict(report.single) == {home.object_id: 1.0, role.object_id: 0.0}
    assert [synergy for _, _, synergy in report.pairs] == [0.0]
