"""Intervals are never empty, and exactly one Allen relation holds between any two."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenure.schema.errors import InvalidInput
from tenure.schema.interval import ALL_TIME, INF_US, MIN_US, Interval, Relation, relation
from tenure.tests.support.refusals import refused


def spans(low: int = -6, high: int = 6) -> st.SearchStrategy[Interval]:
    """A small range, so that bounds often coincide."""
    starts = st.integers(low, high - 1)
    return starts.flatmap(
        lambda start: st.builds(Interval, st.just(start), st.integers(start + 1, high))
    )


def allen(a: Interval, b: Interval) -> list[Relation]:
    """The thirteen definitions as Allen wrote them, each on its own."""
    s, e, t, f = a.start_us, a.end_us, b.start_us, b.end_us
    holds = {
        Relation.BEFORE: e < t,
        Relation.MEETS: e == t,
        Relation.OVERLAPS: s < t < e < f,
        Relation.FINISHED_BY: s < t and e == f,
        Relation.CONTAINS: s < t and f < e,
        Relation.STARTS: s == t and e < f,
        Relation.EQUALS: s == t and e == f,
        Relation.STARTED_BY: s == t and f < e,
        Relation.DURING: t < s and e < f,
        Relation.FINISHES: t < s and e == f,
        Relation.OVERLAPPED_BY: t < s < f < e,
        Relation.MET_BY: f == s,
        Relation.AFTER: f < s,
    }
    return [name for name, true in holds.items() if true]


@given(spans(), spans())
def test_exactly_the_relation_of_the_definition_holds(a: Interval, b: Interval) -> None:
    assert [relation(a, b)] == allen(a, b)


def test_all_thirteen_relations_are_reached() -> None:
    small = [Interval(s, e) for s in range(4) for e in range(s + 1, 5)]
    assert {relation(a, b) for a in small for b in small} == set(Relation)
    assert len(Relation) == 13


@given(spans(), spans())
def test_an_intersection_holds_exactly_the_shared_instants(a: Interval, b: Interval) -> None:
    shared = [instant for instant in range(-7, 8) if instant in a and instant in b]
    both = a.intersection(b)
    assert shared == [instant for instant in range(-7, 8) if both is not None and instant in both]
    assert a.overlaps(b) is (both is not None)


def test_the_start_is_inside_and_the_end_is_not() -> None:
    assert 1 in Interval(1, 3)
    assert 2 in Interval(1, 3)
    assert 3 not in Interval(1, 3)


@pytest.mark.parametrize(
    ("start", "end", "code"),
    [
        (5, 5, "empty_interval"),
        (6, 5, "inverted_interval"),
        (MIN_US - 1, 0, "instant_out_of_range"),
        (0, INF_US + 1, "instant_out_of_range"),
    ],
)
def test_an_impossible_interval_has_no_constructor(start: int, end: int, code: str) -> None:
    with refused(InvalidInput, code):
        Interval(start, end)


def test_the_open_interval_reaches_from_end_to_end() -> None:
    assert (ALL_TIME.start_us, ALL_TIME.end_us) == (MIN_US, INF_US)
