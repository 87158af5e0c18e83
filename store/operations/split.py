"""Split the claims under one pending name between people, and reverse merges.

In a split the first group stays with the pending entity. Each further group gets an entity of its
own with the same name, a raised ordinal, and NON_MATCH rows to all others. A claim moves by a
retract of exactly that claim and a new assert that copies it, because the claims of two people are
under one id and closing a row cannot separate them. History stays.

An un-merge closes the rows of that merge, writes NON_MATCH across the cut and closes the aliases
that the merge taught. Each slot gets what it would have had alone. If other merges still connect
the sides, it refuses and names them. It is idempotent.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain, combinations
from typing import Final

from ...resolution.clusters import Clusters, canonical_id
from ...resolution.keys import is_id
from ...resolution.known import Known
from ...schema.answers import UnmergeReceipt
from ...schema.claim import EMPTY_CONTENT, Assertion, slot_key, text_key
from ...schema.entity import Entity, Judgement, Review
from ...schema.errors import InvalidInput, NotFound
from ...schema.interval import ALL_TIME
from ...schema.vocabulary import EntityState, JudgedBy, JudgementVerdict, Op
from ..commit.namesakes import ClaimLine, groups
from ..commit.work import derivations
from ..port.store import ClaimReads, SlotRecord, WriteTx
from ..port.tables import SLOTS
from ..timeline.rule import everywhere
from .change import Mandate, OperationChange, begin, derived_id, judgement_of, kept_receipt
from .merge import replan_shared, still_connected, take_canonical
from .naming import alias_of_case
from .replan import Group, ReplanCause, flag_dependants, groups_for, replan, restate

_OPERATION: Final = "unmerge"


def members_of(tx: WriteTx, case: Review) -> tuple[str, ...]:
    """The raw ids that a case is about, the waiting one first: several after an undone split."""
    ends: set[str] = set()
    for row in tx.judgements(merge_id=case.merge_id) if case.merge_id else ():
        if row.verdict is JudgementVerdict.MATCH and row.tx_end == ALL_TIME.end_us:
            ends |= {row.left_id, row.right_id}
    return case.entity_id, *sorted(ends - {case.entity_id})


def claim_groups(tx: WriteTx, case: Review) -> tuple[tuple[str, ...], ...]:
    """The object ids of a case's claims, in groups that do not contradict themselves."""
    assertions = claims_about(tx, members_of(tx, case))
    keys = {assertion.claim.slot_key for assertion in assertions}

    many_of: dict[str, bool] = {}
    for record in tx.find(SLOTS, "slot_key", sorted(keys)):
        many_of[record.slot_key] = record.many
    return grouped(assertions, many_of)


def claims_about(reads: ClaimReads, members: Sequence[str]) -> list[Assertion]:
    """The claims about an entity, by its raw ids, in the order of their writing."""
    assertions: list[Assertion] = []
    for assertion in reads.assertions(reads.objects_of(members)).values():
        if assertion.details.subject_id in members:
            assertions.append(assertion)
    assertions.sort(key=lambda assertion: assertion.claim.order)
    return assertions


def grouped(
    assertions: Sequence[Assertion], many_of: Mapping[str, bool]
) -> tuple[tuple[str, ...], ...]:
    """The object ids of claims, in groups; `many_of` says which slot keys hold several values."""
    # A claim that an earlier split moved away is under its new person.
    moved_ids: set[str | None] = set()
    for assertion in assertions:
        if assertion.claim.op.withdraws:
            moved_ids.add(assertion.claim.target)

    lines: list[ClaimLine] = []
    for assertion in assertions:
        claim = assertion.claim
        if not claim.op.withdraws and claim.object_id not in moved_ids:
            lines.append(line_of(assertion, many=many_of.get(claim.slot_key, False)))

    parts: list[tuple[str, ...]] = []
    for group in groups(lines):
        parts.append(tuple(line.object_id for line in group))
    return tuple(parts)


