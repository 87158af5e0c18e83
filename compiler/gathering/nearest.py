"""What lies near the question's vector, and how near everything else lies.

A text of forty words lies near many questions, and a page holds few such texts; so where they
alone would fill it, facts that lie a little farther off take the place of the farthest texts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...schema.claim import Version
from ...schema.policy import Policy
from ...store.port.store import Ask, Page
from ...store.port.vectors import VectorScore
from ..ir.context import CompileContext
from ..ir.records import Neighbours, VectorIndex, Via, is_talk
from .candidates import Candidates
from .text_pool import beyond_room, text_room


def vectors_wanted(policy: Policy) -> int:
    """How many of the nearest claims a compile asks for."""
    return min(policy.compile.vector_candidates, policy.read.vector_candidates)


def vectors_ask(context: CompileContext, index: VectorIndex) -> Ask | None:
    """What a search for the nearest claims asks the store first, if anything."""
    return index.prefetch(_query(context), limit=vectors_wanted(context.policy))


def add_nearest(candidates: Candidates, index: VectorIndex) -> Mapping[str, VectorScore]:
    """Add the claims nearest to the query's vector, and return their scores by object."""
    context, query = candidates.context, _query(candidates.context)
    page = index.nearest(query, limit=vectors_wanted(context.policy))
    surplus_ids = _surplus(page, text_room(context.budget))
    if surplus_ids:
        facts = index.facts(query, limit=len(surplus_ids))
        page = _with_facts(page, facts, surplus_ids)
    if page.versions:
        candidates.add_read("vector", Page(tuple(page.versions), 0), Via.VECTOR)

    scores: dict[str, VectorScore] = {}
    for score in page.scores:
        scores[score.object_id] = score
    return scores


def with_scores(
    candidates: Candidates, index: VectorIndex, vectors: Mapping[str, VectorScore]
) -> Mapping[str, VectorScore]:
    """The scores with those of the candidates that other ways led to."""
    # What other ways led to is ranked by its meaning too, so it needs a score as the nearest do.
    object_ids = {object_id for object_id, _ in candidates.rows}
    scores = dict(vectors)
    query = _query(candidates.context)
    for score in index.scores(query, sorted(object_ids - vectors.keys())):
        scores[score.object_id] = score
    return scores


def _query(context: CompileContext) -> Sequence[int]:
    """The query's vector, which whoever searches an index has."""
    return context.request.query_vector or ()


def _surplus(page: Neighbours, room: int) -> list[str]:
    """The texts behind those that fill their room, the nearest first."""
    sizes: dict[str, int] = {}
    for version in page.versions:
        is_page = version.details.slot is None and not is_talk(version)
        if is_page and version.content is not None:
            sizes[version.row.claim.object_id] = len(version.content.terms)

    order: list[str] = []
    for score in page.scores:
        # An empty text takes no room, and gives none to a fact.
        if sizes.get(score.object_id):
            order.append(score.object_id)
    return beyond_room(order, sizes, room)


def _with_facts(page: Neighbours, facts: Neighbours, surplus_ids: Sequence[str]) -> Neighbours:
    """The page with facts in the place of the farthest texts, one for one."""
    gone_ids = frozenset(surplus_ids[len(surplus_ids) - len(facts.scores) :])
    scores: list[VectorScore] = []
    for score in page.scores:
        if score.object_id not in gone_ids:
            scores.append(score)

    versions: list[Version] = []
    for version in page.versions:
        if version.row.claim.object_id not in gone_ids:
            versions.append(version)
    return Neighbours((*scores, *facts.scores), (*versions, *facts.versions))
