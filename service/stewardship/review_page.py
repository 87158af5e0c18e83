"""The page of a review: what a person sees to decide, as values and sentences.

Two entities are scored line by line in log-odds: what the model starts from, each piece of
evidence, and their sum, which the bands judge. Vetoes are sentences, sources have the name
marked, and the evidence that is absent and would weigh enough is named.

What is around the entities (values, relations, shared scopes) is read once for many entities.
Only current, clean facts that the caller may see count. What was said of either side since the
case was opened counts as new evidence, so such a case is scored again when it is read. Nothing is
written or decided here. Checklist: C-048, C-053.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import product
from operator import attrgetter
from typing import Final

from ...resolution.blocking import LOOK_ALIKE, SHORT_NAME
from ...resolution.context import PairContext, PersonContext
from ...resolution.known import Known
from ...resolution.model import Model, default_model
from ...resolution.names import with_visible_aliases, with_visible_identifiers
from ...resolution.normalize import form_of
from ...resolution.renderings import RENDERING
from ...resolution.score import MARGIN_SCORE, PairScore, score_pair
from ...resolution.scorer import SHORT_FORM
from ...resolution.vetoes import VetoCode, compare_attributes
from ...resolution.vetoes import sentence_of as sentence_of
from ...schema.answers import EntityView
from ...schema.claim import Version
from ...schema.entity import NAMESAKES, Alias, EntityCandidate, Identifier, Review
from ...schema.policy import Policy, ResolutionPolicy
from ...schema.principal import TENANT_SCOPE, Principal, Sight
from ...schema.records import short_repr
from ...schema.slots import UNKNOWN_TYPE, Vocabulary
from ...schema.values import stamp_time
from ...schema.vocabulary import (
    AttributeKind,
    CandidateSource,
    Decision,
    JudgementVerdict,
    ReviewState,
    Status,
)
from ...store.port.store import Ask, Point, Reader
from ..reading.entities import entity_views
from ..reading.objects import Mask
from ..reading.view import sight_of

_SNIPPET = 200
_WORDS = {
    "same_handle": "the same e-mail address or handle",
    "neighbour_overlap": "neighbours in common",
    "same_scope": "an earlier mention in the same project, user or session",
    "mentioned_together": "both names for one thing in one source",
}
_LIFTS = {
    "person_without_context": "an identifier, an address, a narrower scope or common neighbours",
    "untrusted_alias": "an identifier, or the name by which it is known",
    "acronym_only": "the same address, or neighbours in common",
    "nickname_only": "the same address",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewBelief:
    """What a slot would answer in a stretch of valid time."""

    __repr__ = short_repr

    value: str
    """As one reads it: an entity by its name."""
    valid_from: datetime | None
    valid_until: datetime | None
    disputed: bool
    object_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SlotChange:
    """A slot that answers otherwise after a decision, over the whole of valid time."""

    __repr__ = short_repr

    slot: str
    scope: str
    before: tuple[ReviewBelief, ...]
    """Of both entities."""
    after: tuple[ReviewBelief, ...]

    @property
    def conflict(self) -> str:
        """The values that would dispute each other from then on, `slot: one / other`; or empty."""
        disputed_before = {belief.object_id for belief in self.before if belief.disputed}
        values = [
            belief.value
            for belief in self.after
            if belief.disputed and belief.object_id not in disputed_before
        ]
        return f"{self.slot}: {' / '.join(dict.fromkeys(values))}" if values else ""


@dataclass(frozen=True, slots=True)
class Impact:
    """What accepting would do, as a rehearsal of the decision told it."""

    __repr__ = short_repr

    moves: int
    """Objects that would be about the candidate's entity."""
    slots: tuple[str, ...]
    """Slots that would answer otherwise, now or at another time."""
    conflicts: tuple[str, ...]
    """`slot: one / other` where values would dispute each other that do not today."""
    surviving: str
    """The id that would survive."""
    members: int
    """Raw ids of the cluster after it."""
    standing: tuple[str, ...] = ()
    """Judgements across the two sides that say they differ, with who said so."""
    common: tuple[str, ...] = ()
    """Names of the neighbours that both have, sorted."""
    changes: tuple[SlotChange, ...] = ()
    """The slots that would answer otherwise, with what they say before and after."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewPage:
    """One case with what a person needs to decide it."""

    __repr__ = short_repr

    review: Review
    entity: EntityView
    candidates: tuple[EntityView, ...]
    waterfall: tuple[str, ...]
    """Lines of the best candidate: weight, comparison, both raw values."""
    vetoes: tuple[str, ...]
    """Why it was not bound, in sentences."""
    impact: Impact | None
    """Of accepting the best candidate; None where there is none."""
    snippets: tuple[str, ...]
    """Texts that named it, newest first: origin, day, the name in brackets."""
    groups: tuple[tuple[str, ...], ...]
    """Of namesakes: the claims of each story, by object id."""
    priority: float
    tips: tuple[str, ...] = ()
    """What would have bound it: evidence that is absent."""
    bind_at: float
    """Score from which its type binds."""
    review_above: float
    """Score above which its type comes to a person."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueState:
    """How far the stewards are."""

    __repr__ = short_repr

    waiting: int
    oldest: str | None
    """The day the oldest waiting case was opened, `YYYY-MM-DD`."""
    decided: int
    agreement: float | None
    """Share of the decided cases in which the proposed candidate was right; None before any."""


