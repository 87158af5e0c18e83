"""One driver to one Neo4j server, and errors that say what to do.

`connect` opens the process's driver for a server, proves that a Neo4j of a supported version
answers for the database, and returns both facts and driver. `our_errors` turns what the driver
raises into tenure's errors: an operator gets `Unavailable`, an administrator `Forbidden`, a
caller `InvalidInput`; the driver's own error stays as the cause.

Invariants: telemetry is off; the database is always named; no message repeats a password.
Retries, write conflicts and unknown outcomes of a commit belong to the adapter.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Generator, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, NotRequired, TypedDict
from urllib.parse import urlsplit

import neo4j
from neo4j import exceptions as driver_errors

from ...schema.errors import Fault, Forbidden, InvalidInput, TenureError, Unavailable, unknown
from ..port.records import Target
from .cypher.core import COMPONENTS

OLDEST_VERSION: Final = (5, 26)
"""The oldest server that the statements are written for (5.26 LTS)."""

URI_SCHEMES: Final = ("bolt", "bolt+s", "bolt+ssc", "neo4j", "neo4j+s", "neo4j+ssc")
"""`neo4j` routes within a cluster, `bolt` talks to one server; `+s` encrypts."""


class DriverSettings(TypedDict):
    """The settings that differ from the driver's defaults, or that tenure relies on."""

    max_connection_pool_size: int
    """Connections a server; writes of a tenant are serial, so more would only wait."""
    connection_acquisition_timeout: float
    """Seconds to wait for a free connection; then the store is busy."""
    connection_timeout: float
    """Seconds for a TCP connection; then the server is down."""
    max_connection_lifetime: float
    """Seconds after which a connection is renewed: below common idle limits of proxies."""
    liveness_check_timeout: float
    """Seconds of idleness after which a connection is tested before use."""
    max_transaction_retry_time: float
    """Seconds a managed transaction goes on trying after transient errors."""
    keep_alive: bool
    """TCP keep-alive."""
    telemetry_disabled: bool
    """The driver reports its use to the server unless told not to."""
    warn_notification_severity: NotRequired[Literal["OFF", "WARNING", "INFORMATION"]]
    """From which severity on the server's notes become Python warnings; for tests."""
    notifications_disabled_classifications: NotRequired[list[Literal["UNRECOGNIZED"]]]
    """Kinds of notes that the server leaves out."""


