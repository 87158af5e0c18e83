"""Connecting to Neo4j: what is refused, and that each refusal says what to do."""

import contextlib
import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import neo4j
import pytest
from neo4j import exceptions as driver_errors

from tenure.schema.errors import Forbidden, InvalidInput, TenureError, Unavailable
from tenure.store.neo4j.connect import (
    DriverSettings,
    ServerFacts,
    as_tenure_error,
    connect,
    driver_settings,
    our_errors,
    server_facts,
    version_numbers,
)
from tenure.store.port.records import Target
from tenure.tests.neo4j_process import DATABASE, LocalServer, free_port
from tenure.tests.neo4j_server import Server
from tenure.tests.support.refusals import refused

TARGET = Target(uri="bolt://graph.example:7687", database="neo4j")


def _impatient() -> DriverSettings:
    return {**driver_settings(), "connection_timeout": 0.5, "connection_acquisition_timeout": 0.5}


@contextlib.contextmanager
def _listening(answer: Callable[[socket.socket], None]) -> Iterator[Target]:
    """A port where `answer` speaks to whoever connects."""
    with socket.create_server(("127.0.0.1", 0)) as door:

        def serve() -> None:
            with contextlib.suppress(OSError):
                while True:
                    guest, _ = door.accept()
                    with guest, contextlib.suppress(OSError):
                        answer(guest)

        thread = threading.Thread(target=serve)
        thread.start()
        yield Target(uri=f"bolt://127.0.0.1:{door.getsockname()[1]}", database="neo4j")
        door.shutdown(socket.SHUT_RDWR)
        thread.join()


def _refusal(target: Target) -> TenureError:
    with pytest.raises(TenureError) as refused:
        connect(target, auth=None, settings=_impatient())
    return refused.value


def test_the_settings_fit_the_driver_and_send_no_telemetry() -> None:
    settings = driver_settings()
    assert settings["telemetry_disabled"] is True
    with neo4j.GraphDatabase.driver("bolt://127.0.0.1:1", **settings) as driver:
        assert isinstance(driver, neo4j.Driver)


def test_a_server_that_is_down_is_unavailable_at_once() -> None:
    target = Target(uri=f"bolt://127.0.0.1:{free_port()}", database="neo4j")
    error = _refusal(target)
    assert isinstance(error, Unavailable)
    assert (error.code, error.data["reason"]) == ("store_unreachable", "no_answer")
    assert "start the server" in str(error)
    assert isinstance(error.__cause__, driver_errors.ServiceUnavailable)


