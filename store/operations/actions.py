"""Actions: how a person's yes or no settles what waits in the resolver queue.

`resolve` settles an entry in one transaction, whatever its kind but one: a tie is settled by an
ordinary `correct` over its interval, so that authority and receipts are those of any write.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ...schema.answers import ActionReceipt
from ...schema.claim import UNKNOWN_AUTHOR, Assertion, Authorship, Claim, Edge, Look, Row
from ...schema.errors import Conflict, Forbidden, InvalidInput, NotFound
from ...schema.interval import ALL_TIME, INF_US, Interval
from ...schema.policy import ResolutionPolicy
from ...schema.vocabulary import ActionKind, Authority, EdgeKind, JudgedBy, Op, Status
from ...schema.write import Receipt
from ..commit.roots import Roots
from ..commit.work import derivations
from ..port.receipts import encode
from ..port.store import ActionRecord, SlotRead, WriteTx
from ..port.tables import ACTIONS
from ..timeline.reconcile import Plan
from .change import Mandate, OperationChange, begin, derived_id, unknown_object
from .erase import erase_objects
from .merge import merge_at
from .naming import next_ordinal
from .replan import flag_dependants, groups_for, note_ties
from .sweep import archive

_CONFIRMATION = "user://confirmation"
_MARKS = {ActionKind.REVERIFY_BELIEF: "stale", ActionKind.REGENERATE_SUMMARY: "stale"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Powers:
    """What the caller brings to a decision."""

    may_erase: bool = False
    confirmer: Authorship = UNKNOWN_AUTHOR
    """As whom a confirmed directive is asserted."""
    judged_by: JudgedBy = JudgedBy.HUMAN


@dataclass(frozen=True, slots=True)
class _Decision:
    """A word about one entry of the queue, and the change that carries it out."""

    tx: WriteTx
    change: OperationChange
    action: ActionRecord
    accept: bool
    powers: Powers

    def receipt(self, object_ids: tuple[str, ...] = ()) -> ActionReceipt:
        return ActionReceipt(
            action_id=self.action.action_id,
            kind=self.action.kind,
            outcome=self.change.closed_actions[self.action.action_id],
            tx=self.change.at,
            object_ids=object_ids,
        )

    def apply(self, object_ids: tuple[str, ...] = ()) -> ActionReceipt:
        self.tx.apply(self.change.batch())
        return self.receipt(object_ids)


def resolve(
    tx: WriteTx,
    action_id: str,
    *,
    accept: bool,
    mandate: Mandate,
    policy: ResolutionPolicy,
    powers: Powers,
) -> ActionReceipt | Conflict:
    """Settle an action of any kind but a tie.

    Accepting confirms, releases from quarantine, lifts a stale mark, erases what waits for
    approval (with `may_erase`) or lifts the judgement that blocks a merge and merges.
    Rejecting archives, keeps out, keeps archived or keeps apart.

    Raises:
        NotFound: `unknown_action`, `unknown_object`.
        Conflict: `already_decided`, `cluster_too_large`.
        InvalidInput: `wrong_action` for a tie.
        Forbidden: `privilege_required` to approve a hard delete.
    """
    clock = tx.lock()
    action = _open_action(tx, action_id)
    if action.kind is ActionKind.SETTLE_TIE:
        raise InvalidInput(
            "a tie is settled by winner= or value=, not by accept=", code="wrong_action"
        )

    change = begin(clock, mandate, f"settle_{action.kind.value}")
    change.close_actions((action,), "accepted" if accept else "rejected")
    decision = _Decision(tx, change, action, accept, powers)

    if action.kind is ActionKind.MERGE_CONFLICT:
        return _merge_after_all(decision, policy)
    if action.kind is ActionKind.RETIRE_APPROVAL:
        return _approve_erasure(decision)

    assertion = tx.assertions((action.object_id,)).get(action.object_id)
    if assertion is None:
        raise unknown_object(action.object_id)
    if action.kind is ActionKind.REVIEW_QUARANTINE:
        object_ids = _release(decision, assertion)
    elif action.kind is ActionKind.CONFIRM_DIRECTIVE:
        object_ids = _confirm_directive(decision, assertion)
    else:
        object_ids = _confirm(decision, assertion)

    change.objects += object_ids
    return decision.apply(object_ids)


def reopen(tx: WriteTx, action_id: str, *, mandate: Mandate) -> ActionReceipt:
    """Ask again what a decision has settled, in a new entry of the queue.

    What the decision wrote is retracted by the caller. The settled entry stays in the history.

    Raises:
        NotFound: `unknown_action`.
        InvalidInput: `wrong_action` for an action that is open.
    """
    change = begin(tx.lock(), mandate, "reopen_action")
    action = _stored_action(tx, action_id)
    if action.tx_end == INF_US:
        raise InvalidInput(f"action {action_id} is open: nothing is undone", code="wrong_action")

    members = tx.assertions(action.members)
    if len(members) < len(action.members):
        raise unknown_object(action.object_id)

    new_ids: dict[str, str] = {}
    if action.kind is ActionKind.REVIEW_QUARANTINE:
        assertion = members[action.object_id]
        look = Look(Status.QUARANTINED, assertion.quarantine, False)
        claim = assertion.claim
        change.quarantined_rows.append(Row(0, claim, claim.interval, look, change.stamp))
    elif not tx.rows_of(action.members):
        new_ids = _assert_again(tx, change, members)

    # The members of a tie that are asserted again tie again, and that asks by itself.
    if action.kind is not ActionKind.SETTLE_TIE:
        again = replace(
            action,
            action_id=derived_id(action_id, f"reopened/{change.stamp}"),
            object_id=new_ids.get(action.object_id, action.object_id),
            members=tuple(new_ids.get(member, member) for member in action.members),
            tx_start=change.stamp,
            tx_end=INF_US,
            outcome="",
            closed_by="",
        )
        change.actions.append(again)
    change.objects.append(action.object_id)
    tx.apply(change.batch())
    open_id = change.actions[0].action_id if change.actions else action_id
    return ActionReceipt(action_id=open_id, kind=action.kind, outcome="reopened", tx=change.at)


def _assert_again(
    tx: WriteTx, change: OperationChange, members: Mapping[str, Assertion]
) -> dict[str, str]:
    """Assert what a decision has replaced, under new ids; return them by the old ones."""
    new_ids: dict[str, str] = {}
    assertions: list[Assertion] = []
    for object_id, member in members.items():
        new_ids[object_id] = derived_id(object_id, f"again/{change.stamp}")
        claim = replace(
            member.claim, object_id=new_ids[object_id], tx=change.stamp, ordinal=len(assertions)
        )
        assertions.append(replace(member, claim=claim))
        change.objects.append(claim.object_id)
    _assert(tx, change, assertions)
    return new_ids


def _stored_action(tx: WriteTx, action_id: str) -> ActionRecord:
    """An entry of the resolver queue, open or closed."""
    for action in tx.find(ACTIONS, "action_id", (action_id,)):
        return action
    raise NotFound(
        f"there is no action {action_id}; list them with `tenure actions list --status all` "
        "(actions.list('all'))",
        code="unknown_action",
    )


def _open_action(tx: WriteTx, action_id: str) -> ActionRecord:
    action = _stored_action(tx, action_id)
    if action.tx_end != INF_US:
        raise Conflict(
            f"action {action_id} was settled already ({action.outcome} by {action.closed_by})",
            code="already_decided",
            outcome=action.outcome,
        )
    return action


def _confirm(decision: _Decision, assertion: Assertion) -> tuple[str, ...]:
    """Confirm what a person vouches for, else archive it; either way its mark is lifted."""
    tx, change, action = decision.tx, decision.change, decision.action
    object_id = assertion.claim.object_id
    change.flag(object_id, _MARKS.get(action.kind, "confirm_due"), on=False)

    # One word answers every open question of the kind about this object.
    for question in tx.find(ACTIONS, "object_id", (object_id,), open_only=True):
        if question.kind is action.kind:
            change.close_actions((question,), change.closed_actions[action.action_id])

    if not decision.accept:
        return (object_id, *archive(tx, change, (assertion,)))
    if action.kind is ActionKind.CONFIRM_DUE:
        change.edges.append(_confirmation(object_id, assertion.claim.interval, change.stamp))
    return (object_id,)


def _confirmation(object_id: str, interval: Interval, stamp: int) -> Edge:
    """The edge of a person's word for a claim: it confirms itself, and its age starts again."""
    return Edge(
        kind=EdgeKind.CONFIRMS,
        src=object_id,
        dst=object_id,
        interval=interval,
        reason="confirmed",
        relation="equals",
        tx=stamp,
    )


