"""Sixteen writers on one server, and a server that dies under them."""

import itertools
import logging
import secrets
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import neo4j
import pytest

from tenure import Memory, connect
from tenure.schema.claim import Assertion
from tenure.schema.errors import TenureError, Unavailable
from tenure.schema.principal import OWNER
from tenure.store.neo4j.store import Neo4jStore, open_store
from tenure.store.port.store import Batch, RecordKind, TxEvent, Usage, WriteTx
from tenure.store.port.tables import USAGE
from tenure.tests.neo4j_fixtures import strict_settings
from tenure.tests.neo4j_server import Server
from tenure.tests.store.builders import Say, after, commit, event

pytestmark = pytest.mark.integration

WRITERS = 16


@pytest.fixture
def memories(neo4j_server: Server, tenant: str) -> Iterator[list[Memory]]:
    """One client of its own for each writer: no queue of one process orders them."""
    owner = replace(OWNER, tenant=tenant)
    opened = [
        connect(neo4j_server.uri, auth=neo4j_server.auth, principal=owner) for _ in range(WRITERS)
    ]
    opened[0].vocabulary.define_slot("city", description="where it is")
    yield opened
    for memory in opened:
        memory.close()


def at_once(work: Callable[[int], Any]) -> list[Any]:
    """Run the work of all writers at one time, and return what they return."""
    start, done = threading.Barrier(WRITERS), [None] * WRITERS

    def run(number: int) -> None:
        start.wait(60)
        done[number] = work(number)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(WRITERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    return done


def say(memory: Memory, number: int, name: str = "Acme") -> Any:
    return memory.write(
        subject={"name": name, "type": "organization"},
        slot="city",
        value=f"city {number}",
        valid_from=f"2024-01-{1 + number:02}T00:00:00Z",
    )


def test_writers_of_one_new_name_make_one_entity(memories: list[Memory], tenant: str) -> None:
    receipts = at_once(lambda number: say(memories[number], number))
    assert len({receipt.entity for receipt in receipts}) == 1
    assert len({receipt.tx for receipt in receipts}) == WRITERS
    with memories[0]._backend.store.reading(tenant) as reader:
        assert len(reader.entity_ids()) == 1
        assert len(list(reader.records(RecordKind.ALIAS))) == 1


def test_writers_of_one_slot_leave_a_chain_without_gaps(
    memories: list[Memory], tenant: str
) -> None:
    say(memories[0], 0)
    at_once(lambda number: [say(memories[number], number) for _ in range(3)])
    store = memories[0]._backend.store
    with store.reading(tenant) as reader:
        events = [e for e in reader.records(RecordKind.EVENT) if isinstance(e, TxEvent)]
    assert [event.seq for event in events] == list(range(1, 2 + 3 * WRITERS))
    assert all(a.tx < b.tx for a, b in itertools.pairwise(events))
    segments = memories[0].as_of().timeline("Acme", "city")
    assert [segment.state.value for segment in segments] == [f"city {n}" for n in range(WRITERS)]
    for before, later in itertools.pairwise(segments):
        assert before.valid_until == later.valid_from
    assert store.check(tenant) == ()


def test_answers_of_the_past_stay_what_they_were_while_others_write(
    memories: list[Memory], tenant: str
) -> None:
    say(memories[0], 0)
    stop, pinned = threading.Event(), list[tuple[Any, list[tuple[Any, ...]]]]()

    def answer(tx: Any) -> list[tuple[Any, ...]]:
        segments = memories[0].as_of(tx=tx).timeline("Acme", "city")
        return [(s.valid_from, s.valid_until, s.state.value, s.state.status) for s in segments]

    def read_on() -> None:
        while not stop.is_set():
            tx = memories[0].as_of().tx
            pinned.append((tx, answer(tx)))

    reader = threading.Thread(target=read_on)
    reader.start()
    at_once(lambda number: [say(memories[number], number) for _ in range(2)])
    stop.set()
    reader.join(60)
    assert len({tx for tx, _ in pinned}) > 1, "nothing was written while it read"
    for tx, answered in pinned:
        assert answer(tx) == answered
    assert memories[0]._backend.store.check(tenant) == ()


def test_writers_of_one_slot_never_deadlock_nor_ask_for_another_try(
    memories: list[Memory], caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG, logger="neo4j"), caplog.at_level("INFO", "tenure"):
        at_once(lambda number: [say(memories[number], number, f"Firm {n}") for n in range(3)])
    told = [record.getMessage() for record in caplog.records]
    assert [line for line in told if "deadlock" in line.lower()] == []
    assert [line for line in told if "asks for another try" in line] == []


@pytest.fixture
def server_store(neo4j_server: Server, tenant: str) -> Iterator[Neo4jStore]:
    store = open_store(neo4j_server.uri, auth=neo4j_server.auth, settings=strict_settings())
    store.ensure(tenant)
    yield store
    store.close()


def lose(monkeypatch: pytest.MonkeyPatch, *, times: int, commits: bool) -> None:
    """Let the answer of some commits be lost, of those that happened or of those that did not."""
    real, left = neo4j.Transaction.commit, iter(range(times))

    def commit_or_lose(tx: neo4j.Transaction) -> None:
        if next(left, None) is None:
            return real(tx)
        if commits:
            real(tx)
        else:
            tx.rollback()
        raise neo4j.exceptions.IncompleteCommit("the connection broke")

    monkeypatch.setattr(neo4j.Transaction, "commit", commit_or_lose)


def test_a_commit_whose_answer_was_lost_is_found_in_the_log(
    server_store: Neo4jStore, tenant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    lose(monkeypatch, times=1, commits=True)
    commit(server_store, [Say(object_id="a")], tenant=tenant)
    with server_store.reading(tenant) as reader:
        assert reader.clock().seq == 1


def test_a_commit_that_never_happened_is_told_apart(
    server_store: Neo4jStore, tenant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    lose(monkeypatch, times=1, commits=False)
    with pytest.raises(Unavailable):
        commit(server_store, [Say(object_id="a")], tenant=tenant)
    with server_store.reading(tenant) as reader:
        assert reader.clock().seq == 0


@pytest.mark.parametrize("commits", [True, False])
def test_a_unit_of_work_is_done_once_however_the_answer_was_lost(
    server_store: Neo4jStore, tenant: str, monkeypatch: pytest.MonkeyPatch, commits: bool
) -> None:
    runs: list[int] = []

    def work(tx: WriteTx) -> int:
        clock = tx.lock()
        told = event(clock, ids=["a"])
        tx.apply(Batch(clock=after(clock, [told]), events=(told,)))
        runs.append(1)
        return told.seq

    lose(monkeypatch, times=1, commits=commits)
    assert server_store.transact(tenant, work) == 1
    assert len(runs) == (1 if commits else 2)
    assert server_store.check(tenant) == ()


def test_uses_and_a_manifest_are_kept_once_although_an_answer_was_lost(
    server_store: Neo4jStore, tenant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = neo4j.Session.run
    failures: list[str] = []

    def run_and_lose(session: Any, query: Any, *parameters: Any) -> Any:
        result = real(session, query, *parameters)
        if query.text in failures:
            return result

        failures.append(query.text)
        result.consume()
        raise neo4j.exceptions.ServiceUnavailable("the connection broke")

    monkeypatch.setattr(neo4j.Session, "run", run_and_lose)
    server_store.log_usage(tenant, ["a", "b", "a"], at_us=50)
    server_store.log_usage(tenant, ["a"], at_us=60)
    server_store.put_manifest(tenant, envelope_id="e", manifest="{}", objects=["a"], pack="{}")
    assert len(failures) == 2

    monkeypatch.setattr(neo4j.Session, "run", real)
    with server_store.reading(tenant) as reader:
        assert reader.find(USAGE, "object_id", ["a", "b"]) == (Usage("a", 3, 60), Usage("b", 1, 50))
        assert reader.manifests() == (("e", "{}"),)
        assert list(reader.records(RecordKind.USAGE)) == [Usage("a", 3, 60), Usage("b", 1, 50)]


@pytest.mark.slow
def test_what_was_acknowledged_survives_a_killed_server(crashable_server: Server) -> None:
    tenant = f"test-{secrets.token_hex(8)}"
    store = open_store(crashable_server.uri, auth=crashable_server.auth, settings=strict_settings())
    store.ensure(tenant)
    kept: list[str] = []
    stop = threading.Event()

    def load(number: int) -> None:
        step = 0
        while not stop.is_set():
            object_id = f"{number}-{step}"
            step += 1
            try:
                commit(
                    store,
                    [Say(object_id=object_id, subject=f"e{number}", start=step)],
                    tenant=tenant,
                )
            except TenureError:
                return
            kept.append(object_id)

    threads = [threading.Thread(target=load, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    while len(kept) < 40:
        stop.wait(0.05)
    crashable_server.kill()
    stop.set()
    for thread in threads:
        thread.join(120)
    store.close()
    crashable_server.restart()
    again = open_store(crashable_server.uri, auth=crashable_server.auth)
    with again.reading(tenant) as reader:
        stored = {
            one.claim.object_id
            for one in reader.records(RecordKind.CLAIM)
            if isinstance(one, Assertion)
        }
        events = list(reader.records(RecordKind.EVENT))
    assert set(kept) <= stored
    assert len(stored) <= len(kept) + len(threads)  # at most one unanswered commit each
    assert len(events) == len(stored)
    assert again.check(tenant) == ()
    again.close()
