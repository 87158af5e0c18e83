"""Actions: how a person's yes or no settles what waits in the resolver queue.

`resolve` settles an entry in one transaction, whatever its kind but one: a tie is settled by an
ordinary `correct` over its interval, so that authority and receipts are those of any write.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from ...schema.claim import Assertion, Edge
from ...schema.errors import Conflict, Forbidden, InvalidInput, NotFound
from ...schema.interval import ALL_TIME, INF_US, Interval
from ...schema.operation import ActionReceipt
from ...schema.policy import ResolutionPolicy
from ...schema.vocabulary import ActionKind, EdgeKind, JudgedBy, Op
from ...schema.write import Receipt
from ..commit.effects import derivations
from ..port.receipts import encode
from ..port.store import ActionRecord, SlotRead, WriteTx
from .change import Mandate, OperationChange, begin, derived_id, unknown_object
from .erase import erase_objects
from .merge import merge_at
from .naming import next_ordinal
from .replan import flag_dependants, groups_for, note_ties
from .retire import archive

_MARKS = {ActionKind.REVERIFY_BELIEF: "stale", ActionKind.REGENERATE_SUMMARY: "stale"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Powers:
    """What the caller brings to a decision."""

    may_erase: bool = False
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
    else:
        object_ids = _confirm(decision, assertion)

    change.objects += object_ids
    return decision.apply(object_ids)


def _open_action(tx: WriteTx, action_id: str) -> ActionRecord:
    action = tx.action(action_id)
    if action is None:
        raise NotFound(
            f"there is no action {action_id}; list the open ones with `tenure actions list` "
            "(actions.list())",
            code="unknown_action",
        )
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
    for question in tx.open_actions(object_ids=(object_id,)):
        if question.kind is action.kind:
            change.close_actions((question,), change.closed_actions[action.action_id])

    if not decision.accept:
        return (object_id, *archive(tx, change, (assertion,)))
    if action.kind is ActionKind.CONFIRM_DUE:
        change.edges.append(_confirmation(object_id, assertion.claim.interval, change.stamp))
    return (object_id,)


def _confirmation(object_id: str, interval: Interval, stamp: int) -> Edge:
    """The edge of a person's word for a claim: it confirms itself, and its age starts anew."""
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
    """Close the rows of a quarantined claim and, if accepted, assert the same anew."""
    tx, change = decision.tx, decision.change
    object_id = assertion.claim.object_id
    change.closed_rows += tx.rows_of((object_id,))
    if not decision.accept:
        return ()

    # What was set apart may compete from now on, but it withdraws nobody's claim.
    claim = replace(
        assertion.claim,
        object_id=derived_id(object_id, "released"),
        op=Op.ASSERT if assertion.claim.op is Op.CORRECT else assertion.claim.op,
        tx=change.stamp,
        ordinal=0,
    )
    release = replace(assertion, claim=claim, quarantine="")

    (group,) = groups_for(tx, (claim.slot_key,), change.clock.last_us)
    (rows,) = tx.open_rows((SlotRead(group.keys, ALL_TIME, full=True),))
    change.ledger.load(group.planning, rows)
    effect = change.ledger.write(group.planning, claim, many=group.many)
    change.ledger.settle(change.stamp)

    change.claims.append(release)
    _teach(tx, change, release, object_id)
    change.edges += effect.edges
    change.edges += derivations(release, change.stamp)
    note_ties(tx, change, group, rows)
    flag_dependants(tx, change, excluding=(claim.object_id, object_id))

    superseded: dict[str, None] = {}
    for edge in effect.edges:
        if edge.kind is EdgeKind.SUPERSEDES:
            superseded[edge.dst] = None
    receipt = Receipt(
        object_id=claim.object_id,
        tx=change.at,
        outcome=effect.outcome,
        entity=group.planning[0] if group.planning[1] else None,
        relations=effect.relations,
        superseded=tuple(superseded),
        inserted=len(effect.insert),
        actions=change.action_ids,
    )
    change.keep(claim.object_id, encode(receipt))
    return (claim.object_id,)


def _teach(tx: WriteTx, change: OperationChange, release: Assertion, quarantined_id: str) -> None:
    """Let a released claim teach the names that were shown to nobody while it was set apart."""
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
