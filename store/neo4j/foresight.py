"""Answering before it is asked: the questions that come next, in one round trip.

A `Foresight` asks everything that was told (`expected`) in one statement, and keeps each answer
under its question. The reader looks here first; a question that was not foreseen goes to the
server by itself, so nothing here can change an answer. Each answer is read from its records by
the same code as if it had been asked alone.

Sources: settled 8; DESIGN 10.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from ...schema.principal import Sight
from ...schema.vocabulary import ActionKind
from ..port.records import Expected, held_ask
from ..port.store import ActionRecord, Ask, Found, Point
from . import register_codec, versions
from .calls import Reads
from .cypher import candidates as cypher
from .identity import Register
from .versions import Question, Records, Search

_SEARCH, _STANDING, _NEAR, _FAR, _HELD, _ASKS = range(6)
"""The places of the questions; those of the asks follow."""
_LISTS: Final = ("objects", "derived", "subjects", "pairs", "keys")
"""The asks that can be foreseen, by parameter."""
_HELD_KIND: Final = ActionKind.REVIEW_QUARANTINE


class Key(NamedTuple):
    """A question, its sight and its point."""

    what: object
    sight: Sight
    point: Point


class Foresight:
    """The answers that a reader has beforehand."""

    def __init__(self, calls: Reads, register: Register) -> None:
        self._calls = calls
        self._register = register
        self._found: dict[Key, Found] = {}
        self._searches: dict[Key, Records] = {}
        self._actions: dict[tuple[ActionKind, int], tuple[ActionRecord, ...]] = {}

    # --- what is kept

    def versions(self, ask: Ask, sight: Sight, point: Point) -> Found | None:
        """Return the answer of an ask."""
        return self._found.get(Key(ask, sight, point))

    def standing(self, scopes: Sequence[str], sight: Sight, point: Point) -> Found | None:
        """Return what stands without any query."""
        return self._found.get(Key(("standing", *scopes), sight, point))

    def around(
        self, entity_ids: Iterable[str], limit: int, sight: Sight, point: Point
    ) -> Found | None:
        """Return what stands around entities."""
        return self._found.get(Key(_near_key(entity_ids, limit), sight, point))

    def search(self, search: Search | None, sight: Sight, point: Point) -> Records | None:
        """Return the records of a search."""
        return self._searches.get(Key(search, sight, point))

    def actions(self, kind: ActionKind | None, tx_us: int) -> tuple[ActionRecord, ...] | None:
        """Return the open actions of a kind."""
        return None if kind is None else self._actions.get((kind, tx_us))

    # --- what is asked

    def ask(self, told: Expected, *, live: bool) -> None:
        """Ask everything at once; `live` tells whether the point is the last stamp."""
        search = versions.search_of(told.terms, limit=told.limit, live=live)
        asks = [ask for ask in dict.fromkeys(told.asks) if versions.kind_of(ask) in _LISTS]
        bound = _questions(told, search, asks, self._calls.tenant)
        by_place: dict[int, list[Mapping[str, Any]]] = {}
        for record in self._calls.rows(cypher.PREFETCH, **bound):
            by_place.setdefault(record["place"], []).append(record)
        meant = [record["note"] for record in by_place.pop(-1, [])]
        self._register.learn(told.entity_ids, meant)
        self._keep(told, search, asks, by_place)

    def _keep(
        self,
        told: Expected,
        search: Search | None,
        asks: Sequence[Ask],
        by_place: Mapping[int, Records],
    ) -> None:
        calls, sight, point = self._calls, told.sight, told.point
        for place, ask in enumerate(asks, _ASKS):
            records = by_place.get(place, ())
            found = versions.every_row(calls, records, sight, point.tx_us)
            self._found[Key(ask, sight, point)] = found
        if search is not None:
            self._searches[Key(search, sight, point)] = by_place[_SEARCH]
        if told.standing is not None:
            found = versions.visible_rows(calls, by_place.get(_STANDING, ()), point.tx_us)
            self._found[Key(("standing", *told.standing), sight, point)] = found
        if told.walk is not None:
            for place in (_NEAR, _FAR):
                self._keep_near(told, by_place.get(place, ()))
        if told.held:
            self._keep_held(told, by_place[_HELD])

    def _keep_near(self, told: Expected, records: Records) -> None:
        edge = next((record["note"][2] for record in records if not record["seen"]), None)
        if edge is not None and told.walk is not None:
            found = versions.near_rows(self._calls, records, told.point.tx_us)
            key = Key(_near_key(edge, told.walk.limit), told.sight, told.point)
            self._found[key] = found

    def _keep_held(self, told: Expected, records: Records) -> None:
        (note,) = (record["note"] for record in records if record["claim"] is None)
        tx_us = told.point.tx_us
        actions = tuple(register_codec.action(held, tx_us) for held in note[0])
        self._actions[_HELD_KIND, tx_us] = actions
        rows = [record for record in records if record["claim"] is not None]
        ask = held_ask([action.object_id for action in actions], told.held)
        found = versions.every_row(self._calls, rows, told.sight, tx_us)
        self._found[Key(ask, told.sight, told.point)] = found


def _near_key(entity_ids: Iterable[str], limit: int) -> tuple[str | int, ...]:
    return ("around", limit, *sorted(set(entity_ids)))


def _questions(
    told: Expected, search: Search | None, asks: Sequence[Ask], tenant: str
) -> dict[str, Any]:
    lists: dict[str, list[Question]] = {name: [] for name in _LISTS}
    for place, ask in enumerate(asks, _ASKS):
        lists[versions.kind_of(ask)].append(versions.asked(ask, told.point, place))
    walk = told.walk
    near = [{"place": _NEAR, "ids": list(walk.entity_ids)}] if walk else []
    standing = told.standing
    held = versions.asked(Ask(heads=False), told.point, _HELD) | {
        "kind": _HELD_KIND.value,
        "newest": told.held,
    }
    return {
        **versions.seen_at(told.sight, told.point),
        **versions.bounds(search),
        **lists,
        "searches": [search.question(tenant, _SEARCH)] if search else [],
        "standing": (
            [] if standing is None else versions.standing_asked(told.sight, standing, _STANDING)
        ),
        "held": [held] if told.held else [],
        "around": near,
        "onward": [{**one, "place": _FAR} for one in near],
        "limit": walk.limit if walk else 0,
        "room": walk.room if walk else 0,
        "entity_ids": list(told.entity_ids),
    }
