"""Duplicates: a text that another one already says, by containment of word shingles.

Containment is the share of a text's five-word shingles that stand in the other. Above the
threshold the text adds nothing and becomes a pointer, unless a guard objects: numbers, negation,
entity and valid time must agree (R29). The canonical instance is the one of stronger
authority, then of higher score, then of smaller id.

>>> a = Text("a", "the deploy of nova runs every night at two", (), (0,))
>>> b = Text("b", "the deploy of nova runs every night at two", (), (1,))
>>> duplicates([b, a], words=5, threshold=0.92)
{'b': 'a'}

Sources: source 000, 6.7.3; compiler page 1.2; checklist C-154, C-183.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from .subunits import negates, numbers_of

_WORD: Final = re.compile(r"\w+")


class Text(NamedTuple):
    """A text that may repeat another."""

    object_id: str
    text: str
    guard: tuple[str, ...]
    """Entity and valid time; texts with different guards are never duplicates."""
    rank: tuple[int, ...]
    """Order of precedence: the smallest is the canonical instance."""


@lru_cache(maxsize=4_096)
def shingles(text: str, words: int) -> frozenset[tuple[str, ...]]:
    """Return the distinct runs of so many words of a text."""
    return frozenset(shingle_list(text, words))


def shingle_list(text: str, words: int) -> tuple[tuple[str, ...], ...]:
    """Return the runs of so many words of a text in order; a shorter text is one run."""
    found = _WORD.findall(text.casefold())
    if len(found) <= words:
        return (tuple(found),) if found else ()
    return tuple(zip(*(found[i:] for i in range(words)), strict=False))


def containment(part: str, whole: str, *, words: int) -> float:
    """Return the share of a text's shingles that stand in another text."""
    mine = shingles(part, words)
    return len(mine & shingles(whole, words)) / len(mine) if mine else 0.0


def duplicates(texts: Sequence[Text], *, words: int, threshold: float) -> dict[str, str]:
    """Return, for each text that says nothing new, the id of the one that says it."""
    where: dict[tuple[str, ...], list[int]] = {}
    kept: list[Text] = []
    found: dict[str, str] = {}
    for text in sorted(texts, key=lambda t: (t.rank, t.object_id)):
        mine = shingles(text.text, words)
        hits: dict[int, int] = {}
        for shingle in mine:
            for place in where.get(shingle, ()):
                hits[place] = hits.get(place, 0) + 1
        likely = (p for p in sorted(hits) if hits[p] >= threshold * len(mine))
        said = next((kept[p] for p in likely if _agree(text, kept[p])), None)
        if said is not None:
            found[text.object_id] = said.object_id
            continue
        for shingle in mine:
            where.setdefault(shingle, []).append(len(kept))
        kept.append(text)
    return found


def _agree(part: Text, whole: Text) -> bool:
    """Tell whether the guards allow one text to stand for the other."""
    return (
        part.guard == whole.guard
        and numbers_of(part.text) <= numbers_of(whole.text)
        and negates(part.text) == negates(whole.text)
    )
