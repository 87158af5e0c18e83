"""The ledger: the rows of the slots that a transaction touches, netted stamp by stamp.

Writes of one transaction are folded in order over rows in memory. At the end of each stamp
the ledger diffs once: a row that was opened and replaced under one stamp is never written,
a row that an earlier stamp of the same transaction opened is born closed. Row numbers are
given in order of writing, so the same history gives the same numbers on every store.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import NamedTuple

from ...schema.claim import Claim, Look, Row
from ...schema.interval import INF_US, Interval
from ...schema.vocabulary import Op
from ..port.records import Closing
from .reconcile import TIED_HEAD, Plan, Reach, Tie, net, plan, rows_after, ties_of

RowKey = tuple[str, Interval, Look]
"""What makes two rows of a slot the same row."""

PlanningSlot = tuple[str, str, str]
"""(canonical subject, slot, scope id): the unit of conflict across a merged cluster."""


class SlotMoment(NamedTuple):
    """The rows of a slot at the end of a stamp."""

    tx: int
    rows: tuple[Row, ...]


@dataclass(slots=True)
class UnsettledSlot:
    """A slot in which ties were closed or changed."""

    object_ids: set[str] = field(default_factory=set[str])
    """The objects that were tied where they were."""
    moments: list[SlotMoment] = field(default_factory=list[SlotMoment])
    """The ends of the stamps that did it, in their order."""


@dataclass(slots=True)
class RowLedger:
    """Open rows by planning slot while a transaction is prepared; not shared, not kept."""

    next_vid: int
    slots: dict[PlanningSlot, tuple[Row, ...]] = field(
        default_factory=dict[PlanningSlot, tuple[Row, ...]]
    )
    _before: dict[PlanningSlot, tuple[Row, ...]] = field(
        default_factory=dict[PlanningSlot, tuple[Row, ...]]
    )
    _new_rows: dict[int, Row] = field(default_factory=dict[int, Row])
    _closed: list[Closing] = field(default_factory=list[Closing])
    _cardinality: dict[PlanningSlot, bool] = field(default_factory=dict[PlanningSlot, bool])
    changed: dict[int, set[str]] = field(default_factory=dict[int, set[str]])
    """Objects that lost what they showed, by the stamp that took it; the stamps rise."""
    unsettled: dict[PlanningSlot, UnsettledSlot] = field(
        default_factory=dict[PlanningSlot, UnsettledSlot]
    )

    def load(self, slot: PlanningSlot, rows: Iterable[Row]) -> None:
        """Put the stored open rows of a slot, once."""
        self.slots[slot] = tuple(rows)

    def write(
        self, slot: PlanningSlot, claim: Claim, *, many: bool, reach: Reach | None = None
    ) -> Plan:
        """Plan a claim over the rows as they stand now, and take the result."""
        rows = self.slots.setdefault(slot, ())
        self._before.setdefault(slot, rows)
        self._cardinality[slot] = many
        read = rows if claim.op.withdraws else list(filter(_decides, rows))
        outcome_plan = plan(read, claim, many=many, **({"reach": reach} if reach else {}))
        self.slots[slot] = rows_after(rows, outcome_plan)

        return outcome_plan

    def put(self, slot: PlanningSlot, rows: Sequence[Row], *, many: bool) -> None:
        """Replace a slot's rows, as a fold of its claims gives them."""
        self._cardinality[slot] = many
        self._before.setdefault(slot, self.slots.setdefault(slot, ()))
        self.slots[slot] = tuple(rows)

    def settle(self, tx: int) -> None:
        """End a stamp: number what is new and close what is gone."""
        for slot, before in self._before.items():
            # Numbers are given here and not while planning: most rows that a stamp opens for a
            # moment are gone again at its end, and a number that no store holds would be a gap.
            close, insert = net(before, self.slots[slot])
            known: dict[RowKey, Row] = {}
            for row in before:
                known[row.row_key] = row
            for row in insert:
                known[row.row_key] = self._number(row, tx)
            self.slots[slot] = tuple(known[row.row_key] for row in self.slots[slot])

            for row in close:
                self._close(row, tx)

            self._note(slot, close, insert, tx)
            self._unsettle(slot, before, close, tx)

        self._before.clear()

    def _number(self, row: Row, tx: int) -> Row:
        # Said in full: a write numbers three rows, and `replace` costs thrice the record itself.
        numbered_row = Row(
            self.next_vid, row.claim, row.interval, row.look, tx, row.tx_end, row.continues
        )
        self.next_vid += 1
        self._new_rows[numbered_row.vid] = numbered_row

        return numbered_row

    def _close(self, row: Row, tx: int) -> None:
        if row.vid in self._new_rows:
            self._new_rows[row.vid] = replace(self._new_rows[row.vid], tx_end=tx)
        else:
            self._closed.append(Closing(row.vid, tx))

    def _note(
        self, slot: PlanningSlot, close: Sequence[Row], insert: Sequence[Row], tx: int
    ) -> None:
        for row in close:
            if row.look.head and not _still(row, insert):
                self.changed.setdefault(tx, set()).add(row.claim.object_id)

    def _unsettle(
        self, slot: PlanningSlot, before: Sequence[Row], close: Sequence[Row], tx: int
    ) -> None:
        """Note who was tied where a tied row goes: no other tie of the slot can have changed."""
        intervals = [row.interval for row in close if row.look == TIED_HEAD]
        if not intervals:
            return

        stretch = reduce(Interval.hull, intervals)
        unsettled_slot = self.unsettled.setdefault(slot, UnsettledSlot())
        unsettled_slot.moments.append(SlotMoment(tx, self.slots[slot]))
        for row in before:
            if row.look == TIED_HEAD and row.interval.overlaps(stretch):
                unsettled_slot.object_ids.add(row.claim.object_id)

    def ties(
        self,
        slot: PlanningSlot,
        stored_rows: Iterable[Row] = (),
        *,
        moment: SlotMoment | None = None,
    ) -> tuple[Tie, ...]:
        """Return the ties that stand in a slot now, or that stood there at a moment.

        `stored_rows` are its open rows from before the transaction, where it may hold only some.
        """
        tx, slot_rows = moment or SlotMoment(INF_US, self.slots[slot])
        rows = {row.vid: row for row in stored_rows}
        # Closings are of all slots: with none of its own to leave out, a slot does not read them.
        for closing in self._closed if rows else ():
            if closing.tx <= tx:
                rows.pop(closing.vid, None)
        for row in slot_rows:
            rows[row.vid] = row

        return ties_of(rows.values(), many=self._cardinality.get(slot, False))

    @property
    def closings(self) -> tuple[Closing, ...]:
        """Return the stored rows to close."""
        return tuple(self._closed)

    @property
    def rows(self) -> tuple[Row, ...]:
        """Return the new rows by number."""
        return tuple(map(self._new_rows.__getitem__, sorted(self._new_rows)))


def _decides(row: Row) -> bool:
    """Tell whether a plain write reads a row, so that grouping writes changes no row."""
    return row.look.head or row.claim.op is Op.DENY


def _still(row: Row, insert: Sequence[Row]) -> bool:
    """Tell whether a closed row's whole extent is shown again by rows of the same claim."""
    intervals: list[Interval] = []
    for new in insert:
        if new.claim.object_id == row.claim.object_id and new.look == row.look:
            intervals.append(new.interval)

    # A gap keeps the end where it is, and whatever starts behind it cannot move it any more.
    end_us = row.interval.start_us
    for interval in sorted(intervals):
        if interval.start_us <= end_us:
            end_us = max(end_us, interval.end_us)

    return end_us >= row.interval.end_us
