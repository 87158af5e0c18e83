"""Render for Google's ADK: a dict of the shape of its `LlmRequest`.

ADK keeps a static instruction prefix apart from dynamic instructions; the static zone is the
first, the scope zone the second. Contents are the session zone, the turns of the history as
`user` and `model`, and the turn zone in the last user content. Gemini takes no system message
in mid-conversation, so a system turn stays a framed block of the user's. Pictures, sound and
films are parts of their own inside the frame of the text that names them; of a film Gemini itself
takes stretches and frames. `service.adk` lays these parts over a live request.
Held against google-adk 2.13.0; checklist C-198, C-221.
"""

from __future__ import annotations

from typing import Any

from ...schema.compile_terms import Stability
from ..media.entry import seconds
from ..tokens.capabilities import CacheProvider
from .answer_schema import opened
from .cache_plan import BlockSegment, RenderPlan, capability_for, in_system
from .media import NativePart, Originals, interleave, native_parts
from .tools import tools_of


def render_adk(
    plan: RenderPlan, *, contract: str = "system", media: Originals | None = None
) -> dict[str, Any]:
    """Return `model`, `config`, `contents` and `_dynamic_instructions`.

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

    scope = ""
    for segment in plan.zone_segments(Stability.SCOPE):
        if in_system(segment, contract):
            scope += segment.text

    # Rules that are not the system's stand at the head of the first message instead.
    zones = (Stability.SESSION,) if scope else (Stability.SCOPE, Stability.SESSION)
    contents = [_content("user", plan.text_of(*zones))]

    for segment in plan.zone_segments(Stability.HISTORY):
        if segment.speaker == "assistant":
            contents.append(_content("model", segment.said_by("assistant")))
        else:
            contents.append(_content("user", segment.said_by("user")))

    contents.append({"role": "user", "parts": turn_parts(plan, media)})
    return {
        "model": plan.model,
        "config": config,
        "contents": [content for content in contents if content["parts"] != [{"text": ""}]],
        "_dynamic_instructions": [scope] if scope else [],
    }


def _content(role: str, text: str) -> dict[str, Any]:
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
        parts.append({"text": part} if isinstance(part, str) else _native(part))
    return parts


def _native(part: NativePart) -> dict[str, Any]:
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
