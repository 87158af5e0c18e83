"""What a transaction has gathered, and what becomes of it: receipts, and one batch to apply.

`commit` fills a `CommitWork` step by step. The batch lists everything in the order in which it
came, so that the same group gives the same batch for every store.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

from ...resolution.keys import as_ref
from ...resolution.register import Register
from ...schema.claim import Assertion, Edge, MentionLink, Row
from ...schema.entity import SUGGESTION, Review
from ...schema.errors import TenureError
from ...schema.policy import Policy
from ...schema.values import moment
from ...schema.vocabulary import EdgeKind, Outcome
from ...schema.write import Receipt, Submission
from ..port.receipts import encode, receipt_candidates
from ..port.store import (
    ActionClosing,
    ActionRecord,
    Batch,
    Clock,
    Flag,
    SlotRecord,
    StoredReceipt,
    TxEvent,
)
from ..timeline.ledger import PlanningSlot, RowLedger
from ..timeline.reconcile import Plan
from .admission import AdmittedClaim
from .surroundings import VisibleRelations

Result = tuple[Receipt, ...] | TenureError
"""The receipts of a submission in the order of its drafts, or why it was refused."""

_RANK = {outcome: place for place, outcome in enumerate(Outcome)}


@dataclass(frozen=True, slots=True)
class KnownMentions:
    """What the mentions of a group may need."""

    register: Register
    neighbourhoods: Mapping[int, Mapping[frozenset[str], VisibleRelations]] = field(
        default_factory=dict[int, Mapping[frozenset[str], VisibleRelations]]
    )
    """What stands around the mentions of a submission, by its place in the group and by the scopes
    whose aliases they may use."""

    def hear(self, claims: Iterable[Assertion]) -> None:
        """Take in what a submission states: it stands around the mentions of later ones."""
        if not self.neighbourhoods:
            return

        # Submissions of one sight share a neighbourhood, which must hear each claim once.
        assertions = tuple(claims)
        listeners: dict[int, VisibleRelations] = {}
        for neighbourhoods in self.neighbourhoods.values():
            for neighbourhood in neighbourhoods.values():
                listeners[id(neighbourhood)] = neighbourhood
        for neighbourhood in listeners.values():
            neighbourhood.hear(assertions)


@dataclass(slots=True)
class CommitWork:
    """What a transaction has gathered so far; lives for one call."""

    clock: Clock
    mentions: KnownMentions
    ledger: RowLedger
    results: list[Result | None]
    admissions: list[tuple[int, int, tuple[AdmittedClaim, ...]]] = field(
        default_factory=list[tuple[int, int, tuple[AdmittedClaim, ...]]]
    )
    """(place in the group, stamp, claims)."""
    plans: dict[str, Plan] = field(default_factory=dict[str, Plan])
    edges: list[Edge] = field(default_factory=list[Edge])
    tie_actions: dict[PlanningSlot, list[ActionRecord]] = field(
        default_factory=dict[PlanningSlot, list[ActionRecord]]
    )
    """What the group asks about ties that it made and has not settled so far, by slot."""
    actions: list[ActionRecord] = field(default_factory=list[ActionRecord])
    questions: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    """The ids of the actions that the write of an object opened, by that object."""
    closed_actions: list[ActionClosing] = field(default_factory=list[ActionClosing])
    flags: list[Flag] = field(default_factory=list[Flag])
    quarantined: list[Row] = field(default_factory=list[Row])
    twins: dict[int, int] = field(default_factory=dict[int, int])
    """Place of a retry inside the group, and of the write it repeats."""

    @property
    def register(self) -> Register:
        """Return what is known, and what the group has made so far."""
        return self.mentions.register

    @property
    def claims(self) -> Iterator[AdmittedClaim]:
        """The claims of the group that were admitted so far, in order."""
        for _, _, claims in self.admissions:
            yield from claims

    def ask(self, object_id: str, action: ActionRecord) -> None:
        """Open an action because of the write of an object."""
        self.actions.append(action)
        self.questions.setdefault(object_id, []).append(action.action_id)

    def close(self, action: ActionRecord, stamp: int) -> None:
        """Close the action of a tie that stands no more since a stamp."""
        closing = ActionClosing(action.action_id, stamp, "settled", "reconciliation")
        self.closed_actions.append(closing)

    def may_crowd(self, limit: int) -> bool:
        """Whether any slot holds, or is given, more rows and claims than a limit."""
        most_rows = max(map(len, self.ledger.slots.values()), default=0)
        return most_rows + sum(len(claims) for _, _, claims in self.admissions) > limit

    def replace_claims(self, claims: Iterator[AdmittedClaim]) -> None:
        """Put claims in the places of those that were admitted, in the same order."""
        # A new list, because the claims may be read off the old one while they are replaced.
        admissions: list[tuple[int, int, tuple[AdmittedClaim, ...]]] = []
        for place, stamp, former_claims in self.admissions:
            admissions.append((place, stamp, tuple(islice(claims, len(former_claims)))))
        self.admissions = admissions

    @property
    def last(self) -> int:
        """Return the last stamp of the group, or before it where it was given none."""
        return self.admissions[-1][1] if self.admissions else self.clock.last_us


def receipt_of(
    admission: AdmittedClaim, stamp: int, work: CommitWork, policy: Policy, *, dry_run: bool
) -> Receipt:
    """What one claim of a group did, once the whole group is planned."""
    draft, plan = admission.draft, work.plans.get(admission.draft.object_id)
    outcome = _outcome(admission, plan)
    instant = moment(stamp)
    assert instant is not None  # a stamp lies inside the open ends

    review_ids: list[str] = []
    for case in admission.reviews:
        if case.blocking:
            review_ids.append(case.review_id)

    return Receipt(
        object_id=draft.object_id,
        tx=instant,
        outcome=outcome,
        dry_run=dry_run,
        entity=admission.root,
        resolution=admission.resolution,
        relations=plan.relations if plan else (),
        superseded=_superseded(plan),
        inserted=len(plan.insert) if plan else 1,
        actions=tuple(work.questions.get(draft.object_id, ())),
        reviews=tuple(review_ids),
        warnings=_warnings(admission, stamp, outcome, policy),
    )


def _outcome(admission: AdmittedClaim, plan: Plan | None) -> Outcome:
    outcomes = {Outcome.QUARANTINED if plan is None else plan.outcome}
    if admission.pending:
        outcomes.add(Outcome.PENDING_REVIEW)
    return min(outcomes, key=lambda outcome: _RANK[outcome])


def _superseded(plan: Plan | None) -> tuple[str, ...]:
    object_ids: dict[str, None] = {}
    for edge in plan.edges if plan else ():
        if edge.kind is EdgeKind.SUPERSEDES:
            object_ids[edge.dst] = None
    return tuple(object_ids)


def _warnings(
    admission: AdmittedClaim, stamp: int, outcome: Outcome, policy: Policy
) -> tuple[str, ...]:
    draft, warnings = admission.draft, list(admission.draft.warnings)
    skew = policy.write.skew_limit_s * 1_000_000
    if draft.valid_from is not None and not draft.whole_extent:
        if draft.valid_from > stamp + skew and not draft.details.planned:
            warnings.append("future_dated")
        elif draft.valid_from < stamp - skew:
            warnings.append("backdated")

    if outcome is Outcome.CLIPPED:
        warnings.append("clipped")
    if outcome is Outcome.OVERRIDDEN:
        warnings.append("hidden_by_stronger")
    if admission.resolution and admission.resolution.reason == SUGGESTION:
        warnings.append(SUGGESTION)
    return tuple(warnings)


def unnamed_candidates(group: Sequence[Submission], work: CommitWork) -> dict[int, tuple[str, ...]]:
    """The candidates of receipts whose names their writers have not stated: raw ids by place."""
    ids_of_place: dict[int, tuple[str, ...]] = {}
    for place, submission in enumerate(group):
        receipts = work.results[place]
        if not (submission.writer and submission.has_reader and isinstance(receipts, tuple)):
            continue

        # What the writer calls it is no secret: nearly every candidate is the subject.
        stated_names: set[str] = set()
        for draft in submission.drafts:
            if draft.subject is not None:
                stated_names.add(as_ref(draft.subject).name)

        ids: dict[str, None] = {}
        for receipt in receipts:
            for candidate in receipt_candidates(receipt):
                if candidate.name not in stated_names:
                    ids[candidate.entity] = None
        if ids:
            ids_of_place[place] = tuple(ids)

    return ids_of_place


def batch_of(group: Sequence[Submission], work: CommitWork) -> Batch:
    """Everything that the group writes, in the order in which it came."""
    assertions: list[Assertion] = []
    mentions: list[MentionLink] = []
    reviews: list[Review] = []
    slots: dict[str, SlotRecord] = {}
    for claim in work.claims:
        assertions.append(claim.assertion)
        mentions += claim.mentions
        reviews += claim.reviews
        slots[claim.slot.slot_key] = claim.slot

    # They take numbers behind those of the timelines, which were given stamp by stamp.
    next_vid = work.ledger.next_vid
    quarantined_rows: list[Row] = []
    for row in work.quarantined:
        quarantined_rows.append(replace(row, vid=next_vid))
        next_vid += 1
    stamps = work.clock.seq + len(work.admissions)

    return Batch(
        clock=Clock(stamps, work.last, next_vid, work.clock.vec_seq),
        events=_events(group, work),
        entities=tuple(work.register.entities.values()),
        aliases=tuple(work.register.aliases),
        identifiers=tuple(work.register.identifiers),
        block_keys=work.register.keys,
        slots=tuple(slots.values()),
        claims=tuple(assertions),
        mentions=tuple(mentions),
        close=work.ledger.closings,
        rows=(*work.ledger.rows, *quarantined_rows),
        edges=tuple(dict.fromkeys(work.edges)),
        judgements=tuple(work.register.judgements),
        reviews=tuple(reviews),
        canonical=tuple(sorted(work.register.moved.items())),
        actions=tuple(work.actions),
        closed_actions=tuple(work.closed_actions),
        flags=tuple(work.flags),
        receipts=stored_receipts_of(work),
    )


def _events(group: Sequence[Submission], work: CommitWork) -> tuple[TxEvent, ...]:
    events: list[TxEvent] = []
    for seq, (place, stamp, claims) in enumerate(work.admissions, work.clock.seq + 1):
        submission = group[place]
        object_ids: list[str] = []
        for claim in claims:
            object_ids.append(claim.draft.object_id)

        event = TxEvent(
            seq=seq,
            tx=stamp,
            actor=submission.actor,
            op="replay" if submission.stated_tx is not None else "write",
            object_ids=tuple(object_ids),
        )
        events.append(event)

    return tuple(events)


def stored_receipts_of(work: CommitWork) -> tuple[StoredReceipt, ...]:
    """The receipts of what was admitted, as a retry will find them."""
    stored_receipts: list[StoredReceipt] = []
    for place, stamp, claims in work.admissions:
        receipts = work.results[place]
        assert isinstance(receipts, tuple)  # an admitted submission has receipts
        for claim, receipt in zip(claims, receipts, strict=True):
            stored_receipts.append(
                StoredReceipt(
                    object_id=receipt.object_id,
                    tx=stamp,
                    body=encode(receipt),
                    idempotency_key=claim.draft.idempotency_key,
                    fingerprint=claim.draft.fingerprint,
                )
            )

    return tuple(stored_receipts)
