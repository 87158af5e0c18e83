"""Lexical ranking of search hits: BM25 over the candidates, in whole numbers.

Stores only propose; the score is computed here over the same terms, so both stores rank
alike. Scores are quantised to 1e-6 and ties break on object ids.
Sources: settled 8; ecosystem 13; S. Robertson, H. Zaragoza, "The Probabilistic Relevance
Framework: BM25 and Beyond", 2009.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import log1p

from ..schema.claim import Version
from ..schema.policy import CompilePolicy


def bm25(
    query: Sequence[str], versions: Sequence[Version], policy: CompilePolicy
) -> list[tuple[Version, float]]:
    """Return versions with their score, best first, one for each object."""
    texts = {v.row.claim.object_id: v for v in versions if v.content is not None}
    counts = {i: Counter(v.content.terms.split()) for i, v in texts.items() if v.content}
    if not counts:
        return []
    mean = sum(c.total() for c in counts.values()) / len(counts) or 1.0
    idf = {t: _idf(sum(t in c for c in counts.values()), len(counts)) for t in query}
    k1, b = policy.bm25_k1, policy.bm25_b

    def score(held: Counter[str]) -> float:
        norm = k1 * (1 - b + b * held.total() / mean)
        return sum(idf[t] * held[t] * (k1 + 1) / (held[t] + norm) for t in query if held[t])

    ranked = [(texts[i], round(score(held), 6)) for i, held in counts.items()]
    return sorted(ranked, key=lambda pair: (-pair[1], pair[0].row.claim.object_id))


def _idf(having: int, total: int) -> float:
    return log1p((total - having + 0.5) / (having + 0.5))
