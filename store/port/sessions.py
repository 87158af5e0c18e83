"""The log of sessions: records, the chain that seals them, and what holds for every store.

A session is a list of events that only grows. Each event carries a digest over the one before it,
its own fields and the keyed digests of its texts, made with the tenant's secret key. Texts stand
apart from the event, so that an erasure empties them and the chain still verifies. Pure: stores
keep what `seal` returns, and the doctor recomputes it.

A snapshot is what a log folds to up to an event. It is a cache beside the log: no chain covers it,
no export carries it, and whoever throws it away loses time alone.
"""

from __future__ import annotations

import hmac
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Final, NamedTuple

from ...schema.values import canonical_json

SNAPSHOTS_KEPT: Final = 2
"""Of one session: the newest, and one to fall back on where the newest does not verify."""
LOG_START: Final = b""
"""What stands before the first event of a session."""


@dataclass(frozen=True, slots=True)
class SessionText:
    """A text of an event."""

    text: str | None
    """None where an erasure emptied it."""
    digest: bytes = b""
    """Keyed digest of the text; set by the store."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionRecord:
    """One event of a session's log."""

    session: str
    """The session's scope, `session=s` or `session=s,user=u`."""
    seq: int
    """Rises by one from 1 inside the session."""
    kind: str
    actor: str
    last_us: int
    """The tenant's last stamp when it was appended: events of sessions take none."""
    recorded_us: int
    """The clock of the writer; for readers alone."""
    body: str
    """Canonical JSON without free text."""
    texts: tuple[SessionText, ...] = ()
    digest: bytes = b""
    """Set by the store."""


class SessionHead(NamedTuple):
    """The last event of a session; sequence number 0 before the first."""

    seq: int
    digest: bytes


class SessionSummary(NamedTuple):
    """A session in a list of them."""

    session: str
    seq: int
    recorded_us: int
    """Of its last event."""


class SessionSnapshot(NamedTuple):
    """What a session's log comes to up to an event, as the writer encoded it."""

    seq: int
    body: str


class SessionPlace(NamedTuple):
    """A text of an event in a session."""

    session: str
    seq: int
    part: int
    """Its place among the texts of the event, from 0."""


def seal(key: bytes, head: SessionHead, record: SessionRecord) -> SessionRecord:
    """A record with its digests, as the event behind a head.

    A text that was erased keeps the digest it came with: nobody can make it again.
    """
    # The chain goes over digests, never over texts: so it still closes when texts are erased.
    texts: list[SessionText] = []
    for text in record.texts:
        digest = text.digest if text.text is None else _digest(key, text.text.encode())
        texts.append(SessionText(text.text, digest))

    header = [
        record.session,
        record.seq,
        record.kind,
        record.actor,
        record.last_us,
        record.recorded_us,
        record.body,
        [text.digest.hex() for text in texts],
    ]
    message = head.digest + canonical_json(header).encode()
    return replace(record, texts=tuple(texts), digest=_digest(key, message))


def snapshot_seal(key: bytes, event_digest: bytes, body: str) -> bytes:
    """The seal of a snapshot: it holds behind the one event with this digest, and only there."""
    return _digest(key, event_digest + b"snapshot" + body.encode())


def chain_faults(key: bytes, records: Iterable[SessionRecord]) -> Iterator[str]:
    """One sentence for each session whose log is broken; records come by session, then number."""
    for session, events in groupby(records, key=lambda record: record.session):
        head = SessionHead(0, LOG_START)
        for event in events:
            if event.seq != head.seq + 1:
                yield f"the log of {session} has a gap before event {event.seq}"
                break
            if seal(key, head, event) != event:
                yield f"the chain of {session} breaks at event {event.seq}"
                break
            head = SessionHead(event.seq, event.digest)


def _digest(key: bytes, message: bytes) -> bytes:
    return hmac.digest(key, message, "sha256")
