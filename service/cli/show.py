"""Showing: results as lines and tables for people.

A table stands whole or not at all. Where its columns do not fit the terminal, each row becomes a
few lines of its own, so no cell is broken inside a word. Without a terminal nothing is cut,
folded or coloured, unless `COLUMNS` states a width; then the text goes out as it stands, and
rich, which a short command would wait for, is not loaded.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from enum import Enum
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final, TextIO, cast

from ..visual.text import value_text, visible, when

if TYPE_CHECKING:
    from rich.console import Console

_WIDE: Final = 10_000
"""Columns where there is no terminal: nothing is cut."""

_GAP: Final = 2
"""Blanks between two columns."""

_AS_TERMINAL: Final = frozenset({"COLUMNS", "FORCE_COLOR", "TTY_COMPATIBLE"})
"""Variables by which something that is no terminal asks to be treated as one."""

_PROSE: Final = 18
"""Columns that a text which wraps keeps: below, each row stands better as a block of lines."""

_PHRASES: Final = re.compile(
    r"(?:(?:from|until|on|at) )?"  # a date without its preposition says something else
    r"\d{4}-\d\d-\d\d(?: \d\d:\d\d(?::[\d.]+)?Z)?\S*"
    r"|\S+"
)
"""What no line break may part: a word, or a moment with its date, its time and what rules it."""

Columns = Mapping[str, str | Callable[[Any], object]]
"""A table's heads, each with the attribute of a row that stands under it, or how to work it out."""


class Screen:
    """Where results are printed for people."""

    def __init__(self, console: Console | None = None, *, stream: TextIO | None = None) -> None:
        """Print on a console, or without one into a stream that is no terminal."""
        self._console = console
        self._stream = stream

    @property
    def console(self) -> Console:
        """The console of rich, which knows the terminal."""
        if self._console is None:
            self._console = _console(self._stream or sys.stdout, _WIDE)
        return self._console

    @property
    def width(self) -> int:
        """Columns of the terminal; as good as endless without one."""
        return _WIDE if self._console is None else self._console.width

    @classmethod
    def of_process(cls, *, stderr: bool = False) -> Screen:
        """The screen of standard output, or of standard error."""
        stream = sys.stderr if stderr else sys.stdout
        if not stream.isatty() and _AS_TERMINAL.isdisjoint(os.environ):
            return cls(stream=stream)

        width = None if stream.isatty() or "COLUMNS" in os.environ else _WIDE
        return cls(_console(stream, width))

    def line(self, text: str = "", style: str | None = None) -> None:
        """Print a line of text, wrapped between words where the terminal is narrow."""
        for paragraph in visible(text).split("\n"):
            indent = paragraph[: len(paragraph) - len(paragraph.lstrip())]
            room = self.width - len(indent)
            for part in fold(paragraph, room):
                self._print((indent + part).rstrip(), style)

    def _print(self, text: str, style: str | None = None) -> None:
        if self._console is None:
            print(text, file=self._stream)
        else:
            self._console.print(text, style=style, soft_wrap=True)

    def table(self, rows: Iterable[Any], columns: Columns, *, placeholder: str = "none") -> None:
        """Print rows under heads, or as blocks of lines where they do not fit side by side."""
        heads = list(columns)
        readers = [_reader(source) for source in columns.values()]
        lines: list[list[str]] = []
        for row in rows:
            lines.append([_cell(read(row)) for read in readers])

        if not lines:
            self.line(placeholder)
            return

        # A column that is empty in every row would only make the others narrower.
        columns_in_use = _filled_columns(lines)
        heads = _cells_at(columns_in_use, heads)
        lines = [_cells_at(columns_in_use, cells) for cells in lines]

        widths = _widths([heads, *lines], self.width)
        if widths is None:
            self._blocks(heads, lines)
        else:
            self._grid(heads, lines, widths)

    def _grid(
        self, heads: Sequence[str], lines: Sequence[Sequence[str]], widths: Sequence[int]
    ) -> None:
        self._row(heads, widths, style="bold")
        for cells in lines:
            self._row(cells, widths)

    def _row(self, cells: Sequence[str], widths: Sequence[int], style: str | None = None) -> None:
        """Print the cells of a row side by side, over as many lines as the tallest needs."""
        columns = list(map(fold, cells, widths))
        for number in range(max(map(len, columns))):
            parts: list[str] = []
            for column, width in zip(columns, widths, strict=True):
                part = column[number] if number < len(column) else ""
                parts.append(part + " " * (width - cell_len(part)))
            self._print((" " * _GAP).join(parts).rstrip(), style)

    def _blocks(self, heads: Sequence[str], lines: Sequence[Sequence[str]]) -> None:
        margin = max(map(len, heads)) + _GAP

        for number, cells in enumerate(lines):
            if number:
                self.line()
            for head, cell in zip(heads, cells, strict=True):
                if cell:
                    self._block_line(head, cell, margin)

    def _block_line(self, head: str, cell: str, margin: int) -> None:
        """Print a cell beside its head; what wraps stands under its own beginning."""
        room = self.width - margin
        widest = max(map(cell_len, fold(cell, room)))
        if widest > room:
            # An address that has no room beside its head stands whole below it.
            self.line(f"{head}\n{cell}")
            return

        label = head
        for text in fold(cell, room):
            self._print(f"{label:<{margin}}{text}")
            label = ""


