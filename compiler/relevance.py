"""Relevance: BM25 over the candidates, fused with cosines, in whole millionths.

Both stores only propose; the score is computed here over the same terms, so that they rank
alike. Statistics are those of the candidates that passed the gates, so nothing that the caller
may not see moves a score. Every number is quantised before it is compared: the best lexical
match of a compile has 1,000,000.

>>> lexical(["chicago"], ["ann office chicago", "ann team blue"], k1=1.2, b=0.75)
[1000000, 0]

Sources: S. Robertson and H. Zaragoza, "The probabilistic relevance framework: BM25 and
beyond", 2009; settled 8; checklist C-204.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Final

from ..schema.terms import content_terms, terms

FULL: Final = 1_000_000
"""The greatest score."""

COSINE_FULL: Final = 16_000_000
"""The integer cosine of two equal vectors (settled 8)."""


def lexical(asked: Iterable[str], documents: Sequence[str], *, k1: float, b: float) -> list[int]:
    """Return the BM25 of each document, as millionths of the best one.

    `documents` are term texts: stemmed terms joined by spaces.
    """
    query = frozenset(asked)
    counted = [_counts(document, query) for document in documents]
    frequency: dict[str, int] = {}
    for counts, _ in counted:
        for term, _ in counts:
            frequency[term] = frequency.get(term, 0) + 1
    total = len(documents)
    average = sum(length for _, length in counted) / total if total else 0.0
    # sorted by term, so that the sum of floats has one order on every machine
    weight = {
        term: round(math.log(1 + (total - df + 0.5) / (df + 0.5)), 9)
        for term, df in sorted(frequency.items())
    }
    raw: list[int] = []
    for counts, length in counted:
        norm = k1 * (1 - b + b * length / average) if average else 0.0
        score = sum(weight[term] * tf * (k1 + 1) / (tf + norm) for term, tf in counts)
        raw.append(round(score * FULL))
    best = max(raw, default=0)
    return [score * FULL // best if best else 0 for score in raw]


@lru_cache(maxsize=32_768)
def _words(document: str) -> tuple[frozenset[str], tuple[str, ...]]:
    words = tuple(document.split())
    return frozenset(words), words


def _counts(document: str, query: frozenset[str]) -> tuple[list[tuple[str, int]], int]:
    distinct, words = _words(document)
    return [(term, words.count(term)) for term in sorted(distinct & query)], len(words)


@lru_cache(maxsize=32_768)
def terms_of(text: str) -> frozenset[str]:
    """Return the content terms of a text; remembered, since many objects share a condition."""
    return content_terms(text)


@lru_cache(maxsize=4_096)
def term_text(text: str) -> str:
    """Return all terms of a text, joined by spaces as stores keep them."""
    return " ".join(terms(text))


def fused(text: int, cosine: int | None, *, lexical_weight: float) -> int:
    """Return the relevance from both scores; from the text alone without a vector.

    >>> fused(1_000_000, 8_000_000, lexical_weight=0.5)
    750000
    """
    if cosine is None:
        return text
    share = round(lexical_weight * 1000)
    near = max(0, min(cosine, COSINE_FULL)) * FULL // COSINE_FULL
    return (share * text + (1000 - share) * near) // 1000


def micro(share: float) -> int:
    """Return a share of 0 to 1 in whole millionths."""
    return round(share * FULL)