def driver_settings() -> DriverSettings:
    """The settings of every driver that tenure opens."""
    return DriverSettings(
        max_connection_pool_size=50,
        connection_acquisition_timeout=15.0,
        connection_timeout=5.0,
        max_connection_lifetime=900.0,
        liveness_check_timeout=60.0,
        max_transaction_retry_time=15.0,
        keep_alive=True,
        telemetry_disabled=True,
        # a young database knows few of the optional properties, and says so at every statement
        notifications_disabled_classifications=["UNRECOGNIZED"],
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerFacts:
    """What a server says about itself."""

    agent: str
    """The product line of the Bolt handshake, `Neo4j/5.26.29`."""
    version: str
    """The kernel's version, `5.26.29` or `2026.08.1`."""
    edition: str
    """`community` or `enterprise`."""
    languages: tuple[str, ...]
    """The Cypher versions it speaks, `("5",)` or `("5", "25")`."""

    @property
    def numbers(self) -> tuple[int, ...]:
        """The version as numbers, for comparisons."""
        return version_numbers(self.version)


def version_numbers(version: str) -> tuple[int, ...]:
    """The leading numbers of a version.

    >>> version_numbers("2026.08.1") > version_numbers("5.26.29-drop1")
    True
    """
    match = re.match(r"\d+(?:\.\d+)*", version)
    return tuple(int(part) for part in match[0].split(".")) if match else ()


def connect(
    target: Target, *, auth: tuple[str, str] | None, settings: DriverSettings | None = None
) -> tuple[neo4j.Driver, ServerFacts]:
    """Open a driver and prove that a supported Neo4j answers for the database.

    The caller owns the driver and closes it. Costs a handshake and one round trip.

    Raises:
        Unavailable: nothing answers, it is no Neo4j, or its version is too old.
        Forbidden: the server refuses the credentials.
        InvalidInput: the address is malformed or the database does not exist.
    """
    _check_uri(target.uri)

    with our_errors(target):
        driver = neo4j.GraphDatabase.driver(  # pyright: ignore[reportUnknownMemberType]
            target.uri,
            auth=auth,
            **(driver_settings() if settings is None else settings),  # which it leaves untyped
        )

    with contextlib.ExitStack() as undo:
        undo.callback(driver.close)
        facts = identify(driver, target)
        undo.pop_all()

    return driver, facts


def identify(driver: neo4j.Driver, target: Target) -> ServerFacts:
    """Ask the server what it is, and refuse what tenure was not built for.

    Raises:
        Unavailable: `store_unreachable`; `data["reason"]` is `not_neo4j` or
            `unsupported_version` where something did answer.
    """
    # an auto-commit query: a managed one would try for 15 s to reach a server that is down
    with (
        our_errors(target),
        driver.session(database=target.database) as session,  # pyright: ignore[reportUnknownMemberType]
    ):
        result = session.run(COMPONENTS)
        records = list(result)
        summary = result.consume()

    return server_facts(str(summary.server.agent), records, target)


def server_facts(
    agent: str, components: Iterable[Mapping[str, Any]], target: Target
) -> ServerFacts:
    """The facts of a supported Neo4j server, by the rows of `dbms.components()`.

    Raises:
        Unavailable: the server is something else, or too old; `data["reason"]` says which.
    """
    parts = {part["name"]: part for part in components}
    kernel, cypher = parts.get("Neo4j Kernel"), parts.get("Cypher")
    if kernel is None or not agent.startswith("Neo4j/") or "compatible" in agent.lower():
        raise _not_neo4j(target, agent)

    facts = ServerFacts(
        agent=agent,
        version=str(kernel["versions"][0]),
        edition=str(kernel["edition"]),
        # 5.26 has no such row: it speaks the one language there was
        languages=("5",) if cypher is None else tuple(cypher["versions"]),
    )
    _check_version(facts, target)
    return facts


@contextlib.contextmanager
def our_errors(target: Target) -> Generator[None]:
    """Raise tenure's error for what the driver raises inside; leave the rest alone."""
    try:
        yield
    except (driver_errors.DriverError, driver_errors.Neo4jError) as error:
        known = as_tenure_error(error, target)
        if known is None:
            raise
        raise known from error


def as_tenure_error(
    error: driver_errors.DriverError | driver_errors.Neo4jError, target: Target
) -> TenureError | None:
    """The error that says what to do, None where tenure knows no better words."""
    # What a server answered has a code; what the driver raises by itself has none.
    if isinstance(error, driver_errors.Neo4jError):
        return _server_error(error, target)
    if isinstance(error, driver_errors.UnsupportedServerProduct):
        return _not_neo4j(target, str(error))

    if isinstance(error, driver_errors.ConnectionAcquisitionTimeoutError):
        return Unavailable(
            f"all connections to {target.uri!r} are in use; try again, or lower the number of"
            " concurrent calls",
            code="store_busy",
            uri=target.uri,
        )

    if isinstance(error, driver_errors.ServiceUnavailable | driver_errors.SessionExpired):
        return _unreachable(error, target)
    return None


def _server_error(error: driver_errors.Neo4jError, target: Target) -> TenureError | None:
    code = error.code or ""
    if isinstance(error, driver_errors.AuthError | driver_errors.Forbidden):
        return _refusal(code, target)
    if code.startswith("Neo.ClientError.Security."):
        return _refusal(code, target)

    if code == "Neo.ClientError.Database.DatabaseNotFound":
        return InvalidInput(
            f"{target.uri!r} has no database {target.database!r}: name one that SHOW DATABASES"
            " lists (Community has only 'neo4j')",
            code="unknown_vocabulary",
            what="database",
            word=target.database,
        )

    if code.startswith(
        (
            "Neo.ClientError.Transaction.TransactionTimedOut",
            "Neo.ClientError.Transaction.LockClientStopped",  # it ended while it waited for a lock
        )
    ):
        return Unavailable(
            "the transaction reached its time limit; write less at once, or raise"
            " db.transaction.timeout on the server",
            code="deadline",
            server_code=code,
        )

    if isinstance(error, driver_errors.TransientError):
        return _transient(error, code, target)

    # The store tries once more where two first writers may meet; what comes here is no such case.
    if isinstance(error, driver_errors.ConstraintError):
        return Fault(
            "a write does not fit the store: a unique key is taken; please report it",
            code="invariant_broken",
            server_code=code,
        )

    return None


def _transient(error: driver_errors.TransientError, code: str, target: Target) -> Unavailable:
    if isinstance(error, driver_errors.DatabaseUnavailable):
        return Unavailable(
            f"the database {target.database!r} of {target.uri!r} is not online; start it, or"
            " look at the server's log",
            code="store_unreachable",
            uri=target.uri,
            reason="database_offline",
        )

    if "MemoryPoolOutOfMemory" in code or "OutOfMemory" in code:
        return Unavailable(
            "the server ran out of memory for this transaction; write less at once, or raise"
            " server.memory.heap.max_size (or dbms.memory.transaction.total.max)",
            code="retries_exhausted",
            server_code=code,
        )

    return Unavailable(
        f"{target.uri!r} went on reporting {code}; try again later",
        code="retries_exhausted",
        server_code=code,
    )


def _refusal(code: str, target: Target) -> Forbidden:
    advice = {
        "Neo.ClientError.Security.CredentialsExpired": (
            "the initial password must be changed first: run ALTER CURRENT USER SET PASSWORD"
        ),
        "Neo.ClientError.Security.AuthenticationRateLimit": (
            "too many wrong passwords: wait a few seconds, then use the right one"
        ),
        "Neo.ClientError.Security.Forbidden": (
            "the user may not do this: grant the right, or connect as another user"
        ),
    }.get(code, "wrong or missing user name or password: check `auth`")
    return Forbidden(
        f"{target.uri!r} refused the login: {advice}",
        code="privilege_required",
        uri=target.uri,
        server_code=code,
    )


def _unreachable(error: driver_errors.DriverError, target: Target) -> Unavailable:
    text = str(error)
    # The driver has one class for all of these and tells them apart in words alone.
    if "HTTP" in text:
        advice = "this is an HTTP port; give the Bolt port, usually 7687"
    elif "DNS resolve" in text or "resolve address" in text:
        advice = "the host name is unknown; check the address"
    else:
        advice = "start the server, or check host, port and firewall"

    return Unavailable(
        f"no Neo4j answers at {target.uri!r}: {advice}",
        code="store_unreachable",
        uri=target.uri,
        reason="no_answer",
    )


def _not_neo4j(target: Target, agent: str) -> Unavailable:
    return Unavailable(
        f"what answers at {target.uri!r} is not Neo4j ({agent}); give the address of a Neo4j"
        " server",
        code="store_unreachable",
        uri=target.uri,
        reason="not_neo4j",
    )


def _check_version(facts: ServerFacts, target: Target) -> None:
    if facts.numbers >= OLDEST_VERSION:
        return

    oldest = ".".join(str(part) for part in OLDEST_VERSION)
    raise Unavailable(
        f"{target.uri!r} runs Neo4j {facts.version}; tenure needs {oldest} or newer: upgrade the"
        " server",
        code="store_unreachable",
        uri=target.uri,
        reason="unsupported_version",
        version=facts.version,
    )


def _check_uri(uri: str) -> None:
    try:
        parts = urlsplit(uri)
        parts.port  # noqa: B018  # it is read when it is asked for
    except ValueError as error:
        # Not repeated: what cannot be read may hold a password.
        raise InvalidInput(
            "the address of the Neo4j server cannot be read; write it like neo4j://HOST:7687",
            code="bad_settings",
        ) from error
    if parts.scheme not in URI_SCHEMES:
        raise unknown("scheme of a Neo4j address", parts.scheme, URI_SCHEMES)

    if parts.username is not None or parts.password is not None:
        raise InvalidInput(
            "a Neo4j address carries no user name or password: pass auth=(user, password)",
            code="secret_in_content",
        )
