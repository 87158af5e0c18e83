from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenure.schema.errors import InvalidInput
from tenure.store.port.vectors import (
    FULL,
    MOST_DIMENSIONS,
    SCALE,
    SQUARE_LIMIT,
    check_vector,
    pack_vector,
    quantise,
    to16,
    unpack_vector,
)
from tenure.tests.support.refusals import refused

finite = st.floats(allow_nan=False, allow_infinity=False)
vectors = st.lists(finite, min_size=1, max_size=40).filter(any)


@given(vectors)
def test_a_quantised_vector_is_short_enough_for_exact_sums(vector: list[float]) -> None:
    numbers = to16(vector)
    assert max(map(abs, numbers)) <= SCALE
    assert sum(x * x for x in numbers) < SQUARE_LIMIT
    assert unpack_vector(quantise(vector)) == numbers


def test_the_longest_rounding_still_gives_exact_sums() -> None:
    assert (SCALE + math.sqrt(MOST_DIMENSIONS) / 2) ** 2 < SQUARE_LIMIT


@pytest.mark.parametrize("length", [1e-320, 1e-200, 1.0, 7.5, 1e200, 1e307])
def test_only_the_direction_counts(length: float) -> None:
    numbers = to16([3 * length, -4 * length])
    assert numbers == (2400, -3200)
    assert sum(x * x for x in numbers) == FULL


def test_halves_are_rounded_to_even() -> None:
    # a length of exactly 8,000 leaves each coordinate half of itself: 0.5, 1.5, 2.5
    numbers = to16([1, 3, 5, 7980, 562, 61])
    assert numbers[:3] == (0, 2, 2)


def test_stored_numbers_are_little_endian() -> None:
    assert pack_vector((1, -2, 4000)) == b"\x01\x00\xfe\xff\xa0\x0f"


@pytest.mark.parametrize(
    "vector", [[], [0.0, 0.0], [math.nan, 1.0], [math.inf, 1.0], [1.0] * (MOST_DIMENSIONS + 1)]
)
def test_what_has_no_direction_is_refused(vector: list[float]) -> None:
    with refused(InvalidInput, "bad_vector"):
        quantise(vector)


def test_another_count_of_numbers_than_the_encoder_makes_is_refused() -> None:
    with pytest.raises(InvalidInput, match="it has 2 numbers, the encoder makes 3") as refusal:
        to16([1.0, 2.0], dimensions=3)
    assert refusal.value.code == "bad_vector"


def test_a_query_of_whole_numbers_must_be_normalised() -> None:
    assert check_vector((2400, 3200), dimensions=2) == (2400, 3200)
    with pytest.raises(InvalidInput, match="no normalised vector"):
        check_vector((4000, 4000))
    with pytest.raises(InvalidInput, match="never mixed"):
        check_vector((2400, 3200), dimensions=3)
