"""A group of an import is written while the one before it is committed, and nothing is lost."""

import secrets
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from typing import Any

import neo4j
import pytest
from neo4j import exceptions as driver_errors

from tenure import connect
from tenure.schema.errors import TenureError
from tenure.schema.principal import OWNER
from tenure.store.neo4j import importing as import_steps
from tenure.store.neo4j.calls import Writes
from tenure.store.neo4j.cypher import core
from tenure.store.neo4j.importing import LOOKED_FOR
from tenure.store.neo4j.store import Neo4jStore, open_store
from tenure.store.port.store import Batch
from tenure.store.transfer import restore as groups
from tenure.store.transfer.restore import RestoreProgress, restore
from tenure.store.transfer.transfer import export_lines
from tenure.tests.neo4j_fixtures import strict_settings, wipe
from tenure.tests.neo4j_server import Server

Commit = Callable[[neo4j.Transaction], None]


@pytest.fixture(scope="module")
def lines(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """An export with a dozen groups of most kinds."""
    path = tmp_path_factory.mktemp("export")
    with connect(str(path / "from.db"), principal=replace(OWNER, tenant="t")) as memory:
        for number in range(30):
            person = {"name": f"Person {number % 5}", "type": "person"}
            memory.write(subject=person, slot="office", value=f"Room {number}")
            text = f"Person {number % 5} was met in {number}."
            memory.write(subject=person, content=text, why_it_matters="whom we know")
        memory.export(path / "tenant.jsonl")
    return (path / "tenant.jsonl").read_text(encoding="utf-8").splitlines()


@pytest.fixture
def tenant(neo4j_driver: neo4j.Driver, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setattr(groups, "GROUP_RECORDS", 7)
    name = f"test-{secrets.token_hex(8)}"
    yield name
    wipe(neo4j_driver, name)


@pytest.fixture
def store(neo4j_server: Server) -> Iterator[Neo4jStore]:
    opened = open_store(neo4j_server.uri, auth=neo4j_server.auth, settings=strict_settings())
    yield opened
    opened.close()


def in_background(monkeypatch: pytest.MonkeyPatch, act: Callable[[Commit, Any], None]) -> None:
    """Have the commits of groups done by `act`; all others are the driver's own."""
    real = neo4j.Transaction.commit

    def commit(tx: neo4j.Transaction) -> None:
        if threading.current_thread().name.startswith("tenure-import"):
            act(real, tx)
        else:
            real(tx)

    monkeypatch.setattr(neo4j.Transaction, "commit", commit)


def assert_whole(store: Neo4jStore, tenant: str, lines: list[str]) -> None:
    """The tenant holds what was exported, each record once, and nothing is broken."""
    with store.reading(tenant) as reader:
        back = list(export_lines(reader, tenant="t"))
    assert back[1:-1] == lines[1:-1]
    assert store.check(tenant) == ()


@pytest.mark.integration
def test_a_group_is_written_while_the_one_before_it_is_committed(
    store: Neo4jStore, tenant: str, lines: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    writes, overlaps = threading.Condition(), 0
    count = 0
    rows = Writes.rows

    def counted(calls: Writes, text: Any, **bound: Any) -> Any:
        nonlocal count
        answer = rows(calls, text, **bound)
        with writes:
            count += text == core.PUT_BATCH or text in core.PUT_PART.values()
            writes.notify_all()
        return answer

    def wait(real: Commit, tx: Any) -> None:
        # A commit that waits for a statement of another transaction would wait for ever, if that
        # one waited for it. Groups that look for what is being committed do.
        nonlocal overlaps
        with writes:
            before = count
            overlaps += writes.wait_for(lambda: count > before, timeout=0.3)
        real(tx)

    monkeypatch.setattr(Writes, "rows", counted)
    in_background(monkeypatch, wait)
    restore(lines, store, tenant)
    assert_whole(store, tenant, lines)
    assert overlaps > 10


@pytest.mark.integration
@pytest.mark.parametrize("number", [1, 6, 20])
def test_a_commit_that_fails_is_made_again(
    store: Neo4jStore, tenant: str, lines: list[str], monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    left = number

    def fail(real: Commit, tx: Any) -> None:
        nonlocal left
        left -= 1
        if left == 0:
            tx.rollback()
            raise driver_errors.TransientError("no memory is left")
        real(tx)

    in_background(monkeypatch, fail)
    restore(lines, store, tenant)
    assert left < 0
    assert_whole(store, tenant, lines)


@pytest.mark.integration
def test_a_commit_whose_answer_is_lost_is_not_made_twice(
    store: Neo4jStore, tenant: str, lines: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def lose(real: Commit, tx: Any) -> None:
        real(tx)
        raise driver_errors.IncompleteCommit("the connection broke")

    in_background(monkeypatch, lose)
    restore(lines, store, tenant)
    assert_whole(store, tenant, lines)


@pytest.mark.integration
def test_who_waits_too_long_for_a_commit_makes_way_for_it(
    store: Neo4jStore, tenant: str, lines: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(import_steps, "PATIENCE_S", 0.001)

    def slow(real: Commit, tx: Any) -> None:
        time.sleep(0.05)
        real(tx)

    in_background(monkeypatch, slow)
    restore(lines, store, tenant)
    assert_whole(store, tenant, lines)


@pytest.mark.integration
def test_another_process_goes_on_where_a_commit_is_on_its_way(
    neo4j_server: Server, store: Neo4jStore, tenant: str, lines: list[str]
) -> None:
    other = open_store(neo4j_server.uri, auth=neo4j_server.auth, settings=strict_settings())

    def go_on(progress: RestoreProgress) -> None:
        if progress.records_written == 70:
            restore(lines, other, tenant, resume=True)

    restore(lines, store, tenant, watch=go_on)
    other.close()
    assert_whole(store, tenant, lines)


@pytest.mark.integration
def test_what_was_written_is_met_at_once_and_can_be_taken_back(
    store: Neo4jStore, tenant: str, lines: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    class CutOffError(Exception):
        """The process ends here."""

    def slow(real: Commit, tx: Any) -> None:
        time.sleep(0.03)
        real(tx)

    def die(progress: RestoreProgress) -> None:
        if progress.records_written == 35:
            raise CutOffError

    in_background(monkeypatch, slow)
    with pytest.raises(CutOffError):
        restore(lines, store, tenant, watch=die)
    with pytest.raises(TenureError) as refusal, store.reading(tenant):
        pass
    assert refusal.value.data["applied"] == 35
    store.abort_import(tenant)
    restore(lines, store, tenant)
    assert_whole(store, tenant, lines)


def test_every_field_that_is_looked_for_is_one_of_a_batch() -> None:
    names = {field.name for field in fields(Batch)}
    assert set(LOOKED_FOR) <= {*names, "turns"}
    for looked_for in LOOKED_FOR.values():
        assert looked_for <= set(LOOKED_FOR)


@pytest.mark.integration
def test_what_is_planned_beforehand_is_what_an_import_runs(
    store: Neo4jStore, tenant: str, lines: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    planned: dict[str, dict[str, type]] = {}
    written: dict[str, dict[str, type]] = {}
    real_plan, real_write = neo4j.Session.run, neo4j.Transaction.run

    def types(values: dict[str, Any]) -> dict[str, type]:
        return {name: type(value) for name, value in values.items()}

    def plan(session: Any, query: Any, values: Any = None, **bound: Any) -> neo4j.Result:
        text = getattr(query, "text", "")
        if "EXPLAIN " in text:
            planned[text.replace("EXPLAIN ", "")] = types(values)
        return real_plan(session, query, values, **bound)

    def write(tx: Any, text: str, values: dict[str, Any]) -> neo4j.Result:
        written[text] = types(values)
        return real_write(tx, text, values)

    monkeypatch.setattr(neo4j.Session, "run", plan)
    monkeypatch.setattr(neo4j.Transaction, "run", write)
    restore(lines, store, tenant)
    store.close()  # which waits for the plans
    assert len(planned) == 2
    assert {text: written[text] for text in planned} == planned


@pytest.mark.integration
def test_no_group_waits_for_what_is_planned(
    store: Neo4jStore, tenant: str, lines: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    is_restored = threading.Event()
    waits: list[bool] = []
    monkeypatch.setattr(
        import_steps, "_plan", lambda *_: waits.append(is_restored.wait(timeout=60))
    )
    restore(lines, store, tenant)
    is_restored.set()
    store.close()
    assert waits == [True]


@pytest.mark.integration
def test_an_import_needs_no_plan_beforehand(
    store: Neo4jStore, tenant: str, lines: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    refused: list[str] = []
    is_refused = threading.Event()

    def refuse(_: Any, tenant: str, text: str, **bound: Any) -> None:
        refused.append(text)
        is_refused.set()
        raise driver_errors.ServiceUnavailable

    monkeypatch.setattr(import_steps, "run_at_once", refuse)
    restore(lines, store, tenant)
    assert is_refused.wait(timeout=60)
    assert len(refused) == 1
    with store.reading(tenant) as reader:
        assert len(list(export_lines(reader, tenant=tenant))) == len(lines)
