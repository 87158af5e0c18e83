"""A name is found where its words stand whole, in any spelling that means the same letters."""

from __future__ import annotations

import pytest

from tenure.resolution.normalize import plain_letters, whole_words, word_count


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("Sam Rivera", "what does sam\nRIVERA's team need"),
        ("Sam Rivera", '{"who":"Sam-Rivera"}'),
        ("Zoë Müller", "Zoe\u0308 Mu\u0308ller called"),
        ("Zoe Muller", "ZOË MÜLLER called"),
        ("Groß", "GROSS and partners"),
        ("\uff33\uff41\uff4d", "sam asks"),
        ("Иван Жуков", "спроси: ИВАН ЖУКОВ."),
        ("山田太郎", "これは山田太郎さんの本です"),
        ("김민수", "김민수는 어디에 있나요"),
    ],
)
def test_a_name_is_found(name: str, text: str) -> None:
    pattern = whole_words(name)
    assert pattern is not None
    assert pattern.search(plain_letters(text))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("Sam", "the same"),
        ("Sam Rivera", "Sam met Rivera"),
        ("Rivera", "Riveras"),
        ("かく", "がく"),
        ("민수", "민숙은 어디에"),
        ("Иван", "ivan"),
    ],
)
def test_another_word_is_not_taken_for_it(name: str, text: str) -> None:
    pattern = whole_words(name)
    assert pattern is not None
    assert not pattern.search(plain_letters(text))


def test_what_has_no_word_is_found_nowhere() -> None:
    assert whole_words("--") is None
    assert word_count("--") == 0
    assert word_count("Sam Rivera") == 2
