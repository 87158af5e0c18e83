"""Every statement finds its nodes by an index, on the data of two tenants."""

import secrets
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import neo4j
import pytest

from tenure import Write, connect
from tenure.schema.principal import OWNER
from tenure.store.neo4j.connect import version_numbers
from tenure.store.neo4j.cypher import register as identity_statements
from tenure.store.neo4j.cypher import schema
from tenure.store.neo4j.cypher.candidates import OF_KIND
from tenure.store.neo4j.cypher.core import PUT_PART
from tenure.store.neo4j.store import open_store
from tenure.store.neo4j.vector_index import FILTERS_FROM, Indexes
from tenure.tests.neo4j_fixtures import wipe
from tenure.tests.neo4j_process import DATABASE
from tenure.tests.neo4j_server import Server
from tenure.tests.store.cypher_lint import parameters_of
from tenure.tests.store.statement_modules import LANGUAGES, MODULES

pytestmark = pytest.mark.integration

FORBIDDEN = {
    "AllNodesScan",
    "NodeByLabelScan",
    "UnionNodeByLabelsScan",
    "PartitionedAllNodesScan",
    "DirectedAllRelationshipsScan",
    "UndirectedAllRelationshipsScan",
    "DirectedRelationshipTypeScan",
    "UndirectedRelationshipTypeScan",
    "NodeIndexScan",
    "DirectedRelationshipIndexScan",
}
ENTITIES = 600
CROWD = 150_000
"""Claims of a tenant that was moved here."""
RARE = ("MENTIONS", "CONFIRMS", "DERIVED_FROM", "SAME_AS", "LEFT", "RIGHT", "IDENTIFIES", "MARKS")
"""What a server knows of and has hardly any of: a planner begins there where nothing stops it."""
SINGLE_ROWS = {
    # two look-ups of a unique key, or two sub-queries, that meet in a product of one row each
    "PUT_BATCH", "PUT_judgements", "PUT_canonical", "PUT_mentions", "PUT_edges", "KNOWN", "LOCK",
    "OPENING", "FOLLOW_UP",
    # the clock, one row, beside the rows that are compared with it
    "a version number is not below the next one", "a vector number is above the counter",
}  # fmt: skip
PUBLIC = (
    {
        name: text
        for module in MODULES
        for name, text in sorted(vars(module).items())
        if isinstance(text, str) and name.isupper() and not name.startswith("_")
    }
    | dict(schema.MUST_BE_EMPTY)
    | {f"OF_{kind}": text for kind, text in OF_KIND.items()}
    | dict(identity_statements.FIND)
    | {f"PUT_{name}": text for name, text in PUT_PART.items()}
    | {f"ALL_{kind}": text for kind, text in identity_statements.EXPORTS.items()}
)
UNLOADED = {
    "a vector number is above the counter",
    "a fact has the shape of an older version (run: tenure migrate)",
}
"""Of labels that the loaded data have none of: any plan is as good as another."""
TEXTS = {n: text for n, text in PUBLIC.items() if "$tenant" in text and n not in UNLOADED}
ASKED = [(name, language) for name in TEXTS for language in LANGUAGES.get(name, ("5", "25"))]
GIVEN = {"near": [1.0] * 64}
"""What is no number travels in a map, whose values a plan does not depend on."""


