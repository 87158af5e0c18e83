"""tenure through its client, embedded, with the settings of `tenure.connect` but for one bound.

Ten thousand names of people leave more doubtful ones than a source may have waiting for a steward,
and nobody decides them here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from peer import Fact, Peer

import tenure
from tenure.schema.policy import Policy

_BACKLOG = 1_000_000


class TenurePeer(Peer):
    """Every write is resolved, checked, reconciled, and synced to the disk."""

    def __init__(self, folder: Path, slots: Sequence[str]) -> None:
        usual = Policy()
        resolution = replace(usual.resolution, source_backlog=_BACKLOG)
        policy = replace(usual, resolution=resolution)
        self._memory = tenure.connect(str(folder / "tenure.db"), policy=policy)
        known = set(self._memory.vocabulary.slots())
        for slot in slots:
            if slot not in known:
                self._memory.vocabulary.define_slot(slot, description=f"the {slot} of a person")

    def write(self, fact: Fact) -> None:
        self._memory.write(
            fact.subject, fact.slot, fact.value, valid_from=fact.start, valid_until=fact.end
        )

    def search(self, question: str, limit: int) -> list[str]:
        hits = self._memory.as_of().search(question, limit=limit).hits
        return [str(hit.object.value) for hit in hits]

    def values_at(self, subject: str, slot: str, valid: datetime, known: datetime) -> list[str]:
        state = self._memory.as_of(valid, known).slot(subject, slot)
        return [str(value) for value in state.values]

    def entities(self) -> int:
        return len(self._memory.entities.list())

    def close(self) -> None:
        self._memory.close()


PEER = TenurePeer
