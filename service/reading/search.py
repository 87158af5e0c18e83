"""Search: the best matching objects of a view, in the order of a compile.

Candidates are read as a compile reads them (`compiler.gathering`), for all scopes and task types of
the caller, and reduced to what the view shows. `compiler.ranking` scores them by words, vectors if
there is an encoder, the slots that the text asks for, and links. So a search and a compile agree on
what answers a question. One thing differs: in a chain of facts the answer comes first, before the
steps that lead to it. Scores are whole millionths; of equal ones the newer comes first, then the
object id decides. So both stores rank alike.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from typing import Final, NamedTuple

from ...compiler.gathering.gather import gather
from ...compiler.gathering.mentions import ExactBinder
from ...compiler.ir.context import CompileContext
from ...compiler.ir.outputs import Validated
from ...compiler.ir.records import (
    Candidate,
    Neighbours,
    Snapshot,
    Via,
    content_of,
    root_of,
    version_of,
)
from ...compiler.ranking.asked import Topic
from ...compiler.ranking.near import Links
from ...compiler.request.request import CompileRequest
from ...compiler.stages.rank import focus_of, rank
from ...compiler.text.relevance import FULL, terms_of
from ...compiler.tokens.counting import counter_for
from ...schema.claim import Version
from ...schema.principal import Principal, Sight
from ...schema.slots import STRUCTURE_SLOTS, TASK_TYPES, Vocabulary
from ...schema.vocabulary import ObjectType
from ...store.port.store import Ask, Point, Reader
from ...store.port.vectors import Vectors, VectorScore
from ..backend.backend import SEARCH, Backend
from ..extraction.shipped_language import shipped_language
from .objects import Mask, visible_object_ids, visible_rows

_TASK: Final = "analytical_reporting"
"""The task type that a search is ranked for; what is kept for any other is found too."""

Match = tuple[Version, float]
"""A row with its score."""

_AT_ONCE: Final = 1_000
"""Most objects the store is asked about in one look-up."""
_LEAST_CHUNK: Final = 64
"""Fewest of a further look-up: each may be a round trip."""

_FACTS_AMONG: Final = 6
"""Claims among which each fact is looked for that a compile wants behind the nearest."""

HEADS: Final = Ask()
"""The rows that decide at the point: what a search takes for visible."""
KNOWN: Final = Ask(heads=False, at_valid=False)
"""Rows of any status known at the view's tx: what a compile takes for visible."""


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
        is_about = self.subjects is None or details.subject_id in self.subjects
        is_of_kind = self.kind is None or details.object_type is self.kind
        return is_about and is_of_kind and details.slot not in STRUCTURE_SLOTS


