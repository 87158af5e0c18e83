"""Baselines: what plain retrieval would show for a question, within the same budget.

Every item is one unit of text. BM25 scores it over the terms that the stores index, dense by the
cosine of the store's own vectors, and hybrid adds the reciprocal ranks of both (RRF, k = 60).
The best units are shown as numbered lines as long as they fit, counted by the same counter as an
envelope; one that does not fit is passed over. A baseline knows no times, authority or
supersession: only what was recorded after `known_at` is hidden from it.

G. Cormack et al., "Reciprocal rank fusion outperforms Condorcet and individual rank learning
methods", 2009.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from tenure.compiler.text.relevance import lexical, term_text
from tenure.compiler.tokens.counting import counter_for
from tenure.schema.policy import CompilePolicy
from tenure.schema.terms import content_terms

BM25: Final = "bm25"
DENSE: Final = "dense"
HYBRID: Final = "hybrid"
_RRF: Final = 60
"""The constant of the page that introduced the method."""


@dataclass(frozen=True, slots=True)
class Unit:
    """One item as a plain retriever shows it."""

    id: str
    text: str
    at_us: int | None
    terms: str
    tokens: int
    """Of its line, number included."""


@dataclass(frozen=True, slots=True)
class BaselineSelection:
    """What a method put into the budget."""

    ids: tuple[str, ...]
    """Best first."""
    tokens: int


def units(items: Iterable[tuple[str, str, int | None]], model: str) -> list[Unit]:
    """The units of (id, text, time) triples, counted for a model."""
    counter = counter_for(model)
    known: list[Unit] = []
    for name, text, at_us in items:
        tokens = counter.count(f"[1] {text}\n")
        known.append(Unit(name, text, at_us, term_text(text), tokens))
    return known


def rank_by_words(
    question: str, known: Sequence[Unit], policy: CompilePolicy
) -> list[tuple[str, int]]:
    """The ids of units that share a term with a question, with their BM25, best first."""
    documents = [(unit.terms,) for unit in known]
    scores = lexical(content_terms(question), documents, k1=policy.bm25_k1, b=policy.bm25_b)

    hits: dict[str, int] = {}
    for unit, score in zip(known, scores, strict=True):
        if score > 0:
            hits[unit.id] = score
    return _best_first(hits.items())


def rank_by_meaning(cosines: Mapping[str, int]) -> list[tuple[str, int]]:
    """Ids by the cosine of their best chunk, nearest first."""
    return _best_first((name, cosine) for name, cosine in cosines.items() if cosine > 0)


def fuse(*rankings: Sequence[tuple[str, int]]) -> list[tuple[str, int]]:
    """The ids of several rankings by the sum of their reciprocal ranks.

    >>> [name for name, _ in fuse([("a", 9), ("b", 5)], [("b", 8), ("c", 7)])]
    ['b', 'a', 'c']
    """
    sums: dict[str, int] = {}
    for ranking in rankings:
        for rank, (name, _) in enumerate(ranking, start=1):
            sums[name] = sums.get(name, 0) + 1_000_000_000 // (_RRF + rank)
    return _best_first(sums.items())


def fill(
    ranking: Sequence[tuple[str, int]], by_id: Mapping[str, Unit], budget: int
) -> BaselineSelection:
    """Take the best units that fit a budget in tokens."""
    room = budget
    names: list[str] = []
    for name, _ in ranking:
        size = by_id[name].tokens
        # One that does not fit is passed over: a shorter one behind it may.
        if size <= room:
            names.append(name)
            room -= size
    return BaselineSelection(tuple(names), budget - room)


def _best_first(pairs: Iterable[tuple[str, int]]) -> list[tuple[str, int]]:
    return sorted(pairs, key=lambda pair: (-pair[1], pair[0]))
