r"""Subunits: a text as verbatim sentences, list items and lines, and what must not get lost.

Cuts are made after sentence ends and at line ends only, never inside a word or a number.
`propositions` are the same pieces seen as statements; `facts_of` are the numbers, names, dates
and negations that a shortened text must still hold.

>>> subunits("Rate is 3.5 %. It fell.\n- sold in May")
('Rate is 3.5 %.', 'It fell.', '- sold in May')

Distillation: which statements of a text still say something new, the most useful first.

A statement is worth its usefulness times its novelty: the share of the question's terms that it
holds, times what no statement that is in the envelope already says. One that is said already,
with the same numbers and the same sign, is worth nothing. Statements are verbatim sentences, so
no model and no rephrasing is involved. Checklist C-155.

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

from ...resolution.text import sentence_spans
from .relevance import FULL, terms_of


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


MISSING: Final = "[…]"
"""Stands where words of a text are left out."""

_MAX_CLAUSES: Final = 32
"""Clauses that a turn is cut at; who says more at once is quoted whole or not at all."""
_CLAUSE: Final = re.compile(
    r"(?:,? (?:and|but|so|und|aber) |[,;] )(?=(?:I|we|my|our|he|she|it|they|the|on|at|ich|wir|"
    r"mein\w*|unser\w*|er|sie|es|der|die|das|am|im|montags|dienstags|mittwochs|donnerstags|freitags|"
    r"samstags|sonntags)\b)",
    re.IGNORECASE,
)
_TITLE: Final = re.compile(r"\b(?:Dr|Mr|Mrs|Ms|Prof|St|Nr)\.$")
"""The end of what only looks like a sentence: "My doctor is Dr." before a name."""
_POINTS_BACK: Final = re.compile(
    r"\b(?:he|him|his|she|her|hers|it|its|they|them|their|that|this|those|these|there|then|one|"
    r"er|ihn|ihm|sie|ihr\w*|es|dessen|deren|dort|(?-i:da)|dies\w*|damit|darin|dabei|dafür)\b",
    re.IGNORECASE,
)
"""What is only understood with the words before it."""


def clauses(text: str) -> list[str]:
    """The clauses of a turn, each verbatim and with a subject of its own, in order.

    >>> clauses("I live in Ulm and my landlord is Mr Krause. It is fine.")
    ['I live in Ulm', 'my landlord is Mr Krause.', 'It is fine.']
    >>> clauses("My doctor is Dr. Wendt.")
    ['My doctor is Dr. Wendt.']
    """
    parts: list[str] = []
    for unit in every_subunit(text):
        if parts and _TITLE.search(parts[-1]):
            unit = f"{parts.pop()} {unit}"
        # The joint itself goes: "and" begins no quotation.
        start = 0
        for joint in _CLAUSE.finditer(unit):
            parts.append(unit[start : joint.start()])
            start = joint.end()
        parts.append(unit[start:])
    return parts


def clauses_beside(text: str, quotations: Iterable[str]) -> list[tuple[int, str]]:
    """The places and words of the clauses of a turn that say nothing of some quotations from it.

    What points back behind a clause with one of them may speak of it, and goes with it.

    >>> clauses_beside("I drive a Volvo. It is red. My dog is old.", ["drive a Volvo"])
    [(2, 'My dog is old.')]
    """
    parts = clauses(text)
    if len(parts) > _MAX_CLAUSES:
        return []

    topics = [(quotation, terms_of(quotation)) for quotation in quotations]
    # A clause that points back may still speak of what is over, so only one before it is safe.
    places: list[tuple[int, str]] = []
    is_behind = False
    for place, part in enumerate(parts):
        terms = terms_of(part)
        speaks_of_one = any(_speaks_of(part, terms, *topic) for topic in topics)
        if speaks_of_one or (is_behind and _POINTS_BACK.search(part)):
            is_behind = True
        else:
            places.append((place, part))
    return places


def _speaks_of(part: str, terms: AbstractSet[str], quotation: str, topic: AbstractSet[str]) -> bool:
    """Whether a clause has the words of a quotation, or most of those that say something."""
    return quotation in part or part in quotation or 2 * len(terms & topic) > len(topic)


def only_clauses(text: str, bits: int) -> str:
    """Some clauses of a turn, with a mark where others are left out.

    >>> only_clauses("I live in Ulm and my landlord is Mr Krause.", 2)
    '[…] my landlord is Mr Krause.'
    """
    parts: list[str] = []
    for place, part in enumerate(clauses(text)):
        if bits >> place & 1:
            parts.append(part)
        elif not parts or parts[-1] != MISSING:
            parts.append(MISSING)
    return " ".join(parts)
