"""The log of one session in the store: reading, appending, and the codec between them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from ...schema.errors import InvalidInput, TenureError
from ...schema.principal import Principal, Scope
from ...schema.values import canonical_json
from ...store.commit.sessions import append_events
from ...store.port.sessions import SessionRecord, SessionSummary, SessionText
from ...window.events import ERASURE_MARK, EventKind, WindowEvent
from ...window.snapshot import state_from
from ...window.state import WindowState
from ..backend.backend import Backend

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

        return tuple(event_of(record) for record in records)

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
            texts=tuple(SessionText(text) for text in event.texts),
        )


def event_of(record: SessionRecord) -> WindowEvent:
    """The window's event that a record keeps."""
    texts = [ERASURE_MARK if text.text is None else text.text for text in record.texts]
    return WindowEvent(
        seq=record.seq,
        kind=EventKind(record.kind),
        body=json.loads(record.body),
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


def own_sessions(backend: Backend, principal: Principal) -> tuple[SessionSummary, ...]:
    """The sessions of a caller, by name, under the names by which it opens them."""
    backend.open(principal.tenant)
    with backend.store.reading(principal.tenant) as reader:
        summaries = reader.sessions()

    summaries_of_caller: list[SessionSummary] = []
    for summary in summaries:
        scope = Scope.parse(summary.session)
        if scope.user == principal.user and scope.session:
            summaries_of_caller.append(summary._replace(session=scope.session))

    return tuple(summaries_of_caller)
