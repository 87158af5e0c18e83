"""Pictures and files that a tool hands back: read in any form, written in each provider's own.

A tool does not know which model reads its result, and most tools speak the Model Context Protocol,
which no provider takes as it is. So a block is kept as it came, and put into the form of whoever is
asked. What a provider takes in no result stands as a line about it. Checklist C-314.
"""

from __future__ import annotations

import json
import re
from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple, cast

from ..schema.values import canonical_json

ATTACHMENT: Final = "tool"
"""The format of such a part: no provider's, so that none is sent it beside the calls."""
_WORDS: Final = frozenset({"text", "input_text", "output_text"})
_FAILURES: Final = ("isError", "is_error")
_PROTOCOL_FIELDS: Final = frozenset(
    {"content", "structuredContent", "structured_content", "_meta", "meta", *_FAILURES}
)
"""What a result of the Model Context Protocol holds, on the wire and in its SDKs:
https://modelcontextprotocol.io (tools)."""
_DOCUMENT: Final = "application/pdf"
_BEGINNINGS: Final = {
    re.compile(rb"\x89PNG\r\n\x1a\n"): "image/png",
    re.compile(rb"\xff\xd8\xff"): "image/jpeg",
    re.compile(rb"GIF8[79]a"): "image/gif",
    re.compile(rb"RIFF.{4}WEBP", re.DOTALL): "image/webp",
    re.compile(rb"%PDF-"): _DOCUMENT,
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

    is_error = isinstance(content, Mapping) and _says_failed(cast("Block", content))
    lines: list[str] = []
    attachments: list[str] = []
    for block in blocks:
        source = attachment(block)
        if source is not None and source.is_whole:
            attachments.append(canonical_json(_without_bytes(block)))
        elif block.get("type") in _WORDS:
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


def attachment_block(text: str, target: str) -> dict[str, Any] | None:
    """A picture or a file, given as the JSON in which it came, as a provider takes it in a result.

    None where it takes none: OpenAI's chat takes words alone as the result of a call.
    """
    source = attachment(json.loads(text))
    sendable = _sendable(source) if source else None
    write = _WRITERS.get(target)
    return write(sendable) if sendable and write else None


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
    is_speech = all(block.get("type") in _WORDS for block in blocks)
    return blocks if is_speech or any(map(attachment, blocks)) else None


def _says_failed(result: Block) -> bool:
    return any(result.get(field) is True for field in _FAILURES)


def _plain(value: Any) -> Any:
    """A value of a protocol's SDK as plain JSON; any other as it is."""
    dump: Callable[..., Any] | None = getattr(value, "model_dump", None)
    return dump(mode="json", by_alias=True, exclude_none=True) if dump else value


def _without_bytes(block: Block) -> dict[str, Any]:
    """A block as the wire has it: some SDKs hold data as bytes, JSON as base64."""
    plain: dict[str, Any] = {}
    for name, value in block.items():
        if isinstance(value, bytes):
            value = b64encode(value).decode("ascii")
        elif isinstance(value, Mapping):
            value = _without_bytes(cast("Block", value))
        plain[name] = value
    return plain


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


def _sendable(source: ToolAttachment) -> ToolAttachment | None:
    """A source that providers take, under the type that its bytes tell; None for all others."""
    if source.url:
        return source
    head = source.data[:_HEAD]
    beginning = b64decode(head + "=" * (-len(head) % 4))
    for pattern, media_type in _BEGINNINGS.items():
        if pattern.match(beginning):
            return source._replace(media_type=media_type)
    return None


def _anthropic(source: ToolAttachment) -> dict[str, Any]:
    kind = "document" if source.media_type == _DOCUMENT else "image"
    if source.url:
        return {"type": kind, "source": {"type": "url", "url": source.url}}
    place = {"type": "base64", "media_type": source.media_type, "data": source.data}
    return {"type": kind, "source": place}


def _responses(source: ToolAttachment) -> dict[str, Any]:
    if source.media_type == _DOCUMENT:
        return {"type": "input_file", "filename": "result.pdf", "file_data": source.address}
    return {"type": "input_image", "image_url": source.address}


def _gemini(source: ToolAttachment) -> dict[str, Any] | None:
    if source.url:
        return None
    return {"inline_data": {"mime_type": source.media_type, "data": source.data}}


_WRITERS: Final[Mapping[str, Callable[[ToolAttachment], dict[str, Any] | None]]] = {
    "anthropic": _anthropic,
    "responses": _responses,
    "gemini": _gemini,
}
