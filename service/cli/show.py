"""Showing: values as JSON for machines, as lines and tables for people.

JSON keys are the names of the fields, and never change with the terminal. Times are ISO 8601
UTC in JSON; people see the day alone where the time is midnight UTC. Nothing that was stored can
steer a terminal: its controls are shown, never sent.

A table stands whole or not at all. Where its columns do not fit the terminal, each row becomes a
few lines of its own, so no cell is broken inside a word. Without a terminal nothing is cut,
folded or coloured, unless `COLUMNS` states a width.
"""

from __future__ import annotations

import json
import os
import re
import sys
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from datetime import datetime
from enum import Enum
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final, cast

from ...schema.interval import Interval
from ...schema.values import iso

if TYPE_CHECKING:
    from rich.console import Console

_WIDE: Final = 10_000
"""Columns where there is no terminal: nothing is cut."""

_GAP: Final = 2
"""Blanks between two columns."""

_CONTROLS: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"  # C0 but tab and line feed, DEL, C1
    "\u061c\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff"  # direction, and what has no width
    "\u2028\u2029\ud800-\udfff]"  # line and paragraph separators, lone surrogates
)

Columns = Mapping[str, str | Callable[[Any], object]]
"""A table's heads, each with the attribute of a row that stands under it, or how to work it out."""


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

    >>> json_text({"name": "a\x9b", "on": Interval(0, 1_000_000)}, indent=None)[:25]
    '{"name": "a\\u009b", "on":'
    """
    text = json.dumps(value, ensure_ascii=False, indent=indent, default=_json_value)

    # What JSON itself leaves raw stands inside strings only, where \u means the same. The line
    # feeds of the indent are none of these.
    return _CONTROLS.sub(lambda match: f"\\u{ord(match.group()):04x}", text)


def _json_value(value: object) -> object:
    """A value that `json` does not know, as one that it does."""
    if isinstance(value, Interval):
        return {"valid_from": iso(value.start_us), "valid_until": iso(value.end_us)}
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


class Screen:
    """Where results are printed for people."""

    def __init__(self, console: Console) -> None:
        self.console = console

    @classmethod
    def of_process(cls, *, stderr: bool = False) -> Screen:
        """The screen of standard output, or of standard error."""
        from rich.console import Console

        stream = sys.stderr if stderr else sys.stdout
        width = None if stream.isatty() or "COLUMNS" in os.environ else _WIDE
        return cls(Console(file=stream, width=width, highlight=False, markup=False, emoji=False))

    def line(self, text: str = "", style: str | None = None) -> None:
        """Print a line of text, wrapped between words where the terminal is narrow."""
        for paragraph in visible(text).split("\n"):
            folded_text = paragraph
            # An address that is wider than the terminal stays whole, so that it can be copied.
            if len(paragraph) > self.console.width:
                folded_text = textwrap.fill(
                    paragraph,
                    self.console.width,
                    subsequent_indent=" " * (len(paragraph) - len(paragraph.lstrip())),
                    break_long_words=False,
                    break_on_hyphens=False,
                )
            self.console.print(folded_text, style=style, soft_wrap=True)

    def table(self, rows: Iterable[Any], columns: Columns, *, placeholder: str = "none") -> None:
        """Print rows under heads, or as blocks of lines where they do not fit side by side."""
        heads = list(columns)
        readers = [_reader(source) for source in columns.values()]
        lines = [[_cell(read(row)) for read in readers] for row in rows]

        if not lines:
            self.line(placeholder)
            return

        widths = _widths([heads, *lines], self.console.width)
        if widths is None:
            self._blocks(heads, lines)
        else:
            self._grid(heads, lines, widths)

    def _grid(
        self, heads: Sequence[str], lines: Sequence[Sequence[str]], widths: Sequence[int]
    ) -> None:
        from rich.table import Table
        from rich.text import Text

        grid = Table(box=None, pad_edge=False, show_edge=False, header_style="bold")
        for head, width in zip(heads, widths, strict=True):
            grid.add_column(head, width=width)

        for cells in lines:
            grid.add_row(*map(Text, cells))
        self.console.print(grid)

    def _blocks(self, heads: Sequence[str], lines: Sequence[Sequence[str]]) -> None:
        margin = max(map(len, heads)) + _GAP

        for number, cells in enumerate(lines):
            if number:
                self.line()
            for head, cell in zip(heads, cells, strict=True):
                if cell:
                    self.line(f"{head:<{margin}}{cell}")


def _reader(source: str | Callable[[Any], object]) -> Callable[[Any], object]:
    return attrgetter(source) if isinstance(source, str) else source


def _cell(value: object) -> str:
    """A value of a table as text on one line."""
    if isinstance(value, tuple | list):
        text = ", ".join(map(_cell, cast("Sequence[object]", value)))
    elif isinstance(value, datetime):
        text = when(value)
    elif isinstance(value, Enum):
        text = str(value.value)
    elif isinstance(value, int) and not isinstance(value, bool):
        text = f"{value:,}"
    else:
        text = value_text(value)
    return visible(" ".join(text.split()))


def _widths(lines: Sequence[Sequence[str]], room: int) -> list[int] | None:
    """Widths of columns that break no word within a room; None where there are none.

    The widest column gives way first, down to its longest word.
    """
    from rich.cells import cell_len

    columns = list(zip(*lines, strict=True))
    widths = [max(map(cell_len, cells)) for cells in columns]
    floors = [max(map(cell_len, " ".join(cells).split()), default=0) for cells in columns]
    excess = sum(widths) + _GAP * (len(columns) - 1) - room

    while excess > 0:
        loose = [index for index, width in enumerate(widths) if width > floors[index]]
        if not loose:
            return None
        widest = max(loose, key=lambda index: widths[index])
        widths[widest] -= 1
        excess -= 1
    return widths


def when(moment: datetime | None, *, missing: str = "open") -> str:
    """A moment for people, in UTC.

    >>> from datetime import UTC
    >>> when(datetime(2026, 6, 1, tzinfo=UTC)), when(datetime(2026, 6, 1, 12, 5, tzinfo=UTC))
    ('2026-06-01', '2026-06-01 12:05:00Z')
    """
    if moment is None:
        return missing
    text = moment.isoformat(sep=" ").replace("+00:00", "Z")
    return text.removesuffix(" 00:00:00Z")


def span(start: datetime | None, end: datetime | None) -> str:
    """An interval for people.

    >>> span(None, None)
    'always'
    """
    if start is None and end is None:
        return "always"
    if start is None:
        return f"until {when(end)}"
    return f"from {when(start)}" + (f" until {when(end)}" if end else "")


def held_span(row: Any) -> str:
    """The valid time of a row that has `valid_from` and `valid_until`, for people."""
    return span(row.valid_from, row.valid_until)


def value_text(value: Any) -> str:
    """A value for people: text as it is, everything else as JSON."""
    if value is None:
        return "-"
    return value if isinstance(value, str) else json_text(value, indent=None)


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
