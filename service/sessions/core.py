"""The log of one session in the store, its state, and the one way to change it: append, then fold.

Events and the edit that they make necessary are decided on the state, appended together, and only
then become the state. A process that loses an append has read what the winner wrote and decides
again. Every hook looks at the head of the log first, so no handle works on a stale window.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import chain
from operator import attrgetter
from typing import Any, Final, NamedTuple, TypeVar, cast

from ...compiler.safety.credentials import masked_credentials
from ...schema.errors import Conflict, ContextBudgetExhausted, InvalidInput, TenureError
from ...schema.principal import Principal, Scope
from ...schema.values import canonical_json
from ...schema.window_policy import WindowPolicy
from ...store.commit.sessions import append_events
from ...store.port.records import SessionRecord, SessionSummary, SessionText
from ...window.checkpoint import TaskCheckpoint
from ...window.editing import NO_WISH, EditWish, due_reason, planned_edit, target_tokens
from ...window.events import ERASURE_MARK, GENERATION, EditReason, EventKind, WindowEvent
from ...window.intake import Message
from ...window.ledger import EditPlan
from ...window.report import (
    NoticeKind,
    NoticeLine,
    Pressure,
    WindowAlert,
    WindowNotice,
    Zone,
    alert_lines,
    axis_of,
    compression_result,
    edit_text,
    notice_lines,
    stated_readings,
    window_alerts,
)
from ...window.state import EMPTY_STATE, WindowState, part_tokens, snapshot_text, state_from
from ...window.step import step
from ...window.subsystems import BUILT_IN, Subsystems
from ...window.units import MessagePart, PartKind, part_body
from ..backend.backend import Backend
from .decision import SessionUsage, WindowDecision

_ENDLESS: Final = 2**62


@dataclass(frozen=True, slots=True)
class SessionLog:
    """The log of one session of one user."""

    backend: Backend
    principal: Principal
    session: str
    """The scope of the session: it holds the user, so two users' `s1` are two sessions."""

    def read(self, after: int = 0, until: int = _ENDLESS) -> tuple[WindowEvent, ...]:
        """The events above a number, up to another one, in order."""
        self.backend.open(self.principal.tenant)
        with self.backend.store.reading(self.principal.tenant) as reader:
            records = reader.session_events(self.session, after=after, until=until)

        return tuple(map(event_of, records))

    def chain_digest(self, seq: int) -> str:
        """The digest of the chain up to an event, in hexadecimal digits; empty for none."""
        with self.backend.store.reading(self.principal.tenant) as reader:
            records = reader.session_events(self.session, after=seq - 1, until=seq)

        return records[0].digest.hex() if records else ""

    def snapshot(self) -> WindowState | None:
        """The newest state that was kept beside the log, None for none of today's format."""
        self.backend.open(self.principal.tenant)
        with self.backend.store.reading(self.principal.tenant) as reader:
            snapshot = reader.session_snapshot(self.session)

        return None if snapshot is None else state_from(snapshot.body)

    def append(
        self, expected_seq: int, events: Sequence[WindowEvent], snapshot: str | None = None
    ) -> None:
        """Append events behind an expected number, and the state that they lead to: all or none.

        Raises:
            Conflict: `stale_version`, when somebody else appended first.
        """
        now_us = self.backend.now_us()
        records = [self._record(event, now_us) for event in events]
        outcome = self.backend.queue(self.principal.tenant).submit(
            lambda tx: append_events(tx, self.session, expected_seq, records, snapshot)
        )
        if isinstance(outcome, TenureError):
            raise outcome

    def _record(self, event: WindowEvent, now_us: int) -> SessionRecord:
        return SessionRecord(
            session=self.session,
            seq=event.seq,
            kind=event.kind.value,
            actor=self.principal.user or "service",
            last_us=0,
            recorded_us=now_us,
            body=canonical_json(dict(event.body)),
            texts=tuple(map(SessionText, event.texts)),
        )


