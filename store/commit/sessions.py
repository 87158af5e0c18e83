"""Appending to a session: compare-and-set on the number of its last event.

Two processes that work on one session both read a head and append behind it; the store's write
lock lets one of them win, and the other is told to read on. Events take no stamp of the tenant.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ...schema.errors import Conflict
from ..port.records import SessionRecord
from ..port.store import Batch, WriteTx


def append_events(
    tx: WriteTx,
    session: str,
    expected_seq: int,
    records: Sequence[SessionRecord],
    snapshot: str | None = None,
) -> int:
    """Append events behind an expected number, and return the tenant's last stamp.

    `snapshot` is what the log folds to with them, for whoever opens the session next.

    Raises:
        Conflict: `stale_version`, when the session has grown since it was read.
    """
    clock = tx.lock()
    head = tx.session_head(session)
    if head.seq != expected_seq:
        raise Conflict(
            f"the session has {head.seq} events and {expected_seq} were expected; read on and "
            "decide again",
            code="stale_version",
            seq=head.seq,
        )

    events = [replace(record, last_us=clock.last_us) for record in records]
    tx.apply(Batch(clock=clock, session_events=tuple(events)))

    # In the same transaction: a snapshot written later could bring back what an erasure took.
    if snapshot is not None:
        tx.put_session_snapshot(session, snapshot)
    return clock.last_us
