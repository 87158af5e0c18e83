"""The policy option `same_origin_corrects`: a source that speaks again corrects itself.

With it an assert counts as `correct` where everything that it meets of another value was said
by the same origin at the same level, stored or earlier in the same transaction. Without it
(the default) only a declared correction overrides.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ...schema.claim import Assertion
from ...schema.vocabulary import Op
from ..port.store import SlotRead, WriteTx
from .admission import AdmittedClaim


def with_corrections(tx: WriteTx, claims: Sequence[AdmittedClaim]) -> list[AdmittedClaim]:
    """Return the claims of a transaction, asserts of a returning origin as corrections."""
    # Heads and denials are enough: what is hidden already is not contradicted anew.
    reads = [SlotRead(c.slot_keys, c.assertion.claim.interval, full=False) for c in claims]
    rows_met = tx.open_rows(reads)
    assertions = tx.assertions(sorted({r.claim.object_id for rows in rows_met for r in rows}))
    answers: list[AdmittedClaim] = []

    for claim, rows in zip(claims, rows_met, strict=True):
        before = [assertions[r.claim.object_id] for r in rows if r.claim.object_id in assertions]
        before += [
            c.assertion for c in answers if c.planning == claim.planning and _meets(c, claim)
        ]
        answers.append(_correcting(claim) if _returns(claim, before) else claim)

    return answers


def _meets(earlier: AdmittedClaim, incoming: AdmittedClaim) -> bool:
    return earlier.assertion.claim.interval.overlaps(incoming.assertion.claim.interval)


def _returns(claim: AdmittedClaim, before: Sequence[Assertion]) -> bool:
    """Tell whether all that an assert contradicts came from its own origin at its level."""
    assertion = claim.assertion
    contradictions = [a for a in before if a.claim.value_key != assertion.claim.value_key]
    own_origin = all(
        a.details.source_origin == assertion.details.source_origin
        and a.claim.level == assertion.claim.level
        for a in contradictions
    )

    return (
        assertion.claim.op is Op.ASSERT
        and not claim.slot.many
        and bool(contradictions)
        and own_origin
    )


def _correcting(admission: AdmittedClaim) -> AdmittedClaim:
    claim = replace(admission.assertion.claim, op=Op.CORRECT)
    return replace(admission, assertion=replace(admission.assertion, claim=claim))