_KINDS: Final = frozenset(EventKind)


def event_of(record: SessionRecord) -> WindowEvent:
    """The window's event that a record keeps.

    Raises:
        InvalidInput: `old_session`, for an event that only an earlier build wrote.
    """
    body = json.loads(record.body)
    is_old_edit = record.kind == EventKind.EDITED and "cut" not in body.get("ledger", ())
    if record.kind not in _KINDS or is_old_edit:
        raise InvalidInput(
            f"the session {record.session} was written by an earlier build and cannot be opened; "
            "erase it, or begin one under another name",
            code="old_session",
        )
    texts = [ERASURE_MARK if text.text is None else text.text for text in record.texts]
    return WindowEvent(
        seq=record.seq,
        kind=EventKind(record.kind),
        body=body,
        texts=tuple(texts),
    )


def session_scope(principal: Principal, name: str) -> str:
    """The key of a caller's session.

    Raises:
        InvalidInput: `bad_scope`, for a name that no scope can hold.
    """
    if not name:
        raise InvalidInput("a session needs a name", code="bad_scope")

    return Scope(user=principal.user, session=name).scope_id


def newest_log(backend: Backend, principal: Principal, name: str) -> tuple[SessionLog, int]:
    """The log that a name leads to, and how often the name was used.

    A name whose session was erased or closed may begin another session, under a further number.
    """
    log, generation = SessionLog(backend, principal, session_scope(principal, name)), 1
    while True:
        following = further_log(log, name, generation + 1)
        if generation == 1 and not log.read(until=1):
            return log, generation
        if not following.read(until=1):
            return log, generation
        log, generation = following, generation + 1


def further_log(log: SessionLog, name: str, generation: int) -> SessionLog:
    """The log of a further use of a name."""
    return replace(log, session=session_scope(log.principal, f"{name}{GENERATION}{generation}"))


def own_sessions(backend: Backend, principal: Principal) -> tuple[SessionSummary, ...]:
    """The sessions of a caller, by name, under the names by which it opens them."""
    backend.open(principal.tenant)
    with backend.store.reading(principal.tenant) as reader:
        summaries = reader.sessions()

    # Of a name that was used again the newest session counts.
    by_name: dict[str, tuple[int, SessionSummary]] = {}
    for summary in summaries:
        scope = Scope.parse(summary.session)
        if scope.user == principal.user and scope.session:
            name, _, digits = scope.session.partition(GENERATION)
            use = int(digits) if digits.isdigit() else 1
            if use > by_name.get(name, (0, summary))[0]:
                by_name[name] = use, summary._replace(session=name)
    return tuple(summary for _, summary in by_name.values())


_SNAPSHOT_EVENTS: Final = 100
"""Events between two snapshots at least."""
_CHARACTERS_A_TOKEN: Final = 4
"""About; the exact size of a snapshot is not worth a walk over the window after each event."""
_READ_AHEAD: Final = attrgetter("terms", "identifiers", "names", "facts", "acts")
"""What an edit reads of every unit: computed as each comes, not for all in the hook that edits."""
_MOST_EVENTS: Final = 400
"""Events that an opening folds at most, about: 0.1 ms each."""
_TRIES: Final = 5
"""Appends of one result or summary until it gives up."""
_MASKED_KINDS: Final = frozenset({PartKind.USER, PartKind.ASSISTANT, PartKind.CALL})

Outcome = TypeVar("Outcome")
Listener = Callable[[WindowNotice], object]
Planner = Callable[[WindowState], EditPlan | None]
"""Makes the edit that goes with events, of the state that they leave."""


class EventDraft(NamedTuple):
    """An event that has no number yet."""

    kind: EventKind
    body: dict[str, Any]
    texts: tuple[str, ...] = ()


