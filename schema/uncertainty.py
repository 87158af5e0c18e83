"""Uncertainty: output schemas in which a model may say that it does not know.

A required field without a way out forces a model to make a value up. `forced_fields` finds such
fields, `allow_unknown` gives each of them one: the word `unknown`, leave to be absent, or a
fallback of the caller's. Only the named schema is read; what stands behind a `$ref` into
`$defs` is loosened where it is defined.

>>> schema = {"type": "object", "required": ["city"], "properties": {"city": {"type": "string"}}}
>>> forced_fields(schema)
('city',)
>>> allow_unknown(schema)["properties"]["city"]
{'anyOf': [{'type': 'string'}, {'const': 'unknown'}]}

Source 003, failure map ("forced fabrication"); checklist C-095.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Final, cast

UNKNOWN: Final = "unknown"
"""What a model answers for what it does not know."""

_NAMED: Final = ("properties", "$defs", "definitions", "patternProperties")
_LISTED: Final = ("anyOf", "oneOf", "allOf", "prefixItems")
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
    """Return the paths of required fields that must hold a value, in the schema's order."""
    return tuple(_forced(schema, ""))


def allow_unknown(
    schema: Mapping[str, Any], way: WayOut | str = WayOut.UNKNOWN, *, fallback: Any = UNKNOWN
) -> dict[str, Any]:
    """Return a schema whose forced fields have a way out; the given one is left as it is."""
    chosen = WayOut(way)
    made = {key: _loosened(key, value, chosen, fallback) for key, value in schema.items()}
    required, fields = _names(schema), _fields(schema.get("properties"))
    forced = {name for name in required if not _admits(fields.get(name, {}))}
    if chosen is WayOut.OPTIONAL and forced:
        made["required"] = [name for name in required if name not in forced]
    elif forced:
        held = _fields(made.get("properties"))
        made["properties"] = {
            **held,
            **{name: _either(held.get(name, {}), chosen, fallback) for name in sorted(forced)},
        }
    return made


def _either(field: Mapping[str, Any], way: WayOut, fallback: Any) -> dict[str, Any]:
    if way is WayOut.UNKNOWN:
        return {"anyOf": [dict(field), {"const": UNKNOWN}]}
    return {"anyOf": [dict(field), {"const": fallback}], "default": fallback}


def _forced(schema: Mapping[str, Any], path: str) -> list[str]:
    fields = _fields(schema.get("properties"))
    found = [path + name for name in _names(schema) if not _admits(fields.get(name, {}))]
    for where, inner in _inside(schema, path, fields):
        found += _forced(inner, where)
    return found


def _inside(
    schema: Mapping[str, Any], path: str, fields: Mapping[str, Any]
) -> list[tuple[str, Mapping[str, Any]]]:
    """Return the schemas inside a schema with the path of each."""
    found = [(f"{path}{name}.", _fields(field)) for name, field in fields.items()]
    found += [(f"{path[:-1]}[].", _fields(schema[key])) for key in _SINGLE if key in schema]
    found += [(path, _fields(member)) for key in _LISTED for member in _members(schema.get(key))]
    for group in _NAMED[1:]:
        held = _fields(schema.get(group))
        found += [(f"{path}{group}.{name}.", _fields(field)) for name, field in held.items()]
    return [(where, inner) for where, inner in found if inner]


def _admits(field: Any) -> bool:
    """Tell whether a field's schema lets it say that it does not know."""
    held = _fields(field)
    kinds = held.get("type")
    words = held.get("enum", [held["const"]] if "const" in held else [])
    return (
        "default" in held
        or kinds == "null"
        or (isinstance(kinds, list) and "null" in kinds)
        or (isinstance(words, list) and (None in words or UNKNOWN in words))
        or any(_admits(member) for key in ("anyOf", "oneOf") for member in _members(held.get(key)))
    )


def _loosened(key: str, value: Any, way: WayOut, fallback: Any) -> Any:
    def inner(held: Any) -> Any:
        return allow_unknown(_fields(held), way, fallback=fallback) if _fields(held) else held

    if key in _NAMED:
        return {name: inner(field) for name, field in _fields(value).items()}
    if key in _LISTED:
        return [inner(member) for member in _members(value)]
    return inner(value) if key in _SINGLE else value


def _names(schema: Mapping[str, Any]) -> list[str]:
    return [str(name) for name in _members(schema.get("required"))]


def _fields(raw: Any) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", raw) if isinstance(raw, Mapping) else {}


def _members(raw: object) -> list[object]:
    return cast("list[object]", raw) if isinstance(raw, list) else []
