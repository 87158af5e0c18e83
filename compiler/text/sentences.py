r"""A text as verbatim sentences, and which of them still say something new.

Cuts are made after sentence ends and at line ends, never inside a word or a number. `facts_of`
lists the numbers, names, dates and negations that a shortened text must keep.

>>> subunits("Rate is 3.5 %. It fell.\n- sold in May")
('Rate is 3.5 %.', 'It fell.', '- sold in May')

A statement's worth is its usefulness (the share of the question's terms that it has) times its
novelty (what no statement of the envelope already says). A repeated statement with the same numbers
and the same sign is worth nothing. Nothing is rephrased. Checklist C-155.

>>> known = [statement_of("Rome is hot")]
>>> ranked(["Rome is hot.", "Rome has 3 rivers."], frozenset({"rome"}), known)
[(1, 1000000)]
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from functools import lru_cache
from itertools import chain
from typing import Final, NamedTuple

from ...resolution.normalize import sentence_spans
from .relevance import FULL, terms_of

_ALNUM: Final = re.compile(r"[^\W_]")

_NUMBER: Final = re.compile(r"\d(?:[\d.,:/-]*\d)?")

_NAME: Final = re.compile(r"\b[A-Z][\w-]*[A-Za-z][\w-]*\b")

_NEGATION: Final = re.compile(
    r"\b(?:no|not|never|none|nothing|neither|nor|without|cannot|nicht|kein\w*|ohne|jamais|pas"
    r"|sans|sin|nunca)\b|n't\b",
    re.IGNORECASE,
)

MAX_UNITS: Final = 400
"""Subunits looked at in one text; a longer one is a book, not a passage."""

MISSING: Final = "[…]"
"""Stands where words of a text are left out."""


@lru_cache(maxsize=1_024)
def subunits(text: str) -> tuple[str, ...]:
    """The sentences and lines of a text, each verbatim; of a book the first ones."""
    return every_subunit(text)[:MAX_UNITS]


@lru_cache(maxsize=64)
def every_subunit(text: str) -> tuple[str, ...]:
    """The sentences and lines of a text, however many there are."""
    parts = [text[start:end] for start, end in sentence_spans(text)]
    return tuple(filter(_ALNUM.search, parts))


def places_to_rank(units: Sequence[str], query_terms: AbstractSet[str]) -> list[int]:
    """The places of a text that are worth a look, in order: of a book, those of its hits.

    >>> pages = [f"Page {n}." for n in range(500)]
    >>> places_to_rank([*pages, "It was mended in Chicago."], {"chicago"})
    [500]
    """
    if len(units) <= MAX_UNITS:
        return list(range(len(units)))

    places: list[int] = []
    for place, unit in enumerate(units):
        # Words are worked out for each sentence of a book: tens of milliseconds, for a text that
        # would not be shown at all otherwise.
        if not query_terms.isdisjoint(terms_of(unit)):
            places.append(place)
    return places[:MAX_UNITS]


@lru_cache(maxsize=4_096)
def facts_of(text: str) -> frozenset[str]:
    """The numbers, dates, names and negations of a text.

    >>> sorted(facts_of("Nova never shipped 12 units to Chicago"))
    ['12', 'Chicago', 'Nova', 'not']
    """
    facts = {*_NUMBER.findall(text), *_NAME.findall(text)}
    return frozenset(facts | ({"not"} if _NEGATION.search(text) else set()))


def numbers_of(text: str) -> frozenset[str]:
    """The numbers and dates of a text."""
    return frozenset(_NUMBER.findall(text))


def negates(text: str) -> bool:
    """Whether a text holds a negation."""
    return _NEGATION.search(text) is not None


class Statement(NamedTuple):
    """What a statement says, as far as two can be compared."""

    terms: frozenset[str]
    numbers: frozenset[str]
    denies: bool


def statement_of(text: str) -> Statement:
    """A text as one statement."""
    return Statement(terms_of(text), numbers_of(text), negates(text))


def statements(texts: Iterable[str]) -> list[Statement]:
    """The statements that texts make, each once, in order."""
    units = chain.from_iterable(map(subunits, texts))
    return list(dict.fromkeys(map(statement_of, units)))


def novelty(statement: Statement, known: Iterable[Statement]) -> int:
    """The share of a statement that nothing said holds already, in millionths."""
    size = len(statement.terms)
    if not size:
        return 0

    overlap = 0
    for source in known:
        if _may_say(source, statement):
            overlap = max(overlap, len(statement.terms & source.terms))

    return FULL - overlap * FULL // size


def ranked(
    units: Sequence[str], query_terms: frozenset[str], known: Sequence[Statement]
) -> list[tuple[int, int]]:
    """Return (place, worth in millionths) of the units that are worth anything, best first."""
    scores: list[tuple[int, int]] = []
    for place, unit in enumerate(units):
        statement = statement_of(unit)
        overlap = len(query_terms & statement.terms)
        worth = overlap * novelty(statement, known) // len(query_terms) if overlap else 0
        if worth:
            scores.append((place, worth))

    return sorted(scores, key=lambda pair: (-pair[1], pair[0]))


def _may_say(source: Statement, statement: Statement) -> bool:
    """Whether one statement may stand for another: numbers and sign must agree."""
    return statement.numbers <= source.numbers and statement.denies == source.denies
