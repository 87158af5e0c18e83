"""Checks of an output, and the JSON Schema they use."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenure.compiler.envelope.checks import HardConstraint, check_output, violations
from tenure.compiler.ir.piece import Carrier
from tenure.schema.vocabulary import Enforcement


def rule(way: str, spec: Any) -> HardConstraint:
    return HardConstraint("o", "text", Carrier(Enforcement(way), json.dumps(spec)))


def details(way: str, spec: Any, output: Any) -> list[str]:
    return [f.detail for f in check_output([rule(way, spec)], output).failures]


def test_a_schema_holds_the_output_to_its_type() -> None:
    schema = {"type": "object", "required": ["a"]}
    assert details("schema", schema, '{"a": 1}') == []
    assert details("schema", {"schema": schema}, {"a": 1}) == []
    assert details("grammar", schema, "{}") == ["$: 'a' is missing"]
    assert details("schema", schema, "no json") == ["the output is no JSON"]


def test_patterns_are_required_or_forbidden() -> None:
    spec = {"required": ["^Dear"], "forbidden": "password"}
    assert details("pattern", spec, "Dear Ann") == []
    assert details("pattern", spec, "the password") == [
        "required pattern not found: ^Dear",
        "forbidden pattern found: password",
    ]


def test_tool_calls_are_held_to_the_policy() -> None:
    spec = {"allowed": ["search"], "arguments": {"search": {"required": ["q"]}}}
    calls = [{"name": "search", "arguments": '{"q": 1}'}, {"name": "mail", "arguments": {}}]
    assert details("tool_policy", spec, {"tool_calls": calls}) == ["tool 'mail' is not allowed"]
    bad = {"text": "x", "tool_calls": [{"name": "search", "arguments": "{"}]}
    assert details("tool_policy", spec, bad) == ["arguments of 'search': $: 'q' is missing"]
    denied = {"tool_calls": [{"name": "rm", "arguments": 5}]}
    assert details("tool_policy", {"denied": ["rm"]}, denied) == ["tool 'rm' is not allowed"]
    assert details("tool_policy", {"denied": ["rm"]}, {"tool_calls": [{"name": "ls"}]}) == []


def test_a_stated_constraint_is_listed_as_unchecked() -> None:
    report = check_output([rule("stated", {})], "anything")
    assert report.passed
    assert report.unchecked == ("o",)


SCHEMAS: list[Any] = [
    {"type": "integer"},
    {"type": ["string", "null"]},
    {"type": "number", "minimum": 1},
    {"maximum": 3},
    {"exclusiveMinimum": 1},
    {"exclusiveMaximum": 3},
    {"enum": [1, "a", None]},
    {"const": True},
    {"minLength": 2},
    {"maxLength": 1},
    {"pattern": "^a"},
    {"minItems": 2},
    {"maxItems": 1},
    {"items": {"type": "integer"}},
    {"properties": {"a": {"type": "integer"}}, "required": ["a"]},
    {"properties": {"a": {}}, "additionalProperties": False},
    {"additionalProperties": {"type": "string"}},
    {"anyOf": [{"type": "null"}, {"minimum": 2}]},
    {"oneOf": [{"type": "integer"}, {"minimum": 2}]},
    {"allOf": [{"minimum": 1}, {"maximum": 2}]},
    {"not": {"type": "string"}},
    {"type": "boolean"},
    {"type": "array"},
    {"type": "object"},
    False,
    True,
    {"unknown keyword": 1},
    {"properties": {"a": {"properties": {"b": False}}}},
]
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-3, 4)
    | st.sampled_from([1.0, 1.5, 2.5])
    | st.sampled_from(["", "a", "ab", "b"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["a", "b"]), inner, max_size=2)
    ),
    max_leaves=6,
)


@given(value=VALUES, schema=st.sampled_from(SCHEMAS))
def test_it_agrees_with_the_reference_validator(value: Any, schema: Any) -> None:
    valid = jsonschema.Draft202012Validator(schema).is_valid(value)
    assert (violations(value, schema) == []) is valid


SAMPLES: list[Any] = [
    None, True, False, 0, 1, 2, 3, 4, -1, 1.0, 1.5, 2.5, "", "a", "ab", "b",
    [], [1], [1, 2], ["a"], {}, {"a": 1}, {"a": "x"}, {"b": 1}, {"a": {"b": 1}},
]  # fmt: skip


@pytest.mark.parametrize("schema", SCHEMAS, ids=str)
def test_it_agrees_on_every_sample(schema: Any) -> None:
    reference = jsonschema.Draft202012Validator(schema)
    found = [violations(value, schema) == [] for value in SAMPLES]
    assert found == [reference.is_valid(value) for value in SAMPLES]


def test_it_stops_after_fifty_violations() -> None:
    assert len(violations(["x"] * 90, {"items": {"type": "integer"}})) == 50


def test_an_unknown_type_name_fits_nothing() -> None:
    with pytest.raises(jsonschema.exceptions.UnknownType):
        jsonschema.Draft202012Validator({"type": "date"}).is_valid(1)
    assert violations(1, {"type": "date"}) == ["$: it is no date"]
