"""Times and ids at the edge: what the core is given and never makes itself.

ISO 8601 text and aware datetimes come in, integer microseconds go on. Naive times and
sub-microsecond input are refused, never rounded: two distinct instants must not become one. A
calendar date is a day only in a stated zone: `day("2026-06-06", "UTC")`.

An object id is uuid5 of the tenant and the digest of a stated idempotency key, uuid5 of the event
for a replayed line, and a fresh uuid7 (RFC 9562) otherwise. `connect(ids=…, clock=…)` replaces both
sources, so that a test or a simulation is the same every time.
"""

from __future__ import annotations

import os
import re
import time
import uuid
from collections.abc import Callable
from datetime import date, datetime
from typing import Final

from ...schema.errors import InvalidInput
from ...schema.interval import INF_US, MIN_US
from ...schema.signing import OBJECT_SPACE
from ...schema.values import canonical_json, micros
from ...schema.write import Moment

Ids = Callable[[], str]
"""Returns a new uuid as text."""

Clock = Callable[[], "int | datetime"]
"""Returns now: microseconds UTC, or an aware datetime."""

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


def wall_clock() -> int:
    """Return the time of this machine in microseconds UTC."""
    return time.time_ns() // 1_000


def read(clock: Clock) -> int:
    """Return what a clock says in microseconds UTC."""
    now = clock()
    return micros(now) if isinstance(now, datetime) else now


def uuid7() -> str:
    """Return a random uuid that sorts by the time it was made."""
    stamp = (time.time_ns() // 1_000_000) & ((1 << 48) - 1)
    noise = int.from_bytes(os.urandom(10), "big")
    number = stamp << 80 | (noise & ((1 << 76) - 1)) | 7 << 76
    digits = f"{number & ~(3 << 62) | 2 << 62:032x}"
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))


def event_id(tenant: str, recorded_us: int, ordinal: int, event: str) -> str:
    """Return the object id of a replayed event; `event` is its canonical JSON."""
    return str(
        uuid.uuid5(OBJECT_SPACE, canonical_json(["event", tenant, recorded_us, ordinal, event]))
    )
