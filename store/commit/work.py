"""What a transaction has gathered, and what follows from it: receipts, actions and one batch.

`commit` fills a `CommitWork` step by step. The batch lists everything in the order in which it
came, so the same group gives the same batch for every store. A conflict opens an action and its
end closes it; a quarantined claim waits for a review; what was derived from an object that lost
what it showed is flagged stale in the same transaction.

Names in receipts are read once for the group, under its lock. A retry is answered by the receipt
that is stored. Checklist: C-012, C-055, C-072, C-090, C-098.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from operator import attrgetter

from ...resolution.keys import as_ref
from ...resolution.known import Lookup
from ...resolution.names import NameRow, visible_names
from ...resolution.register import Register
from ...schema.claim import Assertion, Claim, Edge, MentionLink, Row
from ...schema.entity import SUGGESTION, Review
from ...schema.errors import Conflict, NotFound, TenureError
from ...schema.interval import Interval
from ...schema.policy import Policy
from ...schema.principal import Sight
from ...schema.slots import RULE_KINDS, RULE_TYPES
from ...schema.values import ENTITY_KEY, canonical_json, moment
from ...schema.vocabulary import ActionKind, Authority, EdgeKind, ObjectType, Outcome
from ...schema.write import Receipt, Submission
from ..port.receipts import decode, encode, receipt_candidates, with_names
from ..port.records import ActionClosing, Flag, StoredReceipt
from ..port.store import ActionRecord, Batch, Clock, SlotRecord, TxEvent, WriteTx
from ..timeline.ledger import PlanningSlot, RowLedger
from ..timeline.reconcile import Plan, Tie
from .admission import AdmittedClaim
from .roots import EntityReads, Roots, raw_value
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

    def roots(self, reads: EntityReads) -> Roots:
        """The canonical ids of entity values, those that the group has joined included."""
        return Roots(reads, self.clock.last_us, self._joined)

    def _joined(self, raw: str) -> str | None:
        return self.register.root(raw) if self.register.entity(raw) is not None else None

    def is_first(self, claim: AdmittedClaim) -> bool:
        """Whether the group has made what a claim is about: a text, or a new entity."""
        if claim.draft.slot_key is not None:
            return False

        raw, slot = claim.slot.subject_id, claim.slot.slot
        members = () if raw is None or slot is None else self.register.members(raw)
        entities = map(self.register.entity, members)
        return all(entity and entity.tx_start > self.clock.last_us for entity in entities)

    def rooted(self, claim: Claim) -> Claim:
        """A claim of the group under the canonical id of its value, which the register knows."""
        raw = raw_value(claim)
        if raw is None or (root := self.register.root(raw)) == raw:
            return claim
        return replace(claim, value_key=ENTITY_KEY + root)

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
    edges = plan.edges if plan else ()
    superseded = dict.fromkeys(edge.dst for edge in edges if edge.kind is EdgeKind.SUPERSEDES)
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
        superseded=tuple(superseded),
        inserted=len(plan.insert) if plan else 1,
        actions=tuple(work.questions.get(draft.object_id, ())),
        reviews=tuple(review_ids),
        warnings=_warnings(admission, stamp, plan, policy),
    )


def _outcome(admission: AdmittedClaim, plan: Plan | None) -> Outcome:
    outcomes = {Outcome.QUARANTINED if plan is None else plan.outcome}
    if admission.pending:
        outcomes.add(Outcome.PENDING_REVIEW)
    return min(outcomes, key=lambda outcome: _RANK[outcome])


def _warnings(
    admission: AdmittedClaim, stamp: int, plan: Plan | None, policy: Policy
) -> tuple[str, ...]:
    draft, warnings = admission.draft, [*admission.draft.warnings, *admission.warnings]
    skew = policy.write.skew_limit_s * 1_000_000
    if draft.valid_from is not None and not draft.whole_extent:
        if draft.valid_from > stamp + skew and not draft.details.planned:
            warnings.append("future_dated")
        elif draft.valid_from < stamp - skew:
            warnings.append("backdated")

    outcome = _outcome(admission, plan)
    if outcome is Outcome.CLIPPED:
        warnings.append("clipped")
    if outcome is Outcome.OVERRIDDEN:
        warnings.append("hidden_by_stronger")
    if plan is not None and plan.withdrew:
        warnings.append("withdrew")
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


def name_candidates(
    tx: WriteTx,
    group: Sequence[Submission],
    work: CommitWork,
    ids_of_place: Mapping[int, Sequence[str]],
) -> None:
    """Name candidates, raw ids by place in the group, as the writer of each place may see them."""
    ids = sorted({raw for place_ids in ids_of_place.values() for raw in place_ids})
    register = work.register
    if not all(map(register.entity, ids)):
        # A retry was answered before anything was looked up.
        lookup = Lookup(entity_ids=tuple(ids), names_only=True)
        register = Register(tx.known(lookup, scopes=(), tx_us=work.last))

    rows_of_root: dict[str, list[NameRow]] = {}
    for row in tx.name_rows(sorted(register.members_of(ids)), tx_us=work.last):
        rows_of_root.setdefault(register.root(row.entity_id), []).append(row)

    for place, place_ids in ids_of_place.items():
        writer, receipts = group[place].writer, work.results[place]
        assert writer is not None  # else nothing of it is to be named
        assert isinstance(receipts, tuple)
        names = _names(place_ids, rows_of_root, register, writer.sight())
        work.results[place] = tuple([with_names(receipt, names) for receipt in receipts])


def _names(
    ids: Sequence[str],
    rows_of_root: Mapping[str, Sequence[NameRow]],
    register: Register,
    sight: Sight,
) -> dict[str, tuple[str, ...]]:
    """The names of entities that a caller may see, by raw id."""
    names: dict[str, tuple[str, ...]] = {}
    for raw in ids:
        root = register.root(raw)
        names[raw] = visible_names(rows_of_root.get(root, ()), register, sight).get(root, ())
    return names


def find_older_keys(
    tx: WriteTx,
    group: Sequence[Submission],
    receipts: Sequence[StoredReceipt],
    by_object: dict[str, StoredReceipt],
) -> None:
    """Find what a draft's key wrote before keys were kept as digests of their caller.

    A migration has made digests of such keys; those of an older export are there as they were.
    """
    by_key: dict[str | None, StoredReceipt] = {}
    for receipt in receipts:
        by_key[receipt.idempotency_key] = receipt

    for submission in group:
        for draft in submission.drafts:
            if draft.plain_key is None or draft.object_id in by_object:
                continue
            older_receipt = by_key.get(draft.idempotency_key) or by_key.get(draft.plain_key)
            if older_receipt is None:
                continue

            # The same key of another caller is another key, and none of that caller's business.
            object_id = older_receipt.object_id
            claim = tx.assertions((object_id,)).get(object_id)
            if claim is None or claim.details.actor == submission.actor:
                by_object[draft.object_id] = older_receipt


def receipts_of(
    submission: Submission, receipts: Mapping[str, StoredReceipt]
) -> list[StoredReceipt]:
    """The stored receipts of a submission's drafts, by their object ids."""
    answers: list[StoredReceipt] = []
    for draft in submission.drafts:
        if draft.object_id in receipts:
            answers.append(receipts[draft.object_id])
    return answers


