"""A bounded map for what is decoded again and again.

Two halves: when the young one is full it becomes the old one, and the old one is dropped. Safe
to share between threads, because each step is one dictionary operation and a lost race only
costs a second look-up. What may be kept, and for how long, is the adapter's business.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")


class Halves(Generic[K, V]):
    """A bounded map: when the young half is full it becomes the old one."""

    __slots__ = ("_most", "_old", "_room", "_size_of", "_taken", "_young")

    def __init__(
        self, size: int, *, room: int = 0, size_of: Callable[[V], int] | None = None
    ) -> None:
        """Bound each half by entries, and where `size_of` tells their bytes by `room` bytes too.

        One entry may stand over the room: a half is turned once it has taken that much.
        """
        self._most = size
        self._room = room
        self._size_of = size_of
        self._taken = 0
        self._young: dict[K, V] = {}
        self._old: dict[K, V] = {}

    def get(self, key: K) -> V | None:
        """Return what is kept, and keep it longer."""
        # Two plain dictionaries instead of an order of use: a hit in the young one writes nothing.
        entry = self._young.get(key)
        if entry is None and (entry := self._old.get(key)) is not None:
            self.put(key, entry)
        return entry

    def values(self) -> list[V]:
        """What is kept, in no order; what stands in both halves comes once."""
        return list({**self._old, **self._young}.values())

    def discard(self, is_stale: Callable[[K], bool]) -> None:
        """Forget the keys that a test names."""
        for half in (self._young, self._old):
            # A copy of the keys is one operation: other threads go on putting meanwhile.
            for key in list(half):
                if is_stale(key):
                    half.pop(key, None)

    def put(self, key: K, value: V) -> None:
        """Keep a value."""
        young = self._young
        is_full = self._size_of is not None and self._taken >= self._room
        if is_full or len(young) >= self._most:
            self._old, self._young = young, {}
            self._taken = 0
            young = self._young

        if self._size_of is not None:
            # A lost race of two threads miscounts by an entry, which the next turn forgets.
            self._taken += self._size_of(value)
        young[key] = value
