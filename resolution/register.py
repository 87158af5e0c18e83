"""The register of a transaction: what is stored, and what its writes have just created.

Built from one look-up and indexed by name, identifier and id. A write is admitted against a
child register; only when the whole write is admitted does its parent absorb the child, so a
write that is refused leaves nothing behind for its neighbours to bind to.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import attrgetter
from typing import TYPE_CHECKING, Final, Protocol

from ..schema.claim import EVERYONE, Permissions, slot_key
from ..schema.entity import Alias, Entity, EntityRef, Identifier, Judgement
from ..schema.policy import ResolutionPolicy
from ..schema.principal import Scope, Sight
from ..schema.slots import UNKNOWN_TYPE, compatible
from ..schema.vocabulary import EntityState
from .clusters import canonical_id
from .known import FamilyName, Known, Lookup, Restriction, Teacher

if TYPE_CHECKING:  # a read has no use for what is written
    from ..schema.write import Draft, Submission

STEWARD_LEVEL: Final = 2
"""The level of a name that no claim taught: a person gave it, in addition to those that it has."""
FORM_MARK: Final = "="
"""In front of the scheme of a row that holds the compared form of an identifier."""
UNTRUSTED_LEVEL: Final = 5
"""Weaker than every level of authority: the name of a quarantined write."""

_DEFAULT_BANDS: Final = ResolutionPolicy()

Proposals = Mapping[tuple[str, str], int]
"""Blocking weight in thousandths by (raw entity id, norm)."""
IdentifierTest = Callable[[Identifier], bool]
"""Tells whether an identifier counts for who asks."""
MentionKey = tuple[str, str, frozenset[str]]
"""A mention that is scored: its key, its type and the scopes its writer may see."""


class Register:
    """An index over known entities that can grow.

    `entities`, `aliases`, `identifiers`, `judgements`, `keys` (blocking keys by norm) and
    `moved` (canonical id by raw id) hold what it learned beyond what is stored.
    """

    def __init__(self, known: Known, parent: Register | None = None) -> None:
        self._parent = parent
        self.known_judgements: tuple[Judgement, ...] = known.judgements
        self._proposals: dict[MentionKey, Proposals] = {}
        self._bearers: dict[MentionKey, int] = {}
        self._sharing: dict[str, list[str]] = {}
        self.said_now: dict[str, set[tuple[str, str]]] = {}
        """(slot or `record`, value key or origin) pairs that writes of this register state."""
        self.named_now: set[str] = set()
        """Raw ids that the writes of this register have named."""
        self._canonical = dict(known.canonical)
        self._members: dict[str, list[str]] = {}
        for raw, root in sorted(known.canonical.items()):
            self._members.setdefault(root, []).append(raw)

        self._entities: dict[str, Entity] = {}
        self._named: dict[str, list[Alias]] = {}
        self._owners: dict[tuple[str, str], list[Identifier]] = {}
        self._identifiers_of: dict[str, list[Identifier]] = {}
        self._taught_levels = dict(known.taught_levels)
        self._restrictions = dict(known.restrictions)
        self._teachers = dict(known.teachers)
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
        self.judgements: list[Judgement] = []
        self.keys: dict[str, tuple[tuple[str, str], ...]] = {}
        self.moved: dict[str, str] = {}

    def child(self) -> Register:
        """An empty register that falls back to this one."""
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

        for identifier in identifiers:
            self.identifiers.append(identifier)
            pair = identifier.scheme, identifier.value
            self._owners.setdefault(pair, []).append(identifier)
            self._identifiers_of.setdefault(identifier.entity_id, []).append(identifier)

    def absorb(self, child: Register) -> None:
        """Take in all that a child has learned."""
        self.learn(
            entities=child.entities.values(),
            aliases=child.aliases,
            identifiers=child.identifiers,
        )

        for norm, keys in child.keys.items():
            self.block(norm, keys)

        for raw, pairs in child.said_now.items():
            self.said_now.setdefault(raw, set()).update(pairs)
        self.judgements += child.judgements
        self.moved |= child.moved
        self._taught_levels |= child._taught_levels
        self._restrictions |= child._restrictions
        self._teachers |= child._teachers
        self._canonical |= child._canonical
        self._members |= child._members

    # --- candidates

    def propose(self, query: MentionKey, proposals: Proposals, bearers: int = 0) -> None:
        """Note which stored names share blocking keys with a mention, and who its family name."""
        self._proposals[query] = proposals
        self._bearers[query] = bearers

    def proposals_of(self, query: MentionKey) -> Proposals:
        """The stored names that share blocking keys with a mention."""
        if query in self._proposals or not self._parent:
            return self._proposals.get(query, {})
        return self._parent.proposals_of(query)

    def bearers_of(self, query: MentionKey) -> int:
        """How many stored people have the family name of a mention, as far as it was counted."""
        if query in self._bearers or not self._parent:
            return self._bearers.get(query, 0)
        return self._parent.bearers_of(query)

    def bearers_now(self, family: FamilyName, rules: Rules) -> int:
        """How many people named in this transaction have a family name, counted up to its limit."""
        people: set[str] = set()
        for norm in self.sharing(family.key):
            if len(people) >= family.limit:
                break
            for alias in self.named(norm) if norm.endswith(family.ending) else ():
                if alias.type in ("person", UNKNOWN_TYPE) and rules.shows(alias, self):
                    people.add(self.root(alias.entity_id))
        return len(people)

    def block(self, norm: str, keys: Sequence[tuple[str, str]]) -> None:
        """Note the (blocking key, kind) pairs of a norm that is new."""
        self.keys[norm] = tuple(keys)
        for key, _ in keys:
            self._sharing.setdefault(key, []).append(norm)

    def sharing(self, key: str) -> list[str]:
        """The norms of this transaction that carry a blocking key."""
        before = self._parent.sharing(key) if self._parent else []
        return [*before, *self._sharing.get(key, ())]

    def said_of(self, entity_id: str) -> set[tuple[str, str]]:
        """What the writes of this transaction state of an entity that cannot change."""
        pairs = self._parent.said_of(entity_id) if self._parent else set[tuple[str, str]]()
        for member in self.members(entity_id):
            pairs |= self.said_now.get(member, set())
        return pairs

    # --- clusters

    def rows_between(self, members: Collection[str]) -> list[Judgement]:
        """The open judgements between raw ids, stored ones first."""
        before = self._parent.rows_between(members) if self._parent else []
        rows: list[Judgement] = list(before)
        for row in (*self.known_judgements, *self.judgements):
            if row.left_id in members and row.right_id in members:
                rows.append(row)
        return rows

    def join(self, judgement: Judgement) -> None:
        """Make the two ends of a MATCH one entity."""
        self.judgements.append(judgement)
        members = {*self.members(judgement.left_id), *self.members(judgement.right_id)}
        self._settle(sorted(members))

    def settle(self, entity_id: str) -> None:
        """Find the canonical id of a cluster again, after one of its members changed."""
        if len(members := self.members(entity_id)) > 1:
            self._settle(members)

    def _settle(self, members: Sequence[str]) -> None:
        entities = list(filter(None, map(self.entity, members)))
        top = canonical_id(entities)
        pending = EntityState.ACTIVE not in {entity.state for entity in entities}
        self._members[top] = list(members)
        self._canonical |= dict.fromkeys(members, top)
        self.moved |= dict.fromkeys(members, top)
        for entity in entities:
            state = EntityState.MERGED
            if entity.entity_id == top:
                state = EntityState.PENDING if pending else EntityState.ACTIVE
            if entity.state is not state:
                self.learn(entities=[replace(entity, state=state)])

    def entity(self, entity_id: str) -> Entity | None:
        """An entity by raw id, None when it is not known."""
        entity = self._entities.get(entity_id)
        return entity if entity or not self._parent else self._parent.entity(entity_id)

    def named(self, norm: str) -> list[Alias]:
        """The aliases with a light exact key, stored ones first."""
        before = self._parent.named(norm) if self._parent else []
        return [*before, *self._named.get(norm, ())]

    def taught(self, object_id: str, level: int) -> None:
        """Note the level of a write of this transaction, for the names that it teaches."""
        self._taught_levels[object_id] = level

    def taught_level(self, alias: Alias) -> int:
        """The level of the write that taught an alias."""
        if alias.object_id in self._taught_levels or not self._parent:
            return self._taught_levels.get(alias.object_id, STEWARD_LEVEL)
        return self._parent.taught_level(alias)

    def state(self, identifiers: Iterable[Identifier], teacher: Teacher) -> None:
        """Take in identifiers of a write of this transaction, and who stated them."""
        for identifier in identifiers:
            self._teachers[identifier.object_id] = teacher
            self.learn(identifiers=[identifier])

    def restrict(self, object_id: str, permissions: Permissions, actor: str) -> None:
        """Note who may read a write of this transaction, for what it teaches."""
        if permissions != EVERYONE:
            self._restrictions[object_id] = Restriction(permissions, actor)

    def is_vouched(self, object_id: str) -> bool:
        """Whether the write that stated an identifier may say of others who they are."""
        if object_id in self._teachers or not self._parent:
            teacher = self._teachers.get(object_id)
            return teacher is not None and teacher.vouches
        return self._parent.is_vouched(object_id)

    def restriction(self, object_id: str) -> Restriction | None:
        """Who may know what a write has taught; None: everybody of its scope."""
        if object_id in self._restrictions or not self._parent:
            return self._restrictions.get(object_id)
        return self._parent.restriction(object_id)

    def owners(
        self, pairs: Iterable[tuple[str, str]], shows: IdentifierTest | None = None
    ) -> list[str]:
        """The raw ids that hold one of the (scheme, value) pairs of an identifier.

        What two scopes say of one identifier is not compared: it means whom the narrowest names.
        """
        identifiers: list[Identifier] = []
        for pair in pairs:
            for identifier in self._identifiers_as(*pair):
                if shows is None or shows(identifier):
                    identifiers.append(identifier)
        if len({identifier.entity_id for identifier in identifiers}) > 1:
            widths = [Scope.parse(identifier.scope_id).specificity for identifier in identifiers]
            rows = zip(identifiers, widths, strict=True)
            return [identifier.entity_id for identifier, width in rows if width == max(widths)]
        return [identifier.entity_id for identifier in identifiers]

    def _identifiers_as(self, scheme: str, value: str) -> list[Identifier]:
        before = self._parent._identifiers_as(scheme, value) if self._parent else []
        return [*before, *self._owners.get((scheme, value), ())]

    def held(
        self, entity_id: str, shows: IdentifierTest | None = None
    ) -> dict[str, tuple[str, ...]]:
        """The identifiers of a raw id, and of its cluster, by scheme; the oldest value first."""
        values: dict[str, dict[str, None]] = {}
        for identifier in sorted(
            self.identifiers_of(entity_id), key=attrgetter("tx_start", "value")
        ):
            if identifier.scheme.startswith(FORM_MARK):
                continue
            if shows is None or shows(identifier):
                values.setdefault(identifier.scheme, {})[identifier.value] = None
        return dict(zip(values, map(tuple, values.values()), strict=True))

    def external_ids(self, entity_id: str, shows: IdentifierTest | None = None) -> dict[str, str]:
        """One identifier a scheme, the oldest, by scheme: what an entity is shown with."""
        schemes = sorted(self.held(entity_id, shows).items())
        return {scheme: values[0] for scheme, values in schemes}

    def identifiers_of(self, entity_id: str) -> list[Identifier]:
        """The identifiers of a raw id and of its cluster, whoever may know them."""
        identifiers: list[Identifier] = []
        for member in self.members(entity_id):
            identifiers += self._own_identifiers(member)
        return identifiers

    def _own_identifiers(self, entity_id: str) -> list[Identifier]:
        before = self._parent._own_identifiers(entity_id) if self._parent else []
        return [*before, *self._identifiers_of.get(entity_id, ())]

    def root(self, entity_id: str) -> str:
        """The canonical id of a raw id; itself when nothing is merged."""
        if entity_id in self._canonical or not self._parent:
            return self._canonical.get(entity_id, entity_id)
        return self._parent.root(entity_id)

    def members(self, entity_id: str) -> tuple[str, ...]:
        """The raw ids of the cluster of an entity, sorted."""
        root = self.root(entity_id)
        return tuple(sorted({*self._family(root), root, entity_id}))

    def members_of(self, entity_ids: Iterable[str]) -> frozenset[str]:
        """The raw ids of all these entities.

        Rows keep the raw id that they were written under, so a merge rewrites none of them. Whoever
        reads the rows of an entity asks for all its members, never for its canonical id alone.
        """
        members: set[str] = set()
        for entity_id in entity_ids:
            members.update(self.members(entity_id))
        return frozenset(members)

    def slot_keys(self, entity_id: str, slot: str, scope_id: str) -> tuple[str, ...]:
        """The keys of a slot for every member of an entity's cluster.

        Claims keep the slot under which they were observed, so that a merge can be taken back:
        what competes is under the keys of all members.
        """
        return tuple(slot_key(member, slot, scope_id) for member in self.members(entity_id))

    def _family(self, root: str) -> Sequence[str]:
        if root in self._members or not self._parent:
            return self._members.get(root, ())
        return self._parent._family(root)


class StoredEvidence(Protocol):
    """What tells one bearer of a name from another, read when a decision needs it."""

    def constants(self, root: str) -> Mapping[str, frozenset[str]]:
        """The value keys of the slots that cannot change, by slot."""
        ...

    def shares_record(self, root: str) -> bool:
        """Whether the record that the write comes from has said something of an entity."""
        ...

    def bearers(self, lookup: Lookup) -> int:
        """How many people have the family name of a record's look-up, to its limit."""
        ...


