"""Event lines: the import format, read line by line from JSON Lines or CSV.

A line is a JSON object: a definition (`{"define": "slot", …}`), an observed text
(`{"observe": "…", …}`), or an event, whose fields are those of a write, and `recorded_at` in a
replay. Nothing is guessed: an unknown field, a repeated key, a wrong type or invalid JSON refuses
the line with its number and a reason.

A row of a CSV file becomes the events that its mapping makes of it, numbered by the line at which
the row begins. A row that makes no event keeps its refusal, so that it is reported like any other.
This module reads and checks; `ingest` decides and writes.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import re
import sys
import zlib
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from itertools import chain, count, islice
from pathlib import Path
from typing import IO, Any, Final, cast

from ...schema.errors import (
    InvalidInput,
    NotFound,
    TenureError,
    Unavailable,
    did_you_mean,
    unknown_field,
)
from ...schema.limits import LINE_BYTES, json_of
from ...schema.write import RECORD_SCHEME, RESTATE, Write
from ..backend.caller import instant
from .csv_mapping import CsvMapping, header_mapping, read_mapping
from .draft import check_shape
from .trust import parsed_authorship

STDIN: Final = "-"

_PARTS: Final = 64
"""A line that is longer than so many times the limit is taken for no line."""
_NOT_UTF8: Final = "\ufffd not UTF-8"
_TOO_LONG: Final = "\ufffd longer than"
_FIELDS: Final = frozenset(item.name for item in fields(Write))
EVENT_FIELDS: Final = _FIELDS | {"recorded_at", "writer"}
"""The fields that an event may have."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line of an import file that is not blank."""

    number: int
    """Counted from 1."""
    text: str
    refusal: TenureError | None = None
    """Why no event could be made of it, where that is known already."""


@dataclass(frozen=True, slots=True)
class Definition:
    """A line that defines vocabulary."""

    line: Line
    members: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class TalkLine:
    """A line that says what was said, in a text or in messages."""

    line: Line
    members: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Event:
    """A line that writes."""

    line: Line
    members: Mapping[str, Any]
    """The event as it was given; a replay derives the object id from it."""
    write: Write
    recorded_us: int | None
    """Of a replay: when it was recorded, microseconds UTC."""

    @property
    def record(self) -> str | int:
        """The record that the event is a part of: its origin, or its row of a table."""
        origin = self.write.source_origin
        return origin if origin.startswith(RECORD_SCHEME) else self.line.number


@dataclass(frozen=True, slots=True)
class Reading:
    """How lines are read."""

    replay: bool = False
    ignore_external_ids: bool = False
    """Leave identifiers out, so that names alone decide who is who."""
    restate: bool = False
    """Whether lines that state no `op` restate what their source said before."""


@contextmanager
def opened(path: str | Path, *, line_bytes: int = LINE_BYTES) -> Generator[Iterator[Line]]:
    """Open an import file, `.gz` or plain, or standard input as `-`.

    A line of more than `line_bytes` bytes is passed over in pieces and refused by its number, so
    that a packed file of a few kilobytes cannot fill the memory.

    Raises:
        NotFound: `unknown_file`.
        Unavailable: `file_unreadable`.
        InvalidInput: `bad_file` for a `.gz` that is none, `bad_json` for text that is no UTF-8.
    """
    with stream_of(path) as raw:
        yield _lines(raw, line_bytes)