@dataclass(frozen=True, slots=True)
class Searcher:
    """The search use-case of one view."""

    backend: Backend
    principal: Principal
    reader: Reader
    sight: Sight
    point: Point
    vocabulary: Vocabulary

    def find(self, tenant: str, question: SearchQuery) -> tuple[list[Match], bool, bool]:
        """Return the best matches, whether some were withheld, and whether a limit cut them."""
        with self.backend.span_of(SEARCH, tenant) as span:
            matches, snapshot = self._matches(tenant, question)
            if span is not None:
                span.query(question.text)
                span.records(version.row.claim.object_id for version, _ in matches)
        return matches, bool(dict(snapshot.withheld).get("text")), snapshot.cut

    def _matches(self, tenant: str, question: SearchQuery) -> tuple[list[Match], Snapshot]:
        context = self._context(question.text)
        snapshot = gather(
            context,
            self.reader,
            bind=ExactBinder(self.reader, context.scopes, self.point.tx_us),
            index=visible_vectors(self.backend, tenant, self.reader, self.sight, self.point, HEADS),
            reranker=self.backend.reranker,
        )
        candidates = self._shown(snapshot, question)
        focus = focus_of(candidates, snapshot, context)
        topic, links = focus
        ranked = rank(Validated(candidates, (), (), (), {}), snapshot, context, focus)
        relevances = _answers_first(ranked.candidates, links)
        # The name of the person whom the request is for, whatever is asked, is no match of the
        # words.
        rules = context.rules
        least = round(max(rules.wish_relevance, rules.relevance_floor) * FULL)
        is_unanswered = topic.slots and (topic.names or topic.unknown) and not links.asked
        matches: list[Match] = []
        for candidate in ranked.candidates:
            if is_unanswered and not _says_more(candidate, topic):
                continue
            relevance = relevances[candidate.object_id]
            if candidate.lexical or candidate.vital or relevance > least:
                matches.append((version_of(candidate), relevance / FULL))

        # Of two that match alike the newer one says what holds now.
        def order(match: Match) -> tuple[float, int, str]:
            claim = match[0].row.claim
            return -match[1], -claim.since_us, claim.object_id

        return sorted(matches, key=order)[: question.limit], snapshot

    def _context(self, text: str) -> CompileContext:
        """The context of a compile of the text, over all scopes of the caller and all tasks."""
        embedding, vocabulary = self.backend.embedding, self.vocabulary
        request = CompileRequest(task=_TASK, query=text)
        if embedding is not None and text.strip():
            request = replace(request, query_vector=embedding.query(text))
        # Nothing is fitted or sealed: no budget, no shares, no key.
        return CompileContext(
            request=request,
            principal=self.principal,
            vocabulary=vocabulary,
            policy=self.backend.policy,
            point=self.point,
            keys=(),
            epoch=0,
            counter=counter_for(request.model),
            budget=0,
            reserve=0,
            project=None,
            scopes=frozenset(self.sight.scopes),
            task_types=(*TASK_TYPES, *vocabulary.words.get("task_type", ())),
            shares={},
            weights={},
            language=shipped_language(),
        )

    def _shown(self, snapshot: Snapshot, question: SearchQuery) -> tuple[Candidate, ...]:
        """The candidates that the view shows: heads at its point that the caller sees whole."""
        proposals: dict[str, tuple[int, int]] = {}
        for version, via, hop in snapshot.proposals:
            proposals.setdefault(version.row.claim.object_id, (via & ~Via.STANDING, hop))
        asks = [replace(HEADS, objects=tuple(proposals))] if proposals else []
        if question.subjects is not None:
            asks.append(replace(HEADS, subjects=tuple(sorted(question.subjects))))

        mask = Mask(self.principal, self.backend.policy)
        rows: dict[str, Version] = {}
        for ask in asks:
            page = self.reader.versions(ask, sight=self.sight, point=self.point)
            for version in mask.without(self.reader, visible_rows(page.versions)):
                if question.takes(version) and version.content is not None:
                    rows[version.row.claim.object_id] = version

        candidates: list[Candidate] = []
        for object_id, version in sorted(rows.items()):
            via, hop = proposals.get(object_id, (Via.SLOT, 0))
            raw = version.details.subject_id
            subject = root_of(snapshot.known, raw) if raw is not None else None
            candidates.append(Candidate(object_id, version, None, via, hop, subject))
        return tuple(candidates)


def _answers_first(candidates: Iterable[Candidate], links: Links) -> dict[str, int]:
    """The relevance of each candidate, with the facts that the text asks before all others.

    A compile shows a chain of facts together. A search is asked for its end: the fact behind the
    most steps that are asked too comes first, and a step after what it leads to.
    """
    relevances = {candidate.object_id: candidate.relevance for candidate in candidates}
    answers = [object_id for object_id in links.asked if relevances.get(object_id)]
    steps = frozenset(chain.from_iterable(map(links.way_of, answers)))

    def order(object_id: str) -> tuple[bool, int, int, str]:
        asked_steps = sum(step in links.asked for step in links.way_of(object_id))
        return object_id in steps, -asked_steps, -relevances[object_id], object_id

    for object_id in relevances:
        relevances[object_id] = min(relevances[object_id], FULL - len(answers))
    for place, object_id in enumerate(sorted(answers, key=order)):
        relevances[object_id] = FULL - place
    return relevances


def _says_more(candidate: Candidate, topic: Topic) -> bool:
    """Whether it holds a word of the text beyond names and the words of asked slots.

    Who asks a slot of somebody in whom nobody filled it is told that by an empty result.
    """
    if candidate.is_passage:
        return True
    claim = content_of(version_of(candidate)).normalized_claim
    return not topic.further_terms.isdisjoint(terms_of(claim))


@dataclass(frozen=True, slots=True)
class VectorView:
    """The vectors of a tenant, seen by one caller at one view."""

    vectors: Vectors
    reader: Reader
    sight: Sight
    point: Point
    exact_rows: int
    """Claims up to which every one of them is scored."""
    ask: Ask
    """Which rows make a claim visible."""


def visible_vectors(
    backend: Backend, tenant: str, reader: Reader, sight: Sight, point: Point, ask: Ask
) -> VisibleVectors | None:
    """The vectors that a caller may search; none without an encoder."""
    if backend.embedding is None:
        return None
    vectors = backend.embedding.vectors(tenant, reader)
    exact_rows = backend.policy.read.vector_exact_rows
    return VisibleVectors(VectorView(vectors, reader, sight, point, exact_rows, ask))


