"""The doctor of the server store: each planted damage is found and named, a healthy tenant's none.

Damage is planted with plain Cypher, past every guard. The same sentences as in the embedded
store, and those that only relationships, labels and a schema can break.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator

import neo4j
import pytest

from tenure.schema.interval import INF_US
from tenure.store.neo4j import checking
from tenure.store.neo4j.calls import Writes
from tenure.store.neo4j.cypher import checks as check_statements
from tenure.store.neo4j.cypher import schema as schema_statements
from tenure.store.neo4j.store import Neo4jStore, open_store
from tenure.store.port.store import Store
from tenure.tests.neo4j_fixtures import strict_settings, wipe
from tenure.tests.neo4j_process import DATABASE
from tenure.tests.neo4j_server import Server
from tenure.tests.store.builders import TENANT
from tenure.tests.store.contract.test_port_transfer import lived_in
from tenure.tests.store.renamed import Renamed

pytestmark = pytest.mark.integration

OPEN = "253402300799999999"
DAMAGES: dict[str, tuple[str, str]] = {
    "a slot lost": ("MATCH (v:ContextVersion {vid: 1})-[r:VERSION_OF]->() DELETE r", "exactly one"),
    "a claim lost": ("MATCH (v:ContextVersion {vid: 1})-[r:PIECE_OF]->() DELETE r", "exactly one"),
    "two slots": (
        "MATCH (v:ContextVersion {vid: 1}) MATCH (s:Slot) WHERE s.slot_key <> v.slot_key "
        "WITH v, s LIMIT 1 CREATE (v)-[:VERSION_OF]->(s)",
        "exactly one",
    ),
    "another slot": (
        "MATCH (v:ContextVersion {vid: 1}) SET v.slot_key = 'elsewhere'",
        "in another slot than its claim",
    ),
    "another claim": (
        "MATCH (v:ContextVersion {vid: 1}) SET v.object_id = 'b'",
        "in another slot than its claim",
    ),
    "a denial": ("MATCH (v:ContextVersion {vid: 1}) SET v.deny = true", "marked as a denial"),
    "a reversed interval": (
        "MATCH (v:ContextVersion {vid: 2}) SET v.valid_until = v.valid_from - 1",
        "empty or reversed",
    ),
    "an empty belief": (
        "MATCH (v:ContextVersion {vid: 2}) SET v.tx_end = v.tx_start",
        "empty or reversed",
    ),
    "a fifth status": (
        "MATCH (v:ContextVersion {vid: 1}) SET v.status = 'fifth'",
        "a status that does not exist",
    ),
    "a changed value": (
        "MATCH (c:Claim {object_id: 'a'}) SET c.value_key = 's:Rome', c.value_json = '\"Rone\"'",
        "a value is not the one",
    ),
    "a changed name": ("MATCH (a:Alias {entity_id: 'e1'}) SET a.surface = 'Eve'", "taught: e1"),
    "a deciding quarantine": (
        "MATCH (v:ContextVersion) WHERE v.status = 'quarantined' SET v.head = true",
        "a quarantined row decides",
    ),
    "an open mark gone": (
        f"MATCH (v:ContextVersion) WHERE v.tx_end = {OPEN} AND v.head REMOVE v.open",
        "marked open and is not",
    ),
    "an open mark too many": (
        f"MATCH (v:ContextVersion) WHERE v.tx_end < {OPEN} SET v.open = 0",
        "marked open and is not",
    ),
    "a row before its claim": (
        "MATCH (v:ContextVersion {vid: 1}) SET v.tx_start = v.tx_start - 5",
        "before its claim was written",
    ),
    "an unlogged stamp": ("MATCH (v:ContextVersion {vid: 1}) SET v.tx_start = 11", "in no event"),
    "a high row": ("MATCH (k:TenantClock) SET k.next_vid = 2", "not below the next one"),
    "a high vector": ("MATCH (k:TenantClock) SET k.vec_seq = 0", "above the counter"),
    "a definition gone": ("MATCH (d:Definition) SET d.number = 5", "definitions have a gap"),
    "no permissions": ("MATCH (c:Claim {object_id: 'a'}) REMOVE c.allow", "has no permissions"),
    "two scopes": ("MATCH (s:Slot) SET s.scope_id = 'user=x'", "name different scopes"),
    "a copied time": (
        "MATCH (:ContextVersion {vid: 1})-[a:ABOUT]->() SET a.valid_from = 1",
        "a relationship to an entity differs",
    ),
    "a copied stamp": (
        "MATCH (:ContextVersion {vid: 1})-[a:ABOUT]->() SET a.tx_end = 12345",
        "a relationship to an entity differs",
    ),
    "another entity": (
        "MATCH (v:ContextVersion {vid: 1})-[a:ABOUT]->() "
        "MATCH (e:Entity {entity_id: 'e3'}) WITH v, a, e, properties(a) AS held "
        "CREATE (v)-[b:ABOUT]->(e) SET b = held DELETE a",
        "a relationship to an entity differs",
    ),
    "content without a tombstone": ("MATCH (t:Tombstone) DETACH DELETE t", "no tombstone says why"),
    "content kept": (
        "MATCH (c:Claim {object_id: 'e'}) SET c.value_json = '1'",
        "an erased object still has text",
    ),
    "a text without its scope": (
        "MATCH (c:Claim {object_id: 'a'}) SET c.tenant_tok = split(c.tenant_tok, ' ')[0]",
        "a text of an older tenure is found by no user",
    ),
    "a mention too long": (
        "MATCH (:Claim {object_id: 'f'})-[m:MENTIONS]->() SET m.until = 99999",
        "a mention lies outside its text",
    ),
    "a receipt kept": (
        "MATCH (t:Tombstone) UNWIND t.object_ids AS id WITH id LIMIT 1 "
        "MATCH (k:TenantClock) MERGE (r:Receipt {tenant_id: k.tenant_id, object_id: id}) "
        "SET r.body = '{}'",
        "an erased object still has a receipt",
    ),
    "a manifest kept": (
        "MATCH (t:Tombstone) MATCH (k:TenantClock) UNWIND t.object_ids AS id WITH id, k LIMIT 1 "
        "MERGE (o:Compiled {tenant_id: k.tenant_id, object_id: id}) "
        "CREATE (m:Manifest {tenant_id: k.tenant_id, envelope_id: 'ghost', n: 999, body: '{}'}) "
        "CREATE (m)-[:COMPILED]->(o)",
        "an erased object still has a manifest",
    ),
    "a vector kept": (
        "MATCH (t:Tombstone) MATCH (k:TenantClock) UNWIND t.object_ids AS id WITH id, k LIMIT 1 "
        "CREATE (x:Vector {tenant_id: k.tenant_id, object_id: id, encoder_id: 'e', part: '0'})",
        "an erased object still has a vector",
    ),
    "a name kept": (
        "MATCH (e:Entity {entity_id: 'e2'}) SET e.state = 'erased'",
        "an erased entity still has a name",
    ),
    "an erased claim open": (
        f"MATCH (c:Claim {{object_id: 'e'}})<-[:PIECE_OF]-(v) SET v.tx_end = {OPEN}",
        "an erased claim has an open row",
    ),
    "a live mark gone": ("MATCH (c:Live) REMOVE c:Live", "a live mark is missing"),
    "a live mark too many": (
        "MATCH (c:Claim) WHERE NOT c:Live AND c.erased IS NULL SET c:Live",
        "a live mark is missing or stands where",
    ),
    "a norm count": ("MATCH (k:TenantClock) SET k.norms = 9", "count of blocking keys"),
    "a lonely norm": ("MATCH (m:Norm {norm: 'kim'}) SET m.norm = 'ghost'", "names no alias"),
    "a chain of names": (
        "MATCH (a:Entity {entity_id: 'e2'}) MATCH (b:Entity {entity_id: 'e1'}) "
        f"CREATE (a)-[:SAME_AS {{tx_start: 1, tx_end: {OPEN}}}]->(b)",
        "canonical ids form no star",
    ),
    "a tombstone's stamp": ("MATCH (t:Tombstone) SET t.tx = 91", "stamp of a tombstone"),
    "two truths": (
        f"MATCH (v:ContextVersion {{vid: 1}}) SET v.tx_end = {OPEN}, v.open = 0",
        "two clean heads decide one point",
    ),
    "one claim twice": (
        f"MATCH (v:ContextVersion {{vid: 1}}) SET v.tx_end = {OPEN}, v.open = 0",
        "two rows overlap on both axes",
    ),
    "a gap in the log": ("MATCH (t:TxEvent {seq: 3}) DETACH DELETE t", "the log has a gap"),
    "an edited event": ("MATCH (t:TxEvent {seq: 2}) SET t.actor = 'eve'", "breaks at event 2"),
    "an edited list": ("MATCH (t:TxEvent {seq: 1}) SET t.object_ids = []", "breaks at event 1"),
    "a clock that is behind": (
        "MATCH (k:TenantClock) SET k.last_us = k.last_us - 50",
        "the counters say",
    ),
    "a count that is behind": ("MATCH (k:TenantClock) SET k.seq = k.seq - 1", "the counters say"),
    "a foreign digest": (
        "MATCH (k:TenantClock) MATCH (t:TxEvent {seq: 1}) SET k.digest = t.digest",
        "the clock's digest is not",
    ),
    "canonical ids gone": ("MATCH ()-[r:SAME_AS]->() DELETE r", "disagree with the judgements"),
}


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


def test_the_open_end_of_the_damages_is_the_real_one() -> None:
    assert int(OPEN) == INF_US
    assert schema_statements.SCHEMA_VERSION >= 1
