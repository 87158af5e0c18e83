"""What readers of one tenant's file share: decoded claims, permission sets, counts of words.

Both hold only what never changes. Claims are immutable until an erasure, so decoded ones are
kept per count of erasures: after one, also one by another process, a reader starts again and a
reader of an older snapshot keeps what it decodes to itself. Permission sets are only ever
added, so what a sight may see is extended by the new ones; which set an object has is read
from the file each time. How many claims hold a word is kept until the next event.

Everything is bounded, and safe to share between threads because each step is one dictionary
operation and a lost race only costs a second look-up. What is kept for a state of the file
is in one value with that state: no thread can meet the one without the other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, Final, Generic, NamedTuple, TypeAlias, TypeVar

from ..search.caches import (
    CLAIMS_IDLE_S,
    DEFAULT_BOUNDS,
    CacheBounds,
    Halves,
    claim_bytes,
    entry_bytes,
)

if TYPE_CHECKING:  # what is kept here is decoded elsewhere, and not before something is read
    from ...resolution.known import Known, Lookup
    from ...schema.claim import Permissions
    from ...schema.principal import Sight
    from .codec import Body, Line
    from .text_search import Narrowing, TextSize, WordCount

_BODIES: Final = 16_384
"""Decoded claims in each half of the cache."""
_SIZES: Final = 262_144
"""Claims in each half whose sizes are kept: two numbers each, and a question asks for thousands."""
_ENTRY: Final = 160
"""Bytes of an entry."""
_SIGHTS: Final = 256
_PERMITS: Final = 16_384
_LOOKUPS: Final = 1_024
"""Entries in each half: what is looked up fast, whatever its bytes."""
_WORDS: Final = 1_024
"""Words in each half: those of the questions that are asked between two writes."""

LookupCache: TypeAlias = "Halves[tuple[Lookup, tuple[str, ...]], Known]"
"""What is known of a look-up over the aliases of some scopes."""

WordCounts: TypeAlias = "Halves[WordCount, int]"
"""How many claims hold a word."""

T = TypeVar("T")


def body_bytes(_number: int, body: Body) -> int:
    """What a decoded claim takes in memory, by its texts."""
    return claim_bytes(body.content)


def _sight_bytes(sight: Sight, last_and_visible: tuple[int, str]) -> int:
    return entry_bytes(sight.scopes, sight.tags, last_and_visible[1])


def _narrowing_bytes(sight: Sight, narrowing: Narrowing) -> int:
    return entry_bytes(sight.scopes, sight.tags, narrowing.query, narrowing.scopes)


def _known_bytes(question: tuple[Lookup, tuple[str, ...]], known: Known) -> int:
    lookup, scopes = question
    question_bytes = entry_bytes(scopes, lookup.identifiers, lookup.norms, lookup.block_keys)
    return question_bytes + entry_bytes(
        known.identifiers,
        known.aliases,
        known.weights,
        known.entities,
        known.judgements,
        known.canonical,
    )


class _ClaimMemory(NamedTuple):
    """What a file holds, decoded."""

    bodies: Halves[int, Body]
    sizes: Halves[int, TextSize]


class _StateMemory(Generic[T]):
    """What is kept for the newest state of a file; for an older one it begins empty each time."""

    def __init__(self, empty: Callable[[], T]) -> None:
        self._empty = empty
        self._newest: tuple[tuple[int, ...], T] = (), empty()

    @property
    def newest(self) -> T:
        """What is kept for the newest state that anybody met."""
        return self._newest[1]

    def at(self, *state: int) -> T:
        """Return what a snapshot of a state may use; the numbers of a state only rise."""
        newest, memory = self._newest
        if state == newest:
            return memory

        memory = self._empty()
        if state > newest:
            self._newest = state, memory
        return memory


class Caches:
    """The caches of one file."""

    def __init__(self, bounds: CacheBounds = DEFAULT_BOUNDS) -> None:
        self._bounds = bounds
        self._claims = _StateMemory(self._new_claims)
        self._words: _StateMemory[WordCounts] = _StateMemory(partial(Halves, _WORDS))
        # Four maps share what permission sets may take, two halves each.
        room = bounds.most_bytes("permissions") // 8
        self.permits: Halves[int, Permissions] = Halves(
            _PERMITS, room=room, size_of=lambda _, permit: entry_bytes(permit.allow, permit.deny)
        )
        """By number."""
        self.sights: Halves[Sight, tuple[int, str]] = Halves(
            _SIGHTS, room=room, size_of=_sight_bytes
        )
        """By sight: the last permission set looked at, and the visible ones as JSON."""
        self.narrowings: Halves[Sight, Narrowing] = Halves(
            _SIGHTS, room=room, size_of=_narrowing_bytes
        )
        """By sight: what narrows its searches."""
        self.permit_numbers: Halves[Line, int] = Halves(
            _PERMITS, room=room, size_of=lambda line, _: entry_bytes(*map(str, line))
        )
        """By permission set as it is stored."""
        self._register_seq: int = 0
        self._known = self._new_lookups()

    def bodies(self, erasures: int) -> Halves[int, Body]:
        """Return the decoded claims that a snapshot with so many erasures may use."""
        return self._claims.at(erasures).bodies

    def sizes(self, erasures: int) -> Halves[int, TextSize]:
        """Return the sizes of texts that a snapshot with so many erasures may use."""
        return self._claims.at(erasures).sizes

    def word_counts(self, seq: int, erasures: int) -> WordCounts:
        """Return the counts of words that a snapshot after so many events may use.

        A word may be in any event, and an event of another process counts like our own.
        """
        return self._words.at(seq, erasures)

    def overtaken(self, claims: Iterable[int]) -> None:
        """Forget the decoded claims whose rows a commit closed.

        Questions about now meet another claim from here on. Kept on, each change of a fact would
        leave one more claim in memory for nobody, until the bound.
        """
        claim_ids = list(claims)
        self._claims.newest.bodies.forget(claim_ids)
        self._claims.newest.sizes.forget(claim_ids)

    def _new_claims(self) -> _ClaimMemory:
        # Of what claims may take, a quarter is for the sizes of texts; both have two halves.
        room = self._bounds.most_bytes("claims")
        return _ClaimMemory(
            Halves(_BODIES, room=room * 3 // 8, size_of=body_bytes, idle_s=CLAIMS_IDLE_S),
            Halves(_SIZES, room=room // 8, size_of=lambda _number, _size: _ENTRY),
        )

    def _new_lookups(self) -> LookupCache:
        room = self._bounds.most_bytes("lookups") // 2
        return Halves(_LOOKUPS, room=room, size_of=_known_bytes)

    def used_bytes(self) -> dict[str, int]:
        """About what each cache takes, by its name among the bounds."""
        permissions = (self.permits, self.sights, self.narrowings, self.permit_numbers)
        return {
            "claims": sum(cache.nbytes for cache in self._claims.newest),
            "permissions": sum(cache.nbytes for cache in permissions),
            "lookups": self._known.nbytes,
        }

    def known_at(self, seq: int) -> LookupCache:
        """What a write transaction that begins after `seq` events may know of names.

        Names change by events alone. Where another process wrote since our last commit, what
        was looked up is forgotten, since that event may have been about a name.
        """
        if seq != self._register_seq:
            self._register_seq, self._known = seq, self._new_lookups()
        return self._known

    def register_stands(self, seq: int, *, changed: bool) -> None:
        """Our own commit brought the events to `seq`; `changed` when it touched names."""
        if changed:
            self._known = self._new_lookups()
        self._register_seq = seq
