"""Commit: a group of writes in one transaction, each with its own stamp.

The visible order: lock, retries, look-ups, admission, slots, plans, batch. Every store runs
this same code over its `WriteTx`; a store only reads what it is asked for and applies one
batch. A write that cannot be admitted is taken out before anything is applied, so it never
takes its neighbours down, and takes no stamp. A recorded refusal keeps its stamp.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from itertools import islice

from ...resolution.bind import Scorer
from ...resolution.register import Register
from ...schema.claim import Edge, Look, Row
from ...schema.entity import DOUBTED, SUGGESTION, Review
from ...schema.errors import InvalidInput, TenureError
from ...schema.interval import ALL_TIME, Interval
from ...schema.policy import Policy
from ...schema.values import iso, moment
from ...schema.vocabulary import ActionKind, EdgeKind, Outcome, Status
from ...schema.write import Receipt
from ..port.receipts import encode
from ..port.store import (
    ActionClosing,
    ActionRecord,
    Batch,
    Clock,
    Flag,
    Point,
    SlotRead,
    StoredReceipt,
    TxEvent,
    WriteTx,
)
from ..timeline.ledger import PlanningSlot, RowLedger
from ..timeline.reconcile import Plan
from .admission import AdmittedClaim, Submission, admit
from .backlog import check_backlog
from .declared import with_corrections
from .effects import derivations, hold_action, staleness, stands, tie_action
from .expectation import check_expected
from .lookups import KnownMentions, gather
from .retries import find_older_keys, receipts_of, retry_answer

Result = tuple[Receipt, ...] | TenureError
"""The receipts of a submission in the order of its drafts, or why it was refused."""

_RANK = {outcome: place for place, outcome in enumerate(Outcome)}


@dataclass(slots=True)
class _Work:
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
    actions: list[ActionRecord] = field(default_factory=list[ActionRecord])
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

    def replace_claims(self, claims: Iterator[AdmittedClaim]) -> None:
        """Put claims in the places of those that were admitted, in the same order."""
        self.admissions = [
            (place, stamp, tuple(islice(claims, len(former))))
            for place, stamp, former in self.admissions
        ]

    @property
    def last(self) -> int:
        """Return the last stamp of the group."""
        return self.admissions[-1][1]


def commit(
    tx: WriteTx,
    group: Sequence[Submission],
    *,
    now_us: int,
    policy: Policy,
    scorer: Scorer | None = None,
    dry_run: bool = False,
) -> list[Result]:
    """Return what became of each submission, and apply what was admitted as one batch.

    Stamps rise by one microsecond from `max(now_us, last + 1)`, one a submission; a stated
    replay stamp must be later than the last one. With `dry_run` nothing is applied.
    """
    clock = tx.lock()

    # One look-up serves the whole group, so it is asked as of its latest member.
    begin_us = max((submission.stated_tx or now_us for submission in group), default=now_us)
    point = Point(max(begin_us, clock.last_us), clock.last_us)
    mentions = gather(tx, group, scorer, point=point, policy=policy)
    work = _Work(clock, mentions, RowLedger(clock.next_vid), [None] * len(group))

    _answer_retries(tx, group, work)
    _admit_all(tx, group, work, now_us=now_us, policy=policy, scorer=scorer)
    _drop_known_doubts(tx, work)
    if policy.write.same_origin_corrects:
        _declare(tx, work)

    _load_slots(tx, work)

    for _, stamp, claims in work.admissions:
        _plan_submission(claims, stamp, work)

    _settle_ties(tx, work)
    _flag_dependants(tx, work)

    for place, stamp, claims in work.admissions:
        work.results[place] = tuple(
            _receipt(claim, stamp, work, policy, dry_run=dry_run) for claim in claims
        )

    if work.admissions and not dry_run:
        tx.apply(_batch(group, work))

    _answer_twins(group, work)

    return [result for result in work.results if result is not None]


def _answer_retries(tx: WriteTx, group: Sequence[Submission], work: _Work) -> None:
    """Answer a retry with the first receipt; refuse a known key with another body."""
    firsts: dict[str, int] = {}
    ids: set[str] = set()
    keys: set[str] = set()

    for place, submission in enumerate(group):
        for draft in submission.drafts:
            if draft.idempotency_key or submission.stated_tx is not None:
                ids.add(draft.object_id)
                keys.update(filter(None, (draft.idempotency_key, draft.plain_key)))
                first = firsts.setdefault(draft.object_id, place)
                if first != place:
                    work.twins[place] = first

    if not ids:
        return

    receipts_found = tx.receipts(sorted(keys), sorted(ids))
    stored_receipts = {receipt.object_id: receipt for receipt in receipts_found}
    find_older_keys(tx, group, receipts_found, stored_receipts)

    for place, submission in enumerate(group):
        receipts = receipts_of(submission, stored_receipts)
        if receipts:
            work.results[place] = retry_answer(submission, receipts)


def _answer_twins(group: Sequence[Submission], work: _Work) -> None:
    """Answer a retry that stood in the same group as the write it repeats."""
    if not work.twins:
        return

    receipts_written = {receipt.object_id: receipt for receipt in _stored_receipts(work)}
    for place, first in work.twins.items():
        refusal = work.results[first]
        if isinstance(refusal, TenureError):
            work.results[place] = refusal
            continue
        receipts = receipts_of(group[place], receipts_written)
        if work.results[place] is None:
            work.results[place] = retry_answer(group[place], receipts)


def _admit_all(
    tx: WriteTx,
    group: Sequence[Submission],
    work: _Work,
    *,
    now_us: int,
    policy: Policy,
    scorer: Scorer | None,
) -> None:
    last, limit = work.clock.last_us, policy.resolution.source_backlog

    @cache  # nothing is stored before the group is, so that a source is asked for once
    def waiting(actor: str, origin: str) -> int:
        return tx.waiting(actor, origin, limit=limit)

    for place, submission in enumerate(group):
        if work.results[place] is not None or place in work.twins:
            continue

        # What a refused write taught of names must not reach its neighbours.
        attempt = work.register.child()
        try:
            stamp = _stamp(submission, last, now_us)
            claims = admit(
                submission,
                attempt,
                tx=stamp,
                bands=policy.resolution,
                scorer=scorer,
                neighbourhood=work.mentions.neighbourhoods.get(place),
            )
            check_expected(tx, claims, work.claims, stamp)
            if submission.stated_tx is None:
                check_backlog(waiting, claims, work.claims, limit=limit)
        except TenureError as refusal:
            work.results[place] = refusal
            continue

        work.register.absorb(attempt)
        work.mentions.hear(claim.assertion for claim in claims)
        work.admissions.append((place, stamp, claims))
        last = stamp

    # A later write may have joined the subject of an earlier one.
    if work.register.moved:
        claims_moved = map(
            partial(AdmittedClaim.with_clusters, register=work.register), work.claims
        )
        work.replace_claims(claims_moved)


def _stamp(submission: Submission, last: int, now_us: int) -> int:
    stated_us = submission.stated_tx
    if stated_us is None:
        return max(now_us, last + 1)

    if stated_us <= last:
        raise InvalidInput(
            f"recorded_at {iso(stated_us)} is not later than the last transaction {iso(last)}; "
            "a replay takes rising times, and lines of one time in one call",
            code="tx_backwards",
            stated=stated_us,
            last=last,
        )

    return stated_us


def _declare(tx: WriteTx, work: _Work) -> None:
    work.replace_claims(iter(with_corrections(tx, list(work.claims))))


def _load_slots(tx: WriteTx, work: _Work) -> None:
    """Read the open rows of every slot the group touches, once, over the hull of its spans."""
    # A quarantined claim never competes, so it needs no row of others.
    reads: dict[PlanningSlot, SlotRead] = {}
    for claim in work.claims:
        if claim.assertion.quarantine:
            continue
        span, full = claim.assertion.claim.interval, claim.assertion.claim.op.withdraws
        known = reads.get(claim.planning)
        if known:
            span = Interval(
                min(span.start_us, known.span.start_us), max(span.end_us, known.span.end_us)
            )
            full = full or known.full
        reads[claim.planning] = SlotRead(claim.slot_keys, span, full)

    # One call for all slots: a store across a network answers it in one round trip.
    for slot, rows in zip(reads, tx.open_rows(tuple(reads.values())), strict=True):
        work.ledger.load(slot, rows)


def _plan_submission(claims: Sequence[AdmittedClaim], stamp: int, work: _Work) -> None:
    for admission in claims:
        claim = admission.assertion.claim
        work.edges += derivations(admission.assertion, stamp)
        if admission.assertion.quarantine:
            look = Look(Status.QUARANTINED, admission.assertion.quarantine, False)
            work.quarantined.append(Row(0, claim, claim.interval, look, stamp))
            work.actions.append(hold_action(admission, stamp))
            continue

        plan = work.ledger.write(admission.planning, claim, many=admission.slot.many)
        work.plans[claim.object_id] = plan
        work.edges += plan.edges
        work.actions += [tie_action(admission, tie, stamp) for tie in plan.ties]

    work.ledger.settle(stamp)


def _settle_ties(tx: WriteTx, work: _Work) -> None:
    """Close the actions of ties that the group has settled."""
    keys = {
        claim.planning: claim.slot_keys
        for claim in work.claims
        if claim.planning in work.ledger.unsettled
    }
    if not keys:
        return

    # a tie may stand outside what the group has read
    reads = [SlotRead(slot_keys, ALL_TIME, full=False) for _, slot_keys in sorted(keys.items())]
    waiting = tx.open_actions(slot_keys=sorted({key for read in reads for key in read.slot_keys}))

    for (slot, slot_keys), rows in zip(sorted(keys.items()), tx.open_rows(reads), strict=True):
        standing = work.ledger.ties(slot, rows)
        for action in (*waiting, *work.actions):
            tied = action.kind is ActionKind.SETTLE_TIE and action.slot_key in slot_keys
            if tied and not stands(action, standing):
                work.closed_actions.append(
                    ActionClosing(action.action_id, work.last, "settled", "reconciliation")
                )


def _flag_dependants(tx: WriteTx, work: _Work) -> None:
    """Flag what was derived from objects that lost what they showed, save by this group."""
    changed_ids = sorted(work.ledger.changed)
    if not changed_ids:
        return

    own_ids = {claim.draft.object_id for claim in work.claims}
    stale = [dependant for dependant in tx.dependants(changed_ids) if dependant not in own_ids]
    if stale:
        flags, actions = staleness(stale, tx.assertions(stale), work.last)
        work.flags += flags
        work.actions += actions


def _receipt(
    admission: AdmittedClaim, stamp: int, work: _Work, policy: Policy, *, dry_run: bool
) -> Receipt:
    draft, plan = admission.draft, work.plans.get(admission.draft.object_id)
    outcome = _outcome(admission, plan)
    instant = moment(stamp)
    assert instant is not None  # a stamp lies inside the open ends

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
        actions=tuple(a.action_id for a in work.actions if a.object_id == draft.object_id),
        reviews=tuple(case.review_id for case in admission.reviews if case.blocking),
        warnings=_warnings(admission, stamp, outcome, policy),
    )


def _outcome(admission: AdmittedClaim, plan: Plan | None) -> Outcome:
    outcomes = {Outcome.QUARANTINED if plan is None else plan.outcome}
    if admission.pending:
        outcomes.add(Outcome.PENDING_REVIEW)
    return min(outcomes, key=lambda outcome: _RANK[outcome])


def _drop_known_doubts(tx: WriteTx, work: _Work) -> None:
    """Open the case of a doubted bind once; what was decided there is not asked again."""
    known: set[str] = set()

    def is_new(case: Review) -> bool:
        if case.reason != DOUBTED:
            return True
        if case.review_id in known or tx.review(case.review_id) is not None:
            return False
        known.add(case.review_id)
        return True

    def without_known(claim: AdmittedClaim) -> AdmittedClaim:
        return replace(claim, reviews=tuple(filter(is_new, claim.reviews)))

    if any(case.reason == DOUBTED for claim in work.claims for case in claim.reviews):
        work.replace_claims(map(without_known, list(work.claims)))


def _superseded(plan: Plan | None) -> tuple[str, ...]:
    edges = plan.edges if plan else ()
    return tuple(dict.fromkeys(e.dst for e in edges if e.kind is EdgeKind.SUPERSEDES))


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


def _batch(group: Sequence[Submission], work: _Work) -> Batch:
    claims = list(work.claims)
    reviews = tuple(case for claim in claims for case in claim.reviews)
    quarantined_rows = tuple(
        replace(row, vid=vid) for vid, row in enumerate(work.quarantined, work.ledger.next_vid)
    )
    next_vid = work.ledger.next_vid + len(quarantined_rows)
    stamps = work.clock.seq + len(work.admissions)

    return Batch(
        clock=Clock(stamps, work.last, next_vid, work.clock.vec_seq),
        events=_events(group, work),
        entities=tuple(work.register.entities.values()),
        aliases=tuple(work.register.aliases),
        identifiers=tuple(work.register.identifiers),
        block_keys=work.register.keys,
        slots=tuple({claim.slot.slot_key: claim.slot for claim in claims}.values()),
        claims=tuple(claim.assertion for claim in claims),
        mentions=tuple(link for claim in claims for link in claim.mentions),
        close=work.ledger.closings,
        rows=(*work.ledger.rows, *quarantined_rows),
        edges=tuple(dict.fromkeys(work.edges)),
        judgements=tuple(work.register.judgements),
        reviews=reviews,
        canonical=tuple(sorted(work.register.moved.items())),
        actions=tuple(work.actions),
        closed_actions=tuple(work.closed_actions),
        flags=tuple(work.flags),
        receipts=_stored_receipts(work),
    )


def _events(group: Sequence[Submission], work: _Work) -> tuple[TxEvent, ...]:
    events: list[TxEvent] = []
    for seq, (place, stamp, claims) in enumerate(work.admissions, work.clock.seq + 1):
        submission = group[place]
        event = TxEvent(
            seq=seq,
            tx=stamp,
            actor=submission.actor,
            op="replay" if submission.stated_tx is not None else "write",
            object_ids=tuple(claim.draft.object_id for claim in claims),
        )
        events.append(event)

    return tuple(events)


def _stored_receipts(work: _Work) -> tuple[StoredReceipt, ...]:
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