_EQUAL: Final = 0.02
"""Scores that lie no farther apart are equal: a person must say which one is meant."""


def is_tie(case: Review) -> bool:
    """Whether the two best candidates of a case are equal, so that neither is the proposal."""
    scores = sorted(map(attrgetter("score"), case.candidates), reverse=True)
    return len(scores) > 1 and scores[0] - scores[1] <= _EQUAL


def page_of(
    case: Review,
    bands: ResolutionPolicy,
    entity: EntityView,
    candidates: Sequence[EntityView],
    snippets: tuple[str, ...],
) -> ReviewPage:
    """A case with both sides and what speaks for and against; what a decision would do is apart."""
    best = best_of(case)
    return ReviewPage(
        review=case,
        entity=entity,
        candidates=tuple(candidates),
        waterfall=waterfall(best) if best else (),
        vetoes=tuple(map(sentence_of, best.vetoes)) if best else (),
        impact=None,
        snippets=snippets,
        groups=(),
        priority=0.0,
        tips=tips(best, bands) if best else (),
        bind_at=bands.bind_at,
        review_above=bands.review_above,
    )


def best_of(case: Review) -> EntityCandidate | None:
    """Return the candidate that accepting means by default."""
    return min(case.candidates, key=lambda c: (-c.score, -c.log_odds, c.entity), default=None)


def waterfall(candidate: EntityCandidate) -> tuple[str, ...]:
    """The evidence line by line: where every pair starts, then the strongest first.

    `+` speaks for, `-` against; together they are the log-odds.
    """
    features = sorted(candidate.features, key=lambda f: (-abs(f.weight), f.name))
    lines = [f"{f.weight:+.2f}  {f.name}: {f.detail}" for f in features]

    # What a rule proposes was never weighed, so it started nowhere.
    weights = list(map(attrgetter("weight"), features))
    if any(weights):
        start = candidate.log_odds - sum(weights)
        lines.insert(0, f"{start:+.2f}  start: what the model takes two names for")
    return tuple(lines)


def tips(candidate: EntityCandidate, bands: ResolutionPolicy) -> tuple[str, ...]:
    """Return what would bind a pair: what lifts its vetoes, then evidence that weighs enough."""
    present = set(map(attrgetter("name"), candidate.features))
    lifts: list[str] = []
    for code in candidate.vetoes:
        if code in _LIFTS:
            lifts.append(f"{_LIFTS[code]} lifts {code}")

    # Compared in log-odds, since a probability saturates near one.
    bar = math.inf if bands.bind_at >= 1 else math.log(bands.bind_at / (1 - bands.bind_at))
    missing = bar - candidate.log_odds
    weights = default_model().context
    sufficient: list[str] = []
    for name, words in _WORDS.items():
        # Of what is there already, more of the same adds nothing: each kind counts once.
        if name not in present and 0 < missing <= weights[name]:
            sufficient.append(f"{words} (+{weights[name]:.1f})")

    return (*lifts, *sufficient)


def text_of(version: Version) -> str:
    """The words of a version: its text, else its claim; empty for what is erased."""
    if version.content is None:
        return ""
    return version.content.text or version.content.normalized_claim


