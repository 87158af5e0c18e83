"""Commit: a group of writes in one transaction, each with its own stamp.

The visible order: lock, retries, look-ups, admission, slots, plans, batch. Every store runs
this same code over its `WriteTx`; a store only reads what it is asked for and applies one
batch. A write that cannot be admitted is taken out before anything is applied, so it never
takes its neighbours down, and takes no stamp. A recorded refusal keeps its stamp.

Sources: DESIGN 2, 3 and 6; settled 1, 5; bitemporal 5; neo4j 4.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cache

from ...resolution.bind import Scorer
from ...resolution.register import Register
from ...schema.claim import Edge, Look, Row
from ...schema.entity import DOUBTED, SUGGESTION, Review
from ...schema.errors import Conflict, InvalidInput, NotFound, TenureError
from ...schema.interval import ALWAYS, Interval
from ...schema.policy import Policy
from ...schema.values import iso, moment
from ...schema.vocabulary import ActionKind, EdgeKind, Outcome, Status
from ...schema.write import Receipt
from ..port.receipts import decode, encode
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
from ..timeline.ledger import Ledger, PlanningSlot
from ..timeline.reconcile import Plan
from .admission import Admitted, Submission, admit
from .backlog import check_backlog
from .declared import declared
from .effects import derivations, hold_action, staleness, stands, tie_action
from .lookups import Gathered, gather

Result = tuple[Receipt, ...] | TenureError
"""The receipts of a submission in the order of its drafts, or why it was refused."""

_RANK = {outcome: place for place, outcome in enumerate(Outcome)}


@dataclass(slots=True)
class _Work:
    """What a transaction has gathered so far; lives for one call."""

    clock: Clock
    found: Gathered
    ledger: Ledger
    results: list[Result | None]
    admitted: list[tuple[int, int, tuple[Admitted, ...]]] = field(
        default_factory=list[tuple[int, int, tuple[Admitted, ...]]]
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
        return self.found.register

    @property
    def last(self) -> int:
        """Return the last stamp of the group."""
        return self.admitted[-1][1]


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
    begun = max([one.stated_tx or now_us for one in group], default=now_us)
    point = Point(max(begun, clock.last_us), clock.last_us)
    found = gather(tx, group, scorer, point=point, policy=policy)
    work = _Work(clock, found, Ledger(clock.next_vid), [None] * len(group))
    _answer_retries(tx, group, work)
    _admit_all(tx, group, work, now_us=now_us, policy=policy, scorer=scorer)
    _drop_known_doubts(tx, work)
    if policy.write.same_origin_corrects:
        _declare(tx, work)
    _load_slots(tx, work)
    for _, stamp, claims in work.admitted:
        _plan_submission(claims, stamp, work)
    _settle_ties(tx, work)
    _flag_dependants(tx, work)
    for place, stamp, claims in work.admitted:
        work.results[place] = tuple(
            _receipt(one, stamp, work, policy, dry_run=dry_run) for one in claims
        )
    if work.admitted and not dry_run:
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
                keys.update([draft.idempotency_key] if draft.idempotency_key else ())
                first = firsts.setdefault(draft.object_id, place)
                if first != place:
                    work.twins[place] = first
    if not ids:
        return
    stored = {receipt.object_id: receipt for receipt in tx.receipts(sorted(keys), sorted(ids))}
    for place, submission in enumerate(group):
        found = [stored[d.object_id] for d in submission.drafts if d.object_id in stored]
        if found:
            work.results[place] = _retry(submission, found)


def _answer_twins(group: Sequence[Submission], work: _Work) -> None:
    """Answer a retry that stood in the same group as the write it repeats."""
    written = {receipt.object_id: receipt for receipt in _stored_receipts(work)}
    for place, first in work.twins.items():
        refused = work.results[first]
        if isinstance(refused, TenureError):
            work.results[place] = refused
            continue
        found = [written[d.object_id] for d in group[place].drafts if d.object_id in written]
        if work.results[place] is None:
            work.results[place] = _retry(group[place], found)


def _retry(submission: Submission, found: Sequence[StoredReceipt]) -> Result:
    prints = {receipt.object_id: receipt.fingerprint for receipt in found}
    same = all(prints.get(d.object_id) == d.fingerprint for d in submission.drafts)
    if not all(receipt.body for receipt in found):
        return NotFound(
            "what this idempotency key wrote was erased; take a new key to write again",
            code="unknown_object",
            object_ids=sorted(prints),
        )
    if same:
        return tuple(decode(receipt.body, replayed=True) for receipt in found)
    return Conflict(
        "this idempotency key was used for another request; retry the first body, or take a "
        "new key",
        code="idempotency_mismatch",
        object_ids=sorted(prints),
    )


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
        attempt = work.register.child()
        try:
            stamp = _stamp(submission, last, now_us)
            claims = admit(
                submission,
                attempt,
                tx=stamp,
                bands=policy.resolution,
                scorer=scorer,
                circle=work.found.circles.get(place),
            )
            if submission.stated_tx is None:
                earlier = (one for _, _, more in work.admitted for one in more)
                check_backlog(waiting, claims, earlier, limit=limit)
        except TenureError as refusal:
            work.results[place] = refusal
            continue
        work.register.absorb(attempt)
        work.found.hear(one.assertion for one in claims)
        work.admitted.append((place, stamp, claims))
        last = stamp
    if work.register.moved:  # a later write may have joined the subject of an earlier one
        work.admitted[:] = [
            (place, stamp, tuple(one.settled(work.register) for one in claims))
            for place, stamp, claims in work.admitted
        ]


def _stamp(submission: Submission, last: int, now_us: int) -> int:
    stated = submission.stated_tx
    if stated is None:
        return max(now_us, last + 1)
    if stated <= last:
        raise InvalidInput(
            f"recorded_at {iso(stated)} is not later than the last transaction {iso(last)}; "
            "a replay takes rising times, and lines of one time in one call",
            code="tx_backwards",
            stated=stated,
            last=last,
        )
    return stated


def _declare(tx: WriteTx, work: _Work) -> None:
    everything = [one for _, _, claims in work.admitted for one in claims]
    declared_ones = iter(declared(tx, everything))
    work.admitted = [
        (place, stamp, tuple(next(declared_ones) for _ in claims))
        for place, stamp, claims in work.admitted
    ]


def _load_slots(tx: WriteTx, work: _Work) -> None:
    """Read the open rows of every slot the group touches, once, over the hull of its spans."""
    reads: dict[PlanningSlot, SlotRead] = {}
    for one in (one for _, _, claims in work.admitted for one in claims):
        if one.assertion.quarantine:
            continue
        span, full = one.assertion.claim.interval, one.assertion.claim.op.withdraws
        known = reads.get(one.planning)
        if known:
            span = Interval(
                min(span.start_us, known.span.start_us), max(span.end_us, known.span.end_us)
            )
            full = full or known.full
        reads[one.planning] = SlotRead(one.slot_keys, span, full)
    for slot, rows in zip(reads, tx.open_rows(tuple(reads.values())), strict=True):
        work.ledger.load(slot, rows)


def _plan_submission(claims: Sequence[Admitted], stamp: int, work: _Work) -> None:
    for one in claims:
        claim = one.assertion.claim
        work.edges += derivations(one.assertion, stamp)
        if one.assertion.quarantine:
            look = Look(Status.QUARANTINED, one.assertion.quarantine, False)
            work.quarantined.append(Row(0, claim, claim.interval, look, stamp))
            work.actions.append(hold_action(one, stamp))
            continue
        done = work.ledger.write(one.planning, claim, many=one.slot.many)
        work.plans[claim.object_id] = done
        work.edges += done.edges
        work.actions += [tie_action(one, tie, stamp) for tie in done.ties]
    work.ledger.settle(stamp)


def _settle_ties(tx: WriteTx, work: _Work) -> None:
    """Close the actions of ties that the group has settled."""
    keys = {
        one.planning: one.slot_keys
        for _, _, claims in work.admitted
        for one in claims
        if one.planning in work.ledger.unsettled
    }
    if not keys:
        return
    # a tie may stand outside what the group has read
    reads = [SlotRead(slot_keys, ALWAYS, full=False) for _, slot_keys in sorted(keys.items())]
    waiting = tx.open_actions(slot_keys=sorted({key for read in reads for key in read.slot_keys}))
    for (slot, slot_keys), stored in zip(sorted(keys.items()), tx.open_rows(reads), strict=True):
        standing = work.ledger.ties(slot, stored)
        for action in (*waiting, *work.actions):
            tied = action.kind is ActionKind.SETTLE_TIE and action.slot_key in slot_keys
            if tied and not stands(action, standing):
                work.closed_actions.append(
                    ActionClosing(action.action_id, work.last, "settled", "reconciliation")
                )


def _flag_dependants(tx: WriteTx, work: _Work) -> None:
    """Flag what was derived from objects that lost what they showed, save by this group."""
    changed = sorted(work.ledger.changed)
    if not changed:
        return
    fresh = {one.draft.object_id for _, _, claims in work.admitted for one in claims}
    stale = [found for found in tx.dependants(changed) if found not in fresh]
    if stale:
        flags, actions = staleness(stale, tx.assertions(stale), work.last)
        work.flags += flags
        work.actions += actions


def _receipt(one: Admitted, stamp: int, work: _Work, policy: Policy, *, dry_run: bool) -> Receipt:
    draft, done = one.draft, work.plans.get(one.draft.object_id)
    outcome = _outcome(one, done)
    at = moment(stamp)
    assert at is not None  # a stamp lies inside the open ends
    return Receipt(
        object_id=draft.object_id,
        tx=at,
        outcome=outcome,
        dry_run=dry_run,
        entity=one.root,
        resolution=one.resolution,
        relations=done.relations if done else (),
        superseded=_superseded(done),
        inserted=len(done.insert) if done else 1,
        actions=tuple(a.action_id for a in work.actions if a.object_id == draft.object_id),
        reviews=tuple(case.review_id for case in one.reviews if case.blocking),
        warnings=_warnings(one, stamp, outcome, policy),
    )


def _outcome(one: Admitted, done: Plan | None) -> Outcome:
    found = {Outcome.QUARANTINED if done is None else done.outcome}
    if one.pending:
        found.add(Outcome.PENDING_REVIEW)
    return min(found, key=lambda outcome: _RANK[outcome])


def _drop_known_doubts(tx: WriteTx, work: _Work) -> None:
    """Open the case of a doubted bind once; what was decided there is not asked again."""
    known: set[str] = set()
    for index, (place, stamp, claims) in enumerate(work.admitted):
        if not any(case.reason == DOUBTED for claim in claims for case in claim.reviews):
            continue
        fresh: list[Admitted] = []
        for claim in claims:
            reviews: list[Review] = []
            for case in claim.reviews:
                is_known = case.review_id in known or tx.review(case.review_id) is not None
                if case.reason != DOUBTED or not is_known:
                    reviews.append(case)
                    known.add(case.review_id)
            fresh.append(replace(claim, reviews=tuple(reviews)))
        work.admitted[index] = place, stamp, tuple(fresh)


def _superseded(done: Plan | None) -> tuple[str, ...]:
    edges = done.edges if done else ()
    return tuple(dict.fromkeys(e.dst for e in edges if e.kind is EdgeKind.SUPERSEDES))


def _warnings(one: Admitted, stamp: int, outcome: Outcome, policy: Policy) -> tuple[str, ...]:
    draft, found = one.draft, list(one.draft.warnings)
    skew = policy.write.skew_limit_s * 1_000_000
    if draft.valid_from is not None and not draft.whole_extent:
        if draft.valid_from > stamp + skew and not draft.details.planned:
            found.append("future_dated")
        elif draft.valid_from < stamp - skew:
            found.append("backdated")
    if outcome is Outcome.CLIPPED:
        found.append("clipped")
    if outcome is Outcome.OVERRIDDEN:
        found.append("hidden_by_stronger")
    if one.resolution and one.resolution.reason == SUGGESTION:
        found.append(SUGGESTION)
    return tuple(found)


def _batch(group: Sequence[Submission], work: _Work) -> Batch:
    everything = [one for _, _, claims in work.admitted for one in claims]
    reviews = tuple(case for one in everything for case in one.reviews)
    held = tuple(
        replace(row, vid=vid) for vid, row in enumerate(work.quarantined, work.ledger.next_vid)
    )
    next_vid = work.ledger.next_vid + len(held)
    stamps = work.clock.seq + len(work.admitted)
    return Batch(
        clock=Clock(stamps, work.last, next_vid, work.clock.vec_seq),
        events=_events(group, work),
        entities=tuple(work.register.entities.values()),
        aliases=tuple(work.register.aliases),
        identifiers=tuple(work.register.identifiers),
        block_keys=work.register.keys,
        slots=tuple({one.slot.slot_key: one.slot for one in everything}.values()),
        claims=tuple(one.assertion for one in everything),
        mentions=tuple(link for one in everything for link in one.mentions),
        close=work.ledger.closings,
        rows=(*work.ledger.rows, *held),
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
    return tuple(
        TxEvent(
            seq=work.clock.seq + number,
            tx=stamp,
            actor=group[place].actor,
            op="replay" if group[place].stated_tx is not None else "write",
            object_ids=tuple(one.draft.object_id for one in claims),
        )
        for number, (place, stamp, claims) in enumerate(work.admitted, 1)
    )


def _stored_receipts(work: _Work) -> tuple[StoredReceipt, ...]:
    found: list[StoredReceipt] = []
    for place, stamp, claims in work.admitted:
        receipts = work.results[place]
        assert isinstance(receipts, tuple)  # an admitted submission has receipts
        for one, receipt in zip(claims, receipts, strict=True):
            found.append(
                StoredReceipt(
                    object_id=receipt.object_id,
                    tx=stamp,
                    body=encode(receipt),
                    idempotency_key=one.draft.idempotency_key,
                    fingerprint=one.draft.fingerprint,
                )
            )
    return tuple(found)
