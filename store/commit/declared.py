"""The policy option `same_origin_corrects`: a source that speaks again corrects itself.

With it an assert counts as `correct` where everything that it meets of another value was said
by the same origin at the same level, stored or earlier in the same transaction. Without it
(the default) only a declared correction overrides. Source: bitemporal 4, row 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ...schema.claim import Assertion
from ...schema.vocabulary import Op
from ..port.store import SlotRead, WriteTx
from .admission import Admitted


def declared(tx: WriteTx, claims: Sequence[Admitted]) -> list[Admitted]:
    """Return the claims of a transaction, asserts of a returning origin as corrections."""
    reads = [SlotRead(c.slot_keys, c.assertion.claim.interval, full=False) for c in claims]
    held = tx.open_rows(reads)
    stored = tx.assertions(sorted({r.claim.object_id for rows in held for r in rows}))
    done: list[Admitted] = []
    for one, rows in zip(claims, held, strict=True):
        before = [stored[r.claim.object_id] for r in rows if r.claim.object_id in stored]
        before += [c.assertion for c in done if c.planning == one.planning and _meets(c, one)]
        done.append(_correcting(one) if _returns(one, before) else one)
    return done


def _meets(earlier: Admitted, later: Admitted) -> bool:
    return earlier.assertion.claim.interval.overlaps(later.assertion.claim.interval)


def _returns(one: Admitted, before: Sequence[Assertion]) -> bool:
    """Tell whether all that an assert contradicts came from its own origin at its level."""
    mine = one.assertion
    other = [a for a in before if a.claim.value_key != mine.claim.value_key]
    same = all(
        a.details.source_origin == mine.details.source_origin and a.claim.level == mine.claim.level
        for a in other
    )
    return mine.claim.op is Op.ASSERT and not one.slot.many and bool(other) and same


def _correcting(one: Admitted) -> Admitted:
    claim = replace(one.assertion.claim, op=Op.CORRECT)
    return replace(one, assertion=replace(one.assertion, claim=claim))
