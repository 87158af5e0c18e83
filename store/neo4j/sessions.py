"""The session log on the server: the same records as in a file, found by their unique keys.

The digests are made here, under the tenant's lock, from the tenant's first key.
"""

from __future__ import annotations

import hmac
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, Final

from ...schema.errors import Fault
from ..port.records import (
    LOG_START,
    SNAPSHOTS_KEPT,
    SessionHead,
    SessionPlace,
    SessionRecord,
    SessionSnapshot,
    SessionSummary,
    SessionText,
    seal_next,
    snapshot_seal,
)
from .calls import Calls, Reads, Writes
from .cypher import core

_FIELDS: Final = ("seq", "kind", "actor", "last_us", "recorded_us", "body")
_LARGEST: Final = 500
"""Rows of one statement."""
_LAST: Final = 2**62
"""Above every number of an event."""


def head(calls: Calls, session: str) -> SessionHead:
    """The last event of a session."""
    records = calls.rows(core.HEAD, session=session)
    if not records:
        return SessionHead(0, LOG_START)
    return SessionHead(records[0]["seq"], bytes(records[0]["digest"]))


def put(calls: Writes, records: Sequence[SessionRecord]) -> None:
    """Append events, each right behind the last one of its session.

    Raises:
        Fault: `invariant_broken`, for an event that leaves a gap or stands there already.
    """
    if not records:
        return
    key = bytes(calls.rows(core.KEYS)[0]["secret"])

    # A batch may hold several events of one session: the first asks for the head, the
    # others follow what was sealed here.
    heads: dict[str, SessionHead] = {}
    events: list[SessionRecord] = []
    for record in records:
        last = heads.get(record.session) or head(calls, record.session)
        event = seal_next(key, last, record)
        heads[record.session] = SessionHead(event.seq, event.digest)
        events.append(event)

    event_rows: list[dict[str, Any]] = []
    text_rows: list[dict[str, Any]] = []
    for event in events:
        event_rows.append({name: getattr(event, name) for name in ("session", *_FIELDS, "digest")})
        for part, text in enumerate(event.texts):
            place = {"session": event.session, "seq": event.seq, "part": part}
            text_rows.append({**place, "text": text.text, "digest": text.digest})
    for rows in _portions(event_rows):
        calls.rows(core.PUT_EVENTS, rows=rows)
    for rows in _portions(text_rows):
        calls.rows(core.PUT_TEXTS, rows=rows)


def empty(calls: Writes, places: Sequence[SessionPlace]) -> None:
    """Empty the texts of events; the snapshots that may repeat them go as a whole."""
    rows = [place._asdict() for place in places]
    for portion in _portions(rows):
        calls.rows(core.EMPTY_TEXTS, rows=portion)
    # A snapshot repeats texts in ways that nobody can search, so none of them stays.
    for session in {place.session for place in places}:
        calls.rows(core.DROP_SNAPSHOTS, session=session, keep=0)


def put_snapshot(calls: Writes, session: str, body: str) -> None:
    """Keep a snapshot behind the last event of a session, with the one before it.

    Raises:
        Fault: `invariant_broken`, for a session without events.
    """
    key = bytes(calls.rows(core.KEYS)[0]["secret"])
    last = head(calls, session)
    if last.seq == 0:
        raise Fault(f"{session} has no events to keep a snapshot of", code="invariant_broken")
    snapshot_mac = snapshot_seal(key, last.digest, body)
    calls.rows(core.PUT_SNAPSHOT, session=session, seq=last.seq, seal=snapshot_mac, body=body)
    calls.rows(core.DROP_SNAPSHOTS, session=session, keep=SNAPSHOTS_KEPT)


def snapshot(calls: Reads, session: str, key: bytes) -> SessionSnapshot | None:
    """The newest snapshot of a session whose seal holds."""
    for row in calls.rows(core.SNAPSHOTS, session=session):
        # Newest first: one that was tampered with, or is of another log, is passed over.
        snapshot_mac = snapshot_seal(key, bytes(row["digest"]), row["body"])
        if hmac.compare_digest(bytes(row["seal"]), snapshot_mac):
            return SessionSnapshot(row["seq"], row["body"])
    return None


def events(calls: Reads, session: str, after: int, until: int) -> tuple[SessionRecord, ...]:
    """The events of a session with numbers above `after` and up to `until`."""
    rows = calls.rows(core.EVENTS, session=session, after=after, until=until)
    if not rows:
        return ()

    # The events first, and texts up to the last of them: a statement sees what was committed by
    # then, so that an event which comes in between has its text, or is not told of at all.
    last = rows[-1]["event"]["seq"]
    texts: dict[int, tuple[SessionText, ...]] = {}
    text_rows = calls.stream(core.TEXTS, session=session, after=after, until=last)
    for seq, group in groupby(text_rows, key=lambda row: int(row["seq"])):
        texts[seq] = tuple(SessionText(row["text"], bytes(row["digest"])) for row in group)

    records: list[SessionRecord] = []
    for row in rows:
        event = row["event"]
        records.append(_record(event, texts.get(event["seq"], ())))
    return tuple(records)


def all_events(calls: Reads) -> Iterator[SessionRecord]:
    """Every event of every session, by session, then number."""
    for summary in summaries(calls):
        yield from events(calls, summary.session, 0, _LAST)


def summaries(calls: Reads) -> tuple[SessionSummary, ...]:
    """Every session with its last event, by session."""
    rows = calls.rows(core.SUMMARIES)

    return tuple(SessionSummary(row["session"], row["seq"], row["recorded_us"]) for row in rows)


def _record(event: Mapping[str, Any], texts: tuple[SessionText, ...]) -> SessionRecord:
    fields = {name: event[name] for name in _FIELDS}
    digest = bytes(event["digest"])
    return SessionRecord(session=event["session_id"], texts=texts, digest=digest, **fields)


def _portions(rows: Sequence[dict[str, Any]]) -> Iterator[Sequence[dict[str, Any]]]:
    for start in range(0, len(rows), _LARGEST):
        yield rows[start : start + _LARGEST]
