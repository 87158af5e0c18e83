"""Retire: a gap exactly where one claim still stands, from a time on.

Archiving withdraws the retired claim's own remaining pieces and puts "no value" there with the
claim's own key, so nothing resurfaces, nothing else of the slot is touched, and reads at
earlier times still show it. On a slot of many values the claim's value is deleted instead.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from ...schema.claim import EMPTY_CONTENT, Assertion, Claim, Row
from ...schema.interval import Interval
from ...schema.values import NO_VALUE_KEY
from ...schema.vocabulary import ActionKind, EdgeKind, Op
from ..port.store import WriteTx
from .change import OperationChange, derived_id
from .replan import Group, flag_dependants, groups_for, note_ties, whole_slots

_QUESTIONS = frozenset(
    {ActionKind.CONFIRM_DUE, ActionKind.REVERIFY_BELIEF, ActionKind.REGENERATE_SUMMARY}
)


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
    for action in tx.open_actions(object_ids=tuple(object_ids)):
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

        # What the gap hides beside the claim itself was hidden before, and keeps its reason.
        for edge in effect.edges:
            if edge.kind is EdgeKind.SUPERSEDES and edge.dst == object_id:
                change.edges.append(replace(edge, reason="retired"))
        yield gap.claim.object_id


def remaining(pieces: Iterable[Interval], from_us: int) -> tuple[Interval, ...]:
    """What is left of pieces from a time on, neighbours joined.

    >>> remaining([Interval(5, 9), Interval(0, 5), Interval(20, 30)], 3)
    (Interval(start_us=3, end_us=9), Interval(start_us=20, end_us=30))
    """
    remainder: list[Interval] = []
    for piece in sorted(pieces):
        if piece.end_us <= from_us:
            continue
        start_us = max(piece.start_us, from_us)
        if remainder and remainder[-1].end_us == start_us:
            remainder[-1] = Interval(remainder[-1].start_us, piece.end_us)
        else:
            remainder.append(Interval(start_us, piece.end_us))
    return tuple(remainder)


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
