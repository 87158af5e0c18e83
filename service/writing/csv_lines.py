"""A CSV file, row by row, as the lines of the import format.

Each row becomes the events that its mapping makes of it, under the number of the line that the
row begins at. What cannot be made an event keeps its refusal, so that it is told like any other.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any, Final

from ...schema.errors import InvalidInput, TenureError, did_you_mean
from ...schema.limits import LINE_BYTES
from .csv_mapping import CsvMapping, header_mapping, read_mapping
from .event_lines import EVENT_FIELDS, Line, stream_of

_SUFFIXES: Final = (".csv", ".csv.gz", ".tsv", ".tsv.gz")


def is_table(path: str | Path) -> bool:
    """Tell by its name whether a file is a table.

    >>> is_table("people.csv.gz"), is_table("events.jsonl")
    (True, False)
    """
    return str(path).lower().endswith(_SUFFIXES)


def table_lines(path: str | Path, mapping: str | Path | Mapping[str, Any] | None) -> Iterator[Line]:
    """Yield the events of a table as lines.

    Raises:
        NotFound: `unknown_file`.
        Unavailable: `file_unreadable`.
        InvalidInput: `bad_mapping`, `unknown_column`, `bad_file`.
    """
    custom_mapping = None if mapping is None else read_mapping(mapping)
    delimiter = "\t" if ".tsv" in str(path).lower() else ","
    with stream_of(path) as raw:
        yield from _lines(raw, custom_mapping, delimiter)


def _lines(raw: IO[bytes], custom_mapping: CsvMapping | None, delimiter: str) -> Iterator[Line]:
    encoding = custom_mapping.encoding if custom_mapping else "utf-8"
    # A comma may just be what a mapping has by default: a .tsv file is read with tabs all the same.
    if custom_mapping and custom_mapping.delimiter != ",":
        delimiter = custom_mapping.delimiter

    rows = csv.reader(_texts(raw, encoding), delimiter=delimiter, strict=True)
    header: Sequence[str] = next((cells for _, cells in _records(rows)), ())
    mapping = custom_mapping or header_mapping(header)
    _check_header(header, mapping, is_custom=custom_mapping is not None)

    for number, cells in _records(rows):
        yield from _events(number, cells, header, mapping)


def _events(
    number: int, cells: Sequence[str], header: Sequence[str], mapping: CsvMapping
) -> Iterator[Line]:
    # A short row lacks its last cells, as some spreadsheets write it; a long one has lost a quote.
    row = dict(zip(header, cells, strict=False))
    try:
        if len(cells) > len(header):
            raise InvalidInput(
                f"the row has {len(cells)} cells and the header {len(header)}; quote a cell that "
                "holds the delimiter",
                code="bad_row",
            )
        events = mapping.events(row)
    except TenureError as error:
        yield Line(number, json.dumps(row, ensure_ascii=False), error)
    else:
        for event in events:
            yield Line(number, json.dumps(event, ensure_ascii=False))


def _records(rows: Any) -> Iterator[tuple[int, list[str]]]:
    """The rows that are not blank, each with the number of the line it begins at."""
    # A quoted cell may hold line breaks: the reader counts lines, and where a row begins is known
    # before it is read only.
    while True:
        number = rows.line_num + 1
        try:
            cells = next(rows)
        except StopIteration:
            return
        except csv.Error as error:
            raise InvalidInput(
                f"line {number}: this is no CSV ({error}); check quotes and delimiter",
                code="bad_file",
                line=number,
            ) from error

        if any(cell.strip() for cell in cells):
            yield number, cells


def _texts(raw: IO[bytes], encoding: str) -> Iterator[str]:
    """The lines of a table as text; line breaks inside quotes are kept as they are."""
    try:
        text = io.TextIOWrapper(raw, encoding=encoding, newline="")
    except LookupError as error:
        raise InvalidInput(f"there is no encoding {encoding!r}", code="bad_mapping") from error

    number = 1
    try:
        # A file without line breaks is one line: it is refused before it fills the memory.
        while line := text.readline(LINE_BYTES + 1):
            if len(line) > LINE_BYTES:
                raise InvalidInput(
                    f"line {number} is longer than {LINE_BYTES} characters; keep long texts as "
                    "artifacts",
                    code="too_large",
                    line=number,
                )
            # Spreadsheets put a mark in front, which would belong to the first column's name.
            yield line.removeprefix("\ufeff") if number == 1 else line
            number += 1
    except UnicodeDecodeError as error:
        raise InvalidInput(
            f"this is not {encoding}{_place_of(error, raw)}; save the file as UTF-8, or state its "
            "encoding in the mapping",
            code="bad_file",
        ) from error
    finally:
        text.close()


def _place_of(error: UnicodeDecodeError, raw: IO[bytes]) -> str:
    """Which byte of a file is none of its encoding; nothing of a pipe, which tells no place."""
    try:
        end = raw.tell()
    except OSError:
        return ""
    # The reader takes a file in pieces, and knows a place in the last one alone.
    return f" at byte {end - len(error.object) + error.start + 1}"


def _check_header(header: Sequence[str], mapping: CsvMapping, *, is_custom: bool) -> None:
    """Refuse a mapping of columns that are not there, and columns that are no fields.

    Raises:
        InvalidInput: `bad_file`, `unknown_column`.
    """
    duplicates = sorted({name for name in header if header.count(name) > 1})
    if duplicates or not header:
        problem = (
            f"a column stands twice: {', '.join(duplicates[:5])}"
            if duplicates
            else "there is no header"
        )
        raise InvalidInput(
            f"line 1: {problem}; the first row names each column once", code="bad_file"
        )

    if is_custom:
        strange = sorted(mapping.columns() - set(header))
        known: Sequence[str] = header
    else:
        strange = [name for name in header if name.partition(".")[0] not in EVENT_FIELDS]
        known = sorted(EVENT_FIELDS)
    if strange:
        advice = did_you_mean(strange[0], known)
        if not is_custom and advice.startswith("known"):
            # Twenty of the many fields in the order of letters leave out those every table has.
            advice = "those of an event are subject, slot, value, valid_from and further ones"
        problem = "the file has no column" if is_custom else "there is no field"
        aid = "" if is_custom else "; name the columns of your table in a mapping (--map FILE)"
        separator = next((sign for sign in ";\t|" if sign in header[0]), None)
        if len(header) == 1 and separator is not None:
            aid += f", and its separator: delimiter = {json.dumps(separator)}"
        raise InvalidInput(
            f"line 1: {problem} {strange[0]!r}: {advice}{aid}", code="unknown_column", line=1
        )