def with_mention_marked(text: str, mention: str) -> str:
    """Return the words around a mention, the mention in brackets.

    >>> with_mention_marked("We met Sam Rivera in Rome.", "Sam Rivera")
    'We met [Sam Rivera] in Rome.'
    """
    position = text.find(mention)
    if position < 0 or not mention:
        return text[:_SNIPPET]

    start, end = max(0, position - _SNIPPET // 2), position + len(mention)
    return f"{text[start:position]}[{mention}]{text[end : end + _SNIPPET // 2]}"


def queue_state(waiting: Sequence[Review], cases: Iterable[Review]) -> QueueState:
    """Return how far the stewards are, over what waits and every blocking case."""
    # Of blocking cases alone: suggestions are mostly rejected, and say nothing of the bands.
    states: list[ReviewState] = []
    for case in cases:
        if case.blocking:
            states.append(case.state)

    right, wrong = states.count(ReviewState.ACCEPTED), states.count(ReviewState.REJECTED)
    oldest = min(map(attrgetter("opened_tx"), waiting), default=None)
    return QueueState(
        waiting=len(waiting),
        oldest=None if oldest is None else str(stamp_time(oldest).date()),
        decided=right + wrong,
        agreement=round(right / (right + wrong), 3) if right + wrong else None,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityComparison:
    """Two entities, scored as if one were a new mention of the other."""

    __repr__ = short_repr

    left: EntityView
    right: EntityView
    names: tuple[str, str]
    """The name of each that fits the other best."""
    candidate: EntityCandidate
    """The right one as a candidate for the left: score, evidence, vetoes."""
    start: float
    """Log-odds before any evidence: what the model starts from."""
    decision: Decision
    """What the bands would say of the score alone."""
    bind_at: float
    """Score from which their type binds."""
    review_above: float
    """Score above which their type comes to a person."""
    are_one: bool
    """Whether they stand as one entity already."""
    tips: tuple[str, ...]
    """What would bind them that is not there: what lifts a veto, evidence that weighs enough."""


def member_of(entity: EntityView, reference: str, known: Known) -> EntityView:
    """The part of a merged entity that a name or a raw id means, with what is told of it alone.

    Compared as a whole, two parts of one entity would share every name and identifier. A reference
    that is no name of it, as an external id, means the whole.
    """
    words = {reference, reference.casefold()}
    aliases = [alias for alias in known.aliases if alias.surface in entity.aliases]
    raw_ids = {
        alias.entity_id
        for alias in aliases
        if not words.isdisjoint((alias.entity_id, alias.surface, alias.surface.casefold()))
    }
    if not raw_ids:
        return entity

    surfaces = [alias.surface for alias in aliases if alias.entity_id in raw_ids]
    identifiers: list[tuple[str, str]] = []
    for row in known.identifiers:
        pair = row.scheme, row.value
        if row.entity_id in raw_ids and pair in entity.identifiers:
            identifiers.append(pair)

    return replace(
        entity,
        members=tuple(member for member in entity.members if member in raw_ids),
        aliases=tuple(dict.fromkeys(surfaces)),
        identifiers=tuple(identifiers),
    )


def comparison_of(
    left: EntityView,
    right: EntityView,
    *,
    context: PairContext,
    bands: ResolutionPolicy,
    model: Model | None = None,
) -> EntityComparison:
    """Score two entities by their best pair of names and what stands around them.

    The shipped model scores unless another is given.

    Raises:
        InvalidInput: `unresolved_claim` when one of them has no name that may be seen.
    """
    kind = right.type if left.type == UNKNOWN_TYPE else left.type
    name, score = _best_pair(
        left.aliases or (left.name,),
        right.aliases or (right.name,),
        kind,
        context,
        model or default_model(),
    )
    rules = bands.of_type(kind)
    entry = EntityCandidate(
        entity=right.entity_id,
        name=right.name,
        score=score.score,
        log_odds=score.log_odds,
        source=CandidateSource.BLOCKING,
        features=score.features,
        vetoes=score.vetoes,
    )

    return EntityComparison(
        left=left,
        right=right,
        names=(name, score.name),
        candidate=entry,
        start=round(score.log_odds - sum(map(attrgetter("weight"), score.features)), 6),
        decision=_decision(score, rules),
        bind_at=rules.bind_at,
        review_above=rules.review_above,
        are_one=left.entity_id == right.entity_id,
        tips=tips(entry, rules),
    )


def _best_pair(
    left: Sequence[str], right: Sequence[str], kind: str, context: PairContext, model: Model
) -> tuple[str, PairScore]:
    """The pair of names with the highest score, ties by name."""
    # Of a cluster all names count: it may be known to the other by an old one alone.
    ratings: list[tuple[float, float, str, str, PairScore]] = []
    for name, candidate in product(left, right):
        forms = (form_of(candidate, kind),)
        score = score_pair(form_of(name, kind), forms, kind, context, model)
        ratings.append((-score.score, -score.log_odds, name, candidate, score))

    *_, name, _, score = min(ratings, key=lambda rating: rating[:4])
    return name, score


def _decision(score: PairScore, bands: ResolutionPolicy) -> Decision:
    if score.score >= bands.bind_at and not score.vetoes:
        return Decision.BIND
    return Decision.REVIEW if score.score >= bands.review_above else Decision.NEW


@dataclass(frozen=True, slots=True)
class StatedFacts:
    """What is currently said about a raw entity."""

    count: int = 0
    values: Mapping[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])
    """The texts of the values, by slot; relations are left out."""
    ends: frozenset[str] = frozenset()
    """Raw ids that its relations lead to."""
    last_tx: int = 0
    """When the latest of it was said; transaction time in microseconds."""

    def __or__(self, addend: StatedFacts) -> StatedFacts:
        values = dict(self.values)
        for slot, texts in addend.values.items():
            values[slot] = values.get(slot, frozenset()) | texts
        last_tx = max(self.last_tx, addend.last_tx)
        return StatedFacts(self.count + addend.count, values, self.ends | addend.ends, last_tx)


@dataclass(frozen=True, slots=True)
class PairVerdicts:
    """What is between entities already, and where each is named; by raw id."""

    verdicts: Mapping[frozenset[str], JudgementVerdict]
    scopes: Mapping[str, frozenset[str]]

    @classmethod
    def from_known(cls, known: Known, sight: Sight) -> PairVerdicts:
        """What a look-up has brought; names of scopes that the caller may see."""
        verdicts: dict[frozenset[str], JudgementVerdict] = {}
        for row in known.judgements:
            verdicts[frozenset((row.left_id, row.right_id))] = row.verdict

        scopes: dict[str, frozenset[str]] = {}
        for alias in known.aliases:
            if alias.scope_id in sight.scopes:
                before = scopes.get(alias.entity_id, frozenset())
                scopes[alias.entity_id] = before | {alias.scope_id}
        return cls(verdicts, scopes)

    def verdict(self, left: EntityView, right: EntityView) -> JudgementVerdict | None:
        """What was said of any two of their members: that they differ before that it is unsure."""
        verdicts: set[JudgementVerdict] = set()
        for raw in left.members:
            for partner in right.members:
                verdict = self.verdicts.get(frozenset((raw, partner)))
                if verdict is not None:
                    verdicts.add(verdict)

        order = (JudgementVerdict.NON_MATCH, JudgementVerdict.UNSURE)
        return next(filter(verdicts.__contains__, order), None)

    def scopes_of(self, entity: EntityView) -> frozenset[str]:
        """The scopes in which an entity is named."""
        scopes: frozenset[str] = frozenset()
        for member in entity.members:
            scopes |= self.scopes.get(member, frozenset())
        return scopes


def facts_about(
    reader: Reader,
    members: Sequence[str],
    principal: Principal,
    policy: Policy,
    *,
    now_us: int,
) -> dict[str, StatedFacts]:
    """What is said about raw entities, as far as the caller sees it; by raw id."""
    last = reader.clock().last_us
    point = Point(max(now_us, last), last)
    page = reader.versions(
        Ask(subjects=tuple(members)), sight=sight_of(principal, None), point=point
    )
    # What is disputed or quarantined is no evidence: nobody knows yet which of it holds.
    clean: list[Version] = []
    for version in page.versions:
        if version.row.look.status is Status.CLEAN:
            clean.append(version)

    facts: dict[str, StatedFacts] = {}
    for version in Mask(principal, policy).without(reader, clean):
        subject = version.details.subject_id
        if subject is not None and version.visible:
            facts[subject] = facts.get(subject, StatedFacts()) | _fact(version)

    return facts


def pair_context(
    left: EntityView,
    right: EntityView,
    facts: Mapping[str, StatedFacts],
    policy: Policy,
    words: Vocabulary,
    *,
    scopes: Iterable[str] = (),
    overlap: int | None = None,
    unsure: bool = False,
) -> PairContext:
    """What is known about two entities in addition to their names.

    `scopes` are those in which both are named. `overlap` is that of their neighbours in
    thousandths; without it that of the ends of their own relations.
    """
    left_facts, right_facts = facts_of_cluster(left, facts), facts_of_cluster(right, facts)
    kinds = {slot: AttributeKind(kind) for slot, kind in policy.resolution.attributes}
    evidence = compare_attributes(
        _with_identifiers(left, left_facts), _with_identifiers(right, right_facts), kinds
    )
    # Whoever manages somebody is somebody else, whichever of the two says so.
    related = not left_facts.ends.isdisjoint(right.members)
    related |= not right_facts.ends.isdisjoint(left.members)

    if overlap is None:
        union = left_facts.ends | right_facts.ends
        overlap = 1_000 * len(left_facts.ends & right_facts.ends) // len(union) if union else 0

    return PairContext(
        same_contact=evidence.same_contact,
        attributes=evidence.features,
        attribute_conflict=evidence.conflict,
        single_valued_conflict=_differs_in_one(left_facts, right_facts, words),
        direct_edge=related,
        same_scope=any(scope != TENANT_SCOPE.scope_id for scope in scopes),
        neighbour_overlap=overlap,
        unsure=unsure,
        person_context=PersonContext.TENANT,
    )


def facts_of_cluster(entity: EntityView, facts: Mapping[str, StatedFacts]) -> StatedFacts:
    """What is said about all members of an entity."""
    total = StatedFacts()
    for member in entity.members:
        total |= facts.get(member, StatedFacts())
    return total


def _with_identifiers(entity: EntityView, facts: StatedFacts) -> dict[str, frozenset[str]]:
    """The values by slot, an identifier next to the values of a slot of its scheme's name."""
    values = dict(facts.values)
    for scheme, value in entity.identifiers:
        values[scheme] = values.get(scheme, frozenset()) | {value}
    return values


def _differs_in_one(left: StatedFacts, right: StatedFacts, words: Vocabulary) -> bool:
    """Whether both state one value of a slot that has one, and not the same."""
    for slot in left.values.keys() & right.values.keys():
        definition = words.slots.get(slot)
        if definition is None or definition.many:
            continue
        if left.values[slot].isdisjoint(right.values[slot]):
            return True
    return False


def _fact(version: Version) -> StatedFacts:
    slot, end = version.details.slot, version.details.value_entity_id
    tx = version.row.claim.tx
    if end is not None:
        return StatedFacts(1, ends=frozenset({end}), last_tx=tx)
    if slot is None or version.content is None:
        return StatedFacts(1, last_tx=tx)

    value = json.loads(version.content.value_json)
    text = value if isinstance(value, str) else version.content.value_json
    return StatedFacts(1, {slot: frozenset({text})}, last_tx=tx)


_OF_THE_LIST = (VetoCode.MARGIN.value, VetoCode.CHAIN.value)
"""Vetoes that follow from the other candidates, which a pair alone cannot know."""
_RESEMBLANCES = (LOOK_ALIKE, RENDERING, SHORT_FORM, SHORT_NAME)
"""Lines of the names that no score has."""


@dataclass(frozen=True, slots=True)
class Rescoring:
    """Scores waiting cases again, as one caller sees what was said."""

    principal: Principal
    policy: Policy
    words: Vocabulary
    now_us: int

    def with_later_evidence(self, reader: Reader, cases: Sequence[Review]) -> dict[str, Review]:
        """The cases with later evidence, their candidates scored by all of it; by review id."""
        # Namesakes are a question about claims, which no score of names answers.
        asked_cases = [case for case in cases if case.reason != NAMESAKES and case.candidates]
        if not asked_cases:
            return {}

        sides = self._sides(reader, asked_cases)
        by_id: dict[str, Review] = {}
        for case in asked_cases:
            subject = sides.view(case.entity_id)
            if subject is None or not sides.has_news(case):
                continue
            candidates = [self._candidate(subject, entry, sides) for entry in case.candidates]
            candidates.sort(key=lambda entry: (-entry.score, -entry.log_odds, entry.entity))
            by_id[case.review_id] = replace(case, candidates=tuple(candidates))
        return by_id

    def with_todays_scores(self, reader: Reader, case: Review) -> Review:
        """A case with its candidates scored by all that is known, whenever it was said."""
        sides = self._sides(reader, [case])
        subject = sides.view(case.entity_id)
        if subject is None:
            return case
        candidates = [self._candidate(subject, entry, sides) for entry in case.candidates]
        return replace(case, candidates=tuple(candidates))

    def _sides(self, reader: Reader, cases: Iterable[Review]) -> _Sides:
        ids = sides_of(cases)
        tx_us, sight = reader.clock().last_us, sight_of(self.principal, None)
        known = reader.entities(sorted(ids), tx_us=tx_us)
        # A name that the caller may not see is no news to it, nor is that there is one.
        name_rows = reader.name_rows(sorted(known.entities), tx_us=tx_us)
        known = with_visible_aliases(with_visible_identifiers(known, sight), name_rows, sight)
        roots: set[str] = set()
        for raw in ids:
            root = known.canonical.get(raw, raw)
            # An erased side is in no answer; its case stays as it was opened.
            if root in known.entities:
                roots.add(root)

        views: dict[str, EntityView] = {}
        members: list[str] = []
        for view in entity_views(reader, known, sorted(roots), sight, tx_us):
            views[view.entity_id] = view
            members += view.members
        facts = facts_about(reader, members, self.principal, self.policy, now_us=self.now_us)
        taught_at: dict[str, int] = {}
        taught_rows: tuple[Alias | Identifier, ...] = (*known.aliases, *known.identifiers)
        for row in taught_rows:
            root = known.canonical.get(row.entity_id, row.entity_id)
            taught_at[root] = max(row.tx_start, taught_at.get(root, 0))
        return _Sides(known, views, facts, PairVerdicts.from_known(known, sight), taught_at)

    def _candidate(
        self, subject: EntityView, candidate: EntityCandidate, sides: _Sides
    ) -> EntityCandidate:
        """A candidate with the score of today; as it was where nothing can be compared."""
        partner = sides.view(candidate.entity)
        if partner is None or partner.entity_id == subject.entity_id:
            return candidate

        verdicts = sides.verdicts
        context = pair_context(
            subject,
            partner,
            sides.facts,
            self.policy,
            self.words,
            scopes=verdicts.scopes_of(subject) & verdicts.scopes_of(partner),
            unsure=verdicts.verdict(subject, partner) is JudgementVerdict.UNSURE,
        )
        bands = self.policy.resolution
        score = comparison_of(subject, partner, context=context, bands=bands).candidate
        # What the other candidates, or the look of the names, once said is not said by a pair.
        kept_vetoes = tuple(filter(_OF_THE_LIST.__contains__, candidate.vetoes))
        kept_lines = [line for line in candidate.features if line.name in _RESEMBLANCES]
        return replace(
            score,
            score=min(score.score, MARGIN_SCORE) if kept_vetoes else score.score,
            source=candidate.source,
            features=(*score.features, *kept_lines),
            vetoes=(*score.vetoes, *kept_vetoes),
        )


@dataclass(frozen=True, slots=True)
class _Sides:
    """What is known about the entities of some cases."""

    known: Known
    views: Mapping[str, EntityView]
    facts: Mapping[str, StatedFacts]
    verdicts: PairVerdicts
    taught_at: Mapping[str, int]
    """When the last name or identifier of a canonical id was learned."""

    def view(self, raw: str) -> EntityView | None:
        return self.views.get(self.known.canonical.get(raw, raw))

    def has_news(self, case: Review) -> bool:
        """Whether anything was said of either side since the case was opened, or looked at."""
        looked_at = case.opened_tx
        if case.state is ReviewState.UNSURE and case.decided_tx is not None:
            looked_at = case.decided_tx

        # A name or an identifier that was taught later is evidence as much as a fact.
        for entity in map(self.view, sorted(sides_of([case]))):
            if entity is None:
                continue
            taught_tx = self.taught_at.get(entity.entity_id, 0)
            if max(taught_tx, facts_of_cluster(entity, self.facts).last_tx) > looked_at:
                return True
        return False


def sides_of(cases: Iterable[Review]) -> set[str]:
    """The raw ids that cases are about: their entities and all their candidates."""
    ids: set[str] = set()
    for case in cases:
        ids.update([case.entity_id, *map(attrgetter("entity"), case.candidates)])
    return ids
