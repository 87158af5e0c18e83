"""Standing units as a provider's native messages.

Calls and results go out as calls and results, never as prose about them. Results stand directly
behind their calls and first in their message, ids are unique inside one request (a second use of
an id gets `_2`) and of a form that every provider takes, and no text is empty. A line about what
left stands as a user's text and says so.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from ..schema.errors import Conflict, unknown
from .attachments import attachment_block
from .scratchpad import with_media_line
from .state import WindowState
from .units import PartKind, WindowItem, WindowUnit

_UNSENDABLE: Final = re.compile("[^A-Za-z0-9_-]")
"""Characters of an id that Anthropic refuses; other providers' models do make them."""
_ID_LENGTH: Final = 40
"""The longest id that OpenAI's chat takes."""
_SUFFIX_LENGTH: Final = 6
_THOUGHTS: Final = frozenset({"thinking", "redacted_thinking", "reasoning"})
_ELSEWHERE: Final = "[a picture or file that another provider was given]"
_NO_RESULT: Final = "[no result: the call was given up]"

Messages = list[dict[str, Any]]


class PairedResult(NamedTuple):
    """A result as a provider is sent it."""

    text: str
    """Empty only where pictures or files say all."""
    blocks: tuple[dict[str, Any], ...] = ()


@dataclass(frozen=True, slots=True)
class PairedCall:
    """A call with the id that it has in this request, and what answered it."""

    call: WindowItem
    call_id: str
    answer: WindowItem | None
    attachments: tuple[WindowItem, ...] = ()
    """The pictures and files of the result."""

    def result(self, target: str) -> PairedResult:
        """What stands as its result; providers refuse a call without one, or an empty one."""
        if self.answer is None:
            return PairedResult(_NO_RESULT)

        lines = [self.answer.text] if self.answer.text.strip() else []
        blocks: list[dict[str, Any]] = []
        unsent: list[str] = []
        for item in self.attachments:
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
            text = with_media_line(text, self.answer.seq, unsent)
        return PairedResult(text if text or blocks else "[empty]", tuple(blocks))


def native_messages(state: WindowState, target: str, tail: str = "") -> Messages:
    """The messages of the next request, for `anthropic`, `openai`, `responses` or `gemini`.

    `tail` is what belongs to this turn alone; it stands last and is part of no later request.

    Raises:
        Conflict: `open_calls`, while a call waits for its result.
        InvalidInput: `unknown_vocabulary`, for another target.
    """
    require_target(target)
    messages: Messages = []
    add_units(messages, state.units, target, Counter())
    add_tail(messages, tail, target)
    return messages


def require_target(target: str) -> None:
    """Refuse a provider that no writer knows.

    Raises:
        InvalidInput: `unknown_vocabulary`.
    """
    if target not in _WRITERS:
        raise unknown("render target", target, _WRITERS)


def add_units(
    messages: Messages, units: Sequence[WindowUnit], target: str, uses: Counter[str]
) -> None:
    """Write units behind messages; the last of these is gone on with where the same role speaks.

    `uses` counts how often the units before have sent each call id, and goes on counting.

    Raises:
        Conflict: `open_calls`; nothing was written.
    """
    for unit in units:
        if unit.open_calls:
            raise _open_call(unit.open_calls)

    write = _WRITERS[target]
    for unit in units:
        # Most units of a long window call nothing.
        write(messages, unit, _pairs(unit, uses) if unit.calls else ())


def add_tail(messages: Messages, tail: str, target: str) -> None:
    """Write what belongs to this turn alone behind messages."""
    if tail:
        _TAILS[target](messages, tail)


def _open_call(call_ids: Sequence[str]) -> Conflict:
    return Conflict(
        f"the call {call_ids[0]} waits for its result; hand it to on_tool_result, or give the call "
        "up with abandon",
        code="open_calls",
        calls=list(call_ids),
    )


def _pairs(unit: WindowUnit, uses: Counter[str]) -> list[PairedCall]:
    """The calls of a unit with their answers, under ids that every provider takes."""
    answers: dict[str, WindowItem] = {}
    for item in unit.results:
        answers.setdefault(item.content.call_id, item)

    pairs: list[PairedCall] = []
    for call in unit.calls:
        call_id = call.content.call_id
        answer = answers.get(call_id)
        attachments = unit.attached_to(answer) if answer else ()
        pairs.append(PairedCall(call, _sendable_id(call_id, uses), answer, attachments))
    return pairs


