"""What a model gave back, read as its text and its calls, in whatever form a provider writes it.

A rule about tools that does not see the calls passes all of them. So the messages of OpenAI,
Anthropic and Gemini and the items of OpenAI's Responses are read as they come, as whole responses
and as records of their SDKs too, and what cannot be read is told. Checklist C-167.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

from ...schema.values import fields_of, items_of

_TEXT_TYPES: Final = frozenset({"text", "output_text"})
_ROLES: Final = ("assistant", "model")
"""Who speaks in a model's message; an answer may be an object with a role of another kind."""
_CONTENT: Final = ("content", "parts", "tool_calls")
_ITEM_TYPES: Final = frozenset({"function_call", "message"})
"""Items of OpenAI's Responses that say or call something."""


@dataclass(frozen=True, slots=True)
class ModelOutput:
    """A model's output."""

    text: str
    calls: tuple[tuple[str, str], ...]
    """(tool name, JSON of the arguments)."""
    is_readable: bool = True
    """Whether it was a text, JSON or a message: else nobody knows what it calls."""


def model_output(raw: object) -> ModelOutput:
    """A model's output from its text, a message of a provider, or any JSON value."""
    if isinstance(raw, str):
        return ModelOutput(raw, ())

    plain = _message_of(_plain(raw))
    blocks = _blocks(plain)
    fields = fields_of(plain)
    if blocks is None and "text" not in fields and "tool_calls" not in fields:
        text = json_text(plain)
        return ModelOutput(text, (), is_readable=bool(text))

    words = [] if blocks is not None else [str(fields.get("text") or "")]
    calls: list[tuple[str, str]] = []
    for block in blocks or ():
        if block.get("type", "text") in _TEXT_TYPES and isinstance(block.get("text"), str):
            words.append(block["text"])
        call = _call(block)
        if call is not None:
            calls.append(call)

    for entry in map(fields_of, items_of(fields.get("tool_calls"))):
        function = fields_of(entry.get("function")) or entry
        calls.append(_named_call(function, "arguments"))
    return ModelOutput("\n".join(words), tuple(calls))


def json_text(value: object) -> str:
    """A value as JSON; empty, which no JSON is, for one that has none."""
    try:
        return json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        return ""


def _plain(raw: object) -> object:
    """A record of an SDK as the values it is written with."""
    dump = getattr(raw, "model_dump", None)
    if callable(dump):
        return dump(mode="json", exclude_none=True)
    if isinstance(raw, list):
        return list(map(_plain, items_of(cast("object", raw))))
    return raw


def _message_of(plain: object) -> object:
    """The message, or the items, of a whole response; anything else as it is."""
    fields = fields_of(plain)
    for choice in _mappings(fields.get("choices")):
        if fields_of(choice.get("message")):
            return choice["message"]
    for candidate in _mappings(fields.get("candidates")):
        if items_of(fields_of(candidate.get("content")).get("parts")):
            return {**candidate["content"], "role": "model"}
    return fields["output"] if _has_items(fields.get("output")) else plain


def _has_items(value: object) -> bool:
    return any(item.get("type") in _ITEM_TYPES for item in _mappings(value))


def _blocks(plain: object) -> list[Mapping[str, Any]] | None:
    """The blocks of a message or of several items; None for what is neither."""
    fields = fields_of(plain)
    if fields.get("role") in _ROLES and not fields.keys().isdisjoint(_CONTENT):
        return _content(fields)

    if not _has_items(plain):
        return None
    blocks: list[Mapping[str, Any]] = []
    for item in _mappings(plain):
        blocks += _content(item) if item.get("type") == "message" else [item]
    return blocks


def _content(message: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    content = message.get("content")
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [*_mappings(content), *_mappings(message.get("parts"))]


def _mappings(items: object) -> Iterable[Mapping[str, Any]]:
    return map(fields_of, items_of(items))


def _call(block: Mapping[str, Any]) -> tuple[str, str] | None:
    if block.get("type") == "tool_use":
        return _named_call(block, "input")
    if block.get("type") == "function_call":
        return _named_call(block, "arguments")

    # Gemini's parts have no type, and two spellings.
    call = fields_of(block.get("function_call")) or fields_of(block.get("functionCall"))
    return _named_call(call, "args") if call else None


def _named_call(call: Mapping[str, Any], place: str) -> tuple[str, str]:
    arguments = call.get(place)
    text = arguments if isinstance(arguments, str) else json_text(arguments)
    return str(call.get("name", "")), text
