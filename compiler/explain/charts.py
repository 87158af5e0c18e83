"""Charts: where the parts of a picture stand, and the words of it.

A picture is words, boxes and lines alone: no script, no style attribute, no request. It has a
title and a description that say in words what it shows, and stands in whole numbers, so the same
envelope gives the same bytes. Colours tell sections apart, never alone: every box and
legend line says its name and its tokens. The templates draw it. Checklist C-176.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from ...schema.compile_terms import Stability
from .report import EnvelopeReport

WIDTH: Final = 960
INK: Final = "#14202e"
"""Of words in a box; every fill below has a contrast of 7 to 1 with it or more."""
FILLS: Final[Mapping[Stability, str]] = MappingProxyType(
    {
        Stability.STATIC: "#a9c4ec",
        Stability.SCOPE: "#9fd6cb",
        Stability.SESSION: "#d6c2ee",
        Stability.HISTORY: "#f4d793",
        Stability.TURN: "#f6b9a6",
    }
)
SECTION_FILLS: Final = (
    *("#a9c4ec", "#9fd6cb", "#d6c2ee", "#f4d793", "#f6b9a6", "#c5dd8f", "#f3b7d3", "#b3e0f2"),
    *("#e0cda9", "#a8e0a3", "#d2d2d2", "#e6e17a", "#dbbfae", "#8fd3e0", "#f0c27b", "#bfc8ff"),
)
"""Of the sections in the order of the text: neighbours never look alike."""
_BAR: Final = 44
_LINE: Final = 20
_COLUMNS: Final = 3
_GLYPH: Final = 7
"""Units that a letter takes, on the safe side."""


@dataclass(frozen=True, slots=True)
class ChartFrame:
    """What frames a drawing."""

    name: str
    """Prefix of its ids, so that several may stand on one page."""
    title: str
    description: str
    """The same in words."""
    height: int
    alone: bool
    """Whether it is a file of its own, and not a part of a page."""


@dataclass(frozen=True, slots=True)
class BarPart:
    """What one section takes of the bar."""

    name: str
    tokens: int
    fill: str
    left: int
    width: int


@dataclass(frozen=True, slots=True)
class PlacedWords:
    """A line of a legend, or the word over a column."""

    text: str
    x: int
    y: int
    room: int
    fill: str = "none"


@dataclass(frozen=True, slots=True)
class BudgetBar:
    """The budget as a stacked bar: a part for each section, and what stays free."""

    frame: ChartFrame
    parts: tuple[BarPart, ...]
    legend: tuple[PlacedWords, ...]
    height: int = _BAR


def budget_bar(report: EnvelopeReport, *, alone: bool) -> BudgetBar:
    """Lay out the budget of an envelope."""
    budget = int(report.trace.budget["budget_tokens"])
    free = max(0, budget - report.tokens_upper)
    length = max(1, sum(use.tokens for use in report.sections) + free)

    parts: list[BarPart] = []
    legend: list[PlacedWords] = []
    before = 0

    for number, use in enumerate(report.sections):
        # Both edges are rounded from the sum so far: widths rounded one by one would leave a
        # seam or run over the end.
        fill = SECTION_FILLS[number % len(SECTION_FILLS)]
        name = use.name.replace("_", " ")
        left = before * WIDTH // length
        before += use.tokens
        parts.append(BarPart(name, use.tokens, fill, left, before * WIDTH // length - left))
        legend.append(_legend_line(len(legend), f"{name} {use.tokens:,}", fill))

    legend.append(_legend_line(len(legend), f"free {free:,}", "none"))

    sections = ", ".join(f"{part.name} {part.tokens:,}" for part in parts) or "none"
    frame = ChartFrame(
        "tenure-budget",
        f"Token budget: {report.tokens_upper:,} of {plural(budget, 'token')} used",
        f"Tokens by section: {sections}; free {free:,}.",
        _BAR + 14 + _LINE * -(-len(legend) // _COLUMNS),
        alone,
    )
    return BudgetBar(frame, tuple(parts), tuple(legend))


def _legend_line(position: int, text: str, fill: str) -> PlacedWords:
    line, column = divmod(position, _COLUMNS)
    x, y, room = column * (WIDTH // _COLUMNS), _BAR + 12 + line * _LINE, WIDTH // _COLUMNS - 20
    return PlacedWords(text, x, y, room, fill)


def fit_text(text: str, room: int) -> str:
    """A text cut to the units of a drawing that it may take."""
    return abbreviation(text, room // _GLYPH)


def abbreviation(text: str, length: int) -> str:
    """A text of at most so many characters.

    >>> abbreviation("deployment", 6), abbreviation("office", 1)
    ('deplo…', '')
    """
    if len(text) <= length:
        return text

    return text[: length - 1] + "…" if length > 1 else ""


def plural(count: int, noun: str) -> str:
    """A count with its noun.

    >>> plural(1, "token"), plural(1200, "token")
    ('1 token', '1,200 tokens')
    """
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"
