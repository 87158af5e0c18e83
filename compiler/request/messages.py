"""Messages of providers as blocks of four kinds: words, calls, results, and all else.

Read are OpenAI's chat messages and Responses, Anthropic's content blocks, Gemini's parts, and the
objects of their SDKs and of LangChain. A block keeps the fields in which its provider wrote it, so
nothing is lost: a compile makes turns of the blocks, and a session makes parts of them that go back
to the same provider unchanged. What no provider writes is refused with its place.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from enum import StrEnum
from functools import partial
from typing import Any, Final, NamedTuple, cast

from .request import bad_request

Fields = Mapping[str, Any]

TEXT_TYPES: Final = frozenset({"text", "input_text", "output_text"})
_THOUGHTS: Final = frozenset({"thinking", "redacted_thinking", "reasoning"})
_ITEMS: Final = frozenset({"function_call", "function_call_output", "reasoning"})
"""Items of OpenAI's Responses that are no message."""
_LANGCHAIN_ROLES: Final = {
    "human": "user",
    "ai": "assistant",
    "AIMessageChunk": "assistant",
    "tool": "tool",
    "system": "system",
}


class ContentKind(StrEnum):
    """What a block of a message is."""

    TEXT = "text"
    CALL = "call"
    RESULT = "result"
    OTHER = "other"
    """A thought, a picture, a file, or what no rule knows."""


_SHAPES: Final = {
    "tool_use": (ContentKind.CALL, "id", "input"),
    "function_call": (ContentKind.CALL, "call_id", "arguments"),
    "tool_result": (ContentKind.RESULT, "tool_use_id", "content"),
    "function_call_output": (ContentKind.RESULT, "call_id", "output"),
}
"""By the type of a block: what it is, and its fields for the id and for the value."""
_PART_FIELDS: Final = {
    "function": (ContentKind.CALL, "id", "arguments"),
    "function_call": (ContentKind.CALL, "id", "args"),
    "functionCall": (ContentKind.CALL, "id", "args"),
    "function_response": (ContentKind.RESULT, "id", "response"),
    "functionResponse": (ContentKind.RESULT, "id", "response"),
}
"""The same of a block without a type of its own, by the field that holds it."""


class MessageBlock(NamedTuple):
    """One block of a message."""

    kind: ContentKind
    fields: Fields
    """As its provider wrote it."""
    text: str = ""
    call_id: str = ""
    name: str = ""
    """The tool of a call or a result."""
    value: Any = None
    """The arguments of a call, the content of a result."""

    @property
    def is_thought(self) -> bool:
        """Whether the model wrote it for itself."""
        return self.fields.get("type") in _THOUGHTS or bool(self.fields.get("thought"))

    @property
    def is_text(self) -> bool:
        """Whether it says something to the reader; a part of Gemini may be signed beside it."""
        is_signed = "type" not in self.fields and "text" in self.fields
        return not self.is_thought and (self.kind is ContentKind.TEXT or is_signed)

    @property
    def words(self) -> str:
        """Its text, or a mark for a block that has none."""
        label = self.fields.get("type") or next(iter(self.fields), "part")
        return self.text if self.is_text else f"[{label}]"


def sdk_json(value: Any) -> Any:
    """An object of an SDK as plain JSON values; any other value as it is.

    LangChain's messages have their role in `type` and their calls under a name of their own.
    """
    dump = getattr(value, "model_dump", None)
    if dump is None:
        return value
    fields: dict[str, Any] = dump(mode="json", exclude_none=True)
    role = _LANGCHAIN_ROLES.get(str(fields.get("type")))
    if role is None or "role" in fields:
        return fields

    calls: list[dict[str, Any]] = []
    for call in fields.get("tool_calls") or ():
        function = {"name": call["name"], "arguments": json.dumps(call.get("args") or {})}
        calls.append({"id": call.get("id") or "", "type": "function", "function": function})
    plain = {name: fields[name] for name in ("id", "content", "tool_call_id") if name in fields}
    usage: Any = fields.get("usage_metadata")
    if isinstance(plain.get("content"), list):
        # Its blocks repeat the calls in the provider's form.
        blocks = plain["content"]
        plain["content"] = [b for b in blocks if isinstance(b, str) or b.get("type") != "tool_use"]
    return plain | {"role": role, "tool_calls": calls} | ({"usage": usage} if usage else {})


