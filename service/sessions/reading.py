"""What a session tells: its next request, its report, and the tool that reads originals."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from ...compiler.request.parse import request_from_json
from ...compiler.request.request import WindowPin
from ...compiler.text.relevance import one_line
from ...compiler.trace.manifest import bad_manifest
from ...schema.errors import ContextBudgetExhausted, unknown
from ...window.advice import tuning_advice
from ...window.budget import ComponentUse, exhaustion_turns, urgency_of
from ...window.events import EditReason, EventKind
from ...window.health import (
    AlertLevel,
    HealthReading,
    WindowAlert,
    WindowTrend,
    window_trend,
)
from ...window.judging import FidelityJudge, JudgedFidelity, judged_fidelity
from ...window.pressure import Pressure
from ...window.state import EMPTY_STATE
from ...window.step import step
from ..compilation.compile import Compiler, Replayable
from .branching import newest_full_turns
from .core import EventDraft, SessionCore
from .decision import SessionContext, overtaken_text
from .linking import judge_claims
from .log import own_sessions
from .originals import full_history

_LEAST_MEMORY: Final = 256
"""Tokens below which a compile of the store is not worth its headings."""
_MARGIN: Final = 32
"""Tokens for the separators between the texts of the system part."""
_QUERY_CHARS: Final = 2_000
_SLACK_SHARE: Final = 64
"""The part of the limit by which the bound of what the store brings may be too high."""

_TOOL_NAME: Final = "recall_original"
_TOOL_TEXT: Final = (
    "Read in full what left this conversation or stands shortened in it. Ask with the address that "
    "is shown (window://57 or window://57-80), with turn:12, or with a question in plain words."
)
_TOOL_INPUT: Final = {
    "type": "object",
    "properties": {"request": {"type": "string", "description": "address, turn or question"}},
    "required": ["request"],
}


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionReport:
    """How a session stands."""

    pressure: Pressure
    health: HealthReading
    alerts: tuple[WindowAlert, ...]
    trend: WindowTrend
    components: tuple[ComponentUse, ...]
    turns_left: int | None
    """Turns until the window is full at the present velocity; None while nothing grows."""
    turn: int
    step: int
    edits: int
    evictions: int
    windows: int
    """How many windows the session has filled."""
    full_turns: int = 0
    """How many of the newest turns, at their mean size, an edit could leave in full."""
    urgency: AlertLevel | None = None
    """Critical below three turns until the window is full, a warning below ten."""
    advice: tuple[str, ...] = ()
    """What to tune; empty before this caller has had ten sessions."""
    judgement: JudgedFidelity | None = None
    """What the window still answers; None where no judge was asked."""


def memory_context(
    core: SessionCore, query: str | None, task: str, options: Mapping[str, Any]
) -> SessionContext:
    """Compile what the store adds to the history, within what the history leaves of the window."""
    judge_claims(core)
    state = core.state
    lines = overtaken_text(state)
    margin = _MARGIN + (state.count(lines) if lines else 0)
    share = core.policy.memory_share * state.limit // 1000
    history = state.tokens - state.memory_tokens * state.correction // 1000
    room = (state.limit - history - margin) * 1000 // state.correction

    # A history near the limit must not push out what the store knows: it gives way first.
    if room < min(share, _LEAST_MEMORY):
        core.edit(core.edit_plan(EditReason.OVERFLOW))
        state = core.state
        history = state.tokens - state.memory_tokens * state.correction // 1000
        room = (state.limit - history - margin) * 1000 // state.correction

    if room < _LEAST_MEMORY:
        raise ContextBudgetExhausted(
            "the history leaves no room for what the store knows; call on_overflow",
            code="required_over_budget",
            shortfall=_LEAST_MEMORY - room,
        )

    compiler = Compiler(core.log.backend, core.log.principal)
    request = {
        "query": _question(core) if query is None else query,
        "goal": state.goal or None,
        "acceptance": state.acceptance,
        "model": state.model,
        "budget_tokens": min(share, room),
        "reserve_tokens": 0,
        **options,
    }
    # Beside the envelope stands the window as it is now; its own event comes after that.
    pin = WindowPin(
        session=core.log.session,
        seq=state.seq,
        digest=core.log.chain_digest(state.seq),
        policy=core.identity,
    )
    envelope = compiler.compile(task, request, pin)

    tokens = envelope.tokens_upper + margin
    _count_memory(core, envelope.envelope_id, tokens)
    return SessionContext(replace(core.state, memory_tokens=tokens), envelope, core.rendering)


def _count_memory(core: SessionCore, envelope_id: str, tokens: int) -> None:
    """Tell the log what the store brings, unless the bound that it has still holds.

    A row for each request would cost more than what is said in one, and a wait for the disk.
    """
    slack = core.state.limit // _SLACK_SHARE
    if tokens <= core.state.memory_tokens <= tokens + slack:
        return

    body = {"envelope": envelope_id, "tokens": tokens}
    core.act([EventDraft(EventKind.MEMORY_READ, body)], edit=False)


def replayed_context(core: SessionCore, reference: Replayable) -> SessionContext:
    """A request of the session again: the log folded up to the event that a manifest pins.

    Raises:
        InvalidInput: `bad_manifest`, for an envelope of no session or of another one, and where
            the log there is not the one that was pinned.
    """
    envelope = Compiler(core.log.backend, core.log.principal).replay(reference)
    pin = request_from_json(envelope.manifest.request).window
    if pin is None or pin.session != core.log.session:
        raise bad_manifest("it was not compiled for this session")

    if core.log.chain_digest(pin.seq) != pin.digest:
        raise bad_manifest(f"the log of the session is another one at event {pin.seq}")

    state = EMPTY_STATE
    for event in core.log.read(until=pin.seq):
        state = step(state, event)

    lines = overtaken_text(state)
    tokens = envelope.tokens_upper + _MARGIN + (state.count(lines) if lines else 0)
    return SessionContext(replace(state, memory_tokens=tokens), envelope)


def _question(core: SessionCore) -> str:
    """The last user message, as far as a search makes use of it."""
    for unit in reversed(core.state.units):
        if unit.is_user:
            return one_line(unit.text)[:_QUERY_CHARS]

    return core.state.goal


def session_report(core: SessionCore, judge: FidelityJudge | None = None) -> SessionReport:
    """The report of a session as it stands; a judge makes it read the whole log."""
    state = core.state
    reading = core.pressure()
    parts = core.subsystems
    judgement: JudgedFidelity | None = None
    if judge is not None:
        judgement = judged_fidelity(full_history(core.log.read()), state, judge)

    uses = parts.budget.uses(state, core.policy)
    turns_left = exhaustion_turns(reading)
    sessions = len(own_sessions(core.log.backend, core.log.principal))
    return SessionReport(
        pressure=reading,
        health=parts.health.measure(state, reading),
        alerts=core.alerts(),
        trend=window_trend(state.loads),
        components=uses,
        turns_left=turns_left,
        turn=state.turn,
        step=state.step,
        edits=state.edits,
        evictions=state.evictions,
        windows=state.windows,
        full_turns=newest_full_turns(core),
        urgency=urgency_of(turns_left),
        advice=tuning_advice(uses, state, sessions),
        judgement=judgement,
    )


def rehydrate_tool(target: str) -> dict[str, Any]:
    """The tool that reads originals, in a provider's form.

    Raises:
        InvalidInput: `unknown_vocabulary`.
    """
    schema = {"name": _TOOL_NAME, "description": _TOOL_TEXT}
    match target:
        case "anthropic":
            return {**schema, "input_schema": _TOOL_INPUT}
        case "openai":
            return {"type": "function", "function": {**schema, "parameters": _TOOL_INPUT}}
        case "responses":
            return {"type": "function", **schema, "parameters": _TOOL_INPUT}
        case "gemini":
            return {"function_declarations": [{**schema, "parameters": _TOOL_INPUT}]}
        case _:
            raise unknown("render target", target, ("anthropic", "openai", "responses", "gemini"))
