"""The comparison as one table: rows are what was measured, columns the systems."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence

Figure = float | str | None
Rounds = Sequence[Mapping[str, Figure]]
"""The figures of one system by name, one mapping a round."""

MISSING = "-"
PREFIX = "failed: "
"""Starts the name of a task that a system could not finish."""

LINES = (
    ("write, known names, CPU ms", "write known, CPU ms"),
    ("write, known names, wall ms", "write known, wall ms"),
    ("write, new names, CPU ms", "write new, CPU ms"),
    ("write, new names, wall ms", "write new, wall ms"),
    ("write, 16 threads, CPU ms", "16 writers, CPU ms a write"),
    ("write, 16 threads, wall ms", "16 writers, wall ms a write"),
    ("search, CPU ms", "search, CPU ms"),
    ("search, wall ms", "search, wall ms"),
    ("search: newest value first, %", "search, first is right %"),
    ("search: newest value in ten, %", "search, right in ten %"),
    ("as of two times, right of 100", "as of two times, right of 100"),
    ("Allen's relations x orders, right of 26", "relations x orders kept of 26"),
    ("20 companies by 16 writers: entities", "16 writers, entities of 20"),
    ("the same: writes refused", "16 writers, refused writes"),
    ("20 companies in four spellings: entities", "four spellings, entities of 20"),
    ("40 look-alikes: entities", "forty look-alikes, entities of 40"),
)
"""What the table says, and the name of the figure behind it."""


def median(rounds: Rounds, name: str) -> Figure:
    """The middle figure of the rounds; None where the system has no such thing."""
    measured = [figures[name] for figures in rounds if name in figures]
    numbers = [figure for figure in measured if isinstance(figure, int | float)]
    return statistics.median(numbers) if numbers else None


def shown(figure: Figure) -> str:
    """A figure in three digits or so; whole ones as they are."""
    if figure is None or isinstance(figure, str):
        return figure or MISSING
    if float(figure).is_integer():
        return f"{figure:.0f}"
    if figure < 10:
        return f"{figure:.2f}"
    return f"{figure:.1f}" if figure < 100 else f"{figure:.0f}"


def rows(measured: Mapping[str, Rounds]) -> list[tuple[str, ...]]:
    """The lines of the table, each with its label and one cell a system."""
    return [
        (label, *(shown(median(rounds, name)) for rounds in measured.values()))
        for label, name in LINES
    ]


def failures(measured: Mapping[str, Rounds]) -> list[str]:
    """One sentence for each task that a system did not finish, in the system's own words."""
    sentences: list[str] = []
    for system, rounds in measured.items():
        reasons = {
            (name.removeprefix(PREFIX), str(reason))
            for figures in rounds
            for name, reason in figures.items()
            if name.startswith(PREFIX)
        }
        sentences += [f"{system} did not finish {task}: {why}" for task, why in sorted(reasons)]
    return sentences


def markdown(header: Sequence[str], body: Sequence[Sequence[str]]) -> str:
    """A table in Markdown; numbers are set to the right."""
    marks = ["---", *["---:"] * (len(header) - 1)]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in (header, marks, *body))
