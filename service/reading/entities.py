"""Entities as a caller may know them: the visible names, identifiers, facts and neighbours.

A hidden entity gives the same error as a missing one, by id and by name.

The walk around an entity is breadth first. Each hop reads the clean facts about an entity or
pointing at it, strongest first. The policy sets the caps, so a hub with a million edges costs no
more than a small entity. Checklist: C-076.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import replace
from itertools import chain

from ...resolution.known import Known, Lookup
from ...resolution.names import NameRow, visible_names, with_visible_identifiers, with_visible_names
from ...resolution.register import Register
from ...schema.answers import EntityView, Neighbourhood
from ...schema.claim import Version
from ...schema.context_object import ContextObject
from ...schema.errors import NotFound
from ...schema.interval import INF_US
from ...schema.principal import Sight
from ...store.port.records import NextReads, Walk
from ...store.port.store import Ask, Point, Reader
from .objects import Mask, entity_ends, visible_rows


def entity_view(
    reader: Reader, entity_id: str, sight: Sight, tx_us: int, *, mention: str | None = None
) -> EntityView:
    """An entity of the register as known at a tx, under the strongest name that may be seen.

    Raises:
        NotFound: `unknown_entity`, also when neither a name nor a fact of it may be seen.
    """
    known, root = _known_entity(reader, entity_id, tx_us)
    (view,) = entity_views(reader, known, [root], sight, tx_us)
    members = Register(known).members(root)
    if not view.aliases and not has_visible_facts(reader, members, sight, tx_us):
        # Whoever asked by a name must not learn its id from the refusal.
        raise unknown_entity(mention or entity_id)
    moved = mention is not None and mention in view.members and mention != view.entity_id
    return replace(view, redirected_from=mention) if moved else view


def described_entity(reader: Reader, entity_id: str, sight: Sight, tx_us: int) -> EntityView:
    """An entity for who handles its case, whatever of it may be seen.

    Raises:
        NotFound: `unknown_entity`.
    """
    known, root = _known_entity(reader, entity_id, tx_us)
    (view,) = entity_views(reader, known, [root], sight, tx_us)
    return view


def _known_entity(reader: Reader, entity_id: str, tx_us: int) -> tuple[Known, str]:
    """What is known of an entity, and its canonical id.

    Raises:
        NotFound: `unknown_entity`.
    """
    known = reader.entities([entity_id], tx_us=tx_us)
    root = known.canonical.get(entity_id, entity_id)
    if root not in known.entities:
        raise unknown_entity(entity_id)
    return known, root


def unknown_entity(entity_id: str) -> NotFound:
    """The error of an entity that is not there, or that the caller may not know of."""
    return NotFound(
        f"{entity_id!r} names no entity that you may see; list those with entities.list() or "
        "`tenure entities`",
        code="unknown_entity",
        entities=[],
    )


def has_visible_facts(reader: Reader, members: Sequence[str], sight: Sight, tx_us: int) -> bool:
    """Whether a caller may see any fact of an entity, or one that names it as its value."""
    point = Point(INF_US - 1, tx_us)
    ask = Ask(subjects=tuple(members), heads=False, at_valid=False)
    if visible_rows(reader.versions(ask, sight=sight, point=point).versions):
        return True
    # It may stand only as the value of others' facts.
    return bool(reader.around(members, sight=sight, point=point, limit=1).versions)


def entity_views(
    reader: Reader, known: Known, roots: Iterable[str], sight: Sight, tx_us: int
) -> tuple[EntityView, ...]:
    """Known entities by canonical id, under the names that may be seen.

    An external id says who somebody is, so that it is shown with a visible name only, and to whom
    may read a write that taught it.
    """
    rows = reader.name_rows(sorted(known.entities), tx_us=tx_us)
    visible = with_visible_identifiers(known, sight)
    register = Register(with_visible_names(visible, rows, sight))
    names = visible_names(rows, register, sight)
    visible_ids = visible_raw_ids(known, rows, sight)

    views: list[EntityView] = []
    for root in roots:
        entity = register.entity(root)
        assert entity is not None  # it is known
        views.append(
            EntityView(
                entity_id=root,
                name=entity.name,
                type=entity.type,
                state=entity.state.value,
                members=told_members(root, register, visible_ids),
                aliases=names.get(root, ()),
                external_ids=register.external_ids(root) if root in names else {},
                identifiers=_identifiers(root, register) if root in names else (),
            )
        )
    return tuple(views)


def visible_raw_ids(known: Known, rows: Iterable[NameRow], sight: Sight) -> frozenset[str]:
    """The raw entities that a caller may know of: by a name, or by the scope they were made in."""
    ids = {row.entity_id for row in rows if row.is_visible(sight)}
    for raw, entity in known.entities.items():
        if entity.scope_id in sight.scopes:
            ids.add(raw)
    return frozenset(ids)


def told_members(root: str, register: Register, visible_ids: Set[str]) -> tuple[str, ...]:
    """The raw ids of a cluster without those that others made where the caller sees nothing."""
    return tuple([raw for raw in register.members(root) if raw == root or raw in visible_ids])


def _identifiers(root: str, register: Register) -> tuple[tuple[str, str], ...]:
    identifiers: list[tuple[str, str]] = []
    for scheme, values in sorted(register.held(root).items()):
        for value in values:
            identifiers.append((scheme, value))
    return tuple(identifiers)


def names_by_id(
    reader: Reader, entity_ids: Iterable[str], sight: Sight, tx_us: int
) -> Mapping[str, str]:
    """The names of entities, as today's clusters have them, by the ids that were asked for.

    `tx_us` is when the names were known. An id that represents no entity is left out.
    """
    # Clusters of today and names of then: what was merged since reads as one also in the past.
    ids = sorted(set(entity_ids))
    known = reader.entities(ids, tx_us=reader.clock().last_us)
    roots = {entity_id: known.canonical.get(entity_id, entity_id) for entity_id in ids}
    present_roots = sorted(set(roots.values()) & known.entities.keys())
    views = entity_views(reader, known, present_roots, sight, tx_us)
    names = {view.entity_id: view.name for view in views}

    # By the ids that were asked for, so that whoever holds a merged-away id finds its name.
    return {entity_id: names[root] for entity_id, root in roots.items() if root in names}


Shaper = Callable[[Sequence[Version]], Callable[[Version], ContextObject]]
"""Makes, of all versions of an answer, the function that turns each into an object."""


def walk(
    reader: Reader,
    roots: Sequence[str],
    *,
    sight: Sight,
    point: Point,
    hops: int,
    limit: int,
    most_entities: int,
    shaper: Shaper,
    mask: Mask,
) -> Neighbourhood:
    """Return the neighbourhood: at most `limit` facts around each of `most_entities` at most."""
    ground = _Ground(reader, sight, point.tx_us)
    ground.explore(roots)
    visited_ids = dict.fromkeys(roots)
    frontier, withheld, cut = list(roots), 0, False
    facts: dict[int, Version] = {}
    edges: dict[tuple[str, str, str], None] = {}
    if hops > 1:
        members = tuple(sorted(chain.from_iterable(ground.members[root] for root in frontier)))
        # Every end of every fact: the walk itself has no other bound than that of its facts.
        steps = Walk(members, limit, room=2 * limit * len(members))
        reader.expect(lambda: NextReads(sight=sight, point=point, walk=steps))

    # One look-up for a whole hop: over a server each would be a round trip.
    for _ in range(hops):
        if len(frontier) > most_entities:
            frontier, cut = frontier[:most_entities], True
        if not frontier:
            break
        most_entities -= len(frontier)

        raw = set(chain.from_iterable(map(ground.members.__getitem__, frontier)))
        page = reader.around(sorted(raw), sight=sight, point=point, limit=limit)
        withheld += page.withheld
        cut = cut or page.cut
        versions = mask.over(reader, page.versions)
        # A fact between two entities is met from both of its ends.
        for version in versions:
            facts[version.row.vid] = version

        ends = sorted(set(chain.from_iterable(map(entity_ends, versions))))
        ground.explore(ends)
        edges.update(dict.fromkeys(_edges(versions, ground.roots)))

        neighbours = dict.fromkeys(map(ground.roots.__getitem__, ends))
        frontier = [root for root in neighbours if root not in visited_ids]
        visited_ids.update(dict.fromkeys(frontier))

    visible_facts = tuple(facts.values())
    # Of an entity of which nothing may be seen one learns that something is withheld, and no more.
    told_ids = visited_ids if visible_facts else ground.named_roots
    return Neighbourhood(
        entities=tuple(ground.views[root] for root in told_ids if root in ground.views),
        facts=tuple(map(shaper(visible_facts), visible_facts)),
        edges=tuple(edges),
        truncated=cut,
        withheld=bool(withheld),
    )


class _Ground:
    """What the walk has learned of the entities it met; each is looked up once."""

    def __init__(self, reader: Reader, sight: Sight, tx_us: int) -> None:
        self._reader, self._sight, self._tx_us = reader, sight, tx_us
        self.roots: dict[str, str] = {}
        self.members: dict[str, tuple[str, ...]] = {}
        self.views: dict[str, EntityView] = {}
        self.named_roots: dict[str, None] = {}
        """Those of which the caller may see a name."""

    def explore(self, raw: Sequence[str]) -> None:
        """Look up the entities that were not met before."""
        new = [entity for entity in raw if entity not in self.roots]
        if not new:
            return

        lookup = Lookup(entity_ids=tuple(new))
        scopes = self._sight.scopes
        answer = self._reader.known(lookup, scopes=scopes, tx_us=self._tx_us)
        rows = self._reader.name_rows(sorted(answer.entities), tx_us=self._tx_us)
        visible = with_visible_identifiers(answer, self._sight)
        visible = with_visible_names(visible, rows, self._sight)
        known = Register(visible)
        visible_ids = visible_raw_ids(answer, rows, self._sight)
        # The root is met too, under its own id: a later hop may name it by that.
        for entity in new:
            root = known.root(entity)
            self.roots[entity] = self.roots[root] = root
            if root not in self.members:
                self.members[root] = known.members(root)
                told_ids = told_members(root, known, visible_ids)
                is_named = root in visible.name_levels
                if is_named:
                    self.named_roots[root] = None
                self._describe(root, known, told_ids, is_named=is_named)

    def _describe(
        self, root: str, known: Register, told_ids: tuple[str, ...], *, is_named: bool
    ) -> None:
        entity = known.entity(root)
        if entity is not None:
            self.views[root] = EntityView(
                entity_id=root,
                name=entity.name,
                type=entity.type,
                state=entity.state.value,
                members=told_ids,
                aliases=(),
                external_ids=known.external_ids(root) if is_named else {},
            )


def _edges(versions: Sequence[Version], roots: dict[str, str]) -> Iterable[tuple[str, str, str]]:
    for version in versions:
        subject, value = version.details.subject_id, version.details.value_entity_id
        # A merge may have made somebody their own manager: that is no neighbour.
        if subject and value and version.details.slot and roots[subject] != roots[value]:
            yield roots[subject], version.details.slot, roots[value]
