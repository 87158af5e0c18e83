"""Streams whose key is revoked, or runs out, while they are open: each ends, and says why."""

import http.client
import json
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest
from starlette.requests import HTTPConnection

import tenure
from tenure.faces.http import bearer_watch
from tenure.faces.http.bearer_watch import BearerWatch
from tenure.faces.http.bearers import Bearers
from tenure.faces.http.control import ControlFile
from tenure.faces.http.keys import KeyRing
from tenure.schema.principal import Principal
from tenure.tests.faces.http.served import ALL_PERMITS, RunningServer, serving
from tenure.tests.service.toy_encoder import ToyEncoder

ENDED = "credential_ended"
OFTEN_S = 0.05
"""Seconds between two checks in these tests."""


@pytest.fixture(autouse=True)
def frequent_checks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bearer_watch, "CHECK_S", OFTEN_S)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[RunningServer]:
    with tenure.connect(f"{tmp_path}/stores/") as memory, serving(memory, tmp_path) as server:
        yield server


def revoke(server: RunningServer, key: str) -> None:
    server.ring.revoke(key.split("_")[1])


def test_events_of_a_long_call_end_with_its_key(tmp_path: Path) -> None:
    encoder = ToyEncoder()
    encoder.open.clear()
    with (
        tenure.connect(f"{tmp_path}/stores/", encoder=encoder) as memory,
        serving(memory, tmp_path) as server,
    ):
        memory.write("Sam Rivera", "office", "Chicago")
        key = server.owner_key()
        headers = {"authorization": f"Bearer {key}", "accept": "text/event-stream"}
        try:
            with httpx2.stream("POST", f"{server.url}/v1/re_embed", headers=headers) as response:
                assert response.status_code == 200
                revoke(server, key)
                text = response.read().decode()
        finally:
            encoder.open.set()

    name, body = text.split("\n\n")[-2].split("\n")
    problem = json.loads(body.removeprefix("data: "))
    assert name == "event: problem"
    assert (problem["status"], problem["code"], problem["kind"]) == (401, ENDED, "Forbidden")


def test_the_bearer_of_a_stream_that_nobody_reads_is_asked_no_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    questions: list[float] = []
    problem = BearerWatch.problem

    def counted_problem(watch: BearerWatch) -> dict[str, object] | None:
        questions.append(time.monotonic())
        return problem(watch)

    monkeypatch.setattr(BearerWatch, "problem", counted_problem)
    encoder = ToyEncoder()
    encoder.open.clear()
    with (
        tenure.connect(f"{tmp_path}/stores/", encoder=encoder) as memory,
        serving(memory, tmp_path) as server,
    ):
        memory.write("Sam Rivera", "office", "Chicago")
        headers = {"authorization": f"Bearer {server.owner_key()}", "accept": "text/event-stream"}
        try:
            with httpx2.stream("POST", f"{server.url}/v1/re_embed", headers=headers) as response:
                assert response.status_code == 200
        finally:
            encoder.open.set()

        time.sleep(10 * OFTEN_S)
        left_s = time.monotonic()
        time.sleep(10 * OFTEN_S)
    assert [moment for moment in questions if moment > left_s] == []


def test_an_export_ends_with_its_key(server: RunningServer) -> None:
    server.memory.vocabulary.define_slot("note", description="Said.", cardinality="many")
    for number in range(120):
        server.memory.write("Sam Rivera", "note", f"{number} " + "word " * 1_500)
    key = server.owner_key()

    # A reader with little room: what it has not read yet stays with the server.
    host, port = server.url.removeprefix("http://").split(":")
    connection = http.client.HTTPConnection(host, int(port), timeout=30)
    connection.sock = socket.socket()
    connection.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
    connection.sock.connect((host, int(port)))
    connection.request("GET", "/v1/export", headers={"authorization": f"Bearer {key}"})
    response = connection.getresponse()
    assert json.loads(response.readline())
    revoke(server, key)
    threading.Event().wait(2 * OFTEN_S)
    lines = response.read().splitlines()
    connection.close()

    assert json.loads(lines[-1])["code"] == ENDED
    with httpx2.Client(headers={"authorization": f"Bearer {server.owner_key()}"}) as other:
        assert len(other.get(f"{server.url}/v1/export").text.splitlines()) > len(lines) + 1


def test_the_stream_of_an_agent_ends_with_its_key(server: RunningServer) -> None:
    pytest.importorskip("mcp")
    key = server.owner_key()
    headers = {
        "authorization": f"Bearer {key}",
        "accept": "text/event-stream",
        "mcp-protocol-version": "2025-06-18",
    }
    with httpx2.stream("GET", f"{server.url}/mcp", headers=headers, timeout=30) as response:
        assert response.headers["content-type"].startswith("text/event-stream")
        revoke(server, key)
        text = response.read().decode()
    assert text.startswith("event: problem")
    assert json.loads(text.split("data: ")[1])["code"] == ENDED


def test_lines_end_when_a_key_runs_out_and_not_before(tmp_path: Path) -> None:
    now_s = 1_000.0
    control = ControlFile(tmp_path / "control.db", clock=lambda: now_s)
    ring = KeyRing(control)
    key = ring.create(Principal(user="ann"), ALL_PERMITS, seconds=60)
    headers = [(b"authorization", f"Bearer {key}".encode())]
    request = HTTPConnection({"type": "http", "headers": headers})

    lines = BearerWatch(Bearers(ring), request).lines(iter([b"1\n", b"2\n", b"3\n"]))
    threading.Event().wait(2 * OFTEN_S)
    assert next(lines) == b"1\n"
    now_s += 60
    threading.Event().wait(2 * OFTEN_S)
    (last,) = lines
    assert json.loads(last)["code"] == ENDED
    control.close()
