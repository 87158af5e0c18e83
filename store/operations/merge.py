"""Merge and un-merge: judgement rows, canonical ids, and the slots planned anew.

A merge ties two canonical ids by one MATCH row and folds the union of their slots; no claim is
rewritten. A standing NON_MATCH of equal or higher strength refuses it and opens an action. An
un-merge closes the rows of that merge, writes NON_MATCH across the cut, closes the aliases the
merge taught and gives each slot what it would have had alone. When the sides stay connected
through other merges it refuses and names them. Both are idempotent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from ...resolution.clusters import (
    WAITING,
    Clusters,
    blocking,
    bridges,
    canonical_id,
    non_matches_between,
    pair,
)
from ...resolution.keys import is_id
from ...resolution.known import Known
from ...schema.entity import Entity, Judgement
from ...schema.errors import Conflict, NotFound
from ...schema.interval import ALL_TIME
from ...schema.operation import MergeReceipt, UnmergeReceipt
from ...schema.policy import ResolutionPolicy
from ...schema.values import canonical_json, stamp_time
from ...schema.vocabulary import ActionKind, EntityState, JudgedBy, JudgementVerdict, ReviewState
from ..port.store import ActionRecord, Clock, SlotRecord, WriteTx
from ..timeline.reconcile import Reach
from .change import Mandate, OperationChange, begin, derived_id, judgement_of, kept_receipt
from .erase import decided_case, review_id
from .replan import ReplanCause, flag_dependants, groups_of, history_of, name_of, reach_of, replan
from .standing import check_types, restate

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
        InvalidInput: `incompatible_types`.
    """
    clock = tx.lock()
    receipt = kept_receipt(tx, MergeReceipt, mandate.operation_id)
    if receipt:
        return receipt
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
    judgement_ids: Sequence[str] = (),
    base_change: OperationChange | None = None,
) -> MergeReceipt | Conflict:
    """Merge under counters that are locked already; `judgement_ids` no longer stand."""
    known = tx.entities((a, b), tx_us=clock.last_us)
    left, right = _root(known, a), _root(known, b)
    if left == right:
        return _already_merged(tx, known, a, b, clock)

    check_types(known.entities[left], known.entities[right])
    sides = _members(known, left), _members(known, right)
    size = len(sides[0]) + len(sides[1])
    if size > policy.max_cluster:
        raise Conflict(
            f"the cluster would have {size} members, more than "
            f"max_cluster={policy.max_cluster}; look for a false bridge first",
            code="cluster_too_large",
            members=size,
        )

    judgements = non_matches_between(known.judgements, *sides)
    standing = [row for row in judgements if row.judgement_id not in judgement_ids]
    obstacle = blocking(standing, judged_by)
    if obstacle:
        return _refuse(tx, begin(clock, mandate, "merge_refused"), obstacle, left, right)

    change = base_change or begin(clock, mandate, "merge")
    row = judgement_of(change, (a, b), JudgementVerdict.MATCH, judged_by, "match")
    return _join(tx, change, known, row, judgements)


def bind_again(
    tx: WriteTx, change: OperationChange, bind: Judgement, overruled: Sequence[str]
) -> MergeReceipt | None:
    """Tie two ids as an automatic bind had tied them, by a row of its evidence, and write it.

    None where they are one already, or where more than the `overruled` judgements parts them.
    """
    ids = bind.left_id, bind.right_id
    known = tx.entities(ids, tx_us=change.clock.last_us)
    sides = [_members(known, _root(known, raw)) for raw in ids]
    judgements = non_matches_between(known.judgements, *sides)
    if sides[0] == sides[1] or any(row.judgement_id not in overruled for row in judgements):
        return None

    fresh = judgement_of(change, ids, JudgementVerdict.MATCH, bind.judged_by, "match")
    row = replace(
        fresh,
        score=bind.score,
        log_odds=bind.log_odds,
        evidence=bind.evidence,
        model_version=bind.model_version,
    )
    return _join(tx, change, known, row, judgements)


