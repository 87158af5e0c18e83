"""What no store can hold is refused wherever it stands in a JSON value."""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum, StrEnum
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenure.schema.errors import InvalidInput
from tenure.schema.limits import INTEGER_MAX, ITEMS, NESTING, check_json


class Word(StrEnum):
    """Texts that are no plain ones."""

    GOOD = "good"
    BAD = "b\0d"


class Number(IntEnum):
    """Numbers that are no plain ones."""

    GOOD = 1
    BAD = 2**70


OFFENDERS = [
    ("\0", "unstorable_text"),
    ("a\ud800b", "unstorable_text"),
    (Word.BAD, "unstorable_text"),
    (INTEGER_MAX + 1, "out_of_range"),
    (-INTEGER_MAX - 1, "out_of_range"),
    (Number.BAD, "out_of_range"),
    (float("inf"), "out_of_range"),
    (float("nan"), "out_of_range"),
    ({1: "a"}, "bad_field"),
    ({"a": 1, ("b",): 2}, "bad_field"),
    ({"\0": 1}, "unstorable_text"),
    (MappingProxyType({"\udfff": 1}), "unstorable_text"),
    ([0] * (ITEMS + 1), "too_large"),
]
PLACES: list[Callable[[Any], Any]] = [
    lambda item: item,
    lambda item: [1, "a", item],
    lambda item: ("a", {"b": [None, True, item]}),
    lambda item: MappingProxyType({"a": item, "b": 2.5}),
]
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-INTEGER_MAX, INTEGER_MAX) | st.text("abc", max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text("abc"), inner, max_size=4),
)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize(("item", "code"), OFFENDERS)
def test_what_cannot_be_stored_is_refused_at_any_place(
    place: Callable[[Any], Any], item: Any, code: str
) -> None:
    with pytest.raises(InvalidInput) as refusal:
        check_json(place(item), "the field")
    assert refusal.value.code == code


def test_a_value_may_be_as_deep_as_is_said_and_no_deeper() -> None:
    value: Any = "a"
    for _ in range(NESTING):
        value = [value]
    check_json(value, "the field")
    with pytest.raises(InvalidInput) as refusal:
        check_json([value], "the field")
    assert refusal.value.code == "too_deep"


@given(VALUES)
def test_what_a_reader_of_json_makes_passes(value: object) -> None:
    check_json([value, Word.GOOD, Number.GOOD, (1.5, b"bytes", object)], "the field")


@given(st.lists(VALUES, max_size=6), st.integers(0, 5))
def test_one_bad_text_among_good_ones_is_found(values: list[object], number: int) -> None:
    values.insert(number, {"a": ["b", "c\0"]})
    with pytest.raises(InvalidInput, match="at character 1;"):
        check_json(values, "the field")
