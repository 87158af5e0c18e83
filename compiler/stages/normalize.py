"""Stage 1, normalize: everything that may enter becomes a candidate of one shape.

Stored rows and the request's own items, turns, tools and texts, stand side by side from here
on, each with its object id, level and origin. Nothing is judged and nothing is dropped.

Invariant: the order of the candidates depends on their ids alone; the request's items follow
the stored rows. Source 003, stage 1; checklist C-075.
"""

from __future__ import annotations

from ..ir.candidate import Candidate
from ..ir.context import Setting
from ..ir.outputs import Normalized
from ..ir.request_items import given_items
from ..ir.snapshot import Snapshot


def normalize(snapshot: Snapshot, setting: Setting) -> Normalized:
    """Return every stored row and every item of the request as a candidate."""
    stored = (
        Candidate(p.version.row.claim.object_id, p.version, None, p.via, p.hop)
        for p in snapshot.proposed
    )
    own = (
        Candidate(given.object_id, None, given)
        for given in given_items(setting.request, setting.principal, setting.media.texts)
    )
    return Normalized((*stored, *own), snapshot)
