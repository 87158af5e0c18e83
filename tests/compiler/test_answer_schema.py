"""A rule that a schema enforces reaches the provider's request, in the dialect it takes (C-039)."""

import json
from typing import Any

import pytest
from anthropic.types.message_create_params import MessageCreateParamsNonStreaming
from google.genai import types
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from openai.types.chat.completion_create_params import CompletionCreateParamsNonStreaming

from tenure.compiler.envelope.envelope import Envelope
from tenure.compiler.render.answer_schema import answer_schema, closed, is_strict, opened
from tenure.compiler.request.request import Constraint
from tenure.schema.vocabulary import Enforcement
from tenure.tests.compiler.fake_reader import Bench
from tenure.tests.compiler.test_render_real_types import fits

NAME = {"type": "string", "minLength": 2}
PERSON: dict[str, Any] = {
    "type": "object",
    "properties": {"name": NAME},
    "required": ["name"],
    "additionalProperties": False,
}
TOOL = {"name": "search", "description": "find", "input_schema": {"type": "object"}}


def envelope(model: str, *rules: dict[str, Any], kind: str = "schema", **more: Any) -> Envelope:
    bench = Bench()
    for number, spec in enumerate(rules):
        bench.world.add(
            f"rule{number}",
            text=f"Answer in JSON, form {number}.",
            object_type="actionable_constraint",
            scope={"user": "ann"},
            enforcement={"kind": kind, "spec": spec},
        )
    return bench.compile(query="x", model=model, **more)


@pytest.mark.parametrize("kind", ["schema", "grammar"])
def test_each_provider_gets_the_schema_of_a_hard_constraint(kind: str) -> None:
    openai = envelope("gpt-5", PERSON, kind=kind).render("openai")
    assert openai["response_format"] == {
        "type": "json_schema",
        "json_schema": {"name": "answer", "schema": PERSON, "strict": False},
    }
    assert fits(openai, CompletionCreateParamsNonStreaming)

    anthropic = envelope("claude-opus-4-8", PERSON, kind=kind).render("anthropic")
    freer = {**PERSON, "properties": {"name": {"type": "string"}}}
    assert anthropic["output_config"] == {"format": {"type": "json_schema", "schema": freer}}
    assert fits({**anthropic, "max_tokens": 9}, MessageCreateParamsNonStreaming)

    adk = envelope("gemini-3-pro", PERSON, kind=kind).render("adk")["config"]
    assert adk["response_json_schema"] == freer
    config = types.GenerateContentConfig.model_validate(adk)
    assert (config.response_mime_type, config.response_json_schema) == ("application/json", freer)


def test_a_constraint_of_the_request_reaches_the_provider_too() -> None:
    rule = Constraint(text="A person.", enforcement=Enforcement.SCHEMA, spec=json.dumps(PERSON))
    request = envelope("gpt-5", constraints=[rule]).render("openai")
    assert request["response_format"]["json_schema"]["schema"] == PERSON


def test_a_model_that_takes_no_schema_is_sent_none_and_is_checked_all_the_same() -> None:
    targets: tuple[tuple[Any, str], ...] = (
        ("openai", "generic"), ("anthropic", "claude-opus-4"), ("adk", "gpt-5"),
    )  # fmt: skip
    for target, model in targets:
        made = envelope(model, PERSON)
        request = made.render(target)
        assert "schema" not in str(request.get("config", "")) + str(sorted(request))
        assert not {"response_format", "output_config"} & request.keys()
        assert not made.check('{"name": "A"}').passed


def test_gemini_takes_functions_or_a_schema_and_never_both() -> None:
    config = envelope("gemini-3-pro", PERSON, tools=[TOOL]).render("adk")["config"]
    assert "tools" in config
    assert "response_json_schema" not in config


def test_a_rule_that_no_provider_can_hold_is_not_sent() -> None:
    tools = {"denied": ["rm"]}
    assert "response_format" not in envelope("gpt-5", tools, kind="tool_policy").render("openai")
    assert "response_format" not in envelope("gpt-5", {"type": "array"}).render("openai")
    # Closed, an object without named members could hold nothing.
    assert "output_config" not in envelope("claude-opus-4-8", {"type": "object"}).render(
        "anthropic"
    )


def test_a_schema_of_something_else_than_an_object_is_not_sent() -> None:
    assert answer_schema([True, {"type": "array"}, PERSON]) == PERSON
    assert answer_schema([]) is None


CITY: dict[str, Any] = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "name": {"type": "string", "maxLength": 9}},
    "required": ["city"],
}


def test_two_rules_about_the_answer_are_sent_as_one_schema() -> None:
    request = envelope("gpt-5", {**CITY}, {**PERSON, "additionalProperties": True})
    schema = request.render("openai")["response_format"]["json_schema"]["schema"]
    assert sorted(schema["required"]) == ["city", "name"]
    assert sorted(schema["properties"]) == ["city", "name"]
    assert not request.check('{"city": "Rome"}').passed
    assert not request.check('{"city": "Rome", "name": "too long by far"}').passed
    assert request.check('{"city": "Rome", "name": "Sam"}').passed


