"""Reading a compile request at the edge: plain texts and mappings become typed items.

What cannot be read is refused with the field's name and the nearest known words; nothing is
guessed. The same readers rebuild a request from the JSON of a manifest.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import MISSING, fields
from datetime import datetime
from enum import StrEnum
from typing import Any, Final, TypeVar, cast

from ...schema.compile_terms import TimeoutClass, ToolProtocol
from ...schema.errors import InvalidInput, did_you_mean
from ...schema.interval import INF_US, MIN_US
from ...schema.limits import check_number
from ...schema.values import canonical_json, fields_of, items_of, micros
from ...schema.vocabulary import Enforcement, parse, parse_level
from ..budget.profiles import risk_weight
from .messages import is_message, tool_fields, turns_of
from .request import (
    MAX_ITEMS,
    MAX_TEXT,
    CompileRequest,
    Constraint,
    Evidence,
    Media,
    MediaKind,
    MediaSegment,
    NamedText,
    Role,
    RowFilter,
    RowTest,
    StandIn,
    Tool,
    Turn,
    WindowPin,
    bad_request,
    quantise,
)

Reader = Callable[[str, object], Any]
"""Reads a field: its name for errors, and what was given."""


def request_from_json(text: str) -> CompileRequest:
    """The request of a canonical JSON.

    Raises:
        InvalidInput: `bad_manifest`, when the text is no request.
    """
    try:
        document = json.loads(text)
        return _rebuilt(document)
    except (TypeError, KeyError, AttributeError, ValueError) as error:
        raise InvalidInput(
            f"the request of the manifest cannot be read: {error}", code="bad_manifest"
        ) from error


def parse_request(task: str, **parameters: Any) -> CompileRequest:
    """A checked request from what a caller passed to `compile`.

    Raises:
        InvalidInput: `bad_request`, `too_large`, `out_of_range`, `naive_datetime`,
            `unknown_vocabulary`.
    """
    known = (*_READERS, "valid", "tx")
    for name in parameters:
        if name not in known:
            raise bad_request(name, f"no such parameter; {did_you_mean(name, known)}")

    # None is a parameter that was not given: its default stands in the record.
    read: dict[str, Any] = {}
    for name, raw in parameters.items():
        if name in _READERS and raw is not None:
            read[name] = _READERS[name](name, raw)

    # Callers hand in two kinds of thing under one name; the request keeps them apart.
    evidence = read.pop("evidence", ())
    pinned = read.pop("pinned", ())
    return CompileRequest(
        task=_text("task", task),
        evidence=_of_kind(evidence, Evidence),
        media=_of_kind(evidence, Media),
        pinned=_of_kind(pinned, Evidence),
        pinned_ids=_of_kind(pinned, str),
        valid_us=_instant("valid", parameters.get("valid")),
        tx_us=_instant("tx", parameters.get("tx")),
        **read,
    )


_LONE: Final = re.compile("[\ud800-\udfff]")
_Kind = TypeVar("_Kind")


def _of_kind(items: Iterable[object], kind: type[_Kind]) -> tuple[_Kind, ...]:
    """Those of one kind among items of two, in the order in which they came."""
    return tuple(item for item in items if isinstance(item, kind))


def _text(path: str, raw: object) -> str:
    if not isinstance(raw, str):
        raise bad_request(path, f"give a text, not {type(raw).__name__}")

    if len(raw) > MAX_TEXT:
        raise InvalidInput(
            f"{path} has {len(raw)} characters, the limit is {MAX_TEXT}; "
            "ingest it as a document and let the compile find its parts",
            code="too_large",
            field=path,
        )

    # Half a character: it is in no encoding, so no store, hash or provider takes it.
    if (lone := _LONE.search(raw)) is not None:
        raise bad_request(path, f"a lone surrogate at character {lone.start()}; decode it anew")

    return raw


def _list(path: str, raw: object) -> tuple[object, ...]:
    # A text is an item, not a sequence of its characters; a mapping is one item, too.
    if isinstance(raw, list | tuple | set | frozenset):
        items = tuple(cast("Sequence[object]", raw))
    else:
        items = (raw,)
    if len(items) > MAX_ITEMS:
        raise InvalidInput(f"{path} has more than {MAX_ITEMS} items", code="too_large")
    return items


def _item(kind: type[_Kind], path: str, raw: object) -> _Kind:
    if isinstance(raw, kind):
        return raw

    if isinstance(raw, str):
        raw = {"name" if kind is Tool else "text": raw}

    if not isinstance(raw, Mapping):
        raise bad_request(path, f"give a text, a mapping or a {kind.__name__}")

    columns = fields(cast("Any", kind))
    names = [field.name for field in columns]
    arguments: dict[str, Any] = {}
    for name, value in cast("Mapping[str, Any]", raw).items():
        if name not in names:
            raise bad_request(path, f"unknown field {name!r}; {did_you_mean(name, names)}")
        arguments[name] = _FIELDS.get(name, _text)(f"{path}.{name}", value)

    try:
        return kind(**arguments)
    except TypeError as error:
        # Each argument is a field, so that only a field without a value can be at fault.
        needs = {column.name for column in columns if column.default is MISSING}
        raise bad_request(path, f"state its {sorted(needs - arguments.keys())[0]}") from error


def _json_text(path: str, raw: object) -> str:
    try:
        return canonical_json(json.loads(raw) if isinstance(raw, str) else raw)
    except (TypeError, ValueError) as error:
        raise bad_request(path, f"it is no JSON: {error}") from error


def _json_value(path: str, raw: object) -> str:
    """A value as canonical JSON; a plain text is itself unless it is JSON already."""
    try:
        return _json_text(path, raw)
    except InvalidInput:
        return canonical_json(raw)


def _signals(path: str, raw: object) -> tuple[tuple[str, float], ...]:
    signals = fields_of(raw)
    names = cast("Mapping[object, object]", signals)
    if (raw and not signals) or not all(isinstance(name, str) for name in names):
        raise bad_request(path, "give a mapping of signal names to numbers")

    # Which signals there are, the policy says: `weights_of` refuses what it does not name.
    numbers: list[tuple[str, float]] = []
    for name, value in sorted(signals.items()):
        number = risk_weight(value) if isinstance(value, str) else _number(path, value)
        numbers.append((name, number))
    return tuple(numbers)


def _records(path: str, raw: object) -> str:
    text = _json_text(path, raw)
    table: object = json.loads(text)
    rows = items_of(table)
    if not isinstance(table, list) or not all(isinstance(row, dict) for row in rows):
        raise bad_request(path, "give a list of objects")
    if len(rows) > MAX_ITEMS:
        raise InvalidInput(f"{path} has more than {MAX_ITEMS} rows", code="too_large")

    return text


def _regions(path: str, raw: object) -> tuple[tuple[int, ...], ...]:
    boxes: list[tuple[int, ...]] = []
    for box in _list(path, raw):
        edges = tuple(_count(path, edge) for edge in _list(path, box))
        if len(edges) != 4:
            raise bad_request(path, "give a list of [left, top, right, bottom] in pixels")
        boxes.append(edges)

    return tuple(boxes)


def _finite(path: str, raw: object, expected: str) -> int | float:
    """A number that int64 or a double holds; a larger one breaks arithmetic and even printing."""
    if isinstance(raw, bool) or not isinstance(raw, int | float):
        raise bad_request(path, f"give {expected}, not {type(raw).__name__}")
    check_number(raw, path)
    return raw


def _count(path: str, raw: object) -> int:
    number = _finite(path, raw, "a whole number of at least 0")
    if not isinstance(number, int) or number < 0:
        raise bad_request(path, f"give a whole number of at least 0, not {number}")
    return number


def _number(path: str, raw: object) -> float:
    number = _finite(path, raw, "a number of at least 0")
    if number < 0:
        raise bad_request(path, f"give a number of at least 0, not {number}")
    return float(number)


def _share(path: str, raw: object) -> float | None:
    if raw is None:
        return None

    number = _number(path, raw)
    if number > 1:
        raise bad_request(path, f"give a number from 0 to 1, not {number}")
    return number


def _flag(path: str, raw: object) -> bool:
    if not isinstance(raw, bool):
        raise bad_request(path, f"give true or false, not {raw!r}")
    return raw


def _level(_path: str, raw: object) -> int | None:
    return None if raw is None else int(parse_level(raw))


def _texts(path: str, raw: object) -> tuple[str, ...]:
    return tuple(_text(path, item) for item in _list(path, raw))


def _instant(path: str, raw: object) -> int | None:
    if raw is None or (isinstance(raw, int) and not isinstance(raw, bool)):
        instant = raw
    elif raw in ("infinity", "-infinity"):
        instant = INF_US if raw == "infinity" else MIN_US
    elif isinstance(raw, datetime):
        instant = micros(raw)
    else:
        try:
            instant = micros(datetime.fromisoformat(_text(path, raw)))
        except InvalidInput:
            raise
        except ValueError as error:
            raise bad_request(path, f"{raw!r} is no ISO 8601 instant with a zone") from error

    if instant is not None and not MIN_US <= instant <= INF_US:
        raise bad_request(path, "the instant leaves the years 1 to 9999")

    return instant


def _vector(path: str, raw: object) -> tuple[int, ...]:
    values = tuple(cast("Sequence[object]", raw)) if isinstance(raw, Sequence) else ()

    # Whole numbers come from a manifest and are quantised already: the same numbers
    # must come back, or its replay would be another request.
    if values and all(isinstance(x, int) and not isinstance(x, bool) for x in values):
        return cast("tuple[int, ...]", values)
    return quantise([_component(path, x) for x in values])


def _component(path: str, raw: object) -> float:
    return float(_finite(path, raw, "numbers"))


def _items(kind: type[Any]) -> Reader:
    def read(path: str, raw: object) -> tuple[Any, ...]:
        items: list[Any] = []
        for place, item in enumerate(_list(path, raw)):
            items.append(_item(kind, f"{path}[{place}]", item))
        return tuple(items)

    return read


def _evidence(path: str, raw: object) -> tuple[Evidence | Media, ...]:
    read: list[Evidence | Media] = []
    for place, item in enumerate(_list(path, raw)):
        name = f"{path}[{place}]"
        media = isinstance(item, Media) or "kind" in fields_of(item)
        read.append(_item(Media, name, item) if media else _item(Evidence, name, item))
    return tuple(read)


def _pins(path: str, raw: object) -> tuple[Evidence | str, ...]:
    read: list[Evidence | str] = []
    for place, item in enumerate(_list(path, raw)):
        pin = isinstance(item, str) and _is_id(item)
        read.append(str(item) if pin else _item(Evidence, f"{path}[{place}]", item))
    return tuple(read)


def _is_id(text: str) -> bool:
    return len(text) == 36 and text.count("-") == 4 and not text.strip("0123456789abcdef-")


def _word(kind: type[StrEnum]) -> Reader:
    def read(_path: str, raw: object) -> StrEnum:
        return parse(kind, raw)

    return read


def _word_or_none(kind: type[StrEnum]) -> Reader:
    def read(_path: str, raw: object) -> str:
        return "" if raw in (None, "") else parse(kind, raw).value

    return read


_FIELDS: Final[Mapping[str, Reader]] = {
    "protocol": _word_or_none(ToolProtocol),
    "timeout_class": _word_or_none(TimeoutClass),
    "role": _word(Role),
    "kind": _word(MediaKind),
    "enforcement": _word(Enforcement),
    "input_schema": _json_text,
    "output_schema": _json_text,
    "spec": _json_text,
    "records": _records,
    "stand_ins": _items(StandIn),
    "regions": _regions,
    "segments": _items(MediaSegment),
    "where": _items(RowFilter),
    "start": _number,
    "end": _number,
    "test": _word(RowTest),
    "value": _json_value,
    "beyond_text": _share,
    "columns": _texts,
    "aggregates": _texts,
    "utility": _share,
    "confidence": _share,
    "authority_level": _level,
    "source_authority": _share,
    "lineage": _texts,
    "covers": _texts,
    "width": _count,
    "height": _count,
    "seconds": _number,
    "hard": _flag,
    "positive": _flag,
    "explicit": _flag,
    "uncertain": _flag,
}


def _history(path: str, raw: object) -> tuple[Turn, ...]:
    """Turns, or messages as a provider takes them."""
    turns: list[Turn] = []
    for position, item in enumerate(_list(path, raw)):
        place = f"{path}[{position}]"
        fields = fields_of(item)
        # One message may hold several turns: a text, its calls, their results.
        messages = turns_of(fields, place) if fields and is_message(fields) else (item,)
        for message in messages:
            turns.append(_item(Turn, place, message))

    return tuple(turns)


def _tools(path: str, raw: object) -> tuple[Tool, ...]:
    """Tools, or what a provider is told of them."""
    tools: list[Tool] = []
    for position, item in enumerate(_list(path, raw)):
        fields = fields_of(item)
        tools.append(_item(Tool, f"{path}[{position}]", tool_fields(fields) if fields else item))
    return tuple(tools)


_READERS: Final[Mapping[str, Reader]] = {
    **dict.fromkeys(
        ("query", "user_request", "hypothesis", "goal", "step", "project", "model", "profile"),
        _text,
    ),
    **dict.fromkeys(("budget_tokens", "reserve_tokens"), _count),
    "acceptance": _items(Constraint),
    "constraints": _items(Constraint),
    "entities": _texts,
    "tools": _tools,
    "history": _history,
    "evidence": _evidence,
    "skills": _items(NamedText),
    "pinned": _pins,
    "progress": _items(NamedText),
    "errors": _items(NamedText),
    "query_vector": _vector,
    "signals": _signals,
}
_ITEM_KINDS: Final[Mapping[str, type[Any]]] = {
    "acceptance": Constraint,
    "constraints": Constraint,
    "tools": Tool,
    "history": Turn,
    "evidence": Evidence,
    "media": Media,
    "skills": NamedText,
    "pinned": Evidence,
    "progress": NamedText,
    "errors": NamedText,
}


def _rebuilt(document: dict[str, Any]) -> CompileRequest:
    # The fields of the record, not the parameters of `compile`: instants are whole numbers here.
    read = dict(document)
    for name, kind in _ITEM_KINDS.items():
        read[name] = tuple(_item(kind, name, item) for item in read[name])
    read["signals"] = tuple((str(name), value) for name, value in read["signals"])
    for name in ("entities", "pinned_ids", "query_vector"):
        read[name] = None if read[name] is None else tuple(read[name])
    if "window" in read:
        read["window"] = WindowPin(**read["window"])
    return CompileRequest(**read)
