"""Strangers who hold connections, or send what two readers may read in two ways."""

import io
import logging
import resource
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import httpx2
import pytest

from tenure.faces.http import connections
from tenure.service import logs
from tenure.tests.faces.http.served import RunningServer

HALF_HEAD = b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n"
HANDLES = 512


def connection_to(url: str) -> socket.socket:
    host, _, port = url.removeprefix("http://").partition(":")
    return socket.create_connection((host, int(port.rstrip("/"))), timeout=20)


def answer_of(connection: socket.socket) -> bytes:
    """Return all that comes until the server closes."""
    chunks: list[bytes] = []
    try:
        while chunk := connection.recv(65_536):
            chunks.append(chunk)
    except ConnectionResetError:
        pass
    return b"".join(chunks)


@pytest.fixture
def little_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "PATIENCE_S", 0.5)
    monkeypatch.setattr(connections, "_LOOK_S", 0.05)


@pytest.fixture
def many_handles() -> Iterator[None]:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < 2 * HANDLES:
        pytest.skip(f"the system allows {hard} handles, and this test needs {2 * HANDLES}")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, 2 * HANDLES), hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.usefixtures("many_handles")
def test_more_half_open_connections_than_handles_end_no_server(tmp_path: Path) -> None:
    command = [sys.executable, "-P", "-m", "tenure", "--store", str(tmp_path / "s.db")]
    command += ["serve", "--new", "--port", "0"]
    shell = ["sh", "-c", f'ulimit -n {HANDLES}; exec "$@"', "sh", *command]
    with subprocess.Popen(shell, stderr=subprocess.PIPE, text=True) as process, ExitStack() as held:
        assert process.stderr is not None
        url = next(line for line in process.stderr if "is served at" in line).split()[4]
        next(line for line in process.stderr if "Sign-in code" in line)
        for _ in range(HANDLES + 126):
            connection = held.enter_context(connection_to(url))
            try:
                connection.sendall(HALF_HEAD)
            except ConnectionError:
                continue  # refused already

        with connection_to(url) as refused:
            answer = answer_of(refused)
        assert answer.startswith(b"HTTP/1.1 503 ")
        assert b"retry-after: " in answer

        held.close()
        deadline_s = time.monotonic() + 3
        while True:
            assert time.monotonic() < deadline_s
            try:
                if httpx2.get(f"{url}healthz", timeout=3).status_code == 200:
                    break
            except httpx2.TransportError:
                continue
        process.send_signal(signal.SIGTERM)
        assert "Traceback" not in process.stderr.read()


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"GET /heal",
        HALF_HEAD,
        b"POST /v1/write HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 9\r\n\r\n{",
        b"POST /v1/write HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\n4\r\n{",
    ],
)
def test_who_sends_a_part_and_no_more_is_let_go(
    server: RunningServer, monkeypatch: pytest.MonkeyPatch, sent: bytes
) -> None:
    monkeypatch.setattr(connections, "PATIENCE_S", 0.3)
    monkeypatch.setattr(connections, "_LOOK_S", 0.05)
    with connection_to(server.url) as connection:
        connection.sendall(sent)
        assert answer_of(connection) == b""


@pytest.mark.usefixtures("little_patience")
def test_a_head_that_drips_is_no_progress(server: RunningServer) -> None:
    start_s = time.monotonic()
    with connection_to(server.url) as connection, pytest.raises(ConnectionError):
        while time.monotonic() < start_s + 10:
            connection.sendall(b"G")
            time.sleep(0.05)


@pytest.mark.usefixtures("little_patience")
def test_who_reads_no_answer_is_let_go(server: RunningServer) -> None:
    request = b"GET /v1/openapi.json HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
    with connection_to(server.url) as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
        connection.settimeout(0.2)
        start_s = time.monotonic()
        with pytest.raises(ConnectionError):
            while time.monotonic() < start_s + 20:
                try:
                    connection.sendall(request * 100)
                except TimeoutError:
                    continue


@pytest.mark.usefixtures("little_patience")
def test_a_slow_body_that_goes_on_is_taken(server: RunningServer) -> None:
    body = b'{"text": "slow"}'
    lines = (
        "POST /v1/view/search HTTP/1.1",
        "Host: 127.0.0.1",
        f"Authorization: Bearer {server.owner_key()}",
        f"Content-Length: {len(body)}",
        "Connection: close",
    )
    with connection_to(server.url) as connection:
        connection.sendall("\r\n".join((*lines, "", "")).encode())
        for number in range(len(body)):
            connection.sendall(body[number : number + 1])
            time.sleep(0.1)
        assert answer_of(connection).startswith(b"HTTP/1.1 200 ")


INNER = b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
TWO_READINGS = {
    "two kinds of length": b"POST /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 40\r\n"
    b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "two lengths": b"POST /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 0\r\n"
    b"Content-Length: 42\r\n\r\n",
    "one length twice": b"POST /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 0\r\n"
    b"content-length: 0\r\n\r\n",
    "a list of lengths": b"POST /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n"
    b"Content-Length: 0, 0\r\n\r\n",
    "chunks in HTTP/1.0": b"POST /healthz HTTP/1.0\r\nHost: 127.0.0.1\r\n"
    b"Connection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "a folded line": b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nX-One: a\r\n b\r\n\r\n",
    "a bare line feed": b"GET /healthz HTTP/1.1\nHost: 127.0.0.1\r\n\r\n",
    "bare line feeds alone": b"GET /healthz HTTP/1.1\nHost: 127.0.0.1\n\n",
    "a bare carriage return": b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nX-One: a\rX: b\r\n\r\n",
    "a space before the colon": b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nX-One : a\r\n\r\n",
}


@pytest.mark.parametrize("request_bytes", TWO_READINGS.values(), ids=TWO_READINGS)
def test_what_two_readers_may_read_in_two_ways_is_refused_and_ends_the_connection(
    server: RunningServer, request_bytes: bytes
) -> None:
    with connection_to(server.url) as connection:
        connection.sendall(request_bytes + INNER)
        answer = answer_of(connection)
    assert answer.startswith(b"HTTP/1.1 400 ")
    assert answer.count(b"HTTP/1.1 ") == 1


def test_requests_behind_one_another_are_answered_each(server: RunningServer) -> None:
    chunked = (
        b"POST /v1/view/search HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\n"
    )
    chunked += b"2\r\n{}\r\n0\r\n\r\n"
    last = INNER.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n")
    with connection_to(server.url) as connection:
        connection.sendall(INNER + chunked + last)
        answer = answer_of(connection)
    statuses = [part[:3] for part in answer.split(b"HTTP/1.1 ")[1:]]
    assert statuses == [b"200", b"401", b"200"]


def test_a_log_line_that_cannot_be_written_stops_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    class Unprintable:
        def __repr__(self) -> str:
            raise RuntimeError("no text")

    class Full(io.StringIO):
        def write(self, text: str) -> int:
            raise OSError(24, "too many open files")

    handler = logs.StructuredHandler(as_json=True)
    record = logging.LogRecord("asyncio", logging.ERROR, "", 0, "%r", (Unprintable(),), None)
    handler.handle(record)
    for stream in (Full(), None):
        monkeypatch.setattr(sys, "stderr", stream)
        handler.handle(record)
        handler.handle(logging.LogRecord("asyncio", logging.ERROR, "", 0, "x", (), None))
