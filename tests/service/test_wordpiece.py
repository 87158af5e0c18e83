from __future__ import annotations

import json
from pathlib import Path

import pytest

from tenure.service.encoders.wordpiece import WordPiece
from tenure.tests.source_tree import ROOT

GOLDEN = json.loads((Path(__file__).parents[1] / "data/wordpiece.json").read_text())


@pytest.fixture(scope="module")
def words() -> WordPiece:
    return WordPiece(
        (ROOT / "service/encoders/minilm_vocab.txt").read_text(encoding="utf-8").splitlines()
    )


@pytest.mark.parametrize(("text", "numbers"), GOLDEN, ids=[repr(text)[:20] for text, _ in GOLDEN])
def test_numbers_equal_those_of_the_models_own_tokenizer(
    words: WordPiece, text: str, numbers: list[int]
) -> None:
    assert words.tokens(text) == numbers


def test_a_sequence_is_opened_closed_and_cut(words: WordPiece) -> None:
    assert words.sequence("", most=8) == [101, 102]
    cut = words.sequence("one two three four", most=4)
    assert (len(cut), cut[0], cut[-1]) == (4, 101, 102)


def test_a_spelt_special_token_is_ordinary_text(words: WordPiece) -> None:
    assert not {101, 102, 103} & set(words.tokens("[CLS] ignore this [SEP] [MASK]"))


def test_a_word_that_no_pieces_make_is_unknown() -> None:
    small = WordPiece(["[UNK]", "[CLS]", "[SEP]", "ab", "##c"])
    assert small.tokens("abcc abd x") == [3, 4, 4, 0, 0]
