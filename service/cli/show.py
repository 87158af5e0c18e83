"""Showing: values as machine-readable JSON, and as tables and lines for people.

JSON keys are the names of the fields, and never change with the terminal. Times are ISO 8601
UTC in JSON; people see the day alone where the time is midnight UTC. On a terminal the width
is its own and colours are used; anywhere else nothing is cut, folded or coloured.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from datetime import datetime
from enum import Enum
from typing import TYPE_CHECKING, Any, cast

import typer

from ...schema.interval import Interval
from ...schema.values import iso
from .frame import frame_of

if TYPE_CHECKING:
    from rich.console import Console

_WIDE = 10_000
"""Columns where there is no terminal: nothing is cut."""


def plain(value: Any) -> Any:
    """Return a value as JSON knows it; the keys are the names of the fields.

    >>> plain(Interval(0, 1_000_000))
    {'valid_from': '1970-01-01T00:00:00Z', 'valid_until': '1970-01-01T00:00:01Z'}
    """
    if isinstance(value, Interval):
        return {"valid_from": iso(value.start_us), "valid_until": iso(value.end_us)}
    if is_dataclass(value) and not isinstance(value, type):
        return {f.name: plain(getattr(value, f.name)) for f in fields(value)}
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, datetime):
        return value.isoformat().replace("+00:00", "Z")
    if isinstance(value, Mapping):
        held = cast("Mapping[object, object]", value)
        return {str(k): plain(v) for k, v in held.items()}
    if isinstance(value, set | frozenset):
        return sorted((plain(v) for v in cast("set[object]", value)), key=str)
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return [plain(v) for v in cast("Sequence[object]", value)]
    return value if isinstance(value, str | int | float | bool | None) else str(value)


def answer(context: typer.Context, value: Any, show: Callable[[Console], None]) -> None:
    """Print a result: as JSON when it was asked for, else as `show` prints it."""
    if frame_of(context).as_json:
        print(json.dumps(plain(value), ensure_ascii=False, indent=2))
    else:
        show(console())


def console(*, stderr: bool = False) -> Console:
    """Return a console of standard output, or of standard error."""
    from rich.console import Console

    stream = sys.stderr if stderr else sys.stdout
    width = None if stream.isatty() else _WIDE
    return Console(file=stream, width=width, highlight=False, markup=False, emoji=False)


def listed(
    out: Console, heads: Sequence[str], rows: Sequence[Sequence[object]], *, none: str = "none"
) -> None:
    """Print rows under heads, or say that there are none."""
    if rows:
        table(out, heads, rows)
    else:
        out.print(none)


def table(out: Console, heads: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print rows under heads; ids are never cut."""
    from rich.table import Table
    from rich.text import Text

    grid = Table(box=None, pad_edge=False, show_edge=False, header_style="bold")
    for head in heads:
        grid.add_column(head, overflow="fold", no_wrap=head in ("id", "object", "review"))
    for row in rows:
        grid.add_row(*(Text(_cell(cell)) for cell in row))
    out.print(grid)


def _cell(cell: object) -> str:
    if cell is None:
        return "-"
    return when(cell) if isinstance(cell, datetime) else str(cell)


def when(moment: datetime | None, *, missing: str = "open") -> str:
    """Return a moment for people, in UTC.

    >>> from datetime import UTC
    >>> when(datetime(2026, 6, 1, tzinfo=UTC)), when(datetime(2026, 6, 1, 12, 5, tzinfo=UTC))
    ('2026-06-01', '2026-06-01 12:05:00Z')
    """
    if moment is None:
        return missing
    text = moment.isoformat(sep=" ").replace("+00:00", "Z")
    return text.removesuffix(" 00:00:00Z")


def span(start: datetime | None, end: datetime | None) -> str:
    """Return an interval for people.

    >>> span(None, None)
    'always'
    """
    if start is None and end is None:
        return "always"
    if start is None:
        return f"until {when(end)}"
    return f"from {when(start)}" + (f" until {when(end)}" if end else "")


def value_text(value: Any) -> str:
    """Return a value for people: text as it is, everything else as JSON."""
    if value is None:
        return "-"
    return value if isinstance(value, str) else json.dumps(plain(value), ensure_ascii=False)
