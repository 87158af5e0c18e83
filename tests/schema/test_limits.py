"""What no store can hold is refused wherever it occurs; documents are read exactly or refused."""

from collections.abc import Callable
from enum import IntEnum, StrEnum
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenure.schema.errors import InvalidInput
from tenure.schema.limits import INTEGER_MAX, ITEMS, NESTING, check_json, json_of, toml_of, utf8_of
from tenure.tests.support.refusals import refused


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
    with refused(InvalidInput, code):
        check_json(place(item), "the field")


def test_a_value_may_be_as_deep_as_is_said_and_no_deeper() -> None:
    value: Any = "a"
    for _ in range(NESTING):
        value = [value]
    check_json(value, "the field")
    with refused(InvalidInput, "too_deep"):
        check_json([value], "the field")


@given(VALUES)
def test_what_a_reader_of_json_makes_passes(value: object) -> None:
    check_json([value, Word.GOOD, Number.GOOD, (1.5, b"bytes", object)], "the field")


@given(st.lists(VALUES, max_size=6), st.integers(0, 5))
def test_one_bad_text_among_good_ones_is_found(values: list[object], number: int) -> None:
    values.insert(number, {"a": ["b", "c\0"]})
    with pytest.raises(InvalidInput, match="at character 1;"):
        check_json(values, "the field")


# ---- Documents from outside: each is read exactly, or refused with its place and in our own words


DIGITS = "9" * 5_000


JSON = {
    "{": "it is no JSON: Expecting property name enclosed in double quotes at column 2",
    '{\n "a" 1}': "it is no JSON: Expecting ':' delimiter at line 2, column 6",
    "[" * 100_000: "it is no JSON: it is nested too deeply",
    '["a\nb"]': "it is no JSON: Invalid control character at column 4",
    '{"a": 1, "b": 2, "a": 3}': "it is no JSON: a key occurs twice: a",
    "[NaN]": "it is no JSON: NaN is no number of JSON",
    "[-Infinity]": "it is no JSON: -Infinity is no number of JSON",
    f"[{DIGITS}]": "it holds a number beyond int64; give it as a text",
    "[9223372036854775808]": "it holds a number beyond int64; give it as a text",
    "[1e999]": "it holds a number beyond 1e308; give it as a text",
}


TOML = {
    "a = ": "it is no TOML: Invalid value (at end of document)",
    f"a = {DIGITS}": "it is no TOML: it holds a number of thousands of digits",
    "a = " + "[" * 5_000: "it is no TOML: it is nested too deeply",
}


@pytest.mark.parametrize("text", JSON)
def test_json_is_refused_with_its_place_and_reason(text: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        json_of(text, "it", code="bad_file")
    assert str(caught.value) == JSON[text]
    assert caught.value.code == ("out_of_range" if "holds" in JSON[text] else "bad_file")


@pytest.mark.parametrize("text", TOML)
def test_toml_is_refused_with_its_place_and_reason(text: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        toml_of(text, "it", code="bad_settings")
    assert str(caught.value) == TOML[text]
    assert caught.value.code == "bad_settings"


def test_what_is_whole_is_read() -> None:
    text = '{"a": [1, -9223372036854775807, 1.5, "é", null], "b": {}}'
    assert json_of(text, "it", code="x")["a"] == [1, -(2**63) + 1, 1.5, "é", None]
    assert toml_of("a = [1]", "it", code="x") == {"a": [1]}
    assert utf8_of(b"\xef\xbb\xbf{}", "it", code="x") == "{}"


def test_text_that_is_no_utf8_is_refused_with_its_byte_and_line() -> None:
    with pytest.raises(InvalidInput) as caught:
        utf8_of(b"one\ntwo\nZo\xeb", "notes.txt", code="bad_file")
    expected = "notes.txt is not UTF-8 text: byte 11, on line 3; write it as UTF-8"
    assert str(caught.value) == expected
    assert caught.value.code == "bad_file"
