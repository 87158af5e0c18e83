"""Render an envelope for OpenAI, Anthropic and Google's ADK, with the stable prefix first.

OpenAI and Anthropic: the system text holds the static and the scope zone, the session zone opens
the first user message, history and its tool calls follow as native turns, and the turn zone ends
the last user message. Sent turns never change. ADK keeps the static instruction apart from the
scope zone.

Cache: OpenAI gets a keyed `prompt_cache_key`, so tenants never share one; models from GPT-5.6 get
explicit breakpoints behind the zones, and none where reads would not pay for a write. Anthropic
gets at most four `cache_control` marks, only where the prefix reaches the model's minimum by the
lower bound; behind tools the mark is on the zone's last system block, or on the last tool.

A system turn is a system message where the model accepts one there (C-088), else a framed block of
the user's. Media are parts inside the frame of the text that names them. Rows of TOOLS become the
provider's tool list; if one is not a named tool, the section stays text. Checked against OpenAI SDK
3.54.0 and google-adk 2.13.0. Checklist C-087 to C-089, C-198, C-221, C-305.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from ...schema.compile_terms import Stability
from ...schema.values import canonical_json, fields_of
from ..format.grammar import Block
from ..format.rows import read_rows
from ..media.plan import seconds
from ..tokens.capabilities import UNSENDABLE, CacheProvider, Capability
from ..tokens.modality import Modality
from .answer_schema import closed, is_strict, opened
from .cache_plan import BlockSegment, RenderPlan, capability_for, in_system, marks, ttl_place
from .media import NativePart, Originals, interleave, native_parts

_ANTHROPIC_TTLS = {300: "5m", 3600: "1h"}
Mark = Mapping[str, str] | None
_NativeParts = Mapping[int, tuple[NativePart, ...]]
_Groups = list[tuple[str, list[tuple[int, BlockSegment]]]]


class ToolSpec(NamedTuple):
    """A tool as providers take it."""

    name: str
    description: str
    input_schema: Mapping[str, Any]

    def declaration(self, schema_field: str) -> dict[str, Any]:
        """The tool with its schema under the name that a provider's request has for it."""
        return {
            "name": self.name,
            "description": self.description,
            schema_field: dict(self.input_schema),
        }


def tools_of(plan: RenderPlan) -> tuple[ToolSpec, ...] | None:
    """The tools of the TOOLS blocks; None when one of them is not a plain tool."""
    tools: list[ToolSpec] = []
    for segment in plan.segments:
        if segment.block.section != "tools":
            continue

        for text in _texts(segment.block):
            spec = _spec(text)
            # One row that is no tool would be lost in a list of tools, so all stay text then.
            if spec is None:
                return None
            tools.append(spec)

    return tuple(tools)


def marked_shown(plan: RenderPlan, ends: Iterable[int], *, native_tools: bool) -> frozenset[int]:
    """The marked places that have a text of their own in the request.

    Tools that are sent as tools have none: their mark moves to the text before them in their
    zone, which providers put behind the tools; without one it is -1, the list of tools itself.
    """
    positions: set[int] = set()
    for place in ends:
        while native_tools and place >= 0 and plan.segments[place].block.section == "tools":
            place -= 1
        positions.add(place)

    return frozenset(positions)


def _texts(block: Block) -> tuple[str, ...]:
    if block.authority >= 4:
        return (block.text,)
    return tuple(text for _, text in read_rows(block.text))


def _spec(text: str) -> ToolSpec | None:
    try:
        tool = json.loads(text)
    except ValueError:
        return None

    fields = fields_of(tool)
    name = fields.get("name")
    if not isinstance(name, str) or not name:
        return None

    schema = fields.get("input_schema") or {"type": "object"}
    return ToolSpec(name, str(fields.get("description") or ""), schema)


