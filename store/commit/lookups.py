"""Candidates: everything that binding the mentions of a transaction may need.

Exact keys are looked up first, and nothing else where they decide. What they leave open is
looked up by blocking keys; where it stands in one fact with a known entity, what stands around
both is read too. Everything is asked for the whole group at once and held in one register.

Decides nothing about identity. Sources: resolution 2 and 6; settled 9; checklist C-047.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from ...resolution.bind import Rules, Scorer, as_ref, fuzzy_lookup, lookup_of, needs_scoring
from ...resolution.keys import alias_key, is_id
from ...resolution.known import merge_known
from ...resolution.register import MentionKey, Proposals, Register
from ...schema.claim import Assertion
from ...schema.entity import EntityRef
from ...schema.policy import Policy
from ...schema.principal import TENANT_SCOPE, Sight
from ..port.store import IdentityReads, Point
from .admission import Submission
from .naming import mentions_of
from .surroundings import Circle, neighbours_of, related


@dataclass(frozen=True, slots=True)
class Gathered:
    """What the mentions of a group may need."""

    register: Register
    circles: Mapping[int, Circle] = field(default_factory=dict[int, Circle])
    """What stands around the mentions of a submission, by its place in the group."""

    def hear(self, claims: Iterable[Assertion]) -> None:
        """Take in what a submission states: it stands around the mentions of later ones."""
        stated = tuple(claims) if self.circles else ()
        for circle in {id(one): one for one in self.circles.values()}.values():
            circle.hear(stated)


@dataclass(slots=True)
class _Near:
    """What is around the doubtful mentions of all who see the same."""

    places: list[int] = field(default_factory=list[int])
    known: set[str] = field(default_factory=set[str])
    """Raw ids of what stands in one fact with a doubtful mention."""
    asked: set[MentionKey] = field(default_factory=set[MentionKey])


def gather(
    reads: IdentityReads,
    group: Sequence[Submission],
    scorer: Scorer | None,
    *,
    point: Point,
    policy: Policy,
) -> Gathered:
    """Return what is known at a point of the mentions of a group."""
    mentions = mentions_of(draft for submission in group for draft in submission.drafts)
    scopes = sorted({scope for submission in group for scope in submission.scopes})
    exact = reads.known(lookup_of(mentions), scopes=scopes, tx_us=point.tx_us)
    register = Register(exact)
    doubtful = _doubtful(group, register) if scorer else {}
    if not doubtful or not scorer:
        return Gathered(register)
    asked = [
        (fuzzy_lookup(ref, scorer, policy.resolution), sorted(seen))
        for (_, _, seen), ref in doubtful.items()
    ]
    answers = reads.known_each(asked, tx_us=point.tx_us)
    proposals = dict(zip(doubtful, (found.weights for found in answers), strict=True))
    near = _near(group, register, proposals)
    limit = policy.read.neighbourhood_fanout
    circles = {sight: Circle(reads, sight, point, limit) for sight in near}
    beside = [
        circles[sight].read_names(sorted(one.known), _near_any(one.asked, doubtful, scorer))
        for sight, one in near.items()
    ]
    register = Register(merge_known([exact, *answers, *beside]))
    for mention, weights in proposals.items():
        register.propose(mention, weights)
    for sight, one in near.items():
        found = {raw for mention in one.asked for raw, _ in proposals[mention]}
        circles[sight].read_around(found, register)
    places = {place: circles[sight] for sight, one in near.items() for place in one.places}
    return Gathered(register, places)


def _near_any(
    asked: Iterable[MentionKey], doubtful: Mapping[MentionKey, EntityRef], scorer: Scorer
) -> Callable[[str], bool]:
    tests = [scorer.near(doubtful[one]) for one in asked]
    return lambda surface: any(test(surface) for test in tests)


def _doubtful(group: Sequence[Submission], register: Register) -> dict[MentionKey, EntityRef]:
    """Return the mentions that no id, identifier or alias decides, each once, as first named."""
    found: dict[MentionKey, EntityRef] = {}
    for submission in group:
        for draft in submission.drafts:
            rules = Rules(submission.scopes, draft.details.scope.scope_id)
            for mention in mentions_of([draft]):
                if isinstance(mention, str) and is_id(mention):
                    continue
                ref = as_ref(mention)
                asked = alias_key(ref.name), ref.type, submission.scopes
                if asked not in found and needs_scoring(ref, register, rules):
                    found[asked] = ref
    return found


def _near(
    group: Sequence[Submission], register: Register, doubtful: Mapping[MentionKey, Proposals]
) -> dict[Sight, _Near]:
    """Return, by who sees it, what stands in one fact with a doubtful mention.

    A submission alone whose facts name nobody known has nothing around it; in a group an
    earlier submission may come to.
    """
    found: dict[Sight, _Near] = {}
    for place, submission in enumerate(group):
        ends = (end for draft in submission.drafts for end in related(draft) or ())
        refs = map(as_ref, ends)
        asked = {(alias_key(ref.name), ref.type, submission.scopes) for ref in refs}
        asked &= doubtful.keys()
        if not asked or submission.writer is None:
            continue
        rules = Rules(submission.scopes, TENANT_SCOPE.scope_id)
        known = neighbours_of(submission.drafts, register, rules)
        if known or len(group) > 1:
            one = found.setdefault(submission.writer.sight(submission.scopes), _Near())
            one.places.append(place)
            one.asked |= asked
            roots = {root for some in known.values() for root in some}
            one.known.update(raw for root in roots for raw in register.members(root))
    return found
