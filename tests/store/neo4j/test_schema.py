"""The schema of a server: made once, mended where it lost something, refused where it is newer."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import pytest
from typer.testing import CliRunner

from tenure import Principal, connect
from tenure.schema.errors import Unavailable
from tenure.schema.principal import Scope
from tenure.service.cli.main import app
from tenure.store.neo4j.cypher import schema as schema_statements
from tenure.store.neo4j.schema import name_of
from tenure.store.neo4j.store import Neo4jStore, open_store
from tenure.store.port.store import Point
from tenure.tests.neo4j_fixtures import strict_settings
from tenure.tests.neo4j_process import DATABASE, LocalServer
from tenure.tests.store.builders import ALL, TENANT, Say, commit
from tenure.tests.store.contract.test_port_turns import numbers, talk

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
    import neo4j

    with (
        neo4j.GraphDatabase.driver(server.uri, auth=server.auth) as driver,
        driver.session(database=DATABASE) as session,
    ):
        return [str(record[0]) for record in session.run(text)]


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


def test_texts_of_an_older_version_learn_their_scope(bare: LocalServer) -> None:
    store = opened(bare)
    scopes = ("ann", "bob")
    store.ensure(TENANT)
    says = [Say(object_id=user, slot=None, text="fox", scope=Scope(user=user)) for user in scopes]
    commit(store, says, tx=1)
    sights = [replace(ALL, scopes=(Scope(user=user).scope_id,)) for user in scopes]

    def hits() -> list[list[str]]:
        shown: list[list[str]] = []
        with store.reading(TENANT) as reader:
            for sight in sights:
                page = reader.matching(["fox"], sight=sight, point=Point(5, 1_000), limit=9)
                shown.append([version.row.claim.object_id for version in page.versions])
        return shown

    ask(bare, "MATCH (c:Claim) SET c.tenant_tok = split(c.tenant_tok, ' ')[0]")
    assert hits() == [[], []]
    assert any("run: tenure migrate" in sentence for sentence in store.check(TENANT))
    store.migrate("")
    assert hits() == [["ann"], ["bob"]]
    assert store.check(TENANT) == ()

    older = f"MATCH (n:SchemaVersion) SET n.number = {schema_statements.SCOPES_SINCE - 1}"
    ask(bare, "MATCH (c:Claim) SET c.tenant_tok = split(c.tenant_tok, ' ')[0]")
    ask(bare, older)
    store.close()
    store = opened(bare)
    assert hits() == [["ann"], ["bob"]]

    ask(bare, "MATCH (c:Claim) SET c.tenant_tok = split(c.tenant_tok, ' ')[0]")
    ask(bare, older)
    assert store.migrate("").before == schema_statements.SCOPES_SINCE - 1
    assert hits() == [["ann"], ["bob"]]
    store.close()


def test_identifiers_of_an_older_version_learn_who_taught_them(bare: LocalServer) -> None:
    sam: dict[str, Any] = {"name": "Sam Rivera", "type": "person"}
    scope = {"user": "ann", "session": "s1"}
    ids = {"user": "ann", "email": "a@x.example"}
    with connect(bare.uri, auth=bare.auth) as memory:
        ann = memory.bind(Principal(user="ann", session="s1"))
        first = memory.write(sam | {"external_ids": {"crm": "7"}}, "office", "Rome")
        later = ann.write(sam | {"external_ids": ids}, "title", "CFO", scope=scope)

    def taught() -> list[str]:
        columns = "i.scheme + ' ' + i.scope_id + ' ' + i.object_id"
        return ask(bare, f"MATCH (i:Identifier) RETURN {columns} AS line ORDER BY line")

    newest = [
        f"crm tenant {first.object_id}",
        f"email user=ann,session=s1 {later.object_id}",
        f"user user=ann {later.object_id}",
    ]
    assert taught() == newest
    ask(bare, "MATCH (i:Identifier) REMOVE i.scope_id, i.object_id")
    with connect(bare.uri, auth=bare.auth) as memory:
        assert dict(memory.entities.get("Sam Rivera").entity.external_ids) == ids | {"crm": "7"}

    since = schema_statements.TEACHERS_SINCE
    ask(bare, f"MATCH (n:SchemaVersion) SET n.number = {since - 1}")
    opened(bare).close()
    assert taught() == newest

    # Of what no write is known any more, all that is sure is that everybody could read it.
    ask(bare, "MATCH (i:Identifier) REMOVE i.scope_id, i.object_id SET i.tx_start = 2")
    store = unopened(bare)
    store.migrate("")
    store.close()
    assert taught() == [f"{scheme} tenant " for scheme in ("crm", "email", "user")]


def test_turns_of_an_older_version_are_numbered_by_scope(bare: LocalServer) -> None:
    store = opened(bare)
    store.ensure(TENANT)
    talk(store)
    told = ("a1", "a2", "a3", "b1", "b2", "b3", "t1", "fact", "page")
    numbered = numbers(store, *told)
    store.close()

    older = f"MATCH (n:SchemaVersion) SET n.number = {schema_statements.TURNS_SINCE - 1}"
    ask(bare, "MATCH (c:Claim) REMOVE c.turn")
    ask(bare, older)
    store = opened(bare)
    assert numbers(store, *told) == numbered
    # What an older process wrote meanwhile stands behind the others of its scope.
    ask(bare, "MATCH (c:Claim {object_id: 'a3'}) REMOVE c.turn")
    store.migrate("")
    assert numbers(store, *told) == numbered
    store.close()


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
        ("DROP INDEX ix_version_open", "ix_version_open"),
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