def _sendable_id(call_id: str, uses: Counter[str]) -> str:
    """An id that is unique in the request; `uses` counts how often it sent each, and goes on."""
    name = _UNSENDABLE.sub("_", call_id)[:_ID_LENGTH]
    candidate = name
    # What a suffix makes may be another call's own id.
    while uses[candidate]:
        uses[name] += 1
        candidate = f"{name[: _ID_LENGTH - _SUFFIX_LENGTH]}_{uses[name]}"
    uses[candidate] += 1
    return candidate


def _anthropic(messages: Messages, unit: WindowUnit, pairs: Sequence[PairedCall]) -> None:
    # Nearly all units of a long window are words alone, and each request writes them all.
    if unit.words is not None:
        _say(messages, unit.role, [_text_block(text) for text in unit.words])
        return

    blocks: list[dict[str, Any]] = []
    ids = _ids_by_part(pairs)
    for item in unit.items:
        if item.kind is PartKind.CALL:
            block = {
                "type": "tool_use",
                "id": ids[item.part],
                "name": item.content.name,
                "input": json.loads(item.text),
            }
            blocks.append(block)
        elif item.kind is not PartKind.RESULT:
            blocks += _own_part(item, "anthropic", _text_block)
    _drop_bare_thoughts(blocks)
    _say(messages, unit.role, _message_parts(unit, blocks, _text_block))

    results: list[dict[str, Any]] = []
    for pair in pairs:
        result: dict[str, Any] = {
            "type": "tool_result",
            "tool_use_id": pair.call_id,
            "content": _result_content(pair.result("anthropic"), _text_block),
        }
        if pair.answer is None or pair.answer.content.is_error:
            result["is_error"] = True
        results.append(result)
    _say(messages, "user", results)


def _drop_bare_thoughts(blocks: list[dict[str, Any]]) -> None:
    """Leave out thoughts that nothing follows: an answer that was cut while the model thought.

    Providers refuse them, and sign them for what follows.
    """
    while blocks and blocks[-1].get("type") in _THOUGHTS:
        blocks.pop()


def _say(messages: Messages, role: str, blocks: list[dict[str, Any]]) -> None:
    """Add blocks to the last message when the same role speaks, else open one."""
    if not blocks:
        return
    if messages and messages[-1]["role"] == role:
        messages[-1]["content"].extend(blocks)
    else:
        messages.append({"role": role, "content": blocks})


def _openai(messages: Messages, unit: WindowUnit, pairs: Sequence[PairedCall]) -> None:
    parts: list[dict[str, Any]] = []
    for item in unit.items:
        if item.kind not in (PartKind.CALL, PartKind.RESULT):
            parts += _own_part(item, "openai", _text_block)

    parts = _message_parts(unit, parts, _text_block)
    texts: list[str] = []
    for part in parts:
        if part["type"] == "text":
            texts.append(part["text"])
    content: Any = "\n".join(texts) if len(texts) == len(parts) else parts
    message: dict[str, Any] = {"role": unit.role, "content": content or None}
    if pairs:
        message["tool_calls"] = [_chat_call(pair) for pair in pairs]
    if content or pairs:
        messages.append(message)

    for pair in pairs:
        text = pair.result("openai").text
        messages.append({"role": "tool", "tool_call_id": pair.call_id, "content": text})


def _ids_by_part(pairs: Sequence[PairedCall]) -> dict[int, str]:
    return {pair.call.part: pair.call_id for pair in pairs}


def _chat_call(pair: PairedCall) -> dict[str, Any]:
    function = {"name": pair.call.content.name, "arguments": pair.call.text}
    return {"id": pair.call_id, "type": "function", "function": function}


