"""Planning slots anew: fold their claims, diff against the open rows, draw the consequences.

Erase, merge and un-merge never patch rows. They fold the slots' own claims and withdrawals in
order of writing and net the result, so a dominated claim that has no row comes back, and an
un-merge gives each slot what it would have had alone. A withdrawal acts on those slots that
were one cluster at its own transaction time. A hidden row whose claim stays hidden on the same
extent keeps the reason it had, so nothing churns that nobody sees.
Sources: settled 5; bitemporal 2 and 4 (row 20); neo4j 6.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from ...resolution.clusters import Clusters, open_at
from ...schema.claim import Claim, Edge, Row, slot_key
from ...schema.entity import Judgement
from ...schema.interval import ALWAYS, Interval, relation
from ...schema.values import canonical_json
from ...schema.vocabulary import ActionKind, EdgeKind, Op
from ..commit.effects import staleness, stands
from ..port.store import ActionRecord, SlotRead, SlotRecord, WriteTx
from ..timeline.ledger import PlanningSlot
from ..timeline.reconcile import TIED, Reach, Tie, fold, ties_of
from .change import Change, derived_id


@dataclass(frozen=True, slots=True)
class Group:
    """The slots that are planned as one: those of every member of a cluster."""

    planning: PlanningSlot
    keys: tuple[str, ...]
    many: bool


@dataclass(frozen=True, slots=True)
class Why:
    """What the supersessions of a re-plan say."""

    reason: str
    merge_id: str | None = None


def groups_of(records: Iterable[SlotRecord], root_of: Callable[[str], str]) -> tuple[Group, ...]:
    """Return the stored slots by planning slot, in order; text is a slot of its own."""
    found: dict[PlanningSlot, list[SlotRecord]] = {}
    for record in records:
        if record.slot is None or record.subject_id is None:
            planning = record.slot_key, "", record.scope_id
        else:
            planning = root_of(record.subject_id), record.slot, record.scope_id
        found.setdefault(planning, []).append(record)
    return tuple(
        Group(planning, tuple(sorted(r.slot_key for r in rs)), any(r.many for r in rs))
        for planning, rs in sorted(found.items())
    )


def groups_for(tx: WriteTx, slot_keys: Iterable[str], tx_us: int) -> tuple[Group, ...]:
    """Return the groups of some slots, with the slots of every member of their clusters."""
    stored = tx.slots(tuple(sorted(set(slot_keys))))
    subjects = sorted({r.subject_id for r in stored if r.slot and r.subject_id})
    canonical: Mapping[str, str] = {}
    if subjects:
        canonical = tx.entities(subjects, tx_us=tx_us).canonical

    def root_of(raw: str) -> str:
        return canonical.get(raw, raw)

    wanted = {group.planning for group in groups_of(stored, root_of)}
    family = tx.slots_of(tuple(sorted(canonical))) if canonical else ()
    records = {record.slot_key: record for record in (*stored, *family)}
    groups = groups_of((records[key] for key in sorted(records)), root_of)
    return tuple(group for group in groups if group.planning in wanted)


def name_of(planning: PlanningSlot) -> str:
    """Return a planning slot as text."""
    root, slot, scope_id = planning
    return slot_key(root, slot, scope_id) if slot else root


def reach_of(history: Sequence[Judgement], subjects: Mapping[str, str]) -> Reach:
    """Return the rule by which a withdrawal acts over slots that were not always one.

    `history` holds MATCH rows, open and closed; `subjects` the raw id of each slot key.
    """
    at: dict[int, Clusters] = {}

    def reach(withdrawal: Claim, claim: Claim) -> bool:
        mine, other = subjects.get(withdrawal.slot_key), subjects.get(claim.slot_key)
        if withdrawal.slot_key == claim.slot_key or mine is None or other is None:
            return withdrawal.slot_key == claim.slot_key
        if withdrawal.tx not in at:
            at[withdrawal.tx] = Clusters(open_at(history, withdrawal.tx))
        return at[withdrawal.tx].same(mine, other)

    return reach


def history_of(tx: WriteTx, entity_ids: Iterable[str]) -> tuple[Judgement, ...]:
    """Return every judgement, open or closed, of entities and of all they were joined with."""
    seen: set[str] = set()
    rows: dict[str, Judgement] = {}
    fresh = set(entity_ids)
    while fresh:
        seen |= fresh
        found = tx.judgements(entity_ids=tuple(sorted(fresh)))
        rows |= {row.judgement_id: row for row in found}
        fresh = {raw for row in found for raw in (row.left_id, row.right_id)} - seen
    return tuple(rows[key] for key in sorted(rows))


def replan(
    tx: WriteTx,
    change: Change,
    groups: Sequence[Group],
    *,
    reach: Reach,
    why: Why,
    without: Collection[str] = (),
) -> None:
    """Fold the claims of groups, save some, and take what follows into the change."""
    reads = tuple(SlotRead(group.keys, ALWAYS, full=True) for group in groups)
    by_key: dict[str, list[Claim]] = {}
    for claim in tx.slot_claims(tuple(key for group in groups for key in group.keys)):
        if claim.object_id not in without:
            by_key.setdefault(claim.slot_key, []).append(claim)
    befores = tx.open_rows(reads)
    for group, before in zip(groups, befores, strict=True):
        claims = [claim for key in group.keys for claim in by_key.get(key, ())]
        after = fold(claims, many=group.many, reach=reach)
        change.ledger.load(group.planning, before)
        change.ledger.put(group.planning, calm(before, after), many=group.many)
    change.ledger.settle(change.stamp)
    for group, before in zip(groups, befores, strict=True):
        after = change.ledger.slots[group.planning]
        change.edges += _edges(before, after, why, change.stamp)
        note_ties(tx, change, group, before)


def calm(before: Sequence[Row], after: Sequence[Row]) -> tuple[Row, ...]:
    """Return the rows after a fold, with stored hidden rows where a claim stays as hidden."""
    had, has = _hidden(before), _hidden(after)
    still = {
        object_id
        for object_id, rows in has.items()
        if _extent(rows) == _extent(had.get(object_id, ()))
    }
    return (
        *(row for row in after if row.look.head or row.claim.object_id not in still),
        *(row for object_id in sorted(still) for row in had[object_id]),
    )


def _hidden(rows: Iterable[Row]) -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = {}
    for row in rows:
        if not row.look.head:
            found.setdefault(row.claim.object_id, []).append(row)
    return found


def _extent(rows: Iterable[Row]) -> list[tuple[int, int]]:
    joined: list[tuple[int, int]] = []
    for interval in sorted(row.interval for row in rows):
        if joined and joined[-1][1] == interval.start_us:
            joined[-1] = joined[-1][0], interval.end_us
        else:
            joined.append((interval.start_us, interval.end_us))
    return joined


def _edges(before: Sequence[Row], after: Sequence[Row], why: Why, stamp: int) -> Iterable[Edge]:
    """Yield what took the place of a row that used to decide, and what now ties with it."""
    same = {row.row_key for row in after}
    heads = [row for row in after if row.look.head]
    for old in before:
        if not old.look.head or old.row_key in same or old.claim.op is Op.DENY:
            continue
        mine = [row for row in heads if row.claim.object_id == old.claim.object_id]
        for new in heads:
            both = new.interval.intersection(old.interval)
            if both is None or new.claim.object_id == old.claim.object_id:
                continue
            kind = _kind(mine, new, both)
            if kind:
                yield Edge(
                    kind=kind,
                    src=new.claim.object_id,
                    dst=old.claim.object_id,
                    interval=both,
                    reason=why.reason,
                    relation=relation(old.interval, new.interval).value,
                    tx=stamp,
                    merge_id=why.merge_id,
                )


def _kind(mine: Sequence[Row], new: Row, both: Interval) -> EdgeKind | None:
    still = [row for row in mine if row.interval.overlaps(both)]
    if not still:
        return EdgeKind.SUPERSEDES
    if new.look == TIED and any(row.look == TIED for row in still):
        return EdgeKind.CONFLICTS_WITH
    return None


def note_ties(tx: WriteTx, change: Change, group: Group, before: Sequence[Row]) -> None:
    """Open an action for each tie that a change made, and close those it ended."""
    had, has = ties_of(before, many=group.many), change.ledger.ties(group.planning)
    held = {row.claim.object_id: row.claim for row in change.ledger.slots[group.planning]}
    for tie in has:
        known = any(t.members == tie.members and t.interval.overlaps(tie.interval) for t in had)
        if not known:
            change.actions.append(_tie_action(change, group, tie, held))
    if any(row.look == TIED for row in before):  # a part of a cluster may hold one member only
        open_ones = tx.open_actions(slot_keys=group.keys)
        gone = [a for a in open_ones if a.kind is ActionKind.SETTLE_TIE and not stands(a, has)]
        change.close_actions(gone, "settled")


def _tie_action(change: Change, group: Group, tie: Tie, held: Mapping[str, Claim]) -> ActionRecord:
    last = max((held[member] for member in tie.members), key=lambda c: c.order)
    stamp, span = change.stamp, tie.interval
    name = f"{ActionKind.SETTLE_TIE.value}/{span.start_us}/{span.end_us}/{stamp}"
    root, slot, _ = group.planning
    return ActionRecord(
        action_id=derived_id(last.object_id, name),
        kind=ActionKind.SETTLE_TIE,
        object_id=last.object_id,
        slot_key=last.slot_key,
        interval=span,
        members=tie.members,
        detail=canonical_json({"slot": slot or None, "entity": root if slot else None}),
        tx_start=stamp,
        tx_end=ALWAYS.end_us,
    )


def flag_dependants(
    tx: WriteTx, change: Change, *, also: Collection[str] = (), without: Collection[str] = ()
) -> tuple[str, ...]:
    """Flag what was derived from objects that lost what they showed, and return it, sorted.

    `also` are sources beside those of the ledger, `without` dependants that need no flag.
    """
    lost = sorted({*change.ledger.changed, *also})
    stale = [found for found in (tx.dependants(lost) if lost else ()) if found not in without]
    if stale:
        flags, actions = staleness(stale, tx.assertions(stale), change.stamp)
        change.flags += flags
        change.actions += actions
    return tuple(stale)
