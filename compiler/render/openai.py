"""Render for OpenAI's chat requests: stable prefix first, one cache key a tenant and prefix.

A system message holds the static and the scope zone, the session zone is the first user
message, history follows as native turns, the turn zone is the last user message. A turn that
was sent is never edited, so the messages of one request are the beginning of the next one's.
The `prompt_cache_key` is keyed, so tenants never share one.

Models that take explicit breakpoints (from GPT-5.6) get them behind the zones, in `explicit`
mode: then no implicit one is written, and where reads would not pay for a write, none at all.
Pictures and sound are parts of their own inside the frame of the text that names them; only the
message of the turn has such parts.
Held against the types of SDK 3.54.0. Checklist C-089.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from typing import Any

from ...schema.compile_terms import Stability
from ..tokens.capabilities import CacheProvider, Capability
from ..tokens.modality import Modality
from .answer_schema import is_strict
from .cache_plan import BlockSegment, RenderPlan, capability_for, in_system, marks, ttl_place
from .media import NativePart, Originals, interleave, native_parts
from .tools import marked_shown, tools_of

_TTLS = {1_800: "30m", 43_200: "12h"}
Mark = Mapping[str, str] | None
_NativeParts = Mapping[int, tuple[NativePart, ...]]
_Groups = list[tuple[str, list[tuple[int, BlockSegment]]]]


def render_openai(
    plan: RenderPlan,
    *,
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
        # Plain text stays a text: parts are for what needs them, a mark or a picture.
        content: str | list[dict[str, Any]]
        if native.keys().isdisjoint(number for number, _ in segments):
            content = _content(role, segments, mark_positions, mark)
        else:
            content = _with_media(role, segments, native)
        messages.append({"role": role, "content": content})

    request: dict[str, Any] = {
        "model": plan.model,
        "messages": messages,
        "prompt_cache_key": plan.cache_key,
    }
    if row.breakpoints:
        request["prompt_cache_options"] = {"mode": "explicit", "ttl": "30m"}

    request.update(_form(plan, row))
    if tools:
        declarations: list[dict[str, Any]] = []
        for tool in tools:
            function = tool.declaration("parameters")
            declarations.append({"type": "function", "function": function})
        request["tools"] = declarations

    return request


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