@dataclass(frozen=True, slots=True)
class Rules:
    """What a binding depends on in addition to the mention."""

    scopes: frozenset[str]
    """Scope ids whose aliases the caller may use."""
    scope_id: str
    """The scope of the write."""
    bands: ResolutionPolicy = _DEFAULT_BANDS
    """Thresholds, and what makes an equal person name enough."""
    authority: int | None = None
    """Level of the write, where there is one; a weaker source has the larger number."""
    types: tuple[str, ...] = ()
    """Entity types that the slot of the mention allows; empty for any."""
    related: frozenset[str] = frozenset()
    """Raw ids that the incoming claim relates the mention to."""
    neighbours: frozenset[str] = frozenset()
    """Canonical ids that stand around the mention, where the caller knows them."""
    neighbours_of: Callable[[str], frozenset[str]] = lambda _: frozenset()
    """Tells the canonical ids around a candidate from its canonical id."""
    beside: tuple[tuple[str, str], ...] = ()
    """The (raw entity id, norm) pairs of names one step from the neighbours."""
    sight: Sight | None = None
    """Whose roles and clearance decide what counts; None: all of the scopes does."""
    evidence: Mapping[str, str] = field(default_factory=dict[str, str])
    """What the write says of the mention that cannot change: value keys by slot."""
    stored: StoredEvidence | None = None
    """What is stored of a candidate; None where the caller reads nothing."""
    actor: str = ""
    """Who binds: what a writer taught counts for the same writer, whoever else may read it."""

    def fits(self, mention_type: str, entity_type: str) -> bool:
        """Whether an entity of a type may be meant by a mention of a type here."""
        allowed = not self.types or any(compatible(kind, entity_type) for kind in self.types)
        return allowed and compatible(mention_type, entity_type)

    def shows(self, lesson: Alias | Identifier, known: Register) -> bool:
        """Whether a name or an identifier counts here: by its scope, and by who taught it."""
        return lesson.scope_id in self.scopes and self._admits(lesson.object_id, known)

    def knows(self, entity: Entity, known: Register) -> bool:
        """Whether the write that made an entity counts here."""
        return entity.scope_id in self.scopes and self._admits(entity.created_by, known)

    def _admits(self, object_id: str, known: Register) -> bool:
        restriction = known.restriction(object_id)
        if restriction is None or self.sight is None or restriction.actor == self.actor:
            return True
        return restriction.permissions.admits(self.sight)

    def identifier_test(self, known: Register) -> IdentifierTest:
        """What tells which identifiers count here."""

        def shows(identifier: Identifier) -> bool:
            return self.shows(identifier, known)

        return shows


