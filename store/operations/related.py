"""Two that are told to stand in a relation: whoever manages somebody is somebody else.

A relation is no judgement. It stands in the way of a merge that a person orders, as a standing
judgement does: it is named, and its `merge_conflict` action lets a person merge all the same. Which
claims count is for the caller to say, who may not see all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...schema.claim import Assertion
from ...schema.interval import INF_US, Interval
from ...schema.values import canonical_value
from ...schema.vocabulary import Op, Status, ValueType
from ..port.store import SlotRead, SlotRecord, WriteTx
from .change import Mandate, begin
from .merge import ask_about_merge

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
    for record in tx.slots_of(tuple(sorted(ends))):
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


def ask_about_relation(
    tx: WriteTx, ids: tuple[str, str], relations: Sequence[Assertion], *, mandate: Mandate
) -> None:
    """Record, once, that a relation stands in the way of a merge, for a person to decide."""
    object_ids = [relation.claim.object_id for relation in relations]
    change = begin(tx.lock(), mandate, "merge_refused")
    detail = {"relation": object_ids[0], "slot": relations[0].details.slot}
    ask_about_merge(tx, change, ids, object_ids, detail)
