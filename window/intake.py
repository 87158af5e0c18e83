"""Provider messages to parts: OpenAI (chat and Responses), Anthropic, Gemini, or plain text.

The format is told by the message itself. A part that no rule knows is kept as the provider's JSON
and sent back to the same provider unchanged: signed thinking, for example, must not be altered.
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Mapping, Sequence
from typing import Any, cast

from ..schema.errors import InvalidInput
from ..schema.values import canonical_json
from .units import MessagePart, PartKind

Message = str | Mapping[str, Any]
_EMPTY = "[empty]"
_SPEECH = frozenset({PartKind.USER, PartKind.ASSISTANT, PartKind.CALL})
_MEDIA = frozenset(
    {"image", "image_url", "input_image", "input_audio", "input_file", "document", "file"}
)
_GEMINI_MEDIA = frozenset({"inline_data", "inlineData", "file_data", "fileData"})
_CHAT = frozenset({"image_url", "input_audio", "file", "refusal"})
"""Parts of OpenAI's chat; those below are of its Responses."""
_RESPONSES = frozenset({"input_image", "input_file", "reasoning"})


def message_parts(message: Message, role: str) -> tuple[MessagePart, ...]:
    """The parts of a message of a `user` or an `assistant`.

    Raises:
        InvalidInput: `bad_message`, for another role, no content, or a part that cannot be read.
    """
    # A bare text is the shortest way to say what every provider has a form for.
    if isinstance(message, str):
        message = {"role": role, "content": message}

    speaker = message.get("role", role)
    if {"model": "assistant"}.get(speaker, speaker) != role:
        raise _bad(f"a message of {speaker!r} stands where one of {role!r} belongs")

    if "parts" in message:
        parts = _gemini(message["parts"], role)
    elif isinstance(message.get("output"), list):
        parts = _output_items(message["output"], role)
    else:
        parts = [*_content(message.get("content"), role), *_refusal(message), *_chat_calls(message)]
    if not parts:
        raise _bad("the message has no content")
    # Providers take no blank text, and a request without the user's message is another one.
    if all(map(_is_blank, parts)):
        return (MessagePart(kind=PartKind.USER, text=_EMPTY),)

    _check_calls(parts)
    if not _tells_speaker(parts, role):
        parts.append(MessagePart(kind=PartKind(role), text=""))
    return tuple(parts)


def _tells_speaker(parts: Sequence[MessagePart], role: str) -> bool:
    """Whether parts show who speaks: a picture may be a user's, or a model's own."""
    kinds = {part.kind for part in parts}
    if not kinds.isdisjoint(_SPEECH):
        return True
    return role == "assistant" and PartKind.MEDIA not in kinds


def _content(content: Any, role: str) -> list[MessagePart]:
    """Read the content of an OpenAI or Anthropic message."""
    if content is None or content == "":
        return []
    if isinstance(content, str):
        return [MessagePart(kind=PartKind(role), text=content)]
    if not isinstance(content, Sequence):
        raise _bad("content is a text or a list of parts")

    parts: list[MessagePart] = []
    for block in _objects(content, "a part of a message"):
        parts.append(_part(block, role))
    return parts


def _objects(entries: Any, noun: str) -> list[Mapping[str, Any]]:
    """The entries of a list, each of which is an object."""
    if entries is None:
        return []
    if isinstance(entries, str) or not isinstance(entries, Sequence):
        raise _bad(f"{noun} stands in a list")

    objects: list[Mapping[str, Any]] = []
    for entry in cast("Sequence[object]", entries):
        objects.append(_object(entry, noun))
    return objects


def _object(entry: object, noun: str) -> Mapping[str, Any]:
    if not isinstance(entry, Mapping):
        raise _bad(f"{noun} is an object")
    return cast("Mapping[str, Any]", entry)


def _part(block: Mapping[str, Any], role: str) -> MessagePart:
    kind = block.get("type")

    match kind:
        case "text" | "input_text" | "output_text":
            return MessagePart(kind=PartKind(role), text=_text(block))
        case "tool_use":
            return MessagePart(
                kind=PartKind.CALL,
                text=_argument_object(block.get("input")),
                call_id=str(block.get("id", "")),
                name=str(block.get("name", "")),
            )
        case "tool_result":
            raise _bad("a tool result is handed to on_tool_result, not inside a message")
        case _:
            stands = PartKind.MEDIA if kind in _MEDIA else PartKind.OPAQUE
            return MessagePart(kind=stands, text=canonical_json(dict(block)), name=_format(block))


def _format(block: Mapping[str, Any]) -> str:
    """Whose part it is, so that it is never sent to another provider."""
    kind = str(block.get("type", ""))
    if kind in _RESPONSES:
        return "responses"
    return "openai" if kind in _CHAT else "anthropic"


