"""Receipts of merges, un-merges and decisions, as their caller may read them.

The store keeps the whole of what was done. Whoever ordered it is told the parts, slots and ties
that any other read would show to them, and that there is more; an auditor is told all of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

from ...schema.answers import ActionReceipt, MergeReceipt, ReviewReceipt, UnmergeReceipt
from ...schema.claim import slot_key
from ...schema.principal import AUDIT
from ...store.port.store import Ask, Point, Reader
from ..backend.caller import FAR_US, Caller
from ..reading.entities import visible_raw_ids
from ..reading.objects import visible_object_ids, visible_rows
from .visible_cases import renamed_case

_Tied = TypeVar("_Tied", MergeReceipt, UnmergeReceipt)


class VisibleReceipts(Caller):
    """What one caller may be told of what was done."""

    __slots__ = ()

    def merge(self, receipt: MergeReceipt) -> MergeReceipt:
        """A merge without the members, slots, ties and bridges that the caller may not see."""
        if self.principal.holds(AUDIT):
            return receipt

        with self._reading() as reader:
            ids = self._visible_ids(reader, receipt.members) | {receipt.canonical_id}
            slots = self._visible_slots(reader, receipt.members, receipt.replanned_slots)
            visible_receipt = replace(
                receipt,
                members=tuple(filter(ids.__contains__, receipt.members)),
                bridges=tuple(filter(ids.issuperset, receipt.bridges)),
                replanned_slots=tuple(filter(slots.__contains__, receipt.replanned_slots)),
                actions=self._visible_actions(reader, receipt.actions),
            )
        return _marked(receipt, visible_receipt)

    def unmerge(self, receipt: UnmergeReceipt) -> UnmergeReceipt:
        """An un-merge without the parts, members, slots and ties that the caller may not see."""
        if self.principal.holds(AUDIT):
            return receipt

        parts: list[tuple[str, ...]] = []
        slots: set[str] = set()
        with self._reading() as reader:
            for part in receipt.parts:
                top, *_ = part
                start = f"{top}/"
                slots_of_part = [slot for slot in receipt.replanned_slots if slot.startswith(start)]
                slots |= self._visible_slots(reader, part, slots_of_part)
                if ids := self._visible_ids(reader, part):
                    ids.add(top)
                    parts.append(tuple(filter(ids.__contains__, part)))
            visible_receipt = replace(
                receipt,
                parts=tuple(parts),
                replanned_slots=tuple(filter(slots.__contains__, receipt.replanned_slots)),
                actions=self._visible_actions(reader, receipt.actions),
            )
        return _marked(receipt, visible_receipt)

    def review(self, receipt: ReviewReceipt) -> ReviewReceipt:
        """A decision with its case, merge and un-merge as the caller may see them."""
        with self._reading() as reader:
            case = renamed_case(reader, receipt.review, self.principal)
        return replace(
            receipt,
            review=case,
            merge=receipt.merge and self.merge(receipt.merge),
            unmerge=receipt.unmerge and self.unmerge(receipt.unmerge),
        )

    def action(self, receipt: ActionReceipt) -> ActionReceipt:
        """A settled entry of the queue, with its merge as the caller may see it."""
        return replace(receipt, merge=receipt.merge and self.merge(receipt.merge))

    def _visible_ids(self, reader: Reader, members: Sequence[str]) -> set[str]:
        """The raw ids that any other read would tell the caller."""
        tx_us = reader.clock().last_us
        known = reader.entities(members, tx_us=tx_us)
        rows = reader.name_rows(sorted(known.entities), tx_us=tx_us)
        return set(members) & visible_raw_ids(known, rows, self.principal.sight())

    def _visible_slots(
        self, reader: Reader, members: Sequence[str], slots: Sequence[str]
    ) -> set[str]:
        """Those of the slots of one entity in which the caller may see anything."""
        if not slots:
            return set()

        names = sorted({slot.split("/", 2)[1] for slot in slots})
        ask = Ask(
            subjects=tuple(members), slots=tuple(names), heads=False, at_valid=False, at_tx=False
        )
        point = Point(FAR_US, reader.clock().last_us)
        page = reader.versions(ask, sight=self.principal.sight(), point=point)

        # A slot bears the canonical id of its day, which later merges change.
        endings: set[str] = set()
        for version in visible_rows(page.versions):
            details = version.details
            endings.add(slot_key("", details.slot or "", details.scope.scope_id))
        return {slot for slot in slots if slot[slot.index("/") :] in endings}

    def _visible_actions(self, reader: Reader, action_ids: Sequence[str]) -> tuple[str, ...]:
        """Those of some entries of the queue that it would list to the caller."""
        if not action_ids:
            return ()

        objects: dict[str, str] = {}
        for record in reader.actions(open_only=False, tx_us=reader.clock().last_us):
            if record.action_id in action_ids:
                objects[record.action_id] = record.object_id
        visible_ids = visible_object_ids(self._rows_of(reader, sorted(set(objects.values()))))
        return tuple([entry for entry in action_ids if objects.get(entry) in visible_ids])


def _marked(receipt: _Tied, visible_receipt: _Tied) -> _Tied:
    """A receipt with the word that there is more, where anything was left out of it."""
    return replace(visible_receipt, withheld=visible_receipt != receipt)
