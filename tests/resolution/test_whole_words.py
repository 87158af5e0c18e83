"""A name is found where its words stand whole, in any spelling that means the same letters."""

import pytest

from tenure.resolution.normalize import plain_letters, whole_words, word_count
from tenure.tests.source_tree import data_table

NAMES = data_table("names.toml")["whole_words"]


@pytest.mark.parametrize(
    ("name", "text"),
    NAMES["a_name_is_found"],
)
def test_a_name_is_found(name: str, text: str) -> None:
    pattern = whole_words(name)
    assert pattern is not None
    assert pattern.search(plain_letters(text))


@pytest.mark.parametrize(
    ("name", "text"),
    NAMES["another_word_is_not_taken_for_it"],
)
def test_another_word_is_not_taken_for_it(name: str, text: str) -> None:
    pattern = whole_words(name)
    assert pattern is not None
    assert not pattern.search(plain_letters(text))


def test_what_has_no_word_is_found_nowhere() -> None:
    assert whole_words("--") is None
    assert word_count("--") == 0
    assert word_count("Sam Rivera") == 2
