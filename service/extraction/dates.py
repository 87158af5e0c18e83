"""Days that a sentence names, absolutely or against the moment of speaking."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Final

from ...resolution.text import DateSpan, find_dates

_PREPOSITION: Final = re.compile(
    r"\b(?:in|on|since|from|as of|until|till|to|starting|beginning) (?:the )?\Z", re.IGNORECASE
)
_COPULA_OR_PREPOSITION: Final = re.compile(
    r"\b(?:is|['\u2019]s|the|in|on|since|from|as of|until|till|to) \Z", re.IGNORECASE
)
_WEEKDAYS: Final = list[str]("monday tuesday wednesday thursday friday saturday sunday".split())
_UNIT_DAYS: Final = {"day": 1, "week": 7}
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
_PAST_CLAUSE: Final = re.compile(
    r"\b(?:[a-z]+ed|began|bought|came|did|found|gave|got|left|lost|met|quit|sold|took|was|went|were)"
    r"\b(?![^,;.]*\b(?:will|going to|starts?|begins?)\b)[^,;.]*\Z",
    re.IGNORECASE,
)
"""The end of a clause that tells what happened: `I started there` before `on Monday`."""
_COMING_CLAUSE: Final = re.compile(
    r"(?:\b(?:am|are)|['\u2019](?:m|re)) (?:now |finally )?(?:going|moving|relocating|"
    r"joining|starting|leaving|getting)\b[^,;.]*(?<!since )\Z"
    r"|(?:\b(?:will|(?:I|we) (?:start|begin))|['\u2019]ll)\b[^,;.]*(?<!since )\Z"
    r"|\b(?:starting|beginning) (?:on |in |from )?(?:the )?\Z",
    re.IGNORECASE,
)
"""The beginning of a clause that tells what is to come: `I'm moving there` before `on July 3`."""
_FROM_THEN: Final = re.compile(
    r"(?:^|[,;] |\band )(?:from|as of|as from) (?:the )?\Z", re.IGNORECASE
)
_PRESENT_CLAUSE: Final = re.compile(
    r"(?: onwards?)?,? (?:I|we)(?:['\u2019](?:m|re|ll)| (?:am|are|will|work|live|start|begin))\b"
)
"""What holds from a day on, `From July` before `I work there`, is to come."""
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


def date_said(sentence: str, now: datetime, *, is_ahead: bool = False) -> datetime | None:
    """The midnight (UTC) of the first day that a sentence names; None when it names none.

    A month without a year is the last that is not to come, or with `is_ahead` the next.

    A day of the week is the next, or the last where the words before it tell what happened.

    >>> date_said("I moved two weeks ago.", datetime(2026, 6, 20, 9, tzinfo=UTC)).date()
    datetime.date(2026, 6, 6)
    """
    relative = _RELATIVE.search(sentence)
    if relative is not None:
        # "I got an appointment on Friday" tells what happened, of a day that is still to come.
        is_past = not is_ahead and bool(_PAST_CLAUSE.search(sentence, 0, relative.start()))
        words = {name: text.lower() for name, text in relative.groupdict().items() if text}
        return relative_day(words, now, is_past=is_past)

    # "My birthday is June 3" has no preposition, and whoever speaks of what is to come means a day.
    opening = _COPULA_OR_PREPOSITION if is_ahead else _PREPOSITION
    for date in find_dates(sentence, any_case=True):
        if opening.search(sentence, 0, date.start):
            is_coming = is_ahead or _is_to_come(sentence, date)
            return absolute_day(date.parts, now, is_ahead=is_coming)
    return None


def _is_to_come(sentence: str, date: DateSpan) -> bool:
    """Whether the words around a day tell what is to come."""
    if _COMING_CLAUSE.search(sentence, 0, date.start):
        return True
    is_opening = _FROM_THEN.search(sentence, 0, date.start) is not None
    return is_opening and _PRESENT_CLAUSE.match(sentence, date.end) is not None


def date_after(sentence: str, preposition: str, now: datetime) -> datetime | None:
    """The day that stands right behind a preposition: `from 2015`, `until May 2019`.

    >>> date_after("from 2015 to 2019", "until", datetime(2026, 6, 20, tzinfo=UTC)).year
    2019
    """
    words = {"until": r"(?:until|till|to|through)", "from": r"(?:from|since)"}[preposition]
    for date in find_dates(sentence, any_case=True):
        if re.search(rf"\b{words} \Z", sentence[: date.start], re.IGNORECASE):
            return absolute_day(date.parts, now)
    return None


def absolute_day(
    parts: tuple[int | None, int | None, int | None], now: datetime, *, is_ahead: bool = False
) -> datetime | None:
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
        return datetime(year, month or 1, day or 1, tzinfo=UTC)
    except ValueError:
        return None  # the 30th of February: said, but no day


def relative_day(words: Mapping[str, str], now: datetime, *, is_past: bool) -> datetime:
    """The day that is said against the moment of speaking, by the groups of `_RELATIVE`."""
    midnight = now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)

    if "day" in words:
        return midnight + timedelta(days=_DAY_OFFSETS[words["day"]])
    if "past" in words:
        return _shift(midnight, words["unit"], -_number(words["count"]))
    if "coming" in words:
        return _shift(midnight, words["coming"], _number(words["ahead"]))
    if "weekday" in words:
        day = _weekday(midnight, words["weekday"], "this")
        return day - timedelta(weeks=1) if is_past and day > midnight else day
    if words["period"] == "weekend":
        saturday = _begin(midnight, "week") + timedelta(days=_WEEKDAYS.index("saturday"))
        return saturday + timedelta(weeks=_STEPS[words["turn"]])
    if words["period"] in _WEEKDAYS:
        return _weekday(midnight, words["period"], words["turn"])

    steps = _STEPS[words["turn"]]
    return _shift(_begin(midnight, words["period"]), words["period"], steps)


def _number(word: str) -> int:
    return _NUMBERS.get(word) or int(word)


def _weekday(midnight: datetime, name: str, turn: str) -> datetime:
    """The nearest such day: behind for `last`, ahead for `next`, today or ahead otherwise."""
    # 0 to 6 days ahead; "last" goes a week back from there, and "next" is never today.
    days = (_WEEKDAYS.index(name) - midnight.weekday()) % 7
    if turn == "last":
        days -= 7
    elif turn == "next" and days == 0:
        days = 7
    return midnight + timedelta(days=days)


def _begin(midnight: datetime, period: str) -> datetime:
    if period == "week":
        return midnight - timedelta(days=midnight.weekday())
    return midnight.replace(day=1) if period == "month" else midnight.replace(month=1, day=1)


def _shift(midnight: datetime, unit: str, count: int) -> datetime:
    """A day so many units away; a month that is too short ends on its last day."""
    if unit in _UNIT_DAYS:
        return midnight + timedelta(days=count * _UNIT_DAYS[unit])

    months = midnight.year * 12 + midnight.month - 1 + count * (12 if unit == "year" else 1)
    first = midnight.replace(year=max(1, months // 12), month=months % 12 + 1, day=1)
    for day in range(midnight.day, 0, -1):
        try:
            return first.replace(day=day)
        except ValueError:
            continue
    return first
