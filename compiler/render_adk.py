"""Render for Google's ADK: a dict of the shape of its `LlmRequest`.

ADK keeps a static instruction prefix apart from dynamic instructions; the static zone is the
first, the scope zone the second. Contents are the session zone, the turns of the history as
`user` and `model`, and the turn zone in the last user content. Gemini takes no system message
in mid-conversation, so a system turn stays a framed block of the user's. `service.adk` lays
these parts over a live request. Sources: compiler page 1.1, rule 8 (google-adk 2.13.0);
checklist C-198, C-221.
"""

from __future__ import annotations

from typing import Any

from ..schema.compile_terms import Stability
from .cache_plan import Plan, in_system
from .render_tools import tools_of


def render_adk(plan: Plan, *, contract: str = "system") -> dict[str, Any]:
    """Return `model`, `config`, `contents` and `_dynamic_instructions`.

    Raises:
        InvalidInput: `unknown_vocabulary`, for a contract that is not `system` or `payload`.
    """
    tools = tools_of(segment.block for segment in plan.segments)
    config: dict[str, Any] = {
        "system_instruction": plan.text_of(Stability.STATIC, tools=tools is None)
    }
    if tools:
        declared = [
            {
                "name": tool.name,
                "description": tool.description,
                "parameters_json_schema": dict(tool.input_schema),
            }
            for tool in tools
        ]
        config["tools"] = [{"function_declarations": declared}]
    rules = [segment for segment in plan.of(Stability.SCOPE) if in_system(segment, contract)]
    scope = "".join(segment.text for segment in rules)
    zones = (Stability.SESSION,) if scope else (Stability.SCOPE, Stability.SESSION)
    contents = [_content("user", plan.text_of(*zones))]
    for segment in plan.of(Stability.HISTORY):
        if segment.speaker == "assistant":
            contents.append(_content("model", segment.said_by("assistant")))
        else:
            contents.append(_content("user", segment.said_by("user")))
    contents.append(_content("user", plan.text_of(Stability.TURN)))
    return {
        "model": plan.model,
        "config": config,
        "contents": [content for content in contents if content["parts"][0]["text"]],
        "_dynamic_instructions": [scope] if scope else [],
    }


def _content(role: str, text: str) -> dict[str, Any]:
    return {"role": role, "parts": [{"text": text}]}
