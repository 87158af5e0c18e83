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

from typing import Final

from ...schema.compile_terms import PriorityTier, Reason, Stage
from ..ir.context import CompileContext, question
from ..ir.outputs import Gated, Ranked, Rescued, Resolved, Snippet
from ..ir.records import Candidate, Verdict
from ..text.relevance import FULL, terms_of
from ..text.sentences import subunits

_ANCHORS: Final = 20
"""Selected objects that a subunit is compared with: the best ones."""


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
    verdicts: list[Verdict] = []
    for _, verdict in ranked.passed_over:
        if verdict.object_id in rescued_ids:  # the rest of the source stays out
            reason = Reason.PARENT_REMAINDER
            verdict = verdict._replace(stage=Stage.RESCUE, reason=reason, detail="")
        verdicts.append(verdict)
    return Rescued(best, tuple(verdicts))


def _anchors(ranked: Ranked) -> list[Candidate]:
    relevant: list[Candidate] = []
    for candidate in ranked.candidates:
        if candidate.relevance and not candidate.by_task:
            relevant.append(candidate)
    relevant.sort(key=lambda candidate: (-candidate.relevance, candidate.object_id))
    return relevant[:_ANCHORS]


def _best_snippet(
    candidate: Candidate,
    terms: frozenset[str],
    anchors: list[Candidate],
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
            score = affinity * FULL // 1000
            part = candidate._replace(score=score, relevance=score, tier=PriorityTier.MINIMAL)
            best = Snippet(part, unit, affinity, companion_id)
    return best


def _affinity(
    candidate: Candidate,
    coverage: int,
    anchors: list[Candidate],
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
    companions: list[Candidate] | list[None] = anchors or [None]
    for anchor in companions:
        relevance = kin = 0
        if anchor is not None:
            is_of_one = anchor.subject is not None and anchor.subject == candidate.subject
            kin = 1000 if is_of_one or anchor.origin == candidate.origin else 0
            relevance = anchor.relevance // 1000
        features = (coverage, skill, relevance, kin, named_share)
        affinity = sum(w * f for w, f in zip(weights, features, strict=True)) // 1000
        if affinity > best[0]:
            best = affinity, anchor.object_id if anchor is not None else ""
    return best
