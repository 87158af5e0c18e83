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
_WORD: Final = re.compile(r"[A-Za-z]+")
_SPACES: Final = re.compile(r"\s{2,}")
_REPEATS: Final = re.compile(r"(\S)\1{7,}")
_CJK: Final = 0x2E80
_PRESENTATION: Final = 0xFB00


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
    """Return the counts of a text.

    >>> features("Ab 1!").letters, features("Ab 1!").words, features("Ab 1!").punctuation
    (2, 1, 1)
    """
    return _kept(text) if len(text) <= _KEPT_CHARS else _measure(text)


@lru_cache(maxsize=4096)
def _kept(text: str) -> Features:
    return _measure(text)


def _measure(text: str) -> Features:
    totals: Counter[str] = Counter()
    for char, count in Counter(text).items():
        totals[_band(char)] += count
        totals["capitals"] += count if "A" <= char <= "Z" else 0
    runs = [match.end() - match.start() for match in _SPACES.finditer(text)]
    repeats = sum(match.end() - match.start() for match in _REPEATS.finditer(text))
    del totals["none"]
    return Features(
        words=sum(1 for _ in _WORD.finditer(text)),
        space_runs=len(runs),
        run_chars=sum(runs) + repeats,
        **totals,
    )


def _band(char: str) -> str:
    code = ord(char)
    if code < 0x80:
        if not char.isprintable() or char == " ":
            return "none"
        if char.isalpha():
            return "letters"
        return "digits" if char.isdigit() else "punctuation"
    if code < _CJK:
        return "other"
    return "cjk" if code < _PRESENTATION else "high"
