"""No relationship ever joins the nodes of two tenants, whatever one of them tries."""

import contextlib
import secrets
from collections.abc import Iterator

import neo4j
import pytest

from tenure.schema.errors import TenureError
from tenure.store.neo4j.store import open_store
from tenure.store.port.store import Store
from tenure.tests.neo4j_fixtures import strict_settings, wipe
from tenure.tests.neo4j_process import DATABASE
from tenure.tests.neo4j_server import Server
from tenure.tests.store.renamed import Renamed
from tenure.tests.store.tenancy import CASES, MINE, THEIRS, exported, fill_mine, fill_theirs

pytestmark = pytest.mark.integration

CROSSING = """
MATCH (a {tenant_id: $tenant})-[r]-(b) WHERE coalesce(b.tenant_id, '') <> $tenant
RETURN count(r) AS crossing
"""


@pytest.fixture
def names(neo4j_driver: neo4j.Driver) -> Iterator[dict[str, str]]:
    given = {name: f"test-{secrets.token_hex(6)}" for name in (MINE, THEIRS)}
    yield given
    for tenant in given.values():
        wipe(neo4j_driver, tenant)


def test_all_that_can_be_tried_joins_no_two_tenants(
    neo4j_server: Server, neo4j_driver: neo4j.Driver, names: dict[str, str]
) -> None:
    opened = open_store(neo4j_server.uri, auth=neo4j_server.auth, settings=strict_settings())
    store: Store = Renamed(opened, names)
    fill_mine(store)
    fill_theirs(store)
    before = exported(store, THEIRS)
    for case in CASES.values():  # one after another: what one leaves, the next may use
        with contextlib.suppress(TenureError):
            case(store)
    assert exported(store, THEIRS) == before
    assert opened.check(names[THEIRS]) == ()
    with neo4j_driver.session(database=DATABASE) as session:
        for tenant in names.values():
            (found,) = session.run(CROSSING, tenant=tenant)
            assert found["crossing"] == 0
    opened.close()
