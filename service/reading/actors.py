"""Who made each version, as far as a caller may learn it.

A hidden object hides who wrote it; whoever may audit reads every name. Checklist: C-113.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from operator import attrgetter
from typing import Final

from ...schema.claim import Assertion, Look, Row, Version
from ...schema.principal import AUDIT
from ...schema.vocabulary import Status
from ...schema.write import Receipt
from ...store.port.receipts import decode
from ...store.port.store import Reader, TxEvent
from ...store.port.tables import EVENTS, RECEIPTS
from ..backend.caller import Caller
from .objects import WINS, Mask, visible_rows

WRITES: Final = frozenset({"write", "replay"})
"""Their events list the objects that they brought; those of operations list entities too."""


def receipts_of(reader: Reader, object_ids: Sequence[str]) -> dict[str, Receipt]:
    """The receipts of writes by object id; of an erased write none is left."""
    receipts: dict[str, Receipt] = {}
    for row in reader.find(RECEIPTS, "object_id", object_ids):
        if row.body:
            receipts[row.object_id] = decode(row.body)
    return receipts


@dataclass(frozen=True, slots=True)
class ActorReader(Caller):
    """The names of those who made transactions, as one caller may read them."""

    def actors(self, reader: Reader, stamps: Iterable[int]) -> Mapping[int, str]:
        """Who made the transactions with these stamps, empty where a hidden object would tell."""
        events = reader.find(EVENTS, "tx", sorted(set(stamps)))
        visible = self._visible_rows_by_object(reader, events)

        actors: dict[int, str] = {}
        for event in events:
            shows_object = not visible.keys().isdisjoint(event.object_ids)
            is_named = self.principal.holds(AUDIT) or event.op not in WRITES or shows_object
            actors[event.tx] = event.actor if is_named else ""

        return actors

    def _visible_rows_by_object(
        self, reader: Reader, events: Sequence[TxEvent]
    ) -> dict[str, list[Version]]:
        event_ids = map(attrgetter("object_ids"), events)
        object_ids = sorted(set(chain.from_iterable(event_ids)))
        rows = self._rows_of(reader, object_ids)
        by_object = self._visible_by_object(reader, rows)

        # A retraction has no row of its own: what it took back is in its receipt.
        rowless = sorted(set(object_ids) - {version.row.claim.object_id for version in rows})
        receipts = receipts_of(reader, rowless)
        superseded = map(attrgetter("superseded"), receipts.values())
        lost_ids = sorted(set(chain.from_iterable(superseded)))
        lost_rows = self._visible_by_object(reader, self._rows_of(reader, lost_ids))
        for object_id, receipt in receipts.items():
            for lost_id in receipt.superseded:
                if lost_id in lost_rows:
                    by_object.setdefault(object_id, lost_rows[lost_id])

        # Nor has what the same transaction took back.
        withdrawn_rows = self.find_withdrawn(reader, set(rowless) - by_object.keys())
        return {**{object_id: [row] for object_id, row in withdrawn_rows.items()}, **by_object}

    def find_withdrawn(self, reader: Reader, object_ids: Collection[str]) -> dict[str, Version]:
        """Claims that the write which made them also took back, as versions nobody believed.

        By object id, of those without rows that the caller may see: of a claim itself, of a
        withdrawal the first claim that it took back.
        """
        if not object_ids:
            return {}

        reasons: dict[str, str] = {}
        claims: dict[str, list[str]] = {}
        for edge in reader.edges(sorted(object_ids), tx_us=reader.clock().last_us):
            if edge.kind in WINS:
                reasons[edge.dst] = edge.reason
                claims.setdefault(edge.src, []).append(edge.dst)
        claims |= {object_id: [object_id] for object_id in reasons}

        versions: dict[str, Version] = {}
        sight = self.principal.sight()
        for claim_id, assertion in sorted(reader.assertions(sorted(reasons)).items()):
            if assertion.is_visible(sight):
                versions[claim_id] = _withdrawn_version(assertion, reasons[claim_id])
        masked_rows = Mask(self.principal, self._backend.policy).over(reader, versions.values())
        versions = dict(zip(versions, masked_rows, strict=True))

        answers: dict[str, Version] = {}
        for object_id in sorted(object_ids):
            for claim_id in sorted(claims.get(object_id, ())):
                if claim_id in versions:
                    answers.setdefault(object_id, versions[claim_id])
        return answers

    def _visible_by_object(
        self, reader: Reader, rows: Sequence[Version]
    ) -> dict[str, list[Version]]:
        by_object: dict[str, list[Version]] = {}
        masked_rows = Mask(self.principal, self._backend.policy).over(reader, rows)
        for version in visible_rows(masked_rows):
            by_object.setdefault(version.row.claim.object_id, []).append(version)

        return by_object


def _withdrawn_version(assertion: Assertion, reason: str) -> Version:
    """A claim as a version that ended when it began."""
    claim = assertion.claim
    row = Row(
        vid=0,
        claim=claim,
        interval=claim.interval,
        look=Look(Status.OVERRIDDEN, reason, head=False),
        tx_start=claim.tx,
        tx_end=claim.tx,
    )
    return Version(
        row=row,
        details=assertion.details,
        content=assertion.content,
        permissions=assertion.permissions,
        visible=True,
    )
