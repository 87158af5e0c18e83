"""What a hook of a session answers, and the requests that a session renders."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Final

from ...compiler.envelope.envelope import Envelope
from ...compiler.render.cache_plan import BlockSegment
from ...schema.compile_terms import SectionName, Stability
from ...schema.errors import unknown
from ...window.changes import UnitChange
from ...window.health import WindowAlert
from ...window.layout import native_messages
from ...window.links import LINES_HEAD, overtaken_lines
from ...window.pressure import Pressure, WindowStatus, Zone
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
    replayed: bool = False
    """The same event was recorded before; nothing was done now."""


@dataclass(frozen=True, slots=True)
class SessionUsage:
    """What a provider reported for one model call, in tokens."""

    input: int
    output: int = 0
    cache_reads: int = 0


@dataclass(frozen=True, slots=True)
class SessionContext:
    """The next request of a session: its history, and what the store adds to it."""

    state: WindowState
    envelope: Envelope

    @property
    def tokens_upper(self) -> int:
        """Upper bound of the request; never above the window without the reserve."""
        return self.state.tokens

    def render(self, target: str) -> dict[str, Any]:
        """The request for `anthropic`, `openai` or `gemini`, with native calls and results.

        The stored rules and facts of the longer zones stand in the system text, what belongs to
        this turn alone behind the history. Tools are passed on as they were stated.

        Raises:
            Conflict: `open_calls`, while a call waits for its result.
            InvalidInput: `unknown_vocabulary`, for another target.
        """
        if target not in _RENDERERS:
            raise unknown("render target", target, _RENDERERS)
        plan = self.envelope.plan
        # The user's request stands at its place in the history, once.
        turn = [
            segment for segment in plan.zone_segments(Stability.TURN) if not _is_request(segment)
        ]
        tail = "".join([*(segment.text for segment in turn), overtaken_text(self.state)])
        messages = native_messages(self.state, target, tail)
        texts = (self.state.system, self._notes(), plan.text_of(*_STABLE))
        system = "\n\n".join(text for text in texts if text)
        request: dict[str, Any] = _RENDERERS[target](self.state.model, system, messages)
        if self.state.tools:
            request["tools"] = json.loads(self.state.tools)
        return request

    def _notes(self) -> str:
        """The notes of the session as data lines: they survive whatever leaves the window."""
        lines = [f"- {note.category.value}: {json.dumps(note.text)}" for note in self.state.notes]
        return "\n".join(["Notes of this session:", *lines]) if lines else ""


def overtaken_text(state: WindowState) -> str:
    """What the turn says of values in the history that no longer hold; empty for none."""
    lines = overtaken_lines(state.links, state.units)
    return "\n".join(["", LINES_HEAD, *lines, ""]) if lines else ""


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


def _gemini(model: str, system: str, messages: list[dict[str, Any]]) -> dict[str, Any]:
    request: dict[str, Any] = {"model": model, "contents": messages}
    if system:
        request["system_instruction"] = {"parts": [{"text": system}]}
    return request


_RENDERERS: Final = {"anthropic": _anthropic, "openai": _openai, "gemini": _gemini}
