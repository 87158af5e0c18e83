"""The audit chain: every stamped write carries the digest of the one before it.

A digest covers ids, stamps and actors, never contents, so the chain still verifies after an
erasure. Changing, removing or reordering an event breaks every digest after it. Pure; both
stores keep the digests and the doctor recomputes them.

Checklist: C-292.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Final

from ...schema.values import canonical_json
from .store import TxEvent

GENESIS: Final = b""
"""What stands before the first event."""


def chain_digest(previous: bytes, event: TxEvent) -> bytes:
    """Return the SHA-256 digest of an event after the one before it.

    >>> first = TxEvent(seq=1, tx=5, actor="ann", op="assert", object_ids=("a",))
    >>> chain_digest(GENESIS, first).hex()[:8]
    '67668089'
    """
    body = [previous.hex(), event.seq, event.tx, event.actor, event.op, list(event.object_ids)]
    return hashlib.sha256(canonical_json(body).encode()).digest()


def unattributed_problems(count: int) -> Iterator[str]:
    """The doctor's sentence for rules and preferences whose writer no older version recorded.

    >>> list(unattributed_problems(0))
    []
    """
    if count:
        yield (
            f"{count} rules, preferences or decisions of an older version have no writer on "
            "record, so they are data and instruct nobody; write those that should, anew"
        )
