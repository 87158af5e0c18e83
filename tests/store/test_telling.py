"""What a word tells: weights fall by one each time twice as many claims hold it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenure.store.search.term_weights import HALVINGS, common, weight


def test_a_word_may_be_held_by_six_thousand_claims_or_by_twice_those_wanted() -> None:
    assert common(160) == common(3_000) == 6_000  # a pool and a search count alike
    assert common(4_000) == 8_000


@pytest.mark.parametrize(("held", "counts"), [(1, 11), (2, 10), (1_024, 1), (1_025, 0)])
def test_the_fewer_hold_it_the_more_it_counts(held: int, counts: int) -> None:
    assert weight(held, 1_024) == counts


@given(st.integers(1, 10_000), st.integers(1, 10_000))
def test_a_server_that_multiplies_comes_to_the_same_number(held: int, most: int) -> None:
    assert weight(held, most) == sum(held * times <= most for times in HALVINGS)