_CHAT: Final = r"(?:conversation_id|chat_messages|\"mapping\"|\"client_msg_id\"|\"ts\")"
_AS_DOCUMENT: Final = "hand it in as a document: `tenure sync FOLDER` (documents.sync)"
_AS_TABLE: Final = "export it as CSV, and name its columns in a mapping"
_WORKBOOKS: Final = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0")
"""The first bytes of spreadsheets and of ZIP archives, which newer spreadsheets are."""
_FORMS: Final[tuple[tuple[str, str, str], ...]] = (
    (r"BEGIN:VCARD", "a vCard", _AS_TABLE),
    (r"BEGIN:VCALENDAR", "an iCalendar file", _AS_TABLE),
    (r"0 HEAD\b", "a GEDCOM file", _AS_TABLE),
    (r"From \S+.*\d\d:\d\d|(?:Received|Return-Path|MIME-Version): ", "mail", _AS_DOCUMENT),
    (rf"[\[{{].*{_CHAT}", "a chat export", _AS_DOCUMENT),
    (r"\[?\d{1,4}[./-]\d{1,2}[./-]\d{1,4},? \d{1,2}:\d\d", "a chat export", _AS_DOCUMENT),
    (r"<(?:\?xml|!doctype|html)", "XML or HTML", _AS_DOCUMENT),
    (r"%PDF-", "a PDF", _AS_DOCUMENT),
    (r"#{1,6} |---$", "Markdown", _AS_DOCUMENT),
    (r"\[\s*(?:\{|$)", "a JSON list", "write one object a line, as `jq -c '.[]' FILE` does"),
    (r"\{(?:$|[^\n]*\n[\"}])", "one JSON document over several lines", "`jq -c . FILE` makes one"),
)
"""How a file of another form begins, what it is called, and how it is loaded."""


def check_form(first: str, head: str) -> None:
    """Refuse a file whose first line is no event because the whole is of another form.

    Raises:
        InvalidInput: `bad_file`, which names the form and how to load it.
    """
    try:
        json_object(first)
    except InvalidInput:
        for pattern, name, advice in _FORMS:
            if re.match(pattern, head, re.DOTALL | re.IGNORECASE | re.MULTILINE):
                raise InvalidInput(
                    f"this is {name}, and no file of events, which has one JSON object a line; "
                    f"{advice}",
                    code="bad_file",
                ) from None


def event_lines(lines: Iterator[Line]) -> Iterator[Line]:
    """Yield the lines of a file that is none of another form.

    Raises:
        InvalidInput: `bad_file`.
    """
    head = list(islice(lines, _HEAD))
    if head:
        check_form(head[0].text, "\n".join(line.text for line in head))
    yield from chain(head, lines)


_HEAD: Final = 5
"""Lines by which a form is recognised."""
_HEADER_ROWS: Final = 20
"""Rows among which the header of a table is looked for."""


@contextmanager
def stream_of(path: str | Path) -> Generator[IO[bytes]]:
    """Open the bytes of an import file, `.gz` or plain, or standard input as `-`.

    Raises:
        NotFound: `unknown_file`.
        Unavailable: `file_unreadable`.
        InvalidInput: `bad_file` for a `.gz` that is none, and for a workbook.
    """
    if str(path) == STDIN:
        yield sys.stdin.buffer
        return
    try:
        with Path(path).open("rb") as raw:
            if raw.peek(4)[:4] in _WORKBOOKS:
                raise InvalidInput(
                    f"{path} is a workbook or an archive; {_AS_TABLE}", code="bad_file"
                )
            if str(path).endswith(".gz"):
                with gzip.open(raw) as plain:
                    yield cast("IO[bytes]", plain)
            else:
                yield raw
    except FileNotFoundError as error:
        raise NotFound(f"there is no file {path}", code="unknown_file") from error
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise InvalidInput(
            f"{path} is no intact gzip file ({error}); fetch or pack it again", code="bad_file"
        ) from error
    except OSError as error:
        raise Unavailable(
            f"{path} cannot be read: {error.strerror or error}", code="file_unreadable"
        ) from error


def _lines(raw: IO[bytes], line_bytes: int) -> Iterator[Line]:
    for number in count(1):
        raw_line = raw.readline(line_bytes + 1)
        if not raw_line:
            return
        if len(raw_line) > line_bytes:
            for _ in range(_PARTS):
                if not raw_line or raw_line.endswith(b"\n"):
                    break
                raw_line = raw.readline(line_bytes)
            else:
                # A device or a pipe would be read for ever.
                raise InvalidInput(
                    f"line {number} has no end within {_PARTS * line_bytes:,} bytes; name a file "
                    "of lines",
                    code="bad_file",
                )
            yield Line(number, f"{_TOO_LONG} {line_bytes} bytes")
            continue
        try:
            text = raw_line.decode("utf-8-sig" if number == 1 else "utf-8").strip()
        except UnicodeDecodeError as error:
            # A mark keeps the line refusable on its own, with its number.
            text = f"{_NOT_UTF8} at byte {error.start + 1}"
        if text:
            yield Line(number, text)


