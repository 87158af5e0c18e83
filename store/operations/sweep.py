"""Sweep: apply the retirement rule to objects that have decayed below their threshold.

An age counts from the last confirmation, else from the claim's first stamp; the policy says along
which curve each object type fades. Use never refreshes it. The sweep is deterministic and
idempotent: archived objects show a gap, demoted or questioned ones carry a mark, and later sweeps
skip both. Each batch is one transaction with one stamp, and each erased object another.

Archiving withdraws the claim's own remaining pieces and puts "no value" there with the claim's own
key. So nothing resurfaces, nothing else of the slot changes, and reads at earlier times still show
the claim. In a slot of many values only the claim's value is deleted.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

from ...schema.answers import SweepReceipt
from ...schema.claim import EMPTY_CONTENT, Assertion, Claim, Row, Version
from ...schema.errors import InvalidInput
from ...schema.interval import Interval
from ...schema.layers import LAYERS, DecayPolicy
from ...schema.policy import DEFAULT
from ...schema.values import NO_VALUE_KEY, moment
from ...schema.vocabulary import ActionKind, EdgeKind, Op, RetirementRule, StateLayer, Status
from ..commit.work import due_action
from ..port.store import Point, WriteTx
from ..port.tables import ACTIONS
from .change import Mandate, OperationChange, begin, derived_id
from .erase import erase_objects
from .replan import Group, flag_dependants, groups_for, join_pieces, note_ties, whole_slots

_QUESTIONS = frozenset(
    {ActionKind.CONFIRM_DUE, ActionKind.REVERIFY_BELIEF, ActionKind.REGENERATE_SUMMARY}
)

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
    versions = tx.reader().decaying(point=point)
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

    A task is closed by its session's id. Objects of other layers stay, and so does what is in
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
    questions = tx.find(ACTIONS, "object_id", object_ids, open_only=True)
    pending = {action.object_id for action in questions if action.kind is ActionKind.CONFIRM_DUE}
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
        layer = assertion.details.layer
        if layer in _LAYERS[kind]:
            # A session ends for all that lives in it; a deletion that was ordered stays one.
            is_ordered = assertion.details.retirement_rule is RetirementRule.HARD_DELETE
            if kind != "project" and not is_ordered:
                details = replace(assertion.details, retirement_rule=LAYERS[layer].retirement)
                assertion = replace(assertion, details=details)
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


def archive(
    tx: WriteTx, change: OperationChange, assertions: Sequence[Assertion]
) -> tuple[str, ...]:
    """Archive claims from the mandate's time on; return the gap claims, in order.

    A claim of which nothing remains from then on is left as it is.
    """
    slot_keys: list[str] = []
    object_ids: list[str] = []
    for assertion in assertions:
        slot_keys.append(assertion.claim.slot_key)
        object_ids.append(assertion.claim.object_id)

    groups = groups_for(tx, slot_keys, change.clock.last_us)
    rows_of = tx.open_rows(whole_slots(groups))
    gaps: list[str] = []
    for group, rows in zip(groups, rows_of, strict=True):
        change.ledger.load(group.planning, rows)
        for assertion in assertions:
            if assertion.claim.slot_key in group.keys:
                gaps += _retire(change, group, rows, assertion)
    change.ledger.settle(change.stamp)

    for group, rows in zip(groups, rows_of, strict=True):
        note_ties(tx, change, group, rows)
    flag_dependants(tx, change, excluding=frozenset(object_ids))
    # Nobody need confirm, verify or summarise again what is archived now.
    for action in tx.find(ACTIONS, "object_id", tuple(object_ids), open_only=True):
        if action.kind in _QUESTIONS:
            change.close_actions((action,), "archived")
    return tuple(gaps)


def _retire(
    change: OperationChange, group: Group, rows: Iterable[Row], assertion: Assertion
) -> Iterable[str]:
    object_id = assertion.claim.object_id
    intervals = [row.interval for row in rows if row.claim.object_id == object_id]
    for piece in remaining(intervals, change.mandate.now_us):
        gap = _gap(change, group, assertion, piece)
        effect = change.ledger.write(group.planning, gap.claim, many=group.many)
        change.claims.append(gap)
        change.objects.append(gap.claim.object_id)

        # What the gap hides in addition to the claim itself was hidden before, and keeps its
        # reason.
        for edge in effect.edges:
            if edge.kind is EdgeKind.SUPERSEDES and edge.dst == object_id:
                change.edges.append(replace(edge, reason="retired"))
        yield gap.claim.object_id


def remaining(pieces: Iterable[Interval], from_us: int) -> tuple[Interval, ...]:
    """What is left of pieces from a time on, neighbours joined.

    >>> remaining([Interval(5, 9), Interval(0, 5), Interval(20, 30)], 3)
    (Interval(start_us=3, end_us=9), Interval(start_us=20, end_us=30))
    """
    lasting = (piece for piece in pieces if piece.end_us > from_us)
    return join_pieces(Interval(max(piece.start_us, from_us), piece.end_us) for piece in lasting)


def _gap(change: OperationChange, group: Group, assertion: Assertion, piece: Interval) -> Assertion:
    old = assertion.claim
    name = f"retired/{piece.start_us}/{change.stamp}"
    claim = Claim(
        object_id=derived_id(old.object_id, name),
        slot_key=old.slot_key,
        op=Op.DELETE,
        value_key=old.value_key if group.many else NO_VALUE_KEY,
        interval=piece,
        since_us=old.since_us,
        level=old.level,
        source_authority=old.source_authority,
        confidence=old.confidence,
        tx=change.stamp,
        ordinal=len(change.claims),
        target=old.object_id,
    )
    # A gap says nothing that could fade, and it was derived from nobody's text.
    details = replace(
        assertion.details,
        source_origin="tenure://retirement",
        source_kind="derived",
        value_entity_id=None,
        decay_rule=None,
        derived_from=(),
        actor=change.mandate.actor,
        resolved_via="retired",
    )
    return Assertion(
        claim=claim, details=details, content=EMPTY_CONTENT, permissions=assertion.permissions
    )
