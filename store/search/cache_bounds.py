"""How much memory goes to what a process could read or work out again.

Every cache has a bound in bytes here, under the name that the settings, `tenure doctor` and the
figures of a server call it by. An entry of a cache counts by its texts: about what it takes.
"""

from __future__ import annotations

from collections.abc import Sized
from dataclasses import dataclass, fields
from sys import getsizeof
from typing import TYPE_CHECKING, Final

from ...schema.errors import InvalidInput
from ...schema.short_repr import short_repr

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
"""Bytes of a decoded claim beside its texts: its records, ids and marks."""
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
    """Pages of one file for each of sixteen readers. They are read anew after every commit, and
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
