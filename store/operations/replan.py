"""Plan slots again: fold their claims, compare with the open rows, apply the consequences.

Erase, merge and un-merge never patch rows. They fold the slots' own claims and withdrawals in
order of writing and net the result, so a dominated claim that has no row comes back, and an
un-merge gives each slot what it would have had alone. A withdrawal acts on those slots that
were one cluster at its own transaction time. A hidden row whose claim stays hidden on the same
extent keeps its reason, so no invisible row changes.

Entities become pending, active or merged by their clusters and blocking cases, with the same rule
that reads earlier beliefs (`clusters.believed`), so the two never differ.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Final

from ...resolution.clusters import Clusters, PendingCase, entities_as_of, open_at
from ...schema.claim import Claim, Edge, Row, slot_key
from ...schema.entity import Entity, Judgement
from ...schema.errors import InvalidInput
from ...schema.interval import ALL_TIME, Interval, relation
from ...schema.slots import compatible
from ...schema.values import canonical_json
from ...schema.vocabulary import ActionKind, EdgeKind, Op
from ..commit.roots import Roots, no_change, raw_value
from ..commit.work import staleness, stands
from ..port.store import ActionRecord, SlotRead, SlotRecord, WriteTx
from ..port.tables import ACTIONS, REVIEWS, SLOTS
from ..timeline.ledger import PlanningSlot
from ..timeline.reconcile import TIED_HEAD, Reach, Tie, fold, ties_of, was_tied
from .change import OperationChange, derived_id

_NAMES_VALUE: Final = (Op.RETRACT, Op.DELETE)
_SPAN: Final = attrgetter("interval")


@dataclass(frozen=True, slots=True)
class Group:
    """The slots that are planned as one: those of every member of a cluster."""

    planning: PlanningSlot
    keys: tuple[str, ...]
    many: bool


@dataclass(frozen=True, slots=True)
class ReplanCause:
    """What the supersessions of a re-plan say."""

    reason: str
    merge_id: str | None = None


def groups_of(records: Iterable[SlotRecord], root_of: Callable[[str], str]) -> tuple[Group, ...]:
    """The stored slots by planning slot, in order; text is a slot of its own."""
    records_of: dict[PlanningSlot, list[SlotRecord]] = {}
    for record in records:
        if record.slot is None or record.subject_id is None:
            planning = record.slot_key, "", record.scope_id
        else:
            planning = root_of(record.subject_id), record.slot, record.scope_id
        records_of.setdefault(planning, []).append(record)

    groups: list[Group] = []
    for planning, members in sorted(records_of.items()):
        keys: list[str] = []
        holds_many = False
        for record in members:
            keys.append(record.slot_key)
            holds_many = holds_many or record.many
        groups.append(Group(planning, tuple(sorted(keys)), holds_many))

    return tuple(groups)


def groups_for(
    tx: WriteTx,
    slot_keys: Iterable[str],
    tx_us: int,
    change: Callable[[str], str | None] = no_change,
) -> tuple[Group, ...]:
    """The groups of some slots, with the slots of every member of their clusters."""
    slot_records = tx.find(SLOTS, "slot_key", sorted(set(slot_keys)))
    subjects: set[str] = set()
    for record in slot_records:
        if record.slot and record.subject_id:
            subjects.add(record.subject_id)
    canonical: Mapping[str, str] = {}
    if subjects:
        canonical = tx.entities(sorted(subjects), tx_us=tx_us).canonical

    def root_of(raw: str) -> str:
        return change(raw) or canonical.get(raw, raw)

    # The family's slots are all those of its members: only the ones that were asked for stay.
    plannings = {group.planning for group in groups_of(slot_records, root_of)}
    family = tx.find(SLOTS, "subject_id", sorted(canonical))
    records = {record.slot_key: record for record in (*slot_records, *family)}

    groups: list[Group] = []
    for group in groups_of(map(records.__getitem__, sorted(records)), root_of):
        if group.planning in plannings:
            groups.append(group)
    return tuple(groups)


def name_of(planning: PlanningSlot) -> str:
    """A planning slot as text."""
    root, slot, scope_id = planning
    return slot_key(root, slot, scope_id) if slot else root


def reach_of(
    history: Sequence[Judgement],
    entities: Mapping[str, str],
    *,
    key: Callable[[Claim], str] = attrgetter("slot_key"),
) -> Reach:
    """The rule by which a withdrawal acts over what was not always one.

    `history` holds MATCH rows, open and closed; `entities` the raw id by the `key` of a claim.
    """
    clusters_at: dict[int, Clusters] = {}

    def reach(withdrawal: Claim, claim: Claim) -> bool:
        left, right = entities.get(key(withdrawal)), entities.get(key(claim))
        if key(withdrawal) == key(claim) or left is None or right is None or left == right:
            return key(withdrawal) == key(claim) or (left is not None and left == right)

        # Building a graph costs most, and a fold asks for each pair of a withdrawal and a claim.
        clusters = clusters_at.get(withdrawal.tx)
        if clusters is None:
            clusters = Clusters(open_at(history, withdrawal.tx))
            clusters_at[withdrawal.tx] = clusters
        return clusters.same(left, right)

    return reach


def history_of(tx: WriteTx, entity_ids: Iterable[str]) -> tuple[Judgement, ...]:
    """Every judgement, open or closed, of entities and of all they were joined with."""
    known: set[str] = set()
    rows: dict[str, Judgement] = {}
    frontier = set(entity_ids)
    while frontier:
        known |= frontier
        ends: set[str] = set()
        for row in tx.judgements(entity_ids=tuple(sorted(frontier))):
            rows[row.judgement_id] = row
            ends |= {row.left_id, row.right_id}
        frontier = ends - known
    return tuple(map(rows.__getitem__, sorted(rows)))


def whole_slots(groups: Iterable[Group]) -> tuple[SlotRead, ...]:
    """The look-ups of all open rows of groups, one each."""
    return tuple(SlotRead(group.keys, ALL_TIME, full=True) for group in groups)


def replan(
    tx: WriteTx,
    change: OperationChange,
    groups: Sequence[Group],
    *,
    reach: Reach,
    cause: ReplanCause,
    excluding: Collection[str] = (),
    roots: Roots | None = None,
) -> None:
    """Fold the claims of groups, save some, and take what follows into the change."""
    slot_keys: list[str] = []
    for group in groups:
        slot_keys += group.keys

    roots = roots or Roots(tx, change.clock.last_us)
    said_claims: list[Claim] = []
    for claim in tx.slot_claims(tuple(slot_keys)):
        if claim.object_id not in excluding:
            said_claims.append(claim)
    reach = _of_one_value(tx, said_claims, reach)
    claims_of: dict[str, list[Claim]] = {}
    for claim in roots.claims(said_claims):
        claims_of.setdefault(claim.slot_key, []).append(claim)

    rows_before = [roots.rows(rows) for rows in tx.open_rows(whole_slots(groups))]
    for group, before in zip(groups, rows_before, strict=True):
        claims: list[Claim] = []
        for key in group.keys:
            claims += claims_of.get(key, ())
        after = fold(claims, many=group.many, reach=reach)
        change.ledger.load(group.planning, before)
        change.ledger.put(group.planning, calm(before, after), many=group.many)
    change.ledger.settle(change.stamp)

    # Settling numbers the rows, and what is numbered is what the edges and ties are about.
    for group, before in zip(groups, rows_before, strict=True):
        after = change.ledger.slots[group.planning]
        change.edges += _edges(before, after, cause, change.stamp)
        note_ties(tx, change, group, before)


def _of_one_value(tx: WriteTx, claims: Sequence[Claim], reach: Reach) -> Reach:
    """The rule by which a withdrawal of a value acts on values that were one at its own moment."""
    values = {claim.object_id: raw for claim in claims if (raw := raw_value(claim)) is not None}
    if not any(claim.op in _NAMES_VALUE and claim.object_id in values for claim in claims):
        return reach

    history = history_of(tx, values.values())
    of_one_value = reach_of(history, values, key=attrgetter("object_id"))

    def reaches(withdrawal: Claim, claim: Claim) -> bool:
        if not reach(withdrawal, claim):
            return False
        names_value = withdrawal.op in _NAMES_VALUE and withdrawal.object_id in values
        return not names_value or of_one_value(withdrawal, claim)

    return reaches


def calm(before: Sequence[Row], after: Sequence[Row]) -> tuple[Row, ...]:
    """The rows after a fold, with stored hidden rows where a claim stays as hidden."""
    old_rows, new_rows = _hidden_rows(before), _hidden_rows(after)
    steady_ids: set[str] = set()
    for object_id, rows in new_rows.items():
        # Two cuts of one extent are equal.
        extent, old_extent = map(_SPAN, rows), map(_SPAN, old_rows.get(object_id, ()))
        if join_pieces(extent) == join_pieces(old_extent):
            steady_ids.add(object_id)

    rows_shown: list[Row] = []
    for row in after:
        if row.look.head or row.claim.object_id not in steady_ids:
            rows_shown.append(row)
    for object_id in sorted(steady_ids):
        rows_shown += old_rows[object_id]
    return tuple(rows_shown)


def _hidden_rows(rows: Iterable[Row]) -> dict[str, list[Row]]:
    rows_of: dict[str, list[Row]] = {}
    for row in rows:
        if not row.look.head:
            rows_of.setdefault(row.claim.object_id, []).append(row)
    return rows_of


def join_pieces(pieces: Iterable[Interval]) -> tuple[Interval, ...]:
    """Pieces in order, neighbours joined.

    >>> join_pieces([Interval(5, 9), Interval(0, 5), Interval(20, 30)])
    (Interval(start_us=0, end_us=9), Interval(start_us=20, end_us=30))
    """
    extent: list[Interval] = []
    for piece in sorted(pieces):
        if extent and extent[-1].end_us == piece.start_us:
            extent[-1] = extent[-1].hull(piece)
        else:
            extent.append(piece)
    return tuple(extent)


def _edges(
    before: Sequence[Row], after: Sequence[Row], cause: ReplanCause, stamp: int
) -> Iterable[Edge]:
    """Yield what took the place of a row that used to decide, and what now ties with it."""
    keys_after = {row.row_key for row in after}
    heads: list[Row] = []
    heads_of: dict[str, list[Row]] = {}
    for row in after:
        if row.look.head:
            heads.append(row)
            heads_of.setdefault(row.claim.object_id, []).append(row)

    for old in before:
        if not old.look.head or old.row_key in keys_after or old.claim.op is Op.DENY:
            continue

        object_id = old.claim.object_id
        successors = heads_of.get(object_id, ())
        for new in heads:
            overlap = new.interval.intersection(old.interval)
            if overlap is None or new.claim.object_id == object_id:
                continue
            kind = _kind(successors, new, overlap)
            if kind is None:
                continue
            yield Edge(
                kind=kind,
                src=new.claim.object_id,
                dst=object_id,
                interval=overlap,
                reason=cause.reason,
                relation=relation(old.interval, new.interval).value,
                tx=stamp,
                merge_id=cause.merge_id,
            )


def _kind(successors: Sequence[Row], new: Row, overlap: Interval) -> EdgeKind | None:
    """What another head means to a claim, where `successors` are the claim's own heads."""
    # Where the claim decides still, another head took nothing from it; both deciding is a tie.
    present = [row for row in successors if row.interval.overlaps(overlap)]
    if not present:
        return EdgeKind.SUPERSEDES
    if new.look == TIED_HEAD and any(row.look == TIED_HEAD for row in present):
        return EdgeKind.CONFLICTS_WITH
    return None


