"""Duplicates: texts that another text already contains, by word shingles.

Containment is the share of a text's five-word shingles that the other text has. Above the threshold
the text becomes a pointer, unless numbers, negation, entity or valid time differ. The canonical
text has the stronger authority, then the higher score, then the smaller id. Checklist C-154, C-183.

>>> a = Text("a", "the deploy of nova runs every night at two", (), (0,))
>>> b = Text("b", "the deploy of nova runs every night at two", (), (1,))
>>> duplicates([b, a], words=5, threshold=0.92)
{'b': 'a'}
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from itertools import chain
from math import ceil
from typing import Final, NamedTuple

from .sentences import negates, numbers_of

_WORD: Final = re.compile(r"\w+")
_GAPS: Final = "".join(chr(c) if _WORD.match(chr(c)) else " " for c in range(128))
"""ASCII with a space for all that is in no word: splitting there is faster than finding words."""


class Text(NamedTuple):
    """A text that may repeat another."""

    object_id: str
    text: str
    guard: tuple[str, ...]
    """Entity and valid time; texts with different guards are never duplicates."""
    rank: tuple[int, ...]
    """Order of precedence: the smallest is the canonical instance."""


Shingle = tuple[str, ...]


@lru_cache(maxsize=4_096)
def shingles(text: str, words: int) -> tuple[Shingle, ...]:
    """The distinct runs of so many words of a text, in order."""
    return tuple(dict.fromkeys(shingle_list(text, words)))


def shingle_list(text: str, words: int) -> tuple[Shingle, ...]:
    """The runs of so many words of a text in order; a shorter text is one run."""
    lowercase = text.casefold()
    tokens = lowercase.translate(_GAPS).split() if lowercase.isascii() else _WORD.findall(lowercase)
    if len(tokens) <= words:
        return (tuple(tokens),) if tokens else ()
    return tuple(zip(*(tokens[i:] for i in range(words)), strict=False))


def duplicates(texts: Sequence[Text], *, words: int, threshold: float) -> dict[str, str]:
    """Return, for each text that says nothing new, the id of the one that says it.

    A text whose share `threshold` is in another shares one of any few of its shingles with
    it: only those few are looked up. A text whose guard is its alone is not looked at.
    """
    guards = Counter(text.guard for text in texts)
    rivals: list[Text] = []
    for text in texts:
        if guards[text.guard] > 1:
            rivals.append(text)
    rivals.sort(key=lambda text: (text.rank, text.object_id))

    # Prefix filtering (Bayardo, Ma, Srikant 2007): a text of n shingles that is contained to the
    # threshold shares one of its first n - ceil(threshold * n) + 1 with the text that contains
    # it. So only these are looked up, and the pairs stay linear in practice.
    shingles_of: list[tuple[Shingle, ...]] = []
    prefixes: list[tuple[Shingle, ...]] = []
    for text in rivals:
        text_shingles = shingles(text.text, words)
        shingles_of.append(text_shingles)
        count = len(text_shingles)
        prefixes.append(text_shingles[: count - ceil(threshold * count) + 1])

    vocabulary = frozenset(chain.from_iterable(prefixes))
    postings: dict[Shingle, list[int]] = {}
    repeats: dict[str, str] = {}

    for number, text in enumerate(rivals):
        runs = frozenset(shingles_of[number])
        candidates: set[int] = set()
        for shingle in prefixes[number]:
            candidates.update(postings.get(shingle, ()))

        for candidate in sorted(candidates):
            overlap = len(runs.intersection(shingles_of[candidate]))
            if overlap >= threshold * len(runs) and _agree(text, rivals[candidate]):
                repeats[text.object_id] = rivals[candidate].object_id
                break
        else:
            # Only what stands by itself can stand for others, so a repeat is never indexed.
            for shingle in vocabulary & runs:
                postings.setdefault(shingle, []).append(number)

    return repeats


def _agree(part: Text, container: Text) -> bool:
    """Whether the guards allow one text to stand for the other."""
    return (
        part.guard == container.guard
        and numbers_of(part.text) <= numbers_of(container.text)
        and negates(part.text) == negates(container.text)
    )
