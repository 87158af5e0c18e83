"""Redaction before retrieval: what is masked is not searched, scored or quoted either.

A caller to whom personal data is shown as `[masked]` must not find out a value by asking for it.
So an object that is masked for this caller is found by its condition and by what its slot is
about, never by its text, its value or their vector; what only those would have found counts as
never retrieved, in the trace and in its numbers too. With the policy's `personal = "omit"` such
an object stays out altogether. Checklist C-133, C-233, C-235.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...schema.claim import Details, Version, masked_for
from ...store.port.vouched import OwnIds
from ..ir.snapshot import Proposal, Via
from ..text.relevance import terms_of

if TYPE_CHECKING:
    from ...store.port.vectors import VectorScore
    from ..ir.candidate import Candidate
    from ..ir.context import CompileContext
    from ..ir.snapshot import Snapshot

_BY_CONTENT = Via.TEXT | Via.VECTOR


def masks(details: Details, context: CompileContext, own_ids: OwnIds) -> bool:
    """Tell whether personal data is hidden from this caller, who is these entities."""
    roles = context.rules.show_personal_to
    is_masked = masked_for(context.principal, details, roles=roles)
    return is_masked and not own_ids.covers(details, context.principal)


def is_masked(candidate: Candidate, snapshot: Snapshot, context: CompileContext) -> bool:
    """Tell whether what a candidate says is hidden from the caller."""
    version = candidate.version
    return version is not None and masks(version.details, context, snapshot.own_ids)


def nearest_vector(
    candidate: Candidate, snapshot: Snapshot, context: CompileContext
) -> VectorScore | None:
    """Return the vector score of an object, or of what it won its slot from where that is best."""
    best = snapshot.vectors.get(candidate.object_id)
    for rival in candidate.rivals:
        score = snapshot.vectors.get(rival.object_id)
        if score is None or is_masked(rival, snapshot, context):
            continue
        if best is None or score.content > best.content:
            best = score
    return best


def public_terms(version: Version, context: CompileContext) -> frozenset[str]:
    """Return the terms by which a masked object may be found: its condition and its slot."""
    content = version.content
    reason = content.why_it_matters if content is not None else ""
    slot = context.vocabulary.slots.get(version.details.slot or "")
    return terms_of(reason) | terms_of(slot.description if slot is not None else "")


def guessed(
    proposal: Proposal,
    query_terms: frozenset[str],
    context: CompileContext,
    own_ids: OwnIds,
) -> bool:
    """Tell whether only the masked words or their vector led to an object."""
    details = proposal.version.details
    if proposal.via & ~_BY_CONTENT or not masks(details, context, own_ids):
        return False
    return query_terms.isdisjoint(public_terms(proposal.version, context))
