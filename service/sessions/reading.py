"""What a session tells: its next request and its report.

A request asks the store whether what units of the window stated still holds, and adds what the
store knows within what the history leaves of the window.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, Final

from ...compiler.request.parse import request_from_json
from ...compiler.request.request import WindowPin
from ...compiler.text.relevance import one_line
from ...compiler.trace.manifest import bad_manifest
from ...schema.claim import Version
from ...schema.errors import ContextBudgetExhausted
from ...schema.vocabulary import Op
from ...store.port.store import Ask, Point, Reader
from ...store.timeline.state import plain_value
from ...window.editing import NO_WISH
from ...window.events import EditReason, EventKind
from ...window.links import EndReason
from ...window.report import (
    AlertLevel,
    ComponentUse,
    FidelityJudge,
    HealthReading,
    JudgedFidelity,
    Pressure,
    TrendReport,
    WindowAlert,
    exhaustion_turns,
    judged_fidelity,
    newest_full_turns,
    tuning_advice,
    urgency_of,
    window_trend,
)
from ...window.state import WindowState
from ..compilation.compile import Compiler, Replayable
from ..reading.objects import Mask
from ..reading.view import pinned, point_of
from .core import EventDraft, SessionCore, own_sessions
from .decision import SessionContext, overtaken_text
from .originals import full_history

_LEAST_MEMORY: Final = 256
"""Tokens below which a compile of the store is not worth its headings."""
_MARGIN: Final = 32
"""Tokens for the separators between the texts of the system part."""
_QUERY_CHARS: Final = 2_000
_SLACK_SHARE: Final = 64
"""The part of the limit by which the bound of what the store brings may be too high."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionReport:
    """How a session stands."""

    pressure: Pressure
    health: HealthReading
    alerts: tuple[WindowAlert, ...]
    trend: TrendReport
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
    core.catch_up()
    judge_claims(core)
    state = core.state
    lines = overtaken_text(state)
    margin = _MARGIN + (state.count(lines) if lines else 0)
    share = core.policy.memory_share * state.limit // 1000
    room = _room(state) - margin

    # A history near the limit must not push out what the store knows: it gives way first.
    if room < min(share, _LEAST_MEMORY):
        goal = state.limit - min(share, _LEAST_MEMORY) - margin
        plan = core.plan(EditReason.PRESSURE)
        if plan is None or state.own_tokens - plan.savings > goal:
            plan = core.plan(EditReason.OVERFLOW, goal, NO_WISH._replace(desperate=True))
        core.edit(plan)
        room = _room(core.state) - margin
        state = core.state

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
    known = core.state.memory_tokens
    # A row for each request would cost more than what is said in one, and a wait for the disk: the
    # log learns of another bound where that of before no longer holds.
    if not tokens <= known <= tokens + core.state.limit // _SLACK_SHARE:
        body = {"envelope": envelope.envelope_id, "tokens": tokens}
        core.act([EventDraft(EventKind.MEMORY_READ, body)], edit=False)
    return SessionContext(replace(core.state, memory_tokens=tokens), envelope)


def _room(state: WindowState) -> int:
    """Tokens by our own count that are left for what the store brings."""
    return state.correction.own(state.limit) - (state.own_tokens - state.memory_tokens)


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

    state = core.state_at(pin.seq)

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
        full_turns=newest_full_turns(state, core.policy),
        urgency=urgency_of(turns_left),
        advice=tuning_advice(uses, state, sessions),
        judgement=judged_fidelity(full_history(core.log.read()), state, judge) if judge else None,
    )


_Judgement = tuple[dict[str, str], str, str]
"""What an event says of a claim that ended or holds again, its value, and what holds instead."""


def judge_claims(core: SessionCore) -> None:
    """Append what the store says of linked claims, where that is another than the log knows."""
    known = {link.claim: link.reason for link in core.state.links}
    judgements = _judgements(core, known) if known else []
    if judgements:
        lines = [line for line, _, _ in judgements]
        texts = tuple(chain.from_iterable(words for _, *words in judgements))
        core.act([EventDraft(EventKind.CLAIMS_JUDGED, {"claims": lines}, texts)], edit=False)


def _judgements(core: SessionCore, known: dict[str, str]) -> list[_Judgement]:
    """What changed since the log last heard of these claims."""
    backend, principal = core.log.backend, core.log.principal
    mask, sight = Mask(principal, backend.policy), principal.sight()
    claims = tuple(sorted(known))
    with backend.store.reading(principal.tenant) as reader:
        point = point_of(pinned(backend, principal, reader, None, None))
        page = reader.versions(Ask(objects=claims), sight=sight, point=point)
        holding = {row.row.claim.object_id for row in page.versions if row.visible}

        judgements: list[_Judgement] = []
        for claim in claims:
            if claim in holding and known[claim]:
                judgements.append(({"claim": claim, "why": "", "slot": ""}, "", ""))

        # Few claims of a window ever end, so only those are looked at closely.
        ended_claims = [claim for claim in claims if claim not in holding and not known[claim]]
        for rows in _rows_by_claim(reader, mask, ended_claims, point):
            heads = [version.row for version in rows if version.row.live and version.row.look.head]
            # One that decides a time that has not begun did not end.
            if not any(row.interval.start_us > point.valid_us for row in heads):
                judgements.append(_ending(reader, mask, rows, point))
    return judgements


def _rows_by_claim(
    reader: Reader, mask: Mask, claims: list[str], point: Point
) -> Iterable[list[Version]]:
    """The visible rows of claims on both axes, those of a claim together."""
    if not claims:
        return ()

    ask = Ask(objects=tuple(claims), heads=False, at_valid=False, at_tx=False)
    page = reader.versions(ask, sight=mask.principal.sight(), point=point)
    by_claim: dict[str, list[Version]] = {}
    for version in mask.over(reader, page.versions):
        if version.visible:
            by_claim.setdefault(version.row.claim.object_id, []).append(version)

    return by_claim.values()


def _ending(reader: Reader, mask: Mask, rows: list[Version], point: Point) -> _Judgement:
    """Why a claim no longer holds, and what holds in its place."""
    claim = rows[0].row.claim
    ask = Ask(keys=(claim.slot_key,))
    page = reader.versions(ask, sight=mask.principal.sight(), point=point)
    successor: Version | None = None
    for version in mask.over(reader, page.versions):
        if version.visible and version.content and version.row.claim.op in (Op.ASSERT, Op.CORRECT):
            successor = version

    # A claim that was withdrawn has no row left that is still believed.
    withdrawn = not any(row.row.live for row in rows)
    if withdrawn or (successor is not None and successor.row.claim.op is Op.CORRECT):
        reason = EndReason.ERROR_INVALIDATED
    else:
        reason = EndReason.PHASE_CHANGE if successor is None else EndReason.SUPERSEDED

    line = {"claim": claim.object_id, "why": reason.value, "slot": rows[0].details.slot or ""}
    replacement = "" if successor is None else _words(plain_value(successor))
    return line, _words(plain_value(rows[0])), replacement


def _words(value: Any) -> str:
    """A value as a line shows it: a text as it is, all else as JSON; empty for none."""
    if value is None:
        return ""

    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
