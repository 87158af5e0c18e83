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
    turns = [
        (segment.speaker or "user", segment.block.text if segment.speaker else segment.text)
        for segment in plan.of(Stability.HISTORY)
    ]
    said = [
        ("system", plan.text_of(Stability.STATIC, Stability.SCOPE, tools=tools is None)),
        ("user", plan.text_of(Stability.SESSION)),
        *turns,
        ("user", plan.text_of(Stability.TURN)),
    ]
    found: dict[str, Any] = {
        "model": plan.model,
        "messages": [{"role": role, "content": text} for role, text in said if text],
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
