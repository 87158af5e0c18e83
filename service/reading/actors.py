"""Who made each version, as far as a caller may learn it.

A hidden object hides who wrote it; whoever may audit reads every name. Checklist: C-113.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from operator import attrgetter
from typing import Final

from ...schema.claim import Version
from ...schema.principal import AUDIT
from ...store.port.receipts import decode
from ...store.port.store import Reader, TxEvent
from ..backend.caller import Caller
from .context_objects import visible_rows
from .masking import Mask

WRITES: Final = frozenset({"write", "replay"})
"""Their events list the objects that they brought; those of operations list entities too."""


@dataclass(frozen=True, slots=True)
class ActorReader(Caller):
    """The names of those who made transactions, as one caller may read them."""

    @property
    def _reads_all(self) -> bool:
        return not self.principal.roles.isdisjoint(AUDIT.roles)

    def actors(self, reader: Reader, stamps: Iterable[int]) -> Mapping[int, str]:
        """Who made the transactions with these stamps, empty where a hidden object would tell."""
        events = reader.events_at(sorted(set(stamps)))
        visible = self._visible_rows_by_object(reader, events)

        actors: dict[int, str] = {}
        for event in events:
            shows_object = not visible.keys().isdisjoint(event.object_ids)
            is_named = self._reads_all or event.op not in WRITES or shows_object
            actors[event.tx] = event.actor if is_named else ""

        return actors

    def _visible_rows_by_object(
        self, reader: Reader, events: Sequence[TxEvent]
    ) -> dict[str, list[Version]]:
        event_ids = map(attrgetter("object_ids"), events)
        object_ids = sorted(set(chain.from_iterable(event_ids)))
        rows = self._rows_of(reader, object_ids)
        by_object = self._visible_by_object(reader, rows)

        # A retraction has no row of its own: what it took back stands in its receipt.
        rowless = sorted(set(object_ids) - {version.row.claim.object_id for version in rows})
        retracted_ids: dict[str, tuple[str, ...]] = {}
        for receipt in reader.receipts(rowless):
            retracted_ids[receipt.object_id] = _superseded(receipt.body)

        lost_ids = sorted(set(chain.from_iterable(retracted_ids.values())))
        lost_rows = self._visible_by_object(reader, self._rows_of(reader, lost_ids))
        for object_id, superseded in retracted_ids.items():
            for lost_id in superseded:
                if lost_id in lost_rows:
                    by_object.setdefault(object_id, lost_rows[lost_id])

        return by_object

    def _visible_by_object(
        self, reader: Reader, rows: Sequence[Version]
    ) -> dict[str, list[Version]]:
        by_object: dict[str, list[Version]] = {}
        masked_rows = Mask(self.principal, self._backend.policy).over(reader, rows)
        for version in visible_rows(masked_rows):
            by_object.setdefault(version.row.claim.object_id, []).append(version)

        return by_object


def _superseded(body: str) -> tuple[str, ...]:
    # The receipt of an erased write is kept without its words.
    return decode(body).superseded if body else ()
