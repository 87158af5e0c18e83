"""Native requests pass the providers' rules, and each rule has a request that it refuses."""

import copy
import json
from typing import Any

import pytest

from tenure.bench.window_checkers import (
    anthropic_fault,
    gemini_fault,
    openai_fault,
    responses_fault,
)
from tenure.schema.errors import Conflict, InvalidInput
from tenure.tests.support.refusals import refused
from tenure.tests.window.conversation_replay import Conversation, faults
from tenure.window.editing import reachable_units
from tenure.window.events import EventKind
from tenure.window.layout import native_messages

THINKING = {"type": "thinking", "thinking": "hm", "signature": "abc"}


def one_call() -> Conversation:
    talk = Conversation()
    talk.user("go")
    talk.call("c1", "look", a=1)
    talk.result("c1", "found", is_error=True)
    talk.model("done")
    return talk


def test_a_call_goes_out_natively_to_each_provider() -> None:
    state = one_call().state
    use, result = native_messages(state, "anthropic")[1:3]
    assert use["content"][0] == {"type": "tool_use", "id": "c1", "name": "look", "input": {"a": 1}}
    assert result["content"][0] == {
        "type": "tool_result",
        "tool_use_id": "c1",
        "content": "found",
        "is_error": True,
    }
    chat = native_messages(state, "openai")
    assert chat[1]["tool_calls"][0]["function"] == {"name": "look", "arguments": '{"a": 1}'}
    assert chat[2] == {"role": "tool", "tool_call_id": "c1", "content": "found"}
    contents = native_messages(state, "gemini")
    assert contents[1]["parts"] == [{"function_call": {"name": "look", "args": {"a": 1}}}]
    assert contents[2]["parts"][0]["function_response"]["response"] == {"result": "found"}
    assert faults(state) == []


def test_the_tail_stands_last_and_results_stay_first() -> None:
    talk = Conversation()
    talk.user("go")
    talk.call("c1")
    talk.result("c1", "found")
    blocks = native_messages(talk.state, "anthropic", "facts of the turn")[-1]["content"]
    assert [block["type"] for block in blocks] == ["tool_result", "text"]
    assert native_messages(talk.state, "openai", "facts")[-1]["content"] == "facts"
    assert native_messages(talk.state, "gemini", "facts")[-1]["parts"] == [{"text": "facts"}]


def test_an_id_that_is_used_twice_gets_a_suffix_in_the_request_alone() -> None:
    talk = Conversation()
    for _ in range(2):
        talk.user("go")
        talk.call("same")
        talk.result("same", "found")
    text = json.dumps(native_messages(talk.state, "anthropic"))
    assert text.count('"same_2"') == 2
    assert faults(talk.state) == []


def test_ids_have_the_form_that_every_provider_takes() -> None:
    talk = Conversation()
    ids = ("functions.look:0", "functions look 0", "same", "same_2", "same", "c" * 50, "c" * 60)
    for call_id in ids:
        talk.user("go")
        talk.call(call_id)
        talk.result(call_id, "found")

    messages = native_messages(talk.state, "openai")
    assert [message["tool_call_id"] for message in messages if message["role"] == "tool"] == [
        "functions_look_0",
        "functions_look_0_2",
        "same",
        "same_2",
        "same_3",
        "c" * 40,
        "c" * 34 + "_2",
    ]
    assert faults(talk.state) == []


def test_thoughts_that_nothing_follows_are_not_sent() -> None:
    talk = Conversation()
    talk.user("go")
    talk.model({"role": "assistant", "content": [THINKING]})
    talk.model({"output": [REASONING]})
    talk.user("go on")
    assert faults(talk.state) == []
    for target in ("anthropic", "responses"):
        assert {message["role"] for message in native_messages(talk.state, target)} == {"user"}


@pytest.mark.parametrize("words", [[], [{"type": "text", "text": "What is this?"}]])
@pytest.mark.parametrize("kind", ["image", "search_result"])
def test_a_message_that_begins_with_a_picture_or_a_file_is_its_user_s(
    kind: str, words: list[dict[str, Any]]
) -> None:
    talk = Conversation()
    number = talk.user({"role": "user", "content": [{"type": kind, "source": {}}, *words]})
    assert native_messages(talk.state, "anthropic")[0]["role"] == "user"
    # The newest message of the user is out of an edit's reach.
    assert number not in [unit.number for unit in reachable_units(talk.state, talk.policy)]


def test_a_picture_that_a_model_made_is_the_model_s() -> None:
    talk = Conversation()
    talk.user("Draw a cat.")
    parts = [{"inline_data": {"mime_type": "image/png", "data": "AA"}}, {"text": "Here it is."}]
    talk.model({"role": "model", "parts": parts})
    assert [message["role"] for message in native_messages(talk.state, "gemini")] == [
        "user",
        "model",
    ]


