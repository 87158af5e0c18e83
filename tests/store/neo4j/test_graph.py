"""The graph as people read it: the queries of docs/neo4j.md over the demo store."""

import os
import re
import secrets
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import neo4j
import pytest

from tenure import connect
from tenure.faces.cli.demo import NOW, take_tour
from tenure.schema.principal import OWNER
from tenure.tests.neo4j_fixtures import wipe
from tenure.tests.neo4j_process import DATABASE
from tenure.tests.neo4j_server import Server
from tenure.tests.source_tree import ROOT

pytestmark = pytest.mark.integration

PAGE = ROOT / "docs/neo4j.md"
BLOCK = re.compile(r"```cypher\n(?P<query>.*?)```\n\n```text\n(?P<output>.*?)```", re.DOTALL)
PARAMETERS: dict[str, Any] = {
    "name": "Orchid Foods",
    "valid": datetime(2026, 5, 1, tzinfo=UTC),
    "believed": datetime(2026, 6, 1, tzinfo=UTC),
    "day": datetime(2026, 6, 6, tzinfo=UTC),
}
"""What the page states before its queries."""


def load(server: Server, driver: neo4j.Driver, tenant: str) -> None:
    """The demo store, in which a steward has settled who moved to Toronto."""
    take_tour(server.uri, tenant=tenant)
    with driver.session(database=DATABASE) as session:
        ids = [
            record[0]
            for value in ("Toronto", "solutions engineer")
            for record in session.run(
                "MATCH (e:Entity {tenant_id: $t})-[:HAS_FACT]->(:Fact {value: $value})"
                " RETURN DISTINCT e.entity_id",
                {"t": tenant, "value": value},
            )
        ]
    owner = replace(OWNER, tenant=tenant)
    with connect(server.uri, principal=owner, clock=lambda: NOW) as memory:
        memory.entities.merge(*ids, reason="the engineer moved to Toronto")


@pytest.fixture(scope="module")
def demo(neo4j_server: Server, neo4j_driver: neo4j.Driver) -> Iterator[str]:
    """The tenant of a demo store; TENURE_DEMO_TENANT names one that is there already."""
    kept = os.environ.get("TENURE_DEMO_TENANT")
    tenant = kept or f"test-{secrets.token_hex(8)}"
    if not kept:
        load(neo4j_server, neo4j_driver, tenant)
    yield tenant
    if not kept:
        wipe(neo4j_driver, tenant)


def table(records: list[neo4j.Record]) -> str:
    """The answer of a query, a line a row."""
    lines = [" | ".join(records[0].keys())] if records else []
    return "\n".join([*lines, *(" | ".join(map(shown, record.values())) for record in records)])


def shown(value: Any) -> str:
    if isinstance(value, neo4j.time.DateTime):
        return value.to_native().strftime("%Y-%m-%d %H:%M")
    if isinstance(value, list):
        return ", ".join(map(shown, value))
    return "null" if value is None else str(value)


def answers(driver: neo4j.Driver, tenant: str) -> list[tuple[str, str, str]]:
    found: list[tuple[str, str, str]] = []
    with driver.session(database=DATABASE) as session:
        for block in BLOCK.finditer(PAGE.read_text(encoding="utf-8")):
            # The demo store ends on a day of its own.
            query = block["query"].replace("datetime()", f"datetime('{NOW.isoformat()}')")
            records = list(session.run(query, PARAMETERS | {"t": tenant}))
            found.append((block["query"], block["output"], table(records) + "\n"))
    return found


def test_each_query_of_the_page_has_its_output(neo4j_driver: neo4j.Driver, demo: str) -> None:
    found = answers(neo4j_driver, demo)
    if os.environ.get("TENURE_GOLDEN") == "write":
        text = PAGE.read_text(encoding="utf-8")
        for query, said, is_said in found:
            text = text.replace(
                f"{query}```\n\n```text\n{said}```", f"{query}```\n\n```text\n{is_said}```"
            )
        PAGE.write_text(text, encoding="utf-8")
    assert [said for _, said, _ in found] == [is_said for _, _, is_said in found]
    assert len(found) == 8
    assert all(is_said.count("\n") > 1 for _, _, is_said in found)


CAPTIONS = "MATCH (f:Fact {tenant_id: $t}) WHERE f.open IS NOT NULL RETURN f.title, f.value"
RELATIONS = """
MATCH (a:Entity {tenant_id: $t})-[r:FACT|DENIED]->(b:Entity)
RETURN a.name, type(r), r.slot, b.name, r.replaced_at IS NULL
"""


def test_facts_say_what_they_hold_until_they_are_erased(
    neo4j_server: Server, neo4j_driver: neo4j.Driver, tenant: str
) -> None:
    def lines(query: str) -> set[tuple[Any, ...]]:
        with neo4j_driver.session(database=DATABASE) as session:
            return {tuple(record.values()) for record in session.run(query, {"t": tenant})}

    bo = {"name": "Bo: Berg", "type": "person"}
    with connect(neo4j_server.uri, principal=replace(OWNER, tenant=tenant)) as memory:
        office = memory.write(subject="Ann Lee", slot="office", value='Rome: "old town"')
        memory.write(subject="Ann Lee", slot="title", value="x" * 200, op="deny")
        memory.write(subject="Ann Lee", slot="manager", value=bo)
        memory.write(subject=bo, slot="manager", value="Ann Lee", op="deny")
        memory.write(subject="Ann Lee", content="She likes tea.", why_it_matters="for guests")
        assert lines(CAPTIONS) == {
            ('Ann Lee: office = Rome: "old town"', 'Rome: "old town"'),
            ("Ann Lee: title = not " + "x" * 99, "not " + "x" * 76),
            ("Ann Lee: manager = Bo: Berg", "Bo: Berg"),
            ("Bo: Berg: manager = not Ann Lee", "not Ann Lee"),
            ("She likes tea.", "She likes tea."),
        }
        assert lines(RELATIONS) == {
            ("Ann Lee", "FACT", "manager", "Bo: Berg", True),
            ("Bo: Berg", "DENIED", "manager", "Ann Lee", True),
        }
        memory.write(subject="Ann Lee", slot="manager", value=bo, op="retract")
        assert ("Ann Lee", "FACT", "manager", "Bo: Berg", False) in lines(RELATIONS)
        memory.erase(office.object_id, reason="asked for")
        captions = "MATCH (n {tenant_id: $t}) WHERE n.title CONTAINS 'Rome' RETURN n.title"
        assert lines(captions) == set()
        assert memory.doctor() == ()
