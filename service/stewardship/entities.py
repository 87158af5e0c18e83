"""Entities at the edge: look up, list, name, merge, un-merge, export.

`get` is the page of an entity for programs: its names with who taught them and when, facts,
neighbours, judgements and history. Merging and naming decide identity, so they need a steward;
reading needs only membership. The export draws the graph that the caller may see, as GraphML for
graph tools or node-link JSON for programs; equal graphs give equal bytes.
Checklist: C-053, C-056.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from importlib import import_module
from itertools import islice
from operator import attrgetter
from pathlib import Path
from typing import Any, Final

from ...schema.answers import EntityView, MergeReceipt, Neighbourhood, SlotState, UnmergeReceipt
from ...schema.entity import Alias, Resolution
from ...schema.errors import Conflict, Forbidden, InvalidInput
from ...schema.principal import AUDIT, STEWARD, TENANT_SCOPE, Scope, Sight
from ...schema.records import short_repr
from ...schema.slots import GraphForm
from ...schema.values import moment
from ...store.operations.change import Mandate
from ...store.operations.merge import merge
from ...store.operations.naming import add_alias
from ...store.operations.split import unmerge
from ...store.port.store import Reader, WriteTx
from ..backend.caller import Caller, argument_checks, check_secrets, scope_of
from ..backend.files import needs_extra, new_file
from ..reading.entities import entity_views
from ..reading.resolve import Resolver
from ..reading.view import EntityLike, View, point_of, sight_of, words_of
from .relations import RelationCheck
from .review_page import EntityComparison, comparison_of, facts_about, member_of, pair_context
from .reviews import JudgementView, sentences_about, verdicts_about
from .visible_receipts import VisibleReceipts

_FORMATS = ("graphml", "json")

_FIRST_CHUNK = 128

_CHUNK = 1_024
"""Entities that a listing reads at once: few for a first page, many for the rest."""


def graph_text(
    entities: Sequence[EntityView], edges: Sequence[tuple[str, str, str]], form: str
) -> str:
    """Return the graph as `graphml` or `json` text; an edge to an unseen entity is left out.

    Raises:
        Unavailable: `extra_missing` without the extra `graph`.
    """
    with needs_extra("graph"):
        networkx: Any = import_module("networkx")  # it carries no types; the export alone needs it

    graph = networkx.MultiDiGraph()
    for entity in entities:
        name = entity.name
        if form == "graphml":
            name = _NO_XML.sub(lambda match: f"\\x{ord(match.group()):02x}", name)
        graph.add_node(entity.entity_id, name=name, type=entity.type, state=entity.state)
    graph.add_edges_from(
        (start, end, slot, {"slot": slot})
        for start, slot, end in edges
        if start in graph and end in graph
    )

    if form == "json":
        document = networkx.node_link_data(graph, edges="edges")
        return json.dumps(document, indent=1, ensure_ascii=False)
    return "\n".join(networkx.generate_graphml(graph))


_NO_XML: Final = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""The characters that no XML may hold, not even as a reference."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AliasView:
    """A name of an entity, with who taught it."""

    __repr__ = short_repr

    surface: str
    entity: str
    """The raw entity it names; a cluster has several."""
    scope: str
    learned: datetime | None
    """The transaction that taught it."""
    object_id: str
    """The write or operation that taught it."""
    merge_id: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityPage:
    """Everything a program or a steward may want to know of one entity."""

    __repr__ = short_repr

    entity: EntityView
    aliases: tuple[AliasView, ...]
    facts: Mapping[str, SlotState]
    neighbours: Neighbourhood
    judgements: tuple[JudgementView, ...]
    """Every verdict about it that the caller may see, those taken back included, oldest first."""
    history: tuple[tuple[datetime | None, str], ...]
    """What happened to its identity, oldest first: (transaction time, sentence)."""


@argument_checks
@dataclass(frozen=True, slots=True)
class Entities(Caller):
    """The register of one tenant, as one caller sees it."""

    _as_of_now: Callable[[], View]
    """Makes the view of now where one is asked for; resolving, the frequent call, needs none."""

    def resolve(
        self,
        mention: EntityLike,
        type: str | None = None,
        *,
        scope: Scope | Mapping[str, str] | None = None,
        near: Sequence[str] = (),
    ) -> Resolution:
        """Return what a mention would be bound to, with every candidate's evidence.

        `scope` is where the mention is (tenant-wide by default), `near` are entity ids
        known to stand around it. Nothing is written.
        """
        stated_scope = scope_of(scope) or TENANT_SCOPE
        resolving = Resolver(self._backend, self.principal)
        return resolving.resolve(mention, type, stated_scope.scope_id, near)

    def get(self, entity: EntityLike) -> EntityPage:
        """Return the page of an entity; a merged-away id redirects.

        Raises:
            NotFound: `unknown_entity`, also when a name is ambiguous.
        """
        return self._page(entity, self._as_of_now())

    def _page(self, entity: EntityLike, now: View) -> EntityPage:
        view = now.entity(entity)
        with self._reading() as reader:
            known = reader.entities(view.members, tx_us=point_of(now).tx_us)
            verdicts = verdicts_about(reader, view.members, sight_of(self.principal, None))

        scopes = sight_of(self.principal, None).scopes
        aliases = tuple(
            _alias(a) for a in known.aliases if a.scope_id in scopes and a.surface in view.aliases
        )
        events = [(a.learned, f"named {a.surface!r} in {a.scope}") for a in aliases]
        for verdict in verdicts:
            events += sentences_about(verdict)
        return EntityPage(
            entity=view,
            aliases=aliases,
            facts=now.facts(view.entity_id),
            neighbours=now.neighbourhood(view.entity_id, hops=1),
            judgements=verdicts,
            history=tuple(sorted(events, key=lambda event: (str(event[0]), event[1]))),
        )

    def compare(self, a: EntityLike, b: EntityLike) -> EntityComparison:
        """Return why two entities would be taken for one, or would not, line by line.

        Their names are scored against each other, best pair first, with the scopes, the
        neighbours and the attributes that they share: those that the policy registers under
        `resolution.vetoes`. Of a cluster all names count; two names of one cluster are told
        apart, so that it shows what the merge was made of. Nothing is written.

        Raises:
            NotFound: `unknown_entity`, also when a name is ambiguous.
        """
        now = self._as_of_now()
        left, right = self._page(a, now), self._page(b, now)
        if left.entity.entity_id == right.entity.entity_id:
            left, right = self._part(a, left, now), self._part(b, right, now)
        scopes = {alias.scope for alias in left.aliases} & {alias.scope for alias in right.aliases}
        neighbours = _neighbour_ids(left), _neighbour_ids(right)
        all_neighbours = neighbours[0] | neighbours[1]
        common_neighbours = neighbours[0] & neighbours[1]

        policy = self._backend.policy
        members = (*left.entity.members, *right.entity.members)
        now_us = point_of(now).valid_us
        with self._reading() as reader:
            facts = facts_about(reader, members, self.principal, policy, now_us=now_us)

        context = pair_context(
            left.entity,
            right.entity,
            facts,
            policy,
            words_of(now),
            scopes=scopes,
            overlap=1_000 * len(common_neighbours) // len(all_neighbours) if all_neighbours else 0,
        )
        return comparison_of(left.entity, right.entity, context=context, bands=policy.resolution)

    def _part(self, entity: EntityLike, page: EntityPage, now: View) -> EntityPage:
        """The page of one name of a merged entity: what stands around the whole proves nothing."""
        if not isinstance(entity, str):
            return page

        with self._reading() as reader:
            known = reader.entities(page.entity.members, tx_us=point_of(now).tx_us)

        member = member_of(page.entity, entity, known)
        aliases = tuple(alias for alias in page.aliases if alias.entity in member.members)
        around = replace(page.neighbours, entities=())
        return replace(page, entity=member, aliases=aliases, neighbours=around)

    def list(
        self, type: str | None = None, *, after: str = "", limit: int | None = None
    ) -> tuple[EntityView, ...]:
        """Return the entities whose names the caller may see, by id; merged ones once.

        A large register comes in pages: `limit` entities with an id above `after`, which is
        the `entity_id` of the last one of the page before.

        Raises:
            InvalidInput: `out_of_range` for a limit below 1, `unknown_vocabulary` for a type
                that does not exist.
        """
        now = self._as_of_now()
        if type is not None:
            words_of(now).check("entity_type", (type,))
        if limit is not None and limit < 1:
            raise InvalidInput(f"limit {limit}: ask for 1 or more", code="out_of_range")

        sight = sight_of(self.principal, None)
        with self._reading() as reader:
            views = _entity_pages(reader, type, after, sight, point_of(now).tx_us)
            return tuple(islice(views, limit))

    def add_alias(
        self, entity: str, alias: str, *, scope: Scope | Mapping[str, str] | None = None
    ) -> AliasView:
        """Teach an entity a name, in one scope or tenant-wide.

        Raises:
            Forbidden: `privilege_required`; an alias change is a way to hijack an entity.
            InvalidInput: `secret_in_content`.
            NotFound: `unknown_entity`.
        """
        self.principal.require(STEWARD)
        check_secrets(alias, "the alias")
        stated_scope = scope_of(scope) or TENANT_SCOPE

        def work(tx: WriteTx, mandate: Mandate) -> Alias:
            return add_alias(
                tx,
                entity,
                alias,
                scope_id=stated_scope.scope_id,
                mandate=mandate,
                scorer=self._backend.scorer,
            )

        return _alias(self._operate(work))

    def merge(self, a: str, b: str, *, reason: str = "") -> MergeReceipt:
        """Make two entities one; the order of the ids never matters, and it can be undone.

        Raises:
            Forbidden: `privilege_required`, `second_approval_required`.
            Conflict: `existing_non_match`, `cluster_too_large`.
            NotFound: `unknown_entity`, also when one of them may not be seen.
        """
        self.principal.require(STEWARD)
        if self._backend.policy.resolution.second_steward and "owner" not in self.principal.roles:
            raise Forbidden(
                "two stewards decide here: reviews.open(a, b) makes a case that both accept",
                code="second_approval_required",
            )

        # Of what he cannot see a steward is told nothing, not even that it is there.
        if not self.principal.holds(AUDIT):
            now = self._as_of_now()
            for entity in (a, b):
                now.entity(entity)

        # A refusal is returned, not raised: raising would take back the action that records it.
        def work(tx: WriteTx, mandate: Mandate) -> MergeReceipt | Conflict:
            warnings = RelationCheck(self._backend, self.principal).warnings(tx, a, b)
            receipt = merge(tx, a, b, mandate=mandate, policy=self._backend.policy.resolution)
            return receipt if isinstance(receipt, Conflict) else replace(receipt, warnings=warnings)

        receipt: MergeReceipt = self._operate(work, reason)
        return VisibleReceipts(self._backend, self.principal).merge(receipt)

    def unmerge(self, merge_id: str, *, reason: str = "") -> UnmergeReceipt:
        """Take a merge back, however long ago; writes made since stay with their own side.

        Raises:
            Forbidden: `privilege_required`.
            NotFound: `unknown_merge`.
            Conflict: `still_connected`, with the merges that hold the sides together.
        """
        self.principal.require(STEWARD)
        receipt = self._operate(lambda tx, mandate: unmerge(tx, merge_id, mandate=mandate), reason)
        return VisibleReceipts(self._backend, self.principal).unmerge(receipt)

    def export(self, path: str | Path | None = None, *, format: GraphForm = "graphml") -> str:
        """Return the graph of entities and clean relations as GraphML or JSON.

        With `path` it is written there too. Nodes carry name, type and state, edges the slot.

        Raises:
            InvalidInput: `unknown_vocabulary` for another format.
            Conflict: `file_exists`, also for a link.
            Unavailable: `file_unwritable`, `extra_missing` without the extra `graph`.
        """
        if format not in _FORMATS:
            raise InvalidInput(
                f"format {format!r}: known: {', '.join(_FORMATS)}", code="unknown_vocabulary"
            )

        text = graph_text(self.list(), self.relations(), format)
        if path is not None:
            with new_file(path) as file:
                file.write(text.encode("utf-8"))
        return text

    def relations(self) -> tuple[tuple[str, str, str], ...]:
        """Return (from, slot, to) of the clean relations that the caller may see, sorted."""
        view, edges = self._as_of_now(), dict[tuple[str, str, str], None]()
        roots = list(map(attrgetter("entity_id"), self.list()))
        limit = self._backend.policy.read.neighbourhood_fanout
        for root in roots:
            edges.update(dict.fromkeys(view.neighbourhood(root, hops=1, limit=limit).edges))

        return tuple(sorted(edges))


def _entity_pages(
    reader: Reader, type: str | None, after: str, sight: Sight, tx_us: int
) -> Iterator[EntityView]:
    """Yield entities by canonical id, read as far as they are asked for."""
    size = _FIRST_CHUNK
    # Of a tenant of many users nearly all are known to others alone.
    while raw := reader.entity_ids(type=type, after=after, most=size, scopes=sight.scopes):
        known = reader.entities(raw, tx_us=tx_us)
        roots = [entity_id for entity_id in raw if entity_id in known.entities
                 and known.canonical.get(entity_id, entity_id) == entity_id]  # fmt: skip
        yield from filter(attrgetter("aliases"), entity_views(reader, known, roots, sight, tx_us))
        after, size = raw[-1], _CHUNK


def _neighbour_ids(page: EntityPage) -> set[str]:
    """The entities that stand one step from an entity."""
    return {neighbour.entity_id for neighbour in page.neighbours.entities} - {page.entity.entity_id}


def _alias(alias: Alias) -> AliasView:
    return AliasView(
        surface=alias.surface,
        entity=alias.entity_id,
        scope=alias.scope_id,
        learned=moment(alias.tx_start),
        object_id=alias.object_id,
        merge_id=alias.merge_id,
    )
