"""A view: a tenant as it was true at one time and believed at another.

A view is an immutable value, pinned at (valid, tx) when it is made: tx is the asked time or the
last stamp, whichever is earlier, so later writes cannot change its answers. Every read carries the
caller's access; today's permissions apply to reads of the past too. Names are resolved in the same
snapshot.

`ListReads` reads the names or objects of many ids at once, because two hundred single reads are two
hundred snapshots or round trips. `Beginnings` finds ids by their first characters; if several
match, the caller lists them. Checklist: C-061 to C-064.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from operator import attrgetter, itemgetter
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ...resolution.bind import locate
from ...resolution.identifiers import lookup_of
from ...resolution.keys import MentionOrId, is_id
from ...resolution.known import Lookup
from ...resolution.names import with_visible_identifiers
from ...resolution.register import Register
from ...schema.answers import EntityView, Neighbourhood, SearchHit, SearchResult, Segment, SlotState
from ...schema.claim import Version
from ...schema.context_object import ContextObject
from ...schema.entity import EntityRef, Judgement
from ...schema.errors import NotFound
from ...schema.principal import AUDIT, STEWARD, TENANT_SCOPE, Principal, Scope, Sight
from ...schema.slots import STRUCTURE_SLOTS, Slot, Vocabulary
from ...schema.values import canonical_value, micros, moment, stamp_time
from ...schema.vocabulary import ObjectType, SlotStatus, Status, ValueType, parse
from ...schema.write import Moment
from ...store.commit.roots import Roots
from ...store.port.records import RecordKind
from ...store.port.store import Ask, Names, Point, Reader
from ...store.timeline.state import (
    Shape,
    plain_value,
    segments,
    slot_state,
    widened_state,
)
from ..backend.backend import Backend
from ..backend.caller import Caller, argument_checks, instant, mention, scope_of, spoken_name
from ..backend.words import ObjectTypeWord
from .entities import names_by_id, walk
from .objects import Mask, ObjectShaper, closeness, visible_object_ids, visible_rows

if TYPE_CHECKING:
    from ..visual.plane import TimePlane

_PAGE: Final = 200
"""Ids that are read at once: most stores have fewer of one beginning."""

EntityLike = str | EntityRef | Mapping[str, Any]
"""An entity: a name, an id, or a reference."""


class ResolvedName(NamedTuple):
    """A snapshot with whom a name means in it."""

    reader: Reader
    roots: tuple[str, ...]
    """Canonical ids: none, one, or several of a name that is ambiguous."""
    register: Register
    """What is known around them."""

    @property
    def is_one(self) -> bool:
        """Whether it means one entity."""
        return len(self.roots) == 1

    @property
    def members(self) -> tuple[str, ...]:
        """The raw ids of that one."""
        return self.register.members(self.roots[0])


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
                slot = version.details.slot
                if slot is not None and slot not in STRUCTURE_SLOTS:
                    by_slot.setdefault(slot, []).append(version)
            shape = self._shaper(subject.reader, versions, subject.register)
            states: dict[str, SlotState] = {}
            for name, rows in sorted(by_slot.items()):
                many = self._definition(name).many
                states[name] = slot_state(rows, many=many, shape=shape, at_us=self._point.valid_us)
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
        with self._reading() as reader:
            today = Point(self._point.valid_us, reader.clock().last_us)
        # An entity that became known later has a plane too: it says that nothing was known then.
        known_us = self._point.tx_us
        try:
            subject = self.entity(entity)
        except NotFound:
            subject, known_us = replace(self, _point=today).entity(entity), today.tx_us
        with self._reading() as reader:
            register = Register(reader.entities((subject.entity_id,), tx_us=known_us))
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
        from .entities import names_by_id

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
        from .entities import entity_view

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
        object_type: ObjectTypeWord | None = None,
    ) -> SearchResult:
        """Return the best matching shown objects; of equal matches the newest first."""
        from .search import Searcher, SearchQuery

        kind = parse(ObjectType, object_type) if object_type else None
        sight = self._sight(None)
        with self._reading() as reader:
            subjects: frozenset[str] | None = None
            if entity is not None:
                roots, known = find(reader, entity, sight, self._point.tx_us)
                subjects = known.members_of(roots)
            search = Searcher(
                self._backend, self.principal, reader, sight, self._point, self._words
            )
            question = SearchQuery(text=text, limit=limit, kind=kind, subjects=subjects)
            matches, withheld, cut = search.find(self._tenant, question)
            shape = self._shaper(reader, map(itemgetter(0), matches))
            hits: list[SearchHit] = []
            for version, score in matches:
                hits.append(SearchHit(object=shape(version), score=score))

            # Only an auditor learns that something was withheld: the bare fact would tell anybody
            # that a word stands somewhere.
            return SearchResult(
                hits=tuple(hits),
                withheld=withheld and self.principal.holds(AUDIT),
                truncated=cut,
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

    def _rows(
        self, reader: Reader, ask: Ask, access: Sight, point: Point | None = None
    ) -> tuple[Version, ...]:
        """Read rows at the view, or at another point, with personal data masked."""
        point = point or self._point
        versions = reader.versions(ask, sight=access, point=point).versions
        versions = Roots(reader, point.tx_us).versions(versions)
        return Mask(self.principal, self._backend.policy).over(reader, versions)

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
        from .entities import has_visible_facts

        reader, sight, tx_us = subject.reader, self._sight(None), self._point.tx_us
        if any(row.is_visible(sight) for row in reader.name_rows(subject.members, tx_us=tx_us)):
            return False
        return not has_visible_facts(reader, subject.members, sight, tx_us)

    def _state(self, subject: ResolvedName, slot: Slot, sight: Sight) -> SlotState:
        ask = Ask(subjects=subject.members, slots=(slot.name,))
        versions = self._rows(subject.reader, ask, sight)
        shape = self._shaper(subject.reader, versions, subject.register)

        return slot_state(versions, many=slot.many, shape=shape, at_us=self._point.valid_us)

    def _clean_values(
        self, subject: ResolvedName, slot: Slot, sight: Sight, *, at_us: int | None = None
    ) -> tuple[Any, ...]:
        """Return the values of a clean slot at the view, or at another valid time.

        Whoever wants the values alone does not pay for claims, names, edges and usage.
        """
        ask = Ask(subjects=subject.members, slots=(slot.name,))
        point = self._point if at_us is None else Point(at_us, self._point.tx_us)
        # Which entity a value is depends on the clusters of the view.
        plain = None
        if not slot.relates:
            plain = subject.reader.decided_value(ask, sight=sight, point=point)
        if plain is not None:
            return () if plain.value_json is None else (json.loads(plain.value_json),)

        versions = self._rows(subject.reader, ask, sight, point)
        shape = self._shaper(subject.reader, versions) if slot.relates else None
        state = slot_state(versions, many=slot.many, shape=shape)
        return state.values if state.status is SlotStatus.CLEAN else ()

    def _value_start(
        self, entity: EntityLike, name: str, value: Any, scope: Scope | Mapping[str, str] | None
    ) -> datetime | str | None:
        """When a clean value that a slot has at the view began before it; else None."""
        slot, sight = self._definition(name), self._sight(scope)
        with self._resolved_reader(entity, sight, names_only=True) as subject:
            if not subject.is_one:
                return None

            ask = Ask(subjects=subject.members, slots=(slot.name,))
            state = slot_state(self._rows(subject.reader, ask, sight), many=slot.many, shape=None)
            if slot.relates and state.status is SlotStatus.CLEAN:
                roots, _ = find(subject.reader, value, self._sight(None), self._point.tx_us)
                value = roots[0] if len(roots) == 1 else None

            if value is None or state.status is not SlotStatus.CLEAN:
                return None

            key = canonical_value(value, slot.value_type).key
            starts: list[datetime | None] = []
            for candidate in state.candidates:
                is_same = canonical_value(candidate.value, slot.value_type).key == key
                if is_same and candidate.status == Status.CLEAN:
                    starts.append(candidate.valid_from)
            # Nearly every correction states another value: only the same one has its bounds read.
            if starts and not slot.many:
                state = self._state(subject, slot, sight)
                starts = [self._widened_state(subject, slot, sight, state).valid_from]
            return next((start or "-infinity" for start in starts if start != self.valid), None)

    def _check_stated(self, entity: EntityLike, slot: Slot, key: str) -> None:
        """Refuse to retract a value that a slot never had; `key` is the key of that value.

        Raises:
            NotFound: `unknown_value`.
        """
        sight, rows = self._sight(None), tuple[Version, ...]()
        with self._resolved_reader(entity, sight) as subject:
            if subject.is_one:
                ask = Ask(subjects=subject.members, slots=(slot.name,), heads=False, at_valid=False)
                rows = self._rows(subject.reader, ask, sight)
        # Of a name that several have a person decides who is meant.
        if len(subject.roots) > 1 or key in map(attrgetter("row.claim.value_key"), rows):
            return
        # A name that is hidden from the caller is answered like an unknown one.
        values = ", ".join(map(str, self.slot(entity, slot.name).values)) or "no value"
        raise NotFound(
            f"there is no such {slot.name} of {spoken_name(entity)!r} to retract: it has {values} "
            "now; state a value that it has or had",
            code="unknown_value",
            slot=slot.name,
        )

    def _widened_state(
        self, subject: ResolvedName, slot: Slot, sight: Sight, state: SlotState
    ) -> SlotState:
        """Return a clean state whose bounds reach over neighbouring rows of the same value."""
        neighbour_times: list[int] = []
        if state.valid_from is not None:
            neighbour_times.append(micros(state.valid_from) - 1)
        if state.valid_until is not None:
            neighbour_times.append(micros(state.valid_until))

        # Most values are in one row, so what is next to it is asked first; one that was
        # confirmed for years is in hundreds, which are read at once.
        for at_us in neighbour_times:
            if self._clean_values(subject, slot, sight, at_us=at_us) == state.values:
                ask = Ask(subjects=subject.members, slots=(slot.name,), at_valid=False)
                return widened_state(state, self._rows(subject.reader, ask, sight))

        return state

    def _shaper(
        self, reader: Reader, versions: Iterable[Version], register: Register | None = None
    ) -> Shape:
        """Return a function from versions to objects that reads what stands next to them once."""
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
    return mention(entity) if isinstance(entity, Mapping | EntityRef) else entity


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
    roots = locate(mention_of(entity), register, frozenset(sight.scopes))
    # An unknown id is read like one that is hidden: a shorter answer would tell them apart.
    if not roots and isinstance(entity, str) and is_id(entity):
        roots = (entity,)
    return roots, register


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


@dataclass(frozen=True, slots=True)
class ListReads(Caller):
    """Reads about now for what a caller is shown in a list."""

    def names(self, entity_ids: Iterable[str]) -> Mapping[str, str]:
        """The names of entities by id; an id that represents none is left out."""
        with self._reading() as reader:
            tx_us = reader.clock().last_us
            return names_by_id(reader, entity_ids, sight_of(self.principal, None), tx_us)

    def objects(self, object_ids: Iterable[str]) -> Mapping[str, ContextObject]:
        """Objects by id, as `View.object` answers; what the caller may not see is left out."""
        ask = Ask(
            objects=tuple(dict.fromkeys(object_ids)), heads=False, at_valid=False, at_tx=False
        )
        if not ask.objects:
            return {}

        access = sight_of(self.principal, None)
        with self._reading() as reader:
            point = point_of(pinned(self._backend, self.principal, reader, None, None))
            page = reader.versions(ask, sight=access, point=point)
            # The row that is nearest to now represents an object, as in `View.object`: one that
            # was retracted is shown as it last was.
            best: dict[str, Version] = {}
            for version in Mask(self.principal, self._backend.policy).over(reader, page.versions):
                object_id = version.row.claim.object_id
                rival = best.get(object_id)
                is_closer = rival is None or closeness(version, point) > closeness(rival, point)
                if version.visible and is_closer:
                    best[object_id] = version

            shape = ObjectShaper(reader, best.values(), caller=self.principal, point=point)
            return dict(zip(best, map(shape, best.values()), strict=True))


@dataclass(frozen=True, slots=True)
class Beginnings(Caller):
    """Ids by their beginning, as one caller may learn of them."""

    def objects(self, beginning: str, *, limit: int) -> tuple[str, ...]:
        """The objects that the caller may see whose ids begin so, sorted; at most so many."""
        with self._reading() as reader:
            visible: list[str] = []
            after = ""
            while page := reader.object_ids(beginning, after=after, limit=_PAGE):
                visible += sorted(visible_object_ids(self._rows_of(reader, page)))
                if len(visible) >= limit:
                    break
                after = page[-1]
        return tuple(visible[:limit])

    def merges(self, beginning: str) -> tuple[str, ...]:
        """The merges, also those that were taken back, whose ids begin so; sorted.

        Raises:
            Forbidden: `privilege_required`.
        """
        self.principal.require(STEWARD)

        # No index leads from a part of the id to a merge; judgements are few next to claims.
        merge_ids: set[str] = set()
        with self._reading() as reader:
            for record in reader.records(RecordKind.JUDGEMENT):
                if isinstance(record, Judgement) and record.merge_id is not None:
                    merge_ids.add(record.merge_id)
        return tuple(sorted(item for item in merge_ids if item.startswith(beginning)))
