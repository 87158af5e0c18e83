"""Search: the best matching shown objects of a view, by words and, with an encoder, by meaning.

Words propose by the store's text index and are scored by BM25 over the candidates; vectors
propose the nearest visible claims. The fused score is the policy's share of BM25, relative to
the best text match, and of the cosine: the same formula as in a compile. Without an encoder the
score is the plain BM25. Scores are computed here over the same terms for both stores, so both
rank alike; they are quantised to 1e-6 and ties break on object ids.

What no word and hardly any meaning speaks for is no answer: below the policy's floor a hit is
left out. Source: S. Robertson, H. Zaragoza, "The Probabilistic Relevance Framework: BM25 and
Beyond", 2009.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log1p
from typing import TYPE_CHECKING

from ...schema.claim import Version
from ...schema.policy import CompilePolicy
from ...schema.principal import Principal, Sight
from ...schema.terms import content_terms
from ...schema.vocabulary import ObjectType
from ...store.port.store import Point, Reader
from ..backend.backend import Backend
from ..backend.spans import SEARCH
from .masking import Mask

if TYPE_CHECKING:
    from ..encoders.embedding import Embedding
    from .nearest import Nearest, VectorView


def bm25(
    query: Sequence[str], versions: Sequence[Version], policy: CompilePolicy
) -> list[tuple[Version, float]]:
    """Return versions with their score, best first, one for each object."""
    terms = frozenset(query)
    # Several rows of one object say the same: the last one stands for it.
    texts: dict[str, Version] = {}
    lengths: dict[str, int] = {}
    counts: dict[str, dict[str, int]] = {}
    for version in versions:
        if version.content is not None:
            object_id = version.row.claim.object_id
            words = version.content.terms.split()
            texts[object_id], lengths[object_id] = version, len(words)
            # Of a text that was found few words were asked for: the others need no counting.
            counts[object_id] = {term: words.count(term) for term in terms.intersection(words)}
    if not counts:
        return []

    # Texts without a term have the mean zero, which is divided by.
    mean = sum(lengths.values()) / len(lengths) or 1.0
    idf: dict[str, float] = {}
    for term in query:
        holders = sum(term in frequencies for frequencies in counts.values())
        idf[term] = _idf(holders, len(counts))

    k1, b = policy.bm25_k1, policy.bm25_b
    scores: list[tuple[Version, float]] = []
    for object_id, frequencies in counts.items():
        norm = k1 * (1 - b + b * lengths[object_id] / mean)
        shares: list[float] = []
        for term in query:
            frequency = frequencies.get(term)
            if frequency:
                shares.append(idf[term] * frequency * (k1 + 1) / (frequency + norm))
        # Not `+=`: since Python 3.12 `sum` makes good the rounding of each step, and `+=` does not.
        scores.append((texts[object_id], round(sum(shares), 6)))

    return sorted(scores, key=_best_first)


def _best_first(pair: tuple[Version, float]) -> tuple[float, str]:
    version, score = pair
    return -score, version.row.claim.object_id


def _idf(having: int, total: int) -> float:
    return log1p((total - having + 0.5) / (having + 0.5))


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchQuery:
    """What is searched for."""

    text: str
    limit: int
    kind: ObjectType | None
    """Only objects of this type."""
    subjects: frozenset[str] | None
    """Only objects about these raw entities."""

    def takes(self, version: Version) -> bool:
        """Tell whether a version is among those searched for."""
        details = version.details
        return (self.kind is None or details.object_type is self.kind) and (
            self.subjects is None or details.subject_id in self.subjects
        )


@dataclass(frozen=True, slots=True)
class Matches:
    """What was found."""

    ranked: tuple[tuple[Version, float], ...]
    """Best first."""
    withheld: int
    cut: bool


@dataclass(frozen=True, slots=True)
class Searcher:
    """The search use-case of one view."""

    backend: Backend
    principal: Principal
    reader: Reader
    sight: Sight
    point: Point

    def find(self, tenant: str, question: SearchQuery) -> Matches:
        """Return the best matches of a question."""
        with self.backend.span_of(SEARCH, tenant) as span:
            matches = self._matches(tenant, question)
            if span is not None:
                span.query(question.text)
                span.records(version.row.claim.object_id for version, _ in matches.ranked)
        return matches

    def _matches(self, tenant: str, question: SearchQuery) -> Matches:
        policy, terms = self.backend.policy, sorted(content_terms(question.text))
        hits = self.reader.matching(
            terms, sight=self.sight, point=self.point, limit=policy.read.text_candidates
        )
        mask = Mask(self.principal, policy)
        candidates = list(filter(question.takes, mask.without(self.reader, hits.versions)))
        embedding = self.backend.embedding
        if embedding is None or not question.text.strip():
            scores = bm25(terms, candidates, policy.compile)
            return Matches(tuple(scores[: question.limit]), hits.withheld, hits.cut)

        scores = self._hybrid(embedding, tenant, question, candidates)

        return Matches(tuple(scores[: question.limit]), hits.withheld, hits.cut)

    def _hybrid(
        self, embedding: Embedding, tenant: str, question: SearchQuery, by_text: list[Version]
    ) -> list[tuple[Version, float]]:
        from .nearest import fused_score

        policy = self.backend.policy
        view = self._vectors(embedding, tenant)
        query = embedding.query(question.text)
        neighbours = self._nearest_claims(view, query, question)
        mask = Mask(self.principal, policy)
        neighbour_rows = mask.without(self.reader, neighbours.versions)
        versions = {v.row.claim.object_id: v for v in (*neighbour_rows, *by_text)}

        # What only the words brought has a vector too, as a rule, and is scored by it as well.
        cosines: dict[str, int] = {}
        for neighbour in neighbours.scores:
            if neighbour.object_id in versions:
                cosines[neighbour.object_id] = neighbour.content
        without_cosine = sorted(versions.keys() - cosines.keys())
        for neighbour in view.vectors.scores(query, without_cosine):
            cosines[neighbour.object_id] = neighbour.content

        # A text score has no upper end, so that the best one is the measure; without any word in
        # common all are zero.
        texts = bm25(sorted(content_terms(question.text)), [*versions.values()], policy.compile)
        best = (texts[0][1] if texts else 0.0) or 1.0
        hits: list[tuple[Version, float]] = []
        for version, text_score in texts:
            cosine = cosines.get(version.row.claim.object_id)
            score = fused_score(text_score / best, cosine, policy.compile)
            if score >= policy.compile.relevance_floor:
                hits.append((version, score))

        return sorted(hits, key=_best_first)

    def _nearest_claims(
        self, view: VectorView, query: tuple[int, ...], question: SearchQuery
    ) -> Nearest:
        from .nearest import nearest

        limit = max(question.limit, self.backend.policy.read.vector_candidates)
        return nearest(view, query, limit=limit, keep=question.takes)

    def _vectors(self, embedding: Embedding, tenant: str) -> VectorView:
        from .nearest import VectorView

        return VectorView(
            vectors=embedding.vectors(tenant, self.reader),
            reader=self.reader,
            sight=self.sight,
            point=self.point,
            exact_rows=self.backend.policy.read.vector_exact_rows,
        )