def test_an_http_port_is_told_from_a_bolt_port() -> None:
    with _listening(lambda guest: guest.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")) as target:
        error = _refusal(target)
    assert isinstance(error, Unavailable)
    assert "give the Bolt port, usually 7687" in str(error)


def test_a_port_that_stays_silent_is_unavailable() -> None:
    def hear(guest: socket.socket) -> None:
        guest.settimeout(5)
        guest.recv(64)
        guest.recv(64)

    with _listening(hear) as target:
        error = _refusal(target)
    assert isinstance(error, Unavailable)
    assert error.code == "store_unreachable"


def test_a_server_of_an_unknown_protocol_is_no_neo4j() -> None:
    def pose(guest: socket.socket) -> None:
        guest.recv(64)
        guest.sendall(b"\x00\x00\x00\x02")  # Bolt 2, which no driver of today speaks
        guest.recv(64)

    with _listening(pose) as target:
        error = _refusal(target)
    assert isinstance(error, Unavailable)
    assert (error.code, error.data["reason"]) == ("store_unreachable", "not_neo4j")


def _components(version: str, *languages: str) -> tuple[dict[str, Any], ...]:
    kernel = {"name": "Neo4j Kernel", "versions": (version,), "edition": "community"}
    cypher = {"name": "Cypher", "versions": languages, "edition": ""}
    return (kernel, cypher) if languages else (kernel,)


def test_a_server_says_what_it_is() -> None:
    facts = server_facts("Neo4j/2026.08.1", _components("2026.08.1", "5", "25"), TARGET)
    assert facts == ServerFacts(
        agent="Neo4j/2026.08.1", version="2026.08.1", edition="community", languages=("5", "25")
    )
    assert facts.numbers == (2026, 8, 1)


def test_a_server_without_a_language_list_speaks_cypher_5() -> None:
    assert server_facts("Neo4j/5.26.0", _components("5.26.0"), TARGET).languages == ("5",)


@pytest.mark.parametrize("version", ["4.4.40", "5.25.1", "5.9", "odd"])
def test_an_older_server_is_refused_with_what_is_needed(version: str) -> None:
    with pytest.raises(Unavailable, match=r"needs 5\.26 or newer: upgrade") as old:
        server_facts(f"Neo4j/{version}", _components(version), TARGET)
    assert (old.value.code, old.value.data["reason"]) == (
        "store_unreachable",
        "unsupported_version",
    )


@pytest.mark.parametrize(
    ("agent", "components"),
    [
        ("Neo4j/5.26.0 compatible", _components("5.26.0")),
        ("ArcadeDB/26.1", _components("5.26.0")),
        ("Neo4j/5.26.0", ()),
    ],
)
def test_what_only_looks_like_neo4j_is_refused(
    agent: str, components: tuple[dict[str, Any], ...]
) -> None:
    with pytest.raises(Unavailable, match="is not Neo4j") as posing:
        server_facts(agent, components, TARGET)
    assert posing.value.data["reason"] == "not_neo4j"


def test_versions_compare_as_numbers() -> None:
    assert version_numbers("5.9.0") < version_numbers("5.26.29-drop2") < version_numbers("2026.08")
    assert version_numbers("odd") == ()


@pytest.mark.parametrize("uri", ["http://localhost:7474", "localhost:7687", "postgres://x", ""])
def test_an_address_of_another_scheme_is_refused(uri: str) -> None:
    with refused(InvalidInput, "unknown_vocabulary", match="scheme of a Neo4j address"):
        connect(Target(uri=uri, database="neo4j"), auth=None)


def test_an_address_with_a_password_is_refused_without_repeating_it() -> None:
    with pytest.raises(InvalidInput, match=r"pass auth=\(user, password\)") as bad:
        connect(Target(uri="bolt://neo4j:hunter2@localhost", database="neo4j"), auth=None)
    assert bad.value.code == "secret_in_content"
    assert "hunter2" not in str(bad.value) + repr(bad.value.data)


def _server_error(code: str) -> driver_errors.Neo4jError:
    return driver_errors.Neo4jError._hydrate_neo4j(code=code, message="as the server says")


@pytest.mark.parametrize(
    ("server_code", "kind", "code", "advice"),
    [
        ("Neo.ClientError.Security.Unauthorized", Forbidden, "privilege_required", "check `auth`"),
        ("Neo.ClientError.Security.CredentialsExpired", Forbidden, "privilege_required", "ALTER"),
        ("Neo.ClientError.Security.AuthenticationRateLimit", Forbidden, "privilege_required", "wa"),
        ("Neo.ClientError.Security.Forbidden", Forbidden, "privilege_required", "grant the right"),
        ("Neo.ClientError.Database.DatabaseNotFound", InvalidInput, "unknown_vocabulary", "SHOW"),
        ("Neo.TransientError.General.DatabaseUnavailable", Unavailable, "store_unreachable", "st"),
        (
            "Neo.ClientError.Transaction.TransactionTimedOut",
            Unavailable,
            "deadline",
            "db.transaction.timeout",
        ),
        (
            "Neo.TransientError.General.MemoryPoolOutOfMemoryError",
            Unavailable,
            "retries_exhausted",
            "server.memory.heap.max_size",
        ),
        (
            "Neo.TransientError.Transaction.DeadlockDetected",
            Unavailable,
            "retries_exhausted",
            "try again",
        ),
    ],
)
def test_each_server_error_names_who_must_do_what(
    server_code: str, kind: type[TenureError], code: str, advice: str
) -> None:
    error = as_tenure_error(_server_error(server_code), TARGET)
    assert type(error) is kind
    assert error.code == code
    assert advice in str(error)


@pytest.mark.parametrize(
    ("raised", "code", "advice"),
    [
        (driver_errors.ConnectionAcquisitionTimeoutError("x"), "store_busy", "concurrent calls"),
        (driver_errors.SessionExpired("x"), "store_unreachable", "start the server"),
        (
            driver_errors.ServiceUnavailable("Failed to DNS resolve address h:1: no"),
            "store_unreachable",
            "host name is unknown",
        ),
    ],
)
def test_each_driver_error_names_what_to_do(
    raised: driver_errors.DriverError, code: str, advice: str
) -> None:
    error = as_tenure_error(raised, TARGET)
    assert isinstance(error, Unavailable)
    assert error.code == code
    assert advice in str(error)


def test_an_error_that_tenure_cannot_explain_better_passes_through() -> None:
    syntax = _server_error("Neo.ClientError.Statement.SyntaxError")
    with pytest.raises(driver_errors.CypherSyntaxError) as passed, our_errors(TARGET):
        raise syntax
    assert passed.value is syntax
    assert as_tenure_error(driver_errors.ResultConsumedError(object(), "x"), TARGET) is None


# From here on with a real server.


@pytest.mark.integration
def test_a_missing_database_is_named(neo4j_server: Server) -> None:
    target = Target(uri=neo4j_server.uri, database="no-such-database")
    with refused(InvalidInput, "unknown_vocabulary", match="no database 'no-such-database'"):
        connect(target, auth=neo4j_server.auth)


@pytest.mark.integration
def test_a_routing_address_reaches_a_single_server_too(neo4j_server: Server) -> None:
    if neo4j_server.provider != "maven":
        pytest.skip("only our own server is sure to advertise an address that is ours to reach")
    uri = neo4j_server.uri.replace("bolt://", "neo4j://")
    driver, facts = connect(Target(uri=uri, database=DATABASE), auth=neo4j_server.auth)
    driver.close()
    assert facts.version == neo4j_server.version


@pytest.fixture(scope="module")
def locked_server(
    local_neo4j: Callable[[Mapping[str, str]], LocalServer],
) -> Iterator[LocalServer]:
    """A new server that asks for its initial password."""
    server = local_neo4j({"dbms.security.auth_enabled": "true"})
    server.auth = ("neo4j", "neo4j")
    try:
        with contextlib.suppress(Forbidden):  # it answers: the initial password has expired
            server.start()
        yield server
    finally:
        server.close()


@pytest.mark.integration
@pytest.mark.parametrize(
    ("auth", "advice"),
    [
        (("neo4j", "neo4j"), "initial password must be changed"),
        (("neo4j", "wrong-password"), "wrong or missing user name or password"),
        (None, "wrong or missing user name or password"),
    ],
)
def test_a_refused_login_is_forbidden_and_repeats_no_password(
    locked_server: LocalServer, auth: tuple[str, str] | None, advice: str
) -> None:
    with refused(Forbidden, "privilege_required", match=advice) as refusal:
        connect(Target(uri=locked_server.uri, database=DATABASE), auth=auth)
    assert "wrong-password" not in str(refusal.value) + repr(refusal.value.data)