def _release(decision: _Decision, assertion: Assertion) -> tuple[str, ...]:
    """Close the rows of a quarantined claim and, if accepted, assert the same again."""
    tx, change = decision.tx, decision.change
    object_id = assertion.claim.object_id
    change.closed_rows += tx.rows_of((object_id,))
    if not decision.accept:
        return ()

    # An accepted claim competes from now on. It does not retract other claims.
    claim = _new_claim(decision, assertion.claim)
    release = replace(assertion, claim=claim, quarantine="")
    _teach(tx, change, release, object_id)
    change.objects.append(object_id)
    _assert(tx, change, [release])
    return (claim.object_id,)


def _confirm_directive(decision: _Decision, assertion: Assertion) -> tuple[str, ...]:
    """If accepted, assert an agent's directive as the confirmer's own; else it stays data."""
    if not decision.accept:
        return ()

    claim = _new_claim(decision, assertion.claim)
    claim = replace(claim, level=int(Authority.USER), since_us=claim.interval.start_us)
    details = replace(
        assertion.details,
        authority_level=Authority.USER,
        source_origin=_CONFIRMATION,
        source_kind="user_statement",
        derived_from=(),
        origins=(_CONFIRMATION,),
        actor=decision.change.mandate.actor,
        authorship=decision.powers.confirmer,
    )
    directive = replace(assertion, claim=claim, details=details)
    _assert(decision.tx, decision.change, [directive])
    return (claim.object_id,)


