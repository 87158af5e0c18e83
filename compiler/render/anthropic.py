"""Render for Anthropic's Messages API: tools, system, messages, with cache marks by zone.

The system field holds the static and the scope zone; the session zone opens the first user
message; history follows as native turns; the turn zone ends the last user message. At most
four `cache_control` marks, each behind a zone and only where the prefix reaches the model's
minimum by the lower bound. Tools are sent as tools, so the mark of a zone that ends with them
stands on the zone's last system block, which follows the tools in the provider's prefix, or on
the last tool. A system turn of the history becomes a system message where the model takes one
behind a user turn (C-088); elsewhere it stays a framed block of the user's. Pictures are parts
of their own inside the frame of the text that names them, behind every cache mark.
Checklist C-087, C-088, C-198.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Sequence
from typing import Any

from ..tokens.capabilities import CacheProvider, Capability
from .answer_schema import closed
from .cache_plan import BlockSegment, RenderPlan, capability_for, in_system, marks, ttl_place
from .media import NativePart, Originals, native_parts
from .tools import marked_shown, tools_of

_TTLS = {300: "5m", 3600: "1h"}


def render_anthropic(
    plan: RenderPlan,
    *,
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
        # A tool's definition was sent above, and its mark, if it has one, stands at -1.
        if in_system(segment, contract):
            system.append({**_text(segment.said_by(role)), **mark})
        elif number in native:
            before, closing = segment.around_media()
            parts = [_text(before), *map(_image, native[number]), _text(closing)]
            _say(messages, role, parts)
        else:
            _say(messages, role, [{**_text(segment.said_by(role)), **mark}])

    request: dict[str, Any] = {"model": plan.model, "system": system, "messages": messages}
    request.update(_form(plan, row))
    if tools:
        declarations = [tool.declaration("input_schema") for tool in tools]
        if -1 in mark_positions:
            declarations[-1].update(_mark(ttl_s))
        request["tools"] = declarations

    return request


def _form(plan: RenderPlan, row: Capability) -> dict[str, Any]:
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
    lifetime = {} if ttl_s == 300 else {"ttl": _TTLS[ttl_s]}
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
