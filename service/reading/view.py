"""A view: a tenant as it was true at one time and believed at another.

A view is an immutable value, pinned at (valid, tx) when it is made: tx is the asked one or
the last stamp, whichever is earlier, so nothing written later can change what it answers.
Every read carries the caller's sight; today's permissions apply to past-time reads too.
Checklist: C-061 to C-064.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from ...resolution.keys import MentionOrId, lookup_of
from ...resolution.known import Lookup
from ...resolution.locate import locate
from ...resolution.names import with_visible_identifiers
from ...resolution.register import Register
from ...schema.answers import EntityView, Neighbourhood, SearchHit, SearchResult, Segment, SlotState
from ...schema.claim import Version
from ...schema.context_object import ContextObject
from ...schema.entity import EntityRef
from ...schema.errors import NotFound
from ...schema.principal import AUDIT, TENANT_SCOPE, Principal, Scope, Sight
from ...schema.slots import Slot, Vocabulary
from ...schema.values import micros, moment, stamp_time
from ...schema.vocabulary import ObjectType, SlotStatus, ValueType, parse
from ...schema.write import Moment
from ...store.port.store import Ask, Names, Point, Reader
from ...store.timeline.state import (
    Shape,
    plain_value,
    segments,
    slot_state,
    widened_state,
)
from ..backend.arguments import argument_checks
from ..backend.backend import Backend
from ..backend.caller import Caller, entity_ref, instant, scope_of, spoken_name
from .context_objects import ObjectShaper, closeness, visible_rows
from .masking import Mask
from .neighbourhood import walk
from .resolved_name import ResolvedName

if TYPE_CHECKING:
    from ..visual.plane import TimePlane

EntityLike = str | EntityRef | Mapping[str, Any]
"""An entity: a name, an id, or a reference."""


@argument_checks
@dataclass(frozen=True, slots=True)
class View(Caller):
    """A pinned view; every read of tenure is a method of one."""

    _point: Point
    _words: Vocabulary
    """The tenant's vocabulary when the view was made."""

    @property
    def valid(self) -> datetime | None:
        """Return the valid time of the view."""
        return moment(self._point.valid_us)

    @property
    def tx(self) -> datetime | None:
        """Return the transaction time the view is pinned at; None before any write."""
        return moment(self._point.tx_us)

    def slot(
        self, entity: EntityLike, slot: str, scope: Scope | Mapping[str, str] | None = None
    ) -> SlotState:
        """Return the state of a slot; `scope` reads that scope alone.

        Raises:
            InvalidInput: `unknown_vocabulary` for a slot that does not exist.
        """
        definition, sight = self._definition(slot), self._sight(scope)
        with self._resolved_reader(entity, sight) as subject:
            if not subject.is_one:
                return _no_answer(subject.roots)
            # The bounds of a clean value cost further reads, one a neighbour. Of many values each
            # has bounds of its own, so that there is nothing to widen.
            state = self._state(subject, definition, sight)
            if state.status is SlotStatus.CLEAN and not definition.many:
                return self._widened_state(subject, definition, sight, state)
            # A right guess of a hidden name must say no more than a wrong one.
            if state.reason == "no_value" and self._is_hidden(subject):
                return _no_answer(())
            return state

    def value(self, entity: EntityLike, slot: str, default: Any = None) -> Any:
        """Return the clean value of a slot, or the default."""
        definition, sight = self._definition(slot), self._sight(None)
        with self._resolved_reader(entity, sight, names_only=True) as subject:
            if not subject.is_one:
                return default

            values = self._clean_values(subject, definition, sight)
            if not values:
                return default

            return values[0] if len(values) == 1 else values

    def facts(self, entity: EntityLike) -> dict[str, SlotState]:
        """Return the state of every slot of an entity that has one, by slot name."""
        sight = self._sight(None)
        with self._resolved_reader(entity, sight) as subject:
            if not subject.is_one:
                return {}
            versions = self._rows(subject.reader, Ask(subjects=subject.members), sight)
            by_slot: dict[str, list[Version]] = {}
            for version in versions:
                if version.details.slot is not None:
                    by_slot.setdefault(version.details.slot, []).append(version)
            shape = self._shaper(subject.reader, versions, subject.register)
            states: dict[str, SlotState] = {}
            for name, rows in sorted(by_slot.items()):
                definition = self._definition(name)
                states[name] = slot_state(rows, many=definition.many, shape=shape)
            return states

    def timeline(self, entity: EntityLike, slot: str) -> tuple[Segment, ...]:
        """Return the whole of valid time as stretches with one answer, oldest first."""
        definition, sight = self._definition(slot), self._sight(None)
        with self._resolved_reader(entity, sight) as subject:
            if not subject.is_one:
                return ()
            ask = Ask(subjects=subject.members, slots=(slot,), at_valid=False)
            versions = self._rows(subject.reader, ask, sight)
            shape = self._shaper(subject.reader, versions, subject.register)
            return segments(versions, many=definition.many, shape=shape)

    def plane(self, entity: EntityLike, slot: str) -> TimePlane:
        """Everything that was ever believed of a slot over both times, with this view marked.

        It reaches to what is known today, also where the view is of an earlier time. The value
        draws itself: `.text()`, `.svg()`, in a notebook, and `.sentence` says the answer.

        Raises:
            NotFound: `unknown_entity`, also when a name is ambiguous.
            InvalidInput: `unknown_vocabulary` for a slot that does not exist.
        """
        from ..visual.plane import TimePlane
        from .actors import ActorReader
        from .planes import bands_of, entry_stamps, lost_claims, with_actors

        definition, access = self._definition(slot), self._sight(None)
        subject = self.entity(entity)
        with self._reading() as reader:
            today = Point(self._point.valid_us, reader.clock().last_us)
            register = Register(reader.entities((subject.entity_id,), tx_us=self._point.tx_us))
            members = register.members(subject.entity_id)
            ask = Ask(subjects=members, slots=(slot,), heads=False, at_valid=False, at_tx=False)
            versions = self._rows(reader, ask, access, today)
            naming = self._naming(reader, definition, versions, access)
            bands = bands_of(
                reader,
                versions,
                definition,
                entity=subject.entity_id,
                now_us=self._backend.now_us(),
                naming=naming,
            )
            actors = ActorReader(self._backend, self.principal).actors(reader, entry_stamps(bands))

        return TimePlane(
            entity=subject.name,
            slot=slot,
            bands=with_actors(bands, actors),
            lost_claims=lost_claims(versions, naming),
            valid=stamp_time(self._point.valid_us),
            known=stamp_time(self._point.tx_us),
        )

    def _naming(
        self, reader: Reader, slot: Slot, versions: Iterable[Version], access: Sight
    ) -> Callable[[Any], str]:
        """How the values of a slot read to people: entities by name, all else as it is."""
        from ..visual.text import value_text, when
        from .entity_views import names_by_id

        if slot.value_type is ValueType.INSTANT:
            return lambda value: when(datetime.fromisoformat(value)) if value else "-"
        if not slot.relates:
            return value_text

        ids = set(map(str, map(plain_value, visible_rows(versions))))
        names = names_by_id(reader, ids, access, self._point.tx_us)
        return lambda value: names.get(str(value), value_text(value))

    def entity(self, mention: EntityLike) -> EntityView:
        """Return an entity as known at the view's tx; a merged-away id redirects.

        Raises:
            NotFound: `unknown_entity`, also when a name is ambiguous.
        """
        # A look-up of a slot needs none of it, and it is what most start a process for.
        from .entity_views import entity_view

        sight = self._sight(None)
        with self._resolved_reader(mention, sight) as (reader, roots, _):
            if len(roots) != 1:
                raise _not_one_entity(mention, roots)
            name = spoken_name(mention)
            return entity_view(reader, roots[0], sight, self._point.tx_us, mention=name)

    def neighbourhood(self, entity: EntityLike, hops: int = 2, limit: int = 50) -> Neighbourhood:
        """Return what stands around an entity, breadth first, capped by the policy."""
        rules, sight = self._backend.policy.read, self._sight(None)
        with self._resolved_reader(entity, sight) as (reader, roots, _):
            return walk(
                reader,
                roots[:1],
                sight=sight,
                point=self._point,
                hops=hops,
                limit=min(limit, rules.neighbourhood_fanout),
                most_entities=rules.neighbourhood_entities,
                shaper=lambda versions: self._shaper(reader, versions),
                mask=Mask(self.principal, self._backend.policy),
            )

    def search(
        self,
        text: str,
        limit: int = 10,
        entity: EntityLike | None = None,
        object_type: str | None = None,
    ) -> SearchResult:
        """Return the best matching shown objects; ties stand in order of object id."""
        from .search import Searcher, SearchQuery

        kind = parse(ObjectType, object_type) if object_type else None
        sight = self._sight(None)
        with self._reading() as reader:
            subjects: frozenset[str] | None = None
            if entity is not None:
                roots, known = find(reader, entity, sight, self._point.tx_us)
                subjects = known.members_of(roots)
            search = Searcher(self._backend, self.principal, reader, sight, self._point)
            matches = search.find(
                self._tenant,
                SearchQuery(text=text, limit=limit, kind=kind, subjects=subjects),
            )
            shape = self._shaper(reader, map(itemgetter(0), matches.ranked))
            hits: list[SearchHit] = []
            for version, score in matches.ranked:
                hits.append(SearchHit(object=shape(version), score=score))

            # Only an auditor learns that something was withheld: the bare fact would tell anybody
            # that a word stands somewhere.
            return SearchResult(
                hits=tuple(hits),
                withheld=bool(matches.withheld) and self._is_auditor,
                truncated=matches.cut,
            )

    def object(self, object_id: str) -> ContextObject:
        """Return an object as it looks at the view.

        Raises:
            NotFound: `unknown_object`, also for what the caller may not see.
        """
        with self._reading() as reader:
            ask = Ask(objects=(object_id,), heads=False, at_valid=False, at_tx=False)
            rows = visible_rows(self._rows(reader, ask, self._sight(None)))
            if not rows:
                raise NotFound(f"there is no object {object_id}", code="unknown_object")
            best = max(rows, key=lambda version: closeness(version, self._point))
            return self._shaper(reader, [best])(best)

    @property
    def _is_auditor(self) -> bool:
        return not self.principal.roles.isdisjoint(AUDIT.roles)

    def _rows(
        self, reader: Reader, ask: Ask, access: Sight, point: Point | None = None
    ) -> tuple[Version, ...]:
        """Read rows at the view, or at another point, with personal data masked."""
        page = reader.versions(ask, sight=access, point=point or self._point)
        return Mask(self.principal, self._backend.policy).over(reader, page.versions)

    @contextmanager
    def _resolved_reader(
        self, entity: EntityLike, sight: Sight, *, names_only: bool = False
    ) -> Generator[ResolvedName]:
        """Open a reader with the ids that an entity may mean, and what is known around them.

        `names_only` leaves out what identifies them and what was judged of them.
        """
        lookup = lookup_of([mention_of(entity)])
        if names_only and not lookup.identifiers:
            lookup = Lookup(norms=lookup.norms, entity_ids=lookup.entity_ids, names_only=True)
        names = partial(Names, lookup, sight.scopes)
        with self._backend.store.reading(self._tenant, names) as reader:
            yield ResolvedName(reader, *found_by(reader, entity, lookup, sight, self._point.tx_us))

    def _sight(self, scope: Scope | Mapping[str, str] | None) -> Sight:
        return sight_of(self.principal, scope)

    def _definition(self, slot: str) -> Slot:
        return self._words.slot(slot)

    def _is_hidden(self, subject: ResolvedName) -> bool:
        """Whether the caller may know nothing of an entity, not even that it is there."""
        from .entity_views import entity_view

        try:
            entity_view(subject.reader, subject.roots[0], self._sight(None), self._point.tx_us)
        except NotFound:
            return True
        return False

    def _state(self, subject: ResolvedName, slot: Slot, sight: Sight) -> SlotState:
        ask = Ask(subjects=subject.members, slots=(slot.name,))
        versions = self._rows(subject.reader, ask, sight)
        shape = self._shaper(subject.reader, versions, subject.register)

        return slot_state(versions, many=slot.many, shape=shape)

    def _clean_values(
        self, subject: ResolvedName, slot: Slot, sight: Sight, *, at_us: int | None = None
    ) -> tuple[Any, ...]:
        """Return the values of a clean slot at the view, or at another valid time.

        Whoever wants the values alone does not pay for claims, names, edges and usage.
        """
        ask = Ask(subjects=subject.members, slots=(slot.name,))
        point = self._point if at_us is None else Point(at_us, self._point.tx_us)
        plain = subject.reader.decided_value(ask, sight=sight, point=point)
        if plain is not None:
            return () if plain.value_json is None else (json.loads(plain.value_json),)

        versions = self._rows(subject.reader, ask, sight, point)
        state = slot_state(versions, many=slot.many, shape=None)
        return state.values if state.status is SlotStatus.CLEAN else ()

    def _widened_state(
        self, subject: ResolvedName, slot: Slot, sight: Sight, state: SlotState
    ) -> SlotState:
        """Return a clean state whose bounds reach over neighbouring rows of the same value."""
        neighbour_times: list[int] = []
        if state.valid_from is not None:
            neighbour_times.append(micros(state.valid_from) - 1)
        if state.valid_until is not None:
            neighbour_times.append(micros(state.valid_until))

        # Most values stand in one row, so what is beside it is asked first; one that was
        # confirmed for years stands in hundreds, which are read at once.
        for at_us in neighbour_times:
            if self._clean_values(subject, slot, sight, at_us=at_us) == state.values:
                ask = Ask(subjects=subject.members, slots=(slot.name,), at_valid=False)
                return widened_state(state, self._rows(subject.reader, ask, sight))

        return state

    def _shaper(
        self, reader: Reader, versions: Iterable[Version], register: Register | None = None
    ) -> Shape:
        """Return a function from versions to objects that reads what stands beside them once."""
        return ObjectShaper(
            reader, versions, caller=self.principal, point=self._point, register=register
        )


