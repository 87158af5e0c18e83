"""Retire: a gap exactly where one claim still stands, from a time on.

Archiving withdraws the retired claim's own remaining pieces and puts "no value" there with the
claim's own key, so nothing resurfaces, nothing else of the slot is touched, and reads at
earlier times still show it. On a slot of many values the claim's value is deleted instead.
Sources: settled 5; vocabulary 3.6; checklist C-031, C-068, D4.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from ...schema.claim import EMPTIED, Assertion, Claim, Row
from ...schema.interval import ALWAYS, Interval
from ...schema.values import NOTHING
from ...schema.vocabulary import ActionKind, EdgeKind, Op
from ..port.store import SlotRead, WriteTx
from .change import Change, derived_id
from .replan import Group, flag_dependants, groups_for, note_ties

_ENDED = frozenset(
    {ActionKind.CONFIRM_DUE, ActionKind.REVERIFY_BELIEF, ActionKind.REGENERATE_SUMMARY}
)


def archive(tx: WriteTx, change: Change, retired: Sequence[Assertion]) -> tuple[str, ...]:
    """Archive claims from the mandate's time on; return the gap claims, in order.

    A claim of which nothing remains from then on is left as it is.
    """
    groups = groups_for(tx, (one.claim.slot_key for one in retired), change.clock.last_us)
    held = tx.open_rows(tuple(SlotRead(group.keys, ALWAYS, full=True) for group in groups))
    gaps: list[str] = []
    for group, rows in zip(groups, held, strict=True):
        change.ledger.load(group.planning, rows)
        for one in retired:
            if one.claim.slot_key in group.keys:
                gaps += _retire(change, group, rows, one)
    change.ledger.settle(change.stamp)
    for group, rows in zip(groups, held, strict=True):
        note_ties(tx, change, group, rows)
    ids = tuple(one.claim.object_id for one in retired)
    flag_dependants(tx, change, without=frozenset(ids))
    for action in tx.open_actions(object_ids=ids):
        if action.kind in _ENDED:
            change.close_actions((action,), "archived")
    return tuple(gaps)


def _retire(change: Change, group: Group, rows: Iterable[Row], one: Assertion) -> Iterable[str]:
    mine = [row.interval for row in rows if row.claim.object_id == one.claim.object_id]
    for piece in remaining(mine, change.mandate.now_us):
        gap = _gap(change, group, one, piece)
        done = change.ledger.write(group.planning, gap.claim, many=group.many)
        change.claims.append(gap)
        change.objects.append(gap.claim.object_id)
        change.edges += [
            replace(edge, reason="retired")
            for edge in done.edges
            if edge.kind is EdgeKind.SUPERSEDES and edge.dst == one.claim.object_id
        ]
        yield gap.claim.object_id


def remaining(pieces: Iterable[Interval], from_us: int) -> tuple[Interval, ...]:
    """Return what is left of pieces from a time on, neighbours joined.

    >>> remaining([Interval(5, 9), Interval(0, 5), Interval(20, 30)], 3)
    (Interval(start_us=3, end_us=9), Interval(start_us=20, end_us=30))
    """
    joined: list[Interval] = []
    for piece in sorted(pieces):
        if piece.end_us <= from_us:
            continue
        start = max(piece.start_us, from_us)
        if joined and joined[-1].end_us == start:
            joined[-1] = Interval(joined[-1].start_us, piece.end_us)
        else:
            joined.append(Interval(start, piece.end_us))
    return tuple(joined)


def _gap(change: Change, group: Group, one: Assertion, piece: Interval) -> Assertion:
    old = one.claim
    name = f"retired/{piece.start_us}/{change.stamp}"
    claim = Claim(
        object_id=derived_id(old.object_id, name),
        slot_key=old.slot_key,
        op=Op.DELETE,
        value_key=old.value_key if group.many else NOTHING,
        interval=piece,
        since_us=old.since_us,
        level=old.level,
        source_authority=old.source_authority,
        confidence=old.confidence,
        tx=change.stamp,
        ordinal=len(change.claims),
        target=old.object_id,
    )
    details = replace(
        one.details,
        source_origin="tenure://retirement",
        source_kind="derived",
        value_entity_id=None,
        decay_rule=None,
        derived_from=(),
        actor=change.mandate.actor,
        resolved_via="retired",
    )
    return Assertion(claim=claim, details=details, content=EMPTIED, permissions=one.permissions)
