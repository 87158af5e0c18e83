"""The schema of a server: made once, mended where it lost something, refused where it is newer."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import pytest
from neo4j.exceptions import ClientError
from typer.testing import CliRunner

from tenure import connect
from tenure.faces.cli.main import app
from tenure.schema.errors import Unavailable
from tenure.schema.interval import INF_US
from tenure.schema.vocabulary import Op
from tenure.store.neo4j.checking import name_of
from tenure.store.neo4j.cypher import schema as schema_statements
from tenure.store.neo4j.store import Neo4jStore, open_store
from tenure.tests.neo4j_fixtures import strict_settings
from tenure.tests.neo4j_process import DATABASE, LocalServer
from tenure.tests.store.builders import TENANT, Say, commit
from tenure.tests.store.contract.test_port_transfer import lived_in

pytestmark = pytest.mark.integration

COMMANDS = [command for part in schema_statements.MIGRATIONS for command in part]
NAMES = sorted(name_of(command) for command in COMMANDS)


@pytest.fixture(scope="module")
def own_server(
    local_neo4j: Callable[[Mapping[str, str]], LocalServer],
) -> Iterator[LocalServer]:
    """A server whose schema a test may take apart: that of the run serves everybody."""
    server = local_neo4j({})
    try:
        server.start()
        yield server
    finally:
        server.close()


@pytest.fixture
def bare(own_server: LocalServer) -> LocalServer:
    """The server without data and schema."""
    ask(own_server, "MATCH (n) DETACH DELETE n")
    for row in ask(own_server, "SHOW CONSTRAINTS YIELD name RETURN name AS name"):
        ask(own_server, f"DROP CONSTRAINT {row}")
    for row in ask(own_server, "SHOW INDEXES YIELD name, type WHERE type <> 'LOOKUP' RETURN name"):
        ask(own_server, f"DROP INDEX {row}")
    return own_server


def unopened(server: LocalServer) -> Neo4jStore:
    return open_store(server.uri, auth=server.auth, settings=strict_settings(), prepare=False)


def opened(server: LocalServer) -> Neo4jStore:
    return open_store(server.uri, auth=server.auth, settings=strict_settings())


def ask(server: LocalServer, text: str) -> list[str]:
    return list(map(str, first_values(server, text)))


def first_values(server: LocalServer, text: str) -> list[Any]:
    import neo4j

    with (
        neo4j.GraphDatabase.driver(server.uri, auth=server.auth) as driver,
        driver.session(database=DATABASE) as session,
    ):
        return [record[0] for record in session.run(text)]


def names(server: LocalServer) -> list[str]:
    rows = "SHOW INDEXES YIELD name, type WHERE type <> 'LOOKUP' RETURN name ORDER BY name"
    return ask(server, rows)


def tenure(*words: str) -> tuple[int, str, str]:
    result = CliRunner().invoke(app, [*words])
    return result.exit_code, result.stdout, result.stderr


def test_a_dry_run_tells_everything_and_does_nothing(bare: LocalServer) -> None:
    store = unopened(bare)
    told = store.migrate("", dry_run=True)
    assert (told.before, told.after) == (0, schema_statements.SCHEMA_VERSION)
    assert sorted(step.split()[-1] for step in told.steps) == NAMES
    assert names(bare) == []
    assert store.migrate("") == told
    assert names(bare) == NAMES
    assert store.migrate("").steps == ()
    store.close()


def test_an_interrupted_migration_goes_on(bare: LocalServer) -> None:
    for command in COMMANDS[:20]:
        ask(bare, command)
    store = unopened(bare)
    assert store.migrate("").before == 0
    assert names(bare) == NAMES
    assert store.migrate("").steps == ()
    store.close()


OLD_GRAPH = (
    "MATCH (v:Fact) SET v:ContextVersion, v.valid_until = {valid_to}, v.tx_start = {recorded_at},"
    " v.tx_end = {replaced_at}, v.valid_from = {valid_from}"
    " REMOVE v:Fact, v.slot, v.title, v.value, v.valid_to, v.recorded_at, v.replaced_at",
    "MATCH (v:ContextVersion)<-[r:HAS_FACT]-(e) CREATE (v)-[:ABOUT {role: 'subject'}]->(e)"
    " DELETE r",
    "MATCH (v:ContextVersion)-[:PIECE_OF]->(c:Claim) MATCH (o:Entity {tenant_id: v.tenant_id,"
    " entity_id: c.value_entity_id}) CREATE (v)-[:ABOUT {role: 'value'}]->(o)",
    "MATCH ()-[r:FACT|DENIED]->() DELETE r",
    "MATCH ()-[v:SAME_AS]->() SET v.tx_start = {recorded_at}, v.tx_end = {replaced_at}"
    " REMOVE v.recorded_at, v.replaced_at",
    "MATCH ()-[r:SUPERSEDES|OVERRIDES|CONFLICTS_WITH|CONFIRMS|DERIVED_FROM]->()"
    " REMOVE r.recorded_at",
    "MATCH (n:Claim|Judgement|Review|Action) REMOVE n.recorded_at, n.title",
    "MATCH (n:Slot) REMOVE n.name",
    "DROP CONSTRAINT u_fact",
    "DROP INDEX ix_fact_open",
    "DROP INDEX ix_fact_recorded",
    "DROP INDEX ix_fact_replaced",
    "DROP INDEX ix_entity_name",
    "CREATE CONSTRAINT u_version FOR (n:ContextVersion) REQUIRE (n.tenant_id, n.vid) IS UNIQUE",
    f"MATCH (n:SchemaVersion) SET n.number = {schema_statements.GRAPH_SINCE - 1}",
)
"""What makes of a graph one of the version before native times."""
ONE_ROW = "\nWITH * LIMIT 1\nCALL ("


def age(server: LocalServer) -> None:
    """Give a database the shape that it had before facts had native times."""
    micros = "coalesce(v.{0}.epochSeconds * 1000000 + v.{0}.microsecond, " + f"{INF_US})"
    for text in OLD_GRAPH:
        for name in ("valid_from", "valid_to", "recorded_at", "replaced_at"):
            text = text.replace("{" + name + "}", micros.format(name))
        ask(server, text)


def whole_graph(server: LocalServer) -> list[str]:
    """Every node and every relationship with all of its properties, sorted."""
    return sorted(
        repr(record)
        for text in (
            "MATCH (n) RETURN [labels(n), [k IN keys(n) | k + '=' + toStringOrNull(n[k])]] AS one",
            "MATCH (n)-[r]->(m) RETURN [type(r), 'from ' + toString(coalesce(n.vid, n.entity_id,"
            " n.object_id)), 'to ' + toString(coalesce(m.vid, m.entity_id, m.object_id,"
            " m.slot_key)), [k IN keys(r) | k + '=' + toStringOrNull(r[k])]] AS one",
        )
        for record in map(sorted_lists, first_values(server, text))
    )


def sorted_lists(value: Any) -> Any:
    return sorted(map(sorted_lists, value), key=repr) if isinstance(value, list) else value


def lived_in_server(server: LocalServer) -> Neo4jStore:
    store = opened(server)
    store.ensure(TENANT)
    lived_in(store)
    relation = Say(object_id="r", subject="e1", slot="manager", value_entity="e2")
    commit(store, [relation, replace(relation, object_id="s", op=Op.DENY, slot="team")])
    return store


@pytest.mark.parametrize("interrupted_in", [None, *range(len(schema_statements.MOVES))])
def test_an_older_graph_is_moved_whole_also_after_an_interruption(
    bare: LocalServer, monkeypatch: pytest.MonkeyPatch, interrupted_in: int | None
) -> None:
    lived_in_server(bare).close()
    graph = whole_graph(bare)
    age(bare)
    assert whole_graph(bare) != graph

    if interrupted_in is not None:
        # One transaction of one row is kept, then the process ends.
        moves: list[str] = list(schema_statements.MOVES[: interrupted_in + 1])
        moves[-1] = moves[-1].replace("5000 ROWS", "1 ROWS").replace("\nCALL (", ONE_ROW, 1)
        monkeypatch.setattr(schema_statements, "MOVES", (*moves, "RETURN 1 / 0"))
        with pytest.raises(ClientError, match="by zero"):
            opened(bare)
        monkeypatch.undo()
        held = ask(bare, "MATCH (k:TenantClock) RETURN k.import_digest AS digest")
        assert held == ["schema"]

    store = opened(bare)
    assert store.check(TENANT) == ()
    store.close()
    assert whole_graph(bare) == graph


def test_terms_of_an_older_version_are_stemmed_again_also_after_an_interruption(
    bare: LocalServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    lived_in_server(bare).close()
    ask(bare, "MATCH (c:Claim) WHERE c.terms IS NOT NULL SET c.terms = 'kunden kundigungsfrist'")
    ask(bare, f"MATCH (n:SchemaVersion) SET n.number = {schema_statements.TERMS_SINCE - 1}")
    monkeypatch.setattr("tenure.store.neo4j.checking._ROWS_AT_ONCE", 1)
    with monkeypatch.context() as broken:
        failing = schema_statements.SET_TERMS + "WITH c WHERE c.ordinal > 0 RETURN 1 / 0"
        broken.setattr(schema_statements, "SET_TERMS", failing)
        with pytest.raises(ClientError, match="by zero"):
            opened(bare)

    store = opened(bare)
    assert store.check(TENANT) == ()
    store.close()
    stored = "MATCH (c:Claim) WHERE c.terms IS NOT NULL RETURN DISTINCT c.terms"
    assert ask(bare, stored) == ["kund kundigung frist"]


def test_a_database_of_a_development_version_is_refused_with_the_way_out(
    bare: LocalServer,
) -> None:
    opened(bare).close()
    version = schema_statements.FIRST_VERSION - 1
    ask(bare, f"MATCH (n:SchemaVersion) SET n.number = {version}")
    old = unopened(bare)
    for use in (lambda: opened(bare), lambda: old.migrate("")):
        with pytest.raises(Unavailable, match="import the export") as older:
            use()
        assert (older.value.code, older.value.data["schema"]) == ("older_schema", version)
    old.close()


def test_the_command_line_migrates_and_says_when_it_is_current(bare: LocalServer) -> None:
    code, out, _ = tenure("--store", bare.uri, "migrate", "--dry-run")
    assert (code, names(bare)) == (0, [])
    assert "would go from schema 0" in out
    assert "CREATE CONSTRAINT u_claim" in out
    code, out, _ = tenure("--store", bare.uri, "--json", "migrate")
    (done,) = json.loads(out)
    assert (done["store"], done["before"], len(done["steps"])) == (bare.uri, 0, len(NAMES))
    code, out, _ = tenure("--store", bare.uri, "migrate")
    assert "already current" in out


def test_a_newer_schema_is_refused_by_every_way_in(bare: LocalServer) -> None:
    opened(bare).close()
    ask(bare, "MATCH (n:SchemaVersion) SET n.number = 99")
    old = unopened(bare)
    for use in (lambda: opened(bare), lambda: old.migrate("")):
        with pytest.raises(Unavailable, match="upgrade tenure") as newer:
            use()
        assert (newer.value.code, newer.value.data["schema"]) == ("newer_schema", 99)
    old.close()
    code, _, err = tenure("--store", bare.uri, "migrate")
    assert (code, "[newer_schema]" in err) == (3, True)


@pytest.mark.parametrize(
    ("drop", "name"),
    [
        ("DROP CONSTRAINT u_claim", "u_claim"),
        ("DROP INDEX ix_fact_open", "ix_fact_open"),
        ("DROP INDEX ft_live", "ft_live"),
    ],
)
def test_a_missing_constraint_or_index_is_named_and_mended(
    bare: LocalServer, drop: str, name: str
) -> None:
    with connect(bare.uri, auth=bare.auth) as memory:
        memory.write(subject="Sam Rivera", slot="office", value="Chicago")
        assert memory.doctor() == ()
        ask(bare, drop)
        (found,) = memory.doctor()
        assert f"{name} is missing; run: tenure migrate" in found
    with pytest.raises(Unavailable, match="run: tenure migrate") as lacking:
        opened(bare)
    assert (lacking.value.code, lacking.value.data["missing"]) == ("schema_incomplete", name)
    store = unopened(bare)
    assert [step.split()[-1] for step in store.migrate("", dry_run=True).steps] == [name]
    assert names(bare) != NAMES
    store.migrate("")
    assert names(bare) == NAMES
    store.close()
    with connect(bare.uri, auth=bare.auth) as memory:
        assert memory.as_of().value("Sam Rivera", "office") == "Chicago"


def test_a_constraint_that_the_data_break_says_so(bare: LocalServer) -> None:
    opened(bare).close()
    ask(bare, "DROP CONSTRAINT u_claim")
    ask(bare, "UNWIND [1, 2] AS n CREATE (:Claim {tenant_id: 't', object_id: 'o'})")
    store = unopened(bare)
    with pytest.raises(Unavailable, match="because the data break it") as broken:
        store.migrate("")
    assert (broken.value.code, broken.value.data["missing"]) == ("schema_incomplete", "u_claim")
    store.close()