def test_parts_of_one_provider_are_never_sent_to_another() -> None:
    talk = Conversation()
    picture = {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}
    talk.user({"role": "user", "content": [{"type": "text", "text": "see"}, picture]})
    talk.model({"role": "assistant", "content": [THINKING, {"type": "text", "text": "I see"}]})
    anthropic = native_messages(talk.state, "anthropic")
    assert anthropic[0]["content"] == [{"type": "text", "text": "see"}]
    assert anthropic[1]["content"][0] == THINKING
    chat = native_messages(talk.state, "openai")
    assert chat[0]["content"][1] == picture
    assert chat[1]["content"] == "I see"
    assert "thinking" not in json.dumps(native_messages(talk.state, "gemini"))
    assert faults(talk.state) == []


def test_a_message_that_another_provider_alone_can_read_is_left_out() -> None:
    talk = Conversation()
    talk.user("go")
    talk.model({"role": "assistant", "content": [THINKING]})
    talk.model("so")
    for target in ("openai", "gemini"):
        assert len(native_messages(talk.state, target)) == 2
    assert faults(talk.state) == []


def test_an_abandoned_call_and_an_empty_result_still_have_an_answer() -> None:
    talk = Conversation()
    talk.user("go")
    talk.call("c1")
    talk.put(EventKind.CALL_ABANDONED, {"call_id": "c1"})
    talk.call("c2")
    talk.result("c2", "")
    text = json.dumps(native_messages(talk.state, "anthropic"))
    assert "given up" in text
    assert "[empty]" in text
    assert faults(talk.state) == []


def test_no_request_is_made_while_a_call_waits() -> None:
    talk = Conversation()
    talk.user("go")
    talk.call("c1")
    with refused(Conflict, "open_calls"):
        native_messages(talk.state, "openai")
    with pytest.raises(InvalidInput):
        native_messages(one_call().state, "fax")


def test_texts_of_the_model_in_a_row_become_one_gemini_content() -> None:
    talk = Conversation()
    talk.user("go")
    talk.model("one")
    talk.model("two")
    assert native_messages(talk.state, "gemini")[1]["parts"] == [{"text": "one"}, {"text": "two"}]


def text(value: str) -> dict[str, Any]:
    return {"type": "text", "text": value}


def use(name: str) -> dict[str, Any]:
    return {"type": "tool_use", "id": name, "name": "look", "input": {}}


def answer(name: str) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": name, "content": "x"}


def user(*blocks: dict[str, Any]) -> dict[str, Any]:
    return {"role": "user", "content": list(blocks)}


def model(*blocks: dict[str, Any]) -> dict[str, Any]:
    return {"role": "assistant", "content": list(blocks)}


USER_TEXT = {"role": "user", "parts": [{"text": "x"}]}
CALLED = {"role": "model", "parts": [{"function_call": {}}]}
REASONING = {"type": "reasoning", "id": "rs_1", "encrypted_content": "xyz", "summary": []}
IDS = [{"id": "a"}, {"id": "a"}]
CALL_ITEM = {"type": "function_call", "call_id": "c1", "name": "look", "arguments": "{}"}
OUTPUT_ITEM = {"type": "function_call_output", "call_id": "c1", "output": "x"}
USER_ITEM = {"role": "user", "content": "go"}


@pytest.mark.parametrize(
    ("rules", "messages", "fault"),
    [
        (anthropic_fault, [], "first message"),
        (anthropic_fault, [model(text("x"))], "first message"),
        (anthropic_fault, [user()], "non-empty content"),
        (anthropic_fault, [user(text(" "))], "text content blocks"),
        (anthropic_fault, [user(use("a"))], "belong to the assistant"),
        (anthropic_fault, [user(text("x")), model(use("a"))], "without tool_result"),
        (anthropic_fault, [user(text("x")), model(use("a")), user(text("y"))], "immediately after"),
        (
            anthropic_fault,
            [user(text("x")), model(use("a")), user(text("y"), answer("a"))],
            "come first",
        ),
        (
            anthropic_fault,
            [user(text("x")), model(text("y")), user(answer("a"))],
            "corresponding tool_use",
        ),
        (
            anthropic_fault,
            [user(text("x")), model(use("a"), use("a")), user(answer("a"))],
            "unique",
        ),
        (anthropic_fault, [user(text("x")), model(use("a.b")), user(answer("a.b"))], "pattern"),
        (anthropic_fault, [user(text("x")), model(THINKING), user(text("y"))], "final block"),
        (openai_fault, [{"role": "tool", "tool_call_id": "a", "content": "x"}], "must follow"),
        (openai_fault, [{"role": "assistant", "content": None}], "non-empty"),
        (
            openai_fault,
            [{"role": "assistant", "content": None, "tool_calls": IDS[:1]}],
            "followed by",
        ),
        (openai_fault, [{"role": "assistant", "tool_calls": IDS[:1]}, USER_ITEM], "followed by"),
        (openai_fault, [{"role": "assistant", "tool_calls": IDS}], "unique"),
        (openai_fault, [{"role": "assistant", "tool_calls": [{"id": "a" * 41}]}], "at most 40"),
        (gemini_fault, [{"role": "user", "parts": []}], "at least one part"),
        (gemini_fault, [CALLED], "comes after a user turn"),
        (gemini_fault, [USER_TEXT, CALLED], "number of function response"),
        (
            gemini_fault,
            [USER_TEXT, CALLED, {"role": "user", "parts": [{}]}],
            "number of function response",
        ),
        (responses_fault, [USER_ITEM, CALL_ITEM], "no tool output found"),
        (responses_fault, [USER_ITEM, CALL_ITEM, USER_ITEM], "no tool output found"),
        (responses_fault, [USER_ITEM, OUTPUT_ITEM], "no tool call found"),
        (responses_fault, [USER_ITEM, *[CALL_ITEM, OUTPUT_ITEM] * 2], "unique"),
        (responses_fault, [USER_ITEM, REASONING], "required following item"),
        (responses_fault, [REASONING, USER_ITEM], "required following item"),
        (responses_fault, [CALL_ITEM, REASONING, OUTPUT_ITEM], "required following item"),
        (responses_fault, [{"role": "user", "content": ""}], "non-empty"),
    ],
)
def test_the_rules_refuse_what_the_provider_refuses(rules: Any, messages: Any, fault: str) -> None:
    assert fault in str(rules(messages))


