"""Actions: how a person settles what waits in the resolver queue.

A tie is settled by an ordinary `correct` over the tie's interval: `settlement` prepares its
draft and the caller commits it, so authority and receipts are those of any write. All other
kinds take yes or no and are settled by `resolve` in one transaction.
Sources: settled 5; vocabulary 3.5; checklist C-072, C-090, C-098, D4.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from ...schema.claim import Assertion, Content, Edge
from ...schema.errors import Conflict, Forbidden, InvalidInput, NotFound
from ...schema.interval import ALWAYS, INF_US, Interval
from ...schema.operation import ActionReceipt
from ...schema.policy import ResolutionPolicy
from ...schema.slots import Slot
from ...schema.values import Value
from ...schema.vocabulary import ActionKind, Authority, EdgeKind, JudgedBy, Op
from ...schema.write import Draft, Receipt
from ..commit.effects import derivations
from ..port.receipts import encode
from ..port.store import ActionRecord, SlotRead, WriteTx
from .change import Change, Mandate, begin, derived_id, unknown_object
from .erase import erase_objects
from .merge import merge_at
from .replan import flag_dependants, groups_for, note_ties
from .retire import archive

_MARKS = {ActionKind.REVERIFY_BELIEF: "stale", ActionKind.REGENERATE_SUMMARY: "stale"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Powers:
    """What the caller brings to a decision."""

    may_erase: bool = False
    judged_by: JudgedBy = JudgedBy.HUMAN


def waiting(tx: WriteTx, action_id: str) -> ActionRecord:
    """Return an open entry of the queue.

    Raises:
        NotFound: `unknown_action`.
        Conflict: `already_decided`.
    """
    action = tx.action(action_id)
    if action is None:
        raise NotFound(f"there is no action {action_id}; list the open ones", code="unknown_action")
    if action.tx_end != INF_US:
        raise Conflict(
            f"action {action_id} was settled already ({action.outcome} by {action.closed_by})",
            code="already_decided",
            outcome=action.outcome,
        )
    return action


@dataclass(frozen=True, slots=True, kw_only=True)
class Channel:
    """What the settling write carries of its caller, checked at the edge."""

    actor: str
    level: int
    """The effective level on the slot."""
    authority_level: Authority
    source_origin: str
    source_kind: str
    source_authority: int
    confidence: int = 1000


def settlement(
    action: ActionRecord,
    like: Assertion,
    *,
    slot: Slot | None,
    value: Value | None,
    channel: Channel,
    object_id: str,
) -> Draft:
    """Return the `correct` that settles a tie, over the tie's interval, for `commit`.

    `like` is the winner, or with `value` any member of the tie: the draft copies its tenure.

    Raises:
        InvalidInput: `not_a_member` when `like` does not tie, `wrong_action` for another kind.
    """
    if action.kind is not ActionKind.SETTLE_TIE or action.slot_key is None:
        raise InvalidInput(
            f"a {action.kind.value} action is settled by accept=True or False",
            code="wrong_action",
        )
    if like.claim.object_id not in action.members:
        raise InvalidInput(
            f"{like.claim.object_id} is no member of this tie; it has {', '.join(action.members)}",
            code="not_a_member",
        )
    denies = like.claim.op is Op.DENY and value is None
    return Draft(
        object_id=object_id,
        op=Op.DENY if denies else Op.CORRECT,
        slot=slot,
        slot_key=action.slot_key,
        subject=None,
        value_key=like.claim.value_key if value is None else value.key,
        value_mention=None,
        valid_from=action.interval.start_us,
        valid_until=action.interval.end_us,
        whole_extent=False,
        level=channel.level,
        source_authority=channel.source_authority,
        confidence=channel.confidence,
        details=replace(
            like.details,
            value_entity_id=like.details.value_entity_id if value is None else None,
            authority_level=channel.authority_level,
            source_origin=channel.source_origin,
            source_kind=channel.source_kind,
            origins=(channel.source_origin,),
            derived_from=(),
            planned=True,
            actor=channel.actor,
            resolved_via="settled",
        ),
        content=like.content if value is None else _said(like.content, slot, value),
        permissions=like.permissions,
        quarantine="",
        warnings=(),
        idempotency_key=None,
        fingerprint=action.action_id,
    )


def _said(like: Content, slot: Slot | None, value: Value) -> Content:
    said = f"{slot.name if slot else 'value'}: {value.plain}"
    return replace(like, value_json=value.json, text=said, normalized_claim=said, terms="")


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
    action = waiting(tx, action_id)
    if action.kind is ActionKind.SETTLE_TIE:
        raise InvalidInput(
            "a tie is settled by winner= or value=, not by accept=", code="wrong_action"
        )
    change = begin(clock, mandate, f"settle_{action.kind.value}")
    outcome = "accepted" if accept else "rejected"
    change.close_actions((action,), outcome)
    if action.kind is ActionKind.MERGE_CONFLICT:
        return _conflict(tx, change, action, accept, policy, powers)
    if action.kind is ActionKind.RETIRE_APPROVAL:
        return _approval(tx, change, action, accept, powers)
    held = tx.assertions((action.object_id,)).get(action.object_id)
    if held is None:
        raise unknown_object(action.object_id)
    written: tuple[str, ...]
    if action.kind is ActionKind.REVIEW_QUARANTINE:
        written = _release(tx, change, held, accept=accept)
    else:
        written = _confirm(tx, change, held, action, accept=accept)
    change.objects += written
    tx.apply(change.batch())
    return _receipt(change, action, outcome, written)


def _receipt(
    change: Change, action: ActionRecord, outcome: str, written: tuple[str, ...] = ()
) -> ActionReceipt:
    return ActionReceipt(
        action_id=action.action_id,
        kind=action.kind,
        outcome=outcome,
        tx=change.at,
        object_ids=written,
    )


def _confirm(
    tx: WriteTx, change: Change, held: Assertion, action: ActionRecord, *, accept: bool
) -> tuple[str, ...]:
    """Confirm what a person vouches for, else archive it; either way its mark is lifted."""
    object_id = held.claim.object_id
    change.flag(object_id, _MARKS.get(action.kind, "confirm_due"), on=False)
    same = [a for a in tx.open_actions(object_ids=(object_id,)) if a.kind is action.kind]
    change.close_actions(same, change.closed_actions[action.action_id])
    if not accept:
        return (object_id, *archive(tx, change, (held,)))
    if action.kind is ActionKind.CONFIRM_DUE:
        change.edges.append(confirmation(object_id, held.claim.interval, change.stamp))
    return (object_id,)


def confirmation(object_id: str, interval: Interval, stamp: int) -> Edge:
    """Return the edge of a person's word for a claim: it confirms itself, and its anchor moves."""
    return Edge(
        kind=EdgeKind.CONFIRMS,
        src=object_id,
        dst=object_id,
        interval=interval,
        reason="confirmed",
        relation="equals",
        tx=stamp,
    )


