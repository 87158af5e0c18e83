"""What goes wrong with a real server, and that each error has its code and says what to do."""

import logging
import secrets
import threading
import time
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import neo4j
import pytest
from typer.testing import CliRunner

from tenure import connect
from tenure.faces.cli.frame import FINDINGS
from tenure.faces.cli.main import app
from tenure.schema.errors import Unavailable
from tenure.schema.principal import OWNER
from tenure.store.neo4j.calls import CallLimits, GivenValues, Reads, ServerLink, Writes
from tenure.store.neo4j.store import Neo4jStore, open_store
from tenure.tests.neo4j_fixtures import strict_settings, wipe
from tenure.tests.neo4j_server import Server
from tenure.tests.store.builders import Say, commit
from tenure.tests.store.neo4j.bolt_pose import posing
from tenure.tests.support.refusals import refused

KERNEL = "Neo4j Kernel"


@pytest.mark.parametrize(
    ("agent", "rows", "reason", "advice"),
    [
        (
            "Neo4j/4.4.40",
            [[KERNEL, ["4.4.40"], "community"]],
            "unsupported_version",
            r"runs Neo4j 4\.4\.40; tenure needs 5\.26 or newer: upgrade the server",
        ),
        (
            "Neo4j/5.9.0",
            [[KERNEL, ["5.9.0"], "enterprise"]],
            "unsupported_version",
            "upgrade the server",
        ),
        ("ArcadeDB/26.1", [["ArcadeDB", ["26.1"], ""]], "not_neo4j", "give the address of a Neo4j"),
    ],
)
def test_a_server_that_cannot_serve_is_told_apart_on_the_wire(
    agent: str, rows: list[list[object]], reason: str, advice: str
) -> None:
    with posing(agent, rows) as uri, pytest.raises(Unavailable, match=advice) as refused:
        connect(uri)
    assert (refused.value.code, refused.value.data["reason"]) == ("store_unreachable", reason)


def test_the_command_line_ends_with_its_own_code_when_no_server_answers() -> None:
    result = CliRunner().invoke(app, ["--store", "bolt://127.0.0.1:1", "doctor"])
    assert result.exit_code == 3
    assert "start the server" in result.stderr
    assert "[store_unreachable]" in result.stderr


@pytest.mark.integration
def test_a_pool_without_a_free_connection_is_busy_and_recovers(
    neo4j_server: Server, tenant: str
) -> None:
    settings = {**strict_settings()}
    settings |= {"max_connection_pool_size": 1, "connection_acquisition_timeout": 0.3}
    store = open_store(neo4j_server.uri, auth=neo4j_server.auth, settings=settings)
    store.ensure(tenant)
    with store.writing(tenant) as tx:
        tx.lock()
        with refused(Unavailable, "store_busy", match="lower the number of concurrent calls"):
            clock(store, tenant)
    with store.reading(tenant) as reader:
        assert reader.clock().seq == 0
    store.close()


@pytest.mark.integration
def test_a_writer_that_waits_too_long_for_the_tenants_lock_is_told(
    neo4j_server: Server, tenant: str
) -> None:
    holder = open_store(neo4j_server.uri, auth=neo4j_server.auth, settings=strict_settings())
    holder.ensure(tenant)
    # The server plans the statements of a write at the first one, which may take its second.
    commit(holder, [Say(object_id="first")], tenant=tenant)
    hurried = open_store(
        neo4j_server.uri,
        auth=neo4j_server.auth,
        settings=strict_settings(),
        limits=CallLimits(write_s=1.0, retry_s=0.1),
    )
    with holder.writing(tenant) as tx:
        tx.lock()
        with pytest.raises(Unavailable) as late:
            commit(hurried, [Say(object_id="a")], tenant=tenant)
    assert late.value.code in {"deadline", "retries_exhausted"}
    commit(hurried, [Say(object_id="a")], tenant=tenant)
    hurried.close()
    holder.close()


