"""Read a compile request: plain texts, mappings and provider messages become typed items.

Messages in a provider's form, and objects of its SDK, are accepted as they are. A tool call is a
turn of the assistant, and its result follows it. Thinking is left out; a picture in a message
leaves a mark. What cannot be read is refused with the field's name and the nearest known words;
nothing is guessed. A replay rebuilds a request from the JSON of its manifest with the same readers.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, fields, replace
from datetime import datetime
from enum import StrEnum
from operator import attrgetter
from typing import Any, Final, TypeVar, cast

from ...schema.compile_terms import TimeoutClass, ToolProtocol
from ...schema.errors import InvalidInput, did_you_mean
from ...schema.interval import INF_US, MIN_US
from ...schema.limits import NESTING, check_json, check_number, check_text, nesting
from ...schema.values import canonical_json, fields_of, items_of, micros
from ...schema.vocabulary import Enforcement, parse, parse_level
from ..budget.profiles import risk_weight
from ..tokens.capabilities import sendable_id
from .messages import (
    ContentKind,
    Fields,
    MessageBlock,
    content_blocks,
    is_message,
    message_blocks,
    sdk_json,
)
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

_ROLES: Final = {"developer": "system", "function": "tool", "model": "assistant"}
"""Words of providers for roles that have another name here."""

UNNAMED_CALL: Final = "call"
"""The id of a call that brings none, until it gets one of its own."""
NO_RESULT: Final = "no result was handed in"

Reader = Callable[[str, object], Any]
"""Reads a field: its name for errors, and what was given."""

_LONE: Final = re.compile("[\ud800-\udfff]")
_Kind = TypeVar("_Kind")

_LARGEST_SIZE: Final = 1_000_000_000
_LARGEST_EDGE: Final = 1_000_000
"""Beyond any picture; tokens grow with the product of both edges."""


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

    # None is a parameter that was not given: its default is in the record.
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
        raise bad_request(path, f"a lone surrogate at character {lone.start()}; decode it again")

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
    except (TypeError, ValueError, RecursionError) as error:
        raise bad_request(path, f"it is no JSON: {error}") from error


def _schema(path: str, raw: object) -> str:
    """A schema as canonical JSON, measured before it is read."""
    if isinstance(raw, str):
        check_text(raw, path, most=MAX_TEXT)
    is_deep = isinstance(raw, str) and nesting(raw) > NESTING
    try:
        check_json(raw, path)
    except InvalidInput as error:
        if error.code != "too_deep":
            raise
        is_deep = True
    if is_deep:
        raise bad_request(path, f"it is nested deeper than {NESTING} levels")

    text = _json_text(path, raw)
    check_text(text, path, most=MAX_TEXT)
    return text


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
    if not isinstance(number, int) or not 0 <= number <= _LARGEST_SIZE:
        raise bad_request(path, f"give a whole number from 0 to {_LARGEST_SIZE:,}, not {number}")
    return number


def _edge(path: str, raw: object) -> int:
    edge = _count(path, raw)
    if edge > _LARGEST_EDGE:
        raise bad_request(path, f"give at most {_LARGEST_EDGE:,} pixels, not {edge}")
    return edge


def _number(path: str, raw: object) -> float:
    number = _finite(path, raw, "a number of at least 0")
    if not 0 <= number <= _LARGEST_SIZE:
        raise bad_request(path, f"give a number from 0 to {_LARGEST_SIZE:,}, not {number}")
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
    return quantise([float(_finite(path, x, "numbers")) for x in values])


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
    "input_schema": _schema,
    "output_schema": _schema,
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
    "width": _edge,
    "height": _edge,
    "seconds": _number,
    "hard": _flag,
    "positive": _flag,
    "explicit": _flag,
    "uncertain": _flag,
}


def read_turns(path: str, raw: object) -> tuple[Turn, ...]:
    """Turns, or messages as a provider takes them, as they were written.

    Raises:
        InvalidInput: `bad_request`, for what is neither; `path` names the list.
    """
    turns: list[Turn] = []
    for position, item in enumerate(_list(path, raw)):
        place = f"{path}[{position}]"
        item = sdk_json(item)
        fields = fields_of(item)
        # One message may hold several turns: a text, its calls, their results.
        messages = turns_of(fields, place) if fields and is_message(fields) else (item,)
        for message in messages:
            turns.append(_item(Turn, place, message))

    return tuple(turns)


def _history(path: str, raw: object) -> tuple[Turn, ...]:
    return whole_calls(read_turns(path, raw))


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
_STORED_LISTS: Final = (
    *("acceptance", "constraints", "tools", "evidence"),
    *("skills", "pinned", "progress", "errors"),
)
"""Lists that are read from a manifest as from a caller; a stored history is whole already."""


def _rebuilt(document: dict[str, Any]) -> CompileRequest:
    # The fields of the record, not the parameters of `compile`: instants are whole numbers here.
    read = dict(document)
    for name in _STORED_LISTS:
        read[name] = _READERS[name](name, read[name])
    read["media"] = _evidence("media", read["media"])
    read["history"] = _items(Turn)("history", read["history"])
    read["signals"] = tuple((str(name), value) for name, value in read["signals"])
    for name in ("entities", "pinned_ids", "query_vector"):
        read[name] = None if read[name] is None else tuple(read[name])
    if "window" in read:
        read["window"] = WindowPin(**read["window"])
    return CompileRequest(**read)


def turns_of(message: Fields, path: str = "message") -> Iterator[dict[str, Any]]:
    """The turns of one message, as fields of `Turn`; an empty message has none.

    >>> [turn["text"] for turn in turns_of({"role": "user", "content": "Hello."})]
    ['Hello.']

    Raises:
        InvalidInput: `bad_request`, for what no provider writes; `path` names the message.
    """
    blocks, home = message_blocks(message, path)
    role = str(message.get("role", "assistant" if home == "responses" else "user"))
    frame = {"role": _ROLES.get(role, role)}
    if message.get("tool_call_id"):
        frame["call_id"] = str(message["tool_call_id"])
    if message.get("name"):
        frame["name"] = str(message["name"])

    words: list[str] = []
    for block in blocks:
        if block.kind in (ContentKind.CALL, ContentKind.RESULT):
            # What was said before a call stays before it.
            yield from _turn_text(frame, words)
            words = []
            is_call = block.kind is ContentKind.CALL
            yield _call(block, path) if is_call else _result(block, path, home)
        elif not block.is_thought:
            words.append(block.words)
    yield from _turn_text(frame, words)


def _turn_text(frame: Mapping[str, str], words: list[str]) -> Iterator[dict[str, Any]]:
    text = "\n".join(filter(None, words))
    if text.strip():
        yield {**frame, "text": text}


def _call(block: MessageBlock, path: str) -> dict[str, Any]:
    arguments = block.value or ""
    if not isinstance(block.value, str | None):
        arguments = _tool_json(f"{path}.input", block.value)
    return {
        "role": "assistant",
        "name": block.name,
        "call_id": block.call_id or UNNAMED_CALL,
        "text": f"-> {block.name} {arguments}".rstrip(),
    }


def _result(block: MessageBlock, path: str, home: str) -> dict[str, Any]:
    content = block.value
    if home == "gemini":
        content = _tool_json(f"{path}.response", content)
    blocks = content_blocks(content, f"{path}.content")
    text = "\n".join(map(attrgetter("words"), blocks))
    return {"role": "tool", "call_id": block.call_id, "text": text or "(empty)"}


def _tool_json(path: str, value: object) -> str:
    try:
        return canonical_json(value)
    except (TypeError, ValueError) as error:
        raise bad_request(path, f"it is no JSON: {error}") from error


def whole_calls(turns: Sequence[Turn]) -> tuple[Turn, ...]:
    """The turns with the results of calls directly behind them, as every provider wants it.

    Calls that follow each other are one step. A call without a result is closed by one that says
    so, and a result without a call loses its id: it is data like any other. Ids are such as every
    provider takes, and unique.
    """
    answer_of: dict[int, int] = {}
    waiting: list[int] = []
    for place, turn in enumerate(turns):
        if _is_call(turn):
            waiting.append(place)
        elif turn.role is Role.TOOL:
            # A result without an id answers the oldest call that waits.
            call = next((c for c in waiting if turn.call_id in ("", turns[c].call_id)), None)
            if call is not None:
                waiting.remove(call)
                answer_of[call] = place

    outcome: list[Turn] = []
    results: list[Turn] = []
    uses: Counter[str] = Counter()
    answers = frozenset(answer_of.values())
    for place, turn in enumerate(turns):
        if _is_call(turn):
            is_named = turn.call_id != UNNAMED_CALL
            call_id = sendable_id(turn.call_id if is_named else f"call-{uses.total() + 1}", uses)
            text = turns[answer_of[place]].text if place in answer_of else NO_RESULT
            outcome.append(replace(turn, call_id=call_id))
            results.append(Turn(text=text, role=Role.TOOL, name=turn.name, call_id=call_id))
            continue

        outcome += results
        results = []
        if place not in answers:
            outcome.append(replace(turn, call_id=""))

    return (*outcome, *results)


def _is_call(turn: Turn) -> bool:
    return turn.role is Role.ASSISTANT and bool(turn.call_id)


def tool_fields(tool: Fields) -> dict[str, Any]:
    """The fields of `Tool`, from a tool in a provider's form; any other mapping is unchanged.

    >>> tool_fields({"type": "function", "function": {"name": "go", "parameters": {}}})
    {'name': 'go', 'input_schema': {}}
    """
    function = tool.get("function", tool)
    if not isinstance(function, Mapping) or not ({"type", "parameters"} & tool.keys()):
        return dict(tool)

    fields = dict(cast("Fields", function))
    known = {name: fields[name] for name in ("name", "description") if fields.get(name)}
    schema = fields.get("parameters", fields.get("input_schema"))
    if schema is not None:
        known["input_schema"] = schema

    return known
