"""What readers of one tenant's file share: decoded claims and permission sets.

Both hold only what never changes. Claims are immutable until an erasure, so decoded ones are
kept per count of erasures: after one, also one by another process, a reader starts anew and a
reader of an older snapshot keeps what it decodes to itself. Permission sets are only ever
added, so what a sight may see is extended by the new ones; which set an object has is read
from the file each time. Everything is bounded, and safe to share between threads because
each step is one dictionary operation and a lost race only costs a second look-up.
"""

from __future__ import annotations

from typing import Final

from ...schema.claim import Permissions
from ...schema.principal import Sight
from ..search.two_generation_cache import Halves
from .codec import Body

_BODIES: Final = 16_384
"""Decoded claims in each half of the cache; a claim of 1 KB makes 32 MB in all."""
_SIGHTS: Final = 256


class Caches:
    """The caches of one file."""

    def __init__(self) -> None:
        self._erasures = 0
        self._bodies: Halves[int, Body] = Halves(_BODIES)
        self.permits: dict[int, tuple[str, Permissions]] = {}
        """(scope id, permissions) by number."""
        self.sights: Halves[Sight, tuple[int, str]] = Halves(_SIGHTS)
        """By sight: the last permission set looked at, and the visible ones as JSON."""

    def bodies(self, erasures: int) -> Halves[int, Body]:
        """Return the decoded claims that a snapshot with so many erasures may use."""
        if erasures > self._erasures:
            self._erasures, self._bodies = erasures, Halves(_BODIES)
        return self._bodies if erasures == self._erasures else Halves(_BODIES)
