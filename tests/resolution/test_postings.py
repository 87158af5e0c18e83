"""The heaviest norms, whatever is left out on the way to them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tenure.resolution.blocking import Posting, heaviest, kth_largest

KEYS = st.lists(
    st.tuples(
        st.integers(1, 30),
        st.one_of(
            st.lists(st.integers(1, 12), unique=True, max_size=6),
            st.integers(20, 90).map(lambda most: list(range(1, most))),
        ),
    ),
    max_size=12,
)


def told(keys: list[tuple[int, list[int]]]) -> list[Posting[int]]:
    return sorted((Posting(weight, norms) for weight, norms in keys), key=lambda one: -one.weight)


@given(keys=KEYS, most=st.integers(1, 20))
def test_the_heaviest_and_their_equals_are_exact(
    keys: list[tuple[int, list[int]]], most: int
) -> None:
    whole: dict[int, int] = {}
    for weight, norms in keys:
        for norm in norms:
            whole[norm] = whole.get(norm, 0) + weight
    assert heaviest(told(keys), None) == whole
    found = heaviest(told(keys), most)
    bar = kth_largest(whole.values(), most)
    assert {n: w for n, w in found.items() if w >= bar} == {
        n: w for n, w in whole.items() if w >= bar
    }


def test_a_light_key_that_many_carry_lifts_nobody_among_the_heaviest() -> None:
    keys = [Posting(50, [1]), Posting(40, [2]), Posting(1, list(range(1, 200)))]
    assert heaviest(keys, 2) == {1: 51, 2: 41}
    assert len(heaviest(keys, 3)) == 199
