"""Entities at the edge: the register as a caller sees it, and merges that can be undone.

Ids, names and identifiers all name an entity here; a merged-away id leads to the one that
survived. Sources: API "Entities and review"; settled 4 and 9.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..schema.answers import EntityView
from ..schema.errors import Conflict, NotFound
from ..schema.operation import MergeReceipt, UnmergeReceipt
from ..schema.principal import STEWARD, Principal
from ..store.operations.change import Mandate
from ..store.operations.merge import merge, unmerge
from ..store.port import WriteTx
from .backend import Backend
from .stewarding import Stewarding
from .view import Who, entity_view, find, sight_of


@dataclass(frozen=True, slots=True)
class Entities:
    """The entities of one tenant, as one caller sees them."""

    backend: Backend
    principal: Principal

    def get(self, entity: Who) -> EntityView:
        """Return an entity as it is known now.

        Raises:
            NotFound: `unknown_entity`, `ambiguous_entity`.
        """
        with self.backend.store.reading(self.principal.tenant) as reader:
            sight, last = sight_of(self.principal, None), reader.clock().last_us
            found, _ = find(reader, entity, sight, last)
            if len(found) != 1:
                raise NotFound(
                    f"{entity!r} names {len(found)} entities; give an entity id",
                    code="ambiguous_entity" if found else "unknown_entity",
                    entities=list(found),
                )
            asked = entity if isinstance(entity, str) else None
            return entity_view(reader, found[0], sight, last, asked=asked)

    def list(self, type: str | None = None) -> tuple[EntityView, ...]:
        """Return the entities that have a name the caller may see, in order of their ids."""
        with self.backend.store.reading(self.principal.tenant) as reader:
            sight, last = sight_of(self.principal, None), reader.clock().last_us
            raw = reader.entity_ids(type=type)
            known = reader.entities(raw, tx_us=last) if raw else None
            roots = sorted({known.canonical.get(r, r) for r in raw}) if known else []
            views = [entity_view(reader, root, sight, last) for root in roots]
        return tuple(view for view in views if view.aliases)

    def merge(self, a: Who, b: Who, *, reason: str) -> MergeReceipt:
        """Make two entities one; `unmerge` takes it back at any time.

        Raises:
            Forbidden: `privilege_required`.
            NotFound: `unknown_entity`.
            Conflict: `standing_non_match`, `cluster_too_large`.
        """
        self.principal.require(STEWARD)
        left, right = self.get(a).entity_id, self.get(b).entity_id

        def work(tx: WriteTx, mandate: Mandate) -> MergeReceipt | Conflict:
            policy = self.backend.policy.resolution
            return merge(tx, left, right, mandate=mandate, policy=policy)

        return _done(Stewarding(self.backend, self.principal).alone(work, reason))

    def unmerge(self, merge_id: str, *, reason: str) -> UnmergeReceipt:
        """Take a merge back; what each side was told since stays with its side.

        Raises:
            Forbidden: `privilege_required`.
            NotFound: `unknown_merge`.
            Conflict: `still_connected`, with the merges that hold the sides together.
        """
        self.principal.require(STEWARD)
        return Stewarding(self.backend, self.principal).alone(
            lambda tx, mandate: unmerge(tx, merge_id, mandate=mandate), reason
        )


def _done(receipt: MergeReceipt | Conflict) -> MergeReceipt:
    if isinstance(receipt, Conflict):
        raise receipt
    return receipt