def _text(block: Mapping[str, Any]) -> str:
    """The words of a part; a field that an SDK left empty says nothing."""
    text = block.get("text")
    return "" if text is None else str(text)


def _output_items(items: Any, role: str) -> list[MessagePart]:
    """Read the output of a response; what is neither words nor a call goes back as it came."""
    parts: list[MessagePart] = []
    for item in _objects(items, "an item of the output"):
        match item.get("type"):
            case "message":
                parts += _content(item.get("content"), role)
            case "function_call":
                call = MessagePart(
                    kind=PartKind.CALL,
                    text=_arguments(item.get("arguments")),
                    call_id=str(item.get("call_id", "")),
                    name=str(item.get("name", "")),
                )
                parts.append(call)
            case _:
                text = canonical_json(dict(item))
                parts.append(MessagePart(kind=PartKind.OPAQUE, text=text, name="responses"))
    return parts


def _refusal(message: Mapping[str, Any]) -> list[MessagePart]:
    """Read what an OpenAI model says where it declines: it stands in the place of the content."""
    text = message.get("refusal")
    return [MessagePart(kind=PartKind.ASSISTANT, text=str(text))] if text else []


def _chat_calls(message: Mapping[str, Any]) -> list[MessagePart]:
    """Read the calls that an OpenAI chat message carries beside its content."""
    parts: list[MessagePart] = []
    for call in _objects(message.get("tool_calls"), "a tool call"):
        function = _object(call.get("function") or {}, "the function of a tool call")
        parts.append(
            MessagePart(
                kind=PartKind.CALL,
                text=_arguments(function.get("arguments")),
                call_id=str(call.get("id", "")),
                name=str(function.get("name", "")),
            )
        )
    return parts


def _arguments(text: Any) -> str:
    """Arguments as the model wrote them; what is no JSON object is wrapped, so that it can be sent.

    Models do write broken JSON, and a log that refused it would lose the step.
    """
    try:
        tree = json.loads(text or "{}")
    except (TypeError, ValueError):
        return canonical_json({"raw": str(text)})
    return str(text or "{}") if isinstance(tree, dict) else canonical_json({"raw": tree})


def _argument_object(arguments: Any) -> str:
    """Arguments that came as a value; what is no object is wrapped, so that it can be sent."""
    if isinstance(arguments, Mapping | None):
        return canonical_json(dict(cast("Mapping[str, Any]", arguments or {})))
    return canonical_json({"raw": arguments})


def _gemini(blocks: Any, role: str) -> list[MessagePart]:
    """Read the parts of a Gemini content; a thought signature stays with its part."""
    parts: list[MessagePart] = []
    for position, full_block in enumerate(_objects(blocks, "a part of a message")):
        # The SDK writes every field that a part could have.
        block = {name: value for name, value in full_block.items() if value is not None}
        call: Any = block.get("function_call") or block.get("functionCall")
        if call:
            call = _object(call, "a function call")
            name = str(call.get("name", ""))
            parts.append(
                MessagePart(
                    kind=PartKind.CALL,
                    text=_argument_object(call.get("args")),
                    call_id=str(call.get("id") or f"{name}-{position}"),
                    name=name,
                )
            )
        elif set(block) == {"text"}:
            parts.append(MessagePart(kind=PartKind(role), text=str(block["text"])))
        else:
            kind = PartKind.OPAQUE if _GEMINI_MEDIA.isdisjoint(block) else PartKind.MEDIA
            text = canonical_json(_without_bytes(block))
            parts.append(MessagePart(kind=kind, text=text, name="gemini"))
    return parts


def _without_bytes(tree: Any) -> Any:
    """A part as the wire has it: the SDK holds data and signatures as bytes, JSON as base64."""
    if isinstance(tree, bytes):
        return b64encode(tree).decode("ascii")
    if isinstance(tree, Mapping):
        fields = cast("Mapping[str, Any]", tree)
        return {name: _without_bytes(value) for name, value in fields.items()}
    return tree


def _is_blank(part: MessagePart) -> bool:
    return part.kind is PartKind.USER and not part.text.strip()


def _check_calls(parts: Sequence[MessagePart]) -> None:
    # Results are paired by id inside a message, so an id that is missing or double parts the pair.
    ids = [part.call_id for part in parts if part.kind is PartKind.CALL]
    if "" in ids:
        raise _bad("a tool call has no id")
    if len(set(ids)) < len(ids):
        raise _bad("two calls of one message share an id")


def _bad(reason: str) -> InvalidInput:
    return InvalidInput(f"the message cannot be taken: {reason}", code="bad_message")
