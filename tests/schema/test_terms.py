"""Terms are stable for ever: stored ones depend on these goldens."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenure.schema.terms import STOP_WORDS, TERMS_VERSION, content_terms, stem, terms

GOLDEN = {
    "": "",
    "The Chicago offices moved": "the chicago offic mov",
    "policies running speeded speed closing closed class buses": "policy run spe spe clo clo class buse",  # noqa: E501
    "C++ v2.0 rate_limit don't": "c v2 0 rate limit don t",
    "Straße Café naïve ÅNGSTRÖM": "strass cafe naiv angstrom",
    "\ufb01ne \uff21\uff22\uff23 \u2460": "fine abc 1",
    "\u0130stanbul \u01f0": "istanbul j",
    "Σίσυφος ΜΑΣ": "σισυφοσ μασ",
    "Привет, мир! ёлка": "привет мир елка",
    "مرحبا بِكم": "مرحبا بكم",
    "שלום": "שלום",
    "नमस्ते दुनिया": "नमसते दुनिया",
    "漢字とカナ": "漢 字 と カ ナ 漢字 字と とカ カナ",
    "が": "か",
    "한국어": "한 국 어 한국 국어",
    "v1漢": "v 1 漢 v1 1漢",
    "🙂 — ‖ _": "",
    "\u0301": "",
}


@pytest.mark.parametrize(("text", "golden"), GOLDEN.items())
def test_the_terms_of_many_scripts(text: str, golden: str) -> None:
    assert " ".join(terms(text)) == golden


def test_the_version_pins_the_goldens() -> None:
    assert TERMS_VERSION == 1


@given(st.text(max_size=30))
def test_terms_of_terms_are_the_same_set(text: str) -> None:
    once = terms(text)
    assert set(terms(" ".join(once))) == set(once)
    assert all(term and not any(c.isspace() for c in term) for term in once)


@given(st.text(st.sampled_from("abcdegiensyz "), max_size=20))
def test_terms_of_english_terms_are_the_same_in_order(text: str) -> None:
    assert terms(" ".join(terms(text))) == terms(text)


@given(st.text(max_size=20))
def test_spelling_forms_of_a_text_have_the_same_terms(text: str) -> None:
    assert terms(unicodedata.normalize("NFD", text)) == terms(unicodedata.normalize("NFC", text))


@given(st.text("abcdefghijklmnopqrstuvwxyz", max_size=12))
def test_a_stem_is_its_own_stem_and_never_empty(word: str) -> None:
    assert stem(stem(word)) == stem(word)
    assert bool(stem(word)) is bool(word)


def test_content_terms_leave_out_stop_words_however_stemmed() -> None:
    assert content_terms("Does this use his prompts, as was said?") == {"use", "prompt", "said"}
    assert content_terms(" ".join(STOP_WORDS)) == frozenset()
