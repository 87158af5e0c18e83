"""The walk: what stands around an entity, breadth first and capped.

Each hop reads the clean facts about an entity or pointing at it, strongest first; the caps
are the policy's, so a hub with a million edges costs no more than a village.
Checklist: C-076.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import chain

from ...resolution.known import Lookup
from ...resolution.names import with_visible_identifiers, with_visible_names
from ...resolution.register import Register
from ...schema.answers import EntityView, Neighbourhood
from ...schema.claim import Version
from ...schema.context_object import ContextObject
from ...schema.principal import Sight
from ...store.port.records import NextReads, Walk
from ...store.port.store import Point, Reader
from .context_objects import entity_ends
from .entity_views import told_members, visible_raw_ids
from .masking import Mask

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
        if subject and value and version.details.slot:
            yield roots[subject], version.details.slot, roots[value]
