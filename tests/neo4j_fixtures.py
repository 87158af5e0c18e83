"""Fixtures for tests on a real Neo4j; a plugin that tests/conftest.py names.

One server serves the whole run, each test has a random tenant of its own on it, wiped at the
end. `crashable_server` is another one that a test may kill. TENURE_NEO4J_VERSION chooses the
version. Without a server the tests are skipped with every reason, or fail where
TENURE_REQUIRE_NEO4J is set.
"""

import os
import secrets
from collections.abc import Callable, Iterator, Mapping
from typing import NoReturn

import neo4j
import pytest

from tenure.store.neo4j.connect import DriverSettings, ServerFacts, connect, driver_settings
from tenure.store.port.records import Target
from tenure.tests.neo4j_process import DATABASE, LocalServer
from tenure.tests.neo4j_server import (
    NoServer,
    Provider,
    Server,
    Unusable,
    find_server,
    is_required,
    local_server,
    providers,
    wanted_version,
)

WIPE = """
MATCH (n {tenant_id: $tenant})
CALL (n) { DETACH DELETE n } IN TRANSACTIONS OF 500 ROWS
"""


def strict_settings() -> DriverSettings:
    """Return the driver's settings for tests: what the server warns of becomes a warning.

    Unknown labels and properties are left out: an empty database knows none.
    """
    return {
        **driver_settings(),
        "warn_notification_severity": "WARNING",
        "notifications_disabled_classifications": ["UNRECOGNIZED"],
    }


def wipe(driver: neo4j.Driver, tenant: str) -> None:
    """Remove everything of a tenant, in batches that the server's memory holds."""
    with driver.session(database=DATABASE) as session:
        session.run(WIPE, tenant=tenant).consume()


def _absent(reason: str) -> NoReturn:
    if is_required():
        pytest.fail(f"TENURE_REQUIRE_NEO4J is set, but {reason}", pytrace=False)
    pytest.skip(reason)


def _server() -> Server:
    try:
        return find_server(wanted_version())
    except NoServer as absent:
        reason = str(absent)
    _absent(reason)


@pytest.fixture(scope="module")
def local_neo4j() -> Callable[[Mapping[str, str]], LocalServer]:
    """Make a server of this machine with settings of the test's own; the test starts and closes it.

    Skips where another provider is asked for.
    """

    def make(conf: Mapping[str, str]) -> LocalServer:
        if Provider.MAVEN not in providers(os.environ):
            pytest.skip("this test needs the provider maven")
        try:
            return local_server(wanted_version(), conf=conf)
        except Unusable as unusable:
            reason = str(unusable)
        _absent(reason)

    return make


@pytest.fixture(scope="session")
def neo4j_server() -> Iterator[Server]:
    """The server of the whole run; do not stop it."""
    server = _server()
    yield server
    server.close()


@pytest.fixture(scope="module")
def crashable_server() -> Iterator[Server]:
    """A server that a test may stop, kill and restart."""
    server = _server()
    if not server.restartable:
        pytest.skip(f"the server at {server.uri} is not ours to kill")
    yield server
    server.close()


@pytest.fixture(scope="session")
def neo4j_connection(neo4j_server: Server) -> Iterator[tuple[neo4j.Driver, ServerFacts]]:
    """The run's driver, and what the server is."""
    driver, facts = connect(
        Target(uri=neo4j_server.uri, database=DATABASE),
        auth=neo4j_server.auth,
        settings=strict_settings(),
    )
    with driver:
        yield driver, facts


@pytest.fixture(scope="session")
def neo4j_driver(neo4j_connection: tuple[neo4j.Driver, ServerFacts]) -> neo4j.Driver:
    """The run's driver; always name `database=DATABASE`."""
    return neo4j_connection[0]


@pytest.fixture
def neo4j_tenant(neo4j_driver: neo4j.Driver) -> Iterator[str]:
    """The name of a tenant that no other test has, wiped at the end."""
    tenant = f"test-{secrets.token_hex(8)}"
    yield tenant
    wipe(neo4j_driver, tenant)
