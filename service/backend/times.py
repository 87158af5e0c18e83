"""Times at the edge: ISO 8601 text and aware datetimes in, integer microseconds out.

Naive times and sub-microsecond input are refused, never rounded: two distinct instants must
not become one. A calendar date is a day only in a stated zone: `day("2026-06-06", "UTC")`.
"""

from __future__ import annotations

import re
from datetime import date, datetime
from typing import Final

from ...schema.errors import InvalidInput
from ...schema.interval import INF_US, MIN_US
from ...schema.values import micros
from ...schema.write import Moment

_TOO_FINE: Final = re.compile(r"[.,]\d{6}\d*[1-9]")
_DATE_ONLY: Final = re.compile(r"\d{4}-\d{2}-\d{2}")
_PART_OF_DATE: Final = re.compile(r"(?:year|month|day|hour|minute|second) ")
_OPEN_START: Final = "-infinity"
_OPEN_END: Final = "infinity"


def instant(value: Moment, *, field: str) -> int:
    """Return an instant as microseconds UTC; `-infinity` and `infinity` are the open ends.

    Raises:
        InvalidInput: `naive_datetime`, `sub_microsecond`, `bad_time`.
    """
    if value == _OPEN_START:
        return MIN_US
    if value == _OPEN_END:
        return INF_US
    if isinstance(value, str):
        return micros(_iso_time(value, field))

    if isinstance(value, datetime):
        if getattr(value, "nanosecond", 0) % 1000:
            raise _too_fine(str(value), field)
        return micros(value)

    raise InvalidInput(
        f"{field} is no time but {type(value).__name__}; give ISO 8601 text with a zone, such as "
        "2026-06-06T12:00:00Z, or an aware datetime",
        code="bad_time",
        field=field,
    )


def optional(value: Moment, *, field: str) -> int | None:
    """Return an instant, or None when none is given."""
    return None if value is None else instant(value, field=field)


def _iso_time(text: str, field: str) -> datetime:
    if _TOO_FINE.search(text):
        raise _too_fine(text, field)

    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        # Of Python's own words only those about a part of the date say anything to a reader.
        reason = f" ({error})" if _PART_OF_DATE.match(str(error)) else ""
        raise InvalidInput(
            f"{field} {text!r} is no ISO 8601 time{reason}; write it like 2026-06-06T12:00:00Z",
            code="bad_time",
            field=field,
        ) from error

    # A date that does not exist was refused above: no advice may hold one.
    if _DATE_ONLY.fullmatch(text):
        raise InvalidInput(
            f"{field} {text!r} is a calendar date, which is no instant until its zone is known; "
            f"write {text}T00:00:00Z, or with the offset of a zone {text}T00:00:00+01:00",
            code="naive_datetime",
            field=field,
        )
    return moment


def _too_fine(text: str, field: str) -> InvalidInput:
    return InvalidInput(
        f"{field} {text!r} is finer than a microsecond; tenure never rounds a time, "
        "so cut it to six digits yourself",
        code="sub_microsecond",
        field=field,
    )


def day(when: str | date, zone: str) -> tuple[datetime, datetime]:
    """Return a calendar day in a zone as [local midnight, next local midnight).

    >>> [m.isoformat() for m in day("2026-03-29", "Europe/Berlin")]
    ['2026-03-29T00:00:00+01:00', '2026-03-30T00:00:00+02:00']

    Raises:
        InvalidInput: `bad_time` for an unknown zone or a date that does not exist.
    """
    import pendulum

    try:
        date_of_year = date.fromisoformat(when) if isinstance(when, str) else when
        start = pendulum.datetime(date_of_year.year, date_of_year.month, date_of_year.day, tz=zone)
    except (ValueError, LookupError) as error:
        raise InvalidInput(
            f"{when!r} in {zone!r} is no calendar day: {error}", code="bad_time"
        ) from error

    return start, start.add(days=1)
