"""Rendered requests against the types of the providers' own libraries, field by field."""

from __future__ import annotations

from types import UnionType
from typing import (
    Annotated,
    Any,
    Literal,
    NotRequired,
    Required,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

import anthropic
import openai
import pytest
from anthropic.types.message_create_params import MessageCreateParamsNonStreaming
from google.adk.models.llm_request import LlmRequest
from google.genai import types
from openai.types.chat.completion_create_params import CompletionCreateParamsNonStreaming
from typing_extensions import is_typeddict

from tenure.compiler.envelope.envelope import Envelope
from tenure.schema.principal import Principal
from tenure.tests.compiler.fake_reader import Bench

PADDING = " ".join(f"rule{i} holds." for i in range(900))
HISTORY = [
    {"role": "user", "text": "Find it"},
    {"role": "assistant", "text": "Searching"},
    {"role": "tool", "text": "result", "name": "search"},
    {"role": "user", "text": "Go on"},
    {"role": "system", "text": "The search tool is slow today."},
]
SCHEMA = {"type": "object", "properties": {"q": {"type": "string"}}, "required": ["q"]}
SHAPES: dict[str, dict[str, Any]] = {
    "bare": {"query": "x"},
    "full": {
        "query": "find alpha",
        "goal": f"ship {PADDING}",
        "step": "look",
        "acceptance": ["found"],
        "history": HISTORY,
        "tools": [{"name": "search", "description": "find", "input_schema": SCHEMA}],
        "evidence": ["alpha is a letter"],
    },
    "assistant first": {"query": "x", "history": [{"role": "assistant", "text": "Hello"}]},
}


def envelope(model: str, shape: str) -> Envelope:
    bench = Bench(principal=Principal(user="ann", authority_level=0))
    text = f"Be truthful. {PADDING if shape == 'full' else ''}"
    bench.world.add("core", text=text, object_type="policy_rule", level=0)
    bench.world.add("rule", text=text + " Mask cards.", object_type="policy_rule", level=1)
    return bench.compile(**SHAPES[shape], model=model, budget_tokens=100_000)


def fits(value: Any, hint: Any) -> bool:
    """Tell whether a value is of a type, with every required field and no unknown one."""
    origin, inner = get_origin(hint), get_args(hint)
    if origin in (Required, NotRequired, Annotated):
        return fits(value, inner[0])
    if origin in (Union, UnionType):
        return any(fits(value, each) for each in inner)
    if origin is Literal:
        return value in inner
    if is_typeddict(hint):
        fields = get_type_hints(hint, include_extras=True)
        required = {name for name, each in fields.items() if get_origin(each) is Required}
        return (
            isinstance(value, dict)
            and required <= value.keys() <= fields.keys()
            and all(fits(each, fields[name]) for name, each in value.items())
        )
    if origin is dict:
        return isinstance(value, dict)
    if inner:
        return isinstance(value, list) and all(fits(each, inner[0]) for each in value)
    return isinstance(value, hint)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("model", ["claude-opus-4-8", "claude-sonnet-4-6", "generic"])
def test_anthropics_types_take_the_request(model: str, shape: str) -> None:
    one = envelope(model, shape)
    for request in (one.render("anthropic"), one.render("anthropic", expected_reads=9.0)):
        whole = {**request, "max_tokens": 100}
        assert fits(whole, MessageCreateParamsNonStreaming)
        assert not fits(request, MessageCreateParamsNonStreaming)
        assert not fits({**whole, "odd": 1}, MessageCreateParamsNonStreaming)


def test_an_hour_in_anthropics_cache_is_of_its_type() -> None:
    one = envelope("claude-opus-4-8", "full")
    request = one.render("anthropic", ttl_s=3600, expected_reads=9.0)
    assert str(request).count("'ttl': '1h'") == 4
    assert fits({**request, "max_tokens": 1}, MessageCreateParamsNonStreaming)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("model", ["gpt-5.6", "gpt-5", "generic"])
def test_openais_types_take_the_request(model: str, shape: str) -> None:
    request = envelope(model, shape).render("openai")
    assert fits(request, CompletionCreateParamsNonStreaming)
    request["messages"][0]["content"] = 5
    assert not fits(request, CompletionCreateParamsNonStreaming)


@pytest.mark.parametrize("shape", SHAPES)
def test_the_adks_request_takes_the_parts(shape: str) -> None:
    made = envelope("gemini-3-pro", shape).render("adk")
    request = LlmRequest.model_validate({k: v for k, v in made.items() if not k.startswith("_")})
    assert request.config.system_instruction == made["config"]["system_instruction"]
    assert [c.role for c in request.contents] == [c["role"] for c in made["contents"]]
    declared = types.GenerateContentConfig.model_validate(made["config"]).tools or []
    assert len(declared) == (1 if shape == "full" else 0)


def test_the_sdks_that_were_checked_are_those_of_the_capability_table() -> None:
    assert int(anthropic.__version__.partition(".")[0]) >= 2
    assert int(openai.__version__.partition(".")[0]) >= 3
