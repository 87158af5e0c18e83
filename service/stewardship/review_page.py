"""The page of a review: what a person is shown to decide, as values and sentences.

Evidence comes line by line with its weight, vetoes as sentences, sources with the name marked,
and beside them what would tip the scale: the evidence that is absent and would weigh enough.
Nothing here reads a store or decides.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from operator import attrgetter

from ...resolution.model import default_model
from ...resolution.vetoes import sentence_of
from ...schema.answers import EntityView
from ...schema.claim import Version
from ...schema.entity import EntityCandidate, Review
from ...schema.policy import ResolutionPolicy
from ...schema.short_repr import short_repr
from ...schema.values import stamp_time
from ...schema.vocabulary import ReviewState

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
    if any(feature.weight for feature in features):
        start = candidate.log_odds - sum([feature.weight for feature in features])
        lines.insert(0, f"{start:+.2f}  start: what the model takes two names for")
    return tuple(lines)


def tips(candidate: EntityCandidate, bands: ResolutionPolicy) -> tuple[str, ...]:
    """Return what would bind a pair: what lifts its vetoes, then evidence that weighs enough."""
    present = {feature.name for feature in candidate.features}
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


def snippet(origin: str, said_at: datetime, words: str, mention: str) -> str:
    """A text that named somebody as a line: where it comes from, its day, the name in brackets."""
    return f"{origin} {said_at.date()}: {with_mention_marked(words, mention)}"


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