def render_adk(
    plan: RenderPlan,
    *,
    max_tokens: int | None = None,
    contract: str = "system",
    media: Originals | None = None,
) -> dict[str, Any]:
    """Return `model`, `config`, `contents` and `_dynamic_instructions`, as ADK's `LlmRequest`.

    Gemini takes no system message inside a conversation. `service.adk` lays the parts over a live
    request; of a film Gemini itself takes stretches and frames.
    `media` is what is sent of pictures, recordings and films; without it none is. Bytes stay
    bytes, as Google's types take them.

    Raises:
        InvalidInput: `unknown_vocabulary`, for a contract that is not `system` or `payload`;
            `bad_media` for what cannot be sent as planned.
    """
    tools = tools_of(plan)
    config: dict[str, Any] = {
        "system_instruction": plan.text_of(Stability.STATIC, tools=tools is None)
    }
    if tools:
        declarations = [tool.declaration("parameters_json_schema") for tool in tools]
        config["tools"] = [{"function_declarations": declarations}]
    elif (
        plan.answer_schema is not None and capability_for(plan, CacheProvider.GEMINI).answer_schemas
    ):
        # Gemini refuses a request with both functions and a schema for the answer.
        config["response_mime_type"] = "application/json"
        config["response_json_schema"] = opened(plan.answer_schema)

    if max_tokens is not None:
        config["max_output_tokens"] = max_tokens
    scope = ""
    for segment in plan.zone_segments(Stability.SCOPE):
        if in_system(segment, contract):
            scope += segment.text

    # Rules that are not the system's are at the head of the first message instead.
    zones = (Stability.SESSION,) if scope else (Stability.SCOPE, Stability.SESSION)
    contents = [_adk_content("user", plan.text_of(*zones))]

    for segment in plan.zone_segments(Stability.HISTORY):
        content, last = _adk_turn(segment), contents[-1]
        # A call joins the words before it, and the results of one step share a content.
        answers = bool(segment.call_id) and "function_response" in last["parts"][-1]
        if answers or (segment.is_call and last["role"] == "model"):
            last["parts"] += content["parts"]
        else:
            contents.append(content)

    contents.append({"role": "user", "parts": turn_parts(plan, media)})
    return {
        "model": plan.model,
        "config": config,
        "contents": [content for content in contents if content["parts"] != [{"text": ""}]],
        "_dynamic_instructions": [scope] if scope else [],
    }


def _adk_turn(segment: BlockSegment) -> dict[str, Any]:
    """A turn of the history; a call and its result as Gemini writes them."""
    if segment.is_call:
        call = {"id": segment.call_id, "name": _tool_name(segment.tool)}
        part = {"function_call": {**call, "args": dict(segment.call_input)}}
        return {"role": "model", "parts": [part]}
    if segment.call_id:
        answer = {"id": segment.call_id, "name": _tool_name(segment.tool)}
        part = {"function_response": {**answer, "response": {"result": segment.text}}}
        return {"role": "user", "parts": [part]}
    if segment.speaker == "assistant":
        return _adk_content("model", segment.said_by("assistant"))
    return _adk_content("user", segment.said_by("user"))


def _tool_name(text: str) -> str:
    """The name of a tool in the letters that every provider takes."""
    return UNSENDABLE.sub("_", text)[:64] or "tool"


def _adk_content(role: str, text: str) -> dict[str, Any]:
    return {"role": role, "parts": [{"text": text}]}


def turn_parts(plan: RenderPlan, media: Originals | None = None) -> list[dict[str, Any]]:
    """The parts of the turn: its text, and what is sent of its media in between.

    Raises:
        InvalidInput: `bad_media`.
    """
    native = native_parts(plan, "adk", media)
    turn: list[tuple[int, BlockSegment, str]] = []
    for number, segment in enumerate(plan.segments):
        if segment.stability is Stability.TURN:
            turn.append((number, segment, segment.text))

    parts: list[dict[str, Any]] = []
    for part in interleave(turn, native):
        parts.append({"text": part} if isinstance(part, str) else _adk_native(part))
    return parts


