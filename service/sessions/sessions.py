"""`memory.sessions`: the caller's windows from outside, also over HTTP.

The agent's own loop holds a `Session`; these calls look into one and tidy it. None of them begins
a session or takes part in a turn.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ...schema.errors import NotFound
from ...schema.records import short_repr
from ...store.port.records import SessionSummary
from ...window.events import GENERATION
from ...window.report import Pressure
from ...window.units import StandingForm, pointer
from ..backend.caller import Caller, argument_checks
from .core import newest_log, own_sessions
from .decision import RequestTarget, WindowDecision
from .originals import Rehydration
from .session import Session
from .terms import SessionRules, opened_core


@dataclass(frozen=True, slots=True)
class UnitView:
    """A message with its results, as the window holds it."""

    __repr__ = short_repr

    address: str
    turn: int
    form: StandingForm
    tokens: int
    text: str


@dataclass(frozen=True, slots=True)
class SessionView:
    """What is in the window of a session."""

    __repr__ = short_repr

    session: str
    seq: int
    turn: int
    closed: bool
    pressure: Pressure
    units: tuple[UnitView, ...]


@argument_checks
class Sessions(Caller):
    """The sessions of one caller."""

    def list(self) -> tuple[SessionSummary, ...]:
        """This caller's sessions, each with its last event, by name."""
        return own_sessions(self._backend, self.principal)

    def show(self, name: str) -> SessionView:
        """What is in the window, unit by unit, and how full it is.

        Raises:
            NotFound: `unknown_session`.
        """
        session = self._session(name)
        state = session.state
        units: list[UnitView] = []
        for unit in state.units:
            address = pointer(unit.number)
            units.append(UnitView(address, unit.turn, unit.form, unit.tokens, unit.text))
        reading = session.report().pressure
        return SessionView(name, state.seq, state.turn, state.closed, reading, tuple(units))

    def compile(
        self, name: str, query: str | None = None, *, target: RequestTarget = "anthropic"
    ) -> dict[str, Any]:
        """The next request, for `anthropic`, `openai`, `responses` or `gemini`.

        Raises:
            NotFound: `unknown_session`.
            Conflict: `session_closed`; `open_calls`, while a call waits for its result.
            ContextBudgetExhausted: `required_over_budget`.
            InvalidInput: `unknown_vocabulary`, for another target.
        """
        return self._session(name).compile(query).render(target)

    def compact(
        self, name: str, *, focus: str = "", keep: Sequence[str] = (), to: int | None = None
    ) -> WindowDecision:
        """Edit the window now, down to `to` permille of its limit, by default to its target.

        Raises:
            NotFound: `unknown_session`.
            Conflict: `session_closed`, `stale_version`.
        """
        return self._session(name).compact(focus=focus, keep=keep, to=to)

    def undo(self, name: str, edit: int) -> WindowDecision:
        """Put back what an edit changed, the newest first, while the window has room.

        Raises:
            NotFound: `unknown_session`, `unknown_edit`.
            ContextBudgetExhausted: `required_over_budget`; nothing was changed.
        """
        return self._session(name).undo(edit)

    def rehydrate(self, name: str, request: str) -> Rehydration:
        """A page of originals by address, by turn (`turn:12`), by a question or a cursor.

        Raises:
            NotFound: `unknown_session`, `unknown_unit`.
        """
        return self._session(name).rehydrate(request)

    def _session(self, name: str) -> Session:
        # A misspelt name must not begin another session, and an earlier use has no name.
        is_name = bool(name) and GENERATION not in name
        if not is_name or not newest_log(self._backend, self.principal, name)[0].read(until=1):
            raise NotFound(f"there is no session {name!r}", code="unknown_session")
        core = opened_core(self._backend, self.principal, name, SessionRules(), {})
        return Session(self._backend, self.principal, core)
