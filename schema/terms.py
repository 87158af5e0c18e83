"""The one tokenizer: text to search terms, the same in both stores and in the ranking.

NFKC, case folding, words of letters and digits of one script, light English stemming. Scripts
without spaces (Chinese, Japanese, Korean, Thai, Lao, Khmer, Burmese) by single characters and
their pairs; Arabic letters in one form, without the article. Stores index the joined terms and
only propose; scores are computed over the same terms, so that both stores rank alike. The stemmer
folds plurals and a few verb endings, and German compounds part at the `s` between their nouns. A
change of either is a new `TERMS_VERSION`, and a store stems its terms again (`stemmed_again`).
D. Harman, "How effective is suffixing?", 1991.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from itertools import chain, pairwise
from typing import Final

TERMS_VERSION: Final = 3
"""Part of every envelope's identity; a change needs a re-index."""

_GAPS: Final = "".join(chr(c) if chr(c).isalnum() else " " for c in range(128))
"""ASCII with every sign as a space: what is left are words of letters and digits. Splitting there
is faster than finding words, and those of every text are asked for."""
_CJK: Final = re.compile(r"[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff]+")
_VOWEL: Final = re.compile(r"[aeiouy]")
_JOINT: Final = re.compile(r"(ung|heit|keit|schaft|ion|t[aä]t)(?<=\w{6})s(?!hip)(?=\w{4})")
"""The `s` between two German nouns, as in `kündigungsfrist`; "relationships" has none."""

STOP_WORDS: Final = frozenset(
    "a an and are as at be been but by can did do does for from had has have he her him his how i "
    "if in into is it its me my no not of on or our she should so such than that the their them "
    "then there these they this to us was we were what when where which who why will with would "
    "you your".split()
)
"""Words that carry no content for a match; still kept in phrases and counts of length."""

CONTRACTIONS: Final = frozenset(
    "s t m re ve ll don didn doesn isn aren wasn weren hasn haven hadn couldn wouldn "
    "shouldn".split()
)
"""What an apostrophe leaves of "what's" and "don't": every "person's" would match a "what's"."""


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """A word without its plural, -ing, -ed ending; a stem is its own stem.

    >>> [stem(w) for w in ("policies", "offices", "steering", "stored", "class", "red")]
    ['policy', 'offic', 'steer', 'stor', 'class', 'red']
    """
    # To the fixed point, so that a stem is its own stem and both stores may stem a stem.
    while (shorter := _shorter(word)) != word:
        word = shorter
    return word


def _shorter(word: str) -> str:
    if len(word) > 4 and word.endswith("ies"):
        word = word[:-3] + "y"
    elif len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]

    # The base needs a vowel: "ring" and "red" have no ending to lose.
    for ending in ("ing", "ed"):
        base = word[: -len(ending)]
        if word.endswith(ending) and len(base) > 2 and _VOWEL.search(base):
            return base[:-1] if base[-1] == base[-2] and base[-1] not in "lsz" else base

    # German: "Kunden" are more than one "Kunde", "Linien" than one "Linie"; "Hansen" is no Hans.
    if len(word) > 5 and word.endswith("ien"):
        return word[:-1]
    if len(word) > 5 and re.search(r"(?:[^aeiouys]|ss)en\Z", word):
        return word[:-2]

    # French: "bureaux" are more than one "bureau", "chevaux" than one "cheval".
    if len(word) > 5 and word.endswith("aux"):
        return word[:-1] if word.endswith("eaux") else word[:-2] + "l"
    return word[:-1] if len(word) > 4 and word.endswith("e") and word[-2] not in "aeiouy" else word


def terms(text: str) -> tuple[str, ...]:
    """The search terms of a text in order, repeats kept.

    >>> terms("The Chicago offices moved")
    ('the', 'chicago', 'offic', 'mov')
    """
    # Most texts and words are plain; the Unicode tables cost several times as much as the stems.
    if text.isascii():
        return tuple(map(stem, _JOINT.sub(r"\1 ", text.lower()).translate(_GAPS).split()))

    stems: list[str] = []
    words = _words(unicodedata.normalize("NFKC", text).casefold())
    for word in chain.from_iterable(_JOINT.sub(r"\1 ", word).split() for word in words):
        if word.isascii():
            stems.append(stem(word))
        else:
            stems += _foreign(word)

    return tuple(stems)


