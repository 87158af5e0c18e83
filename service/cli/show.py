"""Showing: results as lines and tables for people.

A table stands whole or not at all. Where its columns do not fit the terminal, each row becomes a
few lines of its own, so no cell is broken inside a word. Without a terminal nothing is cut,
folded or coloured, unless `COLUMNS` states a width.
"""

from __future__ import annotations

import os
import sys
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from enum import Enum
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final, cast

from ..visual.text import value_text, visible, when

if TYPE_CHECKING:
    from rich.console import Console

_WIDE: Final = 10_000
"""Columns where there is no terminal: nothing is cut."""

_GAP: Final = 2
"""Blanks between two columns."""

Columns = Mapping[str, str | Callable[[Any], object]]
"""A table's heads, each with the attribute of a row that stands under it, or how to work it out."""


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
        lines: list[list[str]] = []
        for row in rows:
            lines.append([_cell(read(row)) for read in readers])

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
                    self._block_line(head, cell, margin)

    def _block_line(self, head: str, cell: str, margin: int) -> None:
        """Print a cell beside its head; what wraps stands under its own beginning."""
        room = self.console.width - margin
        if len(cell) <= room or max(map(len, cell.split())) > room:
            self.line(f"{head:<{margin}}{cell}")
            return

        cell_lines = textwrap.wrap(cell, room, break_long_words=False, break_on_hyphens=False)
        self.line(f"{head:<{margin}}{cell_lines[0]}")
        for text in cell_lines[1:]:
            self.line(" " * margin + text)


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
