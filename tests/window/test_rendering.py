"""A request is the caller's own: whatever is done to it, the next one is as if it had not been."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from tenure.tests.window.conversation_replay import Conversation
from tenure.window.layout import native_messages

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
