"""Relevance: BM25 over the candidates, fused with cosines, in whole millionths.

The stores only propose candidates. The score is computed here, over the same terms for both stores,
so they rank alike. Statistics cover only candidates that passed the gates, so hidden objects move
no score. Numbers are quantised before they are compared; the best lexical match of a compile has
1,000,000.

>>> lexical(["chicago"], [("ann office chicago",), ("ann team blue",)], k1=1.2, b=0.75)
[1000000, 0]

Sources: S. Robertson and H. Zaragoza, "The probabilistic relevance framework: BM25 and
beyond", 2009; checklist C-204.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from operator import itemgetter
from typing import Final, NamedTuple

from ...schema.terms import content_terms, terms

FULL: Final = 1_000_000
"""The greatest score."""

COSINE_FULL: Final = 16_000_000
"""The integer cosine of two equal vectors."""

Document = tuple[str, ...]
"""Term texts of one candidate: stemmed terms joined by spaces."""

Frequencies = tuple[Mapping[str, int], int]
"""How often a document holds each term of a question, and how many terms it has."""


def one_line(text: str) -> str:
    r"""A text with every run of white space as one space.

    >>> one_line("a\n  b")
    'a b'
    """
    return " ".join(text.split())


class Background(NamedTuple):
    """The texts among which documents were chosen."""

    total: int
    holders: Mapping[str, int]
    """How many hold each term of the question."""


def bm25_weights(background: Background) -> dict[str, float]:
    """How much each term tells: the fewer texts hold it, the more."""
    total = background.total
    weights: dict[str, float] = {}
    for term, holders in background.holders.items():
        weights[term] = round(math.log(1 + (total - holders + 0.5) / (holders + 0.5)), 9)
    return weights


def lexical(
    query_terms: Iterable[str],
    documents: Sequence[Document],
    *,
    k1: float,
    b: float,
    background: Background | None = None,
) -> list[int]:
    """The BM25 of each document, as millionths of the best one."""
    queries = [frozenset(query_terms)] * len(documents)
    return lexical_by_own_terms(queries, documents, k1=k1, b=b, background=background)


def lexical_by_own_terms(
    queries: Sequence[frozenset[str]],
    documents: Sequence[Document],
    *,
    k1: float,
    b: float,
    background: Background | None = None,
) -> list[int]:
    """The BM25 of each document by the terms that are stated for it.

    How much a word tells is what the documents say, or the `background` they were chosen from: what
    was chosen for a word would make it look common.
    """
    frequencies: list[Frequencies] = []
    for query, document in zip(queries, documents, strict=True):
        frequencies.append(_frequencies(query, document))
    scores: list[int] = []
    for score in bm25(frequencies, k1, b, background):
        scores.append(round(score * FULL))

    # A best of 0 leaves zeros; the divisor only has to be no zero then.
    best = max(scores, default=0) or 1
    return [score * FULL // best for score in scores]


def bm25(
    frequencies: Sequence[Frequencies], k1: float, b: float, background: Background | None
) -> list[float]:
    """The BM25 of each document, from how often it holds each term, and its length."""
    holders = Counter(chain.from_iterable(map(itemgetter(0), frequencies)))
    total = len(frequencies)
    average = (sum(map(itemgetter(1), frequencies)) or 1) / max(total, 1)

    weights = bm25_weights(_statistics(background, Background(total, holders)))

    scores: list[float] = []
    for counts, length in frequencies:
        norm = k1 * (1 - b + b * length / average)
        score = 0.0
        # in the order of the terms, so that the sum of floats is the same on every machine
        for term in sorted(counts) if counts else ():
            tf = counts[term]
            score += weights[term] * tf * (k1 + 1) / (tf + norm)
        scores.append(score)
    return scores


def _statistics(background: Background | None, documents: Background) -> Background:
    """What the terms tell: of the background where there is one, else of the documents."""
    if background is None:
        return documents

    # A word that is not in the background is only in conditions: the documents are all that
    # is known of it.
    total = background.total
    holders: dict[str, int] = {}
    for term, count in documents.holders.items():
        known = background.holders.get(term) or count * total // documents.total
        holders[term] = min(total, max(count, known))
    return Background(total, holders)


def _frequencies(query: frozenset[str], document: Document) -> Frequencies:
    """How often a document holds each term of a query, and how many terms it has."""
    frequencies: dict[str, int] = {}
    length = 0
    for part in document:
        counts, size = term_counts(part)
        length += size
        for term in query.intersection(counts):
            frequencies[term] = frequencies.get(term, 0) + counts[term]

    return frequencies, length


@lru_cache(maxsize=32_768)
def term_counts(document: str) -> tuple[dict[str, int], int]:
    """How often each term is in a term text, and how many terms it has."""
    words = document.split()
    return dict(Counter(words)), len(words)


@lru_cache(maxsize=32_768)
def terms_of(text: str) -> frozenset[str]:
    """The content terms of a text; remembered, since many objects share a condition."""
    return content_terms(text)


@lru_cache(maxsize=4_096)
def slot_terms(name: str) -> frozenset[str]:
    """The content terms of a slot's name."""
    return content_terms(name.replace("_", " "))


@lru_cache(maxsize=4_096)
def term_text(text: str) -> str:
    """All terms of a text, joined by spaces as stores keep them."""
    return " ".join(terms(text))


def fuse(text: int, cosine: int | None, *, lexical_weight: float) -> int:
    """The relevance from both scores; from the text alone without a vector.

    >>> fuse(1_000_000, 8_000_000, lexical_weight=0.5)
    750000
    """
    if cosine is None:
        return text

    share = round(lexical_weight * 1000)
    nearness = max(0, min(cosine, COSINE_FULL)) * FULL // COSINE_FULL
    return (share * text + (1000 - share) * nearness) // 1000


def micro(share: float) -> int:
    """A share of 0 to 1 in whole millionths."""
    return round(share * FULL)