@dataclass(slots=True)
class SessionCore:
    """The state of a session and the way to change it; shared by everything a session does."""

    log: SessionLog
    policy: WindowPolicy
    subsystems: Subsystems = BUILT_IN
    masks: bool = True
    """Whether secrets are masked before anything is kept."""
    state: WindowState = EMPTY_STATE
    listener: Listener | None = None
    lock: threading.RLock = field(default_factory=threading.RLock)
    own_turn: int = 0
    """The turn that this handle opened, or took over."""
    snapshot_seq: int = 0
    """The last event of the newest snapshot."""
    characters: int = 0
    """Of the texts of the events since."""
    search: Any = None
    """The index for questions, once one was asked."""

    def resume(self) -> None:
        """Take the newest snapshot, and fold what came after it."""
        self.state = self.log.snapshot() or EMPTY_STATE
        self.snapshot_seq = self.state.seq
        self.catch_up()

    def catch_up(self) -> None:
        """Fold what others appended since."""
        events = self.log.read(self.state.seq)
        for event in events:
            self.state = step(self.state, event)

        self.characters += text_characters(events)

    def state_at(self, seq: int) -> WindowState:
        """The state after an event, folded from the newest snapshot that is old enough."""
        state = self.log.snapshot() or EMPTY_STATE
        if state.seq > seq:
            state = EMPTY_STATE
        for event in self.log.read(state.seq, seq):
            state = step(state, event)
        return state

    @property
    def identity(self) -> str:
        """The digest of the policy with the parts that run it."""
        return self.subsystems.identity(self.policy)

    def pressure(self) -> Pressure:
        """How full the window is now."""
        return self.subsystems.pressure.read(self.state, self.policy)

    def plan(
        self,
        reason: EditReason,
        goal: int | None = None,
        wish: EditWish = NO_WISH,
        *,
        state: WindowState | None = None,
    ) -> EditPlan | None:
        """The edit down to a goal, by default the target; None where nothing can be freed.

        `state` is another one than that of now, such as the one that events of a hook lead to.
        """
        state = state or self.state
        goal = target_tokens(state, self.policy) if goal is None else goal
        return planned_edit(state, self.policy, reason, goal, wish=wish, subsystems=self.subsystems)

    @contextmanager
    def caught_up(self) -> Generator[SessionCore]:
        """Hold the session, read on to the head of its log."""
        with self.lock:
            self.catch_up()
            yield self

    @contextmanager
    def opened(self) -> Generator[SessionCore]:
        """Hold the session for a change, read on to the head of its log.

        Raises:
            Conflict: `session_closed`.
        """
        with self.caught_up():
            if self.state.closed:
                raise Conflict("the session is closed; fork it to go on", code="session_closed")
            yield self

    def retry(self, attempt: Callable[[], Outcome]) -> Outcome:
        """Try again where another writer came first: each loser has read what the winner wrote.

        Raises:
            Conflict: `stale_version`, when the last try lost, too.
        """
        for _ in range(_TRIES - 1):
            try:
                return attempt()
            except Conflict as conflict:
                if conflict.code != "stale_version":
                    raise
        return attempt()

    def require_own_turn(self) -> None:
        """Refuse to go on with a turn that another handle has opened.

        Raises:
            Conflict: `turn_open_elsewhere`.
        """
        if self.state.in_turn and self.own_turn != self.state.turn:
            raise Conflict(
                f"turn {self.state.turn} is open in another process; wait until it ends, or take "
                "it over with memory.session(name, resume=True) if that process is gone",
                code="turn_open_elsewhere",
                turn=self.state.turn,
            )

    def require_step(self) -> None:
        """Refuse a step outside a turn, and one while a call waits for its result.

        Raises:
            Conflict: `step_out_of_order`, `turn_open_elsewhere`.
        """
        self.require_own_turn()
        if not self.state.in_turn:
            raise Conflict(
                "no turn is running; begin one with on_turn_start", code="step_out_of_order"
            )

        if self.state.open_units:
            call_id = self.state.open_units[0].open_calls[0]
            raise Conflict(
                f"the call {call_id} waits for its result; hand it in, or give it up with abandon",
                code="step_out_of_order",
            )

    def act(
        self, drafts: Sequence[EventDraft], *, edit: bool = True, planner: Planner | None = None
    ) -> WindowDecision:
        """Append events, and the edit that they make necessary or a planner makes, as a whole.

        Raises:
            Conflict: `stale_version`; what the other one wrote is read then.
            ContextBudgetExhausted: `required_over_budget`; nothing was appended.
        """
        state, events = self.folded(drafts)
        # Event and edit are decided together and appended together: a crash between them would
        # leave a window over its limit for the next process that opens it.
        plans: list[EditPlan] = []
        plan = planner(state) if planner else self._due_edit(state) if edit else None
        if plan:
            state = self._with_edit(state, events, plan)
            plans.append(plan)
        if edit and state.tokens > state.limit:
            desperate = NO_WISH._replace(desperate=True)
            plan = self.plan(EditReason.OVERFLOW, state.limit, desperate, state=state)
            if plan:
                state = self._with_edit(state, events, plan)
                plans.append(plan)
            if state.tokens > state.limit:
                raise over_budget(state)
        return self._append(state, events, plans)

    def folded(
        self, drafts: Sequence[EventDraft], state: WindowState | None = None
    ) -> tuple[WindowState, list[WindowEvent]]:
        """The state that events lead to, by default from that of now, and the events."""
        state = state or self.state
        events: list[WindowEvent] = []
        for draft in drafts:
            state, event = with_draft(state, draft)
            events.append(event)
        return state, events

    def edit(self, plan: EditPlan | None) -> WindowDecision:
        """Append an edit; without a plan only the reading is answered."""
        return self.act([], edit=False, planner=lambda _: plan)

    def _due_edit(self, state: WindowState) -> EditPlan | None:
        reading = self.subsystems.pressure.read(state, self.policy)
        reason = due_reason(state, self.policy, reading)
        return self.plan(reason, state=state) if reason else None

    def _append(
        self, state: WindowState, events: list[WindowEvent], plans: list[EditPlan]
    ) -> WindowDecision:
        edit = state.seq if plans else None
        changes = tuple(change for plan in plans for change in plan.changes)
        snapshot = self._due_snapshot(state, events)
        try:
            if events:
                self.log.append(self.state.seq, events, snapshot)
        except Conflict:
            self.catch_up()
            raise

        self.characters += text_characters(events)
        if snapshot is not None:
            self.snapshot_seq, self.characters = state.seq, 0
        before, self.state = self.state, state
        if any(event.kind is EventKind.TURN_STARTED for event in events):
            self.own_turn = state.turn
        # Only the newest unit is new; what is read from it is kept with it.
        for unit in state.units[-1:]:
            _READ_AHEAD(unit)
        return self.decision(changes=changes, before=before, edit=edit)

    def _with_edit(
        self, state: WindowState, events: list[WindowEvent], plan: EditPlan
    ) -> WindowState:
        """The state after an edit; its events are put behind those that there are."""
        drafts: list[EventDraft] = []
        if state.policy_digest != self.identity:
            # Another policy than the log knows takes effect with the first edit that it decides.
            body = policy_body(self.policy, self.subsystems)
            drafts.append(EventDraft(EventKind.POLICY_CHANGED, body))
        if plan.reason is EditReason.ROLLOVER:
            checkpoint = self.subsystems.cross_window.checkpoint(state)
            drafts.append(checkpoint_draft(checkpoint, "roll-over", ""))
        drafts.append(EventDraft(EventKind.EDITED, plan.body, plan.texts))
        state, further = self.folded(drafts, state)
        events += further
        return state

    def _due_snapshot(self, state: WindowState, events: Sequence[WindowEvent]) -> str | None:
        """The snapshot to keep with these events, None while the log since the last is short."""
        count = state.seq - self.snapshot_seq
        if not events or count < _SNAPSHOT_EVENTS:
            return None

        # Twice its size in events pays for one; many short events cost time to fold as well.
        size = self.characters + text_characters(events)
        if size < 2 * _CHARACTERS_A_TOKEN * state.tokens and count < _MOST_EVENTS:
            return None

        return snapshot_text(state)

    def decision(
        self, *, changes: Any = (), before: WindowState | None = None, edit: int | None = None
    ) -> WindowDecision:
        """The answer of a hook."""
        reading = self.pressure()
        earlier: Pressure | None = None
        if before is not None and before.limit:
            earlier = self.subsystems.pressure.read(before, self.policy)

        lines = notice_lines(before, self.state, earlier, reading, changes)
        is_near = reading.zone in (Zone.ORANGE, Zone.RED) and not changes
        if is_near and earlier is not None and earlier.zone is not reading.zone:
            # While a listener can still pin or note what it wants to keep.
            plan = self.plan(EditReason.PRESSURE)
            if plan:
                text = f"an edit comes: {edit_text(plan.changes)}"
                lines = (*lines, NoticeLine(NoticeKind.EDIT_DUE, text))
        if before is not None and self.listener is not None:
            session, seq = self.log.session, self.state.seq
            for kind, text, is_new in (*lines, *alert_lines(before, self.state)):
                notice = WindowNotice(
                    kind=kind, session=session, seq=seq, zone=reading.zone, text=text
                )
                if is_new:
                    self.listener(notice)

        return WindowDecision(
            seq=self.state.seq,
            zone=reading.zone,
            status=reading.status,
            reading=reading,
            actions=changes,
            notices=tuple(map(attrgetter("text"), lines)),
            alerts=self.alerts(),
            edit=edit,
            axis=axis_of(self.state, changes),
            compression=compression_result(before or self.state, changes),
        )

    def alerts(self) -> tuple[WindowAlert, ...]:
        """The alerts of the last turns, read from the log."""
        return window_alerts(stated_readings(self.state))

    def masked(self, text: str) -> tuple[str, int]:
        """A text without secrets, and how many there were."""
        return masked_credentials(text) if self.masks else (text, 0)

    def masked_parts(self, parts: Sequence[MessagePart]) -> tuple[MessagePart, ...]:
        """The parts of a message without secrets; parts that a provider signed stay as they are."""
        masked: list[MessagePart] = []
        for part in parts:
            if part.kind in _MASKED_KINDS:
                part = replace(part, text=self.masked(part.text)[0])
            masked.append(part)
        return tuple(masked)


