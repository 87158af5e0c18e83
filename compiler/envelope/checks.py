"""Checks: does a model's output keep the hard constraints of its envelope?

Each constraint names the code that holds the answer to it (D1): a JSON Schema, a provider
grammar (checked as the schema it was made from), patterns that must or must not occur, or a
policy on tool calls. A constraint that is only stated cannot be checked and is listed as such.

>>> report = check_output((), "anything")
>>> report.passed
True

The repair pass is `service.answering`. Sources: D1; checklist C-039, C-167, C-210.

The part of JSON Schema that outputs of models are held to.

Keywords: type, enum, const, properties, required, additionalProperties, items, minItems,
maxItems, minLength, maxLength, pattern, minimum, maximum, exclusiveMinimum, exclusiveMaximum,
anyOf, oneOf, allOf, not. Others are annotations here and say nothing. A whole float is an integer.

>>> violations({"n": 1.5}, {"type": "object", "properties": {"n": {"type": "integer"}}})
['$.n: it is no integer']

Source: JSON Schema, draft 2020-12, validation vocabulary.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

from ...schema.values import fields_of, items_of
from ...schema.vocabulary import Enforcement
from ..ir.piece import Carrier

Schema = Mapping[str, Any]


_MOST: Final = 50


def violations(value: object, schema: object) -> list[str]:
    """Return what a value breaks, in order of discovery; at most 50."""
    found: list[str] = []
    for violation in _check(value, schema, "$"):
        found.append(violation)
        if len(found) == _MOST:
            break
    return found


def _check(value: object, schema: object, at: str) -> Iterator[str]:
    if schema is False:
        yield f"{at}: nothing is allowed here"
    if not isinstance(schema, Mapping):
        return
    rules = cast("Schema", schema)
    for keyword, rule in rules.items():
        if keyword in _KEYWORDS:
            yield from _KEYWORDS[keyword](value, rule, at, rules)


def _type(value: object, rule: Any, at: str, _: Schema) -> Iterator[str]:
    names = [rule] if isinstance(rule, str) else list(rule)
    if not any(_is(value, name) for name in names):
        yield f"{at}: it is no {' or '.join(names)}"


def _is(value: object, name: str) -> bool:
    if isinstance(value, bool):
        return name == "boolean"
    if name == "integer":
        return isinstance(value, int) or (isinstance(value, float) and value.is_integer())
    return isinstance(value, _TYPES.get(name, ()))


_TYPES: Final[Mapping[str, Any]] = {
    "string": str,
    "number": (int, float),
    "object": Mapping,
    "array": list,
    "null": type(None),
}


def _same(a: object, b: object) -> bool:
    return a == b and isinstance(a, bool) == isinstance(b, bool)


def _enum(value: object, rule: Any, at: str, _: Schema) -> Iterator[str]:
    if not any(_same(value, each) for each in rule):
        yield f"{at}: it is none of the allowed values"


def _const(value: object, rule: Any, at: str, _: Schema) -> Iterator[str]:
    if not _same(value, rule):
        yield f"{at}: it is not the required value"


def _properties(value: object, rule: Any, at: str, _: Schema) -> Iterator[str]:
    if isinstance(value, Mapping):
        fields = cast("Mapping[str, Any]", value)
        for name, schema in rule.items():
            if name in fields:
                yield from _check(fields[name], schema, f"{at}.{name}")


def _required(value: object, rule: Any, at: str, _: Schema) -> Iterator[str]:
    if isinstance(value, Mapping):
        for name in rule:
            if name not in value:
                yield f"{at}: {name!r} is missing"


def _additional(value: object, rule: Any, at: str, schema: Schema) -> Iterator[str]:
    if isinstance(value, Mapping):
        fields = cast("Mapping[str, Any]", value)
        for name in fields:
            if name not in schema.get("properties", {}):
                if rule is False:
                    yield f"{at}: {name!r} is not allowed"
                else:
                    yield from _check(fields[name], rule, f"{at}.{name}")


def _items(value: object, rule: Any, at: str, _: Schema) -> Iterator[str]:
    if isinstance(value, list):
        for place, item in enumerate(cast("list[object]", value)):
            yield from _check(item, rule, f"{at}[{place}]")


def _pattern(value: object, rule: Any, at: str, _: Schema) -> Iterator[str]:
    if isinstance(value, str) and not re.search(rule, value):
        yield f"{at}: it does not match {rule}"


def _sized(kind: type, broken: Callable[[int, int], bool], what: str) -> Any:
    def check(value: object, rule: Any, at: str, _: Schema) -> Iterator[str]:
        if isinstance(value, kind) and broken(len(cast("Any", value)), rule):
            yield f"{at}: {what} {rule}"

    return check


def _number(broken: Callable[[Any, Any], bool], what: str) -> Any:
    def check(value: object, rule: Any, at: str, _: Schema) -> Iterator[str]:
        if isinstance(value, int | float) and not isinstance(value, bool) and broken(value, rule):
            yield f"{at}: {what} {rule}"

    return check


def _holding(value: object, rule: Any, at: str) -> int:
    return sum(next(_check(value, schema, at), None) is None for schema in rule)


def _any_of(value: object, rule: Any, at: str, _: Schema) -> Iterator[str]:
    if not _holding(value, rule, at):
        yield f"{at}: none of the alternatives holds"


def _one_of(value: object, rule: Any, at: str, _: Schema) -> Iterator[str]:
    if _holding(value, rule, at) != 1:
        yield f"{at}: not exactly one of the alternatives holds"


def _all_of(value: object, rule: Any, at: str, _: Schema) -> Iterator[str]:
    for schema in rule:
        yield from _check(value, schema, at)


def _not(value: object, rule: Any, at: str, _: Schema) -> Iterator[str]:
    if next(_check(value, rule, at), None) is None:
        yield f"{at}: it holds what is excluded"


_KEYWORDS: Final[Mapping[str, Any]] = {
    "type": _type,
    "enum": _enum,
    "const": _const,
    "properties": _properties,
    "required": _required,
    "additionalProperties": _additional,
    "items": _items,
    "pattern": _pattern,
    "minLength": _sized(str, lambda n, least: n < least, "shorter than"),
    "maxLength": _sized(str, lambda n, most: n > most, "longer than"),
    "minItems": _sized(list, lambda n, least: n < least, "fewer items than"),
    "maxItems": _sized(list, lambda n, most: n > most, "more items than"),
    "minimum": _number(lambda n, least: n < least, "below"),
    "maximum": _number(lambda n, most: n > most, "above"),
    "exclusiveMinimum": _number(lambda n, least: n <= least, "not above"),
    "exclusiveMaximum": _number(lambda n, most: n >= most, "not below"),
    "anyOf": _any_of,
    "oneOf": _one_of,
    "allOf": _all_of,
    "not": _not,
}


@dataclass(frozen=True, slots=True)
class HardConstraint:
    """A rule of an envelope that code can check on the answer."""

    object_id: str
    text: str
    carrier: Carrier


@dataclass(frozen=True, slots=True)
class Failure:
    """A constraint that the output breaks."""

    object_id: str
    enforcement: Enforcement
    detail: str


@dataclass(frozen=True, slots=True)
class CheckReport:
    """The result of a check."""

    failures: tuple[Failure, ...]
    unchecked: tuple[str, ...]
    """Object ids of constraints that are only stated."""

    @property
    def passed(self) -> bool:
        """Tell whether every constraint that can be checked holds."""
        return not self.failures


@dataclass(frozen=True, slots=True)
class _Output:
    text: str
    calls: tuple[tuple[str, Mapping[str, Any]], ...]
    """(tool name, arguments)."""


def check_output(constraints: Iterable[HardConstraint], output: object) -> CheckReport:
    """Return which constraints an output breaks.

    `output` is the model's text, or a mapping with `text` and `tool_calls` of {name, arguments},
    or any JSON value, which is checked as the text it would be.
    """
    read = _read(output)
    failures: list[Failure] = []
    unchecked: list[str] = []
    for constraint in constraints:
        way = constraint.carrier.enforcement
        if way is Enforcement.STATED:
            unchecked.append(constraint.object_id)
            continue
        spec = json.loads(constraint.carrier.spec)
        for detail in _CHECKS[way](spec, read):
            failures.append(Failure(constraint.object_id, way, detail))
    return CheckReport(tuple(failures), tuple(unchecked))


def _read(output: object) -> _Output:
    if isinstance(output, str):
        return _Output(output, ())
    fields = fields_of(output)
    if "text" in fields or "tool_calls" in fields:
        calls = [fields_of(call) for call in items_of(fields.get("tool_calls"))]
        named = tuple((str(c.get("name", "")), _arguments(c.get("arguments"))) for c in calls)
        return _Output(str(fields.get("text") or ""), named)
    return _Output(json.dumps(output, ensure_ascii=False), ())


def _arguments(raw: object) -> Mapping[str, Any]:
    if isinstance(raw, str):
        try:
            raw = json.loads(raw)
        except ValueError:
            return {}
    return fields_of(raw)


def _by_schema(spec: Mapping[str, Any], output: _Output) -> list[str]:
    schema = spec.get("schema", spec)
    try:
        value = json.loads(output.text)
    except ValueError:
        return ["the output is no JSON"]
    return violations(value, schema)


def _by_pattern(spec: Mapping[str, Any], output: _Output) -> list[str]:
    missing = [p for p in _texts(spec.get("required")) if not re.search(p, output.text)]
    present = [p for p in _texts(spec.get("forbidden")) if re.search(p, output.text)]
    return [f"required pattern not found: {p}" for p in missing] + [
        f"forbidden pattern found: {p}" for p in present
    ]


def _by_tools(spec: Mapping[str, Any], output: _Output) -> list[str]:
    allowed, denied = spec.get("allowed"), _texts(spec.get("denied"))
    schemas = fields_of(spec.get("arguments"))
    found: list[str] = []
    for name, arguments in output.calls:
        if name in denied or (allowed is not None and name not in _texts(allowed)):
            found.append(f"tool {name!r} is not allowed")
        elif name in schemas:
            found += [f"arguments of {name!r}: {v}" for v in violations(arguments, schemas[name])]
    return found


def _texts(raw: object) -> tuple[str, ...]:
    if isinstance(raw, str):
        return (raw,)
    return tuple(map(str, items_of(raw)))


_CHECKS: Final[Mapping[Enforcement, Callable[[Mapping[str, Any], _Output], list[str]]]] = {
    Enforcement.SCHEMA: _by_schema,
    Enforcement.GRAMMAR: _by_schema,
    Enforcement.PATTERN: _by_pattern,
    Enforcement.TOOL_POLICY: _by_tools,
}
