"""memvara on its SQLite store, without a model, at the durability of the others: FULL."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from memvara import Memvara
from memvara.schema import Cardinality, PredicateSpec
from peer import Fact, Peer


class MemvaraPeer(Peer):
    """Its slots are declared single-valued, so that a new value ends the old one."""

    def __init__(self, folder: Path, slots: Sequence[str]) -> None:
        # It says once that it has no model to read prose with; none is used here.
        warnings.simplefilter("ignore")
        self._memory = Memvara(str(folder / "memvara.db"))
        self._memory.store._db.execute("PRAGMA synchronous=FULL")
        for slot in slots:
            spec = PredicateSpec(self._memory.registry.normalize(slot), Cardinality.ONE)
            self._memory.registry.register(spec)

    def write(self, fact: Fact) -> None:
        self._memory.remember(
            fact.subject, fact.slot, fact.value, valid_from=fact.start, valid_to=fact.end
        )

    def search(self, question: str, limit: int) -> list[str]:
        return [hit.claim.object for hit in self._memory.search(question, k=limit)]

    def values_at(self, subject: str, slot: str, valid: datetime, known: datetime) -> list[str]:
        predicate = self._memory.registry.normalize(slot)
        claims = self._memory.get_all(valid_at=valid, known_at=known)
        return [c.object for c in claims if c.subject == subject and c.predicate == predicate]

    def entities(self) -> int:
        return len({claim.subject_key for claim in self._memory.get_all()})

    def close(self) -> None:
        self._memory.close()


PEER = MemvaraPeer
