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

Schema = Mapping[str, Any]


def answer_schema(schemas: Iterable[object]) -> Schema | None:
    """Return the first schema whose answer is an object, the only root that every provider takes.

    Two schemas cannot be joined for a provider: each would close the objects of the other.
    """
    for schema in schemas:
        fields = fields_of(schema)
        if fields.get("type") == "object":
            return fields
    return None


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
        if part.get("additionalProperties", False) is not False:
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

    for key, value in fields_of(schema).items():
        if key not in keywords or (key == "format" and value not in _FORMATS):
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
