"""Candidates: everything that binding the mentions of a transaction may need.

Exact keys are looked up first, and nothing else where they decide. What they leave open is
looked up by blocking keys; where it stands in one fact with a known entity, what stands around
both is read too. Everything is asked for the whole group at once and held in one register.

Decides nothing about identity.

Checklist: C-047.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from ...resolution.bind import Rules, Scorer, as_ref, fuzzy_lookup, lookup_of, needs_scoring
from ...resolution.keys import alias_key
from ...resolution.known import NearTest, merge_known
from ...resolution.register import MentionKey, Proposals, Register
from ...schema.claim import Assertion
from ...schema.entity import EntityRef
from ...schema.policy import Policy
from ...schema.principal import TENANT_SCOPE, Sight
from ..port.store import IdentityReads, Point
from .admission import Submission
from .naming import mentions_of
from .surroundings import VisibleRelations, neighbours_of, relation_of


@dataclass(frozen=True, slots=True)
class KnownMentions:
    """What the mentions of a group may need."""

    register: Register
    neighbourhoods: Mapping[int, VisibleRelations] = field(
        default_factory=dict[int, VisibleRelations]
    )
    """What stands around the mentions of a submission, by its place in the group."""

    def hear(self, claims: Iterable[Assertion]) -> None:
        """Take in what a submission states: it stands around the mentions of later ones."""
        assertions = tuple(claims) if self.neighbourhoods else ()
        for neighbourhood in {
            id(neighbourhood): neighbourhood for neighbourhood in self.neighbourhoods.values()
        }.values():
            neighbourhood.hear(assertions)


@dataclass(slots=True)
class _Doubts:
    """What is around the doubtful mentions of all who see the same."""

    places: list[int] = field(default_factory=list[int])
    known: set[str] = field(default_factory=set[str])
    """Raw ids of what stands in one fact with a doubtful mention."""
    mentions: set[MentionKey] = field(default_factory=set[MentionKey])


def gather(
    reads: IdentityReads,
    group: Sequence[Submission],
    scorer: Scorer | None,
    *,
    point: Point,
    policy: Policy,
) -> KnownMentions:
    """Return what is known at a point of the mentions of a group."""
    mentions = mentions_of(draft for submission in group for draft in submission.drafts)
    scopes = sorted({scope for submission in group for scope in submission.scopes})
    exact = reads.known(lookup_of(mentions), scopes=scopes, tx_us=point.tx_us)
    register = Register(exact)
    doubtful = _doubtful(group, register) if scorer else {}
    if not doubtful or not scorer:
        return KnownMentions(register)

    # Blocking keys are read only for what exact keys leave open, since they are most of the cost.
    lookups = [
        (fuzzy_lookup(ref, scorer, policy.resolution), sorted(scopes_seen))
        for (_, _, scopes_seen), ref in doubtful.items()
    ]
    answers = reads.known_each(lookups, tx_us=point.tx_us)
    proposals = dict(zip(doubtful, (answer.weights for answer in answers), strict=True))
    doubts_by_sight = _doubts_of(group, register, proposals)
    limit = policy.read.neighbourhood_fanout
    neighbourhoods = {
        sight: VisibleRelations(reads, sight, point, limit) for sight in doubts_by_sight
    }
    neighbours = [
        neighbourhoods[sight].read_names(
            sorted(doubts.known), _near_any(doubts.mentions, doubtful, scorer)
        )
        for sight, doubts in doubts_by_sight.items()
    ]
    register = Register(merge_known([exact, *answers, *neighbours]))

    for mention, weights in proposals.items():
        register.propose(mention, weights)

    for sight, doubts in doubts_by_sight.items():
        answer = {raw for mention in doubts.mentions for raw, _ in proposals[mention]}
        neighbourhoods[sight].read_around(answer, register)

    places = {
        place: neighbourhoods[sight]
        for sight, doubts in doubts_by_sight.items()
        for place in doubts.places
    }

    return KnownMentions(register, places)


def _near_any(
    mentions: Iterable[MentionKey], doubtful: Mapping[MentionKey, EntityRef], scorer: Scorer
) -> NearTest:
    tests = [scorer.near(doubtful[mention]) for mention in mentions]

    def near(surfaces: Collection[str]) -> frozenset[str]:
        return frozenset[str]().union(*[test(surfaces) for test in tests])

    return near


def _doubtful(group: Sequence[Submission], register: Register) -> dict[MentionKey, EntityRef]:
    """Return the mentions that no id, identifier or alias decides, each once, as first named."""
    refs: dict[MentionKey, EntityRef] = {}
    for submission in group:
        for draft in submission.drafts:
            rules = Rules(submission.scopes, draft.details.scope.scope_id)
            for mention in mentions_of([draft]):
                if not needs_scoring(mention, register, rules):
                    continue
                ref = as_ref(mention)
                refs.setdefault((alias_key(ref.name), ref.type, submission.scopes), ref)

    return refs


def _doubts_of(
    group: Sequence[Submission], register: Register, doubtful: Mapping[MentionKey, Proposals]
) -> dict[Sight, _Doubts]:
    """Return, by who sees it, what stands in one fact with a doubtful mention.

    A submission alone whose facts name nobody known has nothing around it; in a group an
    earlier submission may come to.
    """
    doubts_by_sight: dict[Sight, _Doubts] = {}
    for place, submission in enumerate(group):
        ends = (end for draft in submission.drafts for end in relation_of(draft) or ())
        refs = map(as_ref, ends)
        keys = {(alias_key(ref.name), ref.type, submission.scopes) for ref in refs}
        keys &= doubtful.keys()
        if not keys or submission.writer is None:
            continue

        rules = Rules(submission.scopes, TENANT_SCOPE.scope_id)
        known = neighbours_of(submission.drafts, register, rules)
        if known or len(group) > 1:
            doubts = doubts_by_sight.setdefault(
                submission.writer.sight(submission.scopes), _Doubts()
            )
            doubts.places.append(place)
            doubts.mentions |= keys
            roots = {root for ids in known.values() for root in ids}
            doubts.known.update(raw for root in roots for raw in register.members(root))

    return doubts_by_sight
