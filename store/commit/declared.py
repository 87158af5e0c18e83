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
    reads: list[SlotRead] = []
    for claim in claims:
        reads.append(SlotRead(claim.slot_keys, claim.assertion.claim.interval, full=False))
    rows_met = tx.open_rows(reads)

    ids_met: set[str] = set()
    for rows in rows_met:
        ids_met.update(row.claim.object_id for row in rows)
    assertions = tx.assertions(sorted(ids_met))

    answers: list[AdmittedClaim] = []
    for claim, rows in zip(claims, rows_met, strict=True):
        predecessors: list[Assertion] = []
        for row in rows:
            # One that was erased meanwhile says nothing that could be contradicted.
            if row.claim.object_id in assertions:
                predecessors.append(assertions[row.claim.object_id])
        for answer in answers:
            if answer.planning == claim.planning and _meets(answer, claim):
                predecessors.append(answer.assertion)
        answers.append(_correcting(claim) if _returns(claim, predecessors) else claim)

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
