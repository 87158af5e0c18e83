"""Bounded caches: how much memory goes to what a process could read or work out again.

Every cache has a bound in bytes here, under the name that the settings, `tenure doctor` and the
figures of a server call it by. An entry of a cache counts by its texts: about what it takes. A
map has two halves: when the young one is full it becomes the old one, and the old one is dropped.
It is safe to share between threads, because each step is one dictionary operation and a lost race
only costs a second look-up. What may be kept, and for how long, is the adapter's business.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sized
from dataclasses import dataclass, fields
from math import inf
from sys import getsizeof
from time import monotonic
from typing import TYPE_CHECKING, Final, Generic, TypeVar

from ...schema.errors import InvalidInput
from ...schema.records import short_repr

if TYPE_CHECKING:
    from ...schema.claim import Content

CLAIMS_IDLE_S: Final = 30.0
"""Seconds that no read asks for a decoded claim before it may leave a cache that is not full.

A writer of a growing store decodes each claim once or twice, soon after it was written. Kept until
the memory is taken, such claims make a server grow for an hour and serve nobody.
"""
READERS: Final = 16
"""Connections of readers that a file keeps open."""
_MIB: Final = 1 << 20
_RECORD: Final = 2_000
"""Bytes of a decoded claim without its texts: its records, ids and marks."""
_ENTRY: Final = 400
"""Bytes of a small record with a few ids."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheBounds:
    """The most memory of each cache, in mebibytes.

    Raises:
        InvalidInput: `bad_settings` for a bound below one.

    >>> CacheBounds(claims_mib=32).most_bytes("claims")
    33554432
    """

    __repr__ = short_repr

    claims_mib: int = 128
    """Decoded claims of one file or database, however long their texts; one that is larger is kept
    until the next ones push it out."""
    permissions_mib: int = 8
    """Permission sets of one file, and which of them a caller may see."""
    lookups_mib: int = 16
    """What a writer of one file found out about names, until one is added."""
    names_mib: int = 64
    """What is worked out of names in the process, whatever its stores: the last
    `connect` that states another bound than this sets it."""
    vectors_mib: int = 4_096
    """The vectors of all tenants: enough for a million claims with two vectors each. Those of the
    tenant that is asked stay beyond it, since what is found must not depend on free memory."""
    writer_pages_mib: int = 4
    """Pages of one file for its writer: as many as a batch of a hundred changes. The system caches
    the file for all connections: four times as much made neither a write nor an import cheaper."""
    reader_pages_mib: int = 1
    """Pages of one file for each of sixteen readers. They are read again after every commit, and
    four times as much made no read, search or compile among 100,000 objects cheaper."""

    def __post_init__(self) -> None:
        # A cache of no bytes would still hold the entry that stands over its room.
        for field in fields(self):
            mebibytes = getattr(self, field.name)
            if mebibytes < 1:
                raise InvalidInput(
                    f"caches.{field.name} is {mebibytes}: give a cache 1 MiB at least",
                    code="bad_settings",
                )

    def most_bytes(self, cache: str) -> int:
        """The bound of a cache, by its name."""
        return int(getattr(self, f"{cache}_mib")) * _MIB


DEFAULT_BOUNDS: Final = CacheBounds()


def claim_bytes(content: Content | None) -> int:
    """What a decoded claim takes in memory, by its texts."""
    if content is None:
        return _RECORD

    texts = (content.text, content.normalized_claim, content.value_json, content.terms)
    return _RECORD + sum(map(getsizeof, texts))


def entry_bytes(*parts: Sized) -> int:
    """What an entry of small records takes: its texts by their length, the rest by their number.

    >>> entry_bytes("tenant", ("sam", "kim"))
    1255
    """
    total = _ENTRY
    for part in parts:
        # To walk into every record would cost more than some entries do to work out.
        total += getsizeof(part) if isinstance(part, str) else _ENTRY * len(part)
    return total


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
        """What `size_of` tells of all that is kept; an entry that is in both halves twice."""
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
        """What is kept, in no order; what is in both halves comes once."""
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
