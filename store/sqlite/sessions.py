"""The session log of a tenant's file.

Events and texts are rows of their own tables; triggers let events only grow and texts only be
emptied. The digests are made here, under the write lock, from the key of the file.
"""

from __future__ import annotations

import hmac
import sqlite3
from collections.abc import Iterator, Sequence
from itertools import groupby

from ...schema.errors import Fault
from ..port.sessions import (
    LOG_START,
    SNAPSHOTS_KEPT,
    SessionHead,
    SessionPlace,
    SessionRecord,
    SessionSnapshot,
    SessionSummary,
    SessionText,
    seal,
    snapshot_seal,
)
from .codec import Line
from .sql import core
from .sql import sessions as sql


def head(db: sqlite3.Connection, session: str) -> SessionHead:
    """The last event of a session."""
    line = db.execute(sql.HEAD, (session,)).fetchone()
    return SessionHead(0, LOG_START) if line is None else SessionHead(*line)


def put(db: sqlite3.Connection, records: Sequence[SessionRecord]) -> None:
    """Append events, each right behind the last one of its session.

    Raises:
        Fault: `invariant_broken`, for an event that leaves a gap or stands there already.
    """
    key: bytes = db.execute(core.KEYS).fetchone()[0]

    for record in records:
        last = head(db, record.session)
        if record.seq != last.seq + 1:
            raise Fault(
                f"event {record.seq} does not follow event {last.seq} of its session",
                code="invariant_broken",
            )
        event = seal(key, last, record)
        fields = (event.actor, event.last_us, event.recorded_us, event.body, event.digest)
        db.execute(sql.PUT_EVENT, (event.session, event.seq, event.kind, *fields))
        for part, text in enumerate(event.texts):
            db.execute(sql.PUT_TEXT, (event.session, event.seq, part, text.digest, text.text))


def empty(db: sqlite3.Connection, places: Sequence[SessionPlace]) -> None:
    """Empty the texts of events; the snapshots that may repeat them go as a whole."""
    db.executemany(sql.EMPTY_TEXTS, places)
    for session in {place.session for place in places}:
        db.execute(sql.DROP_SNAPSHOTS, {"session": session, "keep": 0})


def put_snapshot(db: sqlite3.Connection, session: str, body: str) -> None:
    """Keep a snapshot behind the last event of a session, with the one before it.

    Raises:
        Fault: `invariant_broken`, for a session without events.
    """
    key: bytes = db.execute(core.KEYS).fetchone()[0]
    last = head(db, session)
    if last.seq == 0:
        raise Fault(f"{session} has no events to keep a snapshot of", code="invariant_broken")
    db.execute(sql.PUT_SNAPSHOT, (session, last.seq, snapshot_seal(key, last.digest, body), body))
    db.execute(sql.DROP_SNAPSHOTS, {"session": session, "keep": SNAPSHOTS_KEPT})


def snapshot(db: sqlite3.Connection, session: str) -> SessionSnapshot | None:
    """The newest snapshot of a session whose seal holds."""
    lines = db.execute(sql.SNAPSHOTS, (session,)).fetchall()
    key: bytes = db.execute(core.KEYS).fetchone()[0] if lines else b""
    for seq, body, stored_seal, digest in lines:
        if hmac.compare_digest(stored_seal, snapshot_seal(key, digest, body)):
            return SessionSnapshot(seq, body)
    return None


def events(
    db: sqlite3.Connection, session: str, after: int, until: int
) -> tuple[SessionRecord, ...]:
    """The events of a session with numbers above `after` and up to `until`."""
    texts: dict[int, tuple[SessionText, ...]] = {}
    lines = db.execute(sql.TEXTS, (session, after, until))
    for seq, group in groupby(lines, key=lambda line: int(line[0])):
        texts[seq] = tuple(SessionText(text, digest) for _, text, digest in group)

    records: list[SessionRecord] = []
    for line in db.execute(sql.EVENTS, (session, after, until)):
        records.append(_record(line, texts.get(line[1], ())))
    return tuple(records)


def all_events(db: sqlite3.Connection) -> Iterator[SessionRecord]:
    """Every event of every session, by session, then number."""
    for line in db.execute(sql.ALL_EVENTS):
        texts = db.execute(sql.EVENT_TEXTS, line[:2])
        yield _record(line, tuple(SessionText(text, digest) for text, digest in texts))


def summaries(db: sqlite3.Connection) -> tuple[SessionSummary, ...]:
    """Every session with its last event, by session."""
    return tuple(SessionSummary(*line) for line in db.execute(sql.SUMMARIES))


def _record(line: Line, texts: tuple[SessionText, ...]) -> SessionRecord:
    return SessionRecord(
        session=line[0],
        seq=line[1],
        kind=line[2],
        actor=line[3],
        last_us=line[4],
        recorded_us=line[5],
        body=line[6],
        digest=line[7],
        texts=texts,
    )
