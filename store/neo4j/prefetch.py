"""Prefetch: the questions that a compile asks next, in one round trip.

A `Prefetch` asks all that was forecast in one statement, and keeps each answer
under its question. The reader looks here first; a question that was not forecast goes to the
server by itself, so nothing here can change an answer. Each answer is read from its records by
the same code as if it had been asked alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, LiteralString, NamedTuple

from ...resolution.known import Lookup
from ...schema.principal import Sight
from ...schema.vocabulary import ActionKind
from ..port.records import NextReads, held_ask
from ..port.store import ActionRecord, Ask, Page, Point
from . import codec, versions
from .answers import ListedClaim, ReadAnswer, answers_of
from .calls import Reads
from .cypher import candidates, register
from .identity import name_parameters
from .versions import PoolAnswer, Question, Search

_SEARCH, _POOL, _STANDING, _FIRST_STEP, _SECOND_STEP, _QUEUE, _ASKS = range(7)
"""The places of the questions; those of the asks follow."""
_ENTITIES: Final = -1
"""The place of the entities."""
_COLUMNS: Final = ("place", "claims", "marks", "lines", "note")
"""What an answer says, in the order of its list."""
_HELD_KIND: Final = ActionKind.REVIEW_QUARANTINE


PLAN: Final = "EXPLAIN "


class _Step(NamedTuple):
    """A statement that answers several questions."""

    text: LiteralString
    kinds: tuple[str, ...]
    """The asks that it can answer, by parameter; any other is asked when its time comes."""


_CANDIDATES: Final = _Step(candidates.CANDIDATES, ("objects", "subjects"))
_FOLLOW_UP: Final = _Step(candidates.FOLLOW_UP, ("derived", "subjects", "pairs", "keys"))
_TWO_HOPS: Final = _Step(candidates.TWO_HOPS, ())


class PrefetchKey(NamedTuple):
    """A question, its sight and its point."""

    question: object
    sight: Sight
    point: Point


class Prefetch:
    """The answers that a reader has beforehand."""

    def __init__(self, calls: Reads) -> None:
        self._calls = calls
        self._answers: dict[PrefetchKey, Page] = {}
        self._searches: dict[PrefetchKey, ReadAnswer] = {}
        self._pools: dict[PrefetchKey, PoolAnswer] = {}
        self._hits: dict[PrefetchKey, dict[int, ListedClaim]] = {}
        """The claims of a pool by the number of their row; the key's question is None."""
        self._searched: set[PrefetchKey] = set()
        """Searches that were asked: one with more hits than a call can tell has no answer."""
        self._actions: dict[tuple[ActionKind, int], tuple[ActionRecord, ...]] = {}

    # --- what is kept

    def versions(self, ask: Ask, sight: Sight, point: Point) -> Page | None:
        """The answer of an ask."""
        if ask.vids and ask == Ask(vids=ask.vids):
            return self._rows_of_hits(ask.vids, sight, point)
        return self._answers.get(PrefetchKey(ask, sight, point))

    def _rows_of_hits(self, vids: Sequence[int], sight: Sight, point: Point) -> Page | None:
        """Rows among the hits of a pool; None where one is not among them."""
        hits = self._hits.get(PrefetchKey(None, sight, point), {})
        if not hits.keys() >= set(vids):
            return None
        claims = tuple(hits[vid] for vid in vids)
        return versions.every_row([ReadAnswer(0, claims, None)], sight, point.tx_us)

    def standing(self, scopes: Sequence[str], sight: Sight, point: Point) -> Page | None:
        """What stands without any query."""
        return self._answers.get(PrefetchKey(("standing", *scopes), sight, point))

    def around(
        self, entity_ids: Iterable[str], limit: int, sight: Sight, point: Point
    ) -> Page | None:
        """What stands around entities."""
        return self._answers.get(PrefetchKey(_near_key(entity_ids, limit), sight, point))

    def search(self, search: Search | None, sight: Sight, point: Point) -> ReadAnswer | None:
        """The answer to a search, where it is a page."""
        return self._searches.get(PrefetchKey(search, sight, point))

    def pool(self, search: Search | None, sight: Sight, point: Point) -> PoolAnswer | None:
        """The answer to a search, where it is more than a page."""
        return self._pools.get(PrefetchKey(search, sight, point))

    def actions(self, kind: ActionKind | None, tx_us: int) -> tuple[ActionRecord, ...] | None:
        """The open actions of a kind."""
        return None if kind is None else self._actions.get((kind, tx_us))

    # --- what is asked

    def ask(self, forecast: NextReads, *, live: bool) -> Sequence[Sequence[Any]]:
        """Ask at once all that is not answered yet, and return what is said of entities.

        `live` tells whether it is the last stamp.
        """
        forecast = self._lacking(forecast, live=live)
        step = _step_of(forecast)
        if step is None:
            return ()

        asks = tuple(ask for ask in forecast.asks if versions.kind_of(ask) in step.kinds)
        forecast = replace(forecast, asks=asks)
        bound = questions_of(forecast, self._calls.tenant, live=live)
        (answers,) = self._calls.column(step.text, **self._calls.claims.bounds, **bound)
        records: list[dict[str, Any]] = [
            dict(zip(_COLUMNS, answer, strict=True)) for answer in answers
        ]
        by_place: dict[int, list[ReadAnswer]] = {}
        for answer in answers_of(self._calls, records, forecast.sight):
            by_place.setdefault(answer.place, []).append(answer)
        entities = by_place.pop(_ENTITIES, ())
        self._keep(forecast, search_of(forecast, live=live), by_place)
        return [answer.note for answer in entities]

    def _lacking(self, forecast: NextReads, *, live: bool) -> NextReads:
        """What of a forecast is still to be asked."""
        sight, point = forecast.sight, forecast.point
        asks: list[Ask] = []
        for ask in dict.fromkeys(forecast.asks):
            if self.versions(ask, sight, point) is None:
                asks.append(ask)

        search = PrefetchKey(search_of(forecast, live=live), sight, point)
        queue = self.actions(_HELD_KIND, point.tx_us)
        standing, walk = forecast.standing, forecast.walk
        if standing is not None and self.standing(standing, sight, point) is not None:
            standing = None
        if walk and self.around(walk.entity_ids, walk.limit, sight, point) is not None:
            walk = None

        return replace(
            forecast,
            terms=() if search in self._searched else forecast.terms,
            asks=tuple(asks),
            held=forecast.held if queue is None else 0,
            standing=standing,
            walk=walk,
        )

    def _keep(
        self,
        forecast: NextReads,
        search: Search | None,
        by_place: Mapping[int, Sequence[ReadAnswer]],
    ) -> None:
        sight, point = forecast.sight, forecast.point
        for place, ask in enumerate(forecast.asks, _ASKS):
            page = versions.every_row(by_place.get(place, ()), sight, point.tx_us)
            self._answers[PrefetchKey(ask, sight, point)] = page

        # A search is kept as it came: its records may still prove to be of an older stamp.
        self._searched.add(PrefetchKey(search, sight, point))
        for answer in by_place.get(_SEARCH, ()):
            self._searches[PrefetchKey(search, sight, point)] = answer
        for answer in by_place.get(_POOL, ()):
            self._keep_pool(PrefetchKey(search, sight, point), answer)
        if forecast.standing is not None:
            page = versions.visible_rows(by_place.get(_STANDING, ()), point.tx_us)
            self._answers[PrefetchKey(("standing", *forecast.standing), sight, point)] = page
        if forecast.walk is not None:
            for place in (_FIRST_STEP, _SECOND_STEP):
                for answer in by_place.get(place, ()):
                    self._keep_near(forecast, answer, forecast.walk.limit)
        if forecast.held:
            self._keep_held(forecast, by_place[_QUEUE])

    def _keep_pool(self, key: PrefetchKey, answer: ReadAnswer) -> None:
        """Keep the columns of many hits, or the records of few."""
        is_whole, marks, vids, pool, holders, last_us = answer.note
        if pool:
            self._pools[key] = PoolAnswer(pool, holders, last_us)
            hits = self._hits.setdefault(key._replace(question=None), {})
            for claim in answer.claims:
                for line in claim.entry.rows:
                    hits[line[0]] = claim
        elif is_whole:
            # All that match were looked at: no proposals are left to ask for.
            self._searches[key] = answer._replace(note=(marks, vids, 0, last_us))

    def _keep_near(self, forecast: NextReads, answer: ReadAnswer, limit: int) -> None:
        _, _, edge, _ = answer.note
        key = PrefetchKey(_near_key(edge, limit), forecast.sight, forecast.point)
        self._answers[key] = versions.near_rows(answer, forecast.point.tx_us)

    def _keep_held(self, forecast: NextReads, answers: Sequence[ReadAnswer]) -> None:
        (answer,) = answers
        tx_us = forecast.point.tx_us
        (entries,) = answer.note
        actions = tuple(codec.action(entry, tx_us) for entry in entries)
        self._actions[_HELD_KIND, tx_us] = actions

        ask = held_ask([action.object_id for action in actions], forecast.held)
        page = versions.every_row([answer._replace(note=None)], forecast.sight, tx_us)
        self._answers[PrefetchKey(ask, forecast.sight, forecast.point)] = page


