"""Commit a group of writes in one transaction, each with its own stamp.

The order: lock, retries, look-ups, admission, slots, plans, batch, names. Every store runs this
code over its `WriteTx`; a store only reads what it is asked for and applies one batch. A write
that cannot be admitted is taken out before anything is applied, so it does not affect the other
writes and takes no stamp. A recorded refusal keeps its stamp.

Four checks run under the tenant's lock. A write that states `expected` is refused when that value
changed since it was read. With `same_origin_corrects` an assertion replaces what the same origin
said at the same level. A source, which is a writer with an origin, may leave a fixed number of
doubtful names waiting; further ones are refused, because they cost the people who decide. A slot
takes a bounded number of equal claims, because each is compared with every other one. A replay is
exempt from the last two: it is privileged and repeats a history.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import cache, partial

from ...resolution.bind import Scorer, needs_scoring
from ...resolution.identifiers import lookup_of
from ...resolution.keys import alias_key, as_ref, mentions_of
from ...resolution.register import MentionKey, Register, rules_of
from ...schema.claim import Assertion, Claim, Key, Look, Row
from ...schema.entity import DOUBTED, EntityRef, Review
from ...schema.errors import Conflict, InvalidInput, TenureError, Unavailable
from ...schema.interval import Interval
from ...schema.limits import TIED_CLAIMS
from ...schema.policy import Policy, ResolutionPolicy
from ...schema.slots import STRUCTURE_SLOTS
from ...schema.values import CLOCK_SKEW_US, check_not_future, iso
from ...schema.vocabulary import ActionKind, EdgeKind, Op, Outcome, Status
from ...schema.write import ABSENT, Draft, Receipt, Submission
from ..port.records import StoredReceipt
from ..port.store import ActionRecord, Names, Point, SlotRead, WriteTx
from ..port.tables import ACTIONS, RECEIPTS
from ..timeline.ledger import PlanningSlot, RowLedger
from ..timeline.rule import acts_on_own_value
from .admission import AdmittedClaim, admit
from .lookups import ExactMatches, gather
from .roots import raw_value
from .work import (
    CommitWork,
    KnownMentions,
    Result,
    batch_of,
    derivations,
    directive_action,
    find_older_keys,
    hold_action,
    name_candidates,
    receipt_of,
    receipts_of,
    retry_answer,
    staleness,
    stands,
    stored_receipts_of,
    tie_action,
    unnamed_candidates,
)

Waiting = Callable[[str, str], int]
"""How many cases of an actor and an origin are stored and wait, as far as the limit counts."""

_Saying = tuple[bool, str]
"""Whether a claim denies, and its value."""
_Tie = set[_Saying]
_Sayings = dict[tuple[PlanningSlot, Key], _Tie]
"""What is said in a slot by claims of one key."""


def check_backlog(
    waiting: Waiting,
    fresh: Iterable[AdmittedClaim],
    earlier: Iterable[AdmittedClaim],
    *,
    limit: int,
) -> None:
    """Refuse claims that would leave more than `limit` cases of one source waiting.

    `earlier` are the claims that the same transaction has admitted before.

    Raises:
        Unavailable: `review_backlog`.
    """
    new_cases = _cases_by_source(fresh)
    if not new_cases:
        return

    earlier_cases = _cases_by_source(earlier)

    for (actor, origin), count in sorted(new_cases.items()):
        waiting_cases = waiting(actor, origin) + earlier_cases[actor, origin]
        if waiting_cases + count > limit:
            raise Unavailable(
                f"{waiting_cases} doubtful names that {actor} wrote from {origin} wait for a "
                "steward; decide them (tenure review groups), state identifiers, or raise "
                f"policy.resolution.source_backlog above {limit}",
                code="review_backlog",
                origin=origin,
                waiting=waiting_cases,
            )


def _cases_by_source(claims: Iterable[AdmittedClaim]) -> Counter[tuple[str, str]]:
    cases: Counter[tuple[str, str]] = Counter()
    for claim in claims:
        if not claim.reviews:
            continue
        details = claim.assertion.details
        cases[details.actor, details.source_origin] += sum(case.blocking for case in claim.reviews)
    return +cases


def with_corrections(tx: WriteTx, claims: Sequence[AdmittedClaim]) -> list[AdmittedClaim]:
    """Return the claims of a transaction, asserts of a returning origin as corrections."""
    # Heads and denials are enough: what is hidden already is not contradicted again.
    reads: list[SlotRead] = []
    for claim in claims:
        reads.append(SlotRead(claim.slot_keys, claim.assertion.claim.interval, full=False))
    rows_met = tx.open_rows(reads)

    ids_met: set[str] = set()
    for rows in rows_met:
        ids_met.update(row.claim.object_id for row in rows)
    assertions = tx.assertions(sorted(ids_met))

    answers: list[AdmittedClaim] = []
    for claim, rows in zip(claims, rows_met, strict=True):
        interval = claim.assertion.claim.interval
        predecessors: list[Assertion] = []
        for row in rows:
            # One that was erased meanwhile says nothing that could be contradicted.
            if row.claim.object_id in assertions:
                predecessors.append(assertions[row.claim.object_id])
        for answer in answers:
            earlier = answer.assertion.claim.interval
            if answer.planning == claim.planning and earlier.overlaps(interval):
                predecessors.append(answer.assertion)
        if _returns(claim, predecessors):
            corrected = replace(claim.assertion.claim, op=Op.CORRECT)
            claim = replace(claim, assertion=replace(claim.assertion, claim=corrected))
        answers.append(claim)

    return answers


def with_restatements(tx: WriteTx, claims: Sequence[AdmittedClaim]) -> list[AdmittedClaim]:
    """Return the claims, each restatement as a correction of the claim that it restates.

    That is the newest of its origin, slot and start that still stands, the claims of the same
    transaction included; nothing else of the slot moves. Without one it is an assert.
    """
    reads: list[SlotRead] = []
    for claim in claims:
        if claim.draft.restates:
            reads.append(SlotRead(claim.slot_keys, claim.assertion.claim.interval, full=True))
    rows_met = iter(tx.open_rows(reads))

    answers: list[AdmittedClaim] = []
    for claim in claims:
        if not claim.draft.restates:
            answers.append(claim)
            continue
        object_ids = sorted({row.claim.object_id for row in next(rows_met)})
        stored_assertions = list(tx.assertions(object_ids).values())
        earlier = [a.assertion for a in answers if a.planning == claim.planning]
        candidates = [old for old in (*stored_assertions, *earlier) if _is_restated(old, claim)]
        newest = max(candidates, key=lambda old: old.claim.order, default=None)
        answers.append(claim if newest is None else _restating(claim, newest))
    return answers


def _is_restated(old: Assertion, claim: AdmittedClaim) -> bool:
    new = claim.assertion
    return (
        old.claim.op in (Op.ASSERT, Op.CORRECT)
        and old.details.source_origin == new.details.source_origin
        and old.claim.since_us == new.claim.since_us
        and old.claim.value_key != new.claim.value_key
        and not claim.slot.many
    )


def _restating(admission: AdmittedClaim, old: Assertion) -> AdmittedClaim:
    claim = replace(
        admission.assertion.claim,
        op=Op.CORRECT,
        target=old.claim.object_id,
        interval=old.claim.interval,
    )
    return replace(admission, assertion=replace(admission.assertion, claim=claim))


def _returns(claim: AdmittedClaim, before: Sequence[Assertion]) -> bool:
    """Tell whether all that an assert contradicts came from its own origin at its level."""
    assertion = claim.assertion
    contradictions = [a for a in before if a.claim.value_key != assertion.claim.value_key]
    if not contradictions or assertion.claim.op is not Op.ASSERT or claim.slot.many:
        return False
    return all(
        a.details.source_origin == assertion.details.source_origin
        and a.claim.level == assertion.claim.level
        for a in contradictions
    )


def check_expected(
    tx: WriteTx, claims: Sequence[AdmittedClaim], earlier: Iterable[AdmittedClaim], stamp: int
) -> None:
    """Refuse a submission that expects another value than the one that stands.

    Raises:
        Conflict: `stale_version`.
        InvalidInput: `bad_field`, for a text, or a slot that holds many values.
    """
    predecessors = list(earlier)
    for claim in claims:
        if claim.draft.expected is not None:
            _check(tx, claim, predecessors, stamp)
        predecessors.append(claim)


def _check(
    tx: WriteTx, claim: AdmittedClaim, predecessors: Sequence[AdmittedClaim], stamp: int
) -> None:
    if claim.slot.slot is None or claim.slot.many:
        raise InvalidInput(
            "expected compares the one value of a slot; a text, or a slot of many values, has none",
            code="bad_field",
            field="expected",
        )

    # The group is written as one batch, so who comes before in it is in no row yet.
    overtaken = any(predecessor.planning == claim.planning for predecessor in predecessors)
    precondition: set[str | None] = {claim.draft.expected} - {ABSENT}
    if overtaken or _deciding_objects(tx, claim, stamp) != precondition:
        raise Conflict(
            "the value changed after it was read; read it again and retry",
            code="stale_version",
            expected=claim.draft.expected,
        )


def _deciding_objects(tx: WriteTx, claim: AdmittedClaim, stamp: int) -> set[str]:
    now = SlotRead(claim.slot_keys, Interval(stamp, stamp + 1), full=False)
    (rows,) = tx.open_rows((now,))
    return {row.claim.object_id for row in rows if row.look.head and stamp in row.interval}


def refuse_crowded_ties(group: Sequence[Submission], work: CommitWork) -> dict[int, Result]:
    """The refusals of writes that would join a tie of more than `TIED_CLAIMS` members, by place.

    Asked when the slots' open rows are read and nothing is planned.
    """
    refusals: dict[int, Result] = {}
    sayings: _Sayings = {}
    for place, _, claims in work.admissions:
        if group[place].stated_tx is not None:
            continue
        additions: list[tuple[_Tie, _Saying]] = []
        for admission in claims:
            rows = work.ledger.slots.get(admission.planning, ())
            tie, saying = _tie_of(admission, rows, sayings), admission.assertion.claim.says
            if tie is None or saying in tie:
                continue
            tie.add(saying)
            additions.append((tie, saying))
            if len(tie) > TIED_CLAIMS:
                refusals[place] = _refusal(admission, len(tie) - 1)
                break

        # What is refused is not written, so that it counts against nobody behind it.
        for tie, saying in additions if place in refusals else ():
            tie.discard(saying)

    return refusals


def _tie_of(admission: AdmittedClaim, rows: Sequence[Row], sayings: _Sayings) -> _Tie | None:
    """What claims of one key say where this one is written; None for one that joins no tie."""
    claim = admission.assertion.claim
    if admission.slot.many or admission.assertion.quarantine or claim.op.withdraws:
        return None

    key = (admission.planning, claim.key)
    if key not in sayings:
        sayings[key] = _stored_sayings(rows, claim)
    return sayings[key]


def _stored_sayings(rows: Sequence[Row], claim: Claim) -> _Tie:
    # Most slots hold a row or two: no key of theirs is worked out.
    if len(rows) < TIED_CLAIMS // 2:
        return set()

    return {row.claim.says for row in rows if row.look.head and row.claim.key == claim.key}


def _refusal(admission: AdmittedClaim, members: int) -> Conflict:
    slot = admission.slot.slot
    return Conflict(
        f"{members} claims about {slot!r} that begin at one time are equally strong already, and "
        f"{TIED_CLAIMS} are the most; settle their action (tenure actions), state when each "
        f"begins to hold, write `correct`, or define {slot!r} with cardinality many",
        code="conflict_too_large",
        slot=slot,
        members=members,
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
    names = _names_of(group, policy.resolution)
    clock = tx.lock(names)
    # Asked once nobody else writes: what was read while this one waited must not change.
    began_us = now_us()

    # One look-up serves the whole group, so it is asked as of its latest member.
    latest_us = max([clock.last_us, *(member.stated_tx or began_us for member in group)])
    point = Point(latest_us, clock.last_us)
    known = tx.known(names.lookup, scopes=names.scopes, tx_us=point.tx_us)
    mentions = KnownMentions(Register(known))
    # Blocking keys and the context of a mention cost most, and few writes need them.
    doubtful = _doubtful(group, mentions.register, policy.resolution) if scorer else {}
    if scorer and doubtful:
        exact = ExactMatches(group, known, mentions.register, doubtful)
        mentions = gather(tx, exact, scorer, point=point, policy=policy)
    work = CommitWork(clock, mentions, RowLedger(clock.next_vid), [None] * len(group))

    _answer_retries(tx, group, work)
    _admit_all(tx, group, work, now_us=began_us, policy=policy, scorer=scorer)
    _drop_known_doubts(tx, work)
    if policy.write.same_origin_corrects:
        work.replace_claims(iter(with_corrections(tx, list(work.claims))))
    if any(claim.draft.restates for claim in work.claims):
        work.replace_claims(iter(with_restatements(tx, list(work.claims))))

    _load_slots(tx, work)

    refusals = refuse_crowded_ties(group, work) if work.may_crowd(TIED_CLAIMS) else {}
    if refusals:
        # Nothing is applied yet: the others begin again, without stamps for what is refused.
        accepted = [submission for place, submission in enumerate(group) if place not in refusals]
        results = iter(
            commit(tx, accepted, now_us=now_us, policy=policy, scorer=scorer, dry_run=dry_run)
        )
        return [refusals.get(place) or next(results) for place in range(len(group))]

    for _, stamp, claims in work.admissions:
        _plan_submission(claims, stamp, work)

    _settle_ties(tx, work)
    _flag_dependants(tx, work)

    withdrawals = _withdrawals(tx, group, work)
    for place, stamp, claims in work.admissions:
        receipts: list[Receipt] = []
        for claim in claims:
            detail = withdrawals.get(claim.draft.object_id, "")
            receipt = receipt_of(claim, stamp, work, policy, dry_run=dry_run)
            receipts.append(replace(receipt, detail=detail) if detail else receipt)
        work.results[place] = tuple(receipts)

    if work.admissions and not dry_run:
        tx.apply(batch_of(group, work))

    _answer_twins(group, work)

    # Not before the batch: what is stored has the names that entities were made with.
    candidates = unnamed_candidates(group, work)
    if candidates:
        name_candidates(tx, group, work, candidates)
    return [result for result in work.results if result is not None]


def _names_of(group: Sequence[Submission], bands: ResolutionPolicy) -> Names:
    """The exact keys of the mentions of a group, the scopes of their aliases, and its own keys."""
    drafts: list[Draft] = []
    scopes: set[str] = set()
    for submission in group:
        drafts += submission.drafts
        scopes |= submission.scopes

    keys: set[str] = set()
    for draft in drafts:
        scopes.add(draft.details.scope.scope_id)
        keys.update(filter(None, (draft.idempotency_key, draft.plain_key)))
    lookup = lookup_of(mentions_of(drafts), bands.attributes)
    return Names(lookup, tuple(sorted(scopes)), tuple(sorted(keys)))


def _doubtful(
    group: Sequence[Submission], register: Register, bands: ResolutionPolicy
) -> dict[MentionKey, EntityRef]:
    """Return the mentions that no id, identifier or alias decides, each once, as first named."""
    refs: dict[MentionKey, EntityRef] = {}
    for submission in group:
        for draft in submission.drafts:
            rules = rules_of(submission, draft, bands)
            # The subject of a structure has an identifier of the store, so no name is scored.
            mentions = () if draft.details.slot in STRUCTURE_SLOTS else mentions_of([draft])
            for mention in mentions:
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
                # The key makes the id, so one question finds what a key has written.
                draft_keys = set(filter(None, (draft.idempotency_key, draft.plain_key)))
                keys |= draft_keys
                if not draft_keys:
                    ids.add(draft.object_id)
                first = firsts.setdefault(draft.object_id, place)
                if first != place:
                    work.twins[place] = first

    if not firsts:
        return

    receipts_found = (
        *tx.find(RECEIPTS, "object_id", sorted(ids)),
        *tx.find(RECEIPTS, "idempotency_key", sorted(keys)),
    )
    stored_receipts: dict[str, StoredReceipt] = {}
    for receipt in receipts_found:
        stored_receipts[receipt.object_id] = receipt
    find_older_keys(tx, group, receipts_found, stored_receipts)

    for place, submission in enumerate(group):
        receipts = receipts_of(submission, stored_receipts)
        if receipts:
            work.results[place] = retry_answer(submission, receipts)


def _answer_twins(group: Sequence[Submission], work: CommitWork) -> None:
    """Answer a retry that was in the same group as the write it repeats."""
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
            version = submission.vocabulary
            if version is not None and version < tx.vocabulary_version():
                raise Conflict("the vocabulary was extended; retry", code="stale_version")
            stamp = _stamp(submission, last, now_us)
            claims = admit(
                submission,
                attempt,
                tx=stamp,
                bands=policy.resolution,
                scorer=scorer,
                neighbourhoods=work.mentions.neighbourhoods.get(place, {}),
                reads=tx,
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
    check_not_future(stated_us, now_us + CLOCK_SKEW_US, "recorded_at is")

    return stated_us


def _load_slots(tx: WriteTx, work: CommitWork) -> None:
    """Read the open rows of every slot the group touches, once, over the hull of its spans."""
    # A quarantined claim never competes, so it needs no row of others, and neither does one of
    # which nothing can be stored.
    reads: dict[PlanningSlot, SlotRead] = {}
    values_of: dict[PlanningSlot, dict[str | None, bool]] = {}
    for claim in work.claims:
        if claim.assertion.quarantine or work.is_first(claim):
            continue
        stated = claim.assertion.claim
        span, full = stated.interval, stated.op.withdraws
        values = values_of.setdefault(claim.planning, {})
        # An entity value may be stored under the id of any member of its entity.
        is_own = claim.slot.many and acts_on_own_value(stated) and raw_value(stated) is None
        values[stated.value_key if is_own else None] = True
        known = reads.get(claim.planning)
        if known:
            span = span.hull(known.span)
            full = full or known.full
        reads[claim.planning] = SlotRead(claim.slot_keys, span, full)

    for slot, values in values_of.items():
        # One that acts on every value needs the rows of every value.
        own_values = () if None in values else tuple(filter(None, values))
        reads[slot] = replace(reads[slot], values=own_values)

    # One call for all slots: a store across a network answers it in one round trip.
    roots = work.roots(tx)
    for slot, rows in zip(reads, tx.open_rows(tuple(reads.values())), strict=True):
        work.ledger.load(slot, roots.rows(rows))


def _plan_submission(claims: Sequence[AdmittedClaim], stamp: int, work: CommitWork) -> None:
    """Plan the claims of one submission, each over what the one before it left."""
    ties: list[tuple[AdmittedClaim, ActionRecord]] = []
    for admission in claims:
        claim = admission.assertion.claim
        if admission.assertion.details.derived_from:
            work.edges += derivations(admission.assertion, stamp)

        # It waits for a person: kept in a row of its own, next to the timeline and not in it.
        if admission.assertion.quarantine:
            look = Look(Status.QUARANTINED, admission.assertion.quarantine, False)
            work.quarantined.append(Row(0, claim, claim.interval, look, stamp))
            work.ask(claim.object_id, hold_action(admission, stamp))
            continue

        claim = work.rooted(claim)
        plan = work.ledger.write(admission.planning, claim, many=admission.slot.many)
        work.plans[claim.object_id] = plan
        work.edges += plan.edges
        if plan.outcome is Outcome.ACCEPTED:
            question = directive_action(admission, stamp)
            if question is not None:
                work.ask(claim.object_id, question)
        rows = work.ledger.slots[admission.planning]
        for tie in plan.ties:
            ties.append((admission, tie_action(admission, tie, rows, stamp)))

    work.ledger.settle(stamp)
    _close_settled(dict.fromkeys(admission.planning for admission in claims), stamp, work)
    for admission, action in ties:
        # The claims of one stamp come together. About a tie that a later one of them ends nobody is
        # asked, because no action can open and close at the same moment.
        if stands(action, work.ledger.ties(admission.planning)):
            work.ask(admission.draft.object_id, action)
            work.tie_actions.setdefault(admission.planning, []).append(action)


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
    for action in tx.find(ACTIONS, "object_id", sorted(objects_tied), open_only=True):
        action_slot = slot_of_key.get(action.slot_key)
        if action_slot is not None and action.kind is ActionKind.SETTLE_TIE:
            actions_of_slot.setdefault(action_slot, []).append(action)
            span = spans.get(action_slot, action.interval)
            spans[action_slot] = span.hull(action.interval)

    # A tie may be outside what the group has read, so its slots are read over all that their
    # actions ask about; most slots that were written have none that waits, and are not read again.
    asked_slots = sorted(actions_of_slot)
    reads = [SlotRead(keys_of_slot[slot], spans[slot], full=False) for slot in asked_slots]
    if not reads:
        return

    roots = work.roots(tx)
    for slot, stored_rows in zip(asked_slots, tx.open_rows(reads), strict=True):
        rows = roots.rows(stored_rows)
        for moment in work.ledger.unsettled[slot].moments:
            ties = work.ledger.ties(slot, rows, moment=moment)
            for action in tuple(actions_of_slot[slot]):
                if not stands(action, ties):
                    work.close(action, moment.tx)
                    actions_of_slot[slot].remove(action)


def _withdrawals(tx: WriteTx, group: Sequence[Submission], work: CommitWork) -> dict[str, str]:
    """What each correction took back along with what it corrects, in a sentence by object."""
    object_ids: set[str] = set()
    for plan in work.plans.values():
        object_ids.update(row.claim.object_id for row in plan.withdrew)
    if not object_ids:
        return {}

    assertions = {claim.draft.object_id: claim.assertion for claim in work.claims}
    assertions |= tx.assertions(sorted(object_ids - assertions.keys()))
    sentences: dict[str, str] = {}
    for place, _, claims in work.admissions:
        for claim in claims:
            own_plan = work.plans.get(claim.draft.object_id)
            if own_plan is None or not own_plan.withdrew:
                continue
            sight = rules_of(group[place], claim.draft).sight
            lines: list[str] = []
            for row in own_plan.withdrew:
                assertion = assertions[row.claim.object_id]
                content, interval = assertion.content, row.interval
                is_visible = sight is None or assertion.is_visible(sight)
                text = content.normalized_claim or content.text if is_visible else "withheld"
                span = f"{iso(interval.start_us)} to {iso(interval.end_us) or 'now'}"
                lines.append(f"{text} ({span}, {row.claim.object_id})")
            sentences[claim.draft.object_id] = f"no longer shown: {'; '.join(lines)}"
    return sentences


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
        for edge in derived_here:  # what is derived comes after its sources
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