def policy_body(policy: WindowPolicy, subsystems: Subsystems = BUILT_IN) -> dict[str, Any]:
    """What an event says of the policy by which a session is run from then on."""
    body = {"policy": subsystems.identity(policy), "tunables": policy.to_plain()}
    replacements = subsystems.replacements
    return {**body, "parts": replacements} if replacements else body


def text_characters(events: Sequence[WindowEvent]) -> int:
    """The length of all texts of events."""
    return sum(map(len, chain.from_iterable(map(attrgetter("texts"), events))))


def over_budget(state: WindowState) -> ContextBudgetExhausted:
    """The error of a window in which nothing more can go: it names what must stay, and why."""
    notes = sum(map(attrgetter("tokens"), state.notes))
    stays = [(state.fixed_tokens - notes, "system, tools and task"), (notes, "notes (drop_note)")]
    stays.append((state.ledger.tokens, "the ledger"))
    for unit in state.units:
        reason = "pinned" if unit.number in state.pinned else "newest"
        stays.append((unit.tokens, f"window://{unit.number} ({reason})"))
    largest = sorted(stays, key=lambda entry: -entry[0])[:6]
    names = ", ".join(f"{name}: {tokens} tokens" for tokens, name in largest if tokens)
    shortfall = state.tokens - state.limit
    return ContextBudgetExhausted(
        f"{shortfall} tokens are missing although everything within reach left the window; the "
        f"largest that must stay: {names}",
        code="required_over_budget",
        shortfall=shortfall,
        units=list(map(attrgetter("number"), sorted(state.units, key=lambda u: -u.tokens)[:5])),
    )


