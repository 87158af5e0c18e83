"""Messages and tools as providers write them, read as turns and tools of a request.

OpenAI's chat messages, Anthropic's content blocks and the function tools of both are taken as they
are, so that an agent hands over the list it has. A tool call is a turn of the assistant that is
joined to its result by the call's id. Thinking is left out; a picture in a message leaves a mark.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, cast

from ...schema.values import canonical_json
from .request import bad_request

Fields = Mapping[str, Any]

_ROLES: Final = {"developer": "system", "function": "tool", "model": "assistant"}
"""Words of providers for roles that have another name here."""

_TEXT_TYPES: Final = frozenset({"text", "input_text", "output_text"})
_SILENT_TYPES: Final = frozenset({"thinking", "redacted_thinking", "reasoning"})


def is_message(fields: Fields) -> bool:
    """Whether a mapping is a provider's message rather than the fields of a turn."""
    return "text" not in fields and ("content" in fields or "tool_calls" in fields)


def turns_of(message: Fields, path: str = "message") -> Iterator[dict[str, Any]]:
    """The turns of one message, as fields of `Turn`; an empty message has none.

    >>> [turn["text"] for turn in turns_of({"role": "user", "content": "Hello."})]
    ['Hello.']

    Raises:
        InvalidInput: `bad_request`, for what no provider writes; `path` names the message.
    """
    role = str(message.get("role", "user"))
    frame = {"role": _ROLES.get(role, role)}
    result_id = message.get("tool_call_id")
    if result_id:
        frame["call_id"] = str(result_id)

    if message.get("name"):
        frame["name"] = str(message["name"])

    words: list[str] = []
    for block in _blocks(f"{path}.content", message.get("content")):
        kind = block.get("type", "text")
        if kind in ("tool_use", "tool_result"):
            # What was said before a call stays before it.
            yield from _turn_text(frame, words)
            words = []
            yield _call(path, block) if kind == "tool_use" else _result(path, block)
        elif kind not in _SILENT_TYPES:
            words.append(_words(block))

    yield from _turn_text(frame, words)

    calls = f"{path}.tool_calls"
    for call in _mappings(calls, message.get("tool_calls") or ()):
        (function,) = _mappings(f"{calls}.function", (call.get("function", call),))
        yield _call(
            path,
            {
                "id": call.get("id", ""),
                "name": function.get("name", ""),
                "input": function.get("arguments", ""),
            },
        )


def _blocks(path: str, content: object) -> list[Fields]:
    if content is None:
        return []
    if isinstance(content, Mapping):
        content = [cast("Fields", content)]
    elif isinstance(content, str):
        content = [content]

    blocks: list[object] = []
    for block in _list(path, content):
        blocks.append({"type": "text", "text": block} if isinstance(block, str) else block)
    fields = _mappings(path, blocks)
    for block in fields:
        if not isinstance(block.get("type", "text"), str):
            raise bad_request(f"{path}.type", "give the word for what the block is")

    return fields


def _mappings(path: str, items: object) -> list[Fields]:
    """The items of a list that a provider fills with objects."""
    fields: list[Fields] = []
    for item in _list(path, items):
        if not isinstance(item, Mapping):
            raise bad_request(path, f"give an object, not {type(item).__name__}")
        fields.append(cast("Fields", item))
    return fields


def _list(path: str, items: object) -> Sequence[object]:
    if not isinstance(items, list | tuple):
        raise bad_request(path, f"give a list of objects, not {type(items).__name__}")
    return cast("Sequence[object]", items)


def _words(block: Fields) -> str:
    """The text of a block, or a mark for one that has none."""
    kind: str = block.get("type", "text")
    return str(block.get("text", "")) if kind in _TEXT_TYPES else f"[{kind}]"


def _turn_text(frame: Mapping[str, str], words: list[str]) -> Iterator[dict[str, Any]]:
    text = "\n".join(word for word in words if word)
    if text.strip():
        yield {**frame, "text": text}


def _call(path: str, block: Fields) -> dict[str, Any]:
    arguments = block.get("input", "")
    if not isinstance(arguments, str):
        try:
            arguments = canonical_json(arguments)
        except (TypeError, ValueError) as error:
            raise bad_request(f"{path}.input", f"it is no JSON: {error}") from error

    name = str(block.get("name", ""))
    return {
        "role": "assistant",
        "name": name,
        "call_id": str(block.get("id", "")),
        "text": f"{name}({arguments})",
    }


def _result(path: str, block: Fields) -> dict[str, Any]:
    words = map(_words, _blocks(f"{path}.content", block.get("content")))
    return {
        "role": "tool",
        "call_id": str(block.get("tool_use_id", "")),
        "text": "\n".join(words) or "(empty)",
    }


def tool_fields(tool: Fields) -> dict[str, Any]:
    """The fields of `Tool` for a tool as a provider is told of it; other mappings stay.

    >>> tool_fields({"type": "function", "function": {"name": "go", "parameters": {}}})
    {'name': 'go', 'input_schema': {}}
    """
    function = tool.get("function", tool)
    if not isinstance(function, Mapping) or not ({"type", "parameters"} & tool.keys()):
        return dict(tool)

    fields = dict(cast("Fields", function))
    known = {name: fields[name] for name in ("name", "description") if fields.get(name)}
    schema = fields.get("parameters", fields.get("input_schema"))
    if schema is not None:
        known["input_schema"] = schema

    return known
