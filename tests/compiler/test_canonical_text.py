import sys
import unicodedata
from dataclasses import astuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenure.compiler.safety.canonical_text import (
    INVALID_ENCODING,
    NOTHING_STRIPPED,
    Canonical,
    StrippedCounts,
    canonicalise,
)

PRINTED = set("\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd") | set(
    map(chr, range(0x600, 0x606))
)
HIDDEN = st.sampled_from(
    "\u200b\u200c\u200d\u202e\u2066\ufeff\u00ad\ufe0f\ufe01\U000e0100\U000e0041\ue000"
)
LETTERS = st.sampled_from("a 1\n\u0645\u0915\u4e2d\u2764\U0001f469\U0001f3fd\u0434")


@pytest.mark.parametrize(
    ("text", "kept", "kind"),
    [
        ("a\u200bb\u2060c\ufeff", "abc", "zero_width"),
        ("\u202eevil\u202c", "evil", "bidi"),
        ("\u2067x\u2069", "x", "bidi"),
        ("hi\U000e0068\U000e0069\U000e007f", "hi", "tag"),
        ("a\ue000\U000f0000\U0010fffd", "a", "private_use"),
        ("a\u00adb\u200e\u061c\ufff9", "ab", "format"),
        ("1\ufe0f\ufe01\ufe02", "1\ufe0f", "selector"),
        ("\ufe0f a\U000e0100", " a", "selector"),
        ("\n\ufe0f", "\n", "selector"),
        ("a\ufe0f=\ufe0e=\ufe0f", "a==", "selector"),
        ("a\u180b\u180f", "a", "selector"),
        ("a\x00\x07\x1b\x1c\x7f\x9b", "a", "control"),
        ("a\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0\U00016fe4", "a", "filler"),
        ("d\u200celete\u200d", "delete", "joiner"),
    ],
)
def test_hidden_characters_are_stripped_and_counted_by_kind(
    text: str, kept: str, kind: str
) -> None:
    canonical = canonicalise(text)
    assert canonical == Canonical(kept, StrippedCounts(**{kind: len(text) - len(kept)}), None)
    assert sum(astuple(canonical.strip_counts)) == len(text) - len(kept)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "plain ASCII\r\n\t\x0b\x0c",
        "naïve café, Δx, 日本語, عربي, עברית",
        "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",  # Persian: a half space inside the verb
        "\u0915\u094d\u200d\u0937",  # Devanagari: half ka before ssa
        "\U0001f469\u200d\U0001f469\u200d\U0001f467",  # a family
        "\u2764\ufe0f\u200d\U0001f525",  # heart on fire
        "\U0001f469\U0001f3fd\u200d\u2695\ufe0f",  # a woman doctor with a skin tone
        "1\ufe0f\u20e3",  # a keycap
        "\u1820\u180b",  # a variant of a Mongolian letter
        "\u2801\u2800\u2803",  # two words in braille
        "\u845b\U000e0100",  # an ideograph and the variant chosen for it
        "\u06dd \u0600\u0661",  # printed signs of category Cf
        "e\u0301 ① ﬁ Ⅳ",  # no normal form is applied
        "\u2028\u2029\x85",
    ],
)
def test_what_a_script_or_an_emoji_needs_stays(text: str) -> None:
    assert canonicalise(text) == Canonical(text, NOTHING_STRIPPED, None)


@pytest.mark.parametrize("raw", [b"\xff", b"a\xed\xa0\x80", b"\xc3", "a\ud800", "\udfff\u200b"])
def test_what_is_no_unicode_text_is_refused(raw: str | bytes) -> None:
    assert canonicalise(raw) == Canonical("", NOTHING_STRIPPED, INVALID_ENCODING)


def test_bytes_are_read_as_utf_8() -> None:
    assert canonicalise("\ufeffGrüße".encode()).text == "Grüße"


@given(st.lists(st.one_of(HIDDEN, LETTERS), max_size=12).map("".join))
def test_canonical_text_is_stable_and_the_counts_are_exact(text: str) -> None:
    canonical = canonicalise(text)
    assert canonicalise(canonical.text) == Canonical(canonical.text, NOTHING_STRIPPED, None)
    assert sum(astuple(canonical.strip_counts)) == len(text) - len(canonical.text)


def test_no_invisible_format_character_of_this_unicode_version_is_missed() -> None:
    characters = [*map(chr, range(sys.maxunicode + 1))]
    for char in characters:
        if unicodedata.category(char) == "Cf":
            left = canonicalise(f"a{char}b").text
            assert left == (f"a{char}b" if char in PRINTED else "ab"), hex(ord(char))

    # There are 137,468 of private use: one text holds them all.
    private = [char for char in characters if unicodedata.category(char) == "Co"]
    assert canonicalise("a".join(private)).text == "a" * (len(private) - 1)
