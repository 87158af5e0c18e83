"""A store on the server of the run, whose tenants are wiped afterwards."""

import secrets
from collections.abc import Iterator

import neo4j
import pytest

from tenure.store.neo4j.store import open_store
from tenure.tests.neo4j_fixtures import wipe
from tenure.tests.neo4j_server import Server
from tenure.tests.store.apart import ApartStore
from tenure.tests.store.builders import TENANT


@pytest.fixture
def store(neo4j_server: Server, neo4j_driver: neo4j.Driver) -> Iterator[ApartStore]:
    """Return an empty store with the tenant of the builders."""
    opened = open_store(neo4j_server.uri, auth=neo4j_server.auth)
    apart = ApartStore(opened, lambda tenant: wipe(neo4j_driver, tenant))
    apart.ensure(TENANT)
    yield apart
    apart.wipe()
    apart.close()


@pytest.fixture
def tenant(neo4j_driver: neo4j.Driver) -> Iterator[str]:
    """The name of a tenant that nobody else uses."""
    name = f"test-{secrets.token_hex(8)}"
    yield name
    wipe(neo4j_driver, name)
