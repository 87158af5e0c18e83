"""Messages of three providers are read alike, and what no rule knows is kept whole."""

import json
from typing import Any

import pytest

from tenure.schema.errors import InvalidInput
from tenure.tests.support.refusals import refused
from tenure.window.intake import message_parts
from tenure.window.units import PartKind

CALL = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": '{"a": 1}'}}


def kinds(message: Any, role: str = "assistant") -> list[str]:
    return [part.kind.value for part in message_parts(message, role)]


def test_a_text_is_one_part_of_its_role() -> None:
    (part,) = message_parts("hello", "user")
    assert (part.kind, part.text) == (PartKind.USER, "hello")


def test_an_openai_message_carries_its_calls_beside_its_content() -> None:
    said, call = message_parts(
        {"role": "assistant", "content": "wait", "tool_calls": [CALL]}, "assistant"
    )
    assert (said.text, call.call_id, call.name, call.text) == ("wait", "c1", "look", '{"a": 1}')


@pytest.mark.parametrize(
    ("arguments", "kept"),
    [("{broken", {"raw": "{broken"}), ("[1]", {"raw": [1]}), ("", {}), (None, {})],
)
def test_arguments_that_are_no_object_are_wrapped_and_not_lost(arguments: Any, kept: Any) -> None:
    call = {"id": "c1", "function": {"name": "look", "arguments": arguments}}
    (part,) = message_parts({"role": "assistant", "tool_calls": [call]}, "assistant")
    assert json.loads(part.text) == kept


def test_an_anthropic_message_keeps_signed_thinking_as_it_came() -> None:
    thinking = {"type": "thinking", "thinking": "hm", "signature": "abc"}
    blocks = [
        thinking,
        {"type": "text", "text": "so"},
        {"type": "tool_use", "id": "t1", "name": "look", "input": {"b": 2}},
    ]
    opaque, said, call = message_parts({"role": "assistant", "content": blocks}, "assistant")
    assert (opaque.kind, json.loads(opaque.text), opaque.name) == (
        PartKind.OPAQUE,
        thinking,
        "anthropic",
    )
    assert (said.text, call.name, json.loads(call.text)) == ("so", "look", {"b": 2})


def test_a_picture_stays_with_the_provider_that_it_was_written_for() -> None:
    url = {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}
    text, picture = message_parts(
        {"role": "user", "content": [{"type": "text", "text": "see"}, url]}, "user"
    )
    assert (text.kind, picture.kind, picture.name) == (PartKind.USER, PartKind.MEDIA, "openai")


def test_a_gemini_content_is_read_with_calls_pictures_and_what_is_unknown() -> None:
    parts = [
        {"text": "one"},
        {"function_call": {"name": "look", "args": {"x": 1}}},
        {"functionCall": {"name": "look", "args": {}, "id": "own"}},
        {"inline_data": {"mime_type": "image/png", "data": "AA"}},
        {"text": "thought", "thought_signature": "s"},
    ]
    said, first, second, picture, signed = message_parts(
        {"role": "model", "parts": parts}, "assistant"
    )
    assert (said.text, first.call_id, second.call_id) == ("one", "look-1", "own")
    assert (picture.kind, signed.kind) == (PartKind.MEDIA, PartKind.OPAQUE)


@pytest.mark.parametrize(
    "message",
    [
        {"role": "tool", "content": "x"},
        {"role": "assistant", "content": 5},
        {"role": "assistant", "content": [5]},
        {"role": "assistant", "content": [{"type": "tool_result", "content": "x"}]},
        {"role": "assistant", "tool_calls": [{"function": {"name": "look"}}]},
        {"role": "assistant", "tool_calls": [CALL, CALL]},
        {"role": "assistant", "tool_calls": "look"},
        {"role": "assistant", "tool_calls": [5]},
        {"role": "assistant", "tool_calls": [{"id": "c1", "function": "look"}]},
        {"role": "assistant", "output": [5]},
        {"role": "model", "parts": "x"},
        {"role": "model", "parts": ["x"]},
        {"role": "model", "parts": [{"function_call": "look"}]},
    ],
)
def test_what_cannot_be_sent_again_is_refused(message: Any) -> None:
    with refused(InvalidInput, "bad_message"):
        message_parts(message, "assistant")


def test_a_part_goes_back_to_the_provider_whose_it_is() -> None:
    blocks = [{"type": name} for name in ("input_image", "image_url", "image", "reasoning")]
    parts = message_parts({"role": "user", "content": blocks}, "user")
    names = [part.name for part in parts if part.kind is not PartKind.USER]
    assert names == ["responses", "openai", "anthropic", "responses"]


def test_a_content_is_read_as_an_sdk_dumps_it() -> None:
    empty = dict.fromkeys(("function_call", "inline_data", "thought_signature", "text"))
    blob = {"mime_type": "image/png", "data": b"\x89PNG"}
    said, picture = message_parts(
        {"role": "user", "parts": [empty | {"text": "see"}, empty | {"inline_data": blob}]}, "user"
    )
    assert (said.kind, said.text) == (PartKind.USER, "see")
    assert json.loads(picture.text) == {
        "inline_data": {"mime_type": "image/png", "data": "iVBORw=="}
    }

    (silent, heard) = message_parts(
        {"content": [{"type": "text", "text": None}, {"type": "text", "text": "so"}]}, "assistant"
    )
    assert (silent.text, heard.text) == ("", "so")


def test_a_model_that_declines_is_heard() -> None:
    message = {"role": "assistant", "content": None, "refusal": "I cannot do that."}
    (part,) = message_parts(message | {"tool_calls": None, "audio": None}, "assistant")
    assert (part.kind, part.text) == (PartKind.ASSISTANT, "I cannot do that.")


@pytest.mark.parametrize("arguments", ["{broken", [1], 5])
def test_an_input_that_is_no_object_is_wrapped_and_not_lost(arguments: Any) -> None:
    block = {"type": "tool_use", "id": "t1", "name": "look", "input": arguments}
    (call,) = message_parts({"role": "assistant", "content": [block]}, "assistant")
    assert json.loads(call.text) == {"raw": arguments}


@pytest.mark.parametrize(
    "message",
    [{"role": "assistant"}, {"role": "assistant", "content": ""}, {"role": "model", "parts": None}],
)
def test_an_empty_answer_is_recorded_as_empty_and_an_empty_question_is_refused(
    message: Any,
) -> None:
    (part,) = message_parts(message, "assistant")
    assert (part.kind, part.text) == (PartKind.ASSISTANT, "")
    with pytest.raises(InvalidInput):
        message_parts({"role": "user", "content": None}, "user")


@pytest.mark.parametrize("message", ["  ", {"content": "\n"}, {"parts": [{"text": ""}]}])
def test_blank_words_of_a_user_stand_as_such(message: Any) -> None:
    (part,) = message_parts(message, "user")
    assert (part.kind, part.text) == (PartKind.USER, "[empty]")


@pytest.mark.parametrize("role", ["user", "assistant"])
def test_a_picture_alone_says_whose_it_is(role: str) -> None:
    picture, speaker = message_parts({"parts": [{"inline_data": {"data": "AA"}}]}, role)
    assert (picture.kind, speaker.kind, speaker.text) == (PartKind.MEDIA, PartKind(role), "")