def retry_answer(
    submission: Submission, receipts: Sequence[StoredReceipt]
) -> tuple[Receipt, ...] | TenureError:
    """What a retry is answered: the first receipts, or why it is none."""
    ids = sorted(receipt.object_id for receipt in receipts)
    for receipt in receipts:
        if not receipt.body:
            return NotFound(
                "what this idempotency key wrote was erased; take a new key to write again",
                code="unknown_object",
                object_ids=ids,
            )

    # The drafts of a submission share their answer, so that they are compared as a whole.
    stored_prints = sorted(receipt.fingerprint for receipt in receipts)
    if stored_prints == sorted(draft.fingerprint for draft in submission.drafts):
        return tuple(decode(receipt.body, replayed=True) for receipt in receipts)
    return Conflict(
        "this idempotency key was used for another request; retry the first body, or take a "
        "new key",
        code="idempotency_mismatch",
        object_ids=ids,
    )


def action_id(object_id: str, kind: ActionKind, interval: Interval) -> str:
    """Return the id of an action: the same for the same object, kind and interval."""
    # From its object, so that a retry or a replay opens the same action and not a second one.
    name = f"{kind.value}/{interval.start_us}/{interval.end_us}"
    return str(uuid.uuid5(uuid.UUID(object_id), name))


def tie_action(claim: AdmittedClaim, tie: Tie, rows: Iterable[Row], stamp: int) -> ActionRecord:
    """Return the action that asks a person to settle a tie (C-072).

    `rows` are those of the slot. The action is about a member of the tie: the claim, or, where it
    took away what stood above a tie of others, the one of them that was written last.
    """
    object_id, slot_key = claim.draft.object_id, claim.slot.slot_key
    opened_id = action_id(object_id, ActionKind.SETTLE_TIE, tie.interval)
    if object_id not in tie.members:
        members = [row.claim for row in rows if row.claim.object_id in tie.members]
        last = max(members, key=attrgetter("order"))
        object_id, slot_key = last.object_id, last.slot_key

    return ActionRecord(
        action_id=opened_id,
        kind=ActionKind.SETTLE_TIE,
        object_id=object_id,
        slot_key=slot_key,
        interval=tie.interval,
        members=tie.members,
        detail=canonical_json({"slot": claim.slot.slot, "entity": claim.root}),
        tx_start=stamp,
    )