def _join(
    tx: WriteTx,
    change: OperationChange,
    known: Known,
    row: Judgement,
    between_sides: Sequence[Judgement],
) -> MergeReceipt:
    """Tie two ids, as they were stated, by one row that replaces all judged `between_sides`.

    Not their canonical ids: after A=B and B=C, undoing A=B must leave B=C, whoever is oldest.
    """
    ids = row.left_id, row.right_id
    roots = _root(known, ids[0]), _root(known, ids[1])
    members = sorted({*_members(known, roots[0]), *_members(known, roots[1])})
    entities = {raw: known.entities[raw] for raw in members}
    top = canonical_id(entities.values())

    replaced_ids = {judgement.judgement_id for judgement in between_sides}
    for judgement in known.judgements:
        if (judgement.left_id, judgement.right_id) == pair(*ids):
            replaced_ids.add(judgement.judgement_id)
    change.closed_judgements += sorted(replaced_ids)
    change.judgements.append(row)
    _rename(change, known, dict.fromkeys(members, top))
    change.objects += roots
    _restate_members(tx, change, entities, top)
    for judgement_id in change.closed_judgements:
        change.close_actions(tx.open_actions(object_ids=(judgement_id,)), "lifted")

    sides = {raw: _root(known, raw) for raw in members}
    cause = ReplanCause("entity_merged", row.merge_id)
    slots = _replan_shared(tx, change, sides, cause, root_of=lambda _: top)
    judgements = [j for j in known.judgements if j.judgement_id not in change.closed_judgements]
    receipt = _keep(change, top, slots, members, bridges([*judgements, row]))
    tx.apply(change.batch())
    return receipt


def _keep(
    change: OperationChange,
    top: str,
    slots: tuple[str, ...],
    members: Iterable[str],
    weak: tuple[tuple[str, str], ...] = (),
) -> MergeReceipt:
    """The receipt of a change that made its members one, kept for a second call."""
    receipt = MergeReceipt(
        merge_id=change.mandate.operation_id,
        canonical_id=top,
        replanned_slots=slots,
        tx=change.at,
        members=tuple(members),
        actions=change.action_ids,
        bridges=weak,
    )
    change.keep_receipt(receipt.merge_id, receipt)
    return receipt


def rejoin_into(tx: WriteTx, change: OperationChange, people: Sequence[str]) -> MergeReceipt:
    """Make the people of a split one again inside a change; they wait, whoever they are.

    What was written about each since comes along. What a score has bound to one of them does
    too; a merge that a person ordered since is in the way.

    Raises:
        Conflict: `still_connected`, with those merges.
    """
    known = tx.entities(people, tx_us=change.clock.last_us)
    entities: dict[str, Entity] = {}
    for raw, entity in sorted(known.entities.items()):
        if entity.state is not EntityState.ERASED:
            entities[raw] = entity

    obstacles = [
        row
        for row in known.judgements
        if row.verdict is JudgementVerdict.MATCH and row.judged_by is not JudgedBy.RULE
    ]
    if obstacles:
        raise _still_connected(obstacles)

    top = canonical_id(entities.values())
    anchor, *other_people = [raw for raw in people if raw in entities]
    for person in other_people:
        ids = anchor, person
        change.judgements.append(
            judgement_of(change, ids, JudgementVerdict.MATCH, JudgedBy.HUMAN, "rejoin")
        )
    _rename(change, known, dict.fromkeys(entities, top))
    for raw, entity in entities.items():
        state = EntityState.PENDING if raw == top else EntityState.MERGED
        change.entities.append(replace(entity, state=state))
    change.objects += (anchor, *other_people)

    cause = ReplanCause("entity_merged", change.mandate.operation_id)
    sides = {raw: _root(known, raw) for raw in entities}
    slots = _replan_shared(tx, change, sides, cause, root_of=lambda _: top)
    return _keep(change, top, slots, entities)


def _rename(change: OperationChange, known: Known, canonical: Mapping[str, str]) -> None:
    """Take the canonical ids that are new into the change."""
    for raw, top in canonical.items():
        if _root(known, raw) != top:
            change.canonical.append((raw, top))


