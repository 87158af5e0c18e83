"""Institutions as other languages name them: the Bundesministerium der Finanzen and its like.

No comparison of letters sees that a ministry is called *ministère*, or that German writes the
federation into the same word. The names of states, courts and universities are made of few words,
each of which other languages have as well: `institutions.json` says which. `institution_keys` gives
such a name the set of what its words mean; names of their own, such as Hamburg, stay. Two names of
one set are renderings of each other, which proves nothing: many countries have a ministry of
finance. It brings a candidate, and a person is shown both. Pure; checklist C-047.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache, lru_cache
from importlib import resources
from typing import Final, NamedTuple

_MAX_WORDS: Final = 8
_MIN_PART: Final = 3
_ENDING: Final = 4
_LINK: Final = "s"
"""What German puts between the parts of a word."""


class _Vocabulary(NamedTuple):
    heads: frozenset[str]
    """What makes a name that of an institution."""
    meanings: dict[str, str]
    """The English word of each word, in plain letters."""
    glue: frozenset[str]
    endings: frozenset[str]
    """How the words that make an institution end, to pass over nearly all names at a glance."""


@cache
def _vocabulary() -> _Vocabulary:
    file = resources.files(__package__ or "").joinpath("institutions.json")
    raw = json.loads(file.read_text(encoding="utf-8"))
    meanings: dict[str, str] = {}
    for line in (*raw["words"], *raw["heads"]):
        words = line.split()
        for word in words:
            meanings[word] = words[0]

    heads = frozenset([line.split()[0] for line in raw["heads"]])
    endings = frozenset([word[-_ENDING:] for word in " ".join(raw["heads"]).split()])
    return _Vocabulary(heads, meanings, frozenset(raw["glue"].split()), endings)


def institution_keys(core: Sequence[str]) -> tuple[str, ...]:
    """The key of an institution's name by what its words mean; empty of any other name.

    >>> institution_keys(["bundesministerium", "finanzen"])
    ('federal-finance-ministry',)
    >>> institution_keys(["universitat", "hamburg"]), institution_keys(["acme", "foods"])
    (('hamburg-university',), ())
    """
    if not 0 < len(core) <= _MAX_WORDS:
        return ()

    # A compound ends as its last part does.
    vocabulary = _vocabulary()
    if vocabulary.endings.isdisjoint([word[-_ENDING:] for word in core]):
        return ()
    meanings: set[str] = set()
    for word in core:
        if word not in vocabulary.glue:
            meanings.update(_meanings(word))
    if len(meanings) < 2 or vocabulary.heads.isdisjoint(meanings):
        return ()
    return ("-".join(sorted(meanings)),)


@lru_cache(maxsize=16_384)
def _meanings(word: str) -> tuple[str, ...]:
    """What a word means, or the parts that German writes as one; itself if nothing is known.

    >>> _meanings("finanzministerium"), _meanings("wirtschaftsministerium"), _meanings("acme")
    (('finance', 'ministry'), ('economy', 'ministry'), ('acme',))
    """
    parts = _parts(word)
    return parts or (word,)


def _parts(word: str) -> tuple[str, ...]:
    meanings = _vocabulary().meanings
    if word in meanings:
        return (meanings[word],)

    # The longest last part first: it says what the whole is.
    for end in range(_MIN_PART, len(word) - _MIN_PART + 1):
        first, tail = word[:end], word[end:]
        if tail not in meanings:
            continue
        parts = _parts(first) or _parts(first.removesuffix(_LINK))
        if parts:
            return (*parts, meanings[tail])
    return ()
