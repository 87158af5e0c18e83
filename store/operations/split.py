"""Splitting: the claims under one pending name, given to the people they are about.

The first group stays with the entity that waited; each further group gets an entity of its own
under the same name, told apart by a raised ordinal, and NON_MATCH rows between all of them. A
claim moves by a retract of exactly that claim and a new assert that copies it; history stays.
Source: settled 9 (namesakes); resolution 8 (the case that closing a row cannot repair).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

from ...resolution.keys import alias_key, free_ordinal
from ...resolution.known import Lookup
from ...schema.claim import EMPTIED, Assertion, slot_key, text_key
from ...schema.entity import Alias, Entity, Review
from ...schema.errors import InvalidInput
from ...schema.interval import ALWAYS
from ...schema.vocabulary import EntityState, JudgedBy, JudgementVerdict, Op
from ..commit.effects import derivations
from ..commit.namesakes import Line, groups
from ..port.store import SlotRecord, WriteTx
from ..timeline.rule import everywhere
from .change import Change, derived_id, judged
from .replan import Group, Why, flag_dependants, groups_for, replan


def rejoined(tx: WriteTx, case: Review) -> tuple[str, ...]:
    """Return the raw ids of a case whose split was undone, the waiting one first; else that."""
    rows = tx.judgements(merge_id=case.merge_id) if case.merge_id else ()
    ends = {
        raw
        for row in rows
        if row.verdict is JudgementVerdict.MATCH and row.tx_end == ALWAYS.end_us
        for raw in (row.left_id, row.right_id)
    }
    return case.entity_id, *sorted(ends - {case.entity_id})


def stories(tx: WriteTx, case: Review) -> tuple[tuple[str, ...], ...]:
    """Return the object ids of a case's claims in groups that do not contradict themselves."""
    members = rejoined(tx, case)
    held = tx.assertions(tx.objects_of(members))
    own = [a for a in held.values() if a.details.subject_id in members]
    many = {r.slot_key: r.many for r in tx.slots(tuple(sorted({a.claim.slot_key for a in own})))}
    moved = {a.claim.target for a in own if a.claim.op.withdraws}
    lines = [
        line_of(one, many=many.get(one.claim.slot_key, False))
        for one in sorted(own, key=lambda a: a.claim.order)
        if not one.claim.op.withdraws and one.claim.object_id not in moved
    ]
    return tuple(tuple(line.object_id for line in group) for group in groups(lines))


def line_of(one: Assertion, *, many: bool) -> Line:
    """Return a stored claim as a line of a story."""
    return Line(
        object_id=one.claim.object_id,
        slot=one.details.slot or "",
        value=one.claim.value_key,
        shown=one.content.normalized_claim or one.content.text,
        since_us=one.claim.since_us,
        until_us=one.claim.interval.end_us,
        source=one.details.source_origin,
        plain=one.claim.op is Op.ASSERT and not many and one.details.slot is not None,
    )


def split(
    tx: WriteTx, change: Change, case: Review, parts: Sequence[Sequence[str]]
) -> tuple[str, ...]:
    """Give each group of claims after the first to a new entity; return all, the first first.

    Raises:
        InvalidInput: `not_a_member` for a claim that is not about the waiting entity.
    """
    members = rejoined(tx, case)
    held = tx.assertions(tuple(object_id for part in parts for object_id in part))
    for object_id in (object_id for part in parts for object_id in part):
        if object_id not in held or held[object_id].details.subject_id not in members:
            raise InvalidInput(
                f"{object_id} is no claim about {case.mention!r} of this review; "
                "see reviews.get() for its groups",
                code="not_a_member",
                object_id=object_id,
            )
    home = [o for o in parts[0] if held[o].details.subject_id != case.entity_id] if parts else []
    moved = [*home, *(object_id for part in parts[1:] for object_id in part)]
    old = groups_for(tx, (held[o].claim.slot_key for o in moved), change.clock.last_us)
    # folded, not withdrawn: an equal claim that has no row of its own must come back
    replan(tx, change, old, reach=everywhere, why=Why("entity_split"), without=frozenset(moved))
    people = [case.entity_id]
    for object_id in home:
        _move(change, old, held[object_id], case.entity_id)
    for number, part in enumerate(parts[1:], 2):
        person = _person(tx, change, case, number)
        people.append(person)
        for object_id in part:
            _move(change, old, held[object_id], person)
    change.ledger.settle(change.stamp)
    flag_dependants(tx, change, without=frozenset(moved))
    change.judgements += [
        judged(change, pair, JudgementVerdict.NON_MATCH, JudgedBy.HUMAN, "split")
        for pair in combinations(people, 2)
    ]
    return tuple(people)


def _person(tx: WriteTx, change: Change, case: Review, number: int) -> str:
    raw = derived_id(change.mandate.operation_id, f"split/{number}")
    norm = alias_key(case.mention)
    found = tx.known(Lookup(norms=(norm,)), scopes=(case.scope_id,), tx_us=change.clock.last_us)
    same = (*found.aliases, *change.aliases)
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
    change.aliases.append(
        Alias(
            entity_id=raw,
            surface=case.mention,
            norm=norm,
            type=case.type,
            scope_id=case.scope_id,
            ordinal=free_ordinal(a.ordinal for a in same if a.norm == norm),
            valid_from=ALWAYS.start_us,
            valid_until=ALWAYS.end_us,
            tx_start=change.stamp,
            object_id=case.object_id,
        )
    )
    return raw


def _move(change: Change, old: Sequence[Group], one: Assertion, person: str) -> None:
    """Retract one claim where it stands, and assert it about another person."""
    group = next(g for g in old if one.claim.slot_key in g.keys)
    gone = replace(
        one,
        claim=replace(
            one.claim,
            object_id=derived_id(one.claim.object_id, f"moved/{change.stamp}"),
            op=Op.RETRACT,
            tx=change.stamp,
            ordinal=len(change.claims),
            target=one.claim.object_id,
        ),
        details=replace(
            one.details, derived_from=(), actor=change.mandate.actor, resolved_via="split"
        ),
        content=EMPTIED,
    )
    change.claims.append(gone)
    object_id = derived_id(one.claim.object_id, f"split/{change.stamp}")
    scope_id, slot = one.details.scope.scope_id, one.details.slot
    key = slot_key(person, slot, scope_id) if slot else text_key(object_id)
    record = SlotRecord(key, person, slot, scope_id, group.many)
    again = replace(
        one,
        claim=replace(
            one.claim,
            object_id=object_id,
            slot_key=key,
            tx=change.stamp,
            ordinal=len(change.claims),
        ),
        details=replace(one.details, subject_id=person, resolved_via="split"),
    )
    change.claims.append(again)
    if all(known.slot_key != key for known in change.slots):
        change.slots.append(record)
    planning = (person, slot, scope_id) if slot else (key, "", scope_id)
    told = change.ledger.write(planning, again.claim, many=group.many)
    change.edges += (*told.edges, *derivations(again, change.stamp))
    change.objects += (gone.claim.object_id, object_id)