def stemmed_again(stored: str) -> str:
    """Stored terms, joined by spaces, as this version has them; safe to repeat.

    >>> stemmed_again("kunden kundigungsfrist 漢 字 漢字")
    'kund kundigung frist 漢 字 漢字'
    """
    words = [terms(word) if word.isascii() else (word,) for word in stored.split()]
    return " ".join(chain.from_iterable(words))


def _words(text: str) -> list[str]:
    """The runs of letters, marks and digits of one script; digits belong to either side.

    What only shapes letters ends no word: soft hyphens, joiners, and the Arabic stroke.
    """
    words: list[str] = []
    run, script = "", ""
    for character in text.translate(_STROKE):
        # The vowel signs of Indic and Thai words are marks, which are no letters.
        is_mark = not character.isalnum() and unicodedata.category(character).startswith("M")
        if not character.isalnum() and not is_mark:
            if not character.isascii() and unicodedata.category(character) == "Cf":
                continue
            words.append(run)
            run, script = "", ""
            continue

        new = "" if is_mark else _script(character)
        if run and not is_mark and new != script and not _joins(new, script):
            words.append(run)
            run, script = "", new
        run += character
        script = script or new

    words.append(run)
    return list(filter(None, words))


_STROKE: Final = {0x640: None}


@lru_cache(maxsize=8_192)
def _script(character: str) -> str:
    """The script of a letter, as Unicode names it; empty for a digit."""
    if _CJK.match(character):
        return "CJK"
    return unicodedata.name(character, "").partition(" ")[0] if character.isalpha() else ""


def _joins(new: str, script: str) -> bool:
    """Whether a digit stands in a word: not in one of a script without spaces."""
    return "" in (new, script) and _UNSPACED.isdisjoint((new, script))


_UNSPACED: Final = frozenset({"CJK", "THAI", "LAO", "KHMER", "MYANMAR"})
_ARABIC: Final = str.maketrans(
    "\u0649\u06cc\u06a9\u0629\u06c1\u06be\u0671", "\u064a\u064a\u0643\u0647\u0647\u0647\u0627"
)
"""Letters that are typed for one another: yeh, kaf, heh and alef in their forms."""
_ARTICLE: Final = re.compile("(?:\u0627\u0644|\u05d4)+(?=.{3})")
"""The Arabic or the Hebrew article, which is written in one with its noun."""


def _foreign(word: str) -> list[str]:
    script = next((name for name in map(_script, word) if name), "")
    if script in _UNSPACED - {"CJK"}:
        return _with_pairs(_clusters(word))

    decomposition = unicodedata.normalize("NFD", word)
    letters = "".join(c for c in decomposition if not unicodedata.combining(c))
    bare = unicodedata.normalize("NFC", letters)
    # Scripts without spaces are searched by characters and pairs of them: no word list is needed,
    # and a query of two characters finds its phrase.
    if script == "CJK":
        return _with_pairs(bare)

    bare = _ARTICLE.sub("", bare.translate(_ARABIC), count=1) if bare else ""
    return [stem(bare) if bare.isascii() else bare] if bare else []


def _clusters(word: str) -> list[str]:
    """The letters of a word, each with its marks and with what is stacked below it."""
    clusters: list[str] = []
    for character in word:
        is_stacked = bool(clusters) and clusters[-1][-1] in "\u1039\u17d2"
        if clusters and (is_stacked or not character.isalnum()):
            clusters[-1] += character
        else:
            clusters.append(character)
    return clusters


def _with_pairs(letters: Sequence[str]) -> list[str]:
    return [*letters, *(a + b for a, b in pairwise(letters))]


def content_terms(text: str) -> frozenset[str]:
    """The distinct terms of a text that are neither stop words nor halves of contractions.

    >>> sorted(content_terms("explanations of prompting"))
    ['explanation', 'prompt']
    """
    return frozenset(term for term in terms(text) if term not in _STOP_STEMS)


_STOP_STEMS: Final = STOP_WORDS | CONTRACTIONS | frozenset(stem(word) for word in STOP_WORDS)
