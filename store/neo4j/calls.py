"""Running statements: the tenant bound, the language stated, round trips counted, claims shared.

A `Target`'s driver, its dialect and its time limits make a `ServerLink`; a link opens `Reads` (one
auto-commit query a statement, tried again when the server asks for it) and `Writes` (one
explicit transaction). Every call is one round trip; both count them. Rows are read as records:
`Result.data()` would walk bytes element by element.

Readers of a process share decoded claims, so that a read asks for those it lacks. Only what never
changes is kept: what a claim says, to callers who see it and to those who do not, and that an
erased one says nothing. Permissions, marks and rows come with every read. A tenant's claims are
kept for one incarnation and one count of erasures: after an erasure, also one by another process,
the next reader empties what was kept, and a reader from before keeps to itself what it decodes.
"""

from __future__ import annotations

import contextlib
import logging
import time
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, Final, LiteralString, TypeVar

import neo4j
from neo4j import exceptions as driver_errors

from ...schema.interval import INF_US
from ..port.records import Target
from ..search.caches import CLAIMS_IDLE_S, DEFAULT_BOUNDS, Halves, claim_bytes
from .codec import ClaimBody, ClaimEntry, instant
from .connect import ServerFacts, our_errors

LARGEST: Final = 1_000
"""Rows of one statement."""
WHOLE_WARM: Final = 4
WHOLE_COLD: Final = 16
_ENTRIES: Final = 65_536
"""Decoded claims in each half; their bytes bound them long before."""

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


_LOG = logging.getLogger("tenure.store.neo4j")
_FIRST_PAUSE_S: Final = 0.05
FETCH: Final = 5_000
"""Records a message: a bulk read needs few, and none is ever held whole."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallLimits:
    """How long the server may work, a failed call is tried again, and how much is kept."""

    read_s: float = 60.0
    """Seconds a reading statement may take."""
    stream_s: float = 3_600.0
    """Seconds a statement may take whose records go out one by one, as fast as they are read: an
    export of a large tenant, or one to a slow reader."""
    write_s: float = 300.0
    """Seconds a write transaction may take, the wait for the tenant's lock included."""
    retry_s: float = 15.0
    """Seconds during which what the server calls transient is tried again."""
    claims_kib: int = 1_024 * DEFAULT_BOUNDS.claims_mib
    """Memory for the decoded claims that the readers of a database share, whatever their texts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerLink:
    """A driver to one target, and how to speak to it."""

    driver: neo4j.Driver
    target: Target
    facts: ServerFacts
    limits: CallLimits
    bookmarks: Any = field(repr=False)
    """What makes a session read what an earlier one of this store wrote, on a cluster too."""
    claims: ClaimCache = field(repr=False)
    """Claims that were decoded before."""

    @property
    def dialect(self) -> LiteralString:
        """The prefix of every statement: the newest language that the server speaks for sure."""
        return "CYPHER 25 " if "25" in self.facts.languages else "CYPHER 5 "

    def session(self, access: str) -> neo4j.Session:
        """Open a session on the target's database."""
        return self.driver.session(  # pyright: ignore[reportUnknownMemberType]
            database=self.target.database,
            default_access_mode=access,
            bookmark_manager=self.bookmarks,
            fetch_size=FETCH,
        )

    def begin(self, session: neo4j.Session) -> neo4j.Transaction:
        """Begin a write transaction."""
        return session.begin_transaction(timeout=self.limits.write_s, metadata={"app": "tenure"})

    @contextlib.contextmanager
    def reads(self, tenant: str) -> Generator[Reads]:
        """Open a session for reading."""
        with our_errors(self.target), self.session(neo4j.READ_ACCESS) as session:
            yield Reads(self, session, tenant)


class Pauses:
    """The waits between tries, doubling, until the time is up."""

    def __init__(self, limits: CallLimits) -> None:
        self._until = time.monotonic() + limits.retry_s
        self._pause = _FIRST_PAUSE_S

    def wait(self, error: Exception) -> bool:
        """Wait before another try; False when the time is up."""
        if time.monotonic() + self._pause > self._until:
            return False
        _LOG.warning("the server asks for another try: %s", error)
        time.sleep(self._pause)
        self._pause *= 2
        return True


def retryable(error: driver_errors.DriverError | driver_errors.Neo4jError) -> bool:
    """Whether the same work may succeed on another try."""
    if isinstance(error, driver_errors.ConnectionAcquisitionTimeoutError):
        return False
    return error.is_retryable()


