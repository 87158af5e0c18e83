"""Session retrieval scored as LongMemEval's own scorer does it, one question at a time.

    DCG@k = rel_1 + sum over i = 2..k of rel_i / log2(i)

against the ideal order over the whole haystack; a haystack without any relevant session scores 0.
`recall_all` is 1 only where every relevant session is among the first k. Source: D. Wu et al.,
"LongMemEval", 2025, `src/retrieval/eval_utils.py`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SessionScore:
    """What one ranking is worth at one cut."""

    recall_any: float
    recall_all: float
    ndcg: float


def dcg(relevances: Sequence[int], cut: int) -> float:
    """Discounted cumulative gain of the first `cut` places.

    >>> round(dcg([1, 1, 1], 3), 4)
    2.6309
    """
    gains = relevances[:cut]
    if not gains:
        return 0.0
    return gains[0] + sum(gain / math.log2(place) for place, gain in enumerate(gains[1:], 2))


def score_sessions(
    ranking: Sequence[str], relevant: AbstractSet[str], haystack: Sequence[str], cut: int
) -> SessionScore:
    """Score an order of session ids, best first; sessions that it does not name come last."""
    others = [session for session in haystack if session not in set(ranking)]
    order = [*ranking, *others]
    first = set(order[:cut])
    ideal = sorted((int(session in relevant) for session in haystack), reverse=True)
    best = dcg(ideal, cut)
    gained = dcg([int(session in relevant) for session in order], cut)
    return SessionScore(
        recall_any=float(bool(relevant & first)),
        recall_all=float(relevant <= first),
        ndcg=gained / best if best else 0.0,
    )
