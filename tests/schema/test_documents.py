"""Documents from outside: each is read exactly, or refused with its place and in our own words."""

from __future__ import annotations

import pytest

from tenure import InvalidInput
from tenure.schema.documents import json_of, toml_of, utf8_of

DIGITS = "9" * 5_000

JSON = {
    "{": "it is no JSON: Expecting property name enclosed in double quotes at column 2",
    '{\n "a" 1}': "it is no JSON: Expecting ':' delimiter at line 2, column 6",
    "[" * 100_000: "it is no JSON: it is nested too deeply",
    '["a\nb"]': "it is no JSON: Invalid control character at column 4",
    '{"a": 1, "b": 2, "a": 3}': "it is no JSON: a key stands twice: a",
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
