"""Decoded claims that the readers of a process share, so that a read asks for those it lacks.

Only what never changes is kept: what a claim says, to callers who see it and to those who do not,
and that an erased one says nothing. Permissions, marks and rows come with every read. A tenant's
claims are kept for one incarnation (removed and made anew it is another) and one count of
erasures: after an erasure, also one by another process, the next reader empties what was kept, and
a reader from before keeps to itself what it decodes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from threading import Lock
from typing import Any, Final

from ...schema.interval import INF_US
from ..search.cache_bounds import CLAIMS_IDLE_S, claim_bytes
from ..search.two_generation_cache import Halves
from .codec import ClaimBody, ClaimEntry

WHOLE_WARM: Final = 4
WHOLE_COLD: Final = 16
LEADS_MOST: Final = 1_024
"""Leads of a tenant whose words are remembered; then they are forgotten together."""
_ENTRIES: Final = 65_536
"""Decoded claims in each half; their bytes bound them long before."""

Lead = str | tuple[str, str]
"""What led to an entity: the norm of a name, an id, or scheme and value of an identifier."""
LeadKey = tuple[Lead, tuple[str, ...]]
"""A lead, and the scopes of the aliases that were looked at."""
BodyKey = tuple[str, bool, bool]
"""A claim's object id, whether it is seen, and whether it was erased."""


def key_of(entry: ClaimEntry) -> BodyKey:
    """What a read needs of a claim."""
    return entry.object_id, entry.seen, bool(entry.erased)


def _body_bytes(_key: object, body: ClaimBody) -> int:
    return claim_bytes(body.content)


@dataclass(slots=True, eq=False)
class Generation:
    """A tenant between two erasures."""

    number: int
    """Its own, whatever the tenant: the first part of the keys of its claims."""
    incarnation: str
    erased_seq: int
    is_warm: bool = False
    """Whether the last read of it knew every claim that it met."""
    read_us: int = INF_US
    """The stamp of the newest snapshot that was read; before the first one, no claim is newer."""
    lead_words: dict[LeadKey, tuple[str, ...]] = field(default_factory=dict[LeadKey, Any])
    """What else was searched for where a lead was used: the rest of what its bearer is called. It
    is a guess for the next time, and no more."""

    @property
    def bounds(self) -> dict[str, int]:
        """Of which claims an answer should itself say everything, as statements take it.

        Forty values a claim cost more than a second round trip once they are many, and are
        wasted on a reader that knows them; so one that lacked nothing the last time asks for few.
        What was written after the last read of this process cannot be known and always comes.
        """
        return {"whole": WHOLE_WARM if self.is_warm else WHOLE_COLD, "fresh": self.read_us}


class TenantClaims:
    """The decoded claims that a reader may use."""

    def __init__(
        self, cache: ClaimCache, tenant: str, generation: Generation, snapshot_us: int
    ) -> None:
        self._cache = cache
        self._tenant = tenant
        self._generation = generation
        self._snapshot_us = snapshot_us

    @property
    def bounds(self) -> dict[str, int]:
        """Of which claims an answer should itself say everything."""
        return self._generation.bounds

    def words_of(self, lead: LeadKey) -> tuple[str, ...] | None:
        """What else was searched for where a lead was used; None where that is not known."""
        return self._generation.lead_words.get(lead)

    def note_words(self, lead: LeadKey, words: tuple[str, ...]) -> None:
        """Remember what else was searched for where a lead was used."""
        lead_words = self._generation.lead_words
        if len(lead_words) >= LEADS_MOST:
            lead_words.clear()
        lead_words[lead] = words

    def note(self, *, lacked: bool) -> None:
        """Hear whether a read met claims that were not known."""
        generation = self._generation
        generation.is_warm = not lacked

        is_newer = generation.read_us == INF_US or generation.read_us < self._snapshot_us
        generation.read_us = self._snapshot_us if is_newer else generation.read_us

    def get(self, key: BodyKey, tx: int) -> ClaimBody | None:
        """A claim by its key and the stamp of its writing."""
        body = self._cache.bodies.get((self._generation.number, key))
        return body if body is not None and body.tx == tx else None

    def put(self, key: BodyKey, body: ClaimBody) -> None:
        """Keep a claim, unless something was erased since the reader began."""
        if self._cache.is_current(self._tenant, self._generation):
            self._cache.bodies.put((self._generation.number, key), body)


class ClaimCache:
    """The decoded claims of one database, of all its tenants together."""

    def __init__(self, kib: int) -> None:
        self.bodies: Halves[tuple[int, BodyKey], ClaimBody] = Halves(
            _ENTRIES, room=kib * 1024 // 2, size_of=_body_bytes, idle_s=CLAIMS_IDLE_S
        )
        """By the number of the generation and the claim's key."""
        self._generations: dict[str, Generation] = {}
        self._last_number = 0
        self._guard = Lock()

    def claims_of(
        self, tenant: str, incarnation: str, *, erased_seq: int, snapshot_us: int
    ) -> TenantClaims:
        """What a snapshot with this incarnation, last erasure and stamp may use."""
        with self._guard:
            current = self._generations.get(tenant)
            is_same = current is not None and current.incarnation == incarnation
            if current is not None and is_same and erased_seq == current.erased_seq:
                return TenantClaims(self, tenant, current, snapshot_us)

            self._last_number += 1
            generation = Generation(self._last_number, incarnation, erased_seq)
            # A reader from before an erasure gets a number that nobody else has, and keeps nothing.
            if current is None or not is_same or erased_seq > current.erased_seq:
                self._empty(current)
                self._generations[tenant] = generation

            return TenantClaims(self, tenant, generation, snapshot_us)

    def likely(self, tenant: str) -> Generation:
        """What a reader goes by that does not know the tenant's counters yet.

        Where they prove to be others, it asks for what it lacks.
        """
        return self._generations.get(tenant) or Generation(0, "", 0)

    def private_claims(self, tenant: str) -> TenantClaims:
        """Claims that only one reader has."""
        return self.claims_of(tenant, "", erased_seq=0, snapshot_us=INF_US)

    def forget(self, tenant: str) -> None:
        """Empty a tenant: whoever reads it now keeps nothing more."""
        with self._guard:
            self._empty(self._generations.pop(tenant, None))

    def is_current(self, tenant: str, generation: Generation) -> bool:
        """Whether nothing was erased since a reader began."""
        return self._generations.get(tenant) is generation

    def _empty(self, generation: Generation | None) -> None:
        if generation is not None:
            self.bodies.discard(lambda key: key[0] == generation.number)
