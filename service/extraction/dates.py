"""Days that an English or a German sentence names, absolutely or against the moment of speaking."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime
from typing import Final, NamedTuple

from ...resolution.normalize import find_dates

_PREPOSITION: Final = re.compile(
    r"\b(?:in|on|since|from|as of|until|till|to|starting|beginning) (?:the )?\Z", re.IGNORECASE
)
_COPULA_OR_PREPOSITION: Final = re.compile(
    r"\b(?:is|['\u2019]s|the|in|on|since|from|as of|until|till|to) \Z", re.IGNORECASE
)
_WEEKDAYS: Final = list[str]("monday tuesday wednesday thursday friday saturday sunday".split())
_STEPS: Final = {"last": -1, "this": 0, "next": 1}
_NUMBERS: Final = {
    "a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "ten": 10,
}  # fmt: skip
_COUNT: Final = r"(?P<count>\d{1,3}|" + "|".join(_NUMBERS) + ")"
_RELATIVE: Final = re.compile(
    r"\b(?:(?P<day>day before yesterday|day after tomorrow|yesterday|today|tonight|tomorrow|"
    r"this morning|last night)"
    rf"|{_COUNT} (?P<unit>day|week|month|year)s? (?P<past>ago)"
    rf"|in {_COUNT.replace('count', 'ahead')} (?P<coming>day|week|month|year)s?"
    r"|(?P<turn>last|next|this) (?P<period>weekend|week|month|year|"
    + "|".join(_WEEKDAYS)
    + r")|on (?P<weekday>"
    + "|".join(_WEEKDAYS)
    + r"))\b",
    re.IGNORECASE,
)
_DAY_OFFSETS: Final = {
    "day before yesterday": -2,
    "yesterday": -1,
    "last night": -1,
    "today": 0,
    "tonight": 0,
    "this morning": 0,
    "tomorrow": 1,
    "day after tomorrow": 2,
}

_GERMAN_MONTHS: Final = (
    "januar", "februar", "märz", "april", "mai", "juni", "juli", "august", "september", "oktober",
    "november", "dezember",
)  # fmt: skip
_GERMAN_MONTH: Final = "|".join(month.capitalize() for month in _GERMAN_MONTHS)
_GERMAN_WEEKDAYS: Final = {
    "montag": "monday", "dienstag": "tuesday", "mittwoch": "wednesday", "donnerstag": "thursday",
    "freitag": "friday", "samstag": "saturday", "sonnabend": "saturday", "sonntag": "sunday",
}  # fmt: skip
_GERMAN_WEEKDAY: Final = "|".join(day.capitalize() for day in _GERMAN_WEEKDAYS)
_GERMAN_DAYS: Final = {
    "vorgestern": "day before yesterday", "gestern": "yesterday", "heute": "today",
    "morgen": "tomorrow", "übermorgen": "day after tomorrow",
}  # fmt: skip
_GERMAN_UNITS: Final = {"tag": "day", "woche": "week", "monat": "month", "jahr": "year"}
_GERMAN_PERIODS: Final = {**_GERMAN_UNITS, **_GERMAN_WEEKDAYS, "wochenende": "weekend"}
_GERMAN_TURNS: Final = {
    "letzt": "last", "vorig": "last", "vergangen": "last", "dies": "this", "nächst": "next",
    "kommend": "next",
}  # fmt: skip
_GERMAN_NUMBERS: Final = {
    "ein": "1", "einem": "1", "einer": "1", "zwei": "2", "drei": "3", "vier": "4", "fünf": "5",
    "sechs": "6", "sieben": "7", "acht": "8", "neun": "9", "zehn": "10", "elf": "11", "zwölf": "12",
}  # fmt: skip

_GERMAN_COUNT: Final = r"\d{1,2}|" + "|".join(_GERMAN_NUMBERS)
_GERMAN_UNIT: Final = r"(?:Tag|Woche|Monat|Jahr)"
_GERMAN_YEAR: Final = r"(?:19|20)\d\d"
_GERMAN_ABSOLUTE: Final = re.compile(
    rf"\b(?P<day>\d{{1,2}})\. (?P<month>{_GERMAN_MONTH})\b(?:,? (?P<year>{_GERMAN_YEAR})\b)?"
    rf"|\b(?P<numbered_day>\d{{1,2}})\.(?P<numbered_month>\d{{1,2}})\."
    rf"(?P<day_year>{_GERMAN_YEAR})?(?!\.?\d)"
    rf"|\b(?:[Ii]m|[Ss]eit|[Aa]b|[Bb]is|[Vv]on|Anfang|Mitte|Ende) (?P<only_month>{_GERMAN_MONTH})\b"
    rf"(?: (?P<month_year>{_GERMAN_YEAR})\b)?"
    rf"|\b(?:[Ii]m Jahr|[Ss]eit|[Aa]b|[Bb]is|[Vv]on) (?P<only_year>{_GERMAN_YEAR})\b"
    rf"|(?:^|\b(?:bin|habe|sind|haben|wurde) (?:ich |wir )?)(?P<bare_year>{_GERMAN_YEAR})"
    r"(?= (?:[a-zäöü]+ )?(?:nach|bei|von|bin|habe|sind|haben|wurde)\b)"
)
_UNTIL_WORDS: Final = re.compile(r"\b[Bb]is (?:zum |Anfang |Mitte |Ende )?")
_FROM_WORDS: Final = re.compile(r"\b(?:[Ss]eit|[Vv]on|[Aa]b)(?: dem| Anfang| Mitte| Ende)? ")


class SaidDay(datetime):
    """The midnight (UTC) of a day that was said, or of the first day of a month or year."""

    precision: str = ""
    """`month` or `year` where no day was said."""

    @classmethod
    def from_date(cls, day: date, precision: str = "") -> SaidDay:
        """The midnight of a day, with what was said of it."""
        said_day = cls(day.year, day.month, day.day, tzinfo=UTC)
        said_day.precision = precision
        return said_day


def date_said(sentence: str, now: datetime, *, is_ahead: bool = False) -> SaidDay | None:
    """The midnight (UTC) of the first day that a sentence names; None when it names none.

    A month without a year, or a day of the week, is the last that is not to come; with `is_ahead`
    it is the next.

    >>> date_said("I moved two weeks ago.", datetime(2026, 6, 20, 9, tzinfo=UTC)).date()
    datetime.date(2026, 6, 6)
    """
    relative = _RELATIVE.search(sentence)
    if relative is not None:
        words = {name: text.lower() for name, text in relative.groupdict().items() if text}
        return relative_day(words, now, is_past=not is_ahead)

    # "My birthday is June 3" has no preposition, and whoever speaks of what is to come means a day.
    opening = _COPULA_OR_PREPOSITION if is_ahead else _PREPOSITION
    for span in find_dates(sentence, any_case=True):
        if opening.search(sentence, 0, span.start):
            return absolute_day(span.parts, now, is_ahead=is_ahead)
    return None


def date_after(sentence: str, preposition: str, now: datetime) -> SaidDay | None:
    """The day that stands right behind a preposition: `from 2015`, `until May 2019`.

    >>> date_after("from 2015 to 2019", "until", datetime(2026, 6, 20, tzinfo=UTC)).year
    2019
    """
    words = {"until": r"(?:until|till|to|through)", "from": r"(?:from|since)"}[preposition]
    for span in find_dates(sentence, any_case=True):
        if re.search(rf"\b{words} \Z", sentence[: span.start], re.IGNORECASE):
            return absolute_day(span.parts, now)
    return None


def absolute_day(
    parts: tuple[int | None, int | None, int | None], now: datetime, *, is_ahead: bool = False
) -> SaidDay | None:
    """The day of a year, a month and a day, as far as they are said; None when there is none.

    Without a year the nearest one is meant: behind for what was, ahead for what is to come.
    """
    year, month, day = parts
    local = now.astimezone(UTC)
    if year is None:
        if month is None:
            return None
        # A month alone is this one, on any of its days.
        today = (local.month, local.day if day else 0)
        year = local.year
        if is_ahead:
            year += (month, day or 0) < today
        else:
            year -= (month, day or 0) > today
    try:
        first_day = date(year, month or 1, day or 1)
        return SaidDay.from_date(first_day, "" if day else "month" if month else "year")
    except ValueError:
        return None  # the 30th of February: said, but no day


def relative_day(words: Mapping[str, str], now: datetime, *, is_past: bool) -> SaidDay | None:
    """The day that is said against the moment of speaking, by the groups of `_RELATIVE`.

    None for a day outside the calendar.
    """
    import pendulum  # the arithmetic of the calendar; most sentences name no such day

    today = pendulum.instance(now.astimezone(UTC)).date()

    def weekday(name: str, turn: str) -> pendulum.Date:
        number = pendulum.WeekDay(_WEEKDAYS.index(name))
        if turn == "this":
            return today.subtract(days=1).next(number)
        return today.previous(number) if turn == "last" else today.next(number)

    try:
        if "day" in words:
            day = today.add(days=_DAY_OFFSETS[words["day"]])
        elif "past" in words:
            day = today.subtract(**{words["unit"] + "s": _number(words["count"])})
        elif "coming" in words:
            day = today.add(**{words["coming"] + "s": _number(words["ahead"])})
        elif "weekday" in words:
            day = weekday(words["weekday"], "this")
            if is_past and day > today:
                day = day.subtract(weeks=1)
        elif words["period"] in _WEEKDAYS:
            day = weekday(words["period"], words["turn"])
        elif words["period"] == "weekend":
            day = today.start_of("week").add(weeks=_STEPS[words["turn"]], days=5)
        else:
            day = today.start_of(words["period"]).add(
                **{words["period"] + "s": _STEPS[words["turn"]]}
            )
    except (ValueError, OverflowError):
        return None
    period = words.get("period", "")
    return SaidDay.from_date(day, period if period in ("month", "year") else "")


def _number(word: str) -> int:
    return _NUMBERS.get(word) or int(word)


_GERMAN_RELATIVE: Final = re.compile(
    # "am Morgen" and "jeden Morgen" are no day; "morgen" is one, and begins with a capital at most.
    r"(?P<day>\b[Vv]orgestern|\b[Gg]estern|\b[Hh]eute|\b[Üü]bermorgen|\bmorgen|"
    r"^Morgen(?= [a-zäöü]))\b"
    rf"|\b(?:[Vv]or|[Ss]eit) (?P<count>{_GERMAN_COUNT}) (?P<unit>{_GERMAN_UNIT})(?:e[n]?|n)?\b"
    rf"|\b[Ii]n (?P<ahead>{_GERMAN_COUNT}) (?P<coming>{_GERMAN_UNIT})(?:e[n]?|n)?\b"
    rf"|\b(?P<turn>(?i:{'|'.join(_GERMAN_TURNS)}))e[mnrs]? "
    rf"(?P<period>Wochenende|Woche|Monat|Jahr|{_GERMAN_WEEKDAY})s?\b"
    rf"|\b[Aa]m (?P<weekday>{_GERMAN_WEEKDAY})\b"
)


def german_date_said(sentence: str, now: datetime, *, is_ahead: bool = False) -> SaidDay | None:
    """The midnight (UTC) of the first day that a German sentence names; None when it names none.

    >>> german_date_said("Ich bin seit Mai 2019 hier.", datetime(2026, 6, 20, tzinfo=UTC)).precision
    'month'
    """
    relative = _GERMAN_RELATIVE.search(sentence)
    if relative is not None:
        return relative_day(_english_words(relative), now, is_past=not is_ahead)

    absolute = _GERMAN_ABSOLUTE.search(sentence)
    if absolute is None:
        return None
    return absolute_day(_german_parts(absolute), now, is_ahead=is_ahead)


def german_date_after(sentence: str, preposition: str, now: datetime) -> SaidDay | None:
    """The day that stands right behind a preposition: `von 2015`, `bis Mai 2019`.

    >>> german_date_after("von 2015 bis 2019", "until", datetime(2026, 6, 20, tzinfo=UTC)).year
    2019
    """
    opening = {"until": _UNTIL_WORDS, "from": _FROM_WORDS}[preposition].search(sentence)
    if opening is None:
        return None
    # The preposition is a part of some dates, so the search begins with it.
    date = _GERMAN_ABSOLUTE.search(sentence, opening.start())
    if date is None or date.start() > opening.end():
        return None
    return absolute_day(_german_parts(date), now)


def _english_words(match: re.Match[str]) -> dict[str, str]:
    """The words of a match as those that `relative_day` knows."""
    words = {name: text.lower() for name, text in match.groupdict().items() if text}
    tables = {
        "day": _GERMAN_DAYS, "unit": _GERMAN_UNITS, "coming": _GERMAN_UNITS,
        "turn": _GERMAN_TURNS, "period": _GERMAN_PERIODS, "weekday": _GERMAN_WEEKDAYS,
        "count": _GERMAN_NUMBERS, "ahead": _GERMAN_NUMBERS,
    }  # fmt: skip
    english = {name: tables[name].get(word, word) for name, word in words.items()}
    if "unit" in english:
        english["past"] = "ago"
    return english


def _german_parts(match: re.Match[str]) -> tuple[int | None, int | None, int | None]:
    """Year, month and day of an absolute date, None for what is not said."""
    fields = {name: text for name, text in match.groupdict().items() if text}
    name = fields.get("month") or fields.get("only_month")
    if name:
        fields["numbered_month"] = str(_GERMAN_MONTHS.index(name.lower()) + 1)
    parts = {key.rpartition("_")[2]: int(text) for key, text in fields.items() if text.isdigit()}
    return parts.get("year"), parts.get("month"), parts.get("day")


# both languages


class DateReader(NamedTuple):
    """How one language says days."""

    said: Callable[..., SaidDay | None]
    """The first day that a sentence names: of days without a year the last, or with `is_ahead` the
    next."""
    behind: Callable[[str, str, datetime], SaidDay | None]
    """The day that comes after `until` or `from`."""


DATE_READERS: Final[Mapping[str, DateReader]] = {
    "en": DateReader(date_said, date_after),
    "de": DateReader(german_date_said, german_date_after),
}


def partial_date(words: str) -> str:
    """A day with its year or without, or a month, as a birthday is kept; empty for what is none.

    >>> partial_date("the 3rd of June"), partial_date("4 May 1988"), partial_date("1987-11-31")
    ('--06-03', '1988-05-04', '')
    >>> partial_date("May 1988")
    '1988-05'
    """
    english = find_dates(words, any_case=True)
    parts = english[0].parts if english else (None, None, None)
    german = _GERMAN_ABSOLUTE.search(words)
    if german is not None:
        parts = _german_parts(german)
    year, month, day = parts
    if month is None or (day is None and year is None):
        return ""
    if day is None:
        return f"{year:04}-{month:02}"
    try:
        # The 29th of February needs a leap year.
        date(year or 2000, month, day)
    except ValueError:
        return ""
    return f"{year:04}-{month:02}-{day:02}" if year else f"--{month:02}-{day:02}"
