"""What the bytes of media say of themselves, and tables in the cheapest form that is sure.

Type, size and length are read from the headers without decoding, by `imagesize` for pictures and
`tinytag` for recordings; a film's size is read from its tracks. A picture's size is the displayed
one, after its orientation is applied. What is missing or wrong is not guessed. The module is part
of the compiler because a renderer checks what it receives against what the budget counted.

A table that is too large keeps the aggregates of all rows, so that a model never adds up a sample,
and as many rows as fit, those about the request first. If no row fits, columns and aggregates stay.
A note names every loss. Checklist C-188 to C-191, C-193.
"""

from __future__ import annotations

import io
import json
import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain
from typing import Final, cast

from ...schema.policy import CompilePolicy
from ..request.request import Media, MediaKind, RowFilter, RowTest
from ..text.relevance import terms_of
from ..tokens.counting import TokenCounter
from .reduction import TableReduction, filter_rows, group_aggregates, nearest_rows
from .serialisation import ParseAccuracy, choose_form

_MAGIC: Final = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"BM", "image/bmp"),
    (b"II*\0", "image/tiff"),
    (b"MM\0*", "image/tiff"),
    (b"fLaC", "audio/flac"),
    (b"ID3", "audio/mpeg"),
)
_RIFF: Final = {b"WEBP": "image/webp", b"WAVE": "audio/wav"}

Row = Mapping[str, object]
_LEAST_ROOM: Final = 16
"""Tokens below which no table says anything."""


def media_type_of(data: bytes) -> str:
    """The media type that bytes show by how they begin; empty when they do not.

    >>> media_type_of(b"GIF89a...")
    'image/gif'
    """
    if data[:4] == b"RIFF":
        return _RIFF.get(data[8:12], "")
    if len(data) > 1 and data[0] == 0xFF and data[1] & 0xE6 == 0xE2:  # a frame of layer 3
        return "audio/mpeg"

    return next((media_type for magic, media_type in _MAGIC if data.startswith(magic)), "")


def measures(data: bytes, kind: MediaKind) -> dict[str, int | float]:
    """Return `width` and `height` in pixels, `seconds`, as far as the file tells them."""
    if kind is MediaKind.IMAGE:
        return _size(*_picture_size(data))
    if kind is MediaKind.AUDIO:
        return _length(data)
    if kind is MediaKind.VIDEO:
        return _size(*_film_size(data)) | _length(data)

    return {}


def _size(width: int, height: int) -> dict[str, int | float]:
    return {"width": width, "height": height} if width > 0 and height > 0 else {}


def _picture_size(data: bytes) -> tuple[int, int]:
    """Return width and height; 0 and less when the file does not tell them."""
    import imagesize  # pyright: ignore[reportMissingTypeStubs]  # few compiles carry pictures

    # It would read the text of a drawing too, which no provider takes as a picture.
    if not media_type_of(data).startswith("image/"):
        return 0, 0
    size: tuple[int, int] = imagesize.get(io.BytesIO(data))  # pyright: ignore[reportUnknownMemberType]
    return size


def _length(data: bytes) -> dict[str, int | float]:
    from tinytag import TinyTag, TinyTagException  # few compiles carry sound

    try:
        seconds = TinyTag.get(file_obj=io.BytesIO(data), tags=False).duration
    except TinyTagException:
        return {}
    return {"seconds": round(seconds, 3)} if seconds else {}


def _film_size(data: bytes) -> tuple[int, int]:
    """Return the size of the last track of an MP4 or QuickTime file that is seen."""
    size = (0, 0)
    for name, body in _boxes(data):
        if name == b"tkhd" and len(body) >= 84:
            width, height = struct.unpack(">II", body[-8:])
            size = (width >> 16, height >> 16) if width and height else size
    return size


def _boxes(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    """The boxes of a file, those inside the movie and its tracks too."""
    offset = 0
    while offset + 8 <= len(data):
        size, name = int.from_bytes(data[offset : offset + 4], "big"), data[offset + 4 : offset + 8]
        head = 8
        if size == 1:
            size, head = int.from_bytes(data[offset + 8 : offset + 16], "big"), 16

        if size == 0:
            size = len(data) - offset

        if size < head:
            return
        body = data[offset + head : offset + size]
        if name in (b"moov", b"trak"):
            yield from _boxes(body)
        else:
            yield name, body

        offset += size


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
            worth[number] = len(options.query_terms & terms_of(" ".join(map(str, row.values()))))

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