def scopes_of(draft: Draft, submission: Submission) -> frozenset[str]:
    """Scope ids whose names a draft may use: never those of another draft's own scope."""
    scope_id, scopes = draft.details.scope.scope_id, submission.scopes
    return scopes if scope_id in scopes else scopes | {scope_id}


def rules_of(
    submission: Submission, draft: Draft, bands: ResolutionPolicy = _DEFAULT_BANDS
) -> Rules:
    """What the mentions of a draft are bound by: names and identifiers that its writer may know."""
    scopes, writer = scopes_of(draft, submission), submission.writer
    # Whoever directs the tenant may name any scope and reclassify, so that nothing is kept from it.
    sight = None if writer is None or writer.privileged else writer.sight(scopes)
    return Rules(scopes, draft.details.scope.scope_id, bands, sight=sight, actor=submission.actor)


def taught_level(authority_level: int | None, quarantine: str | None) -> int:
    """The level of a name by what is stored of its teacher; None for no such claim."""
    if quarantine:
        return UNTRUSTED_LEVEL
    return STEWARD_LEVEL if authority_level is None else authority_level


def better_known(entity: Entity, ref: EntityRef, scope: Scope, *, recorded: bool) -> Entity:
    """An entity with its type, where it had none, and whether a register knows it.

    A write in a narrower scope than the entity's own changes neither: whoever knows the entity
    without seeing that write would find it changed by it.
    """
    gets_type = entity.type == UNKNOWN_TYPE and ref.type != UNKNOWN_TYPE
    gets_record = recorded and not entity.recorded
    if not (gets_type or gets_record) or not Scope.parse(entity.scope_id).is_within(scope):
        return entity

    return replace(
        entity,
        type=ref.type if gets_type else entity.type,
        recorded=entity.recorded or recorded,
    )
