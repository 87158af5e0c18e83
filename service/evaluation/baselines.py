"""Baselines: what plain retrieval would show for a question, within the same budget.

Every item is one unit of text. BM25 scores it over the terms that the stores index, dense by the
cosine of the store's own vectors, and hybrid adds the reciprocal ranks of both (RRF, k = 60).
The best units are shown as numbered lines as long as they fit, counted by the same counter as an
envelope; one that does not fit is passed over. A baseline knows no times, authority or
supersession: only what was recorded after `known_at` is hidden from it.

Sources: settled 8; ecosystem 13; G. Cormack et al., "Reciprocal rank fusion outperforms
Condorcet and individual rank learning methods", 2009.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from ...compiler.text.relevance import lexical, term_text
from ...compiler.tokens.counting import counter_for
from ...schema.policy import CompilePolicy
from ...schema.terms import content_terms

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
class Shown:
    """What a method put into the budget."""

    ids: tuple[str, ...]
    """Best first."""
    tokens: int


def units(items: Iterable[tuple[str, str, int | None]], model: str) -> list[Unit]:
    """Return the units of (id, text, time) triples, counted for a model."""
    counter = counter_for(model)
    return [
        Unit(name, text, at_us, term_text(text), counter.count(f"[1] {text}\n"))
        for name, text, at_us in items
    ]


def ranked_by_words(
    question: str, known: Sequence[Unit], policy: CompilePolicy
) -> list[tuple[str, int]]:
    """Return the ids of units that share a term with a question, with their BM25, best first."""
    scores = lexical(
        content_terms(question), [(u.terms,) for u in known], k1=policy.bm25_k1, b=policy.bm25_b
    )
    return _best((u.id, score) for u, score in zip(known, scores, strict=True) if score > 0)


def ranked_by_meaning(known: Sequence[Unit], cosines: Mapping[str, int]) -> list[tuple[str, int]]:
    """Return the ids of units by the cosine of their best chunk, nearest first."""
    return _best((u.id, cosines[u.id]) for u in known if cosines.get(u.id, 0) > 0)


def fused(*rankings: Sequence[tuple[str, int]]) -> list[tuple[str, int]]:
    """Return the ids of several rankings by the sum of their reciprocal ranks.

    >>> [name for name, _ in fused([("a", 9), ("b", 5)], [("b", 8), ("c", 7)])]
    ['b', 'a', 'c']
    """
    sums: dict[str, int] = {}
    for ranking in rankings:
        for place, (name, _) in enumerate(ranking, start=1):
            sums[name] = sums.get(name, 0) + 1_000_000_000 // (_RRF + place)
    return _best(sums.items())


def filled(ranking: Sequence[tuple[str, int]], by_id: Mapping[str, Unit], budget: int) -> Shown:
    """Return the best units that fit a budget in tokens."""
    left, chosen = budget, list[str]()
    for name, _ in ranking:
        size = by_id[name].tokens
        if size <= left:
            chosen.append(name)
            left -= size
    return Shown(tuple(chosen), budget - left)


def _best(scored: Iterable[tuple[str, int]]) -> list[tuple[str, int]]:
    return sorted(scored, key=lambda pair: (-pair[1], pair[0]))
