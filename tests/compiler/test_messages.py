"""Messages and tools as providers take them are taken as they are."""

import re
from typing import Any

import pytest

from tenure.compiler.request.parse import parse_request
from tenure.compiler.request.request import Role
from tenure.schema.errors import InvalidInput
from tenure.tests.support.refusals import refused

OPENAI: list[dict[str, Any]] = [
    {"role": "developer", "content": "Be brief."},
    {"role": "user", "content": [{"type": "text", "text": "Where is it?"},
                                 {"type": "image_url", "image_url": {"url": "data:…"}}]},
    {"role": "assistant", "content": None, "tool_calls": [
        {"id": "c1", "type": "function",
         "function": {"name": "find", "arguments": '{"what": "it"}'}}]},
    {"role": "tool", "tool_call_id": "c1", "content": "in Lisbon"},
    {"role": "assistant", "content": "In Lisbon."},
]  # fmt: skip
ANTHROPIC: list[dict[str, Any]] = [
    {"role": "user", "content": "Where is it?"},
    {"role": "assistant", "content": [
        {"type": "thinking", "thinking": "hm", "signature": "s"},
        {"type": "text", "text": "I look."},
        {"type": "tool_use", "id": "t1", "name": "find", "input": {"what": "it"}}]},
    {"role": "user", "content": [
        {"type": "tool_result", "tool_use_id": "t1",
         "content": [{"type": "text", "text": "in Lisbon"}]},
        {"type": "text", "text": "Well?"}]},
]  # fmt: skip


def history(messages: Any) -> list[tuple[Any, ...]]:
    turns = parse_request("conversation", history=messages).history
    return [(turn.role, turn.text, turn.name, turn.call_id) for turn in turns]


def test_messages_of_openai_become_turns() -> None:
    assert history(OPENAI) == [
        (Role.SYSTEM, "Be brief.", "", ""),
        (Role.USER, "Where is it?\n[image_url]", "", ""),
        (Role.ASSISTANT, '-> find {"what": "it"}', "find", "c1"),
        (Role.TOOL, "in Lisbon", "find", "c1"),
        (Role.ASSISTANT, "In Lisbon.", "", ""),
    ]


def test_blocks_of_anthropic_become_turns_in_their_order() -> None:
    assert history(ANTHROPIC) == [
        (Role.USER, "Where is it?", "", ""),
        (Role.ASSISTANT, "I look.", "", ""),
        (Role.ASSISTANT, '-> find {"what":"it"}', "find", "t1"),
        (Role.TOOL, "in Lisbon", "find", "t1"),
        (Role.USER, "Well?", "", ""),
    ]


def test_parts_of_gemini_and_items_of_responses_become_the_same_turns() -> None:
    question = (Role.USER, "Where is it?", "", "")
    call = (Role.ASSISTANT, '-> find {"what":"it"}', "find", "call-1")
    assert history(
        [
            {"role": "user", "parts": [{"text": "Where is it?"}]},
            {
                "role": "model",
                "parts": [{"function_call": {"name": "find", "args": {"what": "it"}}}],
            },
            {
                "role": "user",
                "parts": [{"function_response": {"name": "find", "response": {"at": 7}}}],
            },
        ]
    ) == [question, call, (Role.TOOL, '{"at":7}', "find", "call-1")]
    item = {"call_id": "c", "name": "find", "arguments": '{"what":"it"}'}
    assert history(
        [
            {"role": "user", "content": "Where is it?"},
            {"type": "function_call", **item},
            {"type": "function_call_output", "call_id": "c", "output": "in Lisbon"},
        ]
    ) == [question, (*call[:3], "c"), (Role.TOOL, "in Lisbon", "find", "c")]


def _asked(call_id: str) -> dict[str, Any]:
    function = {"name": "find", "arguments": "{}"}
    return {"role": "assistant", "tool_calls": [{"id": call_id, "function": function}]}


def _told(call_id: str, text: str = "found") -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call_id, "content": text}


@pytest.mark.parametrize(
    ("torn", "whole"),
    [
        # parallel calls, answered in another order
        ([_asked("a"), _asked("b"), _told("b", "y"), _told("a", "x")], "a! b! a=x b=y"),
        # steps that follow each other stay apart
        ([_asked("a"), _told("a", "x"), _asked("b"), _told("b", "y")], "a! a=x b! b=y"),
        # a call without a result, and one whose result comes late
        ([_asked("a"), "Well?"], "a! a=no result was handed in Well?"),
        ([_asked("a"), "Well?", _told("a", "x")], "a! a=x Well?"),
        # a result without a call is data like any other, also a second one
        ([_told("a", "x"), "Well?"], "=x Well?"),
        ([_asked("a"), _told("a", "x"), _told("a", "y")], "a! a=x =y"),
        # ids that come twice, and none at all
        ([_asked("a"), _told("a", "x"), _asked("a"), _told("a", "y")], "a! a=x a_2! a_2=y"),
        (
            [_asked(""), _told("", "x"), _asked(""), _told("", "y")],
            "call-1! call-1=x call-2! call-2=y",
        ),
    ],
)
def test_every_call_is_followed_by_its_result(torn: list[Any], whole: str) -> None:
    words: list[str] = []
    for role, text, _, call_id in history(torn):
        shown = {Role.USER: text, Role.TOOL: f"{call_id}={text}", Role.ASSISTANT: f"{call_id}!"}
        words.append(shown[role])
    assert " ".join(words) == whole


