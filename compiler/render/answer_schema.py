"""The JSON Schema of the answer, as each provider takes it (C-039).

A hard constraint whose enforcement is a schema or a grammar goes into the provider's request, so
that the answer is generated under it. Providers take parts of JSON Schema only, and refuse a
request with the rest. What a dialect lacks is left out where the answer may then be freer, and
the whole schema stays away where leaving something out would forbid what the rule allows.
`Envelope.check` holds the answer to the whole rule in any case.

>>> closed({"type": "object", "properties": {"n": {"type": "integer", "minimum": 1}}})
{'type': 'object', 'properties': {'n': {'type': 'integer'}}, 'additionalProperties': False}
>>> closed({"type": "object"}) is None
True
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import reduce
from typing import Any, Final, cast

from ...schema.values import fields_of, items_of

_COMMON: Final = frozenset(
    "type properties required items enum anyOf $ref $defs description title format".split()
)
_CLOSED: Final = _COMMON | {"const"}
_OPEN: Final = _COMMON | frozenset(
    "oneOf prefixItems minItems maxItems minimum maximum additionalProperties".split()
)
_FORMATS: Final = frozenset(
    "date-time time date duration email hostname uri ipv4 ipv6 uuid".split()
)
_MEMBER_KEYWORDS: Final = frozenset({"properties", "$defs"})
_CHOICE_KEYWORDS: Final = frozenset({"anyOf", "oneOf", "prefixItems"})
_SCHEMA_KEYWORDS: Final = frozenset({"items", "additionalProperties"})
_INDIRECT_KEYWORDS: Final = frozenset({"$ref", "$defs", "patternProperties"})

Schema = Mapping[str, Any]


def answer_schema(schemas: Iterable[object]) -> Schema | None:
    """Return the rules about the answer as one schema; None if no answer is an object.

    An object is the only root that every provider takes. What every rule allows, the schema
    allows: a part about which two rules differ is said as the first says it, and a rule that
    speaks of its parts by reference or by pattern stays away from what is joined.
    `Envelope.check` holds the answer to each of them.
    """
    objects: list[Schema] = []
    for schema in schemas:
        fields = fields_of(schema)
        if fields.get("type") == "object":
            objects.append(fields)

    if len(objects) < 2:
        return objects[0] if objects else None

    # A reference means another part once its schema is inside of a second one.
    plain = [schema for schema in objects if not _is_indirect(schema)]
    return reduce(_conjunction, plain) if plain else objects[0]


def _conjunction(first: Schema, second: Schema) -> Schema:
    """Return a schema that asks for what two schemas of objects ask for, as far as one can say."""
    parts = {**_members(second), **_members(first)}
    for name in _members(first).keys() & _members(second).keys():
        first_part = _members(first)[name]
        second_part = _members(second)[name]
        if _is_object(first_part) and _is_object(second_part):
            parts[name] = _conjunction(first_part, second_part)

    # Members that both state are joined above; of the other keywords the first one's stand.
    conjunction: dict[str, Any] = {**second, **first}
    conjunction["properties"] = {name: parts[name] for name in _member_names(first, second)}
    conjunction["required"] = _required_names(first, second)
    if _is_closed(second):
        conjunction["additionalProperties"] = False
    return conjunction


def _member_names(first: Schema, second: Schema) -> tuple[str, ...]:
    """Return the members that neither of two schemas rules out, in the order of the first."""
    names = dict.fromkeys([*_members(first), *_members(second)])
    for schema in (first, second):
        if _is_closed(schema):
            for name in names.keys() - _members(schema).keys():
                del names[name]
    return tuple(names)


def _required_names(first: Schema, second: Schema) -> list[Any]:
    names = [*items_of(first.get("required")), *items_of(second.get("required"))]
    return [*dict.fromkeys(names)]


def _members(schema: Schema) -> Mapping[str, Any]:
    return fields_of(schema.get("properties"))


def _is_closed(schema: Schema) -> bool:
    return schema.get("additionalProperties") is False


def _is_object(schema: object) -> bool:
    return fields_of(schema).get("type") == "object"


def _is_indirect(schema: Schema) -> bool:
    """Whether a schema names its parts by reference or by pattern, at any depth."""
    return any(not _INDIRECT_KEYWORDS.isdisjoint(part) for part in _parts(schema))


def is_strict(schema: Schema) -> bool:
    """Whether a schema is closed as it stands and requires whatever it names.

    OpenAI generates under such a schema without fail, and refuses others as strict.
    """
    if closed(schema) != schema:
        return False

    for part in _parts(schema):
        if not part.get("properties", {}).keys() <= set(part.get("required", ())):
            return False
    return True


def closed(schema: Schema) -> dict[str, Any] | None:
    """Return a schema in which every object is closed, as Anthropic takes it; None if one is open.

    An object that may hold any member cannot be said, nor can a schema that refers to another.
    """
    # An object that the rule opens on purpose would be closed against the rule's will.
    for part in _parts(schema):
        if part.get("additionalProperties", False) is not False or "patternProperties" in part:
            return None

    subset = _subset(schema, _CLOSED)
    for part in _parts(subset):
        members = part.get("properties", {})
        if not part or "$ref" in part:
            return None

        if "properties" not in part and "object" not in _types(part):
            continue
        if not members or not set(part.get("required", ())) <= members.keys():
            return None
        part["additionalProperties"] = False

    return subset


def opened(schema: Schema) -> dict[str, Any]:
    """Return the part of a schema that Gemini takes."""
    return _subset(schema, _OPEN)


def _subset(schema: object, keywords: frozenset[str]) -> dict[str, Any]:
    """Return a schema with these keywords alone, at every depth."""
    subset: dict[str, Any] = {}
    schema_fields = fields_of(schema)

    for key, value in schema_fields.items():
        if key not in keywords or (key == "format" and value not in _FORMATS):
            continue

        # Without its patterns, a closed object would refuse the members that they allow.
        if key == "additionalProperties" and "patternProperties" in schema_fields:
            continue
        if key in _MEMBER_KEYWORDS:
            members = fields_of(value)
            subset[key] = {name: _subset(part, keywords) for name, part in members.items()}
        elif key in _CHOICE_KEYWORDS:
            choices = [_subset(part, keywords) for part in items_of(value)]

            # A choice of which nothing is left allows everything.
            if all(choices):
                subset[key] = choices
        elif key in _SCHEMA_KEYWORDS and isinstance(value, dict):
            subset[key] = _subset(cast("object", value), keywords)
        else:
            subset[key] = value

    return subset


def _parts(schema: object) -> Iterator[dict[str, Any]]:
    """Go through a schema and the schemas inside of it, at every depth."""
    waiting: list[object] = [schema]
    while waiting:
        part = waiting.pop()
        if not isinstance(part, dict):
            continue

        fields = cast("dict[str, Any]", part)
        yield fields
        for key, value in fields.items():
            if key in _MEMBER_KEYWORDS:
                waiting += fields_of(value).values()
            elif key in _CHOICE_KEYWORDS:
                waiting += items_of(value)
            elif key in _SCHEMA_KEYWORDS:
                waiting.append(value)


def _types(schema: Schema) -> tuple[object, ...]:
    kind = schema.get("type")
    return tuple(items_of(kind)) or (kind,)