def pinned(
    backend: Backend, principal: Principal, reader: Reader, valid: Moment, tx: Moment
) -> View:
    """Return the view of (valid, tx) from a reader; None means now."""
    last_us, words = reader.clock().last_us, backend.words(principal.tenant, reader)
    return View(backend, principal, _point_at(backend, last_us, valid, tx), words)


def pinned_now(backend: Backend, principal: Principal, valid: Moment, tx: Moment) -> View:
    """Return the view of (valid, tx) with no more asked than where the history ends."""
    last_us, words = backend.newest(principal.tenant)
    return View(backend, principal, _point_at(backend, last_us, valid, tx), words)


def _point_at(backend: Backend, last_us: int, valid: Moment, tx: Moment) -> Point:
    # A tx ahead of the last stamp is cut down to it, so that a later write cannot change the view.
    # And where a clock jumped back, now is the last stamp: what was just written is seen.
    tx_us = last_us if tx is None else min(instant(tx, field="tx"), last_us)
    valid_us = max(backend.now_us(), last_us) if valid is None else instant(valid, field="valid")
    return Point(valid_us, tx_us)


def point_of(view: View) -> Point:
    """The point that every read of a view is asked at; to users it tells `valid` and `tx`."""
    return view._point  # pyright: ignore[reportPrivateUsage]


