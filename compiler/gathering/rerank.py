"""Re-ranking: a second opinion on the best candidates, from a scorer that reads both texts.

A cross-encoder is slow and outside of tenure, so it is an extension point: whoever connects
hands one in. It is asked once, while candidates are gathered, about the few that share most
with the question; its scores are kept as whole numbers in the manifest, so that a replay never
asks again. What is masked, or bears any label of sensitivity, is never sent to it.

Invariant: without a scorer nothing changes. Sources: source 001, "enhanced path"; checklist
C-234.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from ...schema.errors import InvalidInput
from ..ir.context import CompileContext
from ..ir.records import NO_SCORES, Proposal
from ..text.relevance import FULL, micro, terms_of


class Reranker(Protocol):
    """Scores texts against a question."""

    id: str
    """Names the model and its version; it is part of an envelope's identity."""

    def scores(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        """Return how well each text answers the question, 0 to 1, in order."""
        ...


def rerank_scores(
    reranker: Reranker,
    rows: Iterable[Proposal],
    query_terms: frozenset[str],
    context: CompileContext,
) -> Mapping[str, int]:
    """Return the scores of the best candidates in millionths, by object id.

    Raises:
        InvalidInput: `bad_reranker`, for scores that are not one number of 0 to 1 a text.
    """
    query = context.request.query or context.request.wish
    if not query:
        return NO_SCORES

    best_texts = _best(rows, query_terms, context.rules.rerank_items)
    if not best_texts:
        return NO_SCORES

    # The model is a stranger's code: a NaN or one number too few would spoil the order silently.
    opinions = list(reranker.scores(query, [text for _, text in best_texts]))
    sound = all(math.isfinite(score) and 0 <= score <= 1 for score in opinions)
    if len(opinions) != len(best_texts) or not sound:
        raise InvalidInput(
            f"reranker {reranker.id!r} must give one number from 0 to 1 for each of "
            f"{len(best_texts)} texts",
            code="bad_reranker",
        )

    scores: dict[str, int] = {}
    for (object_id, _), opinion in zip(best_texts, opinions, strict=True):
        scores[object_id] = micro(opinion)
    return scores


def _best(
    rows: Iterable[Proposal], query_terms: frozenset[str], limit: int
) -> list[tuple[str, str]]:
    """Return (object id, text) of the rows that share most with the question."""
    texts: dict[str, str] = {}
    for version, _, _ in rows:
        content = version.content
        if content is not None and version.row.look.head and not version.details.sensitivity:
            texts[version.row.claim.object_id] = content.text or content.normalized_claim

    ranking: list[tuple[int, str]] = []
    for object_id, text in texts.items():
        ranking.append((-len(query_terms & terms_of(text)), object_id))

    # A text that shares nothing with the question is no use of a model's time.
    best = sorted(pair for pair in ranking if pair[0])[:limit]
    return [(object_id, texts[object_id]) for _, object_id in best]


def blend(relevance: int, score: int | None, share: float) -> int:
    """Return a relevance with the scorer's opinion; without one it keeps its own share.

    >>> blend(400_000, 900_000, 0.5), blend(400_000, None, 0.5)
    (650000, 200000)
    """
    weight = round(1000 * share)
    return ((1000 - weight) * relevance + weight * min(score or 0, FULL)) // 1000
