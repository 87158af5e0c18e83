"""Sweep: what has decayed below its threshold meets its retirement rule.

An age counts from the last confirmation, else from the claim's first stamp, and the policy says
along which curve each object type fades. Use never refreshes it. The sweep is deterministic and
idempotent: what is archived shows a gap, what is demoted or asked about carries its mark, and
neither is met again. One transaction and one stamp a batch, and one more for each object it may
erase.
Sources: checklist C-029, C-031, C-068, D4; vocabulary 3.6; settled 3 (closing a scope).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from ...schema.claim import Assertion, Version
from ...schema.errors import InvalidInput
from ...schema.operation import SweepReceipt
from ...schema.policy import DEFAULT, DecayPolicy
from ...schema.values import moment
from ...schema.vocabulary import ActionKind, Op, RetirementRule, StateLayer, Status
from ..commit.effects import due_action
from ..port.store import Point, WriteTx
from .change import Change, Mandate, begin, derived_id
from .erase import erase_objects
from .retire import archive

_LAYERS = {
    "session": (StateLayer.SESSION, StateLayer.TASK),
    "task": (StateLayer.TASK,),
    "project": (StateLayer.PROJECT,),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepRules:
    """What a sweep may do, and to what."""

    may_erase: bool = False
    """Whether the caller may hard-delete; else such an object is archived and an approval is
    asked for."""
    limit: int = 500
    """Most objects of a batch."""
    decay: DecayPolicy = DEFAULT.decay


def sweep(
    tx: WriteTx, *, mandate: Mandate, rules: SweepRules = SweepRules(), dry_run: bool = False
) -> SweepReceipt:
    """Retire one batch of due objects; `remaining` tells that another is needed."""
    clock = tx.lock()
    point = Point(mandate.now_us, clock.last_us)
    versions = tx.decaying(point=point)
    old = (v for v in versions if is_due(v, mandate.now_us, rules.decay))
    due = list(dict.fromkeys(v.row.claim.object_id for v in old))
    change = begin(clock, mandate, "sweep")
    held = tx.assertions(tuple(due[: rules.limit]))
    chosen = [held[object_id] for object_id in due[: rules.limit] if object_id in held]
    receipt = retire_all(tx, change, chosen, may_erase=rules.may_erase, dry_run=dry_run)
    return replace(receipt, examined=len(versions), remaining=len(due) > rules.limit)


def is_due(version: Version, now_us: int, decay: DecayPolicy) -> bool:
    """Tell whether a version has decayed and nothing was done about it yet.

    Gaps and denials never decay: what they keep away must not come back with age.
    """
    rule, op = version.details.decay_rule, version.row.claim.op
    if (
        rule is None
        or op not in (Op.ASSERT, Op.CORRECT)
        or version.demoted
        or version.confirm_due
        or version.erased
    ):
        return False
    confirmed = version.last_confirmed_us
    anchor = version.row.claim.tx if confirmed is None else confirmed
    return rule.due(now_us - anchor, decay.fading(version.details.object_type))


def close_scope(
    tx: WriteTx, kind: str, scope: str, *, mandate: Mandate, may_erase: bool = False
) -> SweepReceipt:
    """Retire what lived only until a session, task or project closed.

    A task is closed by its session's id. Objects of other layers stay.

    Raises:
        InvalidInput: `bad_scope` for another kind.
    """
    if kind not in _LAYERS:
        raise InvalidInput(
            f"a {kind!r} does not close; give session, task or project", code="bad_scope"
        )
    change = begin(tx.lock(), mandate, "close_scope")
    ids = tx.live_objects("session" if kind == "task" else kind, scope)
    held = tx.assertions(ids)
    flagged = {
        action.object_id
        for action in tx.open_actions(object_ids=ids)
        if action.kind is ActionKind.CONFIRM_DUE
    }
    standing = {
        row.claim.object_id
        for row in tx.rows_of(ids)
        if row.interval.end_us > mandate.now_us and row.look.status is not Status.QUARANTINED
    }
    chosen = [
        held[object_id]
        for object_id in ids
        if object_id in held
        and held[object_id].details.layer in _LAYERS[kind]
        and held[object_id].claim.op is not Op.DELETE
        and object_id not in flagged
        and object_id in standing
    ]
    receipt = retire_all(tx, change, chosen, may_erase=may_erase)
    return replace(receipt, examined=len(ids))


def retire_all(
    tx: WriteTx,
    change: Change,
    chosen: Sequence[Assertion],
    *,
    may_erase: bool = False,
    dry_run: bool = False,
) -> SweepReceipt:
    """Apply each object's own retirement rule, as one batch and one erasure each."""
    by_rule = {
        rule: [one for one in chosen if one.details.retirement_rule is rule]
        for rule in RetirementRule
    }
    deleted = by_rule[RetirementRule.HARD_DELETE]
    receipt = SweepReceipt(
        tx=moment(change.clock.last_us) if not chosen or dry_run else change.at,
        examined=len(chosen),
        archived=_ids(by_rule[RetirementRule.ARCHIVE]),
        demoted=_ids(by_rule[RetirementRule.DEMOTE_TO_ARCHIVAL]),
        asked=_ids(by_rule[RetirementRule.TRIGGER_USER_CONFIRMATION]),
        erased=_ids(deleted) if may_erase else (),
        approvals=() if may_erase else _ids(deleted),
        dry_run=dry_run,
    )
    if dry_run or not chosen:
        return receipt
    for object_id in receipt.demoted:
        change.flag(object_id, "demoted", on=True)
    for object_id in receipt.asked:
        change.flag(object_id, "confirm_due", on=True)
        change.actions.append(due_action(object_id, ActionKind.CONFIRM_DUE, change.stamp))
    for object_id in receipt.approvals:
        change.actions.append(due_action(object_id, ActionKind.RETIRE_APPROVAL, change.stamp))
    change.objects += (*receipt.demoted, *receipt.asked)
    archive(tx, change, [*by_rule[RetirementRule.ARCHIVE], *(() if may_erase else deleted)])
    clock = change.clock
    if len(receipt.erased) < len(chosen):
        batch = change.batch()
        tx.apply(batch)
        clock = batch.clock
    for object_id in receipt.erased:
        erasure = derived_id(object_id, f"erasure/{change.stamp}")
        order = replace(change.mandate, operation_id=erasure, reason="retired")
        if object_id in tx.assertions((object_id,)):  # an earlier one may have taken it along
            _, clock = erase_objects(tx, clock, (object_id,), order)
    return receipt


def _ids(chosen: Iterable[Assertion]) -> tuple[str, ...]:
    return tuple(one.claim.object_id for one in chosen)
