"""Render for Anthropic's Messages API: tools, system, messages, with cache marks by zone.

The system field holds the static and the scope zone; the session zone opens the first user
message; history follows as native turns; the turn zone ends the last user message. At most
four `cache_control` marks, each behind a zone and only where the prefix reaches the model's
minimum by the lower bound. Sources: settled 10 ("Order"); compiler page 1.1; C-087, C-198.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..schema.compile_terms import Stability
from .cache_plan import Plan, Segment, marks
from .render_tools import tools_of

_TTLS = {300: "5m", 3600: "1h"}


def render_anthropic(
    plan: Plan, *, expected_reads: float = 1.0, ttl_s: int = 300
) -> dict[str, Any]:
    """Return the request's `tools`, `system` and `messages`; `model` as it was asked for."""
    lifetimes = plan.capability.ttls_s
    place = lifetimes.index(ttl_s) if ttl_s in lifetimes else 0
    marked = frozenset(marks(plan, expected_reads=expected_reads, ttl=place))
    tools = tools_of(segment.block for segment in plan.segments)
    system: list[dict[str, Any]] = []
    messages: list[dict[str, Any]] = []
    for number, segment in enumerate(plan.segments):
        if tools is not None and segment.block.section == "tools":
            continue
        part = _part(segment, number in marked, ttl_s)
        if segment.stability in (Stability.STATIC, Stability.SCOPE):
            system.append(part)
        else:
            _say(messages, segment.speaker or "user", part)
    found: dict[str, Any] = {"model": plan.model, "system": system, "messages": messages}
    if tools:
        found["tools"] = [
            {
                "name": tool.name,
                "description": tool.description,
                "input_schema": dict(tool.input_schema),
            }
            for tool in tools
        ]
    return found


def _part(segment: Segment, marked: bool, ttl_s: int) -> dict[str, Any]:
    text = segment.block.text if segment.speaker else segment.text
    part: dict[str, Any] = {"type": "text", "text": text}
    if marked:
        lifetime = {} if ttl_s == 300 else {"ttl": _TTLS[ttl_s]}
        part["cache_control"] = {"type": "ephemeral", **lifetime}
    return part


def _say(messages: list[dict[str, Any]], role: str, part: dict[str, Any]) -> None:
    """Add a part to the last message when the same role speaks, else open one."""
    if not messages and role == "assistant":
        messages.append({"role": "user", "content": [{"type": "text", "text": "(earlier turns)"}]})
    if messages and messages[-1]["role"] == role:
        messages[-1]["content"].append(part)
    else:
        messages.append({"role": role, "content": [part]})


def marked_parts(request: dict[str, Any]) -> Sequence[dict[str, Any]]:
    """Return the parts of a request that carry a cache mark, in order."""
    parts = [*request["system"], *(p for m in request["messages"] for p in m["content"])]
    return [part for part in parts if "cache_control" in part]
