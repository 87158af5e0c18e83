"""Merge: one judgement row, the canonical ids, and the slots planned again.

A merge ties two canonical ids by one MATCH row and folds the union of their slots; no claim is
rewritten. An existing NON_MATCH of equal or higher strength refuses it and opens an action. A merge
is idempotent, and `unmerge` reverses it.

A relation between two entities (a manager and a report) is not a judgement, but it says that they
differ. It refuses a merge that a person orders in the same way, and its `merge_conflict` action
allows the merge all the same. The caller says which claims count, since it may not see all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from operator import attrgetter

from ...resolution.clusters import (
    WAITING,
    Clusters,
    blocking,
    bridges,
    canonical_id,
    non_matches_between,
    pair,
)
from ...resolution.known import Known
from ...schema.answers import MergeReceipt
from ...schema.claim import Assertion
from ...schema.entity import Entity, Judgement
from ...schema.errors import Conflict
from ...schema.interval import INF_US, Interval
from ...schema.policy import ResolutionPolicy
from ...schema.values import canonical_json, canonical_value, stamp_time
from ...schema.vocabulary import (
    ActionKind,
    EntityState,
    JudgedBy,
    JudgementVerdict,
    Op,
    ReviewState,
    Status,
    ValueType,
)
from ..commit.roots import Roots
from ..port.store import ActionRecord, Clock, SlotRead, SlotRecord, WriteTx
from ..port.tables import ACTIONS, SLOTS
from ..timeline.reconcile import Reach
from .change import (
    Mandate,
    OperationChange,
    begin,
    derived_id,
    judgement_of,
    kept_receipt,
    unknown_entity,
)
from .erase import decided_case, review_id
from .replan import (
    Group,
    ReplanCause,
    check_types,
    flag_dependants,
    groups_for,
    groups_of,
    history_of,
    name_of,
    reach_of,
    replan,
    restate,
)


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
    receipt = kept_receipt(tx, MergeReceipt, mandate.operation_id, withheld=False, warnings=[])
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
    left, right = canonical_of(known, a), canonical_of(known, b)
    if left == right:
        return _already_merged(tx, known, a, b, clock)

    check_types(known.entities[left], known.entities[right])
    sides = members_of_root(known, left), members_of_root(known, right)
    size = len(sides[0]) + len(sides[1])
    if size > policy.max_cluster:
        raise Conflict(
            f"the cluster would have {size} members, more than "
            f"max_cluster={policy.max_cluster}; look for a false bridge first",
            code="cluster_too_large",
            members=size,
        )

    judgements = non_matches_between(known.judgements, *sides)
    # A case that is decided again is not held up by what its own earlier decision had said.
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
    left, right = (members_of_root(known, canonical_of(known, raw)) for raw in ids)
    judgements = non_matches_between(known.judgements, left, right)
    obstacles = [row for row in judgements if row.judgement_id not in overruled]
    if left == right or obstacles:
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
    roots = canonical_of(known, ids[0]), canonical_of(known, ids[1])
    members = sorted({*members_of_root(known, roots[0]), *members_of_root(known, roots[1])})
    entities = {raw: known.entities[raw] for raw in members}
    top = canonical_id(entities.values())

    # What parted the sides gives way, and so does whatever else was judged of these two.
    replaced_ids = {judgement.judgement_id for judgement in between_sides}
    for judgement in known.judgements:
        if (judgement.left_id, judgement.right_id) == pair(*ids):
            replaced_ids.add(judgement.judgement_id)

    change.closed_judgements += sorted(replaced_ids)
    change.judgements.append(row)
    take_canonical(change, known, dict.fromkeys(members, top))
    change.objects += roots
    # The id that survives is active when any part was; cases of the others are decided.
    if EntityState.ACTIVE in {entity.state for entity in entities.values()}:
        for _, entity in sorted(entities.items()):
            if entity.state is EntityState.PENDING:
                _accept_case(tx, change, entity, top)
    restate(tx, change, entities, dict.fromkeys(entities, top))
    # An action that asks to lift one of these judgements has nothing left to ask.
    for judgement_id in change.closed_judgements:
        questions = tx.find(ACTIONS, "object_id", (judgement_id,), open_only=True)
        change.close_actions(questions, "lifted")

    sides = {raw: canonical_of(known, raw) for raw in members}
    cause = ReplanCause("entity_merged", row.merge_id)
    slots = replan_shared(tx, change, sides, cause, root_of=lambda _: top)
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

    obstacles: list[Judgement] = []
    for row in known.judgements:
        if row.verdict is JudgementVerdict.MATCH and row.judged_by is not JudgedBy.RULE:
            obstacles.append(row)
    if obstacles:
        raise still_connected(obstacles)

    top = canonical_id(entities.values())
    # Every row has the first of them at one end, as in a star: the others hang on one row each.
    anchor, *other_people = filter(entities.__contains__, people)
    for person in other_people:
        ids = anchor, person
        change.judgements.append(
            judgement_of(change, ids, JudgementVerdict.MATCH, JudgedBy.HUMAN, "rejoin")
        )
    take_canonical(change, known, dict.fromkeys(entities, top))
    for raw, entity in entities.items():
        state = EntityState.PENDING if raw == top else EntityState.MERGED
        change.entities.append(replace(entity, state=state))
    change.objects += (anchor, *other_people)

    cause = ReplanCause("entity_merged", change.mandate.operation_id)
    sides = {raw: canonical_of(known, raw) for raw in entities}
    slots = replan_shared(tx, change, sides, cause, root_of=lambda _: top)
    return _keep(change, top, slots, entities)


def take_canonical(change: OperationChange, known: Known, canonical: Mapping[str, str]) -> None:
    """Take the canonical ids that are new into the change."""
    for raw, top in canonical.items():
        if canonical_of(known, raw) != top:
            change.canonical.append((raw, top))


def replan_shared(
    tx: WriteTx,
    change: OperationChange,
    sides: Mapping[str, str],
    cause: ReplanCause,
    *,
    root_of: Callable[[str], str],
) -> tuple[str, ...]:
    """Plan again the slots that several sides have, and return their names.

    `sides` has the canonical id of each member on its own side; what only one side has stays as
    it is. `root_of` gives the canonical id that a member has from now on.
    """
    # A text is a slot of its own, which nobody else can have.
    records: list[SlotRecord] = []
    sides_of: dict[tuple[str | None, str], set[str]] = {}
    for record in tx.find(SLOTS, "subject_id", sorted(sides)):
        if record.slot is not None:
            records.append(record)
            side = sides[record.subject_id or ""]
            sides_of.setdefault((record.slot, record.scope_id), set()).add(side)

    shared_slots: list[SlotRecord] = []
    for record in records:
        if len(sides_of[record.slot, record.scope_id]) > 1:
            shared_slots.append(record)

    def root_after(raw: str) -> str | None:
        return root_of(raw) if raw in sides else None

    groups = list(groups_of(shared_slots, root_of))
    plannings = {group.planning for group in groups}
    for group in _value_groups(tx, change, sides, root_after):
        if group.planning not in plannings:
            groups.append(group)
    groups.sort(key=attrgetter("planning"))

    roots = Roots(tx, change.clock.last_us, root_after)
    reach = _reach(tx, sides, records)
    replan(tx, change, groups, reach=reach, cause=cause, roots=roots)
    flag_dependants(tx, change)
    return tuple(name_of(group.planning) for group in groups)


def _value_groups(
    tx: WriteTx,
    change: OperationChange,
    sides: Mapping[str, str],
    root_after: Callable[[str], str | None],
) -> tuple[Group, ...]:
    """The slots that hold values of several sides: they say of one entity, or no more, the same."""
    sides_of: dict[str, set[str]] = {}
    for assertion in tx.assertions(tx.objects_of(tuple(sorted(sides)))).values():
        value = assertion.details.value_entity_id
        if value in sides and assertion.details.slot is not None:
            sides_of.setdefault(assertion.claim.slot_key, set()).add(sides[value or ""])
    if not sides_of:
        return ()

    groups: list[Group] = []
    for group in groups_for(tx, sides_of, change.clock.last_us, root_after):
        group_sides: set[str] = set()
        for key in group.keys:
            group_sides |= sides_of.get(key, set())
        if len(group_sides) > 1:
            groups.append(group)
    return tuple(groups)


def _reach(tx: WriteTx, members: Iterable[str], records: Iterable[SlotRecord]) -> Reach:
    subjects: dict[str, str] = {}
    for record in records:
        if record.subject_id:
            subjects[record.slot_key] = record.subject_id
    return reach_of(history_of(tx, members) if subjects else (), subjects)


def _accept_case(tx: WriteTx, change: OperationChange, entity: Entity, top: str) -> None:
    case = tx.review(review_id(entity))
    if case is None or case.state not in WAITING:
        return

    # The case whose acceptance ordered this merge has its decision already.
    for decision in change.reviews:
        if decision.review_id == case.review_id:
            return
    merge_id = change.mandate.operation_id
    change.reviews.append(
        decided_case(case, ReviewState.ACCEPTED, change, decided_entity=top, merge_id=merge_id)
    )


def _refuse(
    tx: WriteTx, change: OperationChange, judgement: Judgement, left: str, right: str
) -> Conflict:
    """Record that a judgement is in the way, once, and say so."""
    refusal = Conflict(
        f"a standing judgement of {judgement.actor} ({judgement.judged_by.value}) says that "
        f"{left} and {right} differ; lift it through its merge_conflict action",
        code="existing_non_match",
        judgement_id=judgement.judgement_id,
        # The two that were named, and not the members that were judged: those may be hidden.
        entities=pair(left, right),
        merge_id=judgement.merge_id,
    )
    # Whoever tries again is told the same, and asks nobody a second time.
    for action in tx.find(ACTIONS, "object_id", [judgement.judgement_id], open_only=True):
        if action.kind is ActionKind.MERGE_CONFLICT:
            return refusal

    detail = {"judgement": judgement.judgement_id, "merge": judgement.merge_id}
    change.objects += (left, right)
    change.actions.append(
        ActionRecord(
            action_id=derived_id(change.mandate.operation_id, "merge_conflict"),
            kind=ActionKind.MERGE_CONFLICT,
            object_id=judgement.judgement_id,
            members=pair(left, right),
            detail=canonical_json(detail),
            tx_start=change.stamp,
        )
    )
    tx.apply(change.batch())
    return refusal


def _already_merged(tx: WriteTx, known: Known, a: str, b: str, clock: Clock) -> MergeReceipt:
    """The facts of the merge that joined two ids last."""
    top = canonical_of(known, a)
    # Other merges may have joined them first to third parties: the last row made these two one.
    chain = Clusters(known.judgements).path(a, b)
    last = max(chain, key=lambda row: (row.tx_start, row.judgement_id), default=None)
    merge_id = (last.merge_id if last else None) or ""

    receipt = kept_receipt(tx, MergeReceipt, merge_id, withheld=False, warnings=[])
    if receipt:
        return replace(receipt, canonical_id=top)
    return MergeReceipt(
        merge_id=merge_id,
        canonical_id=top,
        replanned_slots=(),
        tx=stamp_time(last.tx_start if last else clock.last_us),
        members=members_of_root(known, top),
        replayed=True,
    )


def still_connected(rows: Iterable[Judgement]) -> Conflict:
    """The error of what cannot be taken back while other merges, which it names, hold."""
    merges = tuple(sorted({row.merge_id or row.judgement_id for row in rows}))
    return Conflict(
        f"other merges hold them together ({', '.join(merges)}); undo those first",
        code="still_connected",
        merges=merges,
    )


def canonical_of(known: Known, raw: str) -> str:
    """The canonical id of a raw one that is there.

    Raises:
        NotFound: `unknown_entity`.
    """
    entity = known.entities.get(raw)
    if entity is None or entity.state is EntityState.ERASED:
        raise unknown_entity(raw)
    return known.canonical.get(raw, raw)


def members_of_root(known: Known, root: str) -> tuple[str, ...]:
    """The raw ids of the cluster of a canonical one, sorted."""
    # Only clusters of two and more are in `canonical`: one that is alone is not there.
    members = {root}
    for raw, top in known.canonical.items():
        if top == root:
            members.add(raw)
    return tuple(sorted(members))


Sides = tuple[tuple[str, ...], tuple[str, ...]]
"""The raw ids of two clusters."""


def relations_between(
    tx: WriteTx, sides: Sides, *, since_us: int, counts: Callable[[Assertion], bool]
) -> tuple[Assertion, ...]:
    """The claims that relate two clusters from a time on, by object id; those that count."""
    ends: dict[str, frozenset[str]] = {}
    for members, others in (sides, sides[::-1]):
        keys = frozenset(canonical_value(raw, ValueType.ENTITY).key for raw in others)
        ends.update(dict.fromkeys(members, keys))

    records: list[SlotRecord] = []
    reads: list[SlotRead] = []
    span = Interval(since_us, INF_US)
    for record in tx.find(SLOTS, "subject_id", sorted(ends)):
        if record.slot is not None:
            records.append(record)
            reads.append(SlotRead((record.slot_key,), span, full=False))

    object_ids: set[str] = set()
    for record, rows in zip(records, tx.open_rows(reads), strict=True):
        for row in rows:
            # What is denied, disputed or overtaken relates nobody.
            says = row.look.head and row.look.status is Status.CLEAN and row.claim.op is not Op.DENY
            if says and row.claim.value_key in ends[record.subject_id or ""]:
                object_ids.add(row.claim.object_id)

    if not object_ids:
        return ()
    assertions = tx.assertions(sorted(object_ids))
    relations: list[Assertion] = []
    for _, claim in sorted(assertions.items()):
        if counts(claim):
            relations.append(claim)
    return tuple(relations)