def line_of(assertion: Assertion, *, many: bool) -> ClaimLine:
    """A stored claim as a line that may contradict another."""
    claim, details, content = assertion.claim, assertion.details, assertion.content
    return ClaimLine(
        object_id=claim.object_id,
        slot=details.slot or "",
        value=claim.value_key,
        text=content.normalized_claim or content.text,
        since_us=claim.since_us,
        until_us=claim.interval.end_us,
        source=details.source_origin,
        plain=claim.op is Op.ASSERT and not many and details.slot is not None,
    )


def split(
    tx: WriteTx, change: OperationChange, case: Review, parts: Sequence[Sequence[str]]
) -> tuple[str, ...]:
    """Give each group of claims after the first to a new entity; return all, the first first.

    Raises:
        InvalidInput: `not_a_member` for a claim that is not about the waiting entity.
    """
    assertions = _parts_read(tx, case, parts)
    # After an undone split, claims of the first group may be under another of its people.
    home: list[str] = []
    for object_id in parts[0] if parts else ():
        if assertions[object_id].details.subject_id != case.entity_id:
            home.append(object_id)
    moved_ids = [*home, *chain.from_iterable(parts[1:])]

    slot_keys = [assertions[object_id].claim.slot_key for object_id in moved_ids]
    old = groups_for(tx, slot_keys, change.clock.last_us)
    # folded, not withdrawn: an equal claim that has no row of its own must come back
    replan(
        tx,
        change,
        old,
        reach=everywhere,
        cause=ReplanCause("entity_split"),
        excluding=frozenset(moved_ids),
    )

    people = [case.entity_id]
    for object_id in home:
        _move(change, old, assertions[object_id], case.entity_id)
    for number, part in enumerate(parts[1:], 2):
        person = _person(tx, change, case, number)
        people.append(person)
        for object_id in part:
            _move(change, old, assertions[object_id], person)
    change.ledger.settle(change.stamp)
    flag_dependants(tx, change, excluding=frozenset(moved_ids))

    for ids in combinations(people, 2):
        change.judgements.append(
            judgement_of(change, ids, JudgementVerdict.NON_MATCH, JudgedBy.HUMAN, "split")
        )
    return tuple(people)


def _parts_read(
    tx: WriteTx, case: Review, parts: Sequence[Sequence[str]]
) -> Mapping[str, Assertion]:
    """The claims of the parts; each must be about a member of the case."""
    members = members_of(tx, case)
    object_ids = tuple(chain.from_iterable(parts))
    assertions = tx.assertions(object_ids)
    for object_id in object_ids:
        if object_id not in assertions or assertions[object_id].details.subject_id not in members:
            raise InvalidInput(
                f"{object_id} is no claim about {case.mention!r} of this review; "
                "see reviews.get() for its groups",
                code="not_a_member",
                object_id=object_id,
            )
    return assertions


def _person(tx: WriteTx, change: OperationChange, case: Review, number: int) -> str:
    """Make an entity of the case's name, told apart from the others by its ordinal."""
    raw = derived_id(change.mandate.operation_id, f"split/{number}")
    change.entities.append(
        Entity(
            entity_id=raw,
            name=case.mention,
            type=case.type,
            state=EntityState.ACTIVE,
            scope_id=case.scope_id,
            tx_start=change.stamp,
            created_by=change.mandate.operation_id,
        )
    )
    alias = alias_of_case(tx, change, replace(case, entity_id=raw), case.scope_id)
    change.aliases.append(alias)
    return raw


