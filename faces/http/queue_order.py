"""The order of a caller's queue: what comes after a case, without reading the whole queue again.

Its rank is what each case blocks, and reading that of two thousand cases takes longer than a
decision. So the order of the last reading is kept for some minutes, and a page looks only at the
case that it leads to: one that was decided since, or asks something else now, is passed over.
A case that came later is in its place when the queue is opened or the order is read anew.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING, Final

from ...schema.vocabulary import ReviewState
from ...service.backend.caller import backend_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ...schema.entity import Review
    from ...schema.principal import Principal
    from ...service.client.memory import Memory

_FRESH_S: Final = 300.0
"""After which the next page reads the order anew."""
_CALLERS: Final = 64
_CASES: Final = 1_000
"""The most pressing ones, of which some minutes decide few."""


@dataclass(slots=True)
class _Queue:
    """What is kept of one caller."""

    versions: dict[str, int] = field(default_factory=dict[str, int])
    """The versions of the cases by id, the most pressing first."""
    read_s: float | None = None
    """When the order was read; None before the first reading."""
    decisions: list[str] = field(default_factory=list[str])
    """The cases that were decided here and not taken back, in order."""


class QueueOrders:
    """The queues of the callers that were here last."""

    def __init__(self) -> None:
        self._queues: OrderedDict[Principal, _Queue] = OrderedDict()
        self._guard = Lock()

    def read(self, memory: Memory) -> tuple[Review, ...]:
        """The whole queue of a caller as it stands, whose order is kept."""
        cases = memory.reviews.list()
        queue = self._kept(memory)
        queue.versions = {case.review_id: case.version for case in cases[:_CASES]}
        queue.read_s = time.monotonic()
        return cases

    def neighbours(self, memory: Memory, review_id: str) -> tuple[str, str]:
        """The waiting cases before and after one; empty at an end of the queue."""
        ids = [*self._order(memory, renewing=True).versions]
        case = None if review_id in ids else _case(memory, review_id)
        if case is not None and case.state in (ReviewState.OPEN, ReviewState.UNDONE):
            ids = [case.review_id for case in self.read(memory)]  # it came after the last reading
        if review_id not in ids:
            return "", self._first_waiting(memory, ids)
        place = ids.index(review_id)
        before = self._first_waiting(memory, reversed(ids[:place]))
        return before, self._first_waiting(memory, ids[place + 1 :])

    def decisions(self, memory: Memory) -> tuple[str, ...]:
        """The cases that a caller has decided here and not taken back, in order."""
        return tuple(self._kept(memory).decisions)

    def take_out(self, memory: Memory, review_id: str) -> str:
        """Take a decided case out of the order; the one to lead to, empty when none waits."""
        queue = self._order(memory)
        with self._guard:
            queue.decisions.append(review_id)
            del queue.decisions[:-_CASES]
        ids = [*queue.versions]
        place = ids.index(review_id) if review_id in ids else 0
        ranked_ids = (*ids[place:], *reversed(ids[:place]))
        remaining_ids = [name for name in ranked_ids if name != review_id]
        following = self._first_waiting(memory, remaining_ids)
        queue.versions.pop(review_id, None)
        if following:
            return following

        # What was kept has been decided: others may have come meanwhile.
        further_ids = [case.review_id for case in self.read(memory)]
        return next((name for name in further_ids if name != review_id), "")

    def put_back(self, memory: Memory, review_id: str) -> None:
        """Put a case whose decision was taken back before all others."""
        queue = self._order(memory)
        with self._guard:
            if review_id in queue.decisions:
                queue.decisions.remove(review_id)
        case = _case(memory, review_id)
        if case is not None:
            queue.versions = {review_id: case.version, **queue.versions}

    def _kept(self, memory: Memory) -> _Queue:
        """What is kept of a caller; the caller that was here longest ago goes."""
        with self._guard:
            queue = self._queues.setdefault(memory.principal, _Queue())
            self._queues.move_to_end(memory.principal)
            while len(self._queues) > _CALLERS:
                self._queues.popitem(last=False)
            return queue

    def _order(self, memory: Memory, *, renewing: bool = False) -> _Queue:
        """The queue of a caller, read where its order is not known, or too old to lead by it."""
        read_s = self._kept(memory).read_s
        if read_s is None or (renewing and time.monotonic() - read_s > _FRESH_S):
            self.read(memory)
        return self._kept(memory)

    def _first_waiting(self, memory: Memory, review_ids: Iterable[str]) -> str:
        """The first of some cases that waits as it did when the order was read."""
        versions = self._order(memory).versions
        with backend_of(memory).store.reading(memory.principal.tenant) as reader:
            for review_id in review_ids:
                case = reader.review(review_id)
                if case is not None and case.version == versions.get(review_id):
                    return review_id
        return ""


def _case(memory: Memory, review_id: str) -> Review | None:
    """A case in its newest version."""
    with backend_of(memory).store.reading(memory.principal.tenant) as reader:
        return reader.review(review_id)
