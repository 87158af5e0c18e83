"""A window as a provider's native messages.

Calls and results are sent as calls and results, never as prose about them. Results directly follow
their calls and are first in their message, ids are unique inside one request (a second use of an id
gets `_2`) and of a form that every provider takes, and no text is empty. The ledger is the first
text of the history, from a user, and says what it is.

`PROVIDERS` has all that differs between providers, a class for each. Each request is written anew:
a caller may mark a block for the cache, or change what it likes, and no later request knows of it.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from typing import Any, ClassVar, Final, NamedTuple

from ..compiler.tokens.capabilities import sendable_id
from ..schema.errors import Conflict, unknown
from .checkpoint import with_media_line
from .intake import DOCUMENT, ToolAttachment, sendable_attachment
from .state import WindowState
from .units import RECALL_INPUT, RECALL_TEXT, RECALL_TOOL, PartKind, WindowItem, WindowUnit

_THOUGHTS: Final = frozenset({"thinking", "redacted_thinking", "reasoning"})
_ELSEWHERE: Final = "[a picture or file that another provider was given]"
_GREETING: Final = "[the assistant speaks first]"
_NO_RESULT: Final = "[no result: the call was given up]"
_MARK: Final = {"type": "ephemeral"}

Block = dict[str, Any]
Messages = list[Block]


class SentResult(NamedTuple):
    """The result of a call as a provider is sent it."""

    call: WindowItem
    call_id: str
    """The id that the call has in this request."""
    text: str
    """Empty only where pictures or files say all."""
    blocks: tuple[Block, ...] = ()
    is_error: bool = False


class ProviderForm:
    """What a provider's requests have of their own; here as Anthropic has it."""

    speaks_second: ClassVar = True
    """Whether the first message must be a user's."""
    provider_edits: ClassVar[Mapping[str, tuple[str, str]]] = {
        "clear_tool_uses": ("clear_tool_uses_20250919", "context-management-2025-06-27"),
        "compact": ("compact_20260112", "compact-2026-01-12"),
    }
    """The edits that it makes by itself, with their type and the beta that has them."""

    def text(self, words: str, role: str = "user") -> Block:
        """Words as a part of a message."""
        return {"type": "text", "text": words}

    def call(self, call: WindowItem, call_id: str) -> Block:
        """A call as a part of the model's message."""
        arguments = json.loads(call.text)
        return {"type": "tool_use", "id": call_id, "name": call.content.name, "input": arguments}

    def media(self, source: ToolAttachment) -> Block | None:
        """A picture or a file as a part of a result; None where results take none."""
        kind = "document" if source.media_type == DOCUMENT else "image"
        if source.url:
            return {"type": kind, "source": {"type": "url", "url": source.url}}
        place = {"type": "base64", "media_type": source.media_type, "data": source.data}
        return {"type": kind, "source": place}

    def say(self, messages: Messages, role: str, parts: list[Block]) -> None:
        """Add the parts of a message; what one role says in a row is one message."""
        if messages and messages[-1]["role"] == role:
            messages[-1]["content"].extend(parts)
        else:
            messages.append({"role": role, "content": parts})

    def answer(self, messages: Messages, results: list[SentResult]) -> None:
        """Add the results of the calls of the message before."""
        blocks: list[Block] = []
        for result in results:
            block = {"type": "tool_result", "tool_use_id": result.call_id}
            blocks.append({**block, "content": self.content(result)})
            if result.is_error:
                blocks[-1]["is_error"] = True
        self.say(messages, "user", blocks)

    def content(self, result: SentResult) -> str | list[Block]:
        """A result as a text, or as a list of parts where pictures or files came with it."""
        if not result.blocks:
            return result.text
        return [*([self.text(result.text)] if result.text else []), *result.blocks]

    def request(self, model: str, system: str, messages: Messages) -> Block:
        """The request with a system text."""
        # The system text stays the same from step to step; the marks of the history come later.
        blocks = [{**self.text(system), "cache_control": dict(_MARK)}] if system else []
        return {"model": model, "system": blocks, "messages": messages}

    def tool(self, schema: Block) -> Block:
        """A tool of ours."""
        return {**schema, "input_schema": RECALL_INPUT}

    def edit(self, kind: str, beta: str, threshold: int) -> Block:
        """The fields that ask the provider for an edit above a number of tokens."""
        edits = [{"type": kind, "trigger": {"type": "input_tokens", "value": threshold}}]
        return {"betas": [beta], "context_management": {"edits": edits}}


