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
from itertools import chain
from typing import Final, cast

from ...schema.policy import CompilePolicy
from ..request.request import Media, RowFilter, RowTest
from ..text.relevance import terms_of
from ..tokens.counting import TokenCounter
from .reduction import TableReduction, filter_rows, group_aggregates, nearest_rows
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
    least_accuracy: ParseAccuracy
    query_terms: frozenset[str] = frozenset()
    aggregates: tuple[str, ...] = ()
    group_by: str = ""


def table_rules(
    counter: TokenCounter,
    rules: CompilePolicy,
    query_terms: frozenset[str],
    media: Media | None = None,
) -> TableRules:
    """The rules for a table of a request, or for a stored one."""
    return TableRules(
        counter=counter,
        least_accuracy=ParseAccuracy[rules.structured_accuracy.upper()],
        query_terms=query_terms,
        aggregates=media.aggregates if media is not None else (),
        group_by=media.group_by if media is not None else "",
    )


def rows_of(media: Media) -> tuple[Row, ...]:
    """All rows of a table of a request."""
    return tuple(cast("Sequence[Row]", json.loads(media.records)))


def needed_rows(media: Media) -> TableReduction:
    """The rows and columns that the caller says the task needs."""
    rows = rows_of(media)
    if not media.columns and not media.where:
        return TableReduction(rows, "")

    all_columns = tuple(dict.fromkeys(chain.from_iterable(rows)))
    tests = [(test, _test_operand(test.value)) for test in media.where]

    def keep(row: Row) -> bool:
        return all(_passes(row.get(test.column), test, value) for test, value in tests)

    return filter_rows(rows, media.columns or all_columns, keep)


def whole_table(reduction: TableReduction, options: TableRules) -> Table:
    """A table with all the rows that are needed, in its cheapest sure form."""
    table = choose_form(reduction.rows, options.counter, least_accuracy=options.least_accuracy)
    return _table(options, table.form.value, reduction.note, [table.text])


def table_within(reduction: TableReduction, options: TableRules, room: int) -> Table:
    """A table within a room: aggregates, then the rows that fit.

    Where the room holds nothing of it, the columns and the note stand all the same.
    """
    full_table = whole_table(reduction, options)
    if full_table.tokens <= room:
        return full_table

    summary = _summary(reduction.rows, options, room)
    worth = [0] * len(reduction.rows)
    if options.query_terms:
        for number, row in enumerate(reduction.rows):
            worth[number] = len(options.query_terms & terms_of(_words(row)))

    # Start at the number of rows that the average row allows, then shrink by what was too much:
    # two or three tables are written, not one for each row.
    size = max(1, len(reduction.rows) - 1) * max(0, room) // max(1, full_table.tokens)
    while size > 0:
        part = nearest_rows(reduction.rows, worth, size)
        table_text = choose_form(part.rows, options.counter, least_accuracy=options.least_accuracy)
        note = _notes(reduction, part.note)
        table = _table(options, table_text.form.value, note, [*summary, table_text.text])
        if table.tokens <= room:
            return table
        size = min(size - 1, size * room // table.tokens)

    columns = ", ".join(dict.fromkeys(chain.from_iterable(reduction.rows)))
    note = _notes(reduction, f"none of {len(reduction.rows)} rows shown; columns: {columns}")
    return _table(options, full_table.form, note, summary)


def _table(options: TableRules, form: str, note: str, parts: Sequence[str]) -> Table:
    head = f"[{note}]" if note else ""
    text = "\n".join(filter(None, (head, *parts)))
    return Table(text=text, tokens=options.counter.upper_bound(text), form=form, note=note)


def _notes(reduction: TableReduction, note: str) -> str:
    return "; ".join(filter(None, (reduction.note, note)))


def _summary(rows: Sequence[Row], options: TableRules, room: int) -> list[str]:
    """What all rows add up to, by group where that fits half the room."""
    columns = options.aggregates or _numeric(rows)
    for group_column in dict.fromkeys((options.group_by, "")):
        lines = group_aggregates(rows, columns, group_column)
        if not lines or room < _LEAST_ROOM:
            continue
        totals = choose_form(lines, options.counter, least_accuracy=options.least_accuracy)
        if totals.tokens <= room // 2:
            return [f"[all {len(rows)} rows add up to]", totals.text, "[rows]"]

    return []


def _numeric(rows: Sequence[Row]) -> tuple[str, ...]:
    """The columns that hold nothing but numbers, in their order."""
    is_numeric: dict[str, bool] = {}
    for row in rows:
        for column, value in row.items():
            number = isinstance(value, int | float) and not isinstance(value, bool)
            is_numeric[column] = is_numeric.get(column, True) and number

    return tuple(filter(is_numeric.__getitem__, is_numeric))


def _words(row: Row) -> str:
    return " ".join(map(str, row.values()))


def _test_operand(text: str) -> object:
    """The value of a test; what is no JSON is the text itself."""
    try:
        value: object = json.loads(text)
    except ValueError:
        return text
    return value


def _passes(cell: object, test: RowFilter, value: object) -> bool:
    """Whether a cell passes a test; numbers compare as numbers, however they are written."""
    cell_number, operand_number = _number(cell), _number(value)
    numbers = cell_number is not None and operand_number is not None
    if test.test is RowTest.CONTAINS:
        return str(value).casefold() in str(cell).casefold()

    equal = cell_number == operand_number if numbers else str(cell) == str(value)
    if test.test in (RowTest.EQUALS, RowTest.NOT_EQUALS):
        return equal is (test.test is RowTest.EQUALS)

    if cell_number is None or operand_number is None:
        # Beside a number a word, such as "n/a", is neither more nor less; two texts may be days.
        if not (isinstance(cell, str) and isinstance(value, str)):
            return equal and cell is not None
        return equal or (cell < value) is (test.test is RowTest.AT_MOST)

    return (
        cell_number >= operand_number
        if test.test is RowTest.AT_LEAST
        else cell_number <= operand_number
    )


def _number(value: object) -> Fraction | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        return Fraction(value)
    except (ValueError, ZeroDivisionError, OverflowError):
        return None