@pytest.mark.integration
def test_a_machine_whose_clock_is_behind_the_last_stamp_is_told_and_writes_after_it(
    neo4j_server: Server, tenant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    owner = replace(OWNER, tenant=tenant)
    days = 86_400_000_000
    ahead = time.time_ns() // 1_000 + 30 * days
    asked = {"subject": "Sam Rivera", "slot": "office"}
    options = {"auth": neo4j_server.auth, "principal": owner}
    with connect(neo4j_server.uri, clock=lambda: ahead, **options) as fast:
        first = fast.write(**asked, value="Rome")
    with connect(neo4j_server.uri, **options) as memory:
        second = memory.write(**asked, value="Oslo")
        assert second.tx > first.tx
        assert memory.as_of().value("Sam Rivera", "office") == "Oslo"
    if neo4j_server.auth is not None:
        user, password = neo4j_server.auth
        monkeypatch.setenv("TENURE_AUTH__USER", user)
        monkeypatch.setenv("TENURE_AUTH__PASSWORD", password)
    told = CliRunner().invoke(app, ["--store", neo4j_server.uri, "--tenant", tenant, "doctor"])
    assert told.exit_code == FINDINGS
    assert "ahead of this machine's clock" in " ".join(told.stdout.split())


@pytest.mark.integration
def test_a_server_that_goes_down_is_named_and_used_again_when_it_is_back(
    crashable_server: Server,
) -> None:
    store = open_store(
        crashable_server.uri,
        auth=crashable_server.auth,
        settings=strict_settings(),
        limits=CallLimits(retry_s=0.5),
    )
    tenant = f"test-{secrets.token_hex(6)}"
    store.ensure(tenant)
    commit(store, [Say(object_id="a")], tenant=tenant)
    crashable_server.stop()
    for call in (lambda: clock(store, tenant), lambda: commit(store, [Say(object_id="b")])):
        with pytest.raises(Unavailable, match="start the server") as down:
            call()
        assert (down.value.code, down.value.data["reason"]) == ("store_unreachable", "no_answer")
    crashable_server.restart()
    assert clock(store, tenant) == 1
    commit(store, [Say(object_id="b")], tenant=tenant)
    assert clock(store, tenant) == 2
    store.close()


def clock(store: Neo4jStore, tenant: str) -> int:
    with store.reading(tenant) as reader:
        return reader.clock().seq


@pytest.mark.integration
def test_many_threads_over_a_small_pool_wait_for_each_other(
    neo4j_server: Server, tenant: str
) -> None:
    settings = {**strict_settings()}
    settings |= {"max_connection_pool_size": 2}
    store = open_store(neo4j_server.uri, auth=neo4j_server.auth, settings=settings)
    store.ensure(tenant)
    seen: list[int] = []
    threads = [
        threading.Thread(target=lambda: seen.append(clock(store, tenant))) for _ in range(12)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert seen == [0] * 12
    store.close()


# ---- How long statements may take, and how long what was given to them is kept.


class RecordingSession:
    """A session that answers nothing and keeps what it was asked."""

    def __init__(self) -> None:
        self.queries: list[neo4j.Query] = []

    def run(self, query: neo4j.Query, _: dict[str, Any]) -> list[neo4j.Record]:
        self.queries.append(query)
        return []


def test_a_statement_that_streams_may_take_longer_than_one_that_is_read_at_once() -> None:
    session = RecordingSession()
    link = SimpleNamespace(dialect="CYPHER 5 ", limits=CallLimits(), bodies=None)
    calls = Reads(cast("ServerLink", link), cast("neo4j.Session", session), "acme")
    calls.rows("RETURN 1")
    list(calls.stream("RETURN 2"))
    assert [query.timeout for query in session.queries] == [60.0, 3_600.0]


class RecordingTransaction:
    """A transaction that answers nothing and keeps what it was given, as the driver does."""

    def __init__(self) -> None:
        self.parameters: dict[str, Any] = {}
        self.sizes: list[int] = []

    def run(self, _: str, parameters: dict[str, Any]) -> list[neo4j.Record]:
        self.parameters = parameters
        self.sizes.append(len(parameters["given"]))
        return []


def test_what_a_statement_was_given_to_write_is_let_go_when_it_is_answered() -> None:
    transaction, rows = RecordingTransaction(), [1, 2]
    link = SimpleNamespace(dialect="CYPHER 5 ", limits=CallLimits())
    calls = Writes(cast("ServerLink", link), cast("neo4j.Transaction", transaction), "acme")
    calls.rows("RETURN 1", rows=rows)
    assert (transaction.sizes, transaction.parameters["given"], rows) == ([1], {}, [1, 2])


# ---- What the driver logs of a call: the statement, and nothing of what somebody said.


def test_values_given_to_a_statement_count_themselves_and_say_no_more() -> None:
    values = GivenValues(text="QUOKKAROAD 7", rows=[1])
    assert repr(values) == "<2 values>"
    assert values == {"text": "QUOKKAROAD 7", "rows": [1]}


@pytest.mark.integration
def test_a_log_of_the_driver_holds_statements_and_no_words_of_a_write(
    neo4j_server: Server, neo4j_driver: neo4j.Driver, caplog: pytest.LogCaptureFixture
) -> None:
    tenant = f"test-{secrets.token_hex(8)}"
    caplog.set_level(logging.DEBUG, logger="neo4j")
    owner = replace(OWNER, tenant=tenant)
    try:
        with connect(neo4j_server.uri, auth=neo4j_server.auth, principal=owner) as memory:
            memory.write("Ann Lee", "office", "QUOKKAROAD 7")
            assert memory.as_of().value("Ann Lee", "office") == "QUOKKAROAD 7"
            assert memory.as_of().search("QUOKKAROAD").hits
    finally:
        wipe(neo4j_driver, tenant)

    assert "C: RUN" in caplog.text
    assert "QUOKKAROAD" not in caplog.text.upper()
