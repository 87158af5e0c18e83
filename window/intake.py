"""What providers and tools hand over, read in any form: messages, pictures and files.

Messages are read by `compiler.request.messages`. A part that no rule knows is kept as the
provider's JSON and sent back to the same provider unchanged: signed thinking, for example, must
not be altered.

A tool does not know which model reads its result, and most tools speak the Model Context Protocol,
which no provider takes as it is. So a picture or a file is kept as it came, and put into the form
of the provider that is asked. Checklist C-314.
"""

from __future__ import annotations

import json
import re
from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple, cast

from ..compiler.request.messages import (
    TEXT_TYPES,
    ContentKind,
    MessageBlock,
    message_blocks,
    sdk_json,
)
from ..schema.errors import InvalidInput
from ..schema.values import canonical_json
from .units import MessagePart, PartKind

Message = str | Mapping[str, Any] | Any
"""A text, a message in a provider's form, or an object of its SDK."""
_EMPTY = "[empty]"
_SPEECH = frozenset({PartKind.USER, PartKind.ASSISTANT, PartKind.CALL})
_MEDIA = frozenset(
    {"image", "image_url", "input_image", "input_audio", "input_file", "document", "file"}
)
_GEMINI_MEDIA = frozenset({"inline_data", "inlineData", "file_data", "fileData"})
_HOMES = {
    **dict.fromkeys(("image_url", "input_audio", "file", "refusal"), "openai"),
    **dict.fromkeys(("input_image", "input_file", "reasoning"), "responses"),
}
"""Whose part it is by its type, so that it is never sent to another provider; else Anthropic's."""


def plain_message(message: Message) -> Any:
    """An object of an SDK as plain JSON values; a text or a mapping as it is.

    Raises:
        InvalidInput: `bad_message`, for anything else.
    """
    plain = sdk_json(message)
    if not isinstance(plain, str | Mapping):
        raise _bad(f"{type(message).__name__} is no text and no message")
    return cast("Any", plain)


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

    try:
        blocks, home = message_blocks(message)
    except InvalidInput as error:
        raise _bad(str(error)) from error
    parts = [_part(block, role, home, place) for place, block in enumerate(blocks)]
    if not parts:
        if role == "user":
            raise _bad("the message has no content")
        # A model may answer nothing; the step is recorded, and no provider is sent an empty text.
        parts.append(MessagePart(kind=PartKind.ASSISTANT, text=""))
    # Providers take no blank text, and a request without the user's message is another one.
    if all(part.kind is PartKind.USER and not part.text.strip() for part in parts):
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


def _part(block: MessageBlock, role: str, home: str, place: int) -> MessagePart:
    """A part of a message; what no rule knows is kept for the provider that it came from."""
    match block.kind:
        case ContentKind.TEXT:
            return MessagePart(kind=PartKind(role), text=block.text)
        case ContentKind.CALL:
            # Gemini's calls need no id, and their results need one.
            default = f"{block.name}-{place}" if home == "gemini" else ""
            return _call(block.call_id or default, block.name, block.value)
        case ContentKind.RESULT:
            raise _bad("a tool result is handed to on_tool_result, not inside a message")
        case ContentKind.OTHER:
            kind = str(block.fields.get("type"))
            is_media = kind in _MEDIA or not _GEMINI_MEDIA.isdisjoint(block.fields)
            text = canonical_json(_without_bytes(block.fields))
            home = home or _HOMES.get(kind, "anthropic")
            of_kind = PartKind.MEDIA if is_media else PartKind.OPAQUE
            return MessagePart(kind=of_kind, text=text, name=home)


