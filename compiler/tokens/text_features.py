"""What the estimating rules count in a text besides its o200k tokens.

Character classes as the fitted rules define them: words are runs of ASCII letters, punctuation
is printable ASCII that is neither letter, digit nor space, and everything outside ASCII falls
into three bands. `runs` holds what estimators under-count most, up to eight times: the
characters of runs of whitespace and of long repeats.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

_KEPT_CHARS: Final = 4096
_KEPT_TEXTS: Final = 4096
_CJK: Final = 0x2E80
_PRESENTATION: Final = 0xFB00

_ASCII: Final = re.compile(r"[\x00-\x7f]+")
_WIDE_SPACE: Final = re.compile(r"[^\S\x00-\x7f]")
_SPACES: Final = re.compile(rb"  +")
# Eight equal characters are seven equal pairs of neighbours.
_EQUAL: Final = re.compile(rb"\0{7,}")
_SEVEN: Final = bytes(7)
_REPEATS: Final = re.compile(r"(\S)\1{7,}")


def _kind(code: int) -> str:
    char = chr(code)
    if char.isspace():
        return " "
    if "A" <= char <= "Z":
        return "A"
    if "a" <= char <= "z":
        return "a"
    if "0" <= char <= "9":
        return "0"

    return "!" if "!" <= char <= "~" else "."


_KINDS: Final = "".join(map(_kind, range(128))).encode().ljust(256, b".")
"""The class of each ASCII character, as a table for `bytes.translate`."""


@dataclass(frozen=True, slots=True)
class Features:
    """Counts of one text, all at least 0."""

    words: int = 0
    letters: int = 0
    capitals: int = 0
    digits: int = 0
    punctuation: int = 0
    other: int = 0
    """Characters outside ASCII below U+2E80."""
    cjk: int = 0
    """Characters from U+2E80 to U+FAFF."""
    high: int = 0
    """Characters from U+FB00 on."""
    space_runs: int = 0
    """Runs of two or more whitespace characters."""
    run_chars: int = 0
    """Characters in those runs, and in runs of eight or more of one other character."""


def features(text: str) -> Features:
    """The counts of a text.

    >>> features("Ab 1!").letters, features("Ab 1!").words, features("Ab 1!").punctuation
    (2, 1, 1)
    """
    return _cached_features(text) if len(text) <= _KEPT_CHARS else _cached_long_features(text)


@lru_cache(maxsize=_KEPT_TEXTS)
def _cached_features(text: str) -> Features:
    return _measure(text)


@lru_cache(maxsize=4)  # an assembled text is asked for its count and for its bounds
def _cached_long_features(text: str) -> Features:
    return _measure(text)


def _measure(text: str) -> Features:
    # Whole-text operations in C: a class a character, then counts of classes.
    wide = "" if text.isascii() else _ASCII.sub("", text)
    normal_text = _WIDE_SPACE.sub(" ", text) if wide else text
    data = normal_text.encode("ascii", "replace")
    kinds = data.translate(_KINDS)
    classes = kinds.lower()
    runs = [match.end() - match.start() for match in _SPACES.finditer(classes)]

    # What is outside ASCII became a question mark above: taken out of the punctuation again.
    bands = Counter(map(_band, wide))
    wide_marks = sum(1 for char in wide if not char.isspace())
    return Features(
        words=_word_starts(classes),
        letters=classes.count(b"a"),
        capitals=kinds.count(b"A"),
        digits=kinds.count(b"0"),
        punctuation=kinds.count(b"!") - wide_marks,
        other=bands["other"],
        cjk=bands["cjk"],
        high=bands["high"],
        space_runs=len(runs),
        run_chars=sum(runs) + _repeat_chars(data, normal_text),
    )


def _word_starts(classes: bytes) -> int:
    """How many runs of letters begin."""
    before = (b" a", b"0a", b"!a", b".a")
    return classes.startswith(b"a") + sum(map(classes.count, before))


def _repeat_chars(data: bytes, text: str) -> int:
    """The characters in runs of eight or more of one character that is no space."""
    # Each byte against the one before it, as one large number: equal neighbours leave zeros.
    number = int.from_bytes(data, "little")
    change = (number ^ (number << 8)).to_bytes(len(data) + 1, "little")
    if _SEVEN not in change:
        return 0

    total = 0
    for match in _EQUAL.finditer(change, 1, len(data)):
        start = match.start() - 1
        if data[start] == ord("?"):  # also represents whatever is not ASCII
            repeats = _REPEATS.finditer(text, start, match.end())
            total += sum(repeat.end() - repeat.start() for repeat in repeats)
        elif not chr(data[start]).isspace():
            total += match.end() - start

    return total


def _band(char: str) -> str:
    if ord(char) < _CJK:
        return "other"
    return "cjk" if ord(char) < _PRESENTATION else "high"
