"""Checks of an output, and the JSON Schema they use."""

import json
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenure.compiler.envelope.checks import HardConstraint, check_output, violations
from tenure.compiler.ir.records import EnforcementRule
from tenure.compiler.request.request import Constraint
from tenure.schema.errors import InvalidInput
from tenure.schema.vocabulary import Enforcement
from tenure.service.backend.caller import enforcement
from tenure.tests.support.refusals import refused


def rule(way: str, spec: Any) -> HardConstraint:
    return HardConstraint("o", "text", EnforcementRule(Enforcement(way), json.dumps(spec)))


def details(way: str, spec: Any, output: Any) -> list[str]:
    return [f.detail for f in check_output([rule(way, spec)], output).failures]


class Record:
    """A record as the SDKs of providers have them."""

    def __init__(self, **fields: Any) -> None:
        self.fields = fields

    def model_dump(self, *, mode: str, exclude_none: bool) -> dict[str, Any]:
        assert (mode, exclude_none) == ("json", True)
        return self.fields


@pytest.mark.parametrize(
    "message",
    [
        {"role": "assistant", "tool_calls": [{"function": {"name": "rm", "arguments": "{}"}}]},
        {"tool_calls": [{"id": "c", "function": {"name": "rm", "arguments": "{}"}}]},
        {"role": "assistant", "content": [{"type": "tool_use", "name": "rm", "input": {}}]},
        {"role": "model", "parts": [{"functionCall": {"name": "rm", "args": {}}}]},
        {"role": "model", "parts": [{"function_call": {"name": "rm", "args": {}}}]},
        [{"type": "reasoning"}, {"type": "function_call", "name": "rm", "arguments": "{}"}],
        {"choices": [{"message": {"role": "assistant",
                                  "tool_calls": [{"function": {"name": "rm"}}]}}]},
        {"candidates": [{"content": {"parts": [{"functionCall": {"name": "rm"}}]}}]},
        {"output": [{"type": "function_call", "name": "rm", "arguments": "{}"}]},
        Record(role="assistant", content=[{"type": "tool_use", "name": "rm", "input": {}}]),
        [Record(type="function_call", name="rm", arguments="{}")],
    ],
)  # fmt: skip
def test_the_calls_of_a_providers_message_are_held_to_the_policy(message: Any) -> None:
    """Unread, a call to a denied tool passed."""
    assert details("tool_policy", {"denied": ["rm"]}, message) == ["tool 'rm' is not allowed"]
    assert details("tool_policy", {"denied": ["mv"]}, message) == []


@pytest.mark.parametrize(
    "message",
    [
        {"role": "assistant", "content": "Dear Ann"},
        {"role": "assistant", "content": [{"type": "thinking", "thinking": "no"},
                                          {"type": "text", "text": "Dear Ann"}]},
        {"role": "model", "parts": [{"text": "Dear Ann"}]},
        [{"type": "message", "role": "assistant",
          "content": [{"type": "output_text", "text": "Dear Ann"}]}],
    ],
)  # fmt: skip
def test_the_words_of_a_providers_message_are_its_text(message: Any) -> None:
    assert details("pattern", {"required": ["^Dear Ann$"]}, message) == []


def test_what_cannot_be_read_keeps_no_rule_about_tools() -> None:
    (words,) = details("tool_policy", {"denied": ["rm"]}, object())
    assert words.startswith("the output cannot be read")


def test_an_answer_may_be_an_object_with_a_role() -> None:
    schema = {"type": "object", "required": ["role"], "properties": {"role": {"const": "admin"}}}
    assert details("schema", schema, {"role": "admin", "content": "x"}) == []
    for answer in ({"choices": ["a"]}, {"candidates": [{"content": "x"}]}, {"output": [1]}):
        assert details("schema", {"required": [*answer]}, answer) == []


def test_a_schema_holds_the_output_to_its_type() -> None:
    schema = {"type": "object", "required": ["a"]}
    assert details("schema", schema, '{"a": 1}') == []
    assert details("schema", {"schema": schema}, {"a": 1}) == []
    assert details("grammar", schema, "{}") == ["$: 'a' is a required property"]
    assert details("schema", schema, "no json")[0].startswith("the output is no JSON")


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
    assert details("tool_policy", spec, bad)[0].startswith("arguments of 'search': no JSON")
    empty = {"tool_calls": [{"name": "search", "arguments": {}}]}
    assert details("tool_policy", spec, empty) == [
        "arguments of 'search': $: 'q' is a required property"
    ]
    listed = {"tool_calls": [{"name": "search", "arguments": [1]}]}
    assert details("tool_policy", spec, listed) == ["arguments of 'search': they are no object"]
    denied = {"tool_calls": [{"name": "rm", "arguments": 5}]}
    assert details("tool_policy", {"denied": ["rm"]}, denied) == ["tool 'rm' is not allowed"]
    assert details("tool_policy", {"denied": ["rm"]}, {"tool_calls": [{"name": "ls"}]}) == []


def test_a_stated_constraint_is_listed_as_unchecked() -> None:
    report = check_output([rule("stated", {})], "anything")
    assert report.passed
    assert report.unchecked_ids == ("o",)


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


ADDRESS = {
    "$defs": {"City": {"type": "object", "properties": {"name": {"type": "string"}}}},
    "type": "object",
    "properties": {"city": {"$ref": "#/$defs/City"}},
}


