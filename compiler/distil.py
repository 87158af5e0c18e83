"""Distillation: which statements of a text still say something new, the most useful first.

A statement is worth its usefulness times its novelty: the share of the question's terms that it
holds, times what no statement that is in the envelope already says. One that is said already,
with the same numbers and the same sign, is worth nothing. Statements are verbatim sentences, so
no model and no rephrasing is involved. Source 000, 6.7.4, algorithm 6.4; checklist C-155; R29.

>>> ranked(["Rome is hot.", "Rome has 3 rivers."], frozenset({"rome"}), [of("Rome is hot")])
[(1, 1000000)]
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from .text.relevance import FULL, terms_of
from .text.sentences import negates, numbers_of, subunits


class Statement(NamedTuple):
    """What a statement says, as far as two can be compared."""

    terms: frozenset[str]
    numbers: frozenset[str]
    denies: bool


def of(text: str) -> Statement:
    """Return a text as one statement."""
    return Statement(terms_of(text), numbers_of(text), negates(text))


def statements(texts: Iterable[str]) -> list[Statement]:
    """Return the statements that texts make, each once, in order."""
    return list(dict.fromkeys(of(unit) for text in texts for unit in subunits(text)))


def novelty(statement: Statement, said: Iterable[Statement]) -> int:
    """Return the share of a statement that nothing said holds already, in millionths."""
    size = len(statement.terms)
    if not size:
        return 0
    known = max((len(statement.terms & s.terms) for s in said if _may_say(s, statement)), default=0)
    return FULL - known * FULL // size


def ranked(
    units: Sequence[str], asked: frozenset[str], said: Sequence[Statement]
) -> list[tuple[int, int]]:
    """Return (place, worth in millionths) of the units that are worth anything, best first."""
    found: list[tuple[int, int]] = []
    for place, unit in enumerate(units):
        statement = of(unit)
        shared = len(asked & statement.terms)
        worth = shared * novelty(statement, said) // len(asked) if shared else 0
        if worth:
            found.append((place, worth))
    return sorted(found, key=lambda pair: (-pair[1], pair[0]))


def _may_say(said: Statement, statement: Statement) -> bool:
    """Tell whether one statement may stand for another: numbers and sign must agree (R29)."""
    return statement.numbers <= said.numbers and statement.denies == said.denies
