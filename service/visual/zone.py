"""The time zone in which a person reads times, and in which the dates of their questions count.

A command sets it once for its process. Writes do not look at it: a date that is stored counts in
UTC, or in the zone that is stated with it.
"""

from __future__ import annotations

from contextvars import ContextVar
from datetime import UTC, tzinfo
from typing import Final
from zoneinfo import ZoneInfo

from ...schema.errors import InvalidInput

READING_ZONE: Final[ContextVar[tzinfo]] = ContextVar("reading_zone", default=UTC)


def zone_named(zone: str | None, *, code: str) -> tzinfo:
    """A time zone by its name; UTC for none.

    Raises:
        InvalidInput: `code`.
    """
    try:
        return UTC if zone in (None, "UTC") else ZoneInfo(zone)
    except (ValueError, LookupError, OSError) as error:
        raise InvalidInput(
            f"there is no time zone {zone!r:.80}; write one such as Europe/Berlin", code=code
        ) from error