def lines_of(events: Iterable[Mapping[str, Any]]) -> Iterator[Line]:
    """Yield events that are in memory as lines; the number is their place."""
    for number, event in enumerate(events, start=1):
        try:
            text = json.dumps(event, ensure_ascii=False, allow_nan=False, default=_time)
        except (TypeError, ValueError) as error:
            raise InvalidInput(f"event {number} is no JSON: {error}", code="bad_json") from error
        yield Line(number, text)


def _time(value: Any) -> str:
    if hasattr(value, "isoformat"):
        return str(value.isoformat())
    raise TypeError(f"{type(value).__name__} has no JSON form")


def read(line: Line, reading: Reading) -> Definition | TalkLine | Event:
    """Return what a line says.

    Raises:
        InvalidInput: `bad_json`, `unknown_field`, `bad_field`, `bad_time` and its kin.
    """
    if line.refusal is not None:
        raise line.refusal

    event = json_object(line.text)
    if "define" in event:
        return Definition(line, event)
    if "observe" in event:
        if reading.replay:
            raise InvalidInput(
                "a replay loads claims with the stamps that they had; observe talk in an import "
                "of its own, without --replay (replay=True)",
                code="unknown_field",
                field="observe",
            )
        return TalkLine(line, event)

    recorded_us = _recorded_us(event, reading)
    if reading.replay:
        parsed_authorship(event.get("writer"))

    replay_fields = {"recorded_at", "writer"} if reading.replay else {"recorded_at"}
    members = checked_fields({k: v for k, v in event.items() if k not in replay_fields})
    if reading.ignore_external_ids:
        for name, value in members.items():
            if isinstance(value, dict):
                members[name] = {**cast("dict[str, Any]", value)}
                members[name].pop("external_ids", None)
    if reading.restate:
        members.setdefault("op", RESTATE)

    write = Write(**members)
    check_shape(write)
    return Event(line, event, write, recorded_us)