@pytest.mark.parametrize(
    ("schema", "output"),
    [
        (ADDRESS, '{"city": 5}'),
        ({"uniqueItems": True}, "[1, 1.0]"),
        ({"multipleOf": 3}, "4"),
        ({"patternProperties": {"^n": {"type": "integer"}}}, '{"n1": "x"}'),
        ({"patternProperties": {"^n": {}}, "additionalProperties": False}, '{"m": 1}'),
        ({"contains": {"const": 2}}, "[1]"),
        ({"dependentRequired": {"a": ["b"]}}, '{"a": 1}'),
    ],
)
def test_every_keyword_is_held(schema: Any, output: str) -> None:
    assert len(details("schema", schema, output)) == 1


def test_what_a_reference_names_is_held_and_passes() -> None:
    assert details("schema", ADDRESS, '{"city": {"name": "Ulm"}}') == []


@pytest.mark.parametrize(
    ("way", "spec"),
    [
        ("schema", {"enum": 5}),
        ("schema", {"type": "date"}),
        ("schema", {"$schema": "urn:other"}),
        ("schema", {"pattern": "("}),
        ("schema", {"patternProperties": {"(": {}}}),
        ("schema", {"properties": {"a": {"$ref": "https://example.org/a.json"}}}),
        ("schema", {"$ref": "#/$defs/absent"}),
        ("schema", {"patternProperties": {"a": {}}, "unevaluatedProperties": False}),
        ("schema", {"pattern": "a" * 2_001}),
        ("schema", [1]),
        ("schema", {"schema": 5}),
        ("grammar", {"minLength": -1}),
        ("pattern", {"required": ["["]}),
        ("pattern", {"needed": ["a"]}),
        ("pattern", ["a"]),
        ("tool_policy", {"arguments": {"search": {"type": 5}}}),
        ("tool_policy", {"permitted": []}),
        ("pattern", {}),
        ("pattern", {"forbidden": 5}),
        ("pattern", {"required": ["a", 5]}),
        ("tool_policy", {}),
        ("tool_policy", {"denied": {"search": True}}),
        ("tool_policy", {"allowed": None}),
        ("tool_policy", {"arguments": ["search"]}),
        ("schema", {"const": "a" * 100_000}),
    ],
)
def test_what_cannot_be_checked_is_refused_when_written(way: str, spec: Any) -> None:
    with refused(InvalidInput, "bad_enforcement"):
        Constraint(text="t", enforcement=Enforcement(way), spec=json.dumps(spec))

    # A store may hold one that was written before it would have been refused.
    assert details(way, spec, "{}")[0].startswith("the rule cannot be checked")


def test_a_specification_that_is_no_json_or_too_deep_is_refused() -> None:
    for spec in ("{", "[" * 65 + "]" * 65):
        with pytest.raises(InvalidInput, match="enforcement"):
            Constraint(text="t", enforcement=Enforcement.SCHEMA, spec=spec)


def test_a_write_refuses_an_enforcement_that_cannot_be_checked() -> None:
    for spec in ({"enum": 5}, float("inf"), {1, 2}):
        with refused(InvalidInput, "bad_enforcement"):
            enforcement({"kind": "schema", "spec": spec})


DEEP = "[" * 100_000 + "]" * 100_000
ENDLESS: list[tuple[Any, str]] = [
    ({}, DEEP),
    ({}, '{"a":' * 65 + "1" + "}" * 65),
    ({"multipleOf": 0.5}, "9" * 5_000),
    ({"multipleOf": 0.5}, "1e400"),
    ({"maximum": 5}, "NaN"),
    ({"pattern": "^(a|aa)+$"}, json.dumps("a" * 60 + "b")),
    ({"$ref": "#"}, "1"),
    ({"uniqueItems": True}, json.dumps([{"a": [number]} for number in range(60_000)] * 2)),
    (
        {"properties": {"a": {"anyOf": [{"$ref": "#"}, {"$ref": "#"}]}, "b": False}},
        '{"b": 1, "a":' * 60 + "1" + "}" * 60,
    ),
    ({"type": "string"}, json.dumps("a" * 1_000_001)),
]


@pytest.mark.parametrize(("schema", "output"), ENDLESS, ids=range(len(ENDLESS)))
def test_no_output_stops_a_check_or_keeps_it_busy(schema: Any, output: str) -> None:
    assert details("schema", schema, output) != []


def test_a_pattern_that_backtracks_without_end_is_given_up() -> None:
    spec = {"forbidden": ["^(a|aa)+$"]}
    assert details("pattern", spec, "a" * 60 + "b") == [
        "the check was given up: the output takes too much work"
    ]


def test_after_a_few_slow_patterns_a_check_is_given_up() -> None:
    names = {f"{'a' * 24}{number}b": number for number in range(9)}
    assert details("schema", {"patternProperties": {"^(a|aa)+$": {}}}, names) == [
        "the check was given up: the output takes too much work"
    ]


def test_arguments_without_json_break_their_schema() -> None:
    circular: list[Any] = []
    circular.append(circular)
    spec: dict[str, Any] = {"arguments": {"search": {}}}
    for arguments in (circular, {"a": {1, 2}}, {"a": float("nan")}, DEEP):
        call = {"tool_calls": [{"name": "search", "arguments": arguments}]}
        assert "no JSON" in details("tool_policy", spec, call)[0]
