"""The doctor of the server store: each planted damage is found and named, a healthy tenant's none.

Damage is planted with plain Cypher, past every guard. The same sentences as in the embedded
store, and those that only relationships, labels and a schema can break.
"""

import secrets
from collections.abc import Iterator

import neo4j
import pytest

from tenure.store.neo4j import checking
from tenure.store.neo4j.calls import Writes
from tenure.store.neo4j.cypher import schema as check_statements
from tenure.store.neo4j.store import Neo4jStore, open_store
from tenure.store.port.store import Store
from tenure.tests.neo4j_fixtures import strict_settings, wipe
from tenure.tests.neo4j_process import DATABASE
from tenure.tests.neo4j_server import Server
from tenure.tests.source_tree import data_table
from tenure.tests.store.builders import TENANT
from tenure.tests.store.contract.test_port_transfer import lived_in
from tenure.tests.store.renamed import Renamed

pytestmark = pytest.mark.integration

DAMAGES: dict[str, tuple[str, str]] = data_table("damages.toml")["neo4j"]


@pytest.fixture(scope="module")
def healthy(neo4j_server: Server, neo4j_driver: neo4j.Driver) -> Iterator[Neo4jStore]:
    store = open_store(neo4j_server.uri, auth=neo4j_server.auth, settings=strict_settings())
    yield store
    store.close()


@pytest.fixture(scope="module")
def tenant(healthy: Neo4jStore, neo4j_driver: neo4j.Driver) -> Iterator[str]:
    """A tenant with one of everything; no test leaves damage in it."""
    name = f"test-{secrets.token_hex(6)}"
    store: Store = Renamed(healthy, {TENANT: name})
    store.ensure(TENANT)
    lived_in(store)
    yield name
    wipe(neo4j_driver, name)


def injure(driver: neo4j.Driver, tenant: str, statement: str) -> None:
    """Run a statement over one tenant only: every pattern's node is bound to it by its labels."""
    with driver.session(database=DATABASE) as session:
        session.run(bound_to(statement), tenant=tenant).consume()


def bound_to(statement: str) -> str:
    """Add the tenant to every node pattern with a label; damage must not reach other tests."""
    import re

    def patched(found: re.Match[str]) -> str:
        inside = found["props"]
        kept = f", {inside}" if inside and "tenant_id" not in inside else ""
        if inside and "tenant_id" in inside:
            return found[0]
        return f"({found['name']}:{found['label']} {{tenant_id: $tenant{kept}}})"

    pattern = r"\((?P<name>\w*):(?P<label>\w+)(?: \{(?P<props>[^}]*)\})?\)"
    text = re.sub(pattern, patched, statement)
    return text if "$tenant" in text else text.replace("MATCH ()", "MATCH ({tenant_id: $tenant})")


def test_a_healthy_tenant_has_no_finding(healthy: Neo4jStore, tenant: str) -> None:
    assert healthy.check(tenant) == ()


@pytest.mark.parametrize(("damage", "said"), DAMAGES.values(), ids=DAMAGES)
def test_damage_is_found_and_named(
    healthy: Neo4jStore, tenant: str, damage: str, said: str
) -> None:
    # Looked at inside the transaction that did it: a rollback heals what takes a second to build.
    link = healthy.link(tenant)
    with link.session(neo4j.WRITE_ACCESS) as session, session.begin_transaction() as tx:
        tx.run(bound_to(damage), tenant=tenant).consume()
        findings = tuple(checking.violations(Writes(link, tx, tenant)))
        tx.rollback()
    assert any(said in sentence for sentence in findings), findings


def test_what_damaged_a_tenant_is_gone(healthy: Neo4jStore, tenant: str) -> None:
    assert healthy.check(tenant) == ()


def test_every_sentence_of_the_doctor_is_planted_once() -> None:
    said = [sentence for _, sentence in DAMAGES.values()]
    unplanted = [s for s in check_statements.MUST_BE_EMPTY if not any(part in s for part in said)]
    assert unplanted == []


def test_damage_of_one_tenant_is_no_finding_of_another(
    healthy: Neo4jStore, neo4j_driver: neo4j.Driver, tenant: str
) -> None:
    other = f"{tenant}-b"
    store: Store = Renamed(healthy, {TENANT: other})
    store.ensure(TENANT)
    lived_in(store)
    injure(neo4j_driver, other, DAMAGES["a gap in the log"][0])
    assert healthy.check(tenant) == ()
    wipe(neo4j_driver, other)
