"""Resolving without writing: what a mention would be bound to, and why.

The same pipeline as a write: exact keys first, then candidates by blocking keys, scores,
vetoes and bands. Nothing is created, and only aliases the caller may see take part.
Checklist: C-047 to C-049.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ...resolution.bind import bind, fuzzy_lookup, needs_scoring
from ...resolution.identifiers import lookup_of
from ...resolution.keys import MentionOrId, alias_key, as_ref, is_id
from ...resolution.known import Known, merge_known
from ...resolution.names import with_visible_aliases, with_visible_identifiers, with_visible_names
from ...resolution.register import Register, Rules
from ...schema.entity import Resolution
from ...schema.principal import TENANT_SCOPE, Scope
from ...store.commit.surroundings import VisibleRelations
from ...store.port.store import Point, Reader
from ..backend.caller import Caller
from .entities import entity_view
from .view import EntityLike, mention_of, sight_of


@dataclass(frozen=True, slots=True)
class Resolver(Caller):
    """The resolve use-case of one caller."""

    def resolve(
        self, mention: EntityLike, type: str | None, scope_id: str, context_ids: Sequence[str]
    ) -> Resolution:
        """Return the decision on a mention; `near` are entities known to stand around it.

        Raises:
            NotFound: `unknown_entity`, for an id that names nothing the caller may know of.
        """
        mention_named = mention_of(mention)
        with self._reading() as reader:
            if isinstance(mention_named, str) and is_id(mention_named):
                sight, last = sight_of(self.principal, None), reader.clock().last_us
                entity_view(reader, mention_named, sight, last)  # refuses one that is hidden
            elif type is not None:
                mention_named = replace(as_ref(mention_named), type=type)

            return self.among(reader, mention_named, scope_id, context_ids)

    def among(
        self,
        reader: Reader,
        mention: MentionOrId,
        scope_id: str = TENANT_SCOPE.scope_id,
        context_ids: Sequence[str] = (),
    ) -> Resolution:
        """Return the decision on a mention over one snapshot; `entity` is canonical."""
        # A scope of somebody else adds no names: it is only where the mention is said to stand.
        stated_scopes = sight_of(self.principal, Scope.parse(scope_id)).scopes
        scopes = frozenset((*sight_of(self.principal, None).scopes, *stated_scopes))
        rules = Rules(scopes, scope_id, self._backend.policy.resolution)
        last, scorer = reader.clock().last_us, self._backend.scorer
        exact = reader.known(
            lookup_of([mention], rules.bands.attributes), scopes=sorted(scopes), tx_us=last
        )
        exact = self._visible(reader, exact, scopes)
        register = Register(exact)
        if scorer and needs_scoring(mention, register, rules):
            ref = as_ref(mention)
            lookup = fuzzy_lookup(ref, scorer, rules.bands)
            candidates = reader.known(lookup, scopes=sorted(scopes), tx_us=last)
            candidates = self._visible(reader, candidates, scopes)
            point = Point(max(self._backend.now_us(), last), last)
            limit = self._backend.policy.read.neighbourhood_fanout
            neighbourhood = VisibleRelations(reader, self.principal.sight(scopes), point, limit)
            known = reader.entities(context_ids, tx_us=last) if context_ids else Known()
            known = self._visible(reader, known, scopes)
            neighbour_names = neighbourhood.read_names(sorted(known.entities), scorer.near(ref))
            neighbour_names = self._visible(reader, neighbour_names, scopes)
            register = Register(
                merge_known((exact, candidates, replace(known, aliases=()), neighbour_names))
            )
            query = (alias_key(ref.name), ref.type, scopes)
            register.propose(query, candidates.weights, candidates.bearers)
            if context_ids:
                neighbourhood.read_around((raw for raw, _ in candidates.weights), register)
                rules = neighbourhood.rules(
                    rules, frozenset(map(register.root, context_ids)), register
                )

        resolution = bind(mention, register, rules, scorer)
        if resolution.entity is None:
            return resolution

        return replace(resolution, entity=register.root(resolution.entity))

    def _visible(self, reader: Reader, known: Known, scopes: frozenset[str]) -> Known:
        """What is known, under the names that the caller may see."""
        if not known.entities:
            return known
        rows = reader.name_rows(sorted(known.entities), tx_us=reader.clock().last_us)
        sight = self.principal.sight(scopes)
        known = with_visible_identifiers(with_visible_aliases(known, rows, sight), sight)
        return with_visible_names(known, rows, sight)
