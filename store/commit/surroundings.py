"""The surroundings of a mention in the graph, as its writer sees them.

A known entity in one fact with a mention is its neighbour, in every line of the write, whatever
their order. The names one step from neighbours are candidates too, and what the mention and a
candidate have in common is evidence among other evidence: names, vetoes and bands decide. A fact
that relates a mention to an entity also says that the two are different.
Nothing here decides identity. Checklist: C-047.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from ...resolution.bind import bind
from ...resolution.keys import MentionOrId, alias_key, as_ref, subject_mention
from ...resolution.known import Known, NearTest
from ...resolution.register import Register, Rules, rules_of, scopes_of
from ...schema.claim import Assertion
from ...schema.entity import Alias
from ...schema.errors import TenureError
from ...schema.policy import ResolutionPolicy
from ...schema.principal import Sight
from ...schema.vocabulary import Decision, Op
from ...schema.write import Draft, Submission
from ..port.store import IdentityReads, Point

Local = tuple[str, str, str]
"""A mention of one write: its key, its type and its scope."""
Neighbours = Mapping[Local, frozenset[str]]
"""The canonical ids that are in one fact with each mention."""
_STATES = (Op.ASSERT, Op.CORRECT)


@dataclass(slots=True)
class VisibleRelations:
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
        ids = sorted(set(raw))
        if not ids:
            return

        relations = self.reads.relations(ids, sight=self.sight, point=self.point, limit=self.limit)
        self._hubs.update(relations.hubs)

        for ends in relations.ends:
            self._relate(*ends)

    def read_names(self, raw: Collection[str], is_near: NearTest) -> Known:
        """Return what is related to raw entities under a visible name that is near."""
        self.read(raw)
        ends: set[str] = set()
        for entity_id in raw:
            ends |= self._ends.get(entity_id, set())
        ends.difference_update(raw)
        if not ends:
            return Known()

        scopes, tx_us = self.sight.scopes, self.point.tx_us
        rows = self.reads.name_rows(sorted(ends), tx_us=tx_us)
        names = [row for row in rows if row.scope_id in scopes]
        # All surfaces are tested in one call, which a scorer answers far faster than many.
        surfaces = is_near({name.surface for name in names})
        entity_ids = {name.entity_id for name in names if name.surface in surfaces}
        if not entity_ids:
            return Known()

        known = self.reads.entities(sorted(entity_ids), tx_us=tx_us)
        visible_aliases: list[Alias] = []
        for alias in known.aliases:
            if known.shows(alias, self.sight):
                visible_aliases.append(alias)
                self._names.setdefault(alias.entity_id, []).append(alias.norm)

        return replace(known, aliases=tuple(visible_aliases))

    def hear(self, claims: Iterable[Assertion]) -> None:
        """Take in what an earlier write of the same transaction states."""
        for assertion in claims:
            ends = assertion.details.subject_id, assertion.details.value_entity_id
            if ends[0] and ends[1] and not assertion.quarantine and self._shows(assertion):
                self._relate(ends[0], ends[1])

    def _shows(self, assertion: Assertion) -> bool:
        return (
            assertion.claim.op in _STATES
            and assertion.claim.tx in assertion.claim.interval
            and assertion.is_visible(self.sight)
        )

    def read_around(self, raw: Iterable[str], register: Register) -> None:
        """Read the relations of candidates: of these, and of all whose names were read."""
        self.read(register.members_of((*raw, *self._names)))

    def rules(self, rules: Rules, neighbours: frozenset[str], register: Register) -> Rules:
        """Return the rules for a mention with these neighbours (canonical ids)."""
        roots_around = self._related_roots(register)
        telling_neighbours: set[str] = set()
        names_beside: set[tuple[str, str]] = set()
        for neighbour in neighbours:
            # To know somebody whom everybody knows is no evidence.
            if self._is_hub(neighbour, register):
                continue
            telling_neighbours.add(neighbour)
            for end in roots_around(neighbour):
                for member in register.members(end):
                    for norm in self._names.get(member, ()):
                        names_beside.add((member, norm))

        return replace(
            rules,
            neighbours=frozenset(telling_neighbours),
            neighbours_of=roots_around,
            beside=tuple(sorted(names_beside)),
        )

    def _related_roots(self, register: Register) -> Callable[[str], frozenset[str]]:
        def related_roots(root: str) -> frozenset[str]:
            if self._is_hub(root, register):
                return frozenset()

            roots: set[str] = set()
            for member in register.members(root):
                roots.update(map(register.root, self._ends.get(member, ())))
            return frozenset(roots)

        return related_roots

    def _is_hub(self, root: str, register: Register) -> bool:
        return not self._hubs.isdisjoint(register.members(root))

    def _relate(self, subject: str, value: str) -> None:
        self._ends.setdefault(subject, set()).add(value)
        self._ends.setdefault(value, set()).add(subject)


@dataclass(frozen=True, slots=True)
class Neighbourhoods:
    """What stands around the mentions of one write."""

    neighbourhood: VisibleRelations
    neighbours: Neighbours

    def rules(self, rules: Rules, mention: MentionOrId, register: Register) -> Rules:
        """Return the rules under which a mention of the write is scored."""
        roots = self.neighbours.get(local_of(mention, rules.scope_id))
        if not roots:
            return rules

        family = rules.related | register.members_of(roots)

        return self.neighbourhood.rules(replace(rules, related=family), roots, register)


def drafts_by_scopes(submission: Submission) -> dict[frozenset[str], list[Draft]]:
    """The drafts of a write by the scopes whose names they may use, in order."""
    drafts_of: dict[frozenset[str], list[Draft]] = {}
    for draft in submission.drafts:
        drafts_of.setdefault(scopes_of(draft, submission), []).append(draft)
    return drafts_of


def surroundings_of(
    submission: Submission,
    neighbourhoods: Mapping[frozenset[str], VisibleRelations],
    register: Register,
    bands: ResolutionPolicy,
) -> dict[frozenset[str], Neighbourhoods]:
    """What stands around the mentions of one write, by the scopes whose aliases they may use."""
    surroundings: dict[frozenset[str], Neighbourhoods] = {}
    drafts_of = drafts_by_scopes(submission)
    for scopes, neighbourhood in neighbourhoods.items():
        drafts = drafts_of[scopes]
        neighbours = neighbours_of(drafts, register, rules_of(submission, drafts[0], bands))
        surroundings[scopes] = Neighbourhoods(neighbourhood, neighbours)
    return surroundings


def relation_of(draft: Draft) -> tuple[MentionOrId, MentionOrId] | None:
    """Return the two ends of the relation that a draft states, None where it states none."""
    subject, value = subject_mention(draft), draft.value_mention
    if subject is None or value is None or draft.op not in _STATES:
        return None
    return subject, value


def neighbours_of(drafts: Sequence[Draft], register: Register, rules: Rules) -> Neighbours:
    """Return the neighbours of each mention that no exact key decides.

    `rules` are those of the write; each draft has its own scope.
    """
    neighbours: dict[Local, frozenset[str]] = {}
    for draft in drafts:
        ends = relation_of(draft)
        if ends is None:
            continue
        draft_rules = replace(rules, scope_id=draft.details.scope.scope_id)
        roots = [_exact_root(end, register, draft_rules) for end in ends]
        for mention, root, other_root in zip(ends, roots, reversed(roots), strict=True):
            if root is None and other_root is not None:
                local = local_of(mention, draft_rules.scope_id)
                neighbours[local] = neighbours.get(local, frozenset()) | {other_root}

    return neighbours


def local_of(mention: MentionOrId, scope_id: str) -> Local:
    """Return what tells the mentions of one write apart."""
    ref = as_ref(mention)
    return alias_key(ref.name), ref.type, scope_id


def _exact_root(mention: MentionOrId, register: Register, rules: Rules) -> str | None:
    """Return the canonical id of what an id, an identifier or an alias decides on."""
    try:
        resolution = bind(mention, register, rules)
    except TenureError:
        return None

    entity_id = resolution.entity if resolution.decision is Decision.BIND else None
    return register.root(entity_id) if entity_id else None
