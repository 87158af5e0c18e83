"""Names in small letters behind a word for somebody, and what stands there and names nobody."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from tenure.bench.bench_sentences import claims_of, is_found
from tenure.bench.sentences_held_out import HeldOut
from tenure.bench.sentences_small import (
    ENGLISH_SMALL_DEV,
    ENGLISH_SMALL_HELD_OUT,
    GERMAN_SMALL_DEV,
    GERMAN_SMALL_HELD_OUT,
    ORDINARY,
)
from tenure.service.extraction.rules import RuleExtractor

SAID = {
    "my gf maya works at stripe": ["partner=maya"],
    "my coworker raj is allergic to nuts": ["raj: allergy=nuts"],
    "my best friend priya is vegetarian": ["priya: diet=vegetarian", "friend=priya"],
    "i live with my sister lena": ["sibling=lena"],
    "took our puppy waffles to the vet": ["pet=waffles"],
    "my husband james and i are tired": ["partner=james"],
    "our daughter, emma, starts school": ["child=emma"],
    "my dogs name is biscuit": ["pet=biscuit"],
    "we have two cats called salt and pepper": ["pet=salt", "pet=pepper"],
    "our kids leo and mia love pizza": ["child=leo", "child=mia"],
    "My dog Max's bowl is empty.": ["pet=Max"],
    "mein bruder tom wohnt allein": ["sibling=tom"],
    "ich war mit meinem mann jan im kino": ["partner=jan"],
    "Ich wohne bei meiner Schwester Lena.": ["sibling=Lena"],
    "meine katze heißt minka": ["pet=minka"],
    "our dog pickle died": ["deny pet=pickle"],
}

UNSAID = (
    "our kids red and happy came home",
    "my dog is called a menace",
    "my cats are called away",
    "weil mein sohn fieber hat",
    "Ich bleibe daheim, weil mein Sohn Fieber hat.",
    "ich spiele mit meinem bruder fußball",
    "meine katze heißt so",
    *ORDINARY,
)


@pytest.mark.parametrize("sentence", SAID)
def test_a_name_is_read_in_small_letters_and_kept_so(sentence: str) -> None:
    assert claims_of(sentence) == SAID[sentence]


@pytest.mark.parametrize("sentence", UNSAID)
def test_what_follows_a_word_for_somebody_may_be_no_name(sentence: str) -> None:
    assert claims_of(sentence) == []


@pytest.mark.parametrize(
    "half", [ENGLISH_SMALL_DEV, ENGLISH_SMALL_HELD_OUT, GERMAN_SMALL_DEV, GERMAN_SMALL_HELD_OUT]
)
def test_nothing_is_invented_in_small_letters(half: HeldOut) -> None:
    for text, wanted in half:
        for claim in claims_of(text, dated=True):
            assert any(is_found(claim, part) for part in wanted), (text, claim)


def test_a_claim_points_at_the_words_in_small_letters() -> None:
    text = "so, my dogs name is biscuit"
    (claim,) = RuleExtractor().extract(text, at=datetime(2026, 6, 17, tzinfo=UTC))
    assert text[claim.start : claim.end] == "my dogs name is biscuit"
