"""`memory.session(…)`: the life of a context window, from hook to hook.

A session is a log in the store and the state that the log folds to. A hook makes events of what
happened, decides with the pure core whether the window needs an edit, and appends events and edit
together: all of it is durable when the hook returns, or none of it is. Whatever leaves the window
stays in the log under its address. A second process that works on the same session wins or loses
the append as a whole; who loses reads on.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass, replace
from operator import attrgetter
from typing import Any, Final, Literal, cast

from ...schema.answers import HistoryRow
from ...schema.errors import Conflict, ContextBudgetExhausted, InvalidInput, NotFound
from ...schema.vocabulary import parse
from ...schema.write import Receipt
from ...window.checkpoint import (
    Probe,
    ScratchpadEntry,
    TaskBootstrap,
    TaskCheckpoint,
    scratchpad_entries,
    task_bootstrap,
)
from ...window.editing import EditWish, target_tokens
from ...window.events import EditReason, EventKind, Note, NoteCategory, SubtaskStatus, WindowEvent
from ...window.intake import Message, message_parts, plain_message
from ...window.layout import recall_tool
from ...window.ledger import EditPlan
from ...window.report import FidelityJudge
from ...window.state import WindowState
from ..backend.caller import Caller, argument_checks
from ..compilation.compile import Replayable
from ..extraction.providers import provider_named
from .branching import (
    checkpoint_history,
    child_core,
    conclusion_drafts,
    delegation_draft,
    forked_core,
    milestone_draft,
    save_checkpoint,
    told_conclusion,
)
from .core import (
    EventDraft,
    Listener,
    SessionCore,
    checkpoint_draft,
    earlier_decision,
    message_draft,
    provider_edits,
    retry_key,
    usage_body,
)
from .decision import RequestTarget, SessionContext, Usage, WindowDecision, stated_usage, usage_of
from .originals import (
    Rehydration,
    media_originals,
    pointed_numbers,
    rehydration,
    standing_unit,
    undo_draft,
    units_between,
)
from .overflow import make_room
from .reading import SessionReport, memory_context, replayed_context, session_report
from .results import adoption_drafts, record_late_result, record_result, unknown_call
from .summarising import Summariser, SummaryReport, summarise_ahead
from .terms import SessionTerms, changed_terms, masked_terms

NoteWord = NoteCategory | Literal["goal", "decision", "issue", "todo", "learning"]
NoteStatus = SubtaskStatus | Literal["planned", "in_progress", "done"]
ResultKind = Literal["search", "file", "code", "api"]

_HIGH_WATER: Final = 850
"""Permille of the limit from which the end of a turn saves a checkpoint."""
_BEFORE_AN_EDIT: Final = "nearly full"
"""The milestone under which such a checkpoint is saved."""


@argument_checks
@dataclass(frozen=True, slots=True)
class Session(Caller):
    """One session of one user; open it with `memory.session(name)`."""

    _core: SessionCore

    # --- the five hooks

    def on_turn_start(self, message: Message, *, key: str | None = None) -> WindowDecision:
        """Record a user's message; the window is edited first where it would not fit.

        Raises:
            Conflict: `step_out_of_order` inside a turn; `session_closed`; `stale_version`;
                `idempotency_mismatch`, for a key that came with another message.
            ContextBudgetExhausted: `required_over_budget`; nothing was recorded.
            InvalidInput: `bad_message`.
        """
        with self._core.opened() as core:
            message = plain_message(message)
            parts = core.masked_parts(message_parts(message, "user"))
            body = retry_key(message, key, parts) | {"turn": core.state.turn + 1}
            earlier = earlier_decision(core, body)
            if earlier:
                return earlier

            core.require_own_turn()
            if core.state.in_turn:
                advice = "close it with on_turn_end"
                if core.state.open_units:
                    call_id = core.state.open_units[0].open_calls[0]
                    advice = f"give up the call {call_id} with abandon, then {advice}"
                raise Conflict(f"a turn is running; {advice}", code="step_out_of_order")

            return core.act([message_draft(core.state, EventKind.TURN_STARTED, parts, body)])

    def on_step(
        self, message: Message, usage: Usage | None = None, *, key: str | None = None
    ) -> WindowDecision:
        """Record an answer of the model, with its calls; a conversation may begin with one.

        Objects of the providers' SDKs are taken as they are. Without `usage` the usage that the
        message itself reports counts.

        Raises:
            Conflict: `step_out_of_order`, outside a turn or while a call waits for its result;
                `session_closed`; `stale_version`; `idempotency_mismatch`.
            InvalidInput: `bad_message`.
        """
        with self._core.opened() as core:
            message = plain_message(message)
            parts = core.masked_parts(message_parts(message, "assistant"))
            report = stated_usage(usage) or usage_of(message)
            body = retry_key(message, key, parts) | usage_body(core.state, report)
            body |= provider_edits(message)
            earlier = earlier_decision(core, body)
            if earlier:
                return earlier

            # A conversation may begin with the model's greeting.
            if core.state.turn or core.state.units:
                core.require_step()
            # The answer is not sent until the next request, so it waits for no edit here.
            draft = message_draft(core.state, EventKind.STEP_MADE, parts, body)
            return core.act([draft], edit=False)

    def on_tool_result(
        self,
        call_id: str,
        content: Any,
        kind: ResultKind | None = None,
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
        with self._core.opened() as core:
            return core.retry(lambda: record_result(core, call_id, content, kind, is_error))

    def late_result(
        self,
        call_id: str,
        content: Any,
        kind: ResultKind | None = None,
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
        with self._core.opened() as core:
            return record_late_result(core, call_id, content, kind, is_error)

    def on_turn_end(
        self,
        message: Message | None = None,
        usage: Usage | None = None,
        *,
        milestone: str = "",
    ) -> WindowDecision:
        """Close the turn, with the model's last answer; a milestone saves a checkpoint.

        So does a window that is nearly full: a deep edit comes next.

        The provider's count wins over ours: what it reports corrects the bounds of this session.

        Raises:
            Conflict: `step_out_of_order`, outside a turn or while a call waits for its result.
        """
        with self._core.opened() as core:
            core.require_step()
            drafts: list[EventDraft] = []
            report = stated_usage(usage)
            if message is not None:
                message = plain_message(message)
                parts = core.masked_parts(message_parts(message, "assistant"))
                drafts.append(message_draft(core.state, EventKind.STEP_MADE, parts, {}))
                report = report or usage_of(message)

            body = usage_body(core.state, report, answered=message is None)
            notices: list[str] = []
            reading = core.pressure()
            health = core.subsystems.health.measure(core.state, reading)
            drafts.append(EventDraft(EventKind.TURN_ENDED, body | {"health": [*astuple(health)]}))
            if not milestone and (reading.rollover or reading.utilisation >= _HIGH_WATER):
                milestone = _BEFORE_AN_EDIT

            if milestone:
                drafts.append(milestone_draft(core, milestone, len(drafts), notices))

            decision = core.act(drafts)
            notices = [*decision.notices, *notices]
            return replace(decision, notices=tuple(notices), alerts=core.alerts())

    def on_overflow(self, error: str | BaseException | None = None) -> WindowDecision:
        """Make room after a provider refused a request as too long.

        Ends below the numbers that its text states, without a model: the usual edit first, then
        everything within reach leaves under its address. Where calls without results were refused,
        these are given up. An exception of another kind is raised again, and nothing changes.

        Raises:
            InvalidInput: `not_an_overflow`, for a text that says nothing about the length.
            ContextBudgetExhausted: `required_over_budget`, naming what cannot go.
        """
        with self._core.opened() as core:
            return make_room(core, error)

    # --- what a person, or the agent itself, asks for

    def adopt(self, messages: Iterable[Message]) -> WindowDecision:
        """Take over a conversation that exists, in the form of any provider, in one append.

        System texts are left out: state them when the session is opened.

        Raises:
            Conflict: `step_out_of_order`, inside a turn.
            InvalidInput: `bad_message`.
            ContextBudgetExhausted: `required_over_budget`; nothing was recorded.
        """
        with self._core.opened() as core:
            core.require_own_turn()
            if core.state.in_turn:
                raise Conflict("a turn is running; close it first", code="step_out_of_order")
            return core.act(adoption_drafts(core, messages))

    def compact(
        self, *, focus: str = "", keep: Iterable[int | str] = (), to: int | None = None
    ) -> WindowDecision:
        """Edit now, at any fill: down to `to` permille of the limit, by default to the target.

        Below the target it goes down to two thirds of the load. What is about `focus` leaves last,
        and what `keep` names stays.

        Raises:
            Conflict: `session_closed`, `stale_version`.
        """
        with self._core.opened() as core:
            decision = core.edit(self.preview(focus=focus, keep=keep, to=to))
            if decision.edit is None:
                decision = replace(decision, notices=(*decision.notices, "nothing can be freed"))
            return decision

    def undo(self, edit: int) -> WindowDecision:
        """Put back what an edit changed, the newest first, while the window has room.

        Raises:
            NotFound: `unknown_edit`.
            ContextBudgetExhausted: `required_over_budget`; nothing was changed.
        """
        with self._core.opened() as core:
            draft = undo_draft(core, edit)
            if draft is None:
                notice = f"nothing is changed any more by edit {edit}"
                return replace(core.decision(), notices=(notice,))
            return core.act([draft], edit=False)

    def forget(self, item: int | str) -> WindowDecision:
        """Take one message with its results out of the window; the log keeps it until an erasure.

        Raises:
            NotFound: `unknown_unit`, when it is not in the window.
            Conflict: `open_calls`, while a call of it waits for its result.
        """
        with self._core.opened() as core:
            unit = standing_unit(core.state, item)
            if unit.open_calls:
                raise Conflict(
                    f"the call {unit.open_calls[0]} waits for its result; give it up with abandon",
                    code="open_calls",
                )
            return core.act([EventDraft(EventKind.FORGOTTEN, {"unit": unit.number})], edit=False)

    def pin(self, item: int | str, *, until: int | None = None) -> WindowDecision:
        """Keep a unit in full, for ever or until the end of a turn.

        Raises:
            NotFound: `unknown_unit`, when it does not stand in the window.
        """
        return self._pin(item, True, until)

    def unpin(self, item: int | str) -> WindowDecision:
        """Let a pinned unit go again."""
        return self._pin(item, False, None)

    def note(self, category: NoteWord, text: str, *, status: NoteStatus | None = None) -> int:
        """Keep a line in every request: goal, decision, issue, todo or learning.

        A todo has a `status`: planned, in_progress or done; the same words again change it. Notes
        have a share of the window: above it done todos and old learnings leave first. The answer is
        the note's number, for `drop_note`.

        Raises:
            InvalidInput: `unknown_vocabulary`, `missing_value`.
            ContextBudgetExhausted: `required_over_budget`, when the other notes fill the share.
        """
        if not text.strip():
            raise InvalidInput("a note needs words", code="missing_value")

        section = parse(NoteCategory, category)
        body: dict[str, Any] = {"category": section.value}
        if status is not None:
            body["status"] = parse(SubtaskStatus, status).value

        with self._core.opened() as core:
            words, _ = core.masked(text)
            draft = EventDraft(EventKind.NOTED, body, (words,))
            share = core.policy.notes_share * core.state.limit // 1000
            drops = _leaving_notes(core.folded([draft])[0], share)
            number = core.state.seq + 1
            core.act([draft._replace(body=body | {"drops": drops})])
            return number

    def drop_note(self, note: int) -> WindowDecision:
        """Take a note back, by its number.

        Raises:
            NotFound: `unknown_note`.
        """
        with self._core.opened() as core:
            if all(known.seq != note for known in core.state.notes):
                raise NotFound(f"there is no note {note}", code="unknown_note", note=note)
            return core.act([EventDraft(EventKind.NOTES_DROPPED, {"notes": [note]})], edit=False)

    def link(self, receipts: Iterable[Receipt], item: int | str | None = None) -> WindowDecision:
        """Say that claims were written from the words of a unit, by default the newest message.

        When the store overtakes one of them, each request says what holds now, and the next edit
        takes that unit before all others.

        Raises:
            NotFound: `unknown_unit`.
        """
        claims = list(map(attrgetter("object_id"), receipts))
        with self._core.opened() as core:
            unit = standing_unit(core.state, item)
            body = {"unit": unit.number, "claims": claims}
            return core.act([EventDraft(EventKind.CLAIMS_LINKED, body)], edit=False)

    def abandon(self, call_id: str) -> WindowDecision:
        """Give up a call that will not be answered, so that the conversation can go on.

        Raises:
            NotFound: `unknown_call`.
        """
        with self._core.opened() as core:
            if not any(call_id in unit.open_calls for unit in core.state.units):
                raise unknown_call(call_id)

            return core.act([EventDraft(EventKind.CALL_ABANDONED, {"call_id": call_id})])

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
        with self._core.opened() as core:
            task, _ = core.masked(task)
            child, opening = child_core(core, name, task, budget_tokens)
            # The parent first: who loses this append decides again, and the name is still free.
            core.act([delegation_draft(task)])
            child.log.append(0, [opening])

        return Session(self._backend, self.principal, child)

    def conclude(self, conclusion: str, *, since: int, task: str = "") -> WindowDecision:
        """Keep what finished work came to, and let its turns from `since` on leave.

        It is a decision in every request, and `task` becomes done.

        Raises:
            InvalidInput: `missing_value`, without a conclusion.
        """
        if not conclusion.strip():
            raise InvalidInput("a conclusion needs words", code="missing_value")

        with self._core.opened() as core:
            words, _ = core.masked(conclusion)
            drafts = conclusion_drafts(core.state, words, core.masked(task)[0])

            def plan(state: WindowState) -> EditPlan | None:
                wish = EditWish(since=max(1, since))
                return core.plan(EditReason.CONCLUSION, 0, wish, state=state)

            return core.act(drafts, planner=plan)

    def use(
        self,
        model: str | None = None,
        *,
        tools: Sequence[Any] | None = None,
        system: str | None = None,
        window: int | None = None,
        reserve_tokens: int | None = None,
    ) -> WindowDecision:
        """Go on with another model, tools, system text or window, from the next request on.

        For another model everything is counted again, and edited where it is too much.

        Raises:
            InvalidInput: `unknown_window`, `window_too_small`.
            ContextBudgetExhausted: `required_over_budget`; the session keeps its terms.
        """
        stated = {"model": model, "tools": tools, "system": system, "window": window}
        stated["reserve_tokens"] = reserve_tokens
        given = {name: value for name, value in stated.items() if value is not None}
        with self._core.opened() as core:
            drafts = changed_terms(core.state, masked_terms(core, cast("SessionTerms", given)))
            return core.act(drafts) if drafts else core.decision()

    def checkpoint(self, *, predecessor: str | None = None) -> TaskCheckpoint:
        """Save the state of the task, in the log and as a claim about the task, and return it.

        `predecessor` is the claim to replace, as `checkpoints` tells it, where a fork of this
        session has saved one that this session has not made.

        Raises:
            Conflict: `stale_version`, when another checkpoint of the task was saved since.
        """
        with self._core.opened() as core:
            checkpoint = core.subsystems.cross_window.checkpoint(core.state)
            checkpoint = replace(checkpoint, version=core.state.seq + 1)
            claim = save_checkpoint(core, checkpoint, "", predecessor)
            core.act([checkpoint_draft(checkpoint, "", claim)], edit=False)
            return checkpoint

    def close(self) -> WindowDecision:
        """Close the session: it can be read and forked, and takes no more events."""
        with self._core.opened() as core:
            return core.act([EventDraft(EventKind.CLOSED, {})], edit=False)

    def summarise(self, summariser: Summariser | str, *, most: int = 8) -> SummaryReport:
        """Ask a model ahead for summaries of older messages; for a job next to the agent's loop.

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

    # --- what it tells

    @property
    def state(self) -> WindowState:
        """What stands in the window, as a frozen value."""
        return self._core.state

    def checkpoints(self) -> tuple[HistoryRow, ...]:
        """Every saved checkpoint of the task on both axes, oldest first; forks share them."""
        return checkpoint_history(self._core)

    @property
    def notes(self) -> tuple[Note, ...]:
        """The notes, by category in order of importance."""
        order = list(NoteCategory)
        return tuple(sorted(self.state.notes, key=lambda note: order.index(note.category)))

    def compile(
        self, query: str | None = None, *, task: str = "system_orchestration", **options: Any
    ) -> SessionContext:
        """The next request: what stands in the window, and what the store knows for it.

        The query is the last user message unless one is stated; `task` is a task type, `options`
        are those of `memory.compile`. What the store brings takes at most a fifth of the window,
        and together they never pass it.

        Raises:
            Conflict: `session_closed`, `stale_version`.
            ContextBudgetExhausted: `required_over_budget`.
        """
        with self._core.opened() as core:
            return memory_context(core, query, task, options)

    def replay(self, reference: Replayable) -> SessionContext:
        """A request of this session again, from an envelope that `compile` gave, or its id.

        Its manifest names the log up to an event, not the words; what was erased since stands as
        erased.

        Raises:
            InvalidInput: `bad_manifest`, also for an envelope of another session.
            NotFound: `unknown_object`; `erased`, when something that it held was erased.
            Forbidden: `privilege_required`.
        """
        return replayed_context(self._core, reference)

    def would_fit(self, text: str) -> bool:
        """Whether a text would fit into the next request before an edit; nothing is recorded."""
        state = self.state
        tokens = state.correction.bound(state.own_tokens + state.count(text))
        return tokens <= state.limit

    def rehydrate(self, request: int | str) -> Rehydration:
        """Originals by address (`window://57-80`), by turn (`turn:12`), or by a question.

        A page holds at most 4,000 tokens; `rehydrate(page.cursor)` reads on.

        Raises:
            NotFound: `unknown_unit`.
        """
        with self._core.caught_up() as core:
            return rehydration(core, str(request))

    def scratchpad(self) -> tuple[ScratchpadEntry, ...]:
        """Every picture and file of the session, oldest first, and whether it still stands."""
        with self._core.caught_up() as core:
            history = units_between(core, 1, core.state.seq)
            return tuple(scratchpad_entries(history, core.state.units))

    def media(self, item: int | str) -> list[dict[str, Any]]:
        """The pictures and files under an address, as the blocks in which they came.

        Put them into the next message to show them again.

        Raises:
            NotFound: `unknown_unit`, where no picture and no file is.
        """
        return media_originals(self._core, item)

    def tools(self, target: RequestTarget = "anthropic") -> list[dict[str, Any]]:
        """The schema of the tool by which a model asks for originals, for a provider.

        A session with tools sends it with them; add it yourself where there are none. Answer a
        call of it with
        `session.on_tool_result(call_id, session.rehydrate(request).text)`.

        Raises:
            InvalidInput: `unknown_vocabulary`, for another target.
        """
        return [recall_tool(target)]

    def events(self, after: int = 0) -> tuple[WindowEvent, ...]:
        """The log above a number: what came, what went, why, and what stands for it."""
        return self._core.log.read(after)

    def report(self, *, judge: FidelityJudge | None = None) -> SessionReport:
        """Pressure, budget, health and alerts; a judge is asked what the window still answers."""
        with self._core.caught_up() as core:
            return session_report(core, judge)

    def preview(
        self, *, focus: str = "", keep: Iterable[int | str] = (), to: int | None = None
    ) -> EditPlan | None:
        """What `compact` would do now; nothing is changed. None when there is nothing to free.

        Raises:
            InvalidInput: `out_of_range`, for a part of the limit that is none.
        """
        if to is not None and not 0 <= to <= 1000:
            raise InvalidInput(
                f"`to` is a permille of the limit, 0 to 1000, not {to}", code="out_of_range"
            )
        numbers: set[int] = set()
        for item in keep:
            span = pointed_numbers(item)
            if span is not None:
                numbers.update(range(span[0], span[1] + 1))

        with self._core.caught_up() as core:
            state = core.state
            goal = target_tokens(state, core.policy) if to is None else to * state.limit // 1000
            if to is None and state.tokens <= goal:
                goal = state.tokens * 2 // 3
            wish = EditWish(focus, frozenset(numbers))
            return core.plan(EditReason.COMPACT, goal, wish)

    def conclusion(self) -> str:
        """What this session came to, in at most 2,000 tokens: its decisions and last answer."""
        return told_conclusion(self._core)

    def bootstrap(
        self, probes: Mapping[str, Probe] | None = None, *, budget_tokens: int = 4_000
    ) -> TaskBootstrap:
        """The task ready for a new window: checkpoint, what differs by the probes, next work."""
        state = self.state
        checkpoint = self._core.subsystems.cross_window.checkpoint(state)
        return task_bootstrap(checkpoint, probes or {}, budget_tokens, state.count)

    def listen(self, listener: Listener | None) -> None:
        """Call a function with each notice from now on; None ends it.

        A notice is a change of zone, a spike, an edit, the advice to delegate, or an alert, and is
        told once, in the hook that brought it, after all of it is durable. Forks and children
        that begin later are heard, too. What the function raises reaches the caller of the hook.
        """
        self._core.listener = listener

    # --- inside

    def _pin(self, item: int | str, on: bool, until: int | None) -> WindowDecision:
        with self._core.opened() as core:
            unit = standing_unit(core.state, item)
            body = {"unit": unit.number, "on": on, "until": until}
            return core.act([EventDraft(EventKind.PINNED, body)], edit=False)


_DROPPED_FIRST: Final = (
    (NoteCategory.TODO, SubtaskStatus.DONE),
    (NoteCategory.LEARNING, None),
)
"""The notes that leave where notes take more than their share, in this order, the oldest first."""


def _leaving_notes(state: WindowState, share: int) -> list[int]:
    """The numbers of notes that leave for the newest one.

    Raises:
        ContextBudgetExhausted: `required_over_budget`.
    """
    notes = state.notes[:-1]
    excess = sum(map(attrgetter("tokens"), state.notes)) - share
    drops: list[int] = []
    for category, status in _DROPPED_FIRST:
        for note in notes:
            if excess > 0 and note.category is category and note.status is status:
                drops.append(note.seq)
                excess -= note.tokens
    if excess > 0:
        raise ContextBudgetExhausted(
            f"notes take {excess} tokens more than their share of {share} with this one, and none "
            "of the others may leave by itself: take one back with drop_note",
            code="required_over_budget",
            shortfall=excess,
            notes=[note.seq for note in notes],
        )
    return drops
