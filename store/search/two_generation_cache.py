"""A bounded map for what is decoded again and again.

Two halves: when the young one is full it becomes the old one, and the old one is dropped. Safe
to share between threads, because each step is one dictionary operation and a lost race only
costs a second look-up. What may be kept, and for how long, is the adapter's business.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from math import inf
from time import monotonic
from typing import Final, Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")


_AGELESS: Final = 64
"""What share of its room a young half holds before its age counts: one in so many."""


class Halves(Generic[K, V]):
    """A bounded map: when the young half is full it becomes the old one."""

    __slots__ = (
        "_idle_s",
        "_most",
        "_old",
        "_old_taken",
        "_room",
        "_size_of",
        "_taken",
        "_turned_s",
        "_young",
    )

    def __init__(
        self,
        size: int,
        *,
        room: int = 0,
        size_of: Callable[[K, V], int] | None = None,
        idle_s: float = inf,
    ) -> None:
        """Bound each half by entries, and where `size_of` tells their bytes by `room` bytes too.

        One entry may stand over the room: a half is turned once it has taken that much. With
        `idle_s` a half that is worth it is turned after so many seconds as well, so that what
        nobody asks for leaves long before the room is taken.
        """
        self._most = size
        self._room = room
        self._size_of = size_of
        self._idle_s = idle_s
        self._turned_s = monotonic()
        self._taken = self._old_taken = 0
        self._young: dict[K, V] = {}
        self._old: dict[K, V] = {}

    @property
    def nbytes(self) -> int:
        """What `size_of` tells of all that is kept; an entry that stands in both halves twice."""
        return self._taken + self._old_taken

    def get(self, key: K) -> V | None:
        """Return what is kept, and keep it longer."""
        # Two plain dictionaries instead of an order of use: a hit in the young one writes nothing.
        entry = self._young.get(key)
        if entry is None and (entry := self._old.get(key)) is not None:
            self.put(key, entry)
        return entry

    def get_many(self, keys: Iterable[K]) -> dict[K, V]:
        """Return what is kept of some keys, and keep it longer."""
        young = self._young
        entries: dict[K, V] = {}
        for key in keys:
            entry = young.get(key)
            if entry is None:
                entry = self.get(key)
            if entry is not None:
                entries[key] = entry
        return entries

    def values(self) -> list[V]:
        """What is kept, in no order; what stands in both halves comes once."""
        return list({**self._old, **self._young}.values())

    def discard(self, is_stale: Callable[[K], bool]) -> None:
        """Forget the keys that a test names."""
        for half in (self._young, self._old):
            # A copy of the keys is one operation: other threads go on putting meanwhile.
            for key in list(half):
                if is_stale(key):
                    self.forget([key])

    def forget(self, keys: Iterable[K]) -> None:
        """Forget some keys, wherever they stand."""
        for key in keys:
            old_value = self._old.pop(key, None)
            value = self._young.pop(key, None)
            if self._size_of is None:
                continue

            # Both halves may hold it: one that was asked for again was put into the young one.
            if value is not None:
                self._taken -= self._size_of(key, value)
            if old_value is not None:
                self._old_taken -= self._size_of(key, old_value)

    def put(self, key: K, value: V) -> None:
        """Keep a value."""
        young = self._young
        is_full = self._size_of is not None and self._taken >= self._room
        if is_full or len(young) >= self._most or self._is_stale():
            self._old, self._young = young, {}
            self._old_taken, self._taken = self._taken, 0
            self._turned_s = monotonic()
            young = self._young

        if self._size_of is not None:
            # A lost race of two threads miscounts by an entry, which the next turn forgets.
            self._taken += self._size_of(key, value)
        young[key] = value

    def _is_stale(self) -> bool:
        # A small half costs nothing, and keeps an asker fast who comes back after a pause.
        if self._taken * _AGELESS < self._room:
            return False
        return monotonic() - self._turned_s >= self._idle_s
