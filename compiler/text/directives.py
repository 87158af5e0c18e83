"""Whether two directives can be kept by one answer.

Two contradict each other when they choose differently where an answer can only be one of both
(language, format, length, style, units), or when one forbids what the other asks for in largely
the same words. The words are data of the language; what they do not name is not seen.
Checklist C-143.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final, NamedTuple

from ...schema.language import Language
from .relevance import terms_of

_SHARED_PERMILLE: Final = 750
"""Content words that two directives share before one can deny the other: three in four."""


class Directive(NamedTuple):
    """What a directive says, as far as two can be compared."""

    forbids: bool
    terms: frozenset[str]
    choices: tuple[tuple[str, str], ...]
    """(manner, choice), one of a manner."""


@lru_cache(maxsize=1_024)
def directive_of(text: str, language: Language, slot: str = "") -> Directive:
    """Return a text as a directive; of a slot with a manner the text may be the choice alone."""
    terms = terms_of(text).difference(*map(terms_of, language.directing))
    choices = tuple(sorted(language.choices_in(text, slot).items()))
    return Directive(language.is_forbidding(text), terms, choices)


def are_opposite(left: Directive, right: Directive) -> bool:
    """Tell whether one directive forbids what the other asks for."""
    common = left.terms & right.terms
    if left.forbids == right.forbids or not common:
        return False
    if len(common) == 1:
        return left.terms == right.terms
    return 1000 * len(common) >= _SHARED_PERMILLE * min(len(left.terms), len(right.terms))


def rival_choice(left: Directive, right: Directive) -> str:
    """Return what two directives choose differently, in words; empty for nothing."""
    rivals = dict(right.choices)
    for manner, choice in left.choices:
        if rivals.get(manner, choice) != choice:
            return f"{manner}: {choice} or {rivals[manner]}"
    return ""
