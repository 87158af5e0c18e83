"""What providers refuse: the pairing and order rules of four request formats.

Written from the errors that providers answer with, as users report them. Each function tells the
first rule that messages break, in words close to the provider's, or None. A request that passes
here can still be refused for what only a provider knows.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

_Messages = Sequence[Mapping[str, Any]]
_ANTHROPIC_ID: Final = re.compile("[a-zA-Z0-9_-]+")
_THOUGHTS: Final = ("thinking", "redacted_thinking")
_OPENAI_ID_LENGTH: Final = 40


def anthropic_fault(messages: _Messages) -> str | None:
    """The first rule of the Messages API that is broken, None for none."""
    if not messages or messages[0]["role"] != "user":
        return "first message must use the user role"

    known_ids: set[str] = set()
    waiting: list[str] = []
    for message in messages:
        blocks = message["content"]
        if not blocks:
            return "messages must have non-empty content"
        fault = _anthropic_results(blocks, waiting)
        if fault:
            return fault

        waiting = _ids(_of_type(blocks, "tool_use"))
        if waiting and message["role"] != "assistant":
            return "tool_use blocks belong to the assistant"
        if not all(map(_ANTHROPIC_ID.fullmatch, waiting)):
            return "tool_use ids should match the pattern ^[a-zA-Z0-9_-]+$"
        if known_ids & set(waiting) or len(set(waiting)) < len(waiting):
            return "tool_use ids must be unique"
        known_ids |= set(waiting)
        if message["role"] == "assistant" and blocks[-1]["type"] in _THOUGHTS:
            return "the final block in an assistant message cannot be thinking"
        for block in _of_type(blocks, "text"):
            if not block["text"].strip():
                return "text content blocks must be non-empty"
    return "tool_use ids were found without tool_result blocks" if waiting else None


def _anthropic_results(blocks: Sequence[Mapping[str, Any]], waiting: Sequence[str]) -> str | None:
    """Check the results of one message against the calls of the one before it."""
    results = _ids(_of_type(blocks, "tool_result"), "tool_use_id")
    if len(_of_type(blocks[: len(results)], "tool_result")) < len(results):
        return "tool_result blocks must come first in the content"
    if set(waiting) - set(results):
        return "tool_use ids were found without tool_result blocks immediately after"
    if sorted(results) != sorted(waiting):
        return "each tool_result block must have a corresponding tool_use block"
    return None


def _of_type(blocks: _Messages, kind: str) -> _Messages:
    return [block for block in blocks if block["type"] == kind]


def _ids(blocks: _Messages, key: str = "id") -> list[str]:
    return [block[key] for block in blocks]


def openai_fault(messages: _Messages) -> str | None:
    """The first rule of the chat completions API that is broken, None for none."""
    # What the next messages must answer; an empty set means that anything may follow.
    waiting: set[str] = set()
    for message in messages:
        if message["role"] == "tool":
            if message["tool_call_id"] not in waiting:
                return "messages with role 'tool' must follow a message with 'tool_calls'"
            waiting.discard(message["tool_call_id"])
            continue

        if waiting:
            return "an assistant message with 'tool_calls' must be followed by tool messages"
        calls = message.get("tool_calls") or ()
        if not message.get("content") and not calls:
            return "content must be a non-empty text or list"
        ids = _ids(calls)
        if len(set(ids)) < len(ids):
            return "tool call ids must be unique"
        if any(len(call_id) > _OPENAI_ID_LENGTH for call_id in ids):
            return "tool call ids have at most 40 characters"
        waiting = set(ids)
    if waiting:
        return "an assistant message with 'tool_calls' must be followed by tool messages"
    return None


_BARE_REASONING: Final = "a reasoning item was provided without its required following item"


def responses_fault(items: _Messages) -> str | None:
    """The first rule of the items of the Responses API that is broken, None for none."""
    known_ids: set[str] = set()
    waiting: set[str] = set()
    reasoning = False
    for item in items:
        kind = item.get("type", "message")
        speaks = kind == "message" and item["role"] != "assistant"
        if reasoning and (speaks or kind == "function_call_output"):
            return _BARE_REASONING
        reasoning = kind == "reasoning"

        if kind == "function_call":
            if item["call_id"] in known_ids:
                return "call ids must be unique"
            known_ids.add(item["call_id"])
            waiting.add(item["call_id"])
        elif kind == "function_call_output":
            if item["call_id"] not in waiting:
                return "no tool call found for function call output"
            waiting.discard(item["call_id"])
        elif speaks and waiting:
            return "no tool output found for function call"
        if kind == "message" and not item["content"]:
            return "content must be non-empty"

    if waiting:
        return "no tool output found for function call"
    return (
        "a reasoning item was provided without its required following item" if reasoning else None
    )


def gemini_fault(contents: _Messages) -> str | None:
    """The first rule of Gemini's contents that is broken, None for none."""
    calls = 0
    previous = ""
    for content in contents:
        parts = content["parts"]
        if not parts:
            return "content must contain at least one part"
        responses = sum("function_response" in part for part in parts)
        if responses != calls:
            return "the number of function response parts must equal that of the function calls"

        calls = sum("function_call" in part for part in parts)
        if calls and previous not in ("user", "response"):
            return "a function call turn comes after a user turn or a function response turn"
        previous = "response" if responses else str(content["role"])
    if calls:
        return "the number of function response parts must equal that of the function calls"
    return None


FAULTS: Final[Mapping[str, Callable[[_Messages], str | None]]] = {
    "anthropic": anthropic_fault,
    "openai": openai_fault,
    "responses": responses_fault,
    "gemini": gemini_fault,
}
"""The checker of each render target."""