def is_message(fields: Fields) -> bool:
    """Whether a mapping is a provider's message rather than the fields of a turn."""
    has_content = not fields.keys().isdisjoint(("content", "tool_calls", "parts", "output"))
    return "text" not in fields and (has_content or _is_item(fields))


def _is_item(fields: Fields) -> bool:
    kind = fields.get("type")
    return isinstance(kind, str) and kind in _ITEMS


def message_blocks(message: Fields, path: str = "message") -> tuple[list[MessageBlock], str]:
    """The blocks of a message, and the provider that alone has such a message.

    >>> message_blocks({"role": "user", "content": "Hello."})[0][0].text
    'Hello.'

    Raises:
        InvalidInput: `bad_request`, for what no provider writes; `path` names the message.
    """
    if "parts" in message:
        blocks: list[MessageBlock] = []
        for part in _objects(f"{path}.parts", message["parts"]):
            # The SDK writes every field that a part could have.
            fields = {name: value for name, value in part.items() if value is not None}
            blocks.append(read_block(fields, f"{path}.parts"))
        return blocks, "gemini"
    if _is_item(message):
        return [read_block(message, path)], "responses"
    if isinstance(message.get("output"), list):
        blocks = []
        for item in _objects(f"{path}.output", message["output"]):
            is_words = item.get("type") == "message"
            blocks += content_blocks(item.get("content") if is_words else item, f"{path}.output")
        return blocks, "responses"

    blocks = content_blocks(message.get("content"), f"{path}.content")
    # What an OpenAI model says where it declines stands in the place of the content.
    if message.get("refusal"):
        blocks += content_blocks(message["refusal"], path)
    calls = f"{path}.tool_calls"
    for call in _objects(calls, message.get("tool_calls")):
        blocks.append(read_block(call if "function" in call else {"function": call}, calls))
    return blocks, ""


def content_blocks(content: Any, path: str) -> list[MessageBlock]:
    """The blocks of the content of a message or a result: a text, a block, or a list of them."""
    if content is None or content == "":
        return []
    entries: Any = [content] if isinstance(content, str | Mapping) else content
    if isinstance(entries, list | tuple):
        entries = list(map(_as_block, cast("list[Any]", entries)))
    return list(map(partial(read_block, path=path), _objects(path, entries)))


def _as_block(entry: Any) -> Any:
    return {"type": "text", "text": entry} if isinstance(entry, str) else entry


def read_block(block: Fields, path: str = "block") -> MessageBlock:
    """One block in a provider's form."""
    kind = block.get("type")
    if kind is not None and not isinstance(kind, str):
        raise bad_request(f"{path}.type", "give the word for what the block is")

    inner, shape = block, _SHAPES.get(kind or "")
    for field in filter(block.keys().__contains__, _PART_FIELDS):
        (inner,) = _objects(f"{path}.{field}", [block[field] or {}])
        shape = _PART_FIELDS[field]
    if shape is not None:
        of_kind, id_field, value_field = shape
        call_id = str(inner.get(id_field) or block.get(id_field) or "")
        name, value = str(inner.get("name") or ""), inner.get(value_field)
        return MessageBlock(of_kind, block, "", call_id, name, value)

    is_text = kind in TEXT_TYPES or set(block) == {"text"}
    # A field that an SDK left empty says nothing.
    text = "" if block.get("text") is None else str(block["text"])
    return MessageBlock(ContentKind.TEXT if is_text else ContentKind.OTHER, block, text)


def _objects(path: str, entries: Any) -> list[Fields]:
    """The entries of a list that a provider fills with objects."""
    if entries is None:
        return []
    if not isinstance(entries, list | tuple):
        raise bad_request(path, f"give a list of objects, not {type(entries).__name__}")
    for entry in cast("list[Any]", entries):
        if not isinstance(entry, Mapping):
            raise bad_request(path, f"give an object, not {type(entry).__name__}")
    return list(cast("list[Fields]", entries))
