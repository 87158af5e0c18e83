"""Commit: a group of writes in one transaction, each with its own stamp.

The visible order: lock, retries, look-ups, admission, slots, plans, batch, names. Every store runs
this same code over its `WriteTx`; a store only reads what it is asked for and applies one
batch. A write that cannot be admitted is taken out before anything is applied, so it never
takes its neighbours down, and takes no stamp. A recorded refusal keeps its stamp.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import cache, partial

from ...resolution.bind import Scorer, needs_scoring
from ...resolution.keys import alias_key, as_ref, lookup_of, mentions_of
from ...resolution.register import MentionKey, Register, rules_of
from ...schema.claim import Assertion, Look, Row
from ...schema.entity import DOUBTED, EntityRef, Review
from ...schema.errors import InvalidInput, TenureError
from ...schema.interval import Interval
from ...schema.limits import TIED_CLAIMS
from ...schema.policy import Policy
from ...schema.values import iso
from ...schema.vocabulary import ActionKind, EdgeKind, Status
from ...schema.write import Draft, Submission
from ..port.store import (
    ActionRecord,
    Point,
    SlotRead,
    StoredReceipt,
    WriteTx,
)
from ..timeline.ledger import PlanningSlot, RowLedger
from .admission import AdmittedClaim, admit
from .backlog import check_backlog
from .declared import with_corrections
from .effects import derivations, hold_action, staleness, stands, tie_action
from .expectation import check_expected
from .lookups import ExactMatches, gather
from .naming import name_candidates
from .retries import find_older_keys, receipts_of, retry_answer
from .tied import answers_beside, refuse_crowded_ties
from .work import (
    CommitWork,
    KnownMentions,
    Result,
    batch_of,
    receipt_of,
    stored_receipts_of,
    unnamed_candidates,
)


def commit(
    tx: WriteTx,
    group: Sequence[Submission],
    *,
    now_us: Callable[[], int],
    policy: Policy,
    scorer: Scorer | None = None,
    dry_run: bool = False,
) -> list[Result]:
    """Return what became of each submission, and apply what was admitted as one batch.

    Stamps rise by one microsecond from `max(now, last + 1)`, one a submission; a stated
    replay stamp must be later than the last one. With `dry_run` nothing is applied.
    """
    clock = tx.lock()
    # Asked once nobody else writes: what was read while this one waited must not change.
    began_us = now_us()

    # One look-up serves the whole group, so it is asked as of its latest member.
    times_us = [clock.last_us]
    for submission in group:
        times_us.append(submission.stated_tx or began_us)
    point = Point(max(times_us), clock.last_us)
    mentions = _known_mentions(tx, group, scorer, point=point, policy=policy)
    work = CommitWork(clock, mentions, RowLedger(clock.next_vid), [None] * len(group))

    _answer_retries(tx, group, work)
    _admit_all(tx, group, work, now_us=began_us, policy=policy, scorer=scorer)
    _drop_known_doubts(tx, work)
    if policy.write.same_origin_corrects:
        _declare(tx, work)

    _load_slots(tx, work)

    refusals = refuse_crowded_ties(group, work) if work.may_crowd(TIED_CLAIMS) else {}
    if refusals:
        # Nothing is applied yet: the others begin anew, without stamps for what is refused.
        commit_others = partial(
            commit, tx, now_us=now_us, policy=policy, scorer=scorer, dry_run=dry_run
        )
        return answers_beside(refusals, group, commit_others)

    for _, stamp, claims in work.admissions:
        _plan_submission(claims, stamp, work)

    _settle_ties(tx, work)
    _flag_dependants(tx, work)

    for place, stamp, claims in work.admissions:
        receipts = [receipt_of(claim, stamp, work, policy, dry_run=dry_run) for claim in claims]
        work.results[place] = tuple(receipts)

    if work.admissions and not dry_run:
        tx.apply(batch_of(group, work))

    _answer_twins(group, work)

    return _results(tx, group, work)


def _known_mentions(
    tx: WriteTx,
    group: Sequence[Submission],
    scorer: Scorer | None,
    *,
    point: Point,
    policy: Policy,
) -> KnownMentions:
    """Return what is known of the mentions of a group: exact keys first, no more where they decide.

    Blocking keys and what stands around a mention are most of the cost, and few writes need them.
    """
    drafts: list[Draft] = []
    scopes: set[str] = set()
    for submission in group:
        drafts += submission.drafts
        scopes |= submission.scopes
    scopes.update(draft.details.scope.scope_id for draft in drafts)

    known = tx.known(lookup_of(mentions_of(drafts)), scopes=sorted(scopes), tx_us=point.tx_us)
    register = Register(known)
    doubtful = _doubtful(group, register) if scorer else {}
    if scorer is None or not doubtful:
        return KnownMentions(register)

    exact = ExactMatches(group, known, register, doubtful)
    return gather(tx, exact, scorer, point=point, policy=policy)


def _doubtful(group: Sequence[Submission], register: Register) -> dict[MentionKey, EntityRef]:
    """Return the mentions that no id, identifier or alias decides, each once, as first named."""
    refs: dict[MentionKey, EntityRef] = {}
    for submission in group:
        for draft in submission.drafts:
            rules = rules_of(submission, draft)
            for mention in mentions_of([draft]):
                if not needs_scoring(mention, register, rules):
                    continue
                ref = as_ref(mention)
                refs.setdefault((alias_key(ref.name), ref.type, rules.scopes), ref)

    return refs


def _answer_retries(tx: WriteTx, group: Sequence[Submission], work: CommitWork) -> None:
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
    stored_receipts: dict[str, StoredReceipt] = {}
    for receipt in receipts_found:
        stored_receipts[receipt.object_id] = receipt
    find_older_keys(tx, group, receipts_found, stored_receipts)

    for place, submission in enumerate(group):
        receipts = receipts_of(submission, stored_receipts)
        if receipts:
            work.results[place] = retry_answer(submission, receipts)


def _answer_twins(group: Sequence[Submission], work: CommitWork) -> None:
    """Answer a retry that stood in the same group as the write it repeats."""
    if not work.twins:
        return

    receipts_written: dict[str, StoredReceipt] = {}
    for receipt in stored_receipts_of(work):
        receipts_written[receipt.object_id] = receipt

    for place, first in work.twins.items():
        refusal = work.results[first]
        if isinstance(refusal, TenureError):
            work.results[place] = refusal
            continue
        receipts = receipts_of(group[place], receipts_written)
        if work.results[place] is None:
            work.results[place] = retry_answer(group[place], receipts)


def _results(tx: WriteTx, group: Sequence[Submission], work: CommitWork) -> list[Result]:
    """What the writers of a group are told, which names only what each of them may see."""
    # Not before the batch: what is stored has the names that entities were made with.
    candidates = unnamed_candidates(group, work)
    if candidates:
        name_candidates(tx, group, work, candidates)

    return [result for result in work.results if result is not None]


def _admit_all(
    tx: WriteTx,
    group: Sequence[Submission],
    work: CommitWork,
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
                neighbourhoods=work.mentions.neighbourhoods.get(place, {}),
            )
            if any(draft.expected is not None for draft in submission.drafts):
                check_expected(tx, claims, work.claims, stamp)
            if submission.stated_tx is None and any(claim.reviews for claim in claims):
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


def _declare(tx: WriteTx, work: CommitWork) -> None:
    work.replace_claims(iter(with_corrections(tx, list(work.claims))))


def _load_slots(tx: WriteTx, work: CommitWork) -> None:
    """Read the open rows of every slot the group touches, once, over the hull of its spans."""
    # A quarantined claim never competes, so it needs no row of others.
    reads: dict[PlanningSlot, SlotRead] = {}
    for claim in work.claims:
        if claim.assertion.quarantine:
            continue
        span, full = claim.assertion.claim.interval, claim.assertion.claim.op.withdraws
        known = reads.get(claim.planning)
        if known:
            span = span.hull(known.span)
            full = full or known.full
        reads[claim.planning] = SlotRead(claim.slot_keys, span, full)

    # One call for all slots: a store across a network answers it in one round trip.
    for slot, rows in zip(reads, tx.open_rows(tuple(reads.values())), strict=True):
        work.ledger.load(slot, rows)


def _plan_submission(claims: Sequence[AdmittedClaim], stamp: int, work: CommitWork) -> None:
    """Plan the claims of one submission, each over what the one before it left."""
    ties: list[tuple[AdmittedClaim, ActionRecord]] = []
    for admission in claims:
        claim = admission.assertion.claim
        if admission.assertion.details.derived_from:
            work.edges += derivations(admission.assertion, stamp)

        # It waits for a person: kept in a row of its own, beside the timeline and not in it.
        if admission.assertion.quarantine:
            look = Look(Status.QUARANTINED, admission.assertion.quarantine, False)
            work.quarantined.append(Row(0, claim, claim.interval, look, stamp))
            work.ask(claim.object_id, hold_action(admission, stamp))
            continue

        plan = work.ledger.write(admission.planning, claim, many=admission.slot.many)
        work.plans[claim.object_id] = plan
        work.edges += plan.edges
        rows = work.ledger.slots[admission.planning]
        for tie in plan.ties:
            ties.append((admission, tie_action(admission, tie, rows, stamp)))

    work.ledger.settle(stamp)
    _close_settled(dict.fromkeys(admission.planning for admission in claims), stamp, work)
    _ask_about_ties(ties, work)


def _close_settled(slots: Iterable[PlanningSlot], stamp: int, work: CommitWork) -> None:
    """Close what the group itself has asked about ties that stand no more."""
    for slot in slots:
        actions = work.tie_actions.get(slot)
        if not actions:
            continue

        ties = work.ledger.ties(slot)
        for action in tuple(actions):
            if not stands(action, ties):
                work.close(action, stamp)
                actions.remove(action)


def _ask_about_ties(ties: Sequence[tuple[AdmittedClaim, ActionRecord]], work: CommitWork) -> None:
    """Open the actions of ties that stand at the end of the stamp that made them."""
    for admission, action in ties:
        # The claims of one stamp come at once: whom a later one of them overrides need not be asked
        # about, and no action could open and close at one moment.
        if stands(action, work.ledger.ties(admission.planning)):
            work.ask(admission.draft.object_id, action)
            work.tie_actions.setdefault(admission.planning, []).append(action)


def _settle_ties(tx: WriteTx, work: CommitWork) -> None:
    """Close the stored actions of ties that the group has settled."""
    keys_of_slot: dict[PlanningSlot, tuple[str, ...]] = {}
    for claim in work.claims:
        if claim.planning in work.ledger.unsettled:
            keys_of_slot[claim.planning] = claim.slot_keys
    if not keys_of_slot:
        return

    slot_of_key: dict[str | None, PlanningSlot] = {}
    objects_tied: set[str] = set()
    for slot, slot_keys in keys_of_slot.items():
        slot_of_key.update(dict.fromkeys(slot_keys, slot))
        objects_tied |= work.ledger.unsettled[slot].object_ids

    # The object of an action is one that is tied. Not asked by slot: it may have any number of
    # older ties that wait, which this group leaves as they are.
    actions_of_slot: dict[PlanningSlot, list[ActionRecord]] = {}
    spans: dict[PlanningSlot, Interval] = {}
    for action in tx.open_actions(object_ids=sorted(objects_tied)):
        action_slot = slot_of_key.get(action.slot_key)
        if action_slot is not None and action.kind is ActionKind.SETTLE_TIE:
            actions_of_slot.setdefault(action_slot, []).append(action)
            span = spans.get(action_slot, action.interval)
            spans[action_slot] = span.hull(action.interval)

    # A tie may stand outside what the group has read, so its slots are read over all that their
    # actions ask about; most slots that were written have none that waits, and are not read again.
    asked_slots = sorted(actions_of_slot)
    reads = [SlotRead(keys_of_slot[slot], spans[slot], full=False) for slot in asked_slots]
    if not reads:
        return

    for slot, rows in zip(asked_slots, tx.open_rows(reads), strict=True):
        for moment in work.ledger.unsettled[slot].moments:
            ties = work.ledger.ties(slot, rows, moment=moment)
            for action in tuple(actions_of_slot[slot]):
                if not stands(action, ties):
                    work.close(action, moment.tx)
                    actions_of_slot[slot].remove(action)


def _flag_dependants(tx: WriteTx, work: CommitWork) -> None:
    """Flag what was derived from objects that lost what they showed, at the stamp that took it."""
    changes = work.ledger.changed
    if not changes:
        return

    assertions: dict[str, Assertion] = {}
    said_at: dict[str, int] = {}
    for _, stamp, claims in work.admissions:
        for claim in claims:
            assertions[claim.draft.object_id] = claim.assertion
            said_at[claim.draft.object_id] = stamp

    derived_here = [edge for edge in work.edges if edge.kind is EdgeKind.DERIVED_FROM]
    for stamp, sources in changes.items():
        # What the group itself says is not stored yet, and neither is what it is a source of.
        stored_sources = sorted(sources - said_at.keys())
        lineage = sources.union(tx.dependants(stored_sources) if stored_sources else ())
        for edge in derived_here:  # what is derived stands behind its sources
            if edge.dst in lineage:
                lineage.add(edge.src)

        # What is said at that stamp, or later, is said in the knowledge of it.
        stale_ids = sorted(i for i in lineage - sources if said_at.get(i, 0) < stamp)
        if stale_ids:
            assertions |= tx.assertions([i for i in stale_ids if i not in assertions])
            flags, actions = staleness(stale_ids, assertions, stamp)
            work.flags += flags
            work.actions += actions


def _drop_known_doubts(tx: WriteTx, work: CommitWork) -> None:
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

    for claim in work.claims:
        for case in claim.reviews:
            if case.reason == DOUBTED:
                work.replace_claims(map(without_known, list(work.claims)))
                return
