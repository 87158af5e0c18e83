"""Uncertainty: output schemas in which a model may say that it does not know.

A required field without a way out makes a model invent a value. `forced_fields` finds such fields,
and `allow_unknown` gives each one a way out: the word `unknown`, permission to be absent, or a
fallback of the caller. Only the named schema is read; the target of a `$ref` into `$defs` is
loosened where it is defined. Checklist C-095.

>>> schema = {"type": "object", "required": ["city"], "properties": {"city": {"type": "string"}}}
>>> forced_fields(schema)
('city',)
>>> allow_unknown(schema)["properties"]["city"]
{'anyOf': [{'type': 'string'}, {'const': 'unknown'}]}
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Final, cast

from .values import items_of
from .vocabulary import parse

UNKNOWN: Final = "unknown"
"""What a model answers for what it does not know."""

_SCHEMA_MAPS: Final = ("properties", "$defs", "definitions", "patternProperties")
_SCHEMA_LISTS: Final = ("anyOf", "oneOf", "allOf", "prefixItems")
_SINGLE: Final = ("items", "additionalProperties")


class WayOut(StrEnum):
    """How a field may say that it does not know."""

    UNKNOWN = "unknown"
    """It may hold the word `unknown`."""
    OPTIONAL = "optional"
    """It may be absent."""
    FALLBACK = "fallback"
    """It may hold a stated fallback, which is its default."""


def forced_fields(schema: Mapping[str, Any]) -> tuple[str, ...]:
    """The paths of required fields that must hold a value, in the schema's order."""
    return tuple(_forced_paths(schema, ""))


def allow_unknown(
    schema: Mapping[str, Any], way: WayOut | str = WayOut.UNKNOWN, *, fallback: Any = UNKNOWN
) -> dict[str, Any]:
    """A schema whose forced fields have a way out; the given one is left as it is.

    Raises:
        InvalidInput: `unknown_vocabulary`, for another way.
    """
    exit_kind = parse(WayOut, way)
    copy = {key: _relax(key, value, exit_kind, fallback) for key, value in schema.items()}
    required_names, fields = _names(schema), _fields(schema.get("properties"))
    forced_names = {name for name in required_names if not _admits(fields.get(name, {}))}
    if exit_kind is WayOut.OPTIONAL and forced_names:
        copy["required"] = [name for name in required_names if name not in forced_names]
    elif forced_names:
        properties = _fields(copy.get("properties"))
        exits = {}
        for name in sorted(forced_names):
            exits[name] = _with_way_out(properties.get(name, {}), exit_kind, fallback)
        copy["properties"] = {**properties, **exits}

    return copy


def _with_way_out(field: Mapping[str, Any], way: WayOut, fallback: Any) -> dict[str, Any]:
    if way is WayOut.UNKNOWN:
        return {"anyOf": [dict(field), {"const": UNKNOWN}]}
    return {"anyOf": [dict(field), {"const": fallback}], "default": fallback}


def _forced_paths(schema: Mapping[str, Any], path: str) -> list[str]:
    fields = _fields(schema.get("properties"))
    # Only what is required forces an answer: an optional field may be left out.
    paths = [path + name for name in _names(schema) if not _admits(fields.get(name, {}))]
    for prefix, inner in _subschemas(schema, path, fields):
        paths += _forced_paths(inner, prefix)
    return paths


def _subschemas(
    schema: Mapping[str, Any], path: str, fields: Mapping[str, Any]
) -> list[tuple[str, Mapping[str, Any]]]:
    """The schemas inside a schema with the path of each."""
    pairs = [(f"{path}{name}.", _fields(field)) for name, field in fields.items()]
    pairs += [(f"{path[:-1]}[].", _fields(schema[key])) for key in _SINGLE if key in schema]
    for key in _SCHEMA_LISTS:
        pairs += [(path, _fields(member)) for member in items_of(schema.get(key))]

    # The properties themselves are walked above, with the shorter path that a reader expects.
    for group in _SCHEMA_MAPS[1:]:
        definitions = _fields(schema.get(group))
        pairs += [(f"{path}{group}.{name}.", _fields(field)) for name, field in definitions.items()]

    return [(prefix, inner) for prefix, inner in pairs if inner]


def _admits(field: Any) -> bool:
    """Whether a field's schema lets it say that it does not know."""
    # `allOf` is not asked: a way out in one of its parts is closed again by the others.
    rules = _fields(field)
    kinds = rules.get("type")
    words = rules.get("enum", [rules["const"]] if "const" in rules else [])

    return (
        "default" in rules
        or kinds == "null"
        or (isinstance(kinds, list) and "null" in kinds)
        or (isinstance(words, list) and (None in words or UNKNOWN in words))
        or any(map(_admits, items_of(rules.get("anyOf"))))
        or any(map(_admits, items_of(rules.get("oneOf"))))
    )


def _relax(key: str, value: Any, way: WayOut, fallback: Any) -> Any:
    def inner(subschema: Any) -> Any:
        fields = _fields(subschema)
        return allow_unknown(fields, way, fallback=fallback) if fields else subschema

    if key in _SCHEMA_MAPS:
        return {name: inner(field) for name, field in _fields(value).items()}
    if key in _SCHEMA_LISTS:
        return [inner(member) for member in items_of(value)]

    return inner(value) if key in _SINGLE else value


def _names(schema: Mapping[str, Any]) -> list[str]:
    return [str(name) for name in items_of(schema.get("required"))]


def _fields(raw: Any) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", raw) if isinstance(raw, Mapping) else {}