def _replan_shared(
    tx: WriteTx,
    change: OperationChange,
    sides: Mapping[str, str],
    cause: ReplanCause,
    *,
    root_of: Callable[[str], str],
) -> tuple[str, ...]:
    """Plan anew the slots that several sides have, and return their names.

    `sides` has the canonical id of each member on its own side; what only one side has stays as
    it is. `root_of` gives the canonical id that a member has from now on.
    """
    records = [r for r in tx.slots_of(tuple(sorted(sides))) if r.slot is not None]
    sides_of: dict[tuple[str | None, str], set[str]] = {}
    for record in records:
        side = sides[record.subject_id or ""]
        sides_of.setdefault((record.slot, record.scope_id), set()).add(side)
    shared_slots = [r for r in records if len(sides_of[r.slot, r.scope_id]) > 1]

    groups = groups_of(shared_slots, root_of)
    replan(tx, change, groups, reach=_reach(tx, sides, shared_slots), cause=cause)
    flag_dependants(tx, change)
    return tuple(name_of(group.planning) for group in groups)


def _reach(tx: WriteTx, members: Iterable[str], records: Iterable[SlotRecord]) -> Reach:
    subjects: dict[str, str] = {}
    for record in records:
        if record.subject_id:
            subjects[record.slot_key] = record.subject_id
    return reach_of(history_of(tx, members) if subjects else (), subjects)


def _restate_members(
    tx: WriteTx, change: OperationChange, entities: Mapping[str, Entity], top: str
) -> None:
    """The id that survives is active when any part was; cases of the others are decided."""
    if any(entity.state is EntityState.ACTIVE for entity in entities.values()):
        for _, entity in sorted(entities.items()):
            if entity.state is EntityState.PENDING:
                _accept_case(tx, change, entity, top)
    restate(tx, change, entities, dict.fromkeys(entities, top))


def _accept_case(tx: WriteTx, change: OperationChange, entity: Entity, top: str) -> None:
    case = tx.review(review_id(entity))
    if case is None or case.state not in WAITING:
        return
    if any(decision.review_id == case.review_id for decision in change.reviews):
        return
    decision = decided_case(case, ReviewState.ACCEPTED, change)
    change.reviews.append(
        replace(decision, decided_entity=top, merge_id=change.mandate.operation_id)
    )


def _refuse(
    tx: WriteTx, change: OperationChange, judgement: Judgement, left: str, right: str
) -> Conflict:
    """Record that a judgement is in the way, once, and say so."""
    refusal = Conflict(
        f"a standing judgement of {judgement.actor} ({judgement.judged_by.value}) says that "
        f"{judgement.left_id} and {judgement.right_id} differ; lift it through its "
        "merge_conflict action",
        code="standing_non_match",
        judgement_id=judgement.judgement_id,
        entities=(judgement.left_id, judgement.right_id),
        merge_id=judgement.merge_id,
    )
    for action in tx.open_actions(object_ids=(judgement.judgement_id,)):
        if action.kind is ActionKind.MERGE_CONFLICT:
            return refusal

    change.objects += (left, right)
    change.actions.append(
        ActionRecord(
            action_id=derived_id(change.mandate.operation_id, "merge_conflict"),
            kind=ActionKind.MERGE_CONFLICT,
            object_id=judgement.judgement_id,
            slot_key=None,
            interval=ALL_TIME,
            members=pair(left, right),
            detail=canonical_json(
                {"judgement": judgement.judgement_id, "merge": judgement.merge_id}
            ),
            tx_start=change.stamp,
            tx_end=ALL_TIME.end_us,
        )
    )
    tx.apply(change.batch())
    return refusal


