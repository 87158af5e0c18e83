"""From when a version holds: a stated date, that of its front matter, or one in its first words.

A date of the file system, of a PDF's metadata or of a "published" tag is a fact and never a valid
time: it tells when somebody saved the file. A date that can be read in two ways is not read.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, date, datetime
from typing import Final, NamedTuple

LOOKED_AT: Final = 3_000
"""Characters at the beginning of a text in which a date is looked for."""
OWN_DATES: Final = frozenset(("front_matter", "text", "message"))
"""Where a date is from that a file has again whenever it is read."""
FRONT_MATTER: Final = ("effective", "effective_date", "valid_from")
_MONTHS: Final = {
    name: number
    for number, names in enumerate(
        "jan jän|feb|mar mär|apr|may mai|jun|jul|aug|sep|oct okt|nov|dec dez".split("|"),
        start=1,
    )
    for name in names.split()
}
"""By the first three letters, in English and German."""
_LEAD: Final = (
    r"(?:effective(?:[ _-]+date)?(?:\s+as\s+of|\s+from|\s+on)?|in\s+force\s+(?:from|since)"
    r"|valid\s+from|gültig\s+(?:ab|seit)|in\s+kraft\s+(?:ab|seit))"
)
_DATE: Final = (
    r"(?P<iso>\d{4}-\d{2}-\d{2})"
    r"|(?P<day>\d{1,2})(?:st|nd|rd|th|\.)?\s+(?P<month>[^\W\d_]{3,9})\.?,?\s+(?P<year>\d{4})"
    r"|(?P<month2>[^\W\d_]{3,9})\.?\s+(?P<day2>\d{1,2})(?:st|nd|rd|th)?,?\s+(?P<year2>\d{4})"
    r"|(?P<a>\d{1,2})(?P<sign>[./])(?P<b>\d{1,2})(?P=sign)(?P<year3>\d{4})"
)
_STATED: Final = re.compile(rf"\b{_LEAD}\W{{0,6}}(?:{_DATE})", re.IGNORECASE)
_ONE_DATE: Final = re.compile(rf"(?:{_DATE})(?:[T ].*)?", re.IGNORECASE)


class Dated(NamedTuple):
    """An effective date, None where the recording time holds, and where it is from."""

    day: datetime | None
    source: str
    warning: str = ""


def effective_date(dates: Mapping[str, str], text: str, sent: str = "") -> Dated:
    """The date from which a version holds, as far as its file tells; `sent` is that of mail.

    >>> effective_date({}, "Effective from 1 June 2026. All staff.").day.isoformat()
    '2026-06-01T00:00:00+00:00'
    >>> effective_date({}, "Effective 03/04/2026").warning
    'ambiguous_date'
    """
    stated = next((dates[name] for name in FRONT_MATTER if dates.get(name)), "")
    if sent and not stated:
        return Dated(datetime.fromisoformat(sent).astimezone(UTC), "message")
    match = _ONE_DATE.fullmatch(stated.strip().strip("'\""))
    if stated and match is None:
        return Dated(None, "recorded", "bad_date")
    matches = [match] if match else list(_STATED.finditer(text[:LOOKED_AT]))
    days = set(map(_day, matches))
    if not days:
        return Dated(None, "recorded")
    day = days.pop()
    if days or day is None:
        return Dated(None, "recorded", "ambiguous_date")
    moment = datetime(day.year, day.month, day.day, tzinfo=UTC)
    return Dated(moment, "front_matter" if stated else "text")


def _day(match: re.Match[str]) -> date | None:
    """The day of a match; None where it may be another."""
    try:
        if match["iso"]:
            return date.fromisoformat(match["iso"])
        if match["a"]:
            first, second = int(match["a"]), int(match["b"])
            # A full stop is written between day and month alone; a stroke between both orders.
            is_day_first = match["sign"] == "." or first > 12 or first == second
            if not is_day_first and second <= 12:
                return None
            day, month = (first, second) if is_day_first else (second, first)
            return date(int(match["year3"]), month, day)
        name = match["month"] or match["month2"]
        month = _MONTHS.get(name[:3].casefold(), 0)
        return date(int(match["year"] or match["year2"]), month, int(match["day"] or match["day2"]))
    except ValueError:
        return None
