"""Nearest: the k best visible claims of a question, whichever store holds them.

The matrix scores every claim of the caller's scopes exactly and is walked in that order, chunk by
chunk; the store says of each chunk what the caller may see at the view, until enough is found. So
permissions and times decide before anything is counted, and both stores give the same answer.

`nearest` serves a search and hands out the versions it met; `VisibleVectors` is the form that
the compiler's gather takes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from typing import Final, NamedTuple

from ...compiler.ir.snapshot import Neighbours
from ...schema.claim import Version
from ...schema.policy import CompilePolicy
from ...schema.principal import Sight
from ...store.port.store import Ask, Point, Reader
from ...store.port.vectors import FULL, Vectors, VectorScore
from .context_objects import visible_object_ids, visible_rows

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

Keep = Callable[[Version], bool]
"""Tells whether a version is among those searched for."""


@dataclass(frozen=True, slots=True)
class Nearest:
    """The answer of a vector search."""

    scores: tuple[VectorScore, ...]
    """Best first, ties in order of object id."""
    versions: tuple[Version, ...]
    """The visible versions of these claims, by vid."""
    further_ids: tuple[str, ...]
    """Claims met on the way that are visible, and were not asked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorView:
    """The vectors of a tenant, seen by one caller at one view."""

    vectors: Vectors
    reader: Reader
    sight: Sight
    point: Point
    exact_rows: int
    """Claims up to which every one of them is scored."""
    ask: Ask = HEADS
    """Which rows make a claim visible."""


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
        answer = _nearest(self.view, walk, keep=None)
        self._further = chain(answer.further_ids, walk.further)
        return Neighbours(answer.scores, answer.versions)

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
    hits = _object_ids(view, query, limit)
    return _Walk((tuple(query), limit), tuple(islice(hits, limit)), hits)


def nearest(
    view: VectorView, query: Sequence[int], *, limit: int, keep: Keep | None = None
) -> Nearest:
    """Return the `limit` best claims that are visible, and kept, at a view.

    Raises:
        InvalidInput: `bad_vector` for a query of another encoder.
    """
    return _nearest(view, _begin(view, query, limit), keep=keep)


def _nearest(view: VectorView, walk: _Walk, *, keep: Keep | None) -> Nearest:
    (query, limit), ids, hits = walk
    best_ids: list[str] = []
    versions: list[Version] = []
    step = 2
    while ids:
        page = view.reader.versions(
            replace(view.ask, objects=ids), sight=view.sight, point=view.point
        )
        rows = visible_rows(page.versions)
        wanted_rows = rows if keep is None else list(filter(keep, rows))

        # The page comes in the order of the store; the order of the scores is that of `ids`.
        wanted_ids = visible_object_ids(wanted_rows)
        for object_id in ids:
            if object_id in wanted_ids:
                best_ids.append(object_id)
        versions += wanted_rows
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

    scores = view.vectors.scores(query, best)
    further_ids = tuple(best_ids[limit:])
    return Nearest(tuple(scores), tuple(best_rows), further_ids)


def _object_ids(view: VectorView, query: Sequence[int], limit: int) -> Iterator[str]:
    scopes = view.sight.scopes
    for hits in view.vectors.walk(query, scopes=scopes, first=limit, exact_rows=view.exact_rows):
        for hit in hits:
            yield hit.object_id


def fused_score(text: float, cosine: int | None, policy: CompilePolicy) -> float:
    """Return the fused score from a share of the best text score and a whole-number cosine.

    A claim without a vector keeps its text score, as in a compile.

    >>> fused_score(1.0, 8_000_000, CompilePolicy())
    0.75
    """
    if cosine is None:
        return round(text, 6)

    closeness = max(0, min(cosine, FULL)) / FULL
    return round(policy.lexical_weight * text + (1 - policy.lexical_weight) * closeness, 6)
