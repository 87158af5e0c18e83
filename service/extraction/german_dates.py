"""Days that a German sentence names, absolutely or against the moment of speaking."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Final

from .dates import absolute_day, relative_day

_MONTHS: Final = (
    "januar", "februar", "märz", "april", "mai", "juni", "juli", "august", "september", "oktober",
    "november", "dezember",
)  # fmt: skip
_MONTH: Final = "|".join(month.capitalize() for month in _MONTHS)
_WEEKDAYS: Final = {
    "montag": "monday", "dienstag": "tuesday", "mittwoch": "wednesday", "donnerstag": "thursday",
    "freitag": "friday", "samstag": "saturday", "sonnabend": "saturday", "sonntag": "sunday",
}  # fmt: skip
_WEEKDAY: Final = "|".join(day.capitalize() for day in _WEEKDAYS)
_DAYS: Final = {
    "vorgestern": "day before yesterday", "gestern": "yesterday", "heute": "today",
    "morgen": "tomorrow", "übermorgen": "day after tomorrow",
}  # fmt: skip
_UNITS: Final = {"tag": "day", "woche": "week", "monat": "month", "jahr": "year"}
_PERIODS: Final = {**_UNITS, **_WEEKDAYS, "wochenende": "weekend"}
_TURNS: Final = {
    "letzt": "last", "vorig": "last", "vergangen": "last", "dies": "this", "nächst": "next",
    "kommend": "next",
}  # fmt: skip
_NUMBERS: Final = {
    "ein": "1", "einem": "1", "einer": "1", "zwei": "2", "drei": "3", "vier": "4", "fünf": "5",
    "sechs": "6", "sieben": "7", "acht": "8", "neun": "9", "zehn": "10", "elf": "11", "zwölf": "12",
}  # fmt: skip

_COUNT: Final = r"\d{1,2}|" + "|".join(_NUMBERS)
_UNIT: Final = r"(?:Tag|Woche|Monat|Jahr)"
_RELATIVE: Final = re.compile(
    # "am Morgen" and "jeden Morgen" are no day; "morgen" is one, and begins with a capital at most.
    r"(?P<day>\b[Vv]orgestern|\b[Gg]estern|\b[Hh]eute|\b[Üü]bermorgen|\bmorgen|"
    r"^Morgen(?= [a-zäöü]))\b"
    rf"|\b(?:[Vv]or|[Ss]eit) (?P<count>{_COUNT}) (?P<unit>{_UNIT})(?:e[n]?|n)?\b"
    rf"|\b[Ii]n (?P<ahead>{_COUNT}) (?P<coming>{_UNIT})(?:e[n]?|n)?\b"
    rf"|\b(?P<turn>(?i:{'|'.join(_TURNS)}))e[mnrs]? "
    rf"(?P<period>Wochenende|Woche|Monat|Jahr|{_WEEKDAY})s?\b"
    rf"|\b[Aa]m (?P<weekday>{_WEEKDAY})\b"
)
_YEAR: Final = r"(?:19|20)\d\d"
_ABSOLUTE: Final = re.compile(
    rf"\b(?P<day>\d{{1,2}})\. (?P<month>{_MONTH})\b(?:,? (?P<year>{_YEAR})\b)?"
    rf"|\b(?P<numbered_day>\d{{1,2}})\.(?P<numbered_month>\d{{1,2}})\."
    rf"(?P<day_year>{_YEAR})?(?!\.?\d)"
    rf"|\b(?:[Ii]m|[Ss]eit|[Aa]b|[Bb]is|[Vv]on|Anfang|Mitte|Ende) (?P<only_month>{_MONTH})\b"
    rf"(?: (?P<month_year>{_YEAR})\b)?"
    rf"|\b(?:[Ii]m Jahr|[Ss]eit|[Aa]b|[Bb]is|[Vv]on) (?P<only_year>{_YEAR})\b"
    rf"|(?:^|\b(?:bin|habe|sind|haben|wurde) (?:ich |wir )?)(?P<bare_year>{_YEAR})"
    r"(?= (?:[a-zäöü]+ )?(?:nach|bei|von|bin|habe|sind|haben|wurde)\b)"
)
_COMING_CLAUSE: Final = re.compile(
    r"\b(?:ziehe|ziehen|wechsle|werde|werden|beginne|fange|starte|verlasse)\b"
)
_FROM_THEN: Final = re.compile(rf"\b[Aa]b (?:(?:dem|Anfang|Mitte|Ende) )?(?:\d|{_MONTH})")
"""From a day on: to come, unless the sentence tells what was."""
_PAST_CLAUSE: Final = re.compile(
    r"\b(?:habe|haben|bin|sind|wurde|war|hatte)\b.*\b(?:[a-zäöü]*ge[a-zäöü]{2,}(?:t|en)|verheiratet)\b"
)
"""What was ends with a participle: "ich habe am Montag dort angefangen"."""
_UNTIL_WORDS: Final = re.compile(r"\b[Bb]is (?:zum |Anfang |Mitte |Ende )?")
_FROM_WORDS: Final = re.compile(r"\b(?:[Ss]eit|[Vv]on|[Aa]b)(?: dem| Anfang| Mitte| Ende)? ")


def german_date_said(sentence: str, now: datetime, *, is_ahead: bool = False) -> datetime | None:
    """The midnight (UTC) of the first day that a German sentence names; None when it names none.

    >>> from datetime import UTC
    >>> german_date_said("Ich bin vor zwei Wochen umgezogen.", datetime(2026, 6, 20, tzinfo=UTC))
    datetime.datetime(2026, 6, 6, 0, 0, tzinfo=datetime.timezone.utc)
    """
    relative = _RELATIVE.search(sentence)
    if relative is not None:
        is_past = not is_ahead and bool(_PAST_CLAUSE.search(sentence))
        return relative_day(_english_words(relative), now, is_past=is_past)

    absolute = _ABSOLUTE.search(sentence)
    if absolute is None:
        return None
    return absolute_day(_parts(absolute), now, is_ahead=is_ahead or _is_to_come(sentence))


def _is_to_come(sentence: str) -> bool:
    """Whether a sentence tells what is to come."""
    if _COMING_CLAUSE.search(sentence):
        return True
    return _FROM_THEN.search(sentence) is not None and _PAST_CLAUSE.search(sentence) is None


def german_date_after(sentence: str, preposition: str, now: datetime) -> datetime | None:
    """The day that stands right behind a preposition: `von 2015`, `bis Mai 2019`.

    >>> from datetime import UTC
    >>> german_date_after("von 2015 bis 2019", "until", datetime(2026, 6, 20, tzinfo=UTC)).year
    2019
    """
    opening = {"until": _UNTIL_WORDS, "from": _FROM_WORDS}[preposition].search(sentence)
    if opening is None:
        return None
    # The preposition is a part of some dates, so the search begins with it.
    date = _ABSOLUTE.search(sentence, opening.start())
    if date is None or date.start() > opening.end():
        return None
    return absolute_day(_parts(date), now)


def _english_words(match: re.Match[str]) -> dict[str, str]:
    """The words of a match as those that `relative_day` knows."""
    words = {name: text.lower() for name, text in match.groupdict().items() if text}
    tables = {
        "day": _DAYS, "unit": _UNITS, "coming": _UNITS, "turn": _TURNS, "period": _PERIODS,
        "weekday": _WEEKDAYS, "count": _NUMBERS, "ahead": _NUMBERS,
    }  # fmt: skip
    english = {name: tables[name].get(word, word) for name, word in words.items()}
    if "unit" in english:
        english["past"] = "ago"
    return english


def _parts(match: re.Match[str]) -> tuple[int | None, int | None, int | None]:
    """Year, month and day of an absolute date, None for what is not said."""
    fields = match.groupdict()
    year = (
        fields["year"]
        or fields["day_year"]
        or fields["month_year"]
        or fields["only_year"]
        or fields["bare_year"]
    )
    day = fields["day"] or fields["numbered_day"]
    name = fields["month"] or fields["only_month"]
    number = fields["numbered_month"]
    month = _MONTHS.index(name.lower()) + 1 if name else number
    return int(year) if year else None, int(month) if month else None, int(day) if day else None
