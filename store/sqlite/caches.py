"""What readers of one tenant's file share: decoded claims and permission sets.

Both hold only what never changes. Claims are immutable until an erasure, so decoded ones are
kept per count of erasures: after one, also one by another process, a reader starts anew and a
reader of an older snapshot keeps what it decodes to itself. Permission sets are only ever
added, so what a sight may see is extended by the new ones; which set an object has is read
from the file each time. Everything is bounded, and safe to share between threads because
each step is one dictionary operation and a lost race only costs a second look-up.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final, TypeAlias

from ..search.claim_memory import CLAIMS_IDLE_S, CLAIMS_KIB, claim_bytes
from ..search.two_generation_cache import Halves

if TYPE_CHECKING:  # what is kept here is decoded elsewhere, and not before something is read
    from ...resolution.known import Known, Lookup
    from ...schema.claim import Permissions
    from ...schema.principal import Sight
    from .codec import Body, Line

_BODIES: Final = 16_384
"""Decoded claims in each half of the cache."""
_SIGHTS: Final = 256
_PERMITS: Final = 4_096
_LOOKUPS: Final = 1_024


def body_bytes(body: Body) -> int:
    """What a decoded claim takes in memory, by its texts."""
    return claim_bytes(body.content)


LookupCache: TypeAlias = "Halves[tuple[Lookup, tuple[str, ...]], Known]"
"""What is known of a look-up over the aliases of some scopes."""


class Caches:
    """The caches of one file."""

    def __init__(self, claims_kib: int = CLAIMS_KIB) -> None:
        self._half_bytes = claims_kib * 1024 // 2
        self._erasures = 0
        self._bodies = self._new_bodies()
        self.permits: dict[int, tuple[str, Permissions]] = {}
        """(scope id, permissions) by number."""
        self.sights: Halves[Sight, tuple[int, str]] = Halves(_SIGHTS)
        """By sight: the last permission set looked at, and the visible ones as JSON."""
        self.permit_numbers: Halves[Line, int] = Halves(_PERMITS)
        """By permission set as it is stored."""
        self._register_seq = 0
        self._known: LookupCache = Halves(_LOOKUPS)

    def bodies(self, erasures: int) -> Halves[int, Body]:
        """Return the decoded claims that a snapshot with so many erasures may use."""
        if erasures > self._erasures:
            self._erasures, self._bodies = erasures, self._new_bodies()
        return self._bodies if erasures == self._erasures else self._new_bodies()

    def overtaken(self, claims: Iterable[int]) -> None:
        """Forget the decoded claims whose rows a commit closed.

        Questions about now meet another claim from here on. Kept on, each change of a fact would
        leave one more claim in memory for nobody, until the bound.
        """
        self._bodies.forget(claims)

    def _new_bodies(self) -> Halves[int, Body]:
        return Halves(_BODIES, room=self._half_bytes, size_of=body_bytes, idle_s=CLAIMS_IDLE_S)

    def known_at(self, seq: int) -> LookupCache:
        """What a write transaction that begins after `seq` events may know of names.

        Names change by events alone. Where another process wrote since our last commit, what
        was looked up is forgotten, since that event may have been about a name.
        """
        if seq != self._register_seq:
            self._register_seq, self._known = seq, Halves(_LOOKUPS)
        return self._known

    def register_stands(self, seq: int, *, changed: bool) -> None:
        """Our own commit brought the events to `seq`; `changed` when it touched names."""
        if changed:
            self._known = Halves(_LOOKUPS)
        self._register_seq = seq
