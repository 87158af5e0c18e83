"""Look up everything that binding the doubtful mentions of a transaction may need.

What exact keys leave open is looked up by blocking keys. If a doubtful mention occurs in one fact
with a known entity, the surroundings of both are read too. All look-ups of the group are made at
once and fill one register. Nothing here decides identity. Checklist: C-047.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from ...resolution.bind import Scorer, fuzzy_lookup
from ...resolution.keys import alias_key, as_ref
from ...resolution.known import Known, Lookup, NearTest, merge_known
from ...resolution.register import MentionKey, Proposals, Register, rules_of
from ...schema.entity import EntityRef
from ...schema.policy import Policy
from ...schema.principal import Sight
from ...schema.write import Draft, Submission
from ..port.store import IdentityReads, Point
from .surroundings import VisibleRelations, drafts_by_scopes, neighbours_of, relation_of
from .work import KnownMentions


@dataclass(slots=True)
class _Doubts:
    """What is around the doubtful mentions of all who see the same."""

    places: list[tuple[int, frozenset[str]]] = field(
        default_factory=list[tuple[int, frozenset[str]]]
    )
    """Places of submissions in the group, each with the scopes that its mentions may use."""
    known: set[str] = field(default_factory=set[str])
    """Raw ids of what is in one fact with a doubtful mention."""
    mentions: set[MentionKey] = field(default_factory=set[MentionKey])


@dataclass(frozen=True, slots=True)
class ExactMatches:
    """What the exact keys of a group's mentions have told."""

    group: Sequence[Submission]
    known: Known
    register: Register
    """The same, to be asked."""
    doubtful: Mapping[MentionKey, EntityRef]
    """The mentions that no id, identifier or alias decides."""


def gather(
    reads: IdentityReads, exact: ExactMatches, scorer: Scorer, *, point: Point, policy: Policy
) -> KnownMentions:
    """Return what is known at a point of the mentions of a group, some of which are doubtful."""
    group, doubtful = exact.group, exact.doubtful

    # Blocking keys are read only for what exact keys leave open, since they are most of the cost.
    lookups: list[tuple[Lookup, list[str]]] = []
    for (_, _, visible_scopes), ref in doubtful.items():
        lookups.append((fuzzy_lookup(ref, scorer, policy.resolution), sorted(visible_scopes)))
    answers = reads.known_each(lookups, tx_us=point.tx_us)

    proposals: dict[MentionKey, Proposals] = {}
    for mention, answer in zip(doubtful, answers, strict=True):
        proposals[mention] = answer.weights

    doubts_by_sight = _doubts_of(group, exact.register, proposals)
    limit = policy.read.neighbourhood_fanout
    neighbourhoods: dict[Sight, VisibleRelations] = {}
    neighbours: list[Known] = []
    for sight, doubts in doubts_by_sight.items():
        relations = VisibleRelations(reads, sight, point, limit)
        is_near = _near_any(doubts.mentions, doubtful, scorer)
        neighbours.append(relations.read_names(sorted(doubts.known), is_near))
        neighbourhoods[sight] = relations

    # From here on the register holds all three: what was asked by key, what shares a blocking key,
    # and the names that stand around in what the writer may see.
    register = Register(merge_known([exact.known, *answers, *neighbours]))

    for mention, answer in zip(doubtful, answers, strict=True):
        register.propose(mention, answer.weights, answer.bearers)

    neighbourhoods_at: dict[int, dict[frozenset[str], VisibleRelations]] = {}
    for sight, doubts in doubts_by_sight.items():
        candidates: set[str] = set()
        for mention in doubts.mentions:
            for raw, _ in proposals[mention]:
                candidates.add(raw)
        neighbourhoods[sight].read_around(candidates, register)

        for place, scopes in doubts.places:
            neighbourhoods_at.setdefault(place, {})[scopes] = neighbourhoods[sight]

    return KnownMentions(register, neighbourhoods_at)


def _near_any(
    mentions: Iterable[MentionKey], doubtful: Mapping[MentionKey, EntityRef], scorer: Scorer
) -> NearTest:
    tests: list[NearTest] = []
    for mention in mentions:
        tests.append(scorer.near(doubtful[mention]))

    def is_near(surfaces: Collection[str]) -> frozenset[str]:
        surfaces_near: set[str] = set()
        for test in tests:
            surfaces_near |= test(surfaces)
        return frozenset(surfaces_near)

    return is_near


def _doubts_of(
    group: Sequence[Submission], register: Register, doubtful: Mapping[MentionKey, Proposals]
) -> dict[Sight, _Doubts]:
    """Return, by who sees it, what is in one fact with a doubtful mention.

    A submission alone whose facts name nobody known has nothing around it; in a group an
    earlier submission may come to.
    """
    doubts_by_sight: dict[Sight, _Doubts] = {}
    for place, submission in enumerate(group):
        if submission.writer is None:
            continue

        for scopes, drafts in drafts_by_scopes(submission).items():
            keys = _related_mentions(drafts, scopes) & doubtful.keys()
            if not keys:
                continue

            known = neighbours_of(drafts, register, rules_of(submission, drafts[0]))
            if known or len(group) > 1:
                sight = submission.writer.sight(scopes)
                doubts = doubts_by_sight.setdefault(sight, _Doubts())
                doubts.places.append((place, scopes))
                doubts.mentions |= keys
                for roots in known.values():
                    doubts.known |= register.members_of(roots)

    return doubts_by_sight


def _related_mentions(drafts: Iterable[Draft], scopes: frozenset[str]) -> set[MentionKey]:
    """The mentions that a fact of these drafts relates to another."""
    keys: set[MentionKey] = set()
    for draft in drafts:
        for end in relation_of(draft) or ():
            ref = as_ref(end)
            keys.add((alias_key(ref.name), ref.type, scopes))
    return keys
