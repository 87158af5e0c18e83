"""Compare and set: a write that states what it has read is refused when that changed since.

Two agents that both read a value and write the next one would each overwrite the other unseen.
Who states `expected` learns of it instead. It is compared under the tenant's lock, with what
decides the slot in the write's scope at its own stamp.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ...schema.errors import Conflict, InvalidInput
from ...schema.interval import Interval
from ...schema.write import ABSENT
from ..port.store import SlotRead, WriteTx
from .admission import AdmittedClaim


def check_expected(
    tx: WriteTx, claims: Sequence[AdmittedClaim], earlier: Iterable[AdmittedClaim], stamp: int
) -> None:
    """Refuse a submission that expects another value than the one that stands.

    Raises:
        Conflict: `stale_version`.
        InvalidInput: `bad_field`, for a text, or a slot that holds many values.
    """
    predecessors = list(earlier)
    for claim in claims:
        if claim.draft.expected is not None:
            _check(tx, claim, predecessors, stamp)
        predecessors.append(claim)


def _check(
    tx: WriteTx, claim: AdmittedClaim, predecessors: Sequence[AdmittedClaim], stamp: int
) -> None:
    if claim.slot.slot is None or claim.slot.many:
        raise InvalidInput(
            "expected compares the one value of a slot; a text, or a slot of many values, has none",
            code="bad_field",
            field="expected",
        )

    # The group is written as one batch, so who stands before in it is in no row yet.
    overtaken = any(predecessor.planning == claim.planning for predecessor in predecessors)
    precondition: set[str | None] = {claim.draft.expected} - {ABSENT}
    if overtaken or _deciding_objects(tx, claim, stamp) != precondition:
        raise Conflict(
            "the value changed since it was read; read it again and decide anew",
            code="stale_version",
            expected=claim.draft.expected,
        )


def _deciding_objects(tx: WriteTx, claim: AdmittedClaim, stamp: int) -> set[str]:
    now = SlotRead(claim.slot_keys, Interval(stamp, stamp + 1), full=False)
    (rows,) = tx.open_rows((now,))
    return {row.claim.object_id for row in rows if row.look.head and stamp in row.interval}
