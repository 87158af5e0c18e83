"""Running statements: the tenant bound, the language stated, round trips counted.

A `Target`'s driver, its dialect and its time limits make a `ServerLink`; a link opens `Reads` (one
auto-commit query a statement, tried again when the server asks for it) and `Writes` (one
explicit transaction). Every call is one round trip; both count them. Rows are read as records:
`Result.data()` would walk bytes element by element.
"""

from __future__ import annotations

import contextlib
import logging
import time
from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, LiteralString

import neo4j
from neo4j import exceptions as driver_errors

from ..port.targets import Target
from ..search.cache_bounds import DEFAULT_BOUNDS
from .claim_cache import ClaimCache, Generation
from .connect import ServerFacts, our_errors

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
    def likely_claims(self) -> Generation:
        """What was decoded, most likely, before the tenant's counters are known."""
        return self._link.claims.likely(self.tenant)

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
    takes it a second. What is inside a map does not count.
    """
    numbers = {name: value for name, value in bound.items() if isinstance(value, int)}
    plain = {name: value for name, value in bound.items() if name not in numbers}
    return {"tenant": tenant, **numbers, "given": GivenValues(plain)}


Calls = Reads
"""Whoever runs statements of a tenant."""
