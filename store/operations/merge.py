"""Merge and un-merge: judgement rows, canonical ids, and the slots planned anew.

A merge ties two canonical ids by one MATCH row and folds the union of their slots; no claim is
rewritten. A standing NON_MATCH of equal or higher strength refuses it and opens an action. An
un-merge closes the rows of that merge, writes NON_MATCH across the cut, closes the aliases the
merge taught and gives each slot what it would have had alone. When the sides stay connected
through other merges it refuses and names them. Both are idempotent.
Sources: DESIGN 5; resolution 8; neo4j 6; settled 5 and 9; checklist C-050, C-053, C-056.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Final

from ...resolution.clusters import WAITING, Clusters, across, blocking, bridges, canonical_id, pair
from ...resolution.keys import is_id
from ...resolution.known import Known
from ...schema.entity import Entity, Judgement
from ...schema.errors import Conflict, NotFound
from ...schema.interval import ALWAYS
from ...schema.operation import MergeReceipt, UnmergeReceipt
from ...schema.policy import ResolutionPolicy
from ...schema.values import canonical_json, stamped
from ...schema.vocabulary import ActionKind, EntityState, JudgedBy, JudgementVerdict, ReviewState
from ..port.store import ActionRecord, Clock, SlotRecord, WriteTx
from ..timeline.reconcile import Reach
from .change import Change, Mandate, begin, derived_id, first_receipt, judged
from .erase import decided, review_id
from .replan import Why, flag_dependants, groups_of, history_of, name_of, reach_of, replan
from .standing import restate

_UNMERGE: Final = "unmerge"


def merge(
    tx: WriteTx,
    a: str,
    b: str,
    *,
    mandate: Mandate,
    policy: ResolutionPolicy,
    judged_by: JudgedBy = JudgedBy.HUMAN,
) -> MergeReceipt | Conflict:
    """Make two entities one; the ids may be merged-away ones, and their order never matters.

    `mandate.operation_id` is the merge id. Two that are one already return the first merge's
    facts. A refusal by a standing judgement is returned, not raised, because its
    `merge_conflict` action is recorded.

    Raises:
        NotFound: `unknown_entity`.
        Conflict: `cluster_too_large`.
    """
    clock = tx.lock()
    held = first_receipt(tx, mandate.operation_id)
    if held:
        return _merged(held)
    return merge_at(tx, clock, a, b, mandate=mandate, policy=policy, judged_by=judged_by)


def merge_at(
    tx: WriteTx,
    clock: Clock,
    a: str,
    b: str,
    *,
    mandate: Mandate,
    policy: ResolutionPolicy,
    judged_by: JudgedBy,
    lifted: Sequence[str] = (),
    into: Change | None = None,
) -> MergeReceipt | Conflict:
    """Merge under counters that are locked already; `lifted` judgements no longer stand."""
    known = tx.entities((a, b), tx_us=clock.last_us)
    left, right = (_root(known, raw) for raw in (a, b))
    if left == right:
        return _already(tx, known, a, b, clock)
    sides = _members(known, left), _members(known, right)
    if sum(map(len, sides)) > policy.max_cluster:
        raise Conflict(
            f"the cluster would have {sum(map(len, sides))} members, more than "
            f"max_cluster={policy.max_cluster}; look for a false bridge first",
            code="cluster_too_large",
            members=sum(map(len, sides)),
        )
    standing = across(known.judgements, *sides)
    found = blocking([row for row in standing if row.judgement_id not in lifted], judged_by)
    change = into or begin(clock, mandate, "merge")
    if found:
        return _refused(tx, begin(clock, mandate, "merge_refused"), found, left, right)
    return _joined(tx, change, known, (left, right), standing, judged_by)


def _joined(
    tx: WriteTx,
    change: Change,
    known: Known,
    roots: tuple[str, str],
    standing: Sequence[Judgement],
    judged_by: JudgedBy,
) -> MergeReceipt:
    members = sorted({*_members(known, roots[0]), *_members(known, roots[1])})
    entities = {raw: known.entities[raw] for raw in members}
    top = canonical_id(entities.values())
    row = judged(change, roots, JudgementVerdict.MATCH, judged_by, "match")
    weaker = [j for j in known.judgements if (j.left_id, j.right_id) == pair(*roots)]
    change.closed_judgements += sorted({j.judgement_id for j in (*standing, *weaker)})
    change.judgements.append(row)
    change.canonical += [(raw, top) for raw in members if _root(known, raw) != top]
    change.objects += roots
    _states(tx, change, entities, top)
    for judgement_id in change.closed_judgements:
        change.close_actions(tx.open_actions(object_ids=(judgement_id,)), "lifted")
    slots = _replan_together(tx, change, members, top, known)
    after = (*(j for j in known.judgements if j.judgement_id not in change.closed_judgements), row)
    receipt = _kept(change, top, slots, members, bridges(after))
    tx.apply(change.batch())
    return receipt


def _kept(
    change: Change,
    top: str,
    slots: tuple[str, ...],
    members: Iterable[str],
    weak: tuple[tuple[str, str], ...] = (),
) -> MergeReceipt:
    """Return the receipt of a change that made its members one, kept for a second call."""
    receipt = MergeReceipt(
        merge_id=change.mandate.operation_id,
        canonical_id=top,
        replanned_slots=slots,
        tx=change.at,
        members=tuple(members),
        actions=tuple(action.action_id for action in change.actions),
        bridges=weak,
    )
    change.keep(receipt.merge_id, canonical_json({**asdict(receipt), "tx": change.stamp}))
    return receipt


def rejoin_into(tx: WriteTx, change: Change, people: Sequence[str]) -> MergeReceipt:
    """Make the people of a split one again inside a change; they wait, whoever they are.

    What was written about each since comes along. What a score has bound to one of them does
    too; a merge that a person ordered since is in the way.

    Raises:
        Conflict: `still_connected`, with those merges.
    """
    known = tx.entities(people, tx_us=change.clock.last_us)
    entities = {
        raw: entity
        for raw, entity in sorted(known.entities.items())
        if entity.state is not EntityState.ERASED
    }
    live = [raw for raw in people if raw in entities]
    ordered = [
        row
        for row in known.judgements
        if row.verdict is JudgementVerdict.MATCH and row.judged_by is not JudgedBy.RULE
    ]
    if ordered:
        raise _connected({row.merge_id or row.judgement_id for row in ordered})
    top = canonical_id(entities.values())
    change.judgements += [
        judged(change, (live[0], other), JudgementVerdict.MATCH, JudgedBy.HUMAN, "rejoin")
        for other in live[1:]
    ]
    change.canonical += [(raw, top) for raw in entities if _root(known, raw) != top]
    for raw, entity in entities.items():
        state = EntityState.PENDING if raw == top else EntityState.MERGED
        change.entities.append(replace(entity, state=state))
    change.objects += live
    slots = _replan_together(tx, change, tuple(entities), top, known)
    return _kept(change, top, slots, entities)


def _replan_together(
    tx: WriteTx, change: Change, members: Sequence[str], top: str, known: Known
) -> tuple[str, ...]:
    """Plan the slots that both sides have as one; the rest stay as they are."""
    records = [r for r in tx.slots_of(members) if r.slot is not None]
    sides: dict[tuple[str | None, str], set[str]] = {}
    for record in records:
        side = _root(known, record.subject_id or "")
        sides.setdefault((record.slot, record.scope_id), set()).add(side)
    shared = [r for r in records if len(sides[r.slot, r.scope_id]) > 1]
    groups = groups_of(shared, lambda _: top)
    why = Why("entity_merged", change.mandate.operation_id)
    replan(tx, change, groups, reach=_reach(tx, members, shared), why=why)
    flag_dependants(tx, change)
    return tuple(name_of(group.planning) for group in groups)


def _reach(tx: WriteTx, members: Iterable[str], records: Iterable[SlotRecord]) -> Reach:
    subjects = {r.slot_key: r.subject_id for r in records if r.subject_id}
    return reach_of(history_of(tx, members) if subjects else (), subjects)


def _states(tx: WriteTx, change: Change, entities: Mapping[str, Entity], top: str) -> None:
    """The id that survives is active when any part was; cases of the others are decided."""
    active = any(e.state is EntityState.ACTIVE for e in entities.values())
    waited = [e for _, e in sorted(entities.items()) if e.state is EntityState.PENDING]
    for entity in waited if active else ():
        case = tx.review(review_id(entity))
        if case and case.state in WAITING and not _decides(change, case.review_id):
            change.reviews.append(
                replace(
                    decided(case, ReviewState.ACCEPTED, change),
                    decided_entity=top,
                    merge_id=change.mandate.operation_id,
                )
            )
    restate(tx, change, entities, dict.fromkeys(entities, top))


def _decides(change: Change, case_id: str) -> bool:
    return any(case.review_id == case_id for case in change.reviews)


def _refused(tx: WriteTx, change: Change, found: Judgement, left: str, right: str) -> Conflict:
    open_ones = tx.open_actions(object_ids=(found.judgement_id,))
    refusal = Conflict(
        f"a standing judgement of {found.actor} ({found.judged_by.value}) says that "
        f"{found.left_id} and {found.right_id} differ; lift it through its merge_conflict action",
        code="standing_non_match",
        judgement_id=found.judgement_id,
        entities=(found.left_id, found.right_id),
        merge_id=found.merge_id,
    )
    if any(action.kind is ActionKind.MERGE_CONFLICT for action in open_ones):
        return refusal
    change.objects += (left, right)
    change.actions.append(
        ActionRecord(
            action_id=derived_id(change.mandate.operation_id, "merge_conflict"),
            kind=ActionKind.MERGE_CONFLICT,
            object_id=found.judgement_id,
            slot_key=None,
            interval=ALWAYS,
            members=pair(left, right),
            detail=canonical_json({"judgement": found.judgement_id, "merge": found.merge_id}),
            tx_start=change.stamp,
            tx_end=ALWAYS.end_us,
        )
    )
    tx.apply(change.batch())
    return refusal


def _already(tx: WriteTx, known: Known, a: str, b: str, clock: Clock) -> MergeReceipt:
    """Return the facts of the merge that joined two ids last."""
    top = _root(known, a)
    chain = Clusters(known.judgements).path(a, b)
    last = max(chain, key=lambda j: (j.tx_start, j.judgement_id), default=None)
    merge_id = (last.merge_id if last else None) or ""
    held = first_receipt(tx, merge_id) if merge_id else None
    if held:
        return replace(_merged(held), canonical_id=top)
    return MergeReceipt(
        merge_id=merge_id,
        canonical_id=top,
        replanned_slots=(),
        tx=stamped(last.tx_start if last else clock.last_us),
        members=_members(known, top),
        replayed=True,
    )


def unmerge(
    tx: WriteTx, merge_id: str, *, mandate: Mandate, judged_by: JudgedBy = JudgedBy.HUMAN
) -> UnmergeReceipt:
    """Take a merge back; later merges stay, and a second call returns the first receipt.

    Raises:
        NotFound: `unknown_merge`.
        Conflict: `still_connected`, with the merges that hold the sides together.
    """
    clock = tx.lock()
    if not is_id(merge_id):
        raise _no_merge(merge_id)
    held = first_receipt(tx, derived_id(merge_id, _UNMERGE))
    if held:
        return _unmerged(held)
    change = begin(clock, mandate, _UNMERGE)
    receipt = unmerge_into(tx, change, merge_id, judged_by)
    tx.apply(change.batch())
    return receipt


def unmerge_into(
    tx: WriteTx,
    change: Change,
    merge_id: str,
    judged_by: JudgedBy,
) -> UnmergeReceipt:
    """Take a merge back inside a change, whose decisions say who waits again."""
    last_us = change.clock.last_us
    rows = [
        row
        for row in tx.judgements(merge_id=merge_id)
        if row.verdict is JudgementVerdict.MATCH and row.tx_end == ALWAYS.end_us
    ]
    if not rows:
        raise _no_merge(merge_id)
    ends = tuple(sorted({raw for row in rows for raw in (row.left_id, row.right_id)}))
    known = tx.entities(ends, tx_us=last_us)
    closed = {row.judgement_id for row in rows}
    rest = [j for j in known.judgements if j.judgement_id not in closed]
    _check_apart(rows, rest)
    for row in rows:
        ids = row.left_id, row.right_id
        change.judgements.append(
            replace(
                judged(change, ids, JudgementVerdict.NON_MATCH, judged_by, _UNMERGE),
                judgement_id=derived_id(merge_id, "/".join((_UNMERGE, *ids))),
                merge_id=merge_id,
            )
        )
    change.closed_judgements += sorted(closed)
    parts = _parts(Clusters(rest), known)
    canonical = {raw: top for part, top in parts.items() for raw in part}
    change.canonical += [(r, top) for r, top in canonical.items() if _root(known, r) != top]
    restate(tx, change, known.entities, canonical)
    change.objects += ends
    change.closed_aliases += [a for a in known.aliases if a.merge_id == merge_id]
    slots = _replan_apart(tx, change, parts, merge_id)
    receipt = UnmergeReceipt(
        merge_id=merge_id,
        parts=tuple(sorted((top, *(m for m in part if m != top)) for part, top in parts.items())),
        replanned_slots=slots,
        tx=change.at,
        actions=tuple(action.action_id for action in change.actions),
    )
    body = canonical_json({**asdict(receipt), "tx": change.stamp})
    change.keep(derived_id(merge_id, _UNMERGE), body)
    return receipt


def _no_merge(merge_id: str) -> NotFound:
    return NotFound(
        f"there is no merge {merge_id} that stands; see the entity's history for its merges "
        "(`tenure entities NAME`)",
        code="unknown_merge",
        merge_id=merge_id,
    )


def _check_apart(rows: Iterable[Judgement], rest: Sequence[Judgement]) -> None:
    others: set[str] = set()
    for row in rows:
        left = list(rest)
        while chain := Clusters(left).path(row.left_id, row.right_id):
            others |= {j.merge_id or j.judgement_id for j in chain}
            left = [j for j in left if j not in chain]
    if others:
        raise _connected(others)


def _connected(merges: Iterable[str]) -> Conflict:
    named = tuple(sorted(merges))
    return Conflict(
        f"other merges hold them together ({', '.join(named)}); undo those first",
        code="still_connected",
        merges=named,
    )


def _parts(clusters: Clusters, known: Known) -> dict[tuple[str, ...], str]:
    """Return the parts of what was one cluster, each with its canonical id."""
    parts = {clusters.of(raw) for raw in known.entities}
    return {part: canonical_id([known.entities[raw] for raw in part]) for part in sorted(parts)}


def _replan_apart(
    tx: WriteTx, change: Change, parts: Mapping[tuple[str, ...], str], merge_id: str
) -> tuple[str, ...]:
    top_of = {raw: top for part, top in parts.items() for raw in part}
    records = [r for r in tx.slots_of(tuple(sorted(top_of))) if r.slot is not None]
    tops: dict[tuple[str | None, str], set[str]] = {}
    for record in records:
        side = top_of[record.subject_id or ""]
        tops.setdefault((record.slot, record.scope_id), set()).add(side)
    shared = [r for r in records if len(tops[r.slot, r.scope_id]) > 1]
    groups = groups_of(shared, lambda raw: top_of[raw])
    reach = _reach(tx, top_of, shared)
    replan(tx, change, groups, reach=reach, why=Why("entity_unmerged", merge_id))
    flag_dependants(tx, change)
    return tuple(name_of(group.planning) for group in groups)


def _root(known: Known, raw: str) -> str:
    entity = known.entities.get(raw)
    if entity is None or entity.state is EntityState.ERASED:
        raise NotFound(
            f"there is no entity {raw}, or it was erased; look it up with entities.list()",
            code="unknown_entity",
            entity=raw,
        )
    return known.canonical.get(raw, raw)


def _members(known: Known, root: str) -> tuple[str, ...]:
    return tuple(sorted({root, *(raw for raw, top in known.canonical.items() if top == root)}))


def _merged(body: str) -> MergeReceipt:
    held = json.loads(body)
    return MergeReceipt(
        merge_id=held["merge_id"],
        canonical_id=held["canonical_id"],
        replanned_slots=tuple(held["replanned_slots"]),
        tx=stamped(held["tx"]),
        members=tuple(held["members"]),
        actions=tuple(held["actions"]),
        bridges=tuple((left, right) for left, right in held["bridges"]),
        replayed=True,
    )


def _unmerged(body: str) -> UnmergeReceipt:
    held = json.loads(body)
    return UnmergeReceipt(
        merge_id=held["merge_id"],
        parts=tuple(tuple(part) for part in held["parts"]),
        replanned_slots=tuple(held["replanned_slots"]),
        tx=stamped(held["tx"]),
        actions=tuple(held["actions"]),
        replayed=True,
    )
