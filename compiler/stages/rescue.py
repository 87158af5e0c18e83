"""Stage 6, rescue: a good sentence of a source that was not selected as a whole.

A long text with one apt sentence scores low as a whole. Subunits of such sources are scored
by their affinity to what was selected, Aff(u, s | q) = omega . [q_rel, f_skill, r_sel, g_same,
g_active] (SkillRAE): how well the subunit answers the query, whether its source is meant for
the task, how relevant the selected neighbour is, whether both come from one source or speak of
one entity, and whether the source speaks of an entity of the request. The best few go in; the rest
of their source stays out as `parent_remainder`. Pool and number are bounded by the policy.

Invariant: a subunit is a verbatim piece of its source; features and sums are whole thousandths.
Sources: source 003, stage 6; checklist C-080, C-081.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from ...schema.compile_terms import PriorityTier, Reason, Stage
from ..ir.context import CompileContext, question
from ..ir.outputs import Gated, Ranked, Rescued, Resolved, Snippet
from ..ir.records import Candidate, Verdict
from ..text.relevance import FULL, terms_of
from ..text.sentences import subunits

_ANCHORS: Final = 20
"""Selected objects that a subunit is compared with: the best ones."""


class _Anchor(NamedTuple):
    """A selected object a subunit may go with."""

    object_id: str
    relevance: int
    subject: str | None
    origin: str


_NO_ANCHOR: Final = _Anchor("", 0, None, "")


def rescue(ranked: Ranked, gated: Gated, resolved: Resolved, context: CompileContext) -> Rescued:
    """Return the best subunits of the sources that were passed over."""
    rules = context.rules

    # A masked text has no sentence of its own to give: a verbatim one would undo the mask.
    sources: list[Candidate] = []
    for candidate, _ in ranked.passed_over:
        if candidate.object_id not in gated.masked_ids:
            sources.append(candidate)

    apt: list[Snippet] = []
    threshold = round(1000 * rules.rescue_affinity)
    anchors = _anchors(ranked)
    terms = question(context)
    for candidate in sources[: rules.rescue_pool]:
        snippet = _best_snippet(candidate, terms, anchors, resolved.active, context)
        if snippet is not None and snippet.affinity >= threshold:
            apt.append(snippet)

    # The text comes last in the key, so that equal scores are in one order on every run.
    apt.sort(key=lambda s: (-s.affinity, s.candidate.object_id, s.text))
    best = tuple(apt[: rules.rescue_keep])

    rescued_ids = {snippet.candidate.object_id for snippet in best}
    verdicts = [_final(verdict, rescued_ids) for _, verdict in ranked.passed_over]
    return Rescued(best, tuple(verdicts))


def _final(verdict: Verdict, rescued_ids: set[str]) -> Verdict:
    """Say of a source with a rescued subunit that the rest of it stays out."""
    if verdict.object_id not in rescued_ids:
        return verdict
    return verdict._replace(stage=Stage.RESCUE, reason=Reason.PARENT_REMAINDER, detail="")


def _anchors(ranked: Ranked) -> list[_Anchor]:
    relevant: list[Candidate] = []
    for candidate in ranked.candidates:
        if candidate.relevance and not candidate.by_task:
            relevant.append(candidate)
    relevant.sort(key=lambda candidate: (-candidate.relevance, candidate.object_id))
    return [_Anchor(c.object_id, c.relevance, c.subject, c.origin) for c in relevant[:_ANCHORS]]


def _best_snippet(
    candidate: Candidate,
    terms: frozenset[str],
    anchors: list[_Anchor],
    active: frozenset[str],
    context: CompileContext,
) -> Snippet | None:
    """Return the subunit of a source that fits best; None when none shares a term."""
    best: Snippet | None = None
    for unit in subunits(candidate.text):
        shared_terms = len(terms & terms_of(unit))
        if not shared_terms:
            continue

        coverage = shared_terms * 1000 // len(terms)
        affinity, companion_id = _affinity(candidate, coverage, anchors, active, context)
        if best is None or (-affinity, unit) < (-best.affinity, best.text):
            best = Snippet(_with_affinity(candidate, affinity), unit, affinity, companion_id)
    return best


def _with_affinity(candidate: Candidate, affinity: int) -> Candidate:
    score = affinity * FULL // 1000
    return candidate._replace(score=score, relevance=score, tier=PriorityTier.MINIMAL)


def _affinity(
    candidate: Candidate,
    coverage: int,
    anchors: list[_Anchor],
    active: frozenset[str],
    context: CompileContext,
) -> tuple[int, str]:
    """Return the best affinity over the selected objects, in thousandths, and with which."""
    version = candidate.version
    tasks = version.details.applicable_task_types if version is not None else ()

    # Half for a source that names no task: it is neither meant for this one nor for another.
    skill = 500
    if tasks:
        skill = 1000 if set(tasks) & set(context.task_types) else 0
    named_share = 1000 if candidate.subject in active else 0

    # Whole thousandths: a sum of floats could order two subunits differently elsewhere.
    weights = [round(1000 * weight) for weight in context.rules.rescue_weights]

    best = (0, "")
    for anchor in anchors or [_NO_ANCHOR]:
        kin = anchor.origin == candidate.origin or (
            anchor.subject is not None and anchor.subject == candidate.subject
        )
        features = (coverage, skill, anchor.relevance // 1000, 1000 if kin else 0, named_share)
        affinity = sum(w * f for w, f in zip(weights, features, strict=True)) // 1000
        if affinity > best[0]:
            best = (affinity, anchor.object_id)
    return best
