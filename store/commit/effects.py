"""What a commit raises beside rows: actions for people, and marks on what was derived.

A tie opens an action and its end closes it. A quarantined claim waits for a review. When an
object loses what it showed, all that was derived from it is flagged stale in the same
transaction: beliefs are to be verified again, summaries to be made anew.

Checklist: C-012, C-072, C-090, C-098.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping, Sequence
from operator import attrgetter

from ...schema.claim import Assertion, Edge, Row
from ...schema.interval import ALL_TIME, INF_US, Interval
from ...schema.values import canonical_json
from ...schema.vocabulary import ActionKind, EdgeKind, ObjectType
from ..port.store import ActionRecord, Flag
from ..timeline.reconcile import Tie
from .admission import AdmittedClaim


def action_id(object_id: str, kind: ActionKind, interval: Interval) -> str:
    """Return the id of an action: the same for the same object, kind and interval."""
    # From its object, so that a retry or a replay opens the same action and not a second one.
    name = f"{kind.value}/{interval.start_us}/{interval.end_us}"
    return str(uuid.uuid5(uuid.UUID(object_id), name))


def tie_action(claim: AdmittedClaim, tie: Tie, rows: Iterable[Row], stamp: int) -> ActionRecord:
    """Return the action that asks a person to settle a tie (C-072).

    `rows` are those of the slot. The action is about a member of the tie: the claim, or, where it
    took away what stood above a tie of others, the one of them that was written last.
    """
    object_id, slot_key = claim.draft.object_id, claim.slot.slot_key
    opened_id = action_id(object_id, ActionKind.SETTLE_TIE, tie.interval)
    if object_id not in tie.members:
        members = [row.claim for row in rows if row.claim.object_id in tie.members]
        last = max(members, key=attrgetter("order"))
        object_id, slot_key = last.object_id, last.slot_key

    return ActionRecord(
        action_id=opened_id,
        kind=ActionKind.SETTLE_TIE,
        object_id=object_id,
        slot_key=slot_key,
        interval=tie.interval,
        members=tie.members,
        detail=canonical_json({"slot": claim.slot.slot, "entity": claim.root}),
        tx_start=stamp,
        tx_end=INF_US,
    )


def hold_action(claim: AdmittedClaim, stamp: int) -> ActionRecord:
    """Return the action that asks a person to accept or reject a quarantined claim."""
    object_id, interval = claim.draft.object_id, claim.assertion.claim.interval
    return ActionRecord(
        action_id=action_id(object_id, ActionKind.REVIEW_QUARANTINE, interval),
        kind=ActionKind.REVIEW_QUARANTINE,
        object_id=object_id,
        slot_key=claim.slot.slot_key,
        interval=interval,
        members=(object_id,),
        detail=canonical_json({"reason": claim.assertion.quarantine, "entity": claim.root}),
        tx_start=stamp,
        tx_end=INF_US,
    )


def stands(action: ActionRecord, ties: Iterable[Tie]) -> bool:
    """Tell whether the tie of an action is still among these."""
    return any(
        action.interval.overlaps(tie.interval) and set(action.members) <= set(tie.members)
        for tie in ties
    )


def derivations(assertion: Assertion, stamp: int) -> list[Edge]:
    """Return the edges from an object to what it was derived from."""
    return [
        Edge(
            kind=EdgeKind.DERIVED_FROM,
            src=assertion.claim.object_id,
            dst=source,
            interval=ALL_TIME,
            reason="",
            relation="",
            tx=stamp,
        )
        for source in assertion.details.derived_from
    ]


def staleness(
    dependants: Sequence[str], assertions: Mapping[str, Assertion], stamp: int
) -> tuple[list[Flag], list[ActionRecord]]:
    """Return the flags and actions for what was derived from changed objects (C-098)."""
    flags = [Flag(object_id, "stale", True, stamp) for object_id in dependants]
    actions = [
        _renewal(object_id, assertions[object_id].details.object_type, stamp)
        for object_id in dependants
        if object_id in assertions
    ]
    return flags, actions


def _renewal(object_id: str, object_type: ObjectType, stamp: int) -> ActionRecord:
    belief = object_type is ObjectType.INFERRED_BELIEF
    kind = ActionKind.REVERIFY_BELIEF if belief else ActionKind.REGENERATE_SUMMARY
    return due_action(object_id, kind, stamp)


def due_action(object_id: str, kind: ActionKind, stamp: int) -> ActionRecord:
    """Return an action that has come due for one object; another stamp asks anew."""
    return ActionRecord(
        action_id=str(uuid.uuid5(uuid.UUID(object_id), f"{kind.value}/{stamp}")),
        kind=kind,
        object_id=object_id,
        slot_key=None,
        interval=ALL_TIME,
        members=(object_id,),
        detail=canonical_json({}),
        tx_start=stamp,
        tx_end=INF_US,
    )