def _already_merged(tx: WriteTx, known: Known, a: str, b: str, clock: Clock) -> MergeReceipt:
    """The facts of the merge that joined two ids last."""
    top = _root(known, a)
    chain = Clusters(known.judgements).path(a, b)
    last = max(chain, key=lambda row: (row.tx_start, row.judgement_id), default=None)
    merge_id = (last.merge_id if last else None) or ""

    receipt = kept_receipt(tx, MergeReceipt, merge_id) if merge_id else None
    if receipt:
        return replace(receipt, canonical_id=top)
    return MergeReceipt(
        merge_id=merge_id,
        canonical_id=top,
        replanned_slots=(),
        tx=stamp_time(last.tx_start if last else clock.last_us),
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
        raise _unknown_merge(merge_id)
    receipt = kept_receipt(tx, UnmergeReceipt, derived_id(merge_id, _UNMERGE))
    if receipt:
        return receipt

    change = begin(clock, mandate, _UNMERGE)
    receipt = unmerge_into(tx, change, merge_id, judged_by)
    tx.apply(change.batch())
    return receipt


def unmerge_into(
    tx: WriteTx,
    change: OperationChange,
    merge_id: str,
    judged_by: JudgedBy,
    *,
    apart: bool = True,
) -> UnmergeReceipt:
    """Take a merge back inside a change, whose decisions say who waits again.

    `apart` says of the two sides that they differ; without it nothing is said of them.
    """
    rows = [
        row
        for row in tx.judgements(merge_id=merge_id)
        if row.verdict is JudgementVerdict.MATCH and row.tx_end == ALL_TIME.end_us
    ]
    if not rows:
        raise _unknown_merge(merge_id)

    ends: set[str] = set()
    for row in rows:
        ends |= {row.left_id, row.right_id}
    known = tx.entities(tuple(sorted(ends)), tx_us=change.clock.last_us)

    closed = sorted(row.judgement_id for row in rows)
    other_rows = [row for row in known.judgements if row.judgement_id not in closed]
    _check_apart(rows, other_rows)

    change.closed_judgements += closed
    for row in rows if apart else ():
        ids = row.left_id, row.right_id
        judgement = judgement_of(change, ids, JudgementVerdict.NON_MATCH, judged_by, _UNMERGE)
        # The row belongs to the merge it takes back, so that every un-merge of it has one id.
        judgement_id = derived_id(merge_id, "/".join((_UNMERGE, *ids)))
        change.judgements.append(replace(judgement, judgement_id=judgement_id, merge_id=merge_id))

    parts = _parts(Clusters(other_rows), known)
    canonical: dict[str, str] = {}
    for part, top in parts.items():
        canonical |= dict.fromkeys(part, top)
    _rename(change, known, canonical)
    restate(tx, change, known.entities, canonical)
    change.objects += sorted(ends)
    change.closed_aliases += [alias for alias in known.aliases if alias.merge_id == merge_id]

    cause = ReplanCause("entity_unmerged", merge_id)
    slots = _replan_shared(tx, change, canonical, cause, root_of=canonical.__getitem__)
    receipt = UnmergeReceipt(
        merge_id=merge_id,
        parts=tuple(sorted(_top_first(part, top) for part, top in parts.items())),
        replanned_slots=slots,
        tx=change.at,
        actions=change.action_ids,
    )
    change.keep_receipt(derived_id(merge_id, _UNMERGE), receipt)
    return receipt


def _unknown_merge(merge_id: str) -> NotFound:
    return NotFound(
        f"there is no merge {merge_id} that stands; see the entity's history for its merges "
        "(`tenure entities NAME`)",
        code="unknown_merge",
        merge_id=merge_id,
    )


def _check_apart(rows: Iterable[Judgement], other_rows: Sequence[Judgement]) -> None:
    """Refuse when other merges still join the ends of these rows, and name all of them."""
    obstacles: list[Judgement] = []
    for row in rows:
        judgements = list(other_rows)
        while chain := Clusters(judgements).path(row.left_id, row.right_id):
            obstacles += chain
            judgements = [judgement for judgement in judgements if judgement not in chain]
    if obstacles:
        raise _still_connected(obstacles)


def _still_connected(rows: Iterable[Judgement]) -> Conflict:
    merges = tuple(sorted({row.merge_id or row.judgement_id for row in rows}))
    return Conflict(
        f"other merges hold them together ({', '.join(merges)}); undo those first",
        code="still_connected",
        merges=merges,
    )


def _parts(clusters: Clusters, known: Known) -> dict[tuple[str, ...], str]:
    """The parts of what was one cluster, each with its canonical id."""
    parts: dict[tuple[str, ...], str] = {}
    for part in sorted({clusters.of(raw) for raw in known.entities}):
        parts[part] = canonical_id([known.entities[raw] for raw in part])
    return parts


def _top_first(part: tuple[str, ...], top: str) -> tuple[str, ...]:
    return (top, *(raw for raw in part if raw != top))


def _root(known: Known, raw: str) -> str:
    entity = known.entities.get(raw)
    if entity is None or entity.state is EntityState.ERASED:
        raise NotFound(
            f"there is no entity {raw}, or it was erased; "
            "look it up with `tenure entities` (entities.list())",
            code="unknown_entity",
            entity=raw,
        )
    return known.canonical.get(raw, raw)


def _members(known: Known, root: str) -> tuple[str, ...]:
    members = [raw for raw, top in known.canonical.items() if top == root]
    return tuple(sorted({root, *members}))