def _move(change: OperationChange, old: Sequence[Group], assertion: Assertion, person: str) -> None:
    """Retract one claim where it is, and assert it about another person."""
    claim, details = assertion.claim, assertion.details
    group = next(group for group in old if claim.slot_key in group.keys)
    retraction = replace(
        assertion,
        claim=replace(
            claim,
            object_id=derived_id(claim.object_id, f"moved/{change.stamp}"),
            op=Op.RETRACT,
            tx=change.stamp,
            ordinal=len(change.claims),
            target=claim.object_id,
        ),
        details=replace(details, derived_from=(), actor=change.mandate.actor, resolved_via="split"),
        content=EMPTY_CONTENT,
    )
    change.claims.append(retraction)

    object_id = derived_id(claim.object_id, f"split/{change.stamp}")
    scope_id, slot = details.scope.scope_id, details.slot
    key = slot_key(person, slot, scope_id) if slot else text_key(object_id)
    copy = replace(
        assertion,
        claim=replace(
            claim,
            object_id=object_id,
            slot_key=key,
            tx=change.stamp,
            ordinal=len(change.claims),
        ),
        details=replace(details, subject_id=person, resolved_via="split"),
    )
    change.claims.append(copy)
    # Two claims of one slot move into one new slot, which has one record.
    known_keys = {record.slot_key for record in change.slots}
    if key not in known_keys:
        change.slots.append(SlotRecord(key, person, slot, scope_id, group.many))

    planning = (person, slot, scope_id) if slot else (key, "", scope_id)
    effect = change.ledger.write(planning, copy.claim, many=group.many)
    change.edges += effect.edges
    change.edges += derivations(copy, change.stamp)
    change.objects += (retraction.claim.object_id, object_id)


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
    receipt = kept_receipt(tx, UnmergeReceipt, derived_id(merge_id, _OPERATION), withheld=False)
    if receipt:
        return receipt

    change = begin(clock, mandate, _OPERATION)
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
    rows: list[Judgement] = []
    ends: set[str] = set()
    for row in tx.judgements(merge_id=merge_id):
        if row.verdict is JudgementVerdict.MATCH and row.tx_end == ALL_TIME.end_us:
            rows.append(row)
            ends |= {row.left_id, row.right_id}
    if not rows:
        raise _unknown_merge(merge_id)
    known = tx.entities(tuple(sorted(ends)), tx_us=change.clock.last_us)

    closed = sorted(row.judgement_id for row in rows)
    other_rows = [row for row in known.judgements if row.judgement_id not in closed]
    # Before anything is taken into the change: without a way to part them nothing is written.
    _check_apart(rows, other_rows)

    change.closed_judgements += closed
    for row in rows if apart else ():
        ids = row.left_id, row.right_id
        judgement = judgement_of(change, ids, JudgementVerdict.NON_MATCH, judged_by, _OPERATION)
        # The row belongs to the merge it takes back, so that every un-merge of it has one id.
        judgement_id = derived_id(merge_id, "/".join((_OPERATION, *ids)))
        change.judgements.append(replace(judgement, judgement_id=judgement_id, merge_id=merge_id))

    parts = _parts(Clusters(other_rows), known)
    canonical: dict[str, str] = {}
    for part, top in parts.items():
        canonical |= dict.fromkeys(part, top)
    take_canonical(change, known, canonical)
    restate(tx, change, known.entities, canonical)
    change.objects += sorted(ends)
    for alias in known.aliases:
        if alias.merge_id == merge_id:
            change.closed_aliases.append(alias)

    cause = ReplanCause("entity_unmerged", merge_id)
    slots = replan_shared(tx, change, canonical, cause, root_of=canonical.__getitem__)
    receipt = UnmergeReceipt(
        merge_id=merge_id,
        parts=tuple(sorted(map(_top_first, parts, parts.values()))),
        replanned_slots=slots,
        tx=change.at,
        actions=change.action_ids,
    )
    change.keep_receipt(derived_id(merge_id, _OPERATION), receipt)
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
        # A path at a time, each taken out before the next is looked for: whoever wants them apart
        # is told every merge to undo, and not one more with each try.
        while chain := Clusters(judgements).path(row.left_id, row.right_id):
            obstacles += chain
            judgements = [judgement for judgement in judgements if judgement not in chain]
    if obstacles:
        raise still_connected(obstacles)


def _parts(clusters: Clusters, known: Known) -> dict[tuple[str, ...], str]:
    """The parts of what was one cluster, each with its canonical id."""
    parts: dict[tuple[str, ...], str] = {}
    for part in sorted(set(map(clusters.of, known.entities))):
        parts[part] = canonical_id([known.entities[raw] for raw in part])
    return parts


def _top_first(part: tuple[str, ...], top: str) -> tuple[str, ...]:
    other_members = [raw for raw in part if raw != top]
    return (top, *other_members)