def _step_of(forecast: NextReads) -> _Step | None:
    """The step of a compile, or of a walk, that asks this; None for nothing."""
    empty = NextReads(sight=forecast.sight, point=forecast.point, limit=forecast.limit)
    if forecast == empty:
        return None
    if forecast == replace(empty, walk=forecast.walk):
        return _TWO_HOPS

    kinds = set(map(versions.kind_of, forecast.asks))
    is_led_to = forecast == replace(empty, asks=forecast.asks, entity_ids=forecast.entity_ids)
    return _FOLLOW_UP if is_led_to and kinds.issubset(_FOLLOW_UP.kinds) else _CANDIDATES


def search_of(forecast: NextReads, *, live: bool) -> Search | None:
    """The search of a forecast; `live` tells whether it is at the last stamp."""
    return versions.search_of(forecast.terms, sight=forecast.sight, limit=forecast.limit, live=live)


def _near_key(entity_ids: Iterable[str], limit: int) -> tuple[str | int, ...]:
    return ("around", limit, *sorted(set(entity_ids)))


def questions_of(forecast: NextReads, tenant: str, *, live: bool) -> dict[str, Any]:
    """A forecast as a statement takes it."""
    search = search_of(forecast, live=live)
    kinds = (*_CANDIDATES.kinds, *_FOLLOW_UP.kinds)
    lists: dict[str, list[Question]] = {kind: [] for kind in kinds}
    for place, ask in enumerate(forecast.asks, _ASKS):
        lists[versions.kind_of(ask)].append(versions.question(ask, forecast.point, place))
    walk = forecast.walk
    walks: list[Question] = []
    if walk:
        walks.append({"place": _FIRST_STEP, "ids": list(walk.entity_ids)})

    # Only a search that one call can tell the words of brings columns.
    searches: list[Question] = []
    pools: list[Question] = []
    if search and search.is_probed:
        pools.append(search.question(tenant, _POOL))
    elif search:
        searches.append(search.question(tenant, _SEARCH))

    standing: list[Question] = []
    if forecast.standing is not None:
        standing = versions.standing_questions(forecast.sight, forecast.standing, _STANDING)

    # Rows of quarantined objects are never heads, so the whole of each is asked for.
    queue = versions.question(Ask(heads=False), forecast.point, _QUEUE)
    queue |= {"kind": _HELD_KIND.value, "newest": forecast.held}

    return {
        **versions.seen_at(forecast.sight, forecast.point),
        **versions.bounds(search),
        **lists,
        "searches": searches,
        "pools": pools,
        "standing": standing,
        "held": [queue] if forecast.held else [],
        "walks": walks,
        "limit": walk.limit if walk else 0,
        "room": walk.room if walk else 0,
        "entity_ids": list(forecast.entity_ids),
    }


def plan_reads(calls: Reads) -> None:
    """Have a server plan what a compile asks: the first plan of a statement takes seconds.

    A plan depends on the text and on which parameters are numbers, never on their values.
    """
    names = name_parameters(Lookup(), ())
    calls.rows(PLAN + register.OPENING, **names)

    sight = Sight(scopes=(), tags=(), clearance=0)
    forecast = NextReads(sight=sight, point=Point(0, 0))
    bound = questions_of(forecast, calls.tenant, live=True) | calls.claims.bounds
    for step in (_CANDIDATES, _FOLLOW_UP):
        calls.rows(PLAN + step.text, **bound)
    seen: dict[str, Any] = {"scopes": [], "tags": [], "clearance": sight.clearance}
    calls.rows(PLAN + candidates.CLAIMS, parts=[], **seen)
