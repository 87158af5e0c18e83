"""The core metrics of a compile, from its stages alone (D6).

Without labels precision is the token-weighted mean relevance of the optional objects that were
compiled, and recall the share of acceptance items and asked slots that have a clean object.
Latency is no part of it: it stands in the sidecar. Attribution: low recall means retrieval, low
precision compilation, conflicts entity mapping (C-113). Checklist C-103.
"""

from __future__ import annotations

from collections.abc import Iterable

from ..schema.compile_terms import Reason
from .ir.context import Setting
from .ir.outputs import Ordered
from .ir.verdicts import Verdict
from .text.relevance import FULL, terms_of


def core_metrics(
    ordered: Ordered, setting: Setting, verdicts: Iterable[Verdict]
) -> dict[str, float]:
    """Return the metrics of D6 that do not depend on a clock, rounded to 4 digits."""
    decayed = {Reason.DECAYED_BELOW_THRESHOLD, Reason.RETIRED}
    resolved = ordered.contained.converted.rescued.ranking.validated.gated.resolved
    bound = (*resolved.snapshot.named, *resolved.snapshot.spoken)
    return {
        "context_precision": _precision(ordered, setting),
        "context_recall": _recall(ordered, setting),
        "state_decay_evictions": sum(verdict.reason in decayed for verdict in verdicts),
        "entity_resolution_conflicts": sum(b.pending or len(b.entities) > 1 for b in bound),
    }


def _precision(ordered: Ordered, setting: Setting) -> float:
    tokens = weighed = 0
    for piece in ordered.assembled.in_order:
        if piece.required or not piece.relevance:
            continue
        size = setting.counter.count(piece.text)
        tokens += size
        weighed += size * piece.relevance
    return round(weighed / tokens / FULL, 4) if tokens else 1.0


def _recall(ordered: Ordered, setting: Setting) -> float:
    """Return the share of acceptance items and named entities that something speaks to."""
    resolved = ordered.contained.converted.rescued.ranking.validated.gated.resolved
    laid = ordered.assembled.in_order
    subjects = {piece.placed.subject for piece in laid if piece.placed is not None}
    asked = [terms_of(item.text) for item in setting.request.acceptance]
    texts = [terms_of(piece.text) for piece in (laid if asked else ()) if not piece.required]
    met = sum(any(terms & text for text in texts) for terms in asked)
    met += sum(entity in subjects for entity in resolved.active)
    whole = len(asked) + len(resolved.active)
    return round(met / whole, 4) if whole else 1.0
