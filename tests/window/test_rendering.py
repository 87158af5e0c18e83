"""What a session keeps of its requests: the same messages, written once, and nobody else's."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from tenure.schema.errors import Conflict, InvalidInput
from tenure.tests.window.conversation_replay import Conversation
from tenure.window.events import EventKind
from tenure.window.layout import native_messages
from tenure.window.rendering import RenderedHistory

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
def test_a_growing_window_renders_as_if_anew_whatever_callers_did_to_requests(target: str) -> None:
    talk = Conversation(4_000)
    history = RenderedHistory()
    edits = 0
    for number in range(40):
        talk.user(f"question {number} about ID{number:05}")
        if number % 7 == 0:
            talk.model({"role": "assistant", "content": [{"type": "text", "text": "see"}, PICTURE]})
        # One id again and again: its suffix counts all uses before, kept messages included.
        talk.call("again", "look", number=number, deep={"list": [1, {"x": "y"}]})
        talk.result("again", f"found {number} " + "and more " * 20)
        talk.model(f"answer {number}")
        edits += talk.tidy() is not None

        for tail in ("", "facts of the turn"):
            expected = native_messages(talk.state, target, tail)
            messages = history.messages(talk.state, target, tail)
            assert messages == expected
            assert copy.deepcopy(messages) == expected
            marked(messages)
    assert edits > 1


def test_what_was_said_is_written_once() -> None:
    talk = Conversation()
    history = RenderedHistory()
    for number in range(6):
        talk.exchange(number, "found")
    history.messages(talk.state, "anthropic")
    before = history._prefixes["anthropic"].messages
    talk.exchange(6, "found")
    history.messages(talk.state, "anthropic")
    after = history._prefixes["anthropic"].messages
    kept = [ours[1] is theirs[1] for ours, theirs in zip(before, after, strict=False)]
    assert kept == [True] * (len(before) - 1) + [False]


def test_an_older_state_and_an_erasure_are_rendered_as_they_are() -> None:
    talk = Conversation()
    history = RenderedHistory()
    number = talk.user("my name is Jane Q")
    young = talk.state
    talk.model("noted")
    history.messages(talk.state, "openai")
    assert history.messages(young, "openai") == native_messages(young, "openai")
    talk.put(EventKind.TEXTS_ERASED, {"places": [[number, 0]]})
    assert history.messages(talk.state, "openai") == native_messages(talk.state, "openai")


def test_an_open_call_and_another_target_are_refused_and_keep_nothing() -> None:
    talk = Conversation()
    history = RenderedHistory()
    talk.user("go")
    talk.call("c1")
    with pytest.raises(Conflict, match="c1 waits"):
        history.messages(talk.state, "anthropic")
    with pytest.raises(InvalidInput, match="unknown render target"):
        history.messages(talk.state, "telegram")
    talk.result("c1", "found")
    assert history.messages(talk.state, "anthropic") == native_messages(talk.state, "anthropic")