def _adk_native(part: NativePart) -> dict[str, Any]:
    media_type = {"mime_type": part.word}
    if part.media.url:
        payload: dict[str, Any] = {"file_data": {"file_uri": part.media.url, **media_type}}
    else:
        payload = {"inline_data": {"data": part.media.data, **media_type}}

    selection: dict[str, Any] = {}
    if part.clip is not None:
        selection["start_offset"] = f"{seconds(part.clip.start)}s"
        selection["end_offset"] = f"{seconds(part.clip.end)}s"

    if part.fps:
        selection["fps"] = part.fps

    return {**payload, **({"video_metadata": selection} if selection else {})}


def render_anthropic(
    plan: RenderPlan,
    *,
    max_tokens: int | None = None,
    expected_reads: float = 1.0,
    ttl_s: int = 300,
    contract: str = "system",
    media: Originals | None = None,
) -> dict[str, Any]:
    """The request's `tools`, `system` and `messages`; `model` as it was asked for.

    `output_config` holds the answer to the schema of a hard constraint, where there is one.

    `expected_reads` is how often a written prefix will be read, `ttl_s` a lifetime in seconds,
    `contract` where the tenant's rules stand (`system` or `payload`), `media` what is sent of
    the pictures; without it none is.

    Raises:
        InvalidInput: `bad_request`, for a lifetime that the model does not offer;
            `unknown_vocabulary` for a contract; `bad_media` for what cannot be sent as planned.
    """
    native = native_parts(plan, "anthropic", media)
    row = capability_for(plan, CacheProvider.ANTHROPIC)
    place = ttl_place(row, ttl_s)
    tools = tools_of(plan)
    ends = marks(plan, expected_reads=expected_reads, ttl=place) if row.breakpoints else ()
    mark_positions = marked_shown(plan, ends, native_tools=tools is not None)
    system: list[dict[str, Any]] = []
    messages: list[dict[str, Any]] = []

    for number, segment in enumerate(plan.segments):
        if tools is not None and segment.block.section == "tools":
            continue
        role = _role(segment, messages, row)
        mark = _mark(ttl_s) if number in mark_positions else {}
        # A tool's definition was sent above, and its mark, if it has one, is at -1.
        if in_system(segment, contract):
            system.append({**_text(segment.said_by(role)), **mark})
        elif number in native:
            before, closing = segment.around_media()
            parts = [_text(before), *map(_image, native[number]), _text(closing)]
            _say(messages, role, parts)
        else:
            _say(messages, role, [{**_anthropic_part(segment, role), **mark}])

    request: dict[str, Any] = {"model": plan.model, "system": system, "messages": messages}
    request.update(_anthropic_form(plan, row))
    if max_tokens is not None:
        request["max_tokens"] = max_tokens
    called = sorted({_tool_name(segment.tool) for segment in plan.segments if segment.is_call})
    if called and not tools:
        # Calls in the history need a list of tools; none of these may be called again.
        bare = [{"name": name, "input_schema": {"type": "object"}} for name in called]
        request.update(tools=bare, tool_choice={"type": "none"})
    if tools:
        declarations = [tool.declaration("input_schema") for tool in tools]
        if -1 in mark_positions:
            declarations[-1].update(_mark(ttl_s))
        request["tools"] = declarations

    return request


def _anthropic_part(segment: BlockSegment, role: str) -> dict[str, Any]:
    """A block as a text, or as the call or the result that it is."""
    call_id = segment.call_id
    if segment.is_call:
        call = {"id": call_id, "name": _tool_name(segment.tool), "input": dict(segment.call_input)}
        return {"type": "tool_use", **call}
    if segment.call_id:
        return {"type": "tool_result", "tool_use_id": call_id, "content": segment.text}
    return _text(segment.said_by(role))