def test_responses_rules_let_parallel_calls_pass() -> None:
    other = {**CALL_ITEM, "call_id": "c2"}
    outputs = [OUTPUT_ITEM, {**OUTPUT_ITEM, "call_id": "c2"}]
    assert responses_fault([USER_ITEM, REASONING, CALL_ITEM, other, *outputs]) is None


def test_the_output_of_a_response_goes_back_in_its_order() -> None:
    talk = Conversation()
    talk.user({"content": [{"type": "input_text", "text": "go"}]})
    call = {"type": "function_call", "call_id": "c1", "name": "look", "arguments": '{"a": 1}'}
    speech = {"type": "message", "content": [{"type": "output_text", "text": "I look."}]}
    talk.model({"id": "resp_1", "output": [REASONING, speech, call]})
    talk.result("c1", "found")
    talk.model("done")
    assert native_messages(talk.state, "responses", "facts") == [
        {"role": "user", "content": [{"type": "input_text", "text": "go"}]},
        REASONING,
        {"role": "assistant", "content": "I look."},
        call,
        {"type": "function_call_output", "call_id": "c1", "output": "found"},
        {"role": "assistant", "content": "done"},
        {"role": "user", "content": [{"type": "input_text", "text": "facts"}]},
    ]
    assert faults(talk.state) == []

    # Reasoning of one provider stays at home: the others get words and calls alone.
    for target in ("anthropic", "openai", "gemini"):
        assert "xyz" not in json.dumps(native_messages(talk.state, target))


def test_what_only_another_provider_reads_leaves_a_line_and_no_empty_item() -> None:
    talk = Conversation()
    talk.user({"content": [{"type": "image", "source": {}}]})
    talk.model("done")
    line = "[a picture or file that another provider was given]"
    assert native_messages(talk.state, "responses") == [
        {"role": "user", "content": [{"type": "input_text", "text": line}]},
        {"role": "assistant", "content": "done"},
    ]
    assert faults(talk.state) == []


# ---- A request is the caller's own: whatever is done to it, the next one is as if it had not been.

TARGETS = ("anthropic", "openai", "responses", "gemini")
PICTURE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}}


def marked(messages: list[dict[str, Any]]) -> None:
    """Do to a request what a caller may: mark blocks, change arguments, add and take away."""
    for message in messages:
        message["marked"] = True
        content = message.get("content") or message.get("parts")
        if isinstance(content, list):
            for block in content:
                block["cache_control"] = {"type": "ephemeral"}
                block.get("input", {})["changed"] = 1
            content.clear()
    messages.pop()


@pytest.mark.parametrize("target", TARGETS)
def test_what_a_caller_does_to_a_request_changes_no_later_one(target: str) -> None:
    talk = Conversation(4_000)
    for number in range(12):
        talk.user(f"question {number} about ID{number:05}")
        if number % 7 == 0:
            talk.model({"role": "assistant", "content": [{"type": "text", "text": "see"}, PICTURE]})
        talk.call("again", "look", number=number, deep={"list": [1, {"x": "y"}]})
        talk.result("again", f"found {number} " + "and more " * 20)
        talk.model(f"answer {number}")
        talk.tidy()

        messages = native_messages(talk.state, target, "facts of the turn")
        expected = copy.deepcopy(messages)
        marked(messages)
        assert native_messages(talk.state, target, "facts of the turn") == expected
