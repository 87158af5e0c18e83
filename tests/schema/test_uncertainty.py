"""Every field that a schema forces gets a way out, and nothing else changes."""

import copy
from typing import Any

import jsonschema
import pytest

from tenure.schema.errors import InvalidInput
from tenure.schema.uncertainty import WayOut, allow_unknown, forced_fields
from tenure.tests.support.refusals import refused

SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": ["city", "count", "open", "tags", "kind", "free"],
    "properties": {
        "city": {"type": "string"},
        "count": {"type": "integer"},
        "open": {"type": ["string", "null"]},
        "kind": {"enum": ["a", "unknown"]},
        "note": {"type": "string"},
        "tags": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["name"],
                "properties": {"name": {"type": "string"}},
            },
        },
        "shape": {"oneOf": [{"type": "string"}, {"type": "object", "required": ["side"]}]},
    },
    "$defs": {
        "person": {
            "type": "object",
            "required": ["age", "born"],
            "properties": {
                "age": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
                "born": {"const": 3},
            },
        },
        "odd": True,
    },
}
FULL: dict[str, Any] = {
    "city": "Rome",
    "count": 3,
    "open": None,
    "kind": "a",
    "tags": [{"name": "x"}],
    "free": 1,
}


def test_forced_fields_are_those_without_a_way_out() -> None:
    assert forced_fields(SCHEMA) == (
        *("city", "count", "tags", "free"),
        *("tags[].name", "shape.side", "$defs.person.born"),
    )
    assert forced_fields({"properties": {"a": {"type": "string"}}}) == ()


@pytest.mark.parametrize("way", list(WayOut))
def test_a_loosened_schema_forces_nothing_and_takes_what_it_took(way: WayOut) -> None:
    before = copy.deepcopy(SCHEMA)
    loose = allow_unknown(SCHEMA, way, fallback="n/a")
    assert before == SCHEMA
    assert forced_fields(loose) == ()
    check = jsonschema.Draft202012Validator(loose)
    check.validate(FULL)
    assert not check.is_valid({**FULL, "count": "three"})
    assert not check.is_valid({**FULL, "note": 7})
    assert allow_unknown(loose, way, fallback="n/a") == loose


@pytest.mark.parametrize(
    ("way", "city"), [("unknown", "unknown"), ("fallback", "n/a"), ("optional", None)]
)
def test_each_way_lets_a_field_say_that_it_does_not_know(way: str, city: str | None) -> None:
    check = jsonschema.Draft202012Validator(allow_unknown(SCHEMA, way, fallback="n/a"))
    said = {k: v for k, v in FULL.items() if k != "count"} | ({"count": city} if city else {})
    assert check.is_valid(said)
    assert not jsonschema.Draft202012Validator(SCHEMA).is_valid(said)


def test_another_way_is_refused_with_the_nearest() -> None:
    with refused(InvalidInput, "unknown_vocabulary", match="did you mean 'optional'"):
        allow_unknown({"type": "object"}, "optinal")
