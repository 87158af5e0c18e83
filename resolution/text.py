"""Where sentences end and which dates stand in a text: one splitter and one finder for all.

Sentences are cut after their end and at line ends only, never inside a word or a number; what
follows a full stop must look like a beginning, so `e.g. this` stays whole. Dates are found by
their spelling (ISO, day and month, quarter, weekday, year). A bare month that is also a word or
a name (May, March) counts only after a preposition.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

_GERMAN_MONTH: Final = (
    "(?:Januar|J\u00e4nner|Februar|M\u00e4rz|April|Mai|Juni|Juli|August|September|Oktober|November|"
    "Dezember)"
)
_IN_A_DATE: Final = rf"(?!(?<=\d\.)(?<!\d\d\d\.)\s{_GERMAN_MONTH}\b)"
"""German writes a dot behind the day: "am 3. Mai" ends no sentence."""
_BREAK: Final = re.compile(
    "(?<=[.!?])" + _IN_A_DATE + "\\s+(?=[\"'(\\[]?[^\\W_a-z])|\\n+|(?<=[\u3002\uff01\uff1f])"
)
_MONTH: Final = (
    r"(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|"
    r"Sep(?:t(?:ember)?)?|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)"
)
_DAY: Final = r"(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day"
_PATTERN: Final = (
    r"\b\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,6})?)?(?:Z|[+-]\d{2}:?\d{2})?)?"
    rf"|\b\d{{1,2}}(?:(?:st|nd|rd|th)(?: of)?)? {_MONTH}\b(?:,? \d{{4}}\b)?"
    rf"|\b{_MONTH}\b(?:\.? \d{{1,2}}(?:st|nd|rd|th)?\b)?(?:,? \d{{4}}\b)?"
    rf"|\b{_DAY}s?\b|\bQ[1-4](?: \d{{4}})?\b|\b(?:19|20)\d{{2}}\b"
)
_DATE: Final = re.compile(_PATTERN)
_DATE_ANY_CASE: Final = re.compile(_PATTERN, re.IGNORECASE)
_ISO_DAY: Final = re.compile(r"(\d{4})-(\d{2})-(\d{2})")
_PART: Final = re.compile(r"\d+|[a-z]+", re.IGNORECASE)
_MONTHS: Final = "jan feb mar apr may jun jul aug sep oct nov dec".split()
_MONTH_ALONE: Final = frozenset("May March Mar Jan Dec Sep Oct Nov Apr Jun".split())
_PREPOSITIONS: Final = frozenset("in since until by from of to last".split())
_LOOK_BACK: Final = 8


@dataclass(frozen=True, slots=True)
class DateSpan:
    """A date or a part of one, as written; it is no mention."""

    start: int
    end: int
    surface: str

    @property
    def parts(self) -> tuple[int | None, int | None, int | None]:
        """Year, month and day, None for what is not written."""
        # ISO first: split at its hyphens, year, month and day would read as three plain numbers.
        iso = _ISO_DAY.match(self.surface)
        if iso:
            return int(iso[1]), int(iso[2]), int(iso[3])

        year = month = day = None
        for word in _PART.findall(self.surface):
            if word.isdigit():
                year, day = (int(word), day) if len(word) == 4 else (year, int(word))
            elif word[:3].lower() in _MONTHS:
                month = _MONTHS.index(word[:3].lower()) + 1
        return year, month, day if month else None


def find_dates(text: str, *, any_case: bool = False) -> tuple[DateSpan, ...]:
    """The dates of a text, in order; `any_case` finds `in june`, too.

    >>> [date.surface for date in find_dates("Since 3 June 2024, or in May, May Lee works.")]
    ['3 June 2024', 'May']
    """
    dates: list[DateSpan] = []
    for match in (_DATE_ANY_CASE if any_case else _DATE).finditer(text):
        # "May" and "March" begin sentences, and both are names: alone they prove no date.
        is_plain = match[0].capitalize() not in _MONTH_ALONE
        if is_plain or _follows_preposition(text, match.start()):
            dates.append(DateSpan(match.start(), match.end(), match[0]))
    return tuple(dates)


def _follows_preposition(text: str, start: int) -> bool:
    before = text[max(0, start - _LOOK_BACK) : start].lower().split()
    return bool(before) and before[-1] in _PREPOSITIONS


def sentence_spans(text: str) -> Iterator[tuple[int, int]]:
    """Yield (start, end) of the sentences and lines of a text, without outer spaces.

    >>> [("Rate is 3.5 %. It fell."[a:b]) for a, b in sentence_spans("Rate is 3.5 %. It fell.")]
    ['Rate is 3.5 %.', 'It fell.']
    """
    start = 0
    for match in _BREAK.finditer(text):
        yield from _without_outer_spaces(text, start, match.start())
        start = match.end()
    yield from _without_outer_spaces(text, start, len(text))


def _without_outer_spaces(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    sentence = text[start:end]
    bare = sentence.strip()
    if bare:
        lead = start + len(sentence) - len(sentence.lstrip())
        yield lead, lead + len(bare)
