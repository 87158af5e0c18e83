"""Values, times and spans as words: for the terminal, for pages and for pictures alike.

JSON keys are the names of the fields. Times are ISO 8601 UTC in JSON; people see the day alone
where the time is midnight UTC. Nothing that was stored can steer a terminal or turn the direction
of a page: its controls are shown, never sent.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import datetime, time
from enum import Enum
from typing import Any, Final, cast

from .zone import READING_ZONE

_CONTROLS: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"  # C0 but tab and line feed, DEL, C1
    "\u061c\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff"  # direction, and what has no width
    "\u2028\u2029\ud800-\udfff]"  # line and paragraph separators, lone surrogates
)

_OPENING: Final = 60
"""Characters of a text in a table."""

_MOMENT: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")


def visible(text: str) -> str:
    r"""Show the control characters of a text, so that none of them reaches a terminal.

    >>> visible("Sam\x1b[2J \u202eadmin\r")
    'Sam\\x1b[2J \\u202eadmin\\x0d'
    """
    return _CONTROLS.sub(_escape, text)


def _escape(match: re.Match[str]) -> str:
    number = ord(match.group())
    return f"\\x{number:02x}" if number < 0x100 else f"\\u{number:04x}"


def json_text(value: object, *, indent: int | None = 2) -> str:
    r"""Write a value as JSON that holds no raw control character.

    >>> from tenure.schema.interval import Interval
    >>> json_text({"name": "a\x9b", "on": Interval(0, 1_000_000)}, indent=None)[:25]
    '{"name": "a\\u009b", "on":'
    """
    text = json.dumps(value, ensure_ascii=False, indent=indent, default=_json_value)

    # What JSON itself leaves raw is inside strings only, where \u means the same. The line
    # feeds of the indent are none of these.
    return _CONTROLS.sub(lambda match: f"\\u{ord(match.group()):04x}", text)


def _json_value(value: object) -> object:
    """A value that `json` does not know, as one that it does."""
    # Here, because every command shows texts, and `--version` need not load the schema.
    from ...schema.entity import EntityRef
    from ...schema.interval import Interval
    from ...schema.values import iso

    if isinstance(value, Interval):
        return {"valid_from": iso(value.start_us), "valid_until": iso(value.end_us)}
    if isinstance(value, EntityRef):
        return value.to_dict()
    if is_dataclass(value):
        return by_field(value)
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, datetime):
        return value.isoformat().replace("+00:00", "Z")
    if isinstance(value, Mapping):
        return {str(key): entry for key, entry in cast("Mapping[object, object]", value).items()}
    if isinstance(value, set | frozenset):
        return sorted(cast("set[Any]", value), key=str)
    return str(value)


def by_field(record: Any) -> dict[str, Any]:
    """The fields of a record by name, also of a named tuple, which JSON would take for a list."""
    if hasattr(record, "_asdict"):
        return dict(record._asdict())
    return {item.name: getattr(record, item.name) for item in fields(record)}


def when(moment: datetime | None, *, missing: str = "open", precision: str = "") -> str:
    """A moment for people, in `READING_ZONE`; of a `year` or `month` that was stated its name.

    >>> from datetime import UTC
    >>> when(datetime(2026, 6, 1, tzinfo=UTC)), when(datetime(2026, 6, 1, 12, 5, tzinfo=UTC))
    ('2026-06-01', '2026-06-01 12:05:00Z')
    """
    if moment is None:
        return missing
    if precision:
        from ...schema.values import stated_span

        return stated_span(moment, precision)
    local = moment.astimezone(READING_ZONE.get())
    text = local.isoformat(sep=" ").replace("+00:00", "Z")
    return text if local.time() != time() else text[: len("2026-06-01")]


def when_text(text: str) -> str:
    """A text that may be a moment in ISO 8601, as people read it; any other as it is.

    >>> when_text("2026-06-01T00:00:00Z"), when_text("activation")
    ('2026-06-01', 'activation')
    """
    if not _MOMENT.fullmatch(text):
        return text
    return when(datetime.fromisoformat(text))


def held_span(row: Any) -> str:
    """The valid time of a record that has `valid_from` and `valid_until`, for people."""
    start, end = row.valid_from, row.valid_until
    if start is None:
        return f"until {when(end)}" if end else "always"
    first = when(start, precision=getattr(row, "precision", ""))
    possibly = ", possibly" if getattr(row, "possibly", False) else ""
    return f"from {first}" + (f" until {when(end)}" if end else "") + possibly


def value_text(value: Any) -> str:
    """A value for people: text as it is, everything else as JSON."""
    if value is None:
        return "-"
    # An entity is read by its name.
    name = getattr(value, "name", value)
    return name if isinstance(name, str) else json_text(value, indent=None)


def counted(count: int, noun: str) -> str:
    """A count with its noun.

    >>> counted(1, "event"), counted(1200, "event")
    ('1 event', '1,200 events')
    """
    return f"{count:,} {noun}" + ("" if count == 1 else "s")


def sentence(*parts: str) -> str:
    """Parts joined by blanks; empty ones are left out.

    >>> sentence("would be", "", "accepted")
    'would be accepted'
    """
    return " ".join(part for part in parts if part)


def opening(text: str, limit: int = _OPENING) -> str:
    r"""The first words of a text on one line, in so many characters.

    >>> opening("The deploy  ended.\nIt took nine minutes, which is a little more than before.")
    'The deploy ended. It took nine minutes, which is a little…'
    """
    printable = "".join(character if character.isprintable() else " " for character in text)
    line = " ".join(printable.split())

    if len(line) <= limit:
        return line
    return (line[:limit].rpartition(" ")[0] or line[: limit - 1]) + "…"
