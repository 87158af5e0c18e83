"""The register of a transaction: what is stored, and what its writes have just created.

Built from one look-up and indexed by name, identifier and id. A write is admitted against a
child register; only when the whole write is admitted does its parent absorb the child, so a
write that is refused leaves nothing behind for its neighbours to bind to.
Source: DESIGN 5; settled 1 (refused members are taken out before anything is applied).
"""

from __future__ import annotations

from collections.abc import Iterable

from ..schema.entity import Alias, Entity, Identifier, Judgement
from .known import Known


class Register:
    """An index over known entities that can grow.

    `entities`, `aliases` and `identifiers` hold what it learned beyond what is stored.
    """

    def __init__(self, known: Known, parent: Register | None = None) -> None:
        self._parent = parent
        self.judgements: tuple[Judgement, ...] = known.judgements
        self.weights = known.weights
        self._canonical = dict(known.canonical)
        self._members: dict[str, list[str]] = {}
        for raw, root in sorted(known.canonical.items()):
            self._members.setdefault(root, []).append(raw)
        self._entities: dict[str, Entity] = {}
        self._named: dict[str, list[Alias]] = {}
        self._owners: dict[tuple[str, str], list[str]] = {}
        self._held: dict[str, dict[str, str]] = {}
        self._forget()
        self.learn(
            entities=known.entities.values(),
            aliases=known.aliases,
            identifiers=known.identifiers,
        )
        self._forget()

    def _forget(self) -> None:
        """Hold nothing for new: what is indexed so far is stored."""
        self.entities: dict[str, Entity] = {}
        self.aliases: list[Alias] = []
        self.identifiers: list[Identifier] = []

    def child(self) -> Register:
        """Return an empty register that falls back to this one."""
        return Register(Known(), self)

    def learn(
        self,
        *,
        entities: Iterable[Entity] = (),
        aliases: Iterable[Alias] = (),
        identifiers: Iterable[Identifier] = (),
    ) -> None:
        """Take in entities, aliases and identifiers; a later entity replaces an earlier."""
        for entity in entities:
            self._entities[entity.entity_id] = self.entities[entity.entity_id] = entity
        for alias in aliases:
            self.aliases.append(alias)
            self._named.setdefault(alias.norm, []).append(alias)
        for held in identifiers:
            self.identifiers.append(held)
            self._owners.setdefault((held.scheme, held.value), []).append(held.entity_id)
            self._held.setdefault(held.entity_id, {})[held.scheme] = held.value

    def absorb(self, child: Register) -> None:
        """Take in all that a child has learned."""
        self.learn(
            entities=child.entities.values(),
            aliases=child.aliases,
            identifiers=child.identifiers,
        )

    def entity(self, entity_id: str) -> Entity | None:
        """Return an entity by raw id, None when it is not known."""
        found = self._entities.get(entity_id)
        return found if found or not self._parent else self._parent.entity(entity_id)

    def named(self, norm: str) -> list[Alias]:
        """Return the aliases with a light exact key, stored ones first."""
        before = self._parent.named(norm) if self._parent else []
        return [*before, *self._named.get(norm, ())]

    def owners(self, scheme: str, value: str) -> list[str]:
        """Return the raw ids that hold an identifier."""
        before = self._parent.owners(scheme, value) if self._parent else []
        return [*before, *self._owners.get((scheme, value), ())]

    def held(self, entity_id: str) -> dict[str, str]:
        """Return the identifiers of a raw id, and of its cluster, by scheme."""
        found: dict[str, str] = {}
        for member in self.members(entity_id):
            found |= self._own(member)
        return found

    def _own(self, entity_id: str) -> dict[str, str]:
        before = self._parent._own(entity_id) if self._parent else {}
        return before | self._held.get(entity_id, {})

    def root(self, entity_id: str) -> str:
        """Return the canonical id of a raw id; itself when nothing is merged."""
        if entity_id in self._canonical or not self._parent:
            return self._canonical.get(entity_id, entity_id)
        return self._parent.root(entity_id)

    def members(self, entity_id: str) -> tuple[str, ...]:
        """Return the raw ids of the cluster of an entity, sorted."""
        if self._parent:
            return self._parent.members(entity_id)
        root = self.root(entity_id)
        return tuple(sorted({*self._members.get(root, ()), root, entity_id}))