def fold(text: str, room: int) -> list[str]:
    """A text in lines that fit a room; no word is broken, and no moment parted from its time.

    A word that is wider than the room, such as an address, stands whole, so that it can be copied.

    >>> fold("it holds from 2026-06-01 12:05:00Z on", 24)
    ['it holds', 'from 2026-06-01 12:05:00Z', 'on']
    """
    if cell_len(text) <= room:
        return [text.strip() or ""]

    lines: list[str] = []
    line = ""
    for phrase in _PHRASES.findall(text):
        longer = f"{line} {phrase}" if line else phrase
        if line and cell_len(longer) > room:
            lines.append(line)
            line = phrase
        else:
            line = longer
    lines.append(line)
    return lines


def _filled_columns(lines: Sequence[Sequence[str]]) -> list[int]:
    columns = enumerate(zip(*lines, strict=True))
    return [index for index, cells in columns if any(cells)]


def _cells_at(indices: Sequence[int], cells: Sequence[str]) -> list[str]:
    return [cells[index] for index in indices]


def _console(stream: TextIO, width: int | None) -> Console:
    from rich.console import Console

    return Console(file=stream, width=width, highlight=False, markup=False, emoji=False)


def cell_len(text: str) -> int:
    """How many columns a text takes on a terminal."""
    if text.isascii():
        return len(text)

    from rich.cells import cell_len as width_of

    return width_of(text)


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

    The widest column gives way first, down to its longest word, and to no less than prose needs.
    """
    columns = list(zip(*lines, strict=True))
    widths = [max(map(cell_len, cells)) for cells in columns]
    floors = list(map(_floor, columns))
    excess = sum(widths) + _GAP * (len(columns) - 1) - room

    # A character at a time, so that the widest two end alike and none is starved for another.
    while excess > 0:
        loose = [index for index, width in enumerate(widths) if width > floors[index]]
        if not loose:
            return None
        widest = max(loose, key=lambda index: widths[index])
        widths[widest] -= 1
        excess -= 1
    return widths


def _floor(cells: Sequence[str]) -> int:
    """The least that a column of cells can do with."""
    phrases = _PHRASES.findall("\n".join(cells))
    longest_phrase = max(map(cell_len, phrases), default=0)
    # The head may wrap to its longest word, whatever stands under it.
    widest_text = max(map(cell_len, cells[1:]))
    return max(longest_phrase, min(widest_text, _PROSE))