class Reads:
    """Statements that read, each by itself."""

    def __init__(self, link: ServerLink, session: neo4j.Session, tenant: str) -> None:
        self._link = link
        self._session = session
        self.tenant = tenant
        self.claims = ClaimCache(link.limits.claims_kib).private_claims(tenant)
        """The decoded claims that it may use: its own until it knows the tenant's counters."""
        self.count = 0
        """Round trips so far."""

    def share_claims(self, incarnation: str, *, erased_seq: int, snapshot_us: int) -> None:
        """Use what other readers of this incarnation and these erasures have decoded."""
        self.claims = self._link.claims.claims_of(
            self.tenant, incarnation, erased_seq=erased_seq, snapshot_us=snapshot_us
        )

    @property
    def home(self) -> str:
        """The name of the server and its database."""
        target = self._link.target
        return f"{target.uri}/{target.database}"

    def rows(self, text: LiteralString, **bound: Any) -> list[neo4j.Record]:
        """The records of a statement."""
        pauses = Pauses(self._link.limits)
        while True:
            self.count += 1
            try:
                return list(self._run(text, bound))
            except (driver_errors.DriverError, driver_errors.Neo4jError) as error:
                # a server that is down is reported at once, not after all the waits
                lost = isinstance(error, driver_errors.ServiceUnavailable)
                if lost or not retryable(error) or not pauses.wait(error):
                    raise

    def column(self, text: LiteralString, **bound: Any) -> list[Any]:
        """The values of a statement that returns one column."""
        return [record[0] for record in self.rows(text, **bound)]

    def stream(self, text: LiteralString, **bound: Any) -> Iterator[neo4j.Record]:
        """Yield the records of a statement without ever holding them all."""
        self.count += 1
        yield from self._run(text, bound, self._link.limits.stream_s)

    def _run(
        self, text: LiteralString, bound: Mapping[str, Any], limit_s: float | None = None
    ) -> neo4j.Result:
        timeout = limit_s or self._link.limits.read_s
        query = neo4j.Query(self._link.dialect + text, timeout=timeout)
        return self._session.run(query, _parameters(self.tenant, bound))


class Writes(Reads):
    """The statements of one write transaction; it reads what it wrote itself."""

    def __init__(self, link: ServerLink, tx: neo4j.Transaction, tenant: str) -> None:
        self._link = link
        self._tx = tx
        self.tenant = tenant
        self.claims = ClaimCache(link.limits.claims_kib).private_claims(tenant)
        self.count = 0
        """Round trips so far."""

    def share_claims(self, incarnation: str, *, erased_seq: int, snapshot_us: int) -> None:
        """Keep what is decoded to itself: the transaction may yet be rolled back."""

    def forget_claims(self) -> None:
        """Nothing of the tenant stays decoded in this process."""
        self._link.claims.forget(self.tenant)

    def rows(self, text: LiteralString, **bound: Any) -> list[neo4j.Record]:
        """The records of a statement; what fails ends the transaction, which is tried again."""
        self.count += 1
        parameters = _parameters(self.tenant, bound)
        # The driver's objects refer to each other and to these values, thousands of rows, until
        # Python's collector of cycles comes by.
        try:
            return list(self._send(text, parameters))
        finally:
            parameters["given"].clear()

    def _run(
        self, text: LiteralString, bound: Mapping[str, Any], limit_s: float | None = None
    ) -> neo4j.Result:
        return self._send(text, _parameters(self.tenant, bound))

    def _send(self, text: LiteralString, parameters: dict[str, Any]) -> neo4j.Result:
        # The transaction has a limit of its own.
        return self._tx.run(self._link.dialect + text, parameters)


def run_at_once(
    link: ServerLink, tenant: str, text: LiteralString, **bound: Any
) -> list[neo4j.Record]:
    """The records of a statement that writes in a transaction of its own, in one round trip.

    For what may be done twice: whether it was done is not known when the connection breaks.
    """
    query = neo4j.Query(
        link.dialect + text, metadata={"app": "tenure"}, timeout=link.limits.write_s
    )
    with link.session(neo4j.WRITE_ACCESS) as session:
        return list(session.run(query, _parameters(tenant, bound)))


class GivenValues(dict[str, Any]):
    """The values of a call, which are never written out.

    The driver makes the text of every call's parameters for its log, also where nobody keeps one:
    an eighth of what an import cost this process. And a log is no place for what somebody said.
    """

    def __repr__(self) -> str:
        return f"<{len(self)} values>"


def _parameters(tenant: str, bound: Mapping[str, Any]) -> dict[str, Any]:
    """What a statement is run with: numbers by themselves, all else inside `given`.

    A server keeps a plan for each type and each size class (none, one, up to ten, up to a
    hundred, ...) of every list and text among the parameters, and planning a large statement
    takes it a second. What is inside a map does not count. The point of a read is there once more,
    as `tx_at` and `valid_at`: facts have native times.
    """
    numbers = {name: value for name, value in bound.items() if isinstance(value, int)}
    plain = {name: value for name, value in bound.items() if name not in numbers}
    plain |= {f"{name}_at": instant(numbers[name]) for name in ("tx", "valid") if name in numbers}
    return {"tenant": tenant, **numbers, "given": GivenValues(plain)}


Calls = Reads
"""Whoever runs statements of a tenant."""


Value = TypeVar("Value")


def distinct(values: Iterable[Value]) -> list[Value]:
    """Values in their order, each once."""
    return list(dict.fromkeys(values))


def portions_of(rows: Sequence[Value]) -> Iterator[list[Value]]:
    """Yield rows in lists that one statement may take."""
    for start in range(0, len(rows), LARGEST):
        yield list(rows[start : start + LARGEST])
