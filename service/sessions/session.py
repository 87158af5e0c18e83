"""`memory.session(…)`: the life of a context window, from hook to hook.

A session is a log in the store and the state that the log folds to. A hook makes events of what
happened, decides with the pure core whether the window needs an edit, and appends events and edit
together: all of it is durable when the hook returns, or none of it is. Whatever leaves the window
stays in the log under its address. A second process that works on the same session wins or loses
the append as a whole; who loses reads on.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import partial
from operator import attrgetter
from typing import Any, Final

from ...schema.errors import Conflict, InvalidInput
from ...schema.vocabulary import parse
from ...schema.write import Receipt
from ...window.checkpoint import TaskCheckpoint
from ...window.editing import (
    concluding_edit,
)
from ...window.events import (
    EventKind,
    NoteCategory,
    SubtaskStatus,
)
from ...window.intake import Message, message_parts
from ..backend.arguments import argument_checks
from ..extraction.providers import provider_named
from .branching import (
    child_core,
    conclusion_drafts,
    delegation_draft,
    forked_core,
)
from .checkpoints import milestone_draft, save_checkpoint
from .core import (
    EventDraft,
    checkpoint_draft,
    earlier_decision,
    message_draft,
    provider_edits,
    retry_key,
    usage_body,
)
from .decision import SessionUsage, WindowDecision
from .limits import window_limit
from .originals import standing_unit
from .overflow import make_room
from .readable import ReadableSession
from .results import record_late_result, record_result, unknown_call
from .summarising import Summariser, SummaryReport, summarise_ahead
from .undoing import undo_draft

_HIGH_WATER: Final = 850
"""Permille of the limit from which the end of a turn saves a checkpoint."""
_BEFORE_AN_EDIT: Final = "nearly full"
"""The milestone under which such a checkpoint is saved."""
_TRIES: Final = 5
"""Appends of a parallel result until it gives up: each loser has read what the winner wrote."""


@argument_checks
@dataclass(frozen=True, slots=True)
class Session(ReadableSession):
    """One session of one user; open it with `memory.session(name)`."""

    # --- the five hooks

    def on_turn_start(self, message: Message, *, key: str | None = None) -> WindowDecision:
        """Record a user's message; the window is edited first where it would not fit.

        Raises:
            Conflict: `step_out_of_order` inside a turn; `session_closed`; `stale_version`;
                `idempotency_mismatch`, for a key that came with another message.
            ContextBudgetExhausted: `required_over_budget`; nothing was recorded.
            InvalidInput: `bad_message`.
        """
        core = self._core
        with core.lock:
            core.require_open()
            parts = message_parts(message, "user")
            body = retry_key(message, key, parts)
            earlier = earlier_decision(core, body)
            if earlier:
                return earlier

            if core.state.in_turn:
                raise Conflict(
                    "a turn is running; close it with on_turn_end", code="step_out_of_order"
                )

            return core.act([message_draft(core.state, EventKind.TURN_STARTED, parts, body)])

    def on_step(
        self, message: Message, usage: SessionUsage | None = None, *, key: str | None = None
    ) -> WindowDecision:
        """Record an answer of the model, with its calls.

        Raises:
            Conflict: `step_out_of_order`, outside a turn or while a call waits for its result;
                `session_closed`; `stale_version`; `idempotency_mismatch`.
            InvalidInput: `bad_message`.
        """
        core = self._core
        with core.lock:
            core.require_open()
            parts = message_parts(message, "assistant")
            body = retry_key(message, key, parts) | usage_body(core.state, usage)
            body |= provider_edits(message)
            earlier = earlier_decision(core, body)
            if earlier:
                return earlier
            core.require_step()
            # The answer is not sent until the next request, so it waits for no edit here.
            draft = message_draft(core.state, EventKind.STEP_MADE, parts, body)
            return core.act([draft], edit=False)

    def on_tool_result(
        self,
        call_id: str,
        content: Any,
        kind: str | None = None,
        *,
        is_error: bool = False,
    ) -> WindowDecision:
        """Record the result of a call: text, bytes, or a JSON value.

        A secret in it is masked first, what reads like an order to the model is set apart, and a
        result above the cap stands in its short form from the start; the original has an address.
        Results of parallel calls may come in any order and from several processes.

        Raises:
            NotFound: `unknown_call`.
            Conflict: `already_answered`, with another result; `session_closed`.
            InvalidInput: `too_large`, `unknown_vocabulary` for a kind.
        """
        core = self._core
        with core.lock:
            core.require_open()
            for attempt in range(_TRIES):
                try:
                    return record_result(core, call_id, content, kind, is_error)
                except Conflict as conflict:
                    if conflict.code != "stale_version" or attempt == _TRIES - 1:
                        raise

            raise AssertionError("the last try returns or raises")

    def late_result(
        self,
        call_id: str,
        content: Any,
        kind: str | None = None,
        *,
        is_error: bool = False,
    ) -> WindowDecision:
        """Record a result that came after its call was given up, or answered for the time being.

        The call stands once more in the running turn, with this result: what was sent before
        stays as it was, and no provider takes two results of one call.

        Raises:
            NotFound: `unknown_call`, for one that this session never had.
            Conflict: `step_out_of_order`, outside a turn or while another call waits.
            InvalidInput: as `on_tool_result`.
        """
        core = self._core
        with core.lock:
            core.require_open()
            return record_late_result(core, call_id, content, kind, is_error)

    def on_turn_end(
        self,
        message: Message | None = None,
        usage: SessionUsage | None = None,
        *,
        milestone: str = "",
    ) -> WindowDecision:
        """Close the turn, with the model's last answer; a milestone saves a checkpoint.

        So does a window that is nearly full: a deep edit comes next.

        The provider's count wins over ours: when it is larger, the bounds of this session are
        raised by the ratio.

        Raises:
            Conflict: `step_out_of_order`, outside a turn or while a call waits for its result.
        """
        core = self._core
        with core.lock:
            core.require_open()
            core.require_step()
            drafts: list[EventDraft] = []
            if message is not None:
                parts = message_parts(message, "assistant")
                drafts.append(message_draft(core.state, EventKind.STEP_MADE, parts, {}))

            report = usage_body(core.state, usage, answered=message is None)
            drafts.append(EventDraft(EventKind.TURN_ENDED, report))
            notices: list[str] = []
            reading = core.pressure()
            if not milestone and (reading.rollover or reading.utilisation >= _HIGH_WATER):
                milestone = _BEFORE_AN_EDIT

            if milestone:
                drafts.append(milestone_draft(core, milestone, len(drafts), notices))

            decision = core.act(drafts)
            core.note_health()
            notices = [*decision.notices, *notices]
            return replace(decision, notices=tuple(notices), alerts=core.alerts())

    def on_overflow(self, error: str | None = None) -> WindowDecision:
        """Make room whatever it takes, for example after a provider refused a request as too long.

        Ends below the limit without a model: the least harmful edit first, then everything within
        reach leaves under its address.

        Raises:
            ContextBudgetExhausted: `required_over_budget`, naming what cannot go.
        """
        core = self._core
        with core.lock:
            core.require_open()
            return make_room(core, error)

    # --- what a person, or the agent itself, asks for

    def compact(self, *, focus: str = "", keep: Iterable[int | str] = ()) -> WindowDecision:
        """Edit down to the target now; `focus` says what to stay close to, `keep` what to leave.

        Raises:
            Conflict: `session_closed`, `stale_version`.
        """
        with self._core.lock:
            self._core.require_open()
            return self._core.edit(self.preview(focus=focus, keep=keep))

    def undo(self, edit: int) -> WindowDecision:
        """Put back in full what an edit shortened, the newest first, while the window has room.

        Raises:
            NotFound: `unknown_edit`.
            ContextBudgetExhausted: `required_over_budget`; nothing was changed.
        """
        core = self._core
        with core.lock:
            core.require_open()
            return core.act([undo_draft(core, edit)], edit=False)

    def pin(self, item: int | str, *, until: int | None = None) -> WindowDecision:
        """Keep a unit in full, for ever or until the end of a turn.

        Raises:
            NotFound: `unknown_unit`, when it does not stand in the window.
        """
        return self._pin(item, True, until)

    def unpin(self, item: int | str) -> WindowDecision:
        """Let a pinned unit go again."""
        return self._pin(item, False, None)

    def note(self, category: str, text: str, *, status: str | None = None) -> WindowDecision:
        """Keep a line in sight whatever leaves: goal, decision, issue, todo or learning.

        A todo has a `status`: planned, in_progress or done; the same words again change it.

        Raises:
            InvalidInput: `unknown_vocabulary`, `missing_value`.
        """
        if not text.strip():
            raise InvalidInput("a note needs words", code="missing_value")

        section = parse(NoteCategory, category)
        body: dict[str, Any] = {"category": section.value}
        if status is not None:
            body["status"] = parse(SubtaskStatus, status).value

        with self._core.lock:
            self._core.require_open()
            return self._core.act([EventDraft(EventKind.NOTED, body, (text,))])

    def link(self, receipts: Iterable[Receipt], item: int | str | None = None) -> WindowDecision:
        """Say that claims were written from the words of a unit, by default the newest message.

        When the store overtakes one of them, each request says what holds now, and the next edit
        takes that unit before all others.

        Raises:
            NotFound: `unknown_unit`.
        """
        claims = list(map(attrgetter("object_id"), receipts))
        with self._core.lock:
            self._core.require_open()
            unit = standing_unit(self.state, item)
            body = {"unit": unit.number, "claims": claims}
            return self._core.act([EventDraft(EventKind.CLAIMS_LINKED, body)], edit=False)

    def abandon(self, call_id: str) -> WindowDecision:
        """Give up a call that will not be answered, so that the conversation can go on.

        Raises:
            NotFound: `unknown_call`.
        """
        with self._core.lock:
            self._core.require_open()
            if not any(call_id in unit.open_calls for unit in self.state.units):
                raise unknown_call(call_id)

            return self._core.act([EventDraft(EventKind.CALL_ABANDONED, {"call_id": call_id})])

    def fork(self, name: str, *, at: int | None = None) -> Session:
        """A session of its own that begins with the events of this one, up to a number.

        Raises:
            Conflict: `session_exists`.
            InvalidInput: `out_of_range`, for a number before the first event.
        """
        return Session(self._backend, self.principal, forked_core(self._core, name, at))

    def delegate(self, name: str, task: str, *, budget_tokens: int = 50_000) -> Session:
        """A session of its own for a piece of the task, with a clean window of a budget.

        The piece stands here as a todo in progress; hand back what `child.conclusion()` tells.

        Raises:
            Conflict: `session_exists`, `session_closed`, `stale_version`.
            InvalidInput: `missing_value`, `window_too_small`.
        """
        with self._core.lock:
            self._core.require_open()
            child, opening = child_core(self._core, name, task, budget_tokens)
            # The parent first: who loses this append decides again, and the name is still free.
            self._core.act([delegation_draft(task)])
            child.log.append(0, [opening])

        return Session(self._backend, self.principal, child)

    def conclude(self, conclusion: str, *, since: int, task: str = "") -> WindowDecision:
        """Keep what finished work came to, and fold its turns from `since` on.

        It stands as a decision in every request, and `task` becomes done.

        Raises:
            InvalidInput: `missing_value`, without a conclusion.
        """
        if not conclusion.strip():
            raise InvalidInput("a conclusion needs words", code="missing_value")

        core = self._core
        with core.lock:
            core.require_open()
            drafts = conclusion_drafts(core.state, conclusion, task)
            return core.act(drafts, planner=partial(concluding_edit, since=since))

    def use(
        self, model: str, *, window: int | None = None, reserve_tokens: int | None = None
    ) -> WindowDecision:
        """Go on with another model: everything is counted anew, and edited where it is too much.

        Raises:
            InvalidInput: `unknown_window`, `window_too_small`.
            ContextBudgetExhausted: `required_over_budget`; the session keeps its model.
        """
        size, limit = window_limit(model, window, reserve_tokens)
        body = {"model": model, "window": size, "limit": limit}
        with self._core.lock:
            self._core.require_open()
            return self._core.act([EventDraft(EventKind.MODEL_CHANGED, body)])

    def checkpoint(self, *, predecessor: str | None = None) -> TaskCheckpoint:
        """Save the state of the task, in the log and as a claim about the task, and return it.

        `predecessor` is the claim to replace, as `checkpoints` tells it, where a fork of this
        session has saved one that this session has not made.

        Raises:
            Conflict: `stale_version`, when another checkpoint of the task was saved since.
        """
        core = self._core
        with core.lock:
            core.require_open()
            checkpoint = core.subsystems.cross_window.checkpoint(core.state)
            checkpoint = replace(checkpoint, version=core.state.seq + 1)
            claim = save_checkpoint(core, checkpoint, "", predecessor)
            core.act([checkpoint_draft(checkpoint, "", claim)], edit=False)
            return checkpoint

    def close(self) -> WindowDecision:
        """Close the session: it can be read and forked, and takes no more events."""
        with self._core.lock:
            self._core.require_open()
            return self._core.act([EventDraft(EventKind.CLOSED, {})], edit=False)

    def summarise(self, summariser: Summariser | str, *, most: int = 8) -> SummaryReport:
        """Ask a model ahead for summaries of long units; for a job beside the agent's loop.

        The model is an object with `id` and `summarise(prompt)`, or is named as an extractor is:
        `openai:MODEL`, `anthropic:MODEL`, `openai:MODEL@ADDRESS`. The next edit may take what
        comes; without any it does what it does anyway. Nothing is asked while the window is green,
        and the session is not held while a model answers.

        Raises:
            Conflict: `session_closed`.
            InvalidInput: `bad_extractor`, for a name of no model.
            Unavailable: `extractor_unavailable`, without the extra or the key of its provider.
        """
        model = provider_named(summariser) if isinstance(summariser, str) else summariser
        return summarise_ahead(self._core, model, most)

    # --- inside

    def _pin(self, item: int | str, on: bool, until: int | None) -> WindowDecision:
        with self._core.lock:
            self._core.require_open()
            unit = standing_unit(self.state, item)
            body = {"unit": unit.number, "on": on, "until": until}
            return self._core.act([EventDraft(EventKind.PINNED, body)], edit=False)
