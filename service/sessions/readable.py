"""What a session tells: its state, its next request, originals, the log, and how it stands."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ...schema.answers import HistoryRow
from ...window.bootstrap import Probe, TaskBootstrap, task_bootstrap
from ...window.editing import EditPlan, EditWish
from ...window.events import EditReason, Note, NoteCategory, WindowEvent
from ...window.judging import FidelityJudge
from ...window.scratchpad import ScratchpadEntry, scratchpad_entries
from ...window.state import WindowState
from ..backend.arguments import argument_checks
from ..backend.caller import Caller
from ..compilation.compile import Replayable
from .branching import told_conclusion
from .checkpoints import checkpoint_history
from .core import SessionCore
from .decision import SessionContext
from .listening import Listener
from .originals import (
    Rehydration,
    full_history,
    media_originals,
    pointed_numbers,
    rehydration,
)
from .reading import (
    SessionReport,
    memory_context,
    rehydrate_tool,
    replayed_context,
    session_report,
)


@argument_checks
@dataclass(frozen=True, slots=True)
class ReadableSession(Caller):
    """The part of a session that changes no history."""

    _core: SessionCore

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
        with self._core.lock:
            self._core.require_open()
            return memory_context(self._core, query, task, options)

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

    def rehydrate(self, request: int | str) -> Rehydration:
        """Originals by address (`window://57-80`), by turn (`turn:12`), or by a question.

        A page holds at most 4,000 tokens; `rehydrate(page.cursor)` reads on.

        Raises:
            NotFound: `unknown_unit`.
        """
        core = self._core
        return rehydration(core.log.read(), str(request), core.policy.page_tokens)

    def scratchpad(self) -> tuple[ScratchpadEntry, ...]:
        """Every picture and file of the session, oldest first, and whether it still stands."""
        history = full_history(self._core.log.read())
        return tuple(scratchpad_entries(history.units, self.state.units))

    def media(self, item: int | str) -> list[dict[str, Any]]:
        """The pictures and files under an address, as the blocks in which they came.

        Put them into the next message to show them again.

        Raises:
            NotFound: `unknown_unit`, where no picture and no file is.
        """
        return media_originals(self._core.log.read(), item)

    def tools(self, target: str = "anthropic") -> list[dict[str, Any]]:
        """The schema of the tool by which a model asks for originals, for a provider.

        Add it to the session's tools; answer a call of it with
        `session.on_tool_result(call_id, session.rehydrate(request).text)`.

        Raises:
            InvalidInput: `unknown_vocabulary`, for another target.
        """
        return [rehydrate_tool(target)]

    def events(self, after: int = 0) -> tuple[WindowEvent, ...]:
        """The log above a number: what came, what went, why, and what stands for it."""
        return self._core.log.read(after)

    def report(self, *, judge: FidelityJudge | None = None) -> SessionReport:
        """Pressure, budget, health and alerts; a judge is asked what the window still answers."""
        return session_report(self._core, judge)

    def preview(self, *, focus: str = "", keep: Iterable[int | str] = ()) -> EditPlan | None:
        """What `compact` would do now; nothing is changed. None when there is nothing to free."""
        numbers = frozenset(number for item in keep for number in pointed_numbers(item))
        return self._core.edit_plan(EditReason.COMPACT, EditWish(focus, numbers))

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
        self._core.listening.listener = listener