class _Chat(ProviderForm):
    """OpenAI's chat: calls beside the content, each result a message, without pictures."""

    speaks_second = False
    provider_edits: ClassVar[Mapping[str, tuple[str, str]]] = {}

    def call(self, call: WindowItem, call_id: str) -> Block:
        function = {"name": call.content.name, "arguments": call.text}
        return {"id": call_id, "type": "function", "function": function}

    def media(self, source: ToolAttachment) -> Block | None:
        return None

    def say(self, messages: Messages, role: str, parts: list[Block]) -> None:
        calls = [part for part in parts if part["type"] == "function"]
        content: Any = [part for part in parts if part["type"] != "function"]
        if all(part["type"] == "text" for part in content):
            content = "\n".join(part["text"] for part in content)
        message: Block = {"role": role, "content": content or None}
        messages.append(message | ({"tool_calls": calls} if calls else {}))

    def answer(self, messages: Messages, results: list[SentResult]) -> None:
        for result in results:
            message = {"role": "tool", "tool_call_id": result.call_id, "content": result.text}
            messages.append(message)

    def request(self, model: str, system: str, messages: Messages) -> Block:
        head = [{"role": "system", "content": system}] if system else []
        return {"model": model, "messages": [*head, *messages]}

    def tool(self, schema: Block) -> Block:
        return {"type": "function", "function": {**schema, "parameters": RECALL_INPUT}}


class _Responses(ProviderForm):
    """OpenAI's Responses: a flat list of items, in the order in which the model made them."""

    speaks_second = False
    provider_edits: ClassVar[Mapping[str, tuple[str, str]]] = {"compact": ("compaction", "")}

    def text(self, words: str, role: str = "user") -> Block:
        if role == "assistant":
            return {"role": role, "content": words}
        return {"type": "input_text", "text": words}

    def call(self, call: WindowItem, call_id: str) -> Block:
        item = {"type": "function_call", "call_id": call_id}
        return {**item, "name": call.content.name, "arguments": call.text}

    def media(self, source: ToolAttachment) -> Block | None:
        if source.media_type == DOCUMENT:
            return {"type": "input_file", "filename": "result.pdf", "file_data": source.address}
        return {"type": "input_image", "image_url": source.address}

    def say(self, messages: Messages, role: str, parts: list[Block]) -> None:
        messages += [{"role": role, "content": parts}] if role == "user" else parts

    def answer(self, messages: Messages, results: list[SentResult]) -> None:
        for result in results:
            item = {"type": "function_call_output", "call_id": result.call_id}
            messages.append({**item, "output": self.content(result)})

    def request(self, model: str, system: str, messages: Messages) -> Block:
        request: Block = {"model": model, "input": messages}
        return request | ({"instructions": system} if system else {})

    def tool(self, schema: Block) -> Block:
        return {"type": "function", **schema, "parameters": RECALL_INPUT}

    def edit(self, kind: str, beta: str, threshold: int) -> Block:
        return {"context_management": [{"type": kind, "compact_threshold": threshold}]}


class _Gemini(ProviderForm):
    """Gemini: calls and results as parts, and the model under another name."""

    provider_edits: ClassVar[Mapping[str, tuple[str, str]]] = {}

    def text(self, words: str, role: str = "user") -> Block:
        return {"text": words}

    def call(self, call: WindowItem, call_id: str) -> Block:
        return {"function_call": {"name": call.content.name, "args": json.loads(call.text)}}

    def media(self, source: ToolAttachment) -> Block | None:
        if source.url:
            return None
        return {"inline_data": {"mime_type": source.media_type, "data": source.data}}

    def say(self, messages: Messages, role: str, parts: list[Block]) -> None:
        # A model content with calls must follow a user or a response content, so texts of the
        # model in a row become one content; responses stay a content of their own.
        name = "model" if role == "assistant" else role
        if messages and messages[-1]["role"] == name == "model":
            messages[-1]["parts"].extend(parts)
        else:
            messages.append({"role": name, "parts": parts})

    def answer(self, messages: Messages, results: list[SentResult]) -> None:
        parts: list[Block] = []
        for result in results:
            response: Block = {
                "name": result.call.content.name,
                "response": {"result": result.text},
            }
            if result.blocks:
                response["parts"] = list(result.blocks)
            parts.append({"function_response": response})
        self.say(messages, "user", parts)

    def request(self, model: str, system: str, messages: Messages) -> Block:
        request: Block = {"model": model, "contents": messages}
        return request | ({"system_instruction": {"parts": [self.text(system)]}} if system else {})

    def tool(self, schema: Block) -> Block:
        return {"function_declarations": [{**schema, "parameters": RECALL_INPUT}]}


PROVIDERS: Final[Mapping[str, ProviderForm]] = {
    "anthropic": ProviderForm(),
    "openai": _Chat(),
    "responses": _Responses(),
    "gemini": _Gemini(),
}


def provider_of(target: str) -> ProviderForm:
    """The provider of a name.

    Raises:
        InvalidInput: `unknown_vocabulary`.
    """
    if target not in PROVIDERS:
        raise unknown("render target", target, PROVIDERS)
    return PROVIDERS[target]


