"""Tables in an envelope: the columns and rows the task needs, in the cheapest form that is sure.

A table that takes too much keeps what it adds up to and as many rows as fit, those that speak
of the request first: the aggregates are of all rows, so that a model never adds up a sample.
Where not one row fits, columns and aggregates stand alone. Every loss is said in a note.
Checklist C-191, C-193.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, cast

from ...schema.policy import CompilePolicy
from ..request.request import Media, RowFilter, RowTest
from ..text.relevance import terms_of
from ..tokens.counting import TokenCounter
from .reduction import Reduced, filtered, grouped, nearest
from .serialisation import ParseAccuracy, choose_form

Row = Mapping[str, object]
_LEAST_ROOM: Final = 16
"""Tokens below which no table says anything."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table as text."""

    text: str
    """Notes and rows, without what names the table."""
    tokens: int
    """The counter's upper bound of the text."""
    form: str
    note: str = ""
    """What was left out; empty when nothing was."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TableRules:
    """How a table is written, and what may stand for its rows."""

    counter: TokenCounter
    least: ParseAccuracy
    asked: frozenset[str] = frozenset()
    aggregates: tuple[str, ...] = ()
    group_by: str = ""


def table_rules(
    counter: TokenCounter, rules: CompilePolicy, asked: frozenset[str], media: Media | None = None
) -> TableRules:
    """The rules for a table of a request, or for a stored one."""
    return TableRules(
        counter=counter,
        least=ParseAccuracy[rules.structured_accuracy.upper()],
        asked=asked,
        aggregates=media.aggregates if media is not None else (),
        group_by=media.group_by if media is not None else "",
    )


def rows_of(media: Media) -> tuple[Row, ...]:
    """All rows of a table of a request."""
    return tuple(cast("Sequence[Row]", json.loads(media.records)))


def needed(media: Media) -> Reduced:
    """The rows and columns that the caller says the task needs."""
    rows = rows_of(media)
    if not media.columns and not media.where:
        return Reduced(rows, "")

    every = tuple(dict.fromkeys(column for row in rows for column in row))
    tests = [(test, _stated(test.value)) for test in media.where]
    return filtered(
        rows,
        media.columns or every,
        lambda row: all(_passes(row.get(test.column), test, value) for test, value in tests),
    )


def whole_table(found: Reduced, how: TableRules) -> Table:
    """A table with all the rows that are needed, in its cheapest sure form."""
    chosen = choose_form(found.rows, how.counter, least_accuracy=how.least)
    return _table(how, chosen.form.value, found.note, [chosen.text])


def table_within(found: Reduced, how: TableRules, room: int) -> Table:
    """A table within a room: aggregates, then the rows that fit.

    Where the room holds nothing of it, the columns and the note stand all the same.
    """
    whole = whole_table(found, how)
    if whole.tokens <= room:
        return whole

    summed = _summary(found.rows, how, room)
    worth = [len(how.asked & terms_of(_words(row))) for row in found.rows] if how.asked else []
    worth = worth or [0] * len(found.rows)
    size = max(1, len(found.rows) - 1) * max(0, room) // max(1, whole.tokens)

    while size > 0:
        part = nearest(found.rows, worth, size)
        chosen = choose_form(part.rows, how.counter, least_accuracy=how.least)
        table = _table(how, chosen.form.value, _notes(found, part.note), [*summed, chosen.text])
        if table.tokens <= room:
            return table
        size = min(size - 1, size * room // table.tokens)

    columns = ", ".join(dict.fromkeys(column for row in found.rows for column in row))
    note = _notes(found, f"none of {len(found.rows)} rows shown; columns: {columns}")
    return _table(how, whole.form, note, summed)


def _table(how: TableRules, form: str, note: str, parts: Sequence[str]) -> Table:
    text = "\n".join(part for part in (f"[{note}]" if note else "", *parts) if part)
    return Table(text=text, tokens=how.counter.upper_bound(text), form=form, note=note)


def _notes(found: Reduced, note: str) -> str:
    return "; ".join(each for each in (found.note, note) if each)


def _summary(rows: Sequence[Row], how: TableRules, room: int) -> list[str]:
    """What all rows add up to, by group where that fits half the room."""
    columns = how.aggregates or _numeric(rows)
    for by in dict.fromkeys((how.group_by, "")):
        lines = grouped(rows, columns, by)
        if not lines or room < _LEAST_ROOM:
            continue
        chosen = choose_form(lines, how.counter, least_accuracy=how.least)
        if chosen.tokens <= room // 2:
            return [f"[all {len(rows)} rows add up to]", chosen.text, "[rows]"]

    return []


def _numeric(rows: Sequence[Row]) -> tuple[str, ...]:
    """The columns that hold nothing but numbers, in their order."""
    held: dict[str, bool] = {}
    for row in rows:
        for column, value in row.items():
            number = isinstance(value, int | float) and not isinstance(value, bool)
            held[column] = held.get(column, True) and number
    return tuple(column for column, numbers in held.items() if numbers)


def _words(row: Row) -> str:
    return " ".join(str(value) for value in row.values())


def _stated(text: str) -> object:
    """The value of a test; what is no JSON is the text itself."""
    try:
        value: object = json.loads(text)
    except ValueError:
        return text
    return value


def _passes(held: object, test: RowFilter, value: object) -> bool:
    """Whether a cell passes a test; numbers compare as numbers, however they are written."""
    one, other = _number(held), _number(value)
    numbers = one is not None and other is not None
    if test.test is RowTest.CONTAINS:
        return str(value).casefold() in str(held).casefold()

    same = one == other if numbers else str(held) == str(value)
    if test.test in (RowTest.EQUALS, RowTest.NOT_EQUALS):
        return same is (test.test is RowTest.EQUALS)

    if one is None or other is None:
        if held is None:
            return False
        less = str(held) < str(value)
        return same or less is (test.test is RowTest.AT_MOST)

    return one >= other if test.test is RowTest.AT_LEAST else one <= other


def _number(value: object) -> Fraction | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        return Fraction(value)
    except (ValueError, ZeroDivisionError, OverflowError):
        return None