def hold_action(claim: AdmittedClaim, stamp: int) -> ActionRecord:
    """Return the action that asks a person to accept or reject a quarantined claim."""
    object_id, interval = claim.draft.object_id, claim.assertion.claim.interval
    return ActionRecord(
        action_id=action_id(object_id, ActionKind.REVIEW_QUARANTINE, interval),
        kind=ActionKind.REVIEW_QUARANTINE,
        object_id=object_id,
        slot_key=claim.slot.slot_key,
        interval=interval,
        members=(object_id,),
        detail=canonical_json({"reason": claim.assertion.quarantine, "entity": claim.root}),
        tx_start=stamp,
    )


def directive_action(claim: AdmittedClaim, stamp: int) -> ActionRecord | None:
    """Return the action that asks a person to confirm what an agent wrote and would direct.

    An agent's word is data until then. Only what a slot shows is asked about: a repetition, and
    what a stronger word hides, changes nothing.
    """
    details, slot = claim.assertion.details, claim.draft.slot
    is_rule = details.object_type in RULE_TYPES or (slot is not None and slot.kind in RULE_KINDS)
    if details.authority_level is not Authority.INFERRED_MEMORY or not is_rule:
        return None
    if claim.assertion.claim.op.withdraws:
        return None

    action = due_action(claim.draft.object_id, ActionKind.CONFIRM_DIRECTIVE, stamp)
    detail = {"slot": claim.slot.slot, "entity": claim.root}
    return replace(action, slot_key=claim.slot.slot_key, detail=canonical_json(detail))


def stands(action: ActionRecord, ties: Iterable[Tie]) -> bool:
    """Tell whether the tie of an action is still among these."""
    return any(
        action.interval.overlaps(tie.interval) and set(action.members) <= set(tie.members)
        for tie in ties
    )


def derivations(assertion: Assertion, stamp: int) -> list[Edge]:
    """Return the edges from an object to what it was derived from."""
    return [
        Edge(
            kind=EdgeKind.DERIVED_FROM,
            src=assertion.claim.object_id,
            dst=source,
            tx=stamp,
        )
        for source in assertion.details.derived_from
    ]


def staleness(
    dependants: Sequence[str], assertions: Mapping[str, Assertion], stamp: int
) -> tuple[list[Flag], list[ActionRecord]]:
    """Return the flags and actions for what was derived from changed objects (C-098)."""
    flags = [Flag(object_id, "stale", True, stamp) for object_id in dependants]
    actions: list[ActionRecord] = []
    for object_id in dependants:
        if object_id in assertions:
            is_belief = assertions[object_id].details.object_type is ObjectType.INFERRED_BELIEF
            kind = ActionKind.REVERIFY_BELIEF if is_belief else ActionKind.REGENERATE_SUMMARY
            actions.append(due_action(object_id, kind, stamp))
    return flags, actions


def due_action(object_id: str, kind: ActionKind, stamp: int) -> ActionRecord:
    """Return an action that has come due for one object; another stamp asks again."""
    return ActionRecord(
        action_id=str(uuid.uuid5(uuid.UUID(object_id), f"{kind.value}/{stamp}")),
        kind=kind,
        object_id=object_id,
        members=(object_id,),
        tx_start=stamp,
    )