def native_messages(state: WindowState, target: str, tail: str = "") -> Messages:
    """The messages of the next request, for `anthropic`, `openai`, `responses` or `gemini`.

    `tail` is what belongs to this turn alone; it is last, and part of no later request.

    Raises:
        Conflict: `open_calls`, while a call waits for its result.
        InvalidInput: `unknown_vocabulary`, for another target.
    """
    provider = provider_of(target)
    messages: Messages = []
    # The ledger precedes the units, or a user's word where the model speaks first.
    opening = state.ledger.text
    if provider.speaks_second and state.units and state.units[0].role == "assistant":
        opening = opening or _GREETING
    if opening:
        provider.say(messages, "user", [provider.text(opening)])

    # How often each call id was sent: a further use needs a suffix.
    uses: Counter[str] = Counter()
    for unit in state.units:
        if unit.open_calls:
            raise Conflict(
                f"the call {unit.open_calls[0]} waits for its result; hand it to on_tool_result, "
                "or give the call up with abandon",
                code="open_calls",
                calls=list(unit.open_calls),
            )
        _write(messages, unit, target, uses)
    if tail:
        provider.say(messages, "user", [provider.text(tail)])
    return messages


def _write(messages: Messages, unit: WindowUnit, target: str, uses: Counter[str]) -> None:
    """Add a unit: its message, and behind it the results of its calls."""
    provider = PROVIDERS[target]
    parts: list[Block] = []
    results: list[SentResult] = []
    for item in unit.items:
        if item.kind is PartKind.CALL:
            call_id = sendable_id(item.content.call_id, uses)
            parts.append(provider.call(item, call_id))
            results.append(_result(target, unit, item, call_id))
        elif item.kind in (PartKind.MEDIA, PartKind.OPAQUE):
            # What another provider made is not sent, and what came with a result is sent with it.
            if item.content.name == target and not item.is_attached:
                parts.append(json.loads(item.text))
        elif item.kind is not PartKind.RESULT and item.text.strip() and not item.is_attached:
            parts.append(provider.text(item.text, unit.role))

    # Providers refuse thoughts that nothing follows, as of an answer that was cut.
    while parts and parts[-1].get("type") in _THOUGHTS:
        parts.pop()
    if not parts and unit.role == "user":
        parts.append(provider.text(_ELSEWHERE))
    if parts:
        provider.say(messages, unit.role, parts)
    if results:
        provider.answer(messages, results)


def attachment_block(text: str, target: str) -> Block | None:
    """A picture or a file, given as the JSON in which it came, as a provider takes it in a result.

    None where it takes none: OpenAI's chat takes words alone as the result of a call.
    """
    source = sendable_attachment(text)
    return PROVIDERS[target].media(source) if source else None


def _result(target: str, unit: WindowUnit, call: WindowItem, call_id: str) -> SentResult:
    """What is sent as the result of a call: providers refuse one without, or an empty one."""
    answers = [item for item in unit.results if item.content.call_id == call.content.call_id]
    if not answers:
        return SentResult(call, call_id, _NO_RESULT, is_error=True)

    answer = answers[0]
    lines = [answer.text] if answer.text.strip() else []
    blocks: list[Block] = []
    unsent: list[str] = []
    for item in unit.attached_to(answer):
        if item.kind is not PartKind.MEDIA:
            lines.append(item.text)
            continue
        block = attachment_block(item.text, target)
        if block is None:
            unsent.append(item.text)
        else:
            blocks.append(block)

    text = "\n".join(lines)
    if unsent:
        text = with_media_line(text, answer.seq, unsent)
    text = text if text or blocks else "[empty]"
    return SentResult(call, call_id, text, tuple(blocks), answer.content.is_error)


def recall_tool(target: str) -> Block:
    """The tool that reads originals, in a provider's form.

    Raises:
        InvalidInput: `unknown_vocabulary`.
    """
    return provider_of(target).tool({"name": RECALL_TOOL, "description": RECALL_TEXT})


def edit_fields(target: str, edit: str, threshold: int) -> Block:
    """The fields by which a provider is asked to edit a request above a number of tokens.

    Raises:
        InvalidInput: `unknown_vocabulary`, for an edit that it does not have.
    """
    provider = provider_of(target)
    if edit not in provider.provider_edits:
        raise unknown(f"edit of the provider for {target}", edit, provider.provider_edits)
    return provider.edit(*provider.provider_edits[edit], threshold)


def add_cache_marks(messages: Messages, tail: str, *, has_ledger: bool) -> None:
    """Mark the history of an Anthropic request for its cache: at most three marks.

    They are behind the ledger, which changes at an edit alone; at the last message of the turn
    before, which stays while the turn runs; and at the end, before what belongs to this turn. The
    provider reads a prefix from its cache up to a mark and no further.
    """
    blocks: list[dict[str, Any]] = []
    spoken = 0
    for message in messages:
        for block in message["content"]:
            is_last = tail and message is messages[-1] and block is message["content"][-1]
            if message["role"] == "user" and block["type"] == "text" and not is_last:
                spoken = len(blocks)
            blocks.append(block)

    for end in (len(blocks) - bool(tail), spoken):
        block = next((b for b in reversed(blocks[:end]) if b["type"] not in _THOUGHTS), None)
        if block is not None:
            block["cache_control"] = dict(_MARK)
    if has_ledger:
        blocks[0]["cache_control"] = dict(_MARK)
