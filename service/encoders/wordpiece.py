"""WordPiece: text to the token numbers of a BERT model without capitals.

Clean, part CJK characters, decompose and drop marks, lower, split at punctuation, then take
the longest known pieces from the left. The numbers equal those of the tokenizer the models
were trained with but in two cases. A text that spells a special token such as `[SEP]` is
ordinary text here, so that nobody can put a separator into what he writes. And characters
that came after Unicode 8 have the properties that Python knows.

The vocabulary is given; this module opens no file.
Source: Y. Wu et al., "Google's neural machine translation system", 2016, section 4.1.
"""

from __future__ import annotations

import string
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

_LONGEST_WORD: Final = 100
"""Characters; a longer word is one unknown token, as in training."""

_CJK: Final = (
    (0x3400, 0x4DBF),
    (0x4E00, 0x9FFF),
    (0xF900, 0xFAFF),
    (0x20000, 0x2A6DF),
    (0x2A700, 0x2B73F),
    (0x2B740, 0x2B81F),
    (0x2B920, 0x2CEAF),
    (0x2F800, 0x2FA1F),
)
"""The ranges that the model's tokenizer parts; the gap from 0x2B820 is its own."""


class WordPiece:
    """The tokenizer of one vocabulary."""

    def __init__(self, vocabulary: Sequence[str]) -> None:
        """Take the tokens of a vocabulary in order of their numbers."""
        self._numbers: Mapping[str, int] = {token: n for n, token in enumerate(vocabulary)}
        self._unknown = self._numbers["[UNK]"]
        self._start, self._end = self._numbers["[CLS]"], self._numbers["[SEP]"]

    def tokens(self, text: str) -> list[int]:
        """Return the token numbers of a text, without those that open and close it."""
        return [number for word in _words(text) for number in self._pieces(word)]

    def sequence(self, text: str, *, most: int) -> list[int]:
        """Return the opened and closed sequence of a text, cut to `most` tokens."""
        return [self._start, *self.tokens(text)[: most - 2], self._end]

    def _pieces(self, word: str) -> list[int]:
        if len(word) > _LONGEST_WORD:
            return [self._unknown]
        found: list[int] = []
        start = 0
        while start < len(word):
            number, start = self._longest(word, start)
            if number is None:
                return [self._unknown]
            found.append(number)
        return found

    def _longest(self, word: str, start: int) -> tuple[int | None, int]:
        prefix = "##" if start else ""
        for end in range(len(word), start, -1):
            number = self._numbers.get(prefix + word[start:end])
            if number is not None:
                return number, end
        return None, start


def _words(text: str) -> Iterator[str]:
    """Yield the words and punctuation marks of a text in their normal form."""
    for spaced in "".join(map(_cleaned, text)).split():
        word = ""
        for character in _bare(spaced):
            if _is_punctuation(character):
                yield from filter(None, (word, character))
                word = ""
            else:
                word += character
        if word:
            yield word


def _cleaned(character: str) -> str:
    if character.isascii():
        return character if character.isprintable() else " " if character in "\t\n\r" else ""
    if character == "\ufffd" or unicodedata.category(character) in ("Cc", "Cf", "Cs", "Co"):
        return ""
    if any(low <= ord(character) <= high for low, high in _CJK):
        return f" {character} "
    return " " if character.isspace() else character


def _bare(word: str) -> str:
    if word.isascii():
        return word.lower()
    apart = unicodedata.normalize("NFD", word)
    # one character at a time: a whole word would get a final sigma, which the models never saw
    return "".join(c.lower() for c in apart if unicodedata.category(c) != "Mn")


def _is_punctuation(character: str) -> bool:
    if character.isascii():
        return character in string.punctuation
    return unicodedata.category(character).startswith("P")
