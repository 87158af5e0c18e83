"""Event lines: the import format, read line by line, refused with number and reason.

A line is a JSON object: a definition (`{"define": "slot", …}`), what somebody said
(`{"observe": "…", …}`), or an event, whose fields are those of a write, and `recorded_at` in a
replay. Nothing is guessed: an unknown field, a repeated key, a wrong type or text that is no JSON
refuses the line. This module reads and
checks; `ingest` decides and writes.
"""

from __future__ import annotations

import gzip
import json
import sys
import zlib
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields
from itertools import count, islice
from pathlib import Path
from typing import IO, Any, Final, cast

from ...schema.documents import json_of
from ...schema.errors import InvalidInput, NotFound, TenureError, Unavailable, unknown_field
from ...schema.limits import LINE_BYTES
from ...schema.write import Write
from ..backend.caller import instant
from .trust import parsed_authorship

STDIN: Final = "-"


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


@dataclass(frozen=True, slots=True)
class Reading:
    """How lines are read."""

    replay: bool = False
    ignore_external_ids: bool = False
    """Leave identifiers out, so that names alone decide who is who."""


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


@contextmanager
def stream_of(path: str | Path) -> Generator[IO[bytes]]:
    """Open the bytes of an import file, `.gz` or plain, or standard input as `-`.

    Raises:
        NotFound: `unknown_file`.
        Unavailable: `file_unreadable`.
        InvalidInput: `bad_file` for a `.gz` that is none.
    """
    if str(path) == STDIN:
        yield sys.stdin.buffer
        return
    try:
        with Path(path).open("rb") as raw:
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
            while raw_line and not raw_line.endswith(b"\n"):
                raw_line = raw.readline(line_bytes)
            yield Line(number, f"{_TOO_LONG} {line_bytes} bytes")
            continue
        try:
            text = raw_line.decode("utf-8-sig" if number == 1 else "utf-8").strip()
        except UnicodeDecodeError as error:
            # A mark keeps the line refusable on its own, with its number.
            text = f"{_NOT_UTF8} at byte {error.start + 1}"
        if text:
            yield Line(number, text)


_NOT_UTF8: Final = "\ufffd not UTF-8"
_TOO_LONG: Final = "\ufffd longer than"


def lines_of(events: Iterable[Mapping[str, Any]]) -> Iterator[Line]:
    """Yield events that stand in memory as lines; the number is their place."""
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
    members = checked_fields(
        {name: value for name, value in event.items() if name not in replay_fields}
    )
    if reading.ignore_external_ids:
        members = {name: _anonymous(value) for name, value in members.items()}

    return Event(line, event, Write(**members), recorded_us)


def checked_fields(members: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a write that have a value, each of the right JSON type.

    Raises:
        InvalidInput: `unknown_field`, `bad_field`.
    """
    for name, value in members.items():
        _check(name, value)
    return {name: value for name, value in members.items() if value is not None}


def at_line(error: TenureError, number: int) -> TenureError:
    """Return the same error with the number of its line in front."""
    return at_lines(error, number, number)


def at_lines(error: TenureError, first: int, last: int) -> TenureError:
    """Return the same error with the numbers of its lines in front."""
    # Who met it first knew best where.
    if "line" in error.data:
        return error

    position = f"line {first}" if first == last else f"lines {first} to {last}"
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
                "recorded_at belongs to a replay: the store stamps what it is told now. Load a "
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


_TEXTS: Final = frozenset(
    {"applicable_task_types", "sensitivity", "allow_roles", "deny_roles", "derived_from"}
)
_OBJECTS: Final = frozenset({"scope", "decay_rule", "enforcement"})
_NUMBERS: Final = frozenset({"source_authority", "confidence"})
_FIELDS: Final = frozenset(item.name for item in fields(Write))
EVENT_FIELDS: Final = _FIELDS | {"recorded_at", "writer"}
"""The fields that an event may have."""


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_texts(value: Any) -> bool:
    return isinstance(value, list) and all(map(_is_text, cast("list[object]", value)))


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_entity(value: Any) -> bool:
    if not isinstance(value, dict):
        return _is_text(value)

    members = cast("dict[str, Any]", value)
    ids = members.get("external_ids", {})
    return (
        _is_text(members.get("name"))
        and _is_text(members.get("type", ""))
        and _is_texts(members.get("aliases", []))
        and isinstance(ids, dict)
        and all(map(_is_text, cast("dict[str, Any]", ids).values()))
    )


_Shape = tuple[Callable[[Any], bool], str]
"""What a field must look like, and how to say it."""

_TEXT: Final[_Shape] = (_is_text, "a text")
_SHAPES: Final[Mapping[str, _Shape]] = {
    **dict.fromkeys(_FIELDS, _TEXT),
    **dict.fromkeys(_TEXTS, (_is_texts, "a list of texts")),
    **dict.fromkeys(_NUMBERS, (_is_number, "a number")),
    **dict.fromkeys(_OBJECTS, (lambda v: isinstance(v, dict), "an object")),
    "value": (lambda v: True, "anything"),
    "planned": (lambda v: isinstance(v, bool), "true or false"),
    "authority_level": (lambda v: _is_number(v) and float(v).is_integer(), "a whole number"),
    "subject": (_is_entity, "a name, an id, or {name, type, aliases, external_ids}"),
}


def _check(name: str, value: Any) -> None:
    if name not in _FIELDS:
        raise unknown_field(name, _FIELDS)

    fits, shape_text = _SHAPES[name]
    if value is not None and not fits(value):
        raise InvalidInput(f"{name} must be {shape_text}", code="bad_field", field=name)


def _anonymous(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    return {k: v for k, v in cast("dict[str, Any]", value).items() if k != "external_ids"}


def batches(items: Iterable[Any], size: int) -> Iterator[list[Any]]:
    """Items in lists of a size, the last one shorter."""
    iterator = iter(items)
    while batch := list(islice(iterator, size)):
        yield batch
