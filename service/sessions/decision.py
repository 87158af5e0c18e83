"""What a hook of a session answers, and the requests that a session renders."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

from ...compiler.envelope.envelope import Envelope
from ...compiler.render.cache_plan import BlockSegment
from ...schema.compile_terms import SectionName, Stability
from ...schema.errors import unknown
from ...schema.short_repr import short_repr
from ...window.advice import CompressionResult, WindowAxis
from ...window.changes import UnitChange
from ...window.health import WindowAlert
from ...window.links import LINES_HEAD, overtaken_lines
from ...window.pressure import Pressure, WindowStatus, Zone
from ...window.rendering import RenderedHistory
from ...window.state import WindowState

_STABLE: Final = (Stability.STATIC, Stability.SCOPE, Stability.SESSION)


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowDecision:
    """What the window did about an event, and how full it is."""

    seq: int
    """The number of the last event."""
    zone: Zone
    status: WindowStatus
    reading: Pressure
    actions: tuple[UnitChange, ...] = ()
    """What an edit changed: which unit, into which form, why, and what of it still stands."""
    notices: tuple[str, ...] = ()
    alerts: tuple[WindowAlert, ...] = ()
    edit: int | None = None
    """The number of the edit's event, for `undo`."""
    axis: WindowAxis = WindowAxis.NONE
    """What keeps the window small: evict, compress, or the advice to delegate."""
    compression: CompressionResult | None = None
    """What the edit came to; None without one."""
    replayed: bool = False
    """The same event was recorded before; nothing was done now."""


@dataclass(frozen=True, slots=True)
class SessionUsage:
    """What a provider reported for one model call, in tokens."""

    __repr__ = short_repr

    input: int
    output: int = 0
    cache_reads: int = 0


@dataclass(frozen=True, slots=True)
class SessionContext:
    """The next request of a session: its history, and what the store adds to it."""

    state: WindowState
    envelope: Envelope
    rendering: RenderedHistory = field(default_factory=RenderedHistory, repr=False, compare=False)
    """What the session has rendered before: of a request only the new end is written."""

    @property
    def tokens_upper(self) -> int:
        """Upper bound of the request; never above the window without the reserve."""
        return self.state.tokens

    def render(self, target: str, *, provider_edit: str = "") -> dict[str, Any]:
        """The request for `anthropic`, `openai` (chat), `responses` or `gemini`, calls natively.

        The stored rules and facts of the longer zones stand in the system text, what belongs to
        this turn alone behind the history. Tools are passed on as they were stated.

        `provider_edit` lets the provider edit beside us, from the limit of this window on:
        `clear_tool_uses` or `compact` for Anthropic (as a request of `beta.messages`), `compact`
        for Responses. It works where our count fell short; what it took is reported by `on_step`.

        Raises:
            Conflict: `open_calls`, while a call waits for its result.
            InvalidInput: `unknown_vocabulary`, for another target, or an edit that it does not
                have.
        """
        if target not in _RENDERERS:
            raise unknown("render target", target, _RENDERERS)

        plan = self.envelope.plan
        # The user's request stands at its place in the history, once.
        turn = [
            segment for segment in plan.zone_segments(Stability.TURN) if not _is_request(segment)
        ]
        tail = "".join([*(segment.text for segment in turn), overtaken_text(self.state)])
        messages = self.rendering.messages(self.state, target, tail)
        texts = (self.state.system, self._notes(), plan.text_of(*_STABLE))
        system = "\n\n".join(text for text in texts if text)
        request: dict[str, Any] = _RENDERERS[target](self.state.model, system, messages)
        if self.state.tools:
            request["tools"] = json.loads(self.state.tools)

        if provider_edit:
            request |= _provider_edit(target, provider_edit, self.state.limit)

        return request

    def _notes(self) -> str:
        """The notes of the session as data lines: they survive whatever leaves the window."""
        lines = [f"- {note.category.value}: {json.dumps(note.text)}" for note in self.state.notes]
        return "\n".join(["Notes of this session:", *lines]) if lines else ""


def overtaken_text(state: WindowState) -> str:
    """What the turn says of values in the history that no longer hold; empty for none."""
    lines = overtaken_lines(state.links, state.units)
    return "\n".join(["", LINES_HEAD, *lines, ""]) if lines else ""


def _provider_edit(target: str, edit: str, threshold: int) -> dict[str, Any]:
    """The fields by which a provider is asked to edit a request above a number of tokens."""
    edits = _PROVIDER_EDITS.get(target, {})
    if edit not in edits:
        raise unknown(f"edit of the provider for {target}", edit, edits)

    return edits[edit](threshold)


def _anthropic_edit(kind: str, beta: str, threshold: int) -> dict[str, Any]:
    trigger = {"type": "input_tokens", "value": threshold}
    edits = [{"type": kind, "trigger": trigger}]
    return {"betas": [beta], "context_management": {"edits": edits}}


def _responses_edit(threshold: int) -> dict[str, Any]:
    return {"context_management": [{"type": "compaction", "compact_threshold": threshold}]}


_PROVIDER_EDITS: Final[Mapping[str, Mapping[str, Callable[[int], dict[str, Any]]]]] = {
    "anthropic": {
        "clear_tool_uses": partial(
            _anthropic_edit, "clear_tool_uses_20250919", "context-management-2025-06-27"
        ),
        "compact": partial(_anthropic_edit, "compact_20260112", "compact-2026-01-12"),
    },
    "responses": {"compact": _responses_edit},
}


def _is_request(segment: BlockSegment) -> bool:
    return segment.block.section == SectionName.USER_REQUEST


def _anthropic(model: str, system: str, messages: list[dict[str, Any]]) -> dict[str, Any]:
    # One mark behind the system text: it stays the same from step to step.
    mark = {"type": "ephemeral"}
    blocks = [{"type": "text", "text": system, "cache_control": mark}] if system else []
    return {"model": model, "system": blocks, "messages": messages}


def _openai(model: str, system: str, messages: list[dict[str, Any]]) -> dict[str, Any]:
    head = [{"role": "system", "content": system}] if system else []
    return {"model": model, "messages": [*head, *messages]}


def _responses(model: str, system: str, items: list[dict[str, Any]]) -> dict[str, Any]:
    request: dict[str, Any] = {"model": model, "input": items}
    if system:
        request["instructions"] = system

    return request


def _gemini(model: str, system: str, messages: list[dict[str, Any]]) -> dict[str, Any]:
    request: dict[str, Any] = {"model": model, "contents": messages}
    if system:
        request["system_instruction"] = {"parts": [{"text": system}]}

    return request


_RENDERERS: Final = {
    "anthropic": _anthropic,
    "openai": _openai,
    "responses": _responses,
    "gemini": _gemini,
}