@pytest.fixture(scope="module")
def loaded(neo4j_server: Server, neo4j_driver: neo4j.Driver) -> Iterator[neo4j.Driver]:
    tenants = [f"test-{secrets.token_hex(8)}" for _ in range(2)]
    for tenant in tenants:
        owner = replace(OWNER, tenant=tenant)
        with connect(neo4j_server.uri, auth=neo4j_server.auth, principal=owner) as memory:
            for slot in ("city", "size"):
                memory.vocabulary.define_slot(slot, description=f"the {slot} of a site")
            for number in range(0, ENTITIES, 200):
                memory.write_many(
                    [
                        Write(
                            subject={"name": f"Site {one}", "type": "organization"},
                            slot=slot,
                            value=f"{slot} {one % 7}",
                            valid_from="2024-01-01T00:00:00Z",
                        )
                        for one in range(number, number + 200)
                        for slot in ("city", "size")
                    ]
                )
    tenants.append(f"test-{secrets.token_hex(8)}")
    with neo4j_driver.session(database=DATABASE) as session:
        session.run(
            "UNWIND range(1, $count) AS n CALL (n) { CREATE (:Claim {tenant_id: $tenant,"
            " object_id: 'o' + n}) } IN TRANSACTIONS OF 10000 ROWS",
            {"count": CROWD, "tenant": tenants[-1]},
        ).consume()
        for name in RARE:
            session.run("CALL db.createRelationshipType($name)", {"name": name}).consume()
        for name in ("vx_near", "vx_near_filtered"):
            session.run(f"DROP INDEX {name} IF EXISTS").consume()
    store = open_store(neo4j_server.uri, auth=neo4j_server.auth)
    Indexes().make(store.link(tenants[0]), 64)
    store.close()
    with neo4j_driver.session(database=DATABASE) as session:
        # Counts what the indices hold, waits until that is done, and forgets all plans.
        session.run("CALL db.prepareForReplanning(60)").consume()
    yield neo4j_driver
    for tenant in tenants:
        wipe(neo4j_driver, tenant)
    with neo4j_driver.session(database=DATABASE) as session:
        for name in ("vx_near", "vx_near_filtered"):
            session.run(f"DROP INDEX {name} IF EXISTS").consume()


def operators(plan: dict[str, Any]) -> Iterator[str]:
    yield str(plan["operatorType"]).split("@")[0]
    for child in plan.get("children", ()):
        yield from operators(child)


@pytest.mark.parametrize(("name", "language"), ASKED)
def test_no_statement_scans(loaded: neo4j.Driver, name: str, language: str) -> None:
    text = TEXTS[name]
    bound = dict.fromkeys(parameters_of(text), 5) | {"tenant": "t", "given": GIVEN}
    with loaded.session(database=DATABASE) as session:
        if language == "25" and not speaks_25(session):
            pytest.skip("the server speaks Cypher 5 only")
        if "SEARCH" in text and not filters(session):
            pytest.skip("the server's vector index filters by no property")
        summary = session.run(f"CYPHER {language} EXPLAIN {text}", bound).consume()
    assert summary.plan is not None
    used = set(operators(summary.plan))
    forbidden = FORBIDDEN if name in SINGLE_ROWS else FORBIDDEN | {"CartesianProduct"}
    assert not used & forbidden, sorted(used)


def test_every_statement_is_explained_or_says_why_it_names_no_tenant() -> None:
    exempt = {name for module in MODULES for name in getattr(module, "WITHOUT_TENANT", {})}
    assert set(PUBLIC) - set(TEXTS) == exempt | UNLOADED


def test_one_plan_serves_look_ups_of_every_size(
    neo4j_server: Server, neo4j_driver: neo4j.Driver
) -> None:
    store = open_store(neo4j_server.uri, auth=neo4j_server.auth)
    clear = "CALL db.clearQueryCaches() YIELD value RETURN value"
    planned: list[list[str]] = []
    for sizes in ((1,), (0, 1, 2, 20, 200)):
        with neo4j_driver.session(database=DATABASE) as session:
            session.run(clear).consume()
        with store.link("t").reads("t") as calls:
            for size in sizes:
                names = {name: ["x" * size] * size for name in ("norms", "scopes", "entity_ids")}
                calls.rows(identity_statements.KNOWN, identifiers=[], **names)
        with neo4j_driver.session(database=DATABASE) as session:
            planned.append([str(record["value"]) for record in session.run(clear)])
    store.close()
    assert planned[0] == planned[1]


def filters(session: neo4j.Session) -> bool:
    (kernel,) = session.run(
        "CALL dbms.components() YIELD name, versions WHERE name CONTAINS "
        "'Kernel' RETURN versions[0] AS version"
    )
    return version_numbers(kernel["version"]) >= FILTERS_FROM


def speaks_25(session: neo4j.Session) -> bool:
    rows = session.run("CALL dbms.components() YIELD name, versions RETURN name, versions")
    return any("25" in row["versions"] for row in list(rows) if row["name"] == "Cypher")