def _responses(items: Messages, unit: WindowUnit, pairs: Sequence[PairedCall]) -> None:
    """Items of the Responses API: a flat list, in the order in which the model made them."""
    if unit.role == "user":
        content: list[dict[str, Any]] = []
        for item in unit.items:
            content += _own_part(item, "responses", _input_text)
        items.append({"role": "user", "content": _message_parts(unit, content, _input_text)})
        return

    outputs: Messages = []
    ids = _ids_by_part(pairs)
    for item in unit.items:
        if item.kind is PartKind.CALL:
            call = {"type": "function_call", "call_id": ids[item.part]}
            outputs.append({**call, "name": item.content.name, "arguments": item.text})
        elif item.kind is not PartKind.RESULT:
            outputs += _own_part(item, "responses", _model_text)
    _drop_bare_thoughts(outputs)
    items += outputs

    for pair in pairs:
        output = _result_content(pair.result("responses"), _input_text)
        items.append({"type": "function_call_output", "call_id": pair.call_id, "output": output})


def _gemini(messages: Messages, unit: WindowUnit, pairs: Sequence[PairedCall]) -> None:
    parts: list[dict[str, Any]] = []
    for item in unit.items:
        if item.kind is PartKind.CALL:
            call = {"name": item.content.name, "args": json.loads(item.text)}
            parts.append({"function_call": call})
        elif item.kind is not PartKind.RESULT:
            parts += _own_part(item, "gemini", _bare_text)

    role = "model" if unit.role == "assistant" else "user"
    parts = _message_parts(unit, parts, _bare_text)
    if parts:
        # A model content with calls must follow a user or a response content, so texts of the
        # model in a row become one content; responses stay a content of their own.
        if messages and messages[-1]["role"] == role == "model":
            messages[-1]["parts"].extend(parts)
        else:
            messages.append({"role": role, "parts": parts})

    if pairs:
        responses: list[dict[str, Any]] = []
        for pair in pairs:
            result = pair.result("gemini")
            response: dict[str, Any] = {
                "name": pair.call.content.name,
                "response": {"result": result.text},
            }
            if result.blocks:
                response["parts"] = list(result.blocks)
            responses.append({"function_response": response})
        messages.append({"role": "user", "parts": responses})


def _result_content(
    result: PairedResult, text_part: Callable[[str], dict[str, Any]]
) -> str | list[dict[str, Any]]:
    """A result as a text, or as a list of blocks where pictures or files came with it."""
    if not result.blocks:
        return result.text
    return [*([text_part(result.text)] if result.text else []), *result.blocks]


def _own_part(
    item: WindowItem, target: str, text_part: Callable[[str], dict[str, Any]]
) -> list[dict[str, Any]]:
    """A text, or a part of the provider's own; what another provider made stays at home."""
    if item.is_attached:
        return []
    if item.kind in (PartKind.MEDIA, PartKind.OPAQUE):
        return [json.loads(item.text)] if item.content.name == target else []
    return [text_part(item.text)] if item.text.strip() else []


def _message_parts(
    unit: WindowUnit, parts: list[dict[str, Any]], text_part: Callable[[str], dict[str, Any]]
) -> list[dict[str, Any]]:
    """The parts of a message; one of a user is never left out, also where nothing of it is sent."""
    return parts if parts or unit.role != "user" else [text_part(_ELSEWHERE)]


def _text_block(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def _bare_text(text: str) -> dict[str, Any]:
    return {"text": text}


def _input_text(text: str) -> dict[str, Any]:
    return {"type": "input_text", "text": text}


def _model_text(text: str) -> dict[str, Any]:
    return {"role": "assistant", "content": text}


def _anthropic_tail(messages: Messages, tail: str) -> None:
    _say(messages, "user", [_text_block(tail)])


def _openai_tail(messages: Messages, tail: str) -> None:
    messages.append({"role": "user", "content": tail})


def _gemini_tail(messages: Messages, tail: str) -> None:
    messages.append({"role": "user", "parts": [_bare_text(tail)]})


def _responses_tail(items: Messages, tail: str) -> None:
    items.append({"role": "user", "content": [_input_text(tail)]})


_WRITERS: Final = {
    "anthropic": _anthropic,
    "openai": _openai,
    "responses": _responses,
    "gemini": _gemini,
}
_TAILS: Final = {
    "anthropic": _anthropic_tail,
    "openai": _openai_tail,
    "responses": _responses_tail,
    "gemini": _gemini_tail,
}