def test_a_closed_rule_rules_out_the_members_that_another_names() -> None:
    for rules in ((PERSON, CITY), (CITY, PERSON)):
        joined = answer_schema(rules)
        assert joined is not None
        assert [*joined["properties"]] == ["name"]
        assert joined["additionalProperties"] is False


def test_what_two_rules_say_of_an_object_inside_is_joined_too() -> None:
    outer = [{"type": "object", "properties": {"who": part}} for part in (PERSON, CITY)]
    joined = answer_schema(outer)
    assert joined is not None
    assert joined["properties"]["who"]["required"] == ["name", "city"]


@pytest.mark.parametrize(
    "indirect",
    [
        {"type": "object", "properties": {"a": {"$ref": "#/properties/b"}, "b": True}},
        {"type": "object", "patternProperties": {"^x": {}}, "additionalProperties": False},
    ],
)
def test_a_rule_that_speaks_by_reference_or_pattern_is_joined_with_none(
    indirect: dict[str, Any],
) -> None:
    assert answer_schema([indirect, PERSON]) == PERSON
    assert answer_schema([indirect, indirect]) == indirect


def test_an_object_whose_members_follow_a_pattern_is_closed_for_nobody() -> None:
    schema = {
        "type": "object",
        "properties": {"a": {}},
        "patternProperties": {"^x": {}},
        "additionalProperties": False,
    }
    assert closed(schema) is None
    assert "additionalProperties" not in opened(schema)


MEMBER_NAMES = st.sampled_from(["a", "b", "c"])
ANSWERS = st.recursive(
    st.integers(0, 2) | st.sampled_from(["x", "y"]),
    lambda inner: st.dictionaries(MEMBER_NAMES, inner, max_size=3),
    max_leaves=6,
)
RULES: st.SearchStrategy[dict[str, Any]] = st.recursive(
    st.sampled_from([{}, {"type": "string"}, {"type": "integer", "maximum": 1}]),
    lambda inner: st.fixed_dictionaries(
        {"type": st.just("object"), "properties": st.dictionaries(MEMBER_NAMES, inner)},
        optional={
            "required": st.lists(MEMBER_NAMES, unique=True, max_size=2),
            "additionalProperties": st.booleans() | inner,
        },
    ),
    max_leaves=6,
)


@given(st.lists(RULES, min_size=2, max_size=3), st.lists(ANSWERS, min_size=1, max_size=5))
def test_what_every_rule_allows_the_joined_schema_allows(
    rules: list[dict[str, Any]], answers: list[Any]
) -> None:
    joined = answer_schema(rules)
    for answer in answers:
        if joined is not None and all(Draft202012Validator(r).is_valid(answer) for r in rules):
            assert Draft202012Validator(joined).is_valid(answer)


def test_strict_is_a_closed_schema_that_requires_all_it_names() -> None:
    plain = {**PERSON, "properties": {"name": {"type": "string"}}}
    assert is_strict(plain)
    assert not is_strict({**plain, "required": []})
    assert not is_strict(PERSON)


@pytest.mark.parametrize(
    "inner",
    [
        {"type": "object", "properties": {"a": {}}},
        {"$ref": "#/$defs/x"},
        {"type": "object"},
        {"type": ["object", "null"]},
        {"properties": {"a": {"type": "string"}}, "additionalProperties": True},
        {"properties": {"a": {"type": "string"}}, "required": ["b"]},
        {"oneOf": [{"type": "string"}]},
        {"type": "array", "items": {"type": "object"}},
        {"anyOf": [{"type": "object"}, {"type": "null"}]},
    ],
)
def test_what_would_forbid_more_than_the_rule_is_not_closed(inner: dict[str, Any]) -> None:
    assert closed({**PERSON, "properties": {"name": inner}}) is None


def test_a_dialect_leaves_out_what_it_lacks_at_every_depth() -> None:
    deep = {
        "type": "object",
        "properties": {
            "when": {"type": "string", "format": "date", "pattern": "^2"},
            "odd": {"type": "string", "format": "iri"},
            "list": {"type": "array", "items": {"anyOf": [{"type": "null"}, {"minimum": 2}]}},
            "even": {"type": "integer", "anyOf": [{"type": "null"}, {"multipleOf": 2}]},
        },
    }
    assert opened(deep)["properties"] == {
        "when": {"type": "string", "format": "date"},
        "odd": {"type": "string"},
        "list": {"type": "array", "items": {"anyOf": [{"type": "null"}, {"minimum": 2}]}},
        "even": {"type": "integer"},
    }
    assert opened({"additionalProperties": {"minimum": 1, "not": {}}}) == {
        "additionalProperties": {"minimum": 1}
    }
