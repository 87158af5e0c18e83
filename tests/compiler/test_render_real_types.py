"""Rendered requests against the types of the providers' own libraries, field by field."""

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


def call(number: int, *, name: str = "find") -> dict[str, Any]:
    function = {"name": name, "arguments": f'{{"n":{number}}}'}
    return {"role": "assistant", "tool_calls": [{"id": f"c{number}", "function": function}]}


def result(number: int) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": f"c{number}", "content": f"result {number} " * 30}


TORN: dict[str, list[Any]] = {
    "whole": [step for n in range(9) for step in (f"Do {n}", call(n), result(n))],
    "parallel": [
        "Do",
        *map(call, range(4)),
        *map(result, (3, 1, 0, 2)),
        "More",
        call(9),
        result(9),
    ],
    "no result": ["Do", call(1), "Well?", call(2), result(2), call(3)],
    "no call": [result(1), "Do", result(2), call(3), result(3), result(3)],
    "late result": ["Do", call(1), call(2), "Well?", result(2), result(1)],
    "ids twice": ["Do", call(1), result(1), "Again", call(1), result(1)],
    "odd names": ["Do", call(1, name="files.read (v2)"), result(1), call(2, name=""), result(2)],
}


def faults_of(messages: list[tuple[str, str]]) -> list[str]:
    """Return the calls without a result directly behind their step, and results without a call."""
    faults: list[str] = []
    waiting: list[str] = []
    for kind, call_id in messages:
        if kind != "result" and kind != "call":
            faults += waiting
            waiting = []
        elif kind == "call":
            waiting.append(call_id)
        elif call_id in waiting:
            waiting.remove(call_id)
        else:
            faults.append(call_id)
    return faults + waiting


def kinds(request: dict[str, Any]) -> list[tuple[str, str]]:
    """Return what each part of a rendered request is, with the id of its call."""
    found: list[tuple[str, str]] = []
    for message in request.get("messages", request.get("contents")):
        content = message.get("content", message.get("parts"))
        if message["role"] == "tool":
            found.append(("result", message["tool_call_id"]))
            continue
        for part in content if isinstance(content, list) else [{"text": content}]:
            if part.get("type") == "tool_use" or "function_call" in part:
                found.append(("call", part.get("id") or part["function_call"]["id"]))
            elif part.get("type") == "tool_result" or "function_response" in part:
                found.append(("result", part.get("tool_use_id") or part["function_response"]["id"]))
            else:
                found.append(("text", str(part["text"])))
        for each in message.get("tool_calls", ()):
            found.append(("call", each["id"]))
    return found


@pytest.mark.parametrize("shape", TORN)
def test_torn_histories_are_rendered_as_calls_with_their_results(shape: str) -> None:
    marks: set[str] = set()
    for budget in (220, 400, 900, 4_000):
        one = Bench().compile(query="x", history=TORN[shape], budget_tokens=budget)
        marks.update(line for line in one.text.splitlines() if "left out" in line)
        for provider in ("anthropic", "openai", "adk"):
            request = one.render(provider)
            parts = kinds(request)
            assert faults_of(parts) == []
            assert not [
                words for kind, words in parts if kind == "text" and words.startswith("-> ")
            ]
            if provider == "anthropic":
                assert fits({**request, "max_tokens": 1}, MessageCreateParamsNonStreaming)
            elif provider == "openai":
                assert fits(request, CompletionCreateParamsNonStreaming)
            else:
                LlmRequest.model_validate(
                    {k: v for k, v in request.items() if not k.startswith("_")}
                )
    # The largest budget holds all of it, as calls.
    assert "call" in dict(kinds(one.render("openai")))
    assert "left out" not in one.text
    assert shape != "whole" or any("with tool calls" in mark for mark in marks)


def test_a_call_is_rendered_with_its_name_and_its_input() -> None:
    one = Bench().compile(query="x", history=["Do", call(1, name="files.read"), result(1)])
    (use,) = [
        part
        for message in one.render("anthropic")["messages"]
        for part in message["content"]
        if part["type"] == "tool_use"
    ]
    assert use == {"type": "tool_use", "id": "c1", "name": "files_read", "input": {"n": 1}}
    # Calls of the history need a list of tools, and none of these is offered.
    assert one.render("anthropic")["tool_choice"] == {"type": "none"}
    messages = one.render("openai")["messages"]
    assert messages[-2]["tool_call_id"] == "c1"
    assert "=== data" in messages[-2]["content"]


def test_the_sdks_that_were_checked_are_those_of_the_capability_table() -> None:
    assert int(anthropic.__version__.partition(".")[0]) >= 2
    assert int(openai.__version__.partition(".")[0]) >= 3
