"""The queue of reviews: which cases are in it, and which were answered elsewhere.

Values and look-ups alone; nothing here decides.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence, Set
from typing import Final

from ...resolution.clusters import WAITING
from ...resolution.keys import entity_id
from ...resolution.register import Register
from ...schema.entity import AUDIT, SUGGESTION, Entity, EntityCandidate, Review
from ...schema.errors import InvalidInput
from ...schema.policy import ResolutionPolicy
from ...schema.principal import AUDIT as MAY_AUDIT
from ...schema.principal import Principal
from ...schema.vocabulary import CandidateSource, ReviewState
from ...store.commit.admission import suggestion
from ...store.port.store import Ask, Point, Reader, Usage
from ..reading.objects import usage_of, visible_rows
from ..reading.view import sight_of
from .review_page import best_of, sides_of

AT_ONCE = 500
"""Cases whose entities and facts are looked up together."""


_RECENT_US: Final = 30 * 86_400 * 1_000_000
"""Thirty days: how long a use counts."""
_STATES: Final = tuple(map(str, ReviewState))


def states_of(status: str) -> frozenset[str]:
    """The states that a status of a list means.

    Raises:
        InvalidInput: `unknown_vocabulary`.
    """
    if status == "all":
        return frozenset(_STATES)
    if status not in _STATES:
        words = ", ".join(("all", *sorted(_STATES)))
        raise InvalidInput(f"status {status!r}: known: {words}", code="unknown_vocabulary")

    state = ReviewState(status)
    # Who asks for what is open means all that waits: a case whose decision was undone does.
    if state is ReviewState.OPEN:
        return frozenset((ReviewState.OPEN.value, ReviewState.UNDONE.value))
    return frozenset((state.value,))


def of_kind(cases: Iterable[Review], kind: str, scopes: Set[str]) -> list[Review]:
    """The cases of a kind, `blocking`, `all` or a reason, in scopes that the caller sees."""
    visible = [case for case in cases if case.scope_id in scopes]
    if kind == "blocking":
        return [case for case in visible if case.blocking]
    return [case for case in visible if kind in ("all", case.reason)]


def cases_without(cases: Iterable[Review], review_ids: Container[str]) -> list[Review]:
    """The cases but for some."""
    return [case for case in cases if case.review_id not in review_ids]


def priorities_of(
    reader: Reader,
    cases: Sequence[Review],
    principal: Principal,
    bands: ResolutionPolicy,
    *,
    now_us: int,
) -> dict[str, float]:
    """What each case blocks x uncertainty, rounded so that no float decides an order; by id.

    It blocks the facts that wait, as far as the caller sees them, and the prompts of the last 30
    days that read either side, for whoever may open those of others.
    """
    priorities: dict[str, float] = {}
    for part in parts(cases):
        sides: dict[str, tuple[str, ...]] = {}
        entity_ids: dict[str, None] = {}
        for case in part:
            sides[case.review_id] = _sides(case)
            entity_ids.update(dict.fromkeys(sides[case.review_id]))

        # One look-up of the facts for the whole part: a queue may hold thousands of cases.
        known = Register(reader.entities(tuple(entity_ids), tx_us=reader.clock().last_us))
        members = known.members_of(entity_ids)
        facts_about, uses_of = _holdings(reader, sorted(members), principal, now_us)
        for case in part:
            # Only the entity of the case waits; its candidate is settled and blocks nobody.
            facts = sum(map(facts_about.__getitem__, known.members(case.entity_id)))
            uses = sum(map(uses_of.__getitem__, known.members_of(sides[case.review_id])))
            weight = (1 + facts) * (1 + uses) * _uncertainty(case, bands.of_type(case.type))
            priorities[case.review_id] = round(weight, 6)

    return priorities


def _uncertainty(case: Review, bands: ResolutionPolicy) -> float:
    """How near a bound of the bands the score lies: 1 on it, a half in the middle and beyond."""
    best = best_of(case)
    score = best.score if best else bands.review_above
    distance = min(abs(score - bands.review_above), abs(score - bands.bind_at))
    width = bands.bind_at - bands.review_above
    return 1 - min(distance / width, 1.0) / 2


def _sides(case: Review) -> tuple[str, ...]:
    """The entity of a case and the candidate that accepting would mean."""
    best = best_of(case)
    return (case.entity_id,) if best is None else (case.entity_id, best.entity)


def parts(cases: Sequence[Review]) -> Iterator[Sequence[Review]]:
    """The cases in parts that are looked up together."""
    for first in range(0, len(cases), AT_ONCE):
        yield cases[first : first + AT_ONCE]


def case_about(left: Entity, right: Entity) -> Review:
    """The case that asks whether two stored entities are one; the younger is asked about."""
    elder, younger = sorted((left, right), key=lambda entity: (entity.tx_start, entity.entity_id))
    candidate = EntityCandidate(
        entity=elder.entity_id,
        name=elder.name,
        score=0.0,
        log_odds=0.0,
        source=CandidateSource.IDENTIFIER,
    )
    return suggestion(
        younger,
        candidate,
        # Of the pair alone, so that two stewards who ask about it get one case.
        review_id=entity_id(elder.entity_id, SUGGESTION, younger.entity_id),
        object_id=younger.created_by,
        opened_tx=0,
    )


def answered_elsewhere(reader: Reader, cases: Sequence[Review]) -> set[str]:
    """The suggestions that have been answered elsewhere: their pair is judged."""
    suggestions: list[Review] = []
    for case in cases:
        # A blocking case or an audit is answered by its own decision alone.
        if not case.blocking and case.reason != AUDIT and case.state in WAITING:
            suggestions.append(case)

    answered_ids: set[str] = set()
    for part in parts(suggestions):
        known = reader.entities(sorted(sides_of(part)), tx_us=reader.clock().last_us)
        judged_pairs: set[frozenset[str]] = set()
        for row in known.judgements:
            judged_pairs.add(frozenset((row.left_id, row.right_id)))

        for case in part:
            root = known.canonical.get(case.entity_id, case.entity_id)
            best = best_of(case)
            candidate_root = known.canonical.get(best.entity, best.entity) if best else ""
            if (
                root == candidate_root
                or frozenset((case.entity_id, candidate_root)) in judged_pairs
            ):
                answered_ids.add(case.review_id)

    return answered_ids


def _holdings(
    reader: Reader, members: Sequence[str], principal: Principal, now_us: int
) -> tuple[Counter[str], Counter[str]]:
    """How many current facts stand about each raw entity, and how often prompts read them.

    Those count that some prompt read within the last 30 days; 0 to a caller who may not open what
    others asked.
    """
    last = reader.clock().last_us
    ask, point = Ask(subjects=tuple(members)), Point(max(now_us, last), last)
    page = reader.versions(ask, sight=sight_of(principal, None), point=point)
    visible_versions = visible_rows(page.versions)

    # An order by what others asked would reveal to a steward whom they asked about.
    usage: Mapping[str, Usage] = {}
    if principal.holds(MAY_AUDIT):
        object_ids = [version.row.claim.object_id for version in visible_versions]
        usage = usage_of(reader, object_ids)

    facts, uses = Counter[str](), Counter[str]()
    for version in visible_versions:
        subject_id = version.details.subject_id
        if subject_id is None:
            continue
        facts[subject_id] += 1
        record = usage.get(version.row.claim.object_id)
        # The log has no time for each use, so facts that were not read lately count as unread.
        if record is not None and record.last_us >= now_us - _RECENT_US:
            uses[subject_id] += record.uses
    return facts, uses