def test_turns_of_our_own_and_texts_stay_what_they_are() -> None:
    assert history([{"role": "user", "text": "a"}, "b"]) == [
        (Role.USER, "a", "", ""), (Role.USER, "b", "", "")]  # fmt: skip
    assert history([{"role": "user", "content": " "}]) == []
    result = {"role": "function", "name": "find", "content": "in Lisbon"}
    assert history([result]) == [(Role.TOOL, "in Lisbon", "find", "")]


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        ({"content": 7}, "history[0].content: give a list of objects, not int"),
        ({"content": [None]}, "history[0].content: give an object, not NoneType"),
        ({"content": [{"type": ["text"]}]}, "history[0].content.type: give the word"),
        ({"content": [{"type": "tool_result", "content": 7}]}, "history[0].content: give a list"),
        (
            {"content": [{"type": "tool_use", "input": {"to": float("nan")}}]},
            "history[0].input: it is no JSON",
        ),
        ({"content": None, "tool_calls": "find"}, "history[0].tool_calls: give a list of objects"),
        ({"content": None, "tool_calls": ["find"]}, "history[0].tool_calls: give an object, not"),
        (
            {"content": None, "tool_calls": [{"function": "find"}]},
            "history[0].tool_calls.function: give an object, not str",
        ),
    ],
)
def test_what_no_provider_writes_is_refused_by_its_place(message: Any, reason: str) -> None:
    with refused(InvalidInput, "bad_request", match=re.escape(reason)):
        history([message])


@pytest.mark.parametrize(
    "tool",
    [
        {"type": "function", "function": {"name": "find", "description": "Find it.",
                                          "parameters": {"type": "object"}, "strict": True}},
        {"type": "function", "name": "find", "description": "Find it.",
         "parameters": {"type": "object"}},
        {"name": "find", "description": "Find it.", "input_schema": {"type": "object"}},
        {"type": "custom", "name": "find", "description": "Find it.",
         "input_schema": {"type": "object"}, "cache_control": {"type": "ephemeral"}},
    ],
)  # fmt: skip
def test_tools_of_providers_are_taken_as_they_are(tool: dict[str, Any]) -> None:
    (taken,) = parse_request("assistant", tools=[tool]).tools
    assert (taken.name, taken.description) == ("find", "Find it.")
    assert taken.input_schema == '{"type":"object"}'


@pytest.mark.parametrize(
    "messages", [[{"role": "king", "content": "x"}], [7], [{"role": "user", "contents": "x"}]]
)
def test_what_is_no_message_is_refused(messages: Any) -> None:
    with pytest.raises(InvalidInput):
        parse_request("conversation", history=messages)


class Dumped:
    """An object of a provider's SDK."""

    def __init__(self, **fields: Any) -> None:
        self.fields = fields

    def model_dump(self, **_: Any) -> dict[str, Any]:
        return self.fields


def test_objects_of_sdks_and_whole_answers_become_the_same_turns() -> None:
    call = {"id": "c", "name": "find", "args": {"what": "it"}}
    langchain = Dumped(type="ai", content="I look.", tool_calls=[call])
    result = Dumped(type="tool", content="in Lisbon", tool_call_id="c")
    item = {"type": "function_call", "call_id": "c", "name": "find", "arguments": '{"what": "it"}'}
    words = {"type": "message", "content": [{"type": "output_text", "text": "I look."}]}
    answer = Dumped(output=[{"type": "reasoning", "summary": []}, words, item])
    output = {"type": "function_call_output", "call_id": "c", "output": "in Lisbon"}
    turns = [
        (Role.ASSISTANT, "I look.", "", ""),
        (Role.ASSISTANT, '-> find {"what": "it"}', "find", "c"),
        (Role.TOOL, "in Lisbon", "find", "c"),
    ]
    assert history([langchain, result]) == history([answer, output]) == turns


def test_a_refusal_is_what_the_model_said() -> None:
    message = {"role": "assistant", "content": None, "refusal": "I cannot do that."}
    assert history([message]) == [(Role.ASSISTANT, "I cannot do that.", "", "")]