@dataclass(slots=True)
class VisibleVectors:
    """The vector index of one compile."""

    view: VectorView
    _running: Future[_Walk] | None = None
    """The search that was begun, to tell what it asks first."""
    _further: Iterator[str] = field(default_factory=lambda: iter(()))
    """The claims behind those that `nearest` returned."""

    def begin(self, query: Sequence[int], *, limit: int) -> None:
        """Score the claims while the caller goes on: numpy leaves the interpreter to it."""
        pool = ThreadPoolExecutor(1, "tenure-nearest")
        self._running = pool.submit(_begin, self.view, query, limit)
        pool.shutdown(wait=False)

    def prefetch(self, query: Sequence[int], *, limit: int) -> Ask | None:
        """Return what `nearest` will ask the store first; None when nothing has a vector."""
        walk = self._walk(query, limit)
        return replace(self.view.ask, objects=walk.first) if walk.first else None

    def nearest(self, query: Sequence[int], *, limit: int) -> Neighbours:
        """Return the best visible claims with their rows."""
        walk = self._walk(query, limit)
        self._running = None  # a walk can be gone through once
        neighbours, further_ids = _nearest(self.view, walk)
        self._further = chain(further_ids, walk.further)
        return neighbours

    def facts(self, query: Sequence[int], *, limit: int) -> Neighbours:
        """Return the best visible facts among the next claims behind those of `nearest`."""
        view = self.view
        ids = tuple(islice(self._further, min(_AT_ONCE, _FACTS_AMONG * limit)))
        if not ids:
            return Neighbours((), ())

        ask = replace(view.ask, objects=ids, facts=True)
        page = view.reader.versions(ask, sight=view.sight, point=view.point)
        fact_ids = visible_object_ids(page.versions)
        best = list(islice(filter(fact_ids.__contains__, ids), limit))

        # The page comes in the order of the store, which is that of the rows.
        best_set = frozenset(best)
        rows = [row for row in visible_rows(page.versions) if row.row.claim.object_id in best_set]
        return Neighbours(view.vectors.scores(query, best), rows)

    def scores(self, query: Sequence[int], object_ids: Sequence[str]) -> Sequence[VectorScore]:
        """Return the scores of these claims, as far as they have vectors."""
        return self.view.vectors.scores(query, object_ids)

    def _walk(self, query: Sequence[int], limit: int) -> _Walk:
        """Return the search that was begun; begin it when it is another, or gone through."""
        if self._running is None or self._running.result().question != (tuple(query), limit):
            self.begin(query, limit=limit)

        assert self._running is not None
        return self._running.result()


class _Walk(NamedTuple):
    """A search that was begun."""

    question: tuple[tuple[int, ...], int]
    """The query and the limit."""
    first: tuple[str, ...]
    """The claims that the store is asked about first."""
    further: Iterator[str]


def _begin(view: VectorView, query: Sequence[int], limit: int) -> _Walk:
    scopes = view.sight.scopes
    pages = view.vectors.walk(query, scopes=scopes, first=limit, exact_rows=view.exact_rows)
    ids = (hit.object_id for hit in chain.from_iterable(pages))
    return _Walk((tuple(query), limit), tuple(islice(ids, limit)), ids)


def _nearest(view: VectorView, walk: _Walk) -> tuple[Neighbours, list[str]]:
    """Return the best visible claims of a walk, and those met on the way that are visible too."""
    (query, limit), ids, hits = walk
    best_ids: list[str] = []
    versions: list[Version] = []
    step = 2
    while ids:
        page = view.reader.versions(
            replace(view.ask, objects=ids), sight=view.sight, point=view.point
        )
        rows = visible_rows(page.versions)

        # The page comes in the order of the store; the order of the scores is that of `ids`.
        visible_ids = visible_object_ids(rows)
        best_ids += filter(visible_ids.__contains__, ids)
        versions += rows
        if len(best_ids) >= limit:
            break
        # the fewer of a chunk were visible, the more of the next one are asked for
        size = min(_AT_ONCE, max(_LEAST_CHUNK, step * (limit - len(best_ids))))
        step *= 2
        ids = tuple(islice(hits, size))

    # The last chunk mostly brings more than was asked for; an object may have several rows.
    best = best_ids[:limit]
    best_set = frozenset(best)
    best_rows = [version for version in versions if version.row.claim.object_id in best_set]
    best_rows.sort(key=lambda version: version.row.vid)

    return Neighbours(view.vectors.scores(query, best), best_rows), best_ids[limit:]