def _call(call_id: str, name: str, arguments: Any) -> MessagePart:
    """A call, whose arguments are an object as JSON.

    Models do write broken JSON, and a log that refused it would lose the step: what is no object is
    wrapped, so that it can be sent.
    """
    tree = arguments
    if isinstance(arguments, str):
        try:
            tree = json.loads(arguments or "{}")
        except ValueError:
            tree = arguments
    if tree is None or isinstance(tree, Mapping):
        plain = dict(cast("Mapping[str, Any]", tree or {}))
    else:
        plain = {"raw": tree}
    # Arguments that came as a text stay as the model wrote them.
    is_text = isinstance(arguments, str) and isinstance(tree, dict) and arguments
    text = str(arguments) if is_text else canonical_json(plain)
    return MessagePart(kind=PartKind.CALL, text=text, call_id=call_id, name=name)


def _without_bytes(tree: Any) -> Any:
    """A part as the wire has it: the SDK holds data and signatures as bytes, JSON as base64."""
    if isinstance(tree, bytes):
        return b64encode(tree).decode("ascii")
    if isinstance(tree, Mapping):
        fields = cast("Mapping[str, Any]", tree)
        return {name: _without_bytes(value) for name, value in fields.items()}
    return tree


def _check_calls(parts: Sequence[MessagePart]) -> None:
    # Results are paired by id inside a message, so an id that is missing or double parts the pair.
    ids = [part.call_id for part in parts if part.kind is PartKind.CALL]
    if "" in ids:
        raise _bad("a tool call has no id")
    if len(set(ids)) < len(ids):
        raise _bad("two calls of one message share an id")


def _bad(reason: str) -> InvalidInput:
    return InvalidInput(f"the message cannot be taken: {reason}", code="bad_message")


ATTACHMENT: Final = "tool"
"""The format of such a part: no provider's, so that none is sent it beside the calls."""
_FAILURES: Final = ("isError", "is_error")
_PROTOCOL_FIELDS: Final = frozenset(
    {"content", "structuredContent", "structured_content", "_meta", "meta", *_FAILURES}
)
"""What a result of the Model Context Protocol holds, on the wire and in its SDKs:
https://modelcontextprotocol.io (tools)."""
DOCUMENT: Final = "application/pdf"
_BEGINNINGS: Final = {
    re.compile(rb"\x89PNG\r\n\x1a\n"): "image/png",
    re.compile(rb"\xff\xd8\xff"): "image/jpeg",
    re.compile(rb"GIF8[79]a"): "image/gif",
    re.compile(rb"RIFF.{4}WEBP", re.DOTALL): "image/webp",
    re.compile(rb"%PDF-"): DOCUMENT,
}
"""How the files begin that all three providers take. One that begins otherwise would be refused,
and with it every request of the session from then on."""
_HEAD: Final = 24
"""Characters of base64 that hold such a beginning."""
_DATA_ADDRESS: Final = re.compile(
    r"data:(?P<type>[\w.+-]+/[\w.+-]+)(?:;[^,;]+)*;base64,(?P<data>.*)"
)

Block = Mapping[str, Any]


class ToolAttachment(NamedTuple):
    """What a block of a picture or a file holds."""

    media_type: str
    """Such as `image/png`; empty where an address states none."""
    data: str = ""
    """Base64, empty for an address."""
    url: str = ""

    @property
    def is_whole(self) -> bool:
        """Whether its data are base64 to the end."""
        try:
            b64decode(self.data, validate=True)
        except ValueError:
            return False
        return True

    @property
    def address(self) -> str:
        """Where it lies, or itself as an address."""
        return self.url or f"data:{self.media_type};base64,{self.data}"


class ToolContent(NamedTuple):
    """What a tool handed back, its words apart from its pictures and files."""

    words: Any
    """A text, or any JSON value."""
    blocks: tuple[str, ...] = ()
    """The pictures and files in their order, each as the JSON in which it came."""
    is_error: bool = False
    """Whether the result itself says that the call failed."""


