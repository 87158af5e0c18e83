"""anatid on one DuckDB file, with its full-text index and no vectors."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from anatid import Anatid
from peer import Fact, Peer


class AnatidPeer(Peer):
    """It finds no conflicts itself: the application remembers which memory a slot has.

    A memory takes a start and no end, so a fact with an end is written without it.
    """

    def __init__(self, folder: Path, slots: Sequence[str]) -> None:
        self._store = Anatid.open(folder / "memory.anatid", tenant=1)
        self._current: dict[tuple[str, str], int] = {}
        self._lock = threading.Lock()

    def write(self, fact: Fact) -> None:
        slot = (fact.subject, fact.slot)
        with self._lock:
            current = self._current.get(slot)
            if current is None:
                memory = self._store.remember(
                    fact.text, entities=[fact.subject], valid_from=fact.start
                )
            else:
                memory = self._store.supersede(current, fact.text)
            self._current[slot] = memory.memory_id

    def search(self, question: str, limit: int) -> list[str]:
        return [hit.content for hit in self._store.recall(question, k=limit)]

    def values_at(self, subject: str, slot: str, valid: datetime, known: datetime) -> list[str]:
        prefix = f"{subject} {slot} "
        view = self._store.as_of(valid, tx_time=known)
        texts = [memory.content for memory in view.context(subject, limit=1000)]
        return [text.removeprefix(prefix) for text in texts if text.startswith(prefix)]

    def entities(self) -> int:
        row = self._store.execute("SELECT count(DISTINCT entity_id) FROM entities").fetchone()
        return int(row[0])

    def close(self) -> None:
        self._store.close()


PEER = AnatidPeer
