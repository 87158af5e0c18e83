"""What a hook of a session answers, and the requests that a session renders."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, cast

from ...compiler.envelope.envelope import Envelope
from ...schema.compile_terms import SectionName, Stability
from ...schema.errors import InvalidInput
from ...schema.records import short_repr
from ...window.intake import plain_message
from ...window.layout import add_cache_marks, edit_fields, native_messages, provider_of, recall_tool
from ...window.ledger import UnitChange as UnitChange
from ...window.links import LINES_HEAD, overtaken_lines
from ...window.report import CompressionResult, WindowAlert, WindowAxis, WindowStatus, Zone
from ...window.report import HealthReading as HealthReading
from ...window.report import Pressure as Pressure
from ...window.report import alert_text as alert_text
from ...window.state import WindowState
from ...window.units import RECALL_TOOL

RequestTarget = Literal["anthropic", "openai", "responses", "gemini"]
"""The providers that a request is rendered for."""

_ANSWER_LIMITS: Final = {
    "anthropic": "max_tokens",
    "openai": "max_completion_tokens",
    "responses": "max_output_tokens",
}

_STABLE: Final = (Stability.STATIC, Stability.SCOPE, Stability.SESSION)


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowDecision:
    """What the window did about an event, and how full it is."""

    __repr__ = short_repr

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


Usage = SessionUsage | Mapping[str, Any] | Any
"""A usage of ours, or as a provider's SDK reports it."""


def stated_usage(usage: Usage | None) -> SessionUsage | None:
    """A usage in whatever form it is stated.

    Raises:
        InvalidInput: `bad_usage`, for one without a count of input tokens.
    """
    if usage is None or isinstance(usage, SessionUsage):
        return usage
    report = usage_of({"usage": plain_message(usage)})
    if report is None:
        raise InvalidInput("the usage states no input tokens", code="bad_usage")
    return report


def usage_of(message: Any) -> SessionUsage | None:
    """What a provider's answer reports of its request, None where it reports nothing.

    Anthropic counts what its cache wrote and served apart from the input; the others count it in.
    """
    report: Any = None
    if isinstance(message, Mapping):
        fields = cast("Mapping[str, Any]", message)
        report = fields.get("usage") or fields.get("usage_metadata")
    if not isinstance(report, Mapping):
        return None

    counts = cast("Mapping[str, Any]", report)
    tokens = _count(counts, "input_tokens", "prompt_tokens", "prompt_token_count")
    cache = _count(counts, "cache_read_input_tokens")
    tokens += cache + _count(counts, "cache_creation_input_tokens")
    details: Any = counts.get("prompt_tokens_details") or counts.get("input_tokens_details")
    if isinstance(details, Mapping):
        cache = cache or _count(cast("Mapping[str, Any]", details), "cached_tokens")
    output = _count(counts, "output_tokens", "completion_tokens", "candidates_token_count")
    cache = cache or _count(counts, "cached_content_token_count")
    return SessionUsage(input=tokens, output=output, cache_reads=cache) if tokens else None


def _count(counts: Mapping[str, Any], *names: str) -> int:
    """The first of some counts that is stated."""
    for name in names:
        value = counts.get(name)
        if type(value) is int and value > 0:
            return value
    return 0


@dataclass(frozen=True, slots=True)
class SessionContext:
    """The next request of a session: its history, and what the store adds to it."""

    state: WindowState
    envelope: Envelope

    @property
    def tokens_upper(self) -> int:
        """Upper bound of the request; never above the window without the reserve."""
        return self.state.tokens

    def render(
        self, target: RequestTarget, *, max_tokens: int | None = None, provider_edit: str = ""
    ) -> dict[str, Any]:
        """The request for `anthropic`, `openai` (chat), `responses` or `gemini`, calls natively.

        The stored rules and facts of the longer zones stand in the system text, what belongs to
        this turn alone behind the history. Tools are passed on as they were stated.

        `max_tokens` limits the answer, under the provider's name for it; Anthropic requires it.
        `provider_edit` lets the provider edit beside us, from the limit of this window on:
        `clear_tool_uses` or `compact` for Anthropic (as a request of `beta.messages`), `compact`
        for Responses. It works where our count fell short; what it took is reported by `on_step`.

        Raises:
            Conflict: `open_calls`, while a call waits for its result.
            InvalidInput: `unknown_vocabulary`, for another target, or an edit that it does not
                have.
        """
        provider = provider_of(target)
        plan = self.envelope.plan
        # The user's request stands at its place in the history, once.
        segments = plan.zone_segments(Stability.TURN)
        turn = [s for s in segments if s.block.section != SectionName.USER_REQUEST]
        tail = "".join([*(segment.text for segment in turn), overtaken_text(self.state)])
        messages = native_messages(self.state, target, tail)
        texts = (self.state.system, self._notes(), plan.text_of(*_STABLE))
        system = "\n\n".join(text for text in texts if text)
        request = provider.request(self.state.model, system, messages)
        if target == "anthropic":
            has_ledger = bool(self.state.ledger.text)
            add_cache_marks(messages, tail, has_ledger=has_ledger)
        if self.state.tools:
            request["tools"] = _tools(self.state.tools, target)

        if provider_edit:
            request |= edit_fields(target, provider_edit, self.state.limit)
        if max_tokens is not None:
            request |= _answer_limit(target, max_tokens)

        return request

    def _notes(self) -> str:
        """The notes of the session as data lines: they survive whatever leaves the window."""
        lines = [f"- {note.category.value}: {json.dumps(note.text)}" for note in self.state.notes]
        return "\n".join(["Notes of this session:", *lines]) if lines else ""


def _answer_limit(target: str, max_tokens: int) -> dict[str, Any]:
    """The field that limits an answer, as each provider calls it.

    Raises:
        InvalidInput: `out_of_range`.
    """
    if max_tokens < 1:
        raise InvalidInput("max_tokens is at least 1", code="out_of_range", field="max_tokens")
    if target == "gemini":
        return {"generation_config": {"max_output_tokens": max_tokens}}
    return {_ANSWER_LIMITS[target]: max_tokens}


def _tools(stated: str, target: str) -> list[Any]:
    """The tools of a session with the one that reads originals: its results show addresses."""
    tools: list[Any] = json.loads(stated)
    return tools if f'"{RECALL_TOOL}"' in stated else [*tools, recall_tool(target)]


def overtaken_text(state: WindowState) -> str:
    """What the turn says of values in the history that no longer hold; empty for none."""
    lines = overtaken_lines(state.links, state.units, state.ledger)
    return "\n".join(["", LINES_HEAD, *lines, ""]) if lines else ""
