"""The part of JSON Schema that outputs of models are held to.

Keywords: type, enum, const, properties, required, additionalProperties, items, minItems,
maxItems, minLength, maxLength, pattern, minimum, maximum, exclusiveMinimum, exclusiveMaximum,
anyOf, oneOf, allOf, not. Others are annotations here and say nothing. A whole float is an integer.

>>> violations({"n": 1.5}, {"type": "object", "properties": {"n": {"type": "integer"}}})
['$.n: it is no integer']

Source: JSON Schema, draft 2020-12, validation vocabulary.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, cast

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
