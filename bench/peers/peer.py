"""What a memory system must do to be measured beside the others.

A peer is asked for no more than this; what it cannot do at all it says by raising
`NotImplementedError`, and the table shows a dash. Everything here is the standard library,
because the environment of a peer holds that peer alone.
"""

from __future__ import annotations

import hashlib
import math
import threading
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

DIMENSIONS = 384
"""Length of the vectors that a peer gets which cannot work without any."""


@dataclass(frozen=True, slots=True)
class Fact:
    """One fact as an application knows it: (subject, slot, value) in [start, end)."""

    subject: str
    slot: str
    value: str
    start: datetime
    end: datetime | None = None
    """None: no end is known."""

    @property
    def text(self) -> str:
        """The sentence for systems that keep sentences."""
        return f"{self.subject} {self.slot} {self.value}"


class Peer(ABC):
    """A memory system that is open on a folder of its own."""

    @abstractmethod
    def __init__(self, folder: Path, slots: Sequence[str]) -> None:
        """Open a store in the folder; each slot holds one value at a time."""

    @abstractmethod
    def write(self, fact: Fact) -> None:
        """Store a fact; it is durable, as far as the system promises that, on return."""

    @abstractmethod
    def search(self, question: str, limit: int) -> list[str]:
        """Return the texts that match best, best first."""

    def values_at(self, subject: str, slot: str, valid: datetime, known: datetime) -> list[str]:
        """Return what was true at `valid` as the store believed at `known`."""
        raise NotImplementedError("it has no reading as of a time")

    def entities(self) -> int:
        """Return how many subjects the store tells apart."""
        raise NotImplementedError("it has no entities")

    def write_together(self, shares: Sequence[Sequence[Fact]]) -> int:
        """Write each share in a thread of its own; return how many writes were refused."""
        refusals: list[Exception] = []
        start = threading.Barrier(len(shares))

        def work(facts: Iterable[Fact]) -> None:
            start.wait()
            for fact in facts:
                try:
                    self.write(fact)
                # Whatever another's store raises is a refusal here, counted and shown.
                except Exception as error:  # noqa: BLE001
                    refusals.append(error)

        threads = [threading.Thread(target=work, args=(facts,)) for facts in shares]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return len(refusals)

    @abstractmethod
    def close(self) -> None:
        """Close the store."""


def hash_vector(text: str) -> list[float]:
    """Embed a text by the hashes of its words: no model, no download, equal for all."""
    vector = [0.0] * DIMENSIONS
    for word in text.lower().replace("|", " ").split():
        digest = hashlib.blake2b(word.encode(), digest_size=8).digest()
        place = int.from_bytes(digest[:4], "big") % DIMENSIONS
        vector[place] += 1.0 if digest[4] & 1 else -1.0

    length = math.sqrt(sum(weight * weight for weight in vector)) or 1.0
    return [weight / length for weight in vector]