def with_draft(state: WindowState, draft: EventDraft) -> tuple[WindowState, WindowEvent]:
    """The state after one more event, and the event with its number."""
    event = WindowEvent(seq=state.seq + 1, kind=draft.kind, body=draft.body, texts=draft.texts)
    return step(state, event), event


def message_draft(
    state: WindowState, kind: EventKind, parts: Sequence[MessagePart], body: dict[str, Any]
) -> EventDraft:
    """The event of a message; its parts are counted for the session's model."""
    lines = [part_body(part, part_tokens(state, part)) for part in parts]
    # Each message states its turn, so that it can be read without those before it.
    stated = {"turn": state.turn, **body, "parts": lines}
    return EventDraft(kind, stated, tuple(map(attrgetter("text"), parts)))


def checkpoint_draft(checkpoint: TaskCheckpoint, milestone: str, claim: str) -> EventDraft:
    """The event of a checkpoint; `claim` is the object it was saved as, empty for none."""
    text = canonical_json({**checkpoint.to_json(), "milestone": milestone})
    return EventDraft(EventKind.CHECKPOINTED, {"object": claim} if claim else {}, (text,))


def retry_key(message: Message, key: str | None, parts: Sequence[MessagePart]) -> dict[str, Any]:
    """What a body says of the key of a retry: the caller's, else the provider's message id."""
    retry = key if key is not None or isinstance(message, str) else message.get("id")
    if not retry:
        return {}
    # The digest of what was said, not of the provider's envelope around it: that differs by retry.
    texts = canonical_json([[part.kind.value, part.call_id, part.text] for part in parts])
    fingerprint = hashlib.sha256(texts.encode()).hexdigest()
    return {"key": str(retry), "fingerprint": fingerprint}