def _release(tx: WriteTx, change: Change, held: Assertion, *, accept: bool) -> tuple[str, ...]:
    """Close the rows of a quarantined claim and, if accepted, assert the same anew."""
    object_id = held.claim.object_id
    change.closed_rows += tx.rows_of((object_id,))
    if not accept:
        return ()
    claim = replace(
        held.claim,
        object_id=derived_id(object_id, "released"),
        op=Op.ASSERT if held.claim.op is Op.CORRECT else held.claim.op,
        tx=change.stamp,
        ordinal=0,
    )
    released = replace(held, claim=claim, quarantine="")
    (group,) = groups_for(tx, (claim.slot_key,), change.clock.last_us)
    (rows,) = tx.open_rows((SlotRead(group.keys, ALWAYS, full=True),))
    change.ledger.load(group.planning, rows)
    done = change.ledger.write(group.planning, claim, many=group.many)
    change.ledger.settle(change.stamp)
    change.claims.append(released)
    change.edges += (*done.edges, *derivations(released, change.stamp))
    note_ties(tx, change, group, rows)
    flag_dependants(tx, change, without=(claim.object_id, object_id))
    receipt = Receipt(
        object_id=claim.object_id,
        tx=change.at,
        outcome=done.outcome,
        entity=group.planning[0] if group.planning[1] else None,
        relations=done.relations,
        superseded=tuple(dict.fromkeys(e.dst for e in done.edges if e.kind is EdgeKind.SUPERSEDES)),
        inserted=len(done.insert),
        actions=tuple(a.action_id for a in change.actions),
    )
    change.keep(claim.object_id, encode(receipt))
    return (claim.object_id,)


def _approval(
    tx: WriteTx, change: Change, action: ActionRecord, accept: bool, powers: Powers
) -> ActionReceipt:
    outcome = change.closed_actions[action.action_id]
    if not accept:
        tx.apply(change.batch())
        return _receipt(change, action, outcome)
    if not powers.may_erase:
        raise Forbidden(
            "a hard delete needs the privilege to erase; ask an owner or administrator",
            code="privilege_required",
        )
    order = replace(change.mandate, reason=change.mandate.reason or "retired")
    receipt, _ = erase_objects(tx, change.clock, (action.object_id,), order)
    return replace(
        _receipt(change, action, outcome, receipt.object_ids), erasure=receipt, tx=receipt.tx
    )


def _conflict(
    tx: WriteTx,
    change: Change,
    action: ActionRecord,
    accept: bool,
    policy: ResolutionPolicy,
    powers: Powers,
) -> ActionReceipt | Conflict:
    outcome = change.closed_actions[action.action_id]
    if not accept:
        tx.apply(change.batch())
        return _receipt(change, action, outcome)
    done = merge_at(
        tx,
        change.clock,
        *action.members,
        mandate=change.mandate,
        policy=policy,
        judged_by=powers.judged_by,
        lifted=(action.object_id,),
        into=change,
    )
    if isinstance(done, Conflict):
        return done
    if done.replayed:  # they became one in another way, so the merge has written nothing
        tx.apply(change.batch())
    return replace(_receipt(change, action, outcome), merge=done)
