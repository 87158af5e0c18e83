"""Where the test server comes from, and that it is a real one that survives a crash."""

import os
import shutil
import signal
import stat
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

import neo4j
import pytest
from neo4j import exceptions as driver_errors

from tenure.store.neo4j.connect import ServerFacts, connect
from tenure.store.port.records import Target
from tenure.tests import neo4j_server as servers
from tenure.tests.neo4j_fixtures import wipe
from tenure.tests.neo4j_process import DATABASE, LocalServer, ServerFailed, free_port
from tenure.tests.neo4j_server import NoServer, Provider, Server, Unusable

Starter = Callable[[str, Mapping[str, str]], Server]
MakeLocal = Callable[[Mapping[str, str]], LocalServer]


def _refusing(reason: str, calls: list[str]) -> Starter:
    def start(version: str, environ: Mapping[str, str]) -> Server:
        calls.append(reason)
        raise Unusable(reason)

    return start


def test_without_a_server_every_reason_is_listed_in_order() -> None:
    calls: list[str] = []
    starters = {each: _refusing(f"no {each} here", calls) for each in Provider}
    with pytest.raises(NoServer) as absent:
        servers.find_server("5.26.29", environ={}, starters=starters)
    assert calls == ["no uri here", "no docker here", "no maven here"]
    assert str(absent.value).endswith(
        "uri: no uri here; docker: no docker here; maven: no maven here"
    )