def earlier_decision(core: SessionCore, body: dict[str, Any]) -> WindowDecision | None:
    """The answer to a retry, None for something new."""
    for key, fingerprint, seq in core.state.keys:
        if key != body.get("key"):
            continue

        if fingerprint != body["fingerprint"]:
            raise Conflict(
                f"the key {key!r} came with another message before; use a new key",
                code="idempotency_mismatch",
                key=key,
            )

        return replace(core.decision(), seq=seq, replayed=True)

    return None


def provider_edits(message: Message) -> dict[str, Any]:
    """What a provider says that it edited before it read a request, in numbers and types."""
    report: Any = None if isinstance(message, str) else message.get("context_management")
    if not isinstance(report, Mapping):
        return {}

    edits: list[dict[str, Any]] = []
    for edit in cast("Mapping[str, Any]", report).get("applied_edits") or ():
        counts = {name: count for name, count in edit.items() if type(count) is int}
        edits.append({"type": str(edit.get("type", ""))[:64], **counts})
    return {"provider_edits": edits} if edits else {}


def usage_body(
    state: WindowState, usage: SessionUsage | None, *, answered: bool = False
) -> dict[str, Any]:
    """What a provider reported, with our own count of the same request.

    `answered` says that the answer to that request is in the window already.
    """
    if usage is None:
        return {}
    for name in ("input", "output", "cache_reads"):
        value = getattr(usage, name)
        if type(value) is not int or value < 0:
            raise InvalidInput(
                f"usage.{name} is a whole number of tokens, not {value!r}", code="bad_usage"
            )

    # Before the first compile nothing is known of what the caller sent with the history.
    own = state.own_tokens if state.sent_tokens and not answered else state.sent_tokens
    counts = {"input": usage.input, "output": usage.output, "cached": usage.cache_reads}
    return {"usage": {**counts, "own": own}}
