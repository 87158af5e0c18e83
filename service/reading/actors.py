"""Who made each version, as far as a caller may learn it.

A hidden object hides who wrote it; whoever may audit reads every name. Checklist: C-113.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Final

from ...schema.claim import Version
from ...schema.principal import AUDIT
from ...store.port.store import Reader, TxEvent
from ..backend.caller import Caller
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
        object_ids = sorted(set(chain.from_iterable(event.object_ids for event in events)))
        rows = Mask(self.principal, self.backend.policy).over(
            reader, self._rows_of(reader, object_ids)
        )

        by_object: defaultdict[str, list[Version]] = defaultdict(list)
        for version in rows:
            if version.visible:
                by_object[version.row.claim.object_id].append(version)

        return dict(by_object)
