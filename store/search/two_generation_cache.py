"""A bounded map for what is decoded again and again.

Two halves: when the young one is full it becomes the old one, and the old one is dropped. Safe
to share between threads, because each step is one dictionary operation and a lost race only
costs a second look-up. What may be kept, and for how long, is the adapter's business.
"""

from __future__ import annotations

from typing import Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")


class Halves(Generic[K, V]):
    """A bounded map: when the young half is full it becomes the old one."""

    __slots__ = ("_most", "_old", "_young")

    def __init__(self, size: int) -> None:
        self._most = size
        self._young: dict[K, V] = {}
        self._old: dict[K, V] = {}

    def get(self, key: K) -> V | None:
        """Return what is kept, and keep it longer."""
        # Two plain dictionaries instead of an order of use: a hit in the young one writes nothing.
        entry = self._young.get(key)
        if entry is None and (entry := self._old.get(key)) is not None:
            self.put(key, entry)
        return entry

    def clear(self) -> None:
        """Forget everything."""
        self._young, self._old = {}, {}

    def put(self, key: K, value: V) -> None:
        """Keep a value."""
        young = self._young
        if len(young) >= self._most:
            self._old, self._young = young, {}
            young = self._young

        young[key] = value
