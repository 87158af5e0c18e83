"""Records inside a text: what is one, and texts that only look like it."""

from __future__ import annotations

import pytest

from tenure.compiler.fitting.shorten import table_in


@pytest.mark.parametrize(
    "text",
    [
        "[" * 200_000,
        "[ " * 200_000,
        '[{"a":' * 50_000,
        "no list at all",
        "[1, 2, 3]",
        '[{"a": 1}]',
        '[{"a": 1}, 2]',
        '[{"a": 1}, {"a": 2}] and more',
        '[{"a": "\\u202e"}, {"a": 2}]',
    ],
    ids=lambda text: text[:20],
)
def test_what_is_no_list_of_records_is_left_as_it_is(text: str) -> None:
    assert table_in(text) is None


def test_the_words_before_the_list_stay() -> None:
    assert table_in('see [1]: [\n {"a": 1}, {"a": 2} ]') == ("see [1]: ", ({"a": 1}, {"a": 2}))