def test_a_given_but_dead_server_fails_instead_of_skipping(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(servers, "GIVEN_TIMEOUT_S", 0.0)
    environ = {"NEO4J_URI": f"bolt://127.0.0.1:{free_port()}"}
    with pytest.raises(ServerFailed, match=r"NEO4J_URI is set, but .* start the server"):
        servers.find_server(environ=environ)


@pytest.mark.parametrize(("value", "required"), [("", False), ("0", False), ("1", True)])
def test_a_missing_server_is_a_failure_only_where_required(value: str, required: bool) -> None:
    assert servers.is_required({"TENURE_REQUIRE_NEO4J": value}) is required


def _program(folder: Path, name: str, script: str) -> None:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


@pytest.fixture
def maven(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder on PATH for an `mvn` of the test."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    return folder


FILL = """
for word in "$@"; do case "$word" in -Dtenure.lib=*) lib="${word#-Dtenure.lib=}";; esac; done
mkdir -p "$lib"; cp "JAR" "$lib/neo4j-kernel-9.9.jar"; cp "JAR" "$lib/neo4j-9.9.jar"
"""


def test_the_jars_are_fetched_once_and_then_found_again(maven: Path, tmp_path: Path) -> None:
    jar = tmp_path / "some.jar"
    with zipfile.ZipFile(jar, "w") as archive:
        archive.writestr("a", "b")
    _program(maven, "mvn", FILL.replace("JAR", str(jar)))
    lib = servers.server_jars("9.9", root=tmp_path)
    assert lib == tmp_path / "neo4j-9.9" / "lib"
    _program(maven, "mvn", "exit 1")
    assert servers.server_jars("9.9", root=tmp_path) == lib


def test_a_torn_jar_is_never_used(maven: Path, tmp_path: Path) -> None:
    torn = tmp_path / "torn.jar"
    torn.write_text("half of it")
    _program(maven, "mvn", FILL.replace("JAR", str(torn)))
    with pytest.raises(Unusable, match=r"archives: neo4j-9\.9\.jar, neo4j-kernel-9\.9\.jar"):
        servers.server_jars("9.9", root=tmp_path)
    assert not (tmp_path / "neo4j-9.9").exists()


# From here on with a real server.


@pytest.mark.integration
def test_the_server_has_the_wanted_version(
    neo4j_server: Server, neo4j_connection: tuple[neo4j.Driver, ServerFacts]
) -> None:
    facts = neo4j_connection[1]
    assert facts.agent == f"Neo4j/{facts.version}"
    assert neo4j_server.version == facts.version
    if neo4j_server.provider != "uri":
        assert facts.version == servers.wanted_version()
        assert facts.edition == "community"
    assert "5" in facts.languages
    assert ("25" in facts.languages) is (facts.numbers >= (2025, 6))


@pytest.mark.integration
def test_a_tenant_is_wiped_and_its_neighbour_is_not(
    neo4j_driver: neo4j.Driver, neo4j_tenant: str
) -> None:
    write = "UNWIND range(1, $n) AS i CREATE (:Wiped {tenant_id: $tenant})-[:NEXT]->(:Wiped)"
    count = "MATCH (n:Wiped {tenant_id: $tenant}) RETURN count(n)"

    def left(tenant: str) -> int:
        result = neo4j_driver.execute_query(
            count, tenant=tenant, database_=DATABASE, result_transformer_=neo4j.Result.single
        )
        assert result is not None
        return int(result[0])

    other = f"{neo4j_tenant}-other"
    for tenant in (neo4j_tenant, other):
        neo4j_driver.execute_query(write, tenant=tenant, n=1200, database_=DATABASE)
    wipe(neo4j_driver, neo4j_tenant)
    assert (left(neo4j_tenant), left(other)) == (0, 1200)
    wipe(neo4j_driver, other)
    neo4j_driver.execute_query("MATCH (n:Wiped) DELETE n", database_=DATABASE)


@pytest.mark.integration
def test_a_killed_server_keeps_what_was_committed(crashable_server: Server) -> None:
    target = Target(uri=crashable_server.uri, database=DATABASE)
    driver, _ = connect(target, auth=crashable_server.auth)
    with driver:
        driver.execute_query(
            "CREATE CONSTRAINT u_crash IF NOT EXISTS FOR (n:Crash) REQUIRE n.id IS UNIQUE",
            database_=DATABASE,
        )
        driver.execute_query("CREATE (:Crash {id: $id})", id="kept", database_=DATABASE)
        with driver.session(database=DATABASE) as session:
            unfinished = session.begin_transaction()
            unfinished.run("CREATE (:Crash {id: $id})", id="lost").consume()
            crashable_server.kill()
            with pytest.raises((driver_errors.ServiceUnavailable, driver_errors.SessionExpired)):
                unfinished.commit()
    crashable_server.restart()
    driver, _ = connect(target, auth=crashable_server.auth)
    with driver:
        kept, _, _ = driver.execute_query("MATCH (n:Crash) RETURN n.id AS id", database_=DATABASE)
        assert [row["id"] for row in kept] == ["kept"]
        with pytest.raises(driver_errors.ConstraintError):
            driver.execute_query("CREATE (:Crash {id: $id})", id="kept", database_=DATABASE)


@pytest.mark.integration
def test_a_server_that_dies_unasked_is_reported_at_the_end(local_neo4j: MakeLocal) -> None:
    server = local_neo4j({})
    try:
        server.start()
        assert server.pid is not None
        os.kill(server.pid, signal.SIGKILL)
        while server.is_running:
            time.sleep(0.05)
    finally:
        with pytest.raises(ServerFailed, match="ended during the tests"):
            server.close()
    assert server.log.is_file()
    shutil.rmtree(server.folder)


@pytest.mark.integration
def test_the_script_prints_an_address_that_answers_and_stops_on_a_signal(
    neo4j_server: Server,
) -> None:
    script = [sys.executable, "-P", "-m", "tenure.tests.neo4j_server"]
    process = subprocess.Popen(script, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        first = process.stdout.readline()
        assert f"Neo4j {neo4j_server.version} " in first
        uri = first.split(" at ")[1].split(",")[0]
        connect(Target(uri=uri, database=DATABASE), auth=_login(first))[0].close()
        begun = time.monotonic()
        process.send_signal(signal.SIGTERM)
        assert process.wait(90) == 0
        assert time.monotonic() - begun < 90
    finally:
        process.kill()
        process.wait()
        if process.stdout is not None:
            process.stdout.close()


def _login(line: str) -> tuple[str, str] | None:
    login = line.rsplit(", ", 1)[1].strip()
    user, _, password = login.partition("/")
    return None if login == "no password" else (user, password)
