"""A name in running text, where its words stand whole: however case, accents and spaces are.

Nothing is transliterated, as it is where names are compared: two names that are read alike would be
one. Scripts that are written without spaces, or glue particles to a name, have no whole words, so
that in those a name is found wherever its characters stand.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

_WORD: Final = re.compile(r"\w+")
_UNSPACED_SCRIPT: Final = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff"
    "\U00020000-\U0003ffff]"
)
"""Thai, Lao, Burmese, Khmer, kana, ideographs, Hangul."""
_ABOVE_OR_BELOW: Final = 200
"""Combining classes from here on are accents; those below are marks that make another letter."""


def plain_letters(text: str) -> str:
    """A text in lower case without accents, its script as it is.

    >>> plain_letters("Zoë MÜLLER, Жуков"), plain_letters("がく")
    ('zoe muller, жуков', 'がく')
    """
    if text.isascii():
        return text.lower()

    # Twice: folding may make a sign that decomposes, and decomposing one that folds.
    first_form = unicodedata.normalize("NFKD", text).casefold()
    letters: list[str] = []
    for letter in unicodedata.normalize("NFKD", first_form):
        if unicodedata.combining(letter) < _ABOVE_OR_BELOW:
            letters.append(letter)
    return unicodedata.normalize("NFKC", "".join(letters))


def word_count(phrase: str) -> int:
    """How many words a name or a text has; two characters of an unspaced script count as one.

    >>> word_count("Sam Rivera"), word_count("山田太郎"), word_count("김민수"), word_count("山田")
    (2, 2, 2, 1)
    """
    characters = _UNSPACED_SCRIPT.findall(phrase)
    return len(_WORD.findall(_UNSPACED_SCRIPT.sub(" ", phrase))) + (len(characters) + 1) // 2


def whole_words(phrase: str) -> re.Pattern[str] | None:
    """What finds a phrase in a text of plain letters; None for one without a word.

    >>> bool(whole_words("Sam Rivera").search(plain_letters("Ask SAM-RIVERA.")))
    True
    """
    words = _WORD.findall(plain_letters(phrase))
    if not words:
        return None

    # Between the words anything may stand that is no word: a hyphen, a line break, JSON.
    pattern = r"\W+".join(map(re.escape, words))
    left_edge = "" if _UNSPACED_SCRIPT.match(words[0][0]) else r"(?<!\w)"
    right_edge = "" if _UNSPACED_SCRIPT.match(words[-1][-1]) else r"(?!\w)"
    return re.compile(left_edge + pattern + right_edge)
