"""Surroundings: what stands around a mention in the graph, as its writer sees it.

A mention that stands in one fact with a known entity has it for a neighbour, and so in every
line of the write, whatever the order of the lines. The names one step from neighbours are
candidates too, and what stands around both the mention and a candidate is evidence. It is
evidence among others: names, vetoes and bands decide. A fact that relates a mention to an
entity also says that the two are not one.

Decides nothing about identity. Sources: resolution 2, 3.2, 4.1 and 5; checklist C-047.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from ...resolution.bind import Named, Rules, as_ref, bind
from ...resolution.keys import alias_key
from ...resolution.known import Known
from ...resolution.register import Register
from ...schema.claim import Assertion
from ...schema.errors import TenureError
from ...schema.principal import Sight
from ...schema.vocabulary import Decision, Op
from ...schema.write import Draft
from ..port.store import IdentityReads, Point
from .naming import subject_mention

Local = tuple[str, str, str]
"""A mention of one write: its key, its type and its scope."""
Neighbours = Mapping[Local, frozenset[str]]
"""The canonical ids that stand in one fact with each mention."""
_STATES = (Op.ASSERT, Op.CORRECT)


@dataclass(slots=True)
class Circle:
    """The relations that one caller sees, as far as they have been read or written."""

    reads: IdentityReads
    sight: Sight
    point: Point
    limit: int
    """An entity with more relations is a hub: to have it in common tells nothing."""
    _hubs: set[str] = field(default_factory=set[str])
    _ends: dict[str, set[str]] = field(default_factory=dict[str, set[str]])
    _names: dict[str, list[str]] = field(default_factory=dict[str, list[str]])

    def read(self, raw: Iterable[str]) -> None:
        """Read the relations of raw entities."""
        asked = sorted(set(raw))
        if not asked:
            return
        found = self.reads.relations(asked, sight=self.sight, point=self.point, limit=self.limit)
        self._hubs.update(found.hubs)
        for ends in found.ends:
            self._relate(*ends)

    def read_names(self, raw: Collection[str], near: Callable[[str], bool]) -> Known:
        """Return what is related to raw entities under a visible name that is near."""
        self.read(raw)
        ends = {end for one in raw for end in self._ends.get(one, ())}.difference(raw)
        if not ends:
            return Known()
        scopes, tx_us = self.sight.scopes, self.point.tx_us
        named = self.reads.names_of(sorted(ends), scopes=scopes, tx_us=tx_us)
        wanted = sorted({alias.entity_id for alias in named if near(alias.surface)})
        if not wanted:
            return Known()
        found = self.reads.entities(wanted, tx_us=tx_us)
        visible = tuple(a for a in found.aliases if a.scope_id in scopes)
        for alias in visible:
            self._names.setdefault(alias.entity_id, []).append(alias.norm)
        return replace(found, aliases=visible)

    def hear(self, claims: Iterable[Assertion]) -> None:
        """Take in what an earlier write of the same transaction states."""
        for one in claims:
            ends = one.details.subject_id, one.details.value_entity_id
            if ends[0] and ends[1] and not one.quarantine and self._shows(one):
                self._relate(ends[0], ends[1])

    def _shows(self, one: Assertion) -> bool:
        permissions = one.permissions
        return (
            one.claim.op in _STATES
            and one.claim.tx in one.claim.interval
            and one.details.scope.scope_id in self.sight.scopes
            and self.sight.may_see(
                classification=permissions.classification.rank,
                allow=permissions.allow,
                deny=permissions.deny,
            )
        )

    def read_around(self, raw: Iterable[str], register: Register) -> None:
        """Read the relations of candidates: of these, and of all whose names were read."""
        self.read(member for one in {*raw, *self._names} for member in register.members(one))

    def rules(self, rules: Rules, neighbours: frozenset[str], register: Register) -> Rules:
        """Return the rules for a mention with these neighbours (canonical ids)."""
        around = self._around(register)
        neighbours = frozenset(one for one in neighbours if not self._is_hub(one, register))
        ends = {end for root in neighbours for end in around(root)}
        raw = {member for end in ends for member in register.members(end)}
        beside = {(one, norm) for one in raw for norm in self._names.get(one, ())}
        return replace(rules, neighbours=neighbours, around=around, beside=tuple(sorted(beside)))

    def _around(self, register: Register) -> Callable[[str], frozenset[str]]:
        def around(root: str) -> frozenset[str]:
            if self._is_hub(root, register):
                return frozenset()
            ends = (end for raw in register.members(root) for end in self._ends.get(raw, ()))
            return frozenset(map(register.root, ends))

        return around

    def _is_hub(self, root: str, register: Register) -> bool:
        return not self._hubs.isdisjoint(register.members(root))

    def _relate(self, subject: str, value: str) -> None:
        self._ends.setdefault(subject, set()).add(value)
        self._ends.setdefault(value, set()).add(subject)


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What stands around the mentions of one write."""

    circle: Circle
    neighbours: Neighbours

    def rules(self, rules: Rules, mention: Named, register: Register) -> Rules:
        """Return the rules under which a mention of the write is scored."""
        mine = self.neighbours.get(local_of(mention, rules.scope_id))
        if not mine:
            return rules
        related = rules.related.union(*map(register.members, mine))
        return self.circle.rules(replace(rules, related=related), mine, register)


def related(draft: Draft) -> tuple[Named, Named] | None:
    """Return the two ends of the relation that a draft states, None where it states none."""
    subject, value = subject_mention(draft), draft.value_mention
    if subject is None or value is None or draft.op not in _STATES:
        return None
    return subject, value


def neighbours_of(drafts: Sequence[Draft], register: Register, rules: Rules) -> Neighbours:
    """Return the neighbours of each mention that no exact key decides.

    `rules` are those of the write; each draft has its own scope.
    """
    found: dict[Local, frozenset[str]] = {}
    for draft in drafts:
        ends = related(draft)
        if ends is None:
            continue
        own = replace(rules, scope_id=draft.details.scope.scope_id)
        roots = [_settled(end, register, own) for end in ends]
        for mention, mine, other in zip(ends, roots, reversed(roots), strict=True):
            if mine is None and other is not None:
                local = local_of(mention, own.scope_id)
                found[local] = found.get(local, frozenset()) | {other}
    return found


def local_of(mention: Named, scope_id: str) -> Local:
    """Return what tells the mentions of one write apart."""
    ref = as_ref(mention)
    return alias_key(ref.name), ref.type, scope_id


def _settled(mention: Named, register: Register, rules: Rules) -> str | None:
    """Return the canonical id of what an id, an identifier or an alias decides on."""
    try:
        found = bind(mention, register, rules)
    except TenureError:
        return None
    bound = found.entity if found.decision is Decision.BIND else None
    return register.root(bound) if bound else None
