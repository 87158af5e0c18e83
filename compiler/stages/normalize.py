"""Stage 1, normalize: everything that may enter becomes a candidate of one shape.

Stored rows and the request's own items, turns, tools and texts, are side by side from here
on, each with its object id, level and origin. Nothing is judged and nothing is dropped.

Invariant: the order of the candidates depends on their ids alone; the request's items follow
the stored rows. Source 003, stage 1; checklist C-075.
"""

from __future__ import annotations

from ..ir.context import CompileContext
from ..ir.outputs import Normalized
from ..ir.records import Candidate, Snapshot, items_of_request


def normalize(snapshot: Snapshot, context: CompileContext) -> Normalized:
    """Return every stored row and every item of the request as a candidate."""
    candidates: list[Candidate] = []
    for version, via, hop in snapshot.proposals:
        candidates.append(Candidate(version.row.claim.object_id, version, None, via, hop))

    for item in items_of_request(context.request, context.principal, context.media.texts):
        candidates.append(Candidate(item.object_id, None, item))

    return Normalized(tuple(candidates))
