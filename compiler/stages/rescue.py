"""Stage 6, rescue: a good sentence of a source that was not selected as a whole.

A long text with one apt sentence scores low as a whole. Subunits of such sources are scored
by their affinity to what was selected, Aff(u, s | q) = omega . [q_rel, f_skill, r_sel, g_same,
g_active] (SkillRAE): how well the subunit answers the query, whether its source is meant for
the task, how relevant the selected neighbour is, whether both come from one source or speak of
one entity, and whether the source speaks of an entity of the request. The best few go in; the rest
of their source stays out as `parent_remainder`. Pool and number are bounded by the policy.

Invariant: a subunit is a verbatim piece of its source; features and sums are whole thousandths.
Sources: source 003, stage 6; checklist C-080, C-081; settled 10.
"""

from __future__ import annotations

from itertools import islice
from typing import NamedTuple

from ...schema.compile_terms import PriorityTier, Reason, Stage
from ..ir.candidate import Ranked
from ..ir.context import Setting, question
from ..ir.outputs import Ranking, Rescued, Snippet
from ..ir.verdicts import Verdict
from ..text.relevance import FULL, terms_of
from ..text.sentences import subunits


class _Anchor(NamedTuple):
    """A selected object a subunit may go with."""

    object_id: str
    relevance: int
    subject: str | None
    origin: str


def rescue(ranking: Ranking, setting: Setting) -> Rescued:
    """Return the selected objects with the best subunits of the others."""
    rules = setting.rules
    selected = _anchors(ranking)
    masked = ranking.validated.gated.masked
    open_ = (p for p in ranking.passed_over if p[0].placed.candidate.object_id not in masked)
    pool = tuple(islice(open_, rules.rescue_pool))
    asked = question(setting)
    active = ranking.validated.gated.resolved.active
    found: list[Snippet] = []
    for ranked, _ in pool:
        found += _snippets(ranked, selected, (asked, active), setting)
    least = round(1000 * rules.rescue_affinity)
    apt = [snippet for snippet in found if snippet.affinity >= least]
    apt.sort(key=lambda s: (-s.affinity, s.ranked.placed.candidate.object_id, s.text))
    kept = tuple(apt[: rules.rescue_keep])
    saved = {snippet.ranked.placed.candidate.object_id for snippet in kept}
    verdicts = tuple(_verdict(ranked, verdict, saved) for ranked, verdict in ranking.passed_over)
    return Rescued(ranking, ranking.items, kept, verdicts)


def _verdict(ranked: Ranked, verdict: Verdict, saved: set[str]) -> Verdict:
    if ranked.placed.candidate.object_id not in saved:
        return verdict
    return verdict._replace(stage=Stage.RESCUE, reason=Reason.PARENT_REMAINDER, detail="")


def _anchors(ranking: Ranking) -> list[_Anchor]:
    ranked = [item for item in ranking.items if item.relevance]
    ranked.sort(key=lambda item: (-item.relevance, item.placed.candidate.object_id))
    return [
        _Anchor(
            item.placed.candidate.object_id,
            item.relevance,
            item.placed.subject,
            item.placed.candidate.origin,
        )
        for item in ranked[:20]
    ]


def _snippets(
    ranked: Ranked,
    selected: list[_Anchor],
    about: tuple[frozenset[str], frozenset[str]],
    setting: Setting,
) -> list[Snippet]:
    asked, active = about
    best: list[Snippet] = []
    for unit in subunits(ranked.placed.candidate.text):
        shared = len(asked & terms_of(unit))
        if not shared:
            continue
        affinity, beside = _affinity(ranked, shared * 1000 // len(asked), selected, active, setting)
        best.append(Snippet(_raised(ranked, affinity), unit, affinity, beside))
    best.sort(key=lambda s: (-s.affinity, s.text))
    return best[:1]


def _raised(ranked: Ranked, affinity: int) -> Ranked:
    score = affinity * FULL // 1000
    return ranked._replace(score=score, relevance=score, tier=PriorityTier.MINIMAL)


def _affinity(
    ranked: Ranked,
    query: int,
    selected: list[_Anchor],
    active: frozenset[str],
    setting: Setting,
) -> tuple[int, str]:
    """Return the best affinity over the selected objects, in thousandths, and with which."""
    placed = ranked.placed
    version = placed.candidate.version
    tasks = version.details.applicable_task_types if version is not None else ()
    skill = 1000 if set(tasks) & set(setting.task_types) else 0 if tasks else 500
    about = 1000 if placed.subject in active else 0
    weights = [round(1000 * weight) for weight in setting.rules.rescue_weights]
    best = (0, "")
    for anchor in selected or [_Anchor("", 0, None, "")]:
        same = anchor.origin == placed.candidate.origin or (
            anchor.subject is not None and anchor.subject == placed.subject
        )
        features = (query, skill, anchor.relevance // 1000, 1000 if same else 0, about)
        affinity = sum(w * f for w, f in zip(weights, features, strict=True)) // 1000
        best = max(best, (affinity, anchor.object_id), key=lambda pair: pair[0])
    return best