def note_ties(tx: WriteTx, change: OperationChange, group: Group, before: Sequence[Row]) -> None:
    """Open an action for each tie that a change made, and close those it ended."""
    ties_before = ties_of(before, many=group.many)
    ties = change.ledger.ties(group.planning)
    claims = {row.claim.object_id: row.claim for row in change.ledger.slots[group.planning]}
    for tie in ties:
        if not was_tied(tie, ties_before):
            change.actions.append(_tie_action(change, group, tie, claims))

    # Not `ties_before`: a part of a cluster may hold one member of a tie only.
    if any(row.look == TIED_HEAD for row in before):
        for action in tx.find(ACTIONS, "slot_key", group.keys, open_only=True):
            if action.kind is ActionKind.SETTLE_TIE and not stands(action, ties):
                change.close_actions((action,), "settled")


def _tie_action(
    change: OperationChange, group: Group, tie: Tie, claims: Mapping[str, Claim]
) -> ActionRecord:
    last = max((claims[member] for member in tie.members), key=lambda claim: claim.order)
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
    )


def flag_dependants(
    tx: WriteTx,
    change: OperationChange,
    *,
    sources: Collection[str] = (),
    excluding: Collection[str] = (),
) -> tuple[str, ...]:
    """Flag what was derived from objects that lost what they showed, and return it, sorted.

    `sources` are added to those of the ledger; dependants in `excluding` need no flag.
    """
    changed_ids = sorted(set(sources).union(*change.ledger.changed.values()))
    dependants = tx.dependants(changed_ids) if changed_ids else ()
    stale = [object_id for object_id in dependants if object_id not in excluding]
    if stale:
        flags, actions = staleness(stale, tx.assertions(stale), change.stamp)
        change.flags += flags
        change.actions += actions
    return tuple(stale)


def restate(
    tx: WriteTx,
    change: OperationChange,
    entities: Mapping[str, Entity],
    canonical: Mapping[str, str],
) -> None:
    """Put entities in the state that the change leaves them in.

    `entities` are whole clusters, `canonical` is as the change has it, and the decisions of
    the change are in it already.
    """
    cases: dict[str, PendingCase] = {}
    for case in (*tx.find(REVIEWS, "entity_id", sorted(entities)), *change.reviews):
        if case.blocking:
            cases[case.entity_id] = PendingCase(case.state, case.decided_entity is not None)

    for raw, entity in entities_as_of(entities, canonical, cases).items():
        if entity.state is not entities[raw].state:
            change.entities.append(entity)


def check_types(left: Entity, right: Entity) -> None:
    """Refuse to make one of two that nothing can be both.

    Raises:
        InvalidInput: `incompatible_types`.
    """
    if not compatible(left.type, right.type):
        raise InvalidInput(
            f"{left.name!r} is of type {left.type} and {right.name!r} of type {right.type}, which "
            "nothing can be both; look for the entity of the same type that is meant",
            code="incompatible_types",
            entities=sorted((left.entity_id, right.entity_id)),
        )
