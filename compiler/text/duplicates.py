"""Duplicates: a text that another one already says, by containment of word shingles.

Containment is the share of a text's five-word shingles that stand in the other. Above the
threshold the text adds nothing and becomes a pointer, unless a guard objects: numbers, negation,
entity and valid time must agree. The canonical instance is the one of stronger
authority, then of higher score, then of smaller id.

>>> a = Text("a", "the deploy of nova runs every night at two", (), (0,))
>>> b = Text("b", "the deploy of nova runs every night at two", (), (1,))
>>> duplicates([b, a], words=5, threshold=0.92)
{'b': 'a'}

Checklist C-154, C-183.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
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

    A text whose share `threshold` stands in another shares one of any few of its shingles with
    it: only those few are looked up. A text whose guard is its alone is not looked at.
    """
    guards = Counter(text.guard for text in texts)
    rivals = (text for text in texts if guards[text.guard] > 1)
    ordered = sorted(rivals, key=lambda t: (t.rank, t.object_id))
    said_by = [shingles(text.text, words) for text in ordered]
    probes = [mine[: len(mine) - ceil(threshold * len(mine)) + 1] for mine in said_by]
    asked = {shingle for few in probes for shingle in few}
    where: dict[Shingle, list[int]] = {}
    found: dict[str, str] = {}

    for place, (text, mine) in enumerate(zip(ordered, said_by, strict=True)):
        likely = sorted({p for shingle in probes[place] for p in where.get(shingle, ())})
        said = next(
            (
                ordered[p]
                for p in likely
                if len({*mine}.intersection(said_by[p])) >= threshold * len(mine)
                and _agree(text, ordered[p])
            ),
            None,
        )
        if said is not None:
            found[text.object_id] = said.object_id
            continue

        for shingle in asked.intersection(mine):
            where.setdefault(shingle, []).append(place)

    return found


def _agree(part: Text, container: Text) -> bool:
    """Whether the guards allow one text to stand for the other."""
    return (
        part.guard == container.guard
        and numbers_of(part.text) <= numbers_of(container.text)
        and negates(part.text) == negates(container.text)
    )