def _new_claim(decision: _Decision, claim: Claim) -> Claim:
    """The claim that a decision asserts; another decision about the same makes another one."""
    return replace(
        claim,
        object_id=derived_id(decision.action.action_id, "decided"),
        op=Op.ASSERT if claim.op is Op.CORRECT else claim.op,
        tx=decision.change.stamp,
        ordinal=0,
    )


def _assert(tx: WriteTx, change: OperationChange, assertions: Sequence[Assertion]) -> None:
    """Write claims of one slot over its rows, each with its receipt."""
    slot_keys = [assertion.claim.slot_key for assertion in assertions]
    (group,) = groups_for(tx, slot_keys, change.clock.last_us)
    (rows,) = tx.open_rows((SlotRead(group.keys, ALL_TIME, full=True),))
    roots = Roots(tx, change.clock.last_us)
    rows = roots.rows(rows)
    change.ledger.load(group.planning, rows)
    plans: list[Plan] = []
    for assertion in assertions:
        (claim,) = roots.claims((assertion.claim,))
        plans.append(change.ledger.write(group.planning, claim, many=group.many))
        change.claims.append(assertion)
        change.edges += plans[-1].edges
        change.edges += derivations(assertion, change.stamp)
    change.ledger.settle(change.stamp)
    note_ties(tx, change, group, rows)
    ids = [assertion.claim.object_id for assertion in assertions]
    flag_dependants(tx, change, excluding=(*ids, *change.objects))

    for object_id, effect in zip(ids, plans, strict=True):
        superseded: dict[str, None] = {}
        for edge in effect.edges:
            if edge.kind is EdgeKind.SUPERSEDES:
                superseded[edge.dst] = None
        receipt = Receipt(
            object_id=object_id,
            tx=change.at,
            outcome=effect.outcome,
            entity=group.planning[0] if group.planning[1] else None,
            relations=effect.relations,
            superseded=tuple(superseded),
            inserted=len(effect.insert),
            actions=change.action_ids,
        )
        change.keep(object_id, encode(receipt))


def _teach(tx: WriteTx, change: OperationChange, release: Assertion, quarantined_id: str) -> None:
    """Let a released claim teach the names that were shown to nobody while it was quarantined."""
    details = release.details
    ends = list(filter(None, (details.subject_id, details.value_entity_id)))
    aliases = tx.entities(ends, tx_us=change.clock.last_us).aliases if ends else ()
    for alias in aliases:
        if alias.object_id == quarantined_id:
            change.aliases.append(
                replace(
                    alias,
                    ordinal=next_ordinal(tx, change, alias.norm, alias.scope_id),
                    tx_start=change.stamp,
                    object_id=release.claim.object_id,
                )
            )


def _approve_erasure(decision: _Decision) -> ActionReceipt:
    if not decision.accept:
        return decision.apply()
    if not decision.powers.may_erase:
        raise Forbidden(
            "a hard delete needs the privilege to erase; ask an owner or administrator",
            code="privilege_required",
        )

    change = decision.change
    order = replace(change.mandate, reason=change.mandate.reason or "retired")
    # The erasure closes the action itself, with everything else that waits for the object.
    receipt, _ = erase_objects(decision.tx, change.clock, (decision.action.object_id,), order)
    answer = decision.receipt(receipt.object_ids)
    return replace(answer, erasure=receipt, tx=receipt.tx)


def _merge_after_all(decision: _Decision, policy: ResolutionPolicy) -> ActionReceipt | Conflict:
    """Lift the judgement that keeps two entities apart, and make them one in the same step."""
    if not decision.accept:
        return decision.apply()

    merge_receipt = merge_at(
        decision.tx,
        decision.change.clock,
        *decision.action.members,
        mandate=decision.change.mandate,
        policy=policy,
        judged_by=decision.powers.judged_by,
        judgement_ids=(decision.action.object_id,),
        base_change=decision.change,
    )
    if isinstance(merge_receipt, Conflict):
        return merge_receipt
    if merge_receipt.replayed:  # they became one in another way, so the merge has written nothing
        decision.tx.apply(decision.change.batch())
    return replace(decision.receipt(), merge=merge_receipt)
