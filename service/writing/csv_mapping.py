"""The mapping of a table: which column of a CSV file fills which field of an event.

A mapping is TOML or JSON, or the same as a dictionary. `common` holds the fields of each event,
every `[[event]]` those of one fact of a row. A text may name columns in braces:

    delimiter = ";"
    zone = "Europe/Berlin"
    dates = ["%d.%m.%Y", "%m/%Y"]

    [common]
    subject = {name = "{First} {Last}", type = "person", external_ids = {hr = "{Id}"}}
    valid_from = "{Since}"

    [[event]]
    slot = "office"
    value = "{Office}"

    [values.Kind]
    "Natural Person" = "person"
    "*" = "unknown"

A cell of a column in `values` stands for what the table says; without `*` any other cell refuses
its row. A field whose cells are all empty is left out, and an event without its value is none.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeGuard, cast
from zoneinfo import ZoneInfo

from ...schema.errors import InvalidInput, NotFound, Unavailable, did_you_mean
from ...schema.limits import json_of, toml_of, utf8_of
from ..backend.caller import local_time
from ..visual.zone import zone_named

Row = Mapping[str, str]
"""The cells of a row by the name of their column."""

_COLUMN: Final = re.compile(r"\{\s*([^{}]+?)\s*\}")
_EPOCH: Final = re.compile(r"\d{10}(?:\d{3})?")
_TIMES: Final = ("valid_from", "valid_until", "recorded_at")
_ENDS: Final = frozenset({"infinity", "-infinity"})
_TEXTS: Final = ("delimiter", "encoding", "decimal", "zone", "ambiguous")
_ISO_DATES: Final = ("%Y-%m-%d", "%Y-%m", "%Y")
_VALUE_TYPE: Final = "value_type"
_DATE: Final = "date"
_FIELD_TYPES: Final = {"confidence": "number", "source_authority": "number", "planned": "boolean"}
"""Fields of an event that are no texts, and what reads their cells."""
_ANY_CELL: Final = "*"
_TRUE: Final = frozenset({"true", "yes", "1"})
_FALSE: Final = frozenset({"false", "no", "0"})


@dataclass(frozen=True, slots=True, kw_only=True)
class CsvMapping:
    """How the rows of a table become events."""

    event: tuple[Mapping[str, Any], ...]
    """The events of a row: fields whose texts may name columns in braces."""
    common: Mapping[str, Any]
    """The fields that all events of a row share."""
    delimiter: str = ","
    encoding: str = "utf-8"
    zone: str | None = None
    """The zone of times that state none, such as Europe/Berlin."""
    dates: tuple[str, ...] = ()
    """Forms of the times, as `strptime` has them, of which the first that fits counts; without one
    ISO 8601, or a date, a month or a year."""
    ambiguous: str | None = None
    """Which of two instants a local time means that the zone has twice: `first` or `second`."""
    decimal: str = ""
    """The sign before the fraction of a number; a point where none is stated."""
    values: Mapping[str, Mapping[str, str]] = field(default_factory=dict[str, Mapping[str, str]])
    """What the cells of a column stand for, by column; `*` stands for any other cell."""

    def columns(self) -> set[str]:
        """Every column that the mapping reads."""
        return _columns_of([self.common, *self.event]) | self.values.keys()

    def events(self, row: Row) -> list[dict[str, Any]]:
        """The events of a row, in the order of the mapping.

        Raises:
            InvalidInput: `bad_time`, `bad_value`, with the field.
        """
        row = {column: self._meaning(column, cell) for column, cell in row.items()}
        events: list[dict[str, Any]] = []
        for template in self.event:
            event = self._event({**self.common, **template}, row)
            if event is not None:
                events.append(event)
        return events

    def _meaning(self, column: str, cell: str) -> str:
        """What a cell stands for; an empty one stays empty."""
        table = self.values.get(column)
        if table is None or not cell.strip():
            return cell
        meaning = table.get(cell.strip(), table.get(_ANY_CELL))
        if meaning is None:
            raise InvalidInput(
                f"{column} {cell.strip()!r:.80} is in no table: values.{column} knows "
                f'{", ".join(sorted(table))}; add it there, or "*" for any other',
                code="bad_value",
                field=column,
            )
        return meaning

    def _event(self, template: Mapping[str, Any], row: Row) -> dict[str, Any] | None:
        # `value_type` says how the cell is read, and is no field of an event.
        fields = template.items()
        event = {name: fill_template(part, row) for name, part in fields if name != _VALUE_TYPE}

        # An empty cell says nothing, so that there is no event which could be refused.
        if "value" in template and event["value"] is None:
            return None

        for name in _TIMES:
            if isinstance(event.get(name), str):
                event[name] = self._time(event[name], name)

        kinds = {**_FIELD_TYPES, "value": str(template.get(_VALUE_TYPE, "string"))}
        for name, kind in kinds.items():
            if isinstance(event.get(name), str):
                event[name] = self._value(event[name], kind, name)

        return {name: part for name, part in event.items() if part is not None}

    def _time(self, text: str, field: str) -> str:
        """A time as ISO 8601; a date, month or year stays one, in the zone of the mapping."""
        # Open ends are words of the import format, whatever the form of the table's times.
        if text in _ENDS:
            return text
        # A number is an epoch: seconds, or milliseconds.
        if not self.dates and _EPOCH.fullmatch(text):
            return datetime.fromtimestamp(int(text[:10]), UTC).isoformat()

        for form in self.dates or _ISO_DATES:
            try:
                moment = datetime.strptime(text, form)  # noqa: DTZ007 - the zone is added below
            except ValueError:
                continue
            length = _date_length(form)
            if length and not (field == "recorded_at" and length < len("2026-06-01")):
                date = moment.date().isoformat()[:length]
                return f"{date}[{self.zone}]" if self.zone and field in _TIMES else date
            if self.dates:
                return self._in_zone(moment, text, field)

        try:
            if self.dates:
                raise ValueError(text)
            moment = datetime.fromisoformat(text)
        except ValueError as error:
            form = f"of the form {' or '.join(self.dates)}" if self.dates else "of ISO 8601"
            raise InvalidInput(
                f"{field} {text!r} is no time {form}; mend the cell, or state `dates` in the "
                "mapping",
                code="bad_time",
                field=field,
            ) from error
        return self._in_zone(moment, text, field)

    def _in_zone(self, moment: datetime, text: str, field: str) -> str:
        """A moment as ISO 8601; one without a zone takes that of the mapping."""
        if moment.tzinfo is not None:
            return moment.isoformat()
        if self.zone is None:
            raise InvalidInput(
                f'{field} {text!r} has no time zone; state zone = "Europe/Berlin" or another in '
                "the mapping",
                code="naive_datetime",
                field=field,
            )
        zone = ZoneInfo(self.zone)
        return local_time(moment, zone, field, ambiguous=self.ambiguous).isoformat()

    def _value(self, text: str, kind: str, field: str) -> Any:
        if kind == _DATE:
            return self._time(text, field)
        try:
            return _VALUES[kind](_plain_number(text, self.decimal) if kind in _NUMBERS else text)
        except (ValueError, RecursionError) as error:
            sign = (
                ', or state decimal = "," or "."' if kind in _NUMBERS and not self.decimal else ""
            )
            raise InvalidInput(
                f"{field} {text!r} is no {kind}; mend the cell, leave it empty{sign}",
                code="bad_value",
                field=field,
            ) from error


def _date_length(form: str) -> int:
    """How much of `2026-06-01` a form states: a day, a month or a year; 0 for a time of day.

    >>> list(map(_date_length, ("%d.%m.%Y", "%B %Y", "%Y", "%Y-%m-%d %H:%M")))
    [10, 7, 4, 0]
    """
    signs = set(re.findall(r"%-?(.)", form))
    if signs & set("HIMSfcXspzZ"):
        return 0
    if signs & set("djxaAuwUWV"):
        return 10
    return 7 if signs & set("mbB") else 4


def fill_template(template: Any, row: Row) -> Any:
    """A template with the cells of a row in place of its columns; None where all are empty.

    >>> row = {"First": "Sam", "Last": ""}
    >>> fill_template({"name": "{First} {Last}", "aliases": ["{Short}"]}, row)
    {'name': 'Sam'}
    >>> fill_template({"name": "{Last}", "type": "person"}, row)
    """
    names = _columns_of(template)
    if names and not any(row.get(name, "").strip() for name in names):
        return None

    if isinstance(template, str):
        # An empty cell leaves the space next to it. A text without columns stays as it was stated.
        text = _COLUMN.sub(lambda match: row.get(match[1], "").strip(), template)
        return text.strip() if names else text

    if isinstance(template, Mapping):
        parts: dict[str, Any] = {}
        for name, member in cast("Mapping[str, Any]", template).items():
            part = fill_template(member, row)
            if part is not None:
                parts[name] = part
        return parts

    if _is_list(template):
        entries = [fill_template(part, row) for part in template]
        return [entry for entry in entries if entry is not None]

    return template


def header_mapping(header: Sequence[str]) -> CsvMapping:
    """The mapping of a table whose columns are the fields themselves, such as `subject.type`."""
    event: dict[str, Any] = {}
    for column in header:
        *path, last = column.split(".")
        place = event
        for step in path:
            place = place.setdefault(step, {})
        place[last] = "{" + column + "}"
    return CsvMapping(event=(event,), common={})


def read_mapping(source: str | Path | Mapping[str, Any]) -> CsvMapping:
    """The mapping of a TOML or JSON file, or of a dictionary.

    Raises:
        NotFound: `unknown_file`.
        Unavailable: `file_unreadable`.
        InvalidInput: `bad_mapping`.
    """
    if isinstance(source, Mapping):
        return _mapping_of(source)

    if not isinstance(source, str | Path):
        raise _bad("a mapping is the path of a TOML or JSON file, or a dictionary")

    try:
        content = Path(source).read_bytes()
    except FileNotFoundError as error:
        raise NotFound(f"there is no mapping {source}", code="unknown_file") from error
    except OSError as error:
        raise Unavailable(
            f"{source} cannot be read: {error.strerror or error}", code="file_unreadable"
        ) from error

    place = str(source)
    text = utf8_of(content, place, code="bad_mapping")
    reader = json_of if place.endswith(".json") else toml_of
    return _mapping_of(reader(text, place, code="bad_mapping"))


def _mapping_of(source: Any) -> CsvMapping:
    if not isinstance(source, Mapping):
        raise _bad("a mapping is a table of names")

    members = dict(cast("Mapping[str, Any]", source))
    known = CsvMapping.__dataclass_fields__
    for name in members:
        if name not in known:
            raise _bad(f"there is no setting {name!r}: {did_you_mean(str(name), known)}")

    texts: dict[str, Any] = {"delimiter": ",", "encoding": "utf-8"}
    texts |= {name: members[name] for name in _TEXTS if members.get(name) is not None}
    for name, text in texts.items():
        if not isinstance(text, str):
            raise _bad(f"{name} must be a text")
    if len(texts["delimiter"]) != 1 or len(texts.get("decimal", ".")) != 1:
        raise _bad("delimiter and decimal are one character each")

    forms = members.get("dates") or ()
    dates = (forms,) if isinstance(forms, str) else tuple(forms)
    if not all(isinstance(form, str) for form in dates):
        raise _bad("dates is a form such as %d.%m.%Y, or a list of such forms")
    if texts.get("ambiguous", "first") not in ("first", "second"):
        raise _bad("ambiguous is first or second: which of two equal local times is meant")

    tables = _table(members.get("values", {}))
    if not all(map(_is_texts, tables.values())):
        raise _bad("each [values.COLUMN] is a table from the text of a cell to a text")

    common, events = _table(members.get("common", {})), members.get("event", ())
    if isinstance(events, Mapping) or not isinstance(events, Sequence):
        raise _bad("each [[event]] is a table of fields")

    templates = tuple(map(_table, cast("Sequence[object]", events)))
    if not templates:
        raise _bad("state at least one [[event]]: the fields of a fact of each row")

    zone_named(texts.get("zone"), code="bad_mapping")
    for template in (common, *templates):
        kind = template.get(_VALUE_TYPE, "string")
        if kind not in _VALUES:
            raise _bad(f"value_type {kind!r} is unknown: {did_you_mean(str(kind), _VALUES)}")

    return CsvMapping(common=common, event=templates, dates=dates, values=tables, **texts)


def _table(source: object) -> Mapping[str, Any]:
    if not isinstance(source, Mapping):
        raise _bad("`common` and `values` are tables, and each [[event]] is one")
    return cast("Mapping[str, Any]", source)


def _is_texts(source: object) -> bool:
    if not isinstance(source, Mapping):
        return False
    return all(isinstance(text, str) for text in cast("Mapping[str, object]", source).values())


def _is_list(template: Any) -> TypeGuard[list[Any]]:
    return isinstance(template, list)


def _columns_of(template: Any) -> set[str]:
    if isinstance(template, str):
        return set(_COLUMN.findall(template))
    if isinstance(template, Mapping):
        template = [*cast("Mapping[str, Any]", template).values()]
    return set[str]().union(*map(_columns_of, template if _is_list(template) else ()))


def _truth(text: str) -> bool:
    if text.casefold() not in _TRUE | _FALSE:
        raise ValueError(text)
    return text.casefold() in _TRUE


def _plain_number(text: str, decimal: str) -> str:
    """A number as Python reads it; a stated decimal sign allows another sign between thousands.

    Without a stated one, `1,234` could mean either, and is refused.

    >>> _plain_number("71.500,50", ","), _plain_number("1 200", "."), _plain_number("1,234", "")
    ('71500.50', '1200', '1,234')
    """
    if not decimal:
        return text
    integer, sign, fraction = text.strip().partition(decimal)
    thousands = re.fullmatch(r"([+-]?\d{1,3})(?:([.,'\u2019\s])\d{3})(?:\2\d{3})*", integer)
    if thousands:
        integer = integer.replace(thousands[2], "")
    elif "." in integer:
        raise ValueError(text)
    return f"{integer}.{fraction}" if sign else integer


def _number(text: str) -> int | float:
    # A integer number stays one: as a float it would lose its last digits.
    return int(text) if re.fullmatch(r"[+-]?\d{1,18}", text) else float(text)


_VALUES: Final[Mapping[str, Callable[[str], Any]]] = {
    "string": str,
    "integer": int,
    "number": _number,
    "boolean": _truth,
    _DATE: str,
    "json": partial(json_of, place="the cell", code="bad_value"),
}
"""The words of `value_type`, each with what reads a cell."""
_NUMBERS: Final = ("integer", "number")


def _bad(message: str) -> InvalidInput:
    return InvalidInput(message, code="bad_mapping")
