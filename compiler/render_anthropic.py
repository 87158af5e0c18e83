"""Render for Anthropic's Messages API: tools, system, messages, with cache marks by zone.

The system field holds the static and the scope zone; the session zone opens the first user
message; history follows as native turns; the turn zone ends the last user message. At most
four `cache_control` marks, each behind a zone and only where the prefix reaches the model's
minimum by the lower bound. Tools are sent as tools, so the mark of a zone that ends with them
stands on the zone's last system block, which follows the tools in the provider's prefix, or on
the last tool. A system turn of the history becomes a system message where the model takes one
behind a user turn (C-088); elsewhere it stays a framed block of the user's.
Sources: settled 10 ("Order"); compiler page 1.1; C-087, C-088, C-198.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .cache_plan import Plan, Segment, capability_for, in_system, marks, ttl_place
from .capabilities import Capability, Provider
from .render_tools import marked_shown, tools_of

_TTLS = {300: "5m", 3600: "1h"}


def render_anthropic(
    plan: Plan, *, expected_reads: float = 1.0, ttl_s: int = 300, contract: str = "system"
) -> dict[str, Any]:
    """Return the request's `tools`, `system` and `messages`; `model` as it was asked for.

    `expected_reads` is how often a written prefix will be read, `ttl_s` a lifetime in seconds,
    `contract` where the tenant's rules stand (`system` or `payload`).

    Raises:
        InvalidInput: `bad_request`, for a lifetime that the model does not offer;
            `unknown_vocabulary` for a contract.
    """
    row = capability_for(plan, Provider.ANTHROPIC)
    place = ttl_place(row, ttl_s)
    tools = tools_of(segment.block for segment in plan.segments)
    found = marks(plan, expected_reads=expected_reads, ttl=place) if row.breakpoints else ()
    marked = marked_shown(plan, found, native_tools=tools is not None)
    system: list[dict[str, Any]] = []
    messages: list[dict[str, Any]] = []
    for number, segment in enumerate(plan.segments):
        if tools is not None and segment.block.section == "tools":
            continue
        role = _role(segment, messages, row)
        mark = _mark(ttl_s) if number in marked else {}
        part = {"type": "text", "text": segment.said_by(role), **mark}
        if in_system(segment, contract):
            system.append(part)
        else:
            _say(messages, role, part)
    request: dict[str, Any] = {"model": plan.model, "system": system, "messages": messages}
    if tools:
        request["tools"] = [
            {
                "name": tool.name,
                "description": tool.description,
                "input_schema": dict(tool.input_schema),
            }
            for tool in tools
        ]
        request["tools"][-1].update(_mark(ttl_s) if -1 in marked else {})
    return request


def _role(segment: Segment, messages: Sequence[dict[str, Any]], row: Capability) -> str:
    """Return who says a segment: a system message must follow a user's."""
    if segment.speaker != "system":
        return segment.speaker or "user"
    follows = bool(messages) and messages[-1]["role"] == "user"
    return "system" if row.mid_conversation_system and follows else "user"


def _mark(ttl_s: int) -> dict[str, Any]:
    lifetime = {} if ttl_s == 300 else {"ttl": _TTLS[ttl_s]}
    return {"cache_control": {"type": "ephemeral", **lifetime}}


def _say(messages: list[dict[str, Any]], role: str, part: dict[str, Any]) -> None:
    """Add a part to the last message when the same role speaks, else open one."""
    if not messages and role == "assistant":
        messages.append({"role": "user", "content": [{"type": "text", "text": "(earlier turns)"}]})
    if messages and messages[-1]["role"] == role:
        messages[-1]["content"].append(part)
    else:
        messages.append({"role": role, "content": [part]})


def marked_parts(request: dict[str, Any]) -> Sequence[dict[str, Any]]:
    """Return the parts of a request that carry a cache mark, in the order of the prefix."""
    said = (part for message in request["messages"] for part in message["content"])
    parts = [*request.get("tools", ()), *request["system"], *said]
    return [part for part in parts if "cache_control" in part]
