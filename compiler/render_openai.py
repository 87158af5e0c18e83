"""Render for OpenAI's chat requests: stable prefix first, one cache key a tenant and prefix.

A system message holds the static and the scope zone, the session zone is the first user
message, history follows as native turns, the turn zone is the last user message. The
`prompt_cache_key` is keyed, so tenants never share one. Sources: C-089; R35; compiler page 1.1.
"""

from __future__ import annotations

from typing import Any

from ..schema.compile_terms import Stability
from .cache_plan import Plan
from .render_tools import tools_of


def render_openai(plan: Plan) -> dict[str, Any]:
    """Return `model`, `messages`, `tools` and `prompt_cache_key`."""
    tools = tools_of(segment.block for segment in plan.segments)
    bare = tools is not None
    messages: list[dict[str, str]] = []
    system = plan.text_of(Stability.STATIC, Stability.SCOPE, tools=not bare)
    if system:
        messages.append({"role": "system", "content": system})
    session = plan.text_of(Stability.SESSION)
    if session:
        messages.append({"role": "user", "content": session})
    for segment in plan.of(Stability.HISTORY):
        role = segment.speaker
        content = segment.block.text if role else segment.text
        messages.append({"role": role or "user", "content": content})
    turn = plan.text_of(Stability.TURN)
    if turn:
        messages.append({"role": "user", "content": turn})
    found: dict[str, Any] = {
        "model": plan.model,
        "messages": messages,
        "prompt_cache_key": plan.cache_key,
    }
    if tools:
        found["tools"] = [
            {
                "type": "function",
                "function": {
                    "name": tool.name,
                    "description": tool.description,
                    "parameters": dict(tool.input_schema),
                },
            }
            for tool in tools
        ]
    return found