def words_of(view: View) -> Vocabulary:
    """The tenant's vocabulary when a view was made."""
    return view._words  # pyright: ignore[reportPrivateUsage]


def sight_of(principal: Principal, scope: Scope | Mapping[str, str] | None) -> Sight:
    """Return what a principal may read, or that of one stated scope."""
    if scope is None:
        return principal.sight()

    wanted_scope = scope_of(scope) or TENANT_SCOPE
    # A scope of somebody else reads as an empty one: a refusal would say that it exists.
    if not principal.privileged and wanted_scope.scope_id not in principal.sight().scopes:
        return principal.sight(())

    return principal.sight([wanted_scope.scope_id])


def mention_of(entity: EntityLike) -> MentionOrId:
    """Return how a caller names an entity as a mention."""
    return entity_ref(entity) if isinstance(entity, Mapping) else entity


def find(
    reader: Reader, entity: EntityLike, sight: Sight, tx_us: int
) -> tuple[tuple[str, ...], Register]:
    """Return the canonical ids an entity may mean, and what is known around them."""
    return found_by(reader, entity, lookup_of([mention_of(entity)]), sight, tx_us)


def found_by(
    reader: Reader, entity: EntityLike, lookup: Lookup, sight: Sight, tx_us: int
) -> tuple[tuple[str, ...], Register]:
    """Return what `find` does, by the look-up of the entity."""
    known = reader.known(lookup, scopes=sight.scopes, tx_us=tx_us)
    register = Register(with_visible_identifiers(known, sight))
    return locate(mention_of(entity), register, frozenset(sight.scopes)), register


def _not_one_entity(mention: EntityLike, roots: tuple[str, ...]) -> NotFound:
    """The error of a name that means nobody, or several."""
    problem = (
        f"several entities ({', '.join(roots)}); say which by its id"
        if roots
        else "no entity that you may see; list those with entities.list() or `tenure entities`"
    )
    return NotFound(
        f"{spoken_name(mention)!r} names {problem}",
        code="ambiguous_entity" if roots else "unknown_entity",
        entities=list(roots),
    )


def _no_answer(roots: tuple[str, ...]) -> SlotState:
    reason = "ambiguous_entity" if roots else "unknown_entity"
    return SlotState(status=SlotStatus.UNKNOWN, reason=reason, entities=roots)
