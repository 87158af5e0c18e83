"""Sweep: what has decayed below its threshold meets its retirement rule.

An age counts from the last confirmation, else from the claim's first stamp, and the policy says
along which curve each object type fades. Use never refreshes it. The sweep is deterministic and
idempotent: what is archived shows a gap, what is demoted or asked about carries its mark, and
neither is met again. One transaction and one stamp a batch, and one more for each object it may
erase.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

from ...schema.claim import Assertion, Version
from ...schema.decay import DecayPolicy
from ...schema.errors import InvalidInput
from ...schema.operation import SweepReceipt
from ...schema.policy import DEFAULT
from ...schema.values import moment
from ...schema.vocabulary import ActionKind, Op, RetirementRule, StateLayer, Status
from ..commit.effects import due_action
from ..port.store import Point, WriteTx
from .change import Mandate, OperationChange, begin, derived_id
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
    # An object of several rows is due once, at the place of its first.
    due_ids: dict[str, None] = {}
    for version in versions:
        if is_due(version, mandate.now_us, rules.decay):
            due_ids[version.row.claim.object_id] = None
    object_ids = tuple(due_ids)

    change = begin(clock, mandate, "sweep")
    batch_ids = object_ids[: rules.limit]
    assertions = tx.assertions(batch_ids)
    batch = [assertions[object_id] for object_id in batch_ids if object_id in assertions]
    receipt = retire_all(tx, change, batch, may_erase=rules.may_erase, dry_run=dry_run)
    remaining = len(object_ids) > rules.limit
    return replace(receipt, examined=len(versions), remaining=remaining)


def is_due(version: Version, now_us: int, decay: DecayPolicy) -> bool:
    """Whether a version has decayed and nothing was done about it yet.

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

    anchor = version.last_confirmed_us
    if anchor is None:
        anchor = version.row.claim.tx
    return rule.due(now_us - anchor, decay.fading(version.details.object_type))


def close_scope(
    tx: WriteTx,
    kind: str,
    scope: str,
    *,
    mandate: Mandate,
    scopes: Collection[str] | None = None,
) -> SweepReceipt:
    """Retire what lived only until a session, task or project closed.

    A task is closed by its session's id. Objects of other layers stay, and so does what stands in
    none of the `scopes`, if there are any: two users may each have a session of the same name.

    Raises:
        InvalidInput: `bad_scope` for another kind.
    """
    if kind not in _LAYERS:
        raise InvalidInput(
            f"a {kind!r} does not close; give session, task or project", code="bad_scope"
        )
    change = begin(tx.lock(), mandate, "close_scope")
    object_ids = tx.live_objects("session" if kind == "task" else kind, scope)
    assertions = tx.assertions(object_ids)
    if scopes is not None:
        # Not so much as counted: their number would tell of them.
        assertions = {
            object_id: assertion
            for object_id, assertion in assertions.items()
            if assertion.details.scope.scope_id in scopes
        }
        object_ids = tuple(sorted(assertions))

    # Who was asked already is not asked twice, and what has ended needs no rule.
    pending: set[str] = set()
    for action in tx.open_actions(object_ids=object_ids):
        if action.kind is ActionKind.CONFIRM_DUE:
            pending.add(action.object_id)
    lasting: set[str] = set()
    for row in tx.rows_of(object_ids):
        if row.interval.end_us > mandate.now_us and row.look.status is not Status.QUARANTINED:
            lasting.add(row.claim.object_id)

    batch: list[Assertion] = []
    for object_id in object_ids:
        assertion = assertions.get(object_id)
        if assertion is None or object_id in pending or object_id not in lasting:
            continue
        if assertion.claim.op is Op.DELETE:
            continue
        if assertion.details.layer in _LAYERS[kind]:
            batch.append(assertion)
    receipt = retire_all(tx, change, batch)
    return replace(receipt, examined=len(object_ids))


def retire_all(
    tx: WriteTx,
    change: OperationChange,
    batch: Sequence[Assertion],
    *,
    may_erase: bool = False,
    dry_run: bool = False,
) -> SweepReceipt:
    """Apply each object's own retirement rule, as one batch and one erasure each."""
    by_rule: dict[RetirementRule, list[Assertion]] = {rule: [] for rule in RetirementRule}
    for assertion in batch:
        by_rule[assertion.details.retirement_rule].append(assertion)

    archived = by_rule[RetirementRule.ARCHIVE]
    deletions = by_rule[RetirementRule.HARD_DELETE]
    receipt = SweepReceipt(
        tx=moment(change.clock.last_us) if not batch or dry_run else change.at,
        examined=len(batch),
        archived=_ids(archived),
        demoted=_ids(by_rule[RetirementRule.DEMOTE_TO_ARCHIVAL]),
        asked=_ids(by_rule[RetirementRule.TRIGGER_USER_CONFIRMATION]),
        erased=_ids(deletions) if may_erase else (),
        approvals=() if may_erase else _ids(deletions),
        dry_run=dry_run,
    )
    if dry_run or not batch:
        return receipt

    _mark(change, receipt)
    # What may not be erased yet is archived, and an approval is asked for.
    archive(tx, change, archived if may_erase else [*archived, *deletions])
    clock = change.clock
    if len(receipt.erased) < len(batch):
        closing_batch = change.batch()
        tx.apply(closing_batch)
        clock = closing_batch.clock

    for object_id in receipt.erased:
        erasure_id = derived_id(object_id, f"erasure/{change.stamp}")
        order = replace(change.mandate, operation_id=erasure_id, reason="retired")
        if object_id in tx.assertions((object_id,)):  # an earlier one may have taken it along
            _, clock = erase_objects(tx, clock, (object_id,), order)
    return receipt


def _mark(change: OperationChange, receipt: SweepReceipt) -> None:
    """Set the marks of a sweep, and ask for what needs a person's word."""
    for object_id in receipt.demoted:
        change.flag(object_id, "demoted", on=True)
    for object_id in receipt.asked:
        change.flag(object_id, "confirm_due", on=True)
        change.actions.append(due_action(object_id, ActionKind.CONFIRM_DUE, change.stamp))
    for object_id in receipt.approvals:
        change.actions.append(due_action(object_id, ActionKind.RETIRE_APPROVAL, change.stamp))
    change.objects += (*receipt.demoted, *receipt.asked)


def _ids(assertions: Iterable[Assertion]) -> tuple[str, ...]:
    return tuple(assertion.claim.object_id for assertion in assertions)