def tool_content(content: Any) -> ToolContent:
    """Take pictures and files out of a result; a value that is no list of blocks stays as it is.

    >>> tool_content([{"type": "text", "text": "done"}]).words
    'done'
    >>> tool_content({"rows": [1, 2]}).words
    {'rows': [1, 2]}
    """
    content = _plain(content)
    blocks = _blocks(content)
    if blocks is None:
        return ToolContent(content)

    fields: Block = cast("Block", content) if isinstance(content, Mapping) else {}
    is_error = any(fields.get(field) is True for field in _FAILURES)
    lines: list[str] = []
    attachments: list[str] = []
    for block in blocks:
        source = attachment(block)
        if source is not None and source.is_whole:
            attachments.append(canonical_json(_without_bytes(block)))
        elif block.get("type") in TEXT_TYPES:
            lines.append(str(block.get("text") or ""))
        else:
            lines.append(json.dumps(block, ensure_ascii=False, default=str))
    return ToolContent("\n".join(lines), tuple(attachments), is_error)


def attachment(block: Block) -> ToolAttachment | None:
    """What a block holds, None where it is no picture and no file that could be sent.

    Read are the forms of the Model Context Protocol, Anthropic, OpenAI (chat and Responses) and
    Gemini. The shape decides and not the type alone: a tool may list files of its own.
    """
    source = block.get("source")
    address: Any = block.get("image_url")
    inline: Any = block.get("inline_data") or block.get("inlineData")

    if isinstance(source, Mapping):
        return _of_source(cast("Block", source))
    if isinstance(address, Mapping):
        address = cast("Block", address).get("url")
    if isinstance(address, str):
        return _of_address(address)
    fields = cast("Block", inline) if isinstance(inline, Mapping) else block
    return _of_data(fields.get("mimeType") or fields.get("mime_type"), fields.get("data"))


def sendable_attachment(text: str) -> ToolAttachment | None:
    """A picture or a file, given as the JSON in which it came, as providers take it.

    Its type is the one that its bytes tell; None for what no provider takes.
    """
    source = attachment(json.loads(text))
    if source is None or source.url:
        return source
    head = source.data[:_HEAD]
    beginning = b64decode(head + "=" * (-len(head) % 4))
    for pattern, media_type in _BEGINNINGS.items():
        if pattern.match(beginning):
            return source._replace(media_type=media_type)
    return None


def _blocks(content: Any) -> list[Block] | None:
    """The blocks of a result, None for a value that is not made of them."""
    if isinstance(content, Mapping):
        fields = cast("Block", content)
        if isinstance(fields.get("content"), list) and fields.keys() <= _PROTOCOL_FIELDS:
            return _blocks(fields["content"])
        return [fields] if attachment(fields) else None
    if not isinstance(content, list | tuple) or not content:
        return None

    blocks: list[Block] = []
    for entry in cast("Sequence[object]", content):
        entry = _plain(entry)
        if not isinstance(entry, Mapping):
            return None
        blocks.append(cast("Block", entry))
    is_speech = all(block.get("type") in TEXT_TYPES for block in blocks)
    return blocks if is_speech or any(map(attachment, blocks)) else None


def _plain(value: Any) -> Any:
    """A value of a protocol's SDK as plain JSON; any other as it is."""
    dump: Callable[..., Any] | None = getattr(value, "model_dump", None)
    return dump(mode="json", by_alias=True, exclude_none=True) if dump else value


def _of_source(source: Block) -> ToolAttachment | None:
    match source.get("type"):
        case "url":
            return _of_address(str(source.get("url") or ""))
        case "base64":
            return _of_data(source.get("media_type"), source.get("data"))
        case _:
            return None


def _of_address(address: str) -> ToolAttachment | None:
    match = _DATA_ADDRESS.fullmatch(address)
    if match is not None:
        return ToolAttachment(match["type"], data=match["data"])
    return ToolAttachment("", url=address) if address.startswith("https://") else None


def _of_data(media_type: object, data: object) -> ToolAttachment | None:
    if not isinstance(media_type, str) or not media_type or not data:
        return None
    if isinstance(data, bytes):
        data = b64encode(data).decode("ascii")
    if not isinstance(data, str):
        return None

    # Some SDKs write the alphabet of addresses, and mail breaks lines.
    text = "".join(data.split()).replace("-", "+").replace("_", "/")
    return ToolAttachment(media_type, data=text)
