"""Clusters, canonical ids, what stands between two sides, and bridges."""

import itertools
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenure.resolution.clusters import (
    Clusters,
    PendingCase,
    blocking,
    bridges,
    canonical_id,
    entities_as_of,
    non_matches_between,
    open_at,
    pair,
)
from tenure.schema.entity import Entity, Judgement
from tenure.schema.interval import INF_US
from tenure.schema.vocabulary import EntityState, JudgedBy, JudgementVerdict, ReviewState
from tenure.tests.support.entities import entity, judgement

NON_MATCH = JudgementVerdict.NON_MATCH


def judged(
    a: str,
    b: str,
    verdict: JudgementVerdict = JudgementVerdict.MATCH,
    by: JudgedBy = JudgedBy.HUMAN,
    span: tuple[int, int] = (0, INF_US),
) -> Judgement:
    left, right = pair(a, b)
    return judgement(
        left,
        right,
        judgement_id=f"{left}{right}{verdict}",
        verdict=verdict,
        judged_by=by,
        tx=span[0],
        tx_end=span[1],
    )


def test_a_cluster_is_a_component_of_matches_alone() -> None:
    found = Clusters([judged("a", "b"), judged("c", "b"), judged("c", "d", NON_MATCH)])
    assert found.of("a") == ("a", "b", "c")
    assert found.of("d") == ("d",)
    assert found.same("a", "c")
    assert not found.same("a", "d")


def test_a_closed_row_joins_only_while_it_stood() -> None:
    rows = [judged("a", "b", span=(5, 9))]
    assert Clusters(open_at(rows, 5)).same("a", "b")
    assert not Clusters(open_at(rows, 4)).same("a", "b")
    assert not Clusters(open_at(rows, 9)).same("a", "b")


@pytest.mark.parametrize(
    ("members", "top"),
    [
        ([entity("b", tx=1), entity("a", tx=2)], "b"),
        ([entity("b", tx=1), entity("a", tx=1)], "a"),
        ([entity("a", tx=1), entity("z", tx=9, recorded=True)], "z"),
        ([entity("y", tx=3, recorded=True), entity("z", tx=2, recorded=True)], "z"),
    ],
)
def test_the_canonical_id_is_of_record_then_oldest_then_smallest(
    members: list[Entity], top: str
) -> None:
    assert {canonical_id(order) for order in itertools.permutations(members)} == {top}


@given(st.permutations([("a", "b"), ("b", "c"), ("d", "e"), ("c", "a")]))
def test_clusters_do_not_depend_on_order(edges: list[tuple[str, str]]) -> None:
    found = Clusters(judged(*edge) for edge in edges)
    assert found.of("c") == ("a", "b", "c")
    assert found.path("a", "c")[0].judgement_id == "acMATCH"


def test_the_shortest_path_names_what_holds_two_together() -> None:
    found = Clusters([judged("a", "b"), judged("b", "c")])
    assert [(j.left_id, j.right_id) for j in found.path("a", "c")] == [("a", "b"), ("b", "c")]
    assert found.path("a", "z") == ()
    assert found.path("a", "a") == ()


def test_what_stands_across_is_listed_strongest_first() -> None:
    rows = [
        judged("a", "x", NON_MATCH, JudgedBy.MODEL),
        judged("y", "b", NON_MATCH, JudgedBy.HUMAN),
        judged("a", "b", NON_MATCH),
        judged("a", "y"),
    ]
    found = non_matches_between(rows, {"a", "b"}, {"x", "y"})
    assert [j.judged_by for j in found] == [JudgedBy.HUMAN, JudgedBy.MODEL]


@pytest.mark.parametrize("standing", JudgedBy)
@pytest.mark.parametrize("judge", JudgedBy)
def test_equal_or_higher_strength_blocks(standing: JudgedBy, judge: JudgedBy) -> None:
    found = blocking([judged("a", "b", NON_MATCH, standing)], judge)
    order = [JudgedBy.HUMAN, JudgedBy.SYSTEM_OF_RECORD, JudgedBy.RULE, JudgedBy.MODEL]
    assert bool(found) == (order.index(standing) <= order.index(judge))


def test_a_bridge_alone_holds_two_groups_together() -> None:
    left = [judged("a", "b"), judged("b", "c"), judged("a", "c")]
    right = [judged("x", "y")]
    assert bridges([*left, *right, judged("c", "x"), judged("a", "x", NON_MATCH)]) == (("c", "x"),)
    assert bridges([*left, *right, judged("c", "x"), judged("a", "y")]) == ()
    assert bridges([judged("a", "b"), judged("a", "c")]) == ()  # leaves hold nothing together
    assert bridges([judged("a", "x", NON_MATCH)]) == ()


def test_two_matches_of_one_pair_are_no_bridge() -> None:
    sides = [judged("a", "b"), judged("x", "y"), judged("b", "x")]
    again = replace(judged("b", "x"), judgement_id="again")
    assert bridges(sides) == (("b", "x"),)
    assert bridges([*sides, again]) == ()


OPEN, ALONE = PendingCase(ReviewState.OPEN, False), PendingCase(ReviewState.REJECTED, False)
JOINED = PendingCase(ReviewState.ACCEPTED, True)


@pytest.mark.parametrize(
    ("top", "other", "state"),
    [
        (None, None, "active"),
        (OPEN, None, "pending"),
        (PendingCase(ReviewState.UNSURE, False), ALONE, "pending"),
        (None, OPEN, "active"),
        (ALONE, OPEN, "active"),
        (JOINED, OPEN, "pending"),
        (JOINED, ALONE, "active"),
        (JOINED, JOINED, "active"),
        (PendingCase(ReviewState.UNDONE, True), None, "pending"),
    ],
)
def test_a_cluster_waits_for_its_own_case_or_while_nobody_in_it_is_settled(
    top: PendingCase | None, other: PendingCase | None, state: str
) -> None:
    entities = {raw: entity(raw, tx=tx) for tx, raw in enumerate("ab")}
    given_ = {raw: case for raw, case in (("a", top), ("b", other)) if case}
    found = entities_as_of(entities, {"a": "a", "b": "a"}, given_)
    assert {raw: one.state.value for raw, one in found.items()} == {"a": state, "b": "merged"}


def test_what_was_erased_stays_erased_and_what_stands_alone_is_active() -> None:
    gone = entity("a", state=EntityState.ERASED)
    away = entity("b", state=EntityState.MERGED)
    found = entities_as_of({"a": gone, "b": away}, {}, {"a": OPEN})
    assert {raw: one.state.value for raw, one in found.items()} == {"a": "erased", "b": "active"}
