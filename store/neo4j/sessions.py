"""The session log on the server: the same records as in a file, found by their unique keys.

The digests are made here, under the tenant's lock, from the tenant's first key.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, Final

from ..port.records import (
    LOG_START,
    SessionHead,
    SessionRecord,
    SessionSummary,
    SessionText,
    seal_next,
)
from .calls import Calls, Reads, Writes, portions_of
from .cypher import core

_FIELDS: Final = ("seq", "kind", "actor", "last_us", "recorded_us", "body")
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
    for rows in portions_of(event_rows):
        calls.rows(core.PUT_EVENTS, rows=rows)
    for rows in portions_of(text_rows):
        calls.rows(core.PUT_TEXTS, rows=rows)


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
