"""The state of one session, and the one way to change it: append, then fold.

Events and the edit that they make necessary are decided on the state, appended together, and only
then become the state. Who loses an append reads what the winner wrote and decides again.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import attrgetter
from typing import Any, Final, NamedTuple, cast

from ...schema.errors import Conflict, ContextBudgetExhausted, InvalidInput
from ...schema.values import canonical_json
from ...schema.window_policy import WindowPolicy
from ...window.advice import axis_of, compression_result
from ...window.checkpoint import TaskCheckpoint
from ...window.editing import (
    NO_WISH,
    EditPlan,
    EditWish,
    due_edit,
    everything_that_can_go,
    planned_edit,
)
from ...window.events import EditReason, EventKind, WindowEvent
from ...window.health import HealthReading, WindowAlert, window_alerts
from ...window.intake import Message
from ...window.notices import notice_lines
from ...window.pressure import Pressure
from ...window.rendering import RenderedHistory
from ...window.snapshot import snapshot_text
from ...window.state import EMPTY_STATE, WindowState, part_body, part_tokens
from ...window.step import step
from ...window.subsystems import BUILT_IN, Subsystems
from ...window.units import MessagePart
from .decision import SessionUsage, WindowDecision
from .listening import Listening
from .log import SessionLog

_HEALTH_READINGS: Final = 10
_SNAPSHOT_EVENTS: Final = 100
"""Events between two snapshots at least."""
_CHARACTERS_A_TOKEN: Final = 4
"""About; the exact size of a snapshot is not worth a walk over the window after each event."""
_READ_AHEAD: Final = attrgetter("terms", "identifiers", "names", "facts", "sentences", "acts")
"""What an edit asks of every unit: read off each as it comes, not of all in the hook that edits."""
_MOST_EVENTS: Final = 400
"""Events that an opening folds at most, about: 0.1 ms each."""


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
    listening: Listening
    subsystems: Subsystems = BUILT_IN
    state: WindowState = EMPTY_STATE
    readings: list[HealthReading] = field(default_factory=list[HealthReading])
    lock: threading.RLock = field(default_factory=threading.RLock)
    snapshot_seq: int = 0
    """The last event of the newest snapshot."""
    rendering: RenderedHistory = field(default_factory=RenderedHistory)
    characters: int = 0
    """Of the texts of the events since."""

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

    @property
    def identity(self) -> str:
        """The digest of the policy with the parts that run it."""
        return self.subsystems.identity(self.policy)

    def pressure(self) -> Pressure:
        """How full the window is now."""
        return self.subsystems.pressure.read(self.state, self.policy)

    def edit_plan(self, reason: EditReason, wish: EditWish = NO_WISH) -> EditPlan | None:
        """The edit down to the target for a reason, None where nothing can or need be freed."""
        return planned_edit(self.state, self.policy, reason, wish=wish, subsystems=self.subsystems)

    def require_open(self) -> None:
        """Refuse what would change a closed session.

        Raises:
            Conflict: `session_closed`.
        """
        if self.state.closed:
            raise Conflict("the session is closed; fork it to go on", code="session_closed")

    def require_step(self) -> None:
        """Refuse a step outside a turn, and one while a call waits for its result.

        Raises:
            Conflict: `step_out_of_order`.
        """
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
        state = self.state
        events: list[WindowEvent] = []
        for draft in drafts:
            state, event = with_draft(state, draft)
            events.append(event)

        # Event and edit are decided together and appended together: a crash between them would
        # leave a window that is over its limit for whoever opens it next.
        plan: EditPlan | None = None
        if planner is not None:
            plan = planner(state)
        elif edit:
            plan = due_edit(state, self.policy, self.subsystems)
        return self._append(state, events, [plan] if plan else [], must_fit=edit)

    def edit(self, plan: EditPlan | None) -> WindowDecision:
        """Append an edit; without a plan only the reading is answered."""
        return self._append(self.state, [], [plan] if plan else [])

    def _append(
        self,
        state: WindowState,
        events: list[WindowEvent],
        plans: list[EditPlan],
        *,
        must_fit: bool = False,
    ) -> WindowDecision:
        for plan in plans:
            state = self._with_edit(state, events, plan)
        # Laid out once: the plan's texts are counted in it, the dearest part after the plan itself.
        if must_fit and state.tokens > state.limit:
            plans = [*plans, _last_resort(state)]
            state = self._with_edit(state, events, plans[-1])

        edit = state.seq if plans else None
        if state.tokens > state.limit and plans:
            raise over_budget(state)

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
        # Only the newest unit is new; what is read off it stays with it for as long as it stands.
        for unit in state.units[-1:]:
            _READ_AHEAD(unit)

        changes = tuple(change for plan in plans for change in plan.changes)
        return self.decision(changes=changes, before=before, edit=edit)

    def _with_edit(
        self, state: WindowState, events: list[WindowEvent], plan: EditPlan
    ) -> WindowState:
        """The state after an edit; its events are put behind those that there are."""
        if state.policy_digest != self.identity:
            # Another policy than the log knows takes effect with the first edit that it decides.
            draft = EventDraft(EventKind.POLICY_CHANGED, policy_body(self.policy, self.subsystems))
            state, event = with_draft(state, draft)
            events.append(event)

        state, event = with_plan(state, plan)
        events.append(event)
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

        axis = axis_of(self.state, changes)
        lines = notice_lines(self.state, reading, earlier, changes, axis)
        if before is not None:
            self.listening.tell(self.state.seq, reading.zone, lines)

        return WindowDecision(
            seq=self.state.seq,
            zone=reading.zone,
            status=reading.status,
            reading=reading,
            actions=changes,
            notices=tuple(text for _, text in lines),
            alerts=self.alerts(),
            edit=edit,
            axis=axis,
            compression=compression_result(before or self.state, changes),
        )

    def alerts(self) -> tuple[WindowAlert, ...]:
        """The alerts of the last turns."""
        return window_alerts(self.readings)

    def note_health(self) -> None:
        """Keep the metrics at the end of a turn."""
        reading = self.subsystems.health.measure(self.state, self.pressure())
        self.readings.append(reading)
        del self.readings[:-_HEALTH_READINGS]
        self.listening.tell_alerts(self.state.seq, self.pressure().zone, self.alerts())


def policy_body(policy: WindowPolicy, subsystems: Subsystems = BUILT_IN) -> dict[str, Any]:
    """What an event says of the policy by which a session is run from then on."""
    body = {"policy": subsystems.identity(policy), "tunables": policy.to_plain()}
    replacements = subsystems.replacements
    return {**body, "parts": replacements} if replacements else body


def text_characters(events: Sequence[WindowEvent]) -> int:
    """The length of all texts of events."""
    characters = 0
    for event in events:
        characters += sum(map(len, event.texts))

    return characters


def over_budget(state: WindowState) -> ContextBudgetExhausted:
    """The error of a window in which nothing more can go."""
    largest = sorted(state.units, key=lambda unit: -unit.tokens)[:5]
    names = ", ".join(f"window://{unit.number} ({unit.tokens} tokens)" for unit in largest)
    shortfall = state.tokens - state.limit
    return ContextBudgetExhausted(
        f"{shortfall} tokens are missing although everything within reach left the window; the "
        f"largest that must stay: system and tools ({state.fixed_tokens} tokens), {names}",
        code="required_over_budget",
        shortfall=shortfall,
        units=[unit.number for unit in largest],
    )


def _last_resort(state: WindowState) -> EditPlan:
    plan = everything_that_can_go(state)
    if plan is None:
        raise over_budget(state)

    return plan


def with_draft(state: WindowState, draft: EventDraft) -> tuple[WindowState, WindowEvent]:
    """The state after one more event, and the event with its number."""
    event = WindowEvent(seq=state.seq + 1, kind=draft.kind, body=draft.body, texts=draft.texts)
    return step(state, event), event


def with_plan(state: WindowState, plan: EditPlan) -> tuple[WindowState, WindowEvent]:
    """The state after an edit, and its event."""
    # Counted here once: whoever folds the log later needs no tokenizer for it.
    body = {**plan.body, "tokens": [state.count(text) for text in plan.texts]}
    return with_draft(state, EventDraft(EventKind.EDITED, body, plan.texts))


def message_draft(
    state: WindowState, kind: EventKind, parts: Sequence[MessagePart], body: dict[str, Any]
) -> EventDraft:
    """The event of a message; its parts are counted for the session's model."""
    lines = [part_body(part, part_tokens(state, part)) for part in parts]
    return EventDraft(kind, {**body, "parts": lines}, tuple(part.text for part in parts))


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
    """What a provider reported, checked against our bound of the same request.

    `answered` says that the answer to that request stands in the window already.
    """
    if usage is None:
        return {}

    for name in ("input", "output", "cache_reads"):
        value = getattr(usage, name)
        if type(value) is not int or value < 0:
            raise InvalidInput(
                f"usage.{name} is a whole number of tokens, not {value!r}", code="bad_usage"
            )

    body: dict[str, Any] = {
        "usage": {"input": usage.input, "output": usage.output, "cached": usage.cache_reads}
    }
    # Before the first compile nobody knows what the caller sent beside the history.
    bound = state.tokens if state.sent_tokens and not answered else state.sent_tokens
    if bound and usage.input > bound:
        body["correction"] = -(-state.correction * usage.input // bound)

    return body