def checked_fields(members: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a write that have a value.

    Raises:
        InvalidInput: `unknown_field`.
    """
    for name in members.keys() - _FIELDS:
        raise unknown_field(name, _FIELDS)
    return {name: value for name, value in members.items() if value is not None}


def at_line(error: TenureError, first: int, last: int | None = None) -> TenureError:
    """Return the same error with the number of its line, or of its lines, in front."""
    # Who met it first knew best where.
    if "line" in error.data:
        return error

    position = f"line {first}" if last in (None, first) else f"lines {first} to {last}"
    data: dict[str, Any] = {**error.data, "line": first}
    return type(error)(f"{position}: {error}", code=error.code, **data)


def json_object(text: str) -> dict[str, Any]:
    """Return the JSON object of a line.

    Raises:
        InvalidInput: `bad_json` for anything else, a repeated key or a number that is none.
    """
    check_readable(text)
    value = json_of(text, "this", code="bad_json")
    if not isinstance(value, dict):
        raise InvalidInput("a line holds one JSON object, in braces", code="bad_json")

    return cast("dict[str, Any]", value)


def check_readable(text: str) -> None:
    """Refuse the text of a line that could not be read.

    Raises:
        InvalidInput: `too_large`, `bad_json`.
    """
    if text.startswith(_TOO_LONG):
        raise InvalidInput(f"the line is{text[1:]}; keep long texts as artifacts", code="too_large")
    if text.startswith(_NOT_UTF8):
        raise InvalidInput(f"the line is{text[1:]}; save the file as UTF-8", code="bad_json")


def _recorded_us(event: Mapping[str, Any], reading: Reading) -> int | None:
    recorded_at = event.get("recorded_at")
    if not reading.replay:
        if recorded_at is not None:
            raise InvalidInput(
                "recorded_at belongs to a replay: an import is recorded now. Load a "
                "history with --replay (replay=True), or leave recorded_at out",
                code="unknown_field",
                field="recorded_at",
            )
        return None

    if not isinstance(recorded_at, str):
        raise InvalidInput(
            "in a replay every event says when it was recorded: recorded_at", code="bad_field"
        )

    if recorded_at in ("infinity", "-infinity"):
        raise InvalidInput("recorded_at is a moment, not an open end", code="bad_time")

    return instant(recorded_at, field="recorded_at")


def batches(items: Iterable[Any], size: int) -> Iterator[list[Any]]:
    """Items in lists of a size, the last one shorter; events of one record stay together."""
    batch: list[Any] = []
    for item in items:
        # A record without end is cut all the same: what a transaction takes has a limit.
        is_one = bool(batch) and isinstance(item, Event) and item.record == batch[-1].record
        is_full = len(batch) >= size and not is_one
        if is_full or len(batch) == 2 * size:
            yield batch
            batch = []
        batch.append(item)

    if batch:
        yield batch


_JSON: Final = re.compile(rb"[\xef\xbb\xbf\s]*(?:\{|\[\s*[\[{])")
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
        if custom_mapping and _JSON.match(cast("Any", raw).peek(1)):
            lines = event_lines(_lines(raw, LINE_BYTES))
            yield from mapped_rows(lines, custom_mapping, is_retry=False)
        else:
            yield from _csv_lines(raw, custom_mapping, delimiter)


def _cells(members: Mapping[str, Any], path: str) -> Iterator[tuple[str, str]]:
    """The members of an object as text; those of an inner object are named `outer.inner`."""
    for name, member in members.items():
        if isinstance(member, dict):
            yield from _cells(cast("dict[str, Any]", member), f"{path}{name}.")
        elif member is None or isinstance(member, str):
            yield path + name, member or ""
        else:
            yield path + name, json.dumps(member, ensure_ascii=False)


def _csv_lines(raw: IO[bytes], custom_mapping: CsvMapping | None, delimiter: str) -> Iterator[Line]:
    encoding = custom_mapping.encoding if custom_mapping else "utf-8"
    # A comma may just be what a mapping has by default: a .tsv file is read with tabs all the same.
    if custom_mapping and custom_mapping.delimiter != ",":
        delimiter = custom_mapping.delimiter

    rows = csv.reader(_texts(raw, encoding), delimiter=delimiter, strict=True)
    # Some spreadsheets name the delimiter in a row before the header.
    tables = (cells for _, cells in _records(rows) if not cells[0].startswith("sep="))
    # An export may say what it is before its header, which is the row with the mapping's columns.
    columns = custom_mapping.columns() if custom_mapping else set[str]()
    titles = list[str]()
    for cells in islice(tables, _HEADER_ROWS):
        titles = titles or cells
        if columns.issubset(map(str.strip, cells)):
            titles = cells
            break
    header = list(map(str.strip, titles))
    if custom_mapping is None and "subject" not in {c.partition(".")[0] for c in header}:
        check_form(delimiter.join(titles), delimiter.join(titles))
    mapping = custom_mapping or header_mapping(header)
    _check_header(header, mapping, is_custom=custom_mapping is not None)

    for number, cells in _records(rows):
        # Where several exports are joined to one file, the header is there again.
        if cells != titles:
            yield from _events(number, cells, header, mapping)


def mapped_rows(
    lines: Iterable[Line], mapping: CsvMapping, *, is_retry: bool = True
) -> Iterator[Line]:
    """Yield the events of rows that are JSON objects; in a retry any other line as it is.

    Raises:
        InvalidInput: `unknown_column` for a column that no row has.
    """
    columns: dict[str, None] = {}
    for line in lines:
        try:
            members = json_object(line.text)
        except InvalidInput:
            yield line  # reading it refuses it
            continue
        # A refused event has fields of an event; a refused row has cells under its columns.
        is_event = EVENT_FIELDS.issuperset(members) or not all(
            isinstance(cell, str) for cell in members.values()
        )
        if is_retry and is_event:
            yield line
            continue
        row = dict(_cells(members, ""))
        columns.update(dict.fromkeys(row))
        yield from _events(line.number, list(row.values()), list(row), mapping)
    if not is_retry:
        _check_header(list(columns), mapping, is_custom=True)


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
    # An export may repeat a column of several values; a mapping need not read it.
    columns = mapping.columns() if is_custom else header
    duplicates = sorted({name for name in columns if header.count(name) > 1})
    if duplicates or not header:
        problem = (
            f"a column occurs twice: {', '.join(duplicates[:5])}"
            if duplicates
            else "there is no header"
        )
        raise InvalidInput(
            f"line 1: {problem}; the first row names each column once", code="bad_file"
        )

    if is_custom:
        strange = sorted(set(columns) - set(header))
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
