"""What is worked out of names, remembered while it is asked for: all of it in one number of bytes.

A register is asked for the same names again and again, and a writer of new names leaves each of
them behind after a moment. So there are two generations: what no look-up of the younger one asked
for leaves with the older one. A bound by entries alone would fill with names that nobody asks for,
and make a process grow for hours before it is level.

Pure: a generation ends by a count of look-ups or of bytes, never by a clock. Safe to share between
threads, because each step is one dictionary operation and a lost race only costs a second look-up.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Final, TypeVar, TypeVarTuple, cast

NAMES_KIB: Final = 65_536
"""Memory for what is known of names, in both generations together."""
LOOKUPS: Final = 16_384
"""Look-ups of a generation: a name that comes up once in so many is never worked out anew."""

_NOTHING: Final = object()

R = TypeVar("R")
Key = TypeVarTuple("Key")


class NameMemory:
    """The generations of all functions that remember names."""

    __slots__ = ("_half_bytes", "_lookups", "_shelves", "lookups", "young_bytes")

    def __init__(self, kib: int = NAMES_KIB, lookups: int = LOOKUPS) -> None:
        self._half_bytes = kib * 1024 // 2
        self._lookups = lookups
        self._shelves: list[_Shelf] = []
        self.lookups = 0
        """Asked for in this generation."""
        self.young_bytes = 0
        """What the younger generation takes."""

    def shelf(self, entry_bytes: int) -> _Shelf:
        """A place for the answers of one function, whose entries take so many bytes."""
        shelf = _Shelf(entry_bytes)
        self._shelves.append(shelf)
        return shelf

    def bound(self, kib: int) -> None:
        """Take at most so much memory from the next answer on."""
        self._half_bytes = kib * 1024 // 2

    @property
    def used_bytes(self) -> int:
        """What the answers of both generations take."""
        return sum(
            shelf.entry_bytes * (len(shelf.young) + len(shelf.old)) for shelf in self._shelves
        )

    def entries(self) -> int:
        """How many answers are remembered; one in both generations counts twice."""
        return sum(len(shelf.young) + len(shelf.old) for shelf in self._shelves)

    def make_room(self, entry_bytes: int) -> None:
        """Begin a generation where this one has had its look-ups, or an entry has no room."""
        is_full = self.young_bytes + entry_bytes > self._half_bytes
        if is_full or self.lookups >= self._lookups:
            self.lookups = self.young_bytes = 0
            for shelf in self._shelves:
                shelf.old, shelf.young = shelf.young, {}
        self.young_bytes += entry_bytes


class _Shelf:
    """The answers of one function, by its arguments."""

    __slots__ = ("entry_bytes", "old", "young")

    def __init__(self, entry_bytes: int) -> None:
        self.entry_bytes = entry_bytes
        self.young: dict[object, object] = {}
        self.old: dict[object, object] = {}


MEMORY: Final = NameMemory()
"""That of the process."""


def name_cache(
    entry_bytes: int, memory: NameMemory = MEMORY
) -> Callable[[Callable[[*Key], R]], Callable[[*Key], R]]:
    """Let a function of names remember its answers; one of them takes so many bytes, as a rule.

    >>> @name_cache(100, NameMemory())
    ... def initial(name: str) -> str:
    ...     return name[:1]
    >>> initial("Acme"), initial("Acme")
    ('A', 'A')
    """

    def remembering(function: Callable[[*Key], R]) -> Callable[[*Key], R]:
        shelf = memory.shelf(entry_bytes)

        @wraps(function)
        def answer(*key: *Key) -> R:
            memory.lookups += 1
            value = shelf.young.get(key, _NOTHING)
            if value is not _NOTHING:
                return cast(R, value)

            value = shelf.old.get(key, _NOTHING)
            if value is _NOTHING:
                value = function(*key)
            memory.make_room(shelf.entry_bytes)
            shelf.young[key] = value
            return cast(R, value)

        return answer

    return remembering
