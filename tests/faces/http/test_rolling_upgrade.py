"""Two servers start on a store with an older schema: one migrates, the other waits for it."""

import queue
import re
import signal
import sqlite3
import subprocess
import sys
import threading
import uuid
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import httpx2
import pytest

import tenure
from tenure.faces.http.control import ControlFile
from tenure.faces.http.keys import KeyRing
from tenure.schema.principal import Principal
from tenure.store.sqlite.schema import SCHEMA_VERSION
from tenure.tests.faces.http.served import ALL_PERMITS

PEOPLE = 50
STARTING_S = 60.0
LOCKED_S = 2.0


@pytest.fixture
def older_store(tmp_path: Path) -> Path:
    path = tmp_path / "team.db"
    with tenure.connect(str(path)) as memory:
        for number in range(PEOPLE):
            memory.write(f"Person {number}", "office", f"Room {number}")
    return path


class Served:
    """A server process, and the lines that it has said so far."""

    def __init__(self, store: Path, *, newer: bool = False) -> None:
        program = ["-c", f"{NEXT_VERSION}\n{SERVE}"] if newer else ["-m", "tenure"]
        command = [sys.executable, "-P", *program, "--store", str(store), "serve"]
        self.process = subprocess.Popen(
            [*command, "--port", "0"], cwd=store.parent, stderr=subprocess.PIPE, text=True
        )
        self.lines: queue.Queue[str] = queue.Queue()
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.lines.put(line)

    def url(self) -> str:
        """The address, once the server says it."""
        line = self.lines.get(timeout=STARTING_S)
        address = re.search(r"http://127\.0\.0\.1:\d+", line)
        assert address is not None, line
        return address[0]

    def stop(self) -> None:
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(timeout=30)
        self._reader.join()
        assert self.process.stderr is not None
        self.process.stderr.close()


@contextmanager
def served(store: Path) -> Iterator[Served]:
    server = Served(store)
    try:
        yield server
    finally:
        server.stop()


@contextmanager
def two_servers(store: Path) -> Iterator[tuple[Served, Served]]:
    servers = (Served(store, newer=True), Served(store, newer=True))
    try:
        yield servers
    finally:
        for server in servers:
            server.stop()


NEXT_VERSION = """
import sys
import tenure
from tenure.store.sqlite import partition

partition.MIGRATIONS += (("ALTER TABLE meta ADD COLUMN motto TEXT;",),)
partition.SCHEMA_VERSION += 1
"""
"""A tenure of the next version, which migrates the files that it opens."""
DOCTOR = "print(tenure.connect(sys.argv[1]).doctor())"
SERVE = "from tenure.faces.cli.main import main\nmain()"
NEWER = f"""
{NEXT_VERSION}
with tenure.connect(sys.argv[1]) as memory:
    print(memory.write("Person 1", "office", "Rome").outcome)
"""


def schema_version(store: Path) -> int:
    with closing(sqlite3.connect(store)) as db:
        (version,) = db.execute("PRAGMA user_version").fetchone()
    return int(version)


def owner_of(store: Path) -> dict[str, str]:
    """The headers of an owner's requests to a server of this store."""
    with closing(ControlFile(f"{store}.control")) as control:
        caller = Principal(user="olga", roles=frozenset({"owner"}), clearance="highly_restricted")
        return {"authorization": f"Bearer {KeyRing(control).create(caller, ALL_PERMITS)}"}


def test_one_migrates_and_the_other_waits_and_neither_answers_wrongly(older_store: Path) -> None:
    headers = owner_of(older_store)
    with closing(sqlite3.connect(older_store, isolation_level=None)) as other:
        # Both meet the older schema, and a lock: neither may be open before it is current.
        other.execute("BEGIN IMMEDIATE")
        with two_servers(older_store) as servers:
            with pytest.raises(queue.Empty):
                servers[0].lines.get(timeout=LOCKED_S)
            assert servers[1].lines.empty()
            assert [server.process.poll() for server in servers] == [None, None]
            assert schema_version(older_store) == SCHEMA_VERSION
            other.execute("COMMIT")

            clients = [httpx2.Client(base_url=s.url(), headers=headers) for s in servers]
            assert schema_version(older_store) == SCHEMA_VERSION + 1
            for client in clients:
                for number in range(PEOPLE):
                    question = {"entity": f"Person {number}", "slot": "office"}
                    answer = client.get("/v1/view/slot", params=question).json()
                    assert answer["value"] == f"Room {number}"

            # What one writes the other answers with its next read, and the writer stays who it was.
            for number, (writer, reader) in enumerate((clients, clients[::-1])):
                fact = {"subject": f"Person {number}", "slot": "office", "value": "Rome"}
                key = {"idempotency-key": str(uuid.uuid4())}
                assert writer.post("/v1/write", json=fact, headers=key).status_code == 200
                question = {"entity": f"Person {number}", "slot": "office"}
                assert reader.get("/v1/view/slot", params=question).json()["value"] == "Rome"
                rows = reader.get("/v1/history", params=question).json()
                assert rows[-1]["actor"] == "olga"
            for client in clients:
                client.close()

        words = [line for server in servers for line in server.lines.queue]
        assert not any("Traceback" in line for line in words), words
    newer = [sys.executable, "-P", "-c", f"{NEXT_VERSION}\n{DOCTOR}", str(older_store)]
    assert subprocess.check_output(newer, text=True).strip() == "()"


def test_a_server_that_stays_while_a_newer_tenure_migrates_answers_nothing(tmp_path: Path) -> None:
    store = tmp_path / "team.db"
    with tenure.connect(str(store)) as memory:
        memory.write("Person 1", "office", "Room 1")
    question = {"entity": "Person 1", "slot": "office"}
    fact = {"subject": "Person 1", "slot": "office", "value": "Oslo"}

    with served(store) as server:
        with httpx2.Client(base_url=server.url(), headers=owner_of(store)) as client:
            assert client.get("/v1/view/slot", params=question).json()["value"] == "Room 1"
            newer = [sys.executable, "-P", "-c", NEWER, str(store)]
            assert subprocess.check_output(newer, text=True).strip() == "accepted"

            read = client.get("/v1/view/slot", params=question)
            key = {"idempotency-key": str(uuid.uuid4())}
            write = client.post("/v1/write", json=fact, headers=key)
            assert [(answer.status_code, answer.json()["code"]) for answer in (read, write)] == [
                (503, "newer_schema")
            ] * 2
            assert client.get("/readyz").status_code == 503

        assert not any("Traceback" in line for line in server.lines.queue)
    assert schema_version(store) == SCHEMA_VERSION + 1