def _anthropic_form(plan: RenderPlan, row: Capability) -> dict[str, Any]:
    """Return what holds the answer to a schema, empty where nothing can."""
    if plan.answer_schema is None or not row.answer_schemas:
        return {}
    schema = closed(plan.answer_schema)
    if schema is None:
        return {}
    return {"output_config": {"format": {"type": "json_schema", "schema": schema}}}


def _role(segment: BlockSegment, messages: Sequence[dict[str, Any]], row: Capability) -> str:
    """Return who says a segment: a system message must follow a user's."""
    if segment.speaker != "system":
        return segment.speaker or "user"

    # Only what the model takes there; else the frame says that the system speaks.
    follows = bool(messages) and messages[-1]["role"] == "user"
    return "system" if row.mid_conversation_system and follows else "user"


def _mark(ttl_s: int) -> dict[str, Any]:
    lifetime = {} if ttl_s == 300 else {"ttl": _ANTHROPIC_TTLS[ttl_s]}
    return {"cache_control": {"type": "ephemeral", **lifetime}}


def _text(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def _image(part: NativePart) -> dict[str, Any]:
    if part.media.url:
        return {"type": "image", "source": {"type": "url", "url": part.media.url}}
    data = base64.b64encode(part.media.data).decode("ascii")
    source = {"type": "base64", "media_type": part.word, "data": data}
    return {"type": "image", "source": source}


def _say(messages: list[dict[str, Any]], role: str, parts: Iterable[dict[str, Any]]) -> None:
    """Add parts to the last message when the same role speaks, else open one."""
    # The API refuses a first message of the assistant's, and two messages of one role in a row.
    if not messages and role == "assistant":
        messages.append({"role": "user", "content": [_text("(earlier turns)")]})
    if messages and messages[-1]["role"] == role:
        messages[-1]["content"].extend(parts)
    else:
        messages.append({"role": role, "content": list(parts)})


_TTLS = {1_800: "30m", 43_200: "12h"}


def render_openai(
    plan: RenderPlan,
    *,
    max_tokens: int | None = None,
    expected_reads: float = 1.0,
    ttl_s: int = 1_800,
    contract: str = "system",
    media: Originals | None = None,
) -> dict[str, Any]:
    """Return `model`, `messages`, `tools`, `prompt_cache_key` and what the model's cache takes.

    `response_format` holds the answer to the schema of a hard constraint, where there is one.

    `expected_reads` is how often a written prefix will be read, `ttl_s` a lifetime in seconds,
    `contract` where the tenant's rules stand (`system` or `payload`), `media` what is sent of
    pictures and recordings; without it none is.

    Raises:
        InvalidInput: `bad_request`, for a lifetime that the model does not offer;
            `unknown_vocabulary` for a contract; `bad_media` for what cannot be sent as planned.
    """
    native = native_parts(plan, "openai", media)
    tools = tools_of(plan)
    row = capability_for(plan, CacheProvider.OPENAI)
    place = ttl_place(row, ttl_s)
    ends = marks(plan, expected_reads=expected_reads, ttl=place) if row.breakpoints else ()
    mark_positions = marked_shown(plan, ends, native_tools=tools is not None)
    ttl = {} if place == 0 else {"ttl": _TTLS[ttl_s]}
    mark = {"mode": "explicit", **ttl} if row.breakpoints else None
    messages: list[dict[str, Any]] = []
    for role, segments in _messages(plan, contract, native_tools=tools is not None):
        (_, first), *_ = segments
        if first.is_call:
            # The calls of a step share a message with the words before them.
            if not messages or messages[-1]["role"] != role:
                messages.append({"role": role, "content": None})
            messages[-1].setdefault("tool_calls", []).append(_openai_call(first))
            continue

        # Plain text stays a text: parts are for what needs them, a mark or a picture.
        content: str | list[dict[str, Any]]
        if native.keys().isdisjoint(number for number, _ in segments):
            content = _content(role, segments, mark_positions, mark)
        else:
            content = _with_media(role, segments, native)
        message = {"role": role, "content": content}
        if first.call_id:
            message = {"role": "tool", "tool_call_id": first.call_id, "content": content}
        messages.append(message)

    request: dict[str, Any] = {
        "model": plan.model,
        "messages": messages,
        "prompt_cache_key": plan.cache_key,
    }
    if row.breakpoints:
        request["prompt_cache_options"] = {"mode": "explicit", "ttl": "30m"}

    request.update(_form(plan, row))
    if max_tokens is not None:
        request["max_completion_tokens"] = max_tokens
    if tools:
        declarations: list[dict[str, Any]] = []
        for tool in tools:
            function = tool.declaration("parameters")
            declarations.append({"type": "function", "function": function})
        request["tools"] = declarations

    return request


def _openai_call(segment: BlockSegment) -> dict[str, Any]:
    arguments = canonical_json(segment.call_input)
    function = {"name": _tool_name(segment.tool), "arguments": arguments}
    return {"id": segment.call_id, "type": "function", "function": function}


def _form(plan: RenderPlan, row: Capability) -> dict[str, Any]:
    """Return what holds the answer to a schema, empty where nothing can."""
    schema = plan.answer_schema
    if schema is None or not row.answer_schemas:
        return {}

    answer = {"name": "answer", "schema": dict(schema), "strict": is_strict(schema)}
    return {"response_format": {"type": "json_schema", "json_schema": answer}}


def _messages(plan: RenderPlan, contract: str, *, native_tools: bool) -> _Groups:
    """The messages as (role, segments): the zones as one each, the turns by themselves."""
    groups: _Groups = []
    zone = ""
    for number, segment in enumerate(plan.segments):
        if native_tools and segment.block.section == "tools":
            continue
        # Turns stay apart even when one person spoke twice: so the next request repeats them.
        segment_zone, role = _message_of(segment, contract)
        if segment_zone == zone and segment.stability is not Stability.HISTORY:
            groups[-1][1].append((number, segment))
        else:
            groups.append((role, [(number, segment)]))

        zone = segment_zone

    return groups


def _message_of(segment: BlockSegment, contract: str) -> tuple[str, str]:
    """The zone that shares a message, and its role."""
    if in_system(segment, contract):
        return "system", "system"
    if segment.stability is Stability.SCOPE:
        return Stability.SESSION.value, "user"
    return segment.stability.value, segment.speaker or "user"


def _content(
    role: str,
    segments: Sequence[tuple[int, BlockSegment]],
    mark_positions: frozenset[int],
    mark: Mark,
) -> str | list[dict[str, Any]]:
    """The text of a message; as parts, cut behind each mark, where marks are taken."""
    if mark is None:
        return "".join(segment.said_by(role) for _, segment in segments)

    parts: list[dict[str, Any]] = []
    fresh = True
    for number, segment in segments:
        if fresh:
            parts.append({"type": "text", "text": ""})
        parts[-1]["text"] += segment.said_by(role)
        fresh = number in mark_positions
        if fresh:
            parts[-1]["prompt_cache_breakpoint"] = dict(mark)

    return parts


def _with_media(
    role: str, segments: Sequence[tuple[int, BlockSegment]], native: _NativeParts
) -> list[dict[str, Any]]:
    """The parts of the turn's message, which no mark ever follows."""
    words = ((number, segment, segment.said_by(role)) for number, segment in segments)
    parts: list[dict[str, Any]] = []
    for part in interleave(words, native):
        if isinstance(part, str):
            parts.append({"type": "text", "text": part})
        else:
            parts.append(_native(part))
    return parts


def _native(part: NativePart) -> dict[str, Any]:
    data = base64.b64encode(part.media.data).decode("ascii")
    if part.modality is Modality.AUDIO:
        return {"type": "input_audio", "input_audio": {"data": data, "format": part.word}}

    # `high` whatever it is: the plan counted the picture at this size.
    url = part.media.url or f"data:{part.word};base64,{data}"
    return {"type": "image_url", "image_url": {"url": url, "detail": "high"}}
