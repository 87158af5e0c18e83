"""`tenure serve` as a process: what it prints, what it refuses, how it ends."""

import os
import re
import signal
import socket
import subprocess
import sys
from pathlib import Path

import httpx2
import pytest
from typer.testing import CliRunner

import tenure
from tenure.faces.cli.main import app
from tenure.faces.http.command import listening_socket

COMMAND = [sys.executable, "-P", "-m", "tenure"]


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    with tenure.connect(str(tmp_path / "team.db")) as memory:
        memory.write(subject="Sam Rivera", slot="office", value="Chicago")
    return tmp_path / "team.db"


def refusal(*words: str) -> str:
    result = CliRunner().invoke(app, list(words))
    assert result.exit_code in (1, 3), result.output
    return result.output


def test_the_demo_is_served_and_gone_at_the_end(tmp_path: Path) -> None:
    server = subprocess.Popen(
        [*COMMAND, "serve", "--demo", "--port", "0"],
        cwd=tmp_path,
        env={**os.environ, "TMPDIR": str(tmp_path)},
        stderr=subprocess.PIPE,
        text=True,
    )
    assert server.stderr is not None
    try:
        address = re.search(r"http://127\.0\.0\.1:\d+", server.stderr.readline())
        assert address is not None
        code = server.stderr.readline().split()[-1]
        with httpx2.Client(base_url=address[0], headers={"origin": address[0]}) as browser:
            answer = browser.post("/sign-in", data={"code": code})
            assert answer.status_code == 303
            assert "Orchid Foods" in browser.get("/?q=Orchid+pricing").text
            assert "handbook/leave.md" in browser.get("/documents").text
    finally:
        server.send_signal(signal.SIGTERM)
        rest = server.stderr.read()
        server.wait(timeout=30)
        server.stderr.close()
    assert server.returncode == 128 + signal.SIGTERM
    assert "Three things to try" in rest
    assert "Traceback" not in rest
    assert list(tmp_path.iterdir()) == []


def test_a_server_begins_with_an_empty_store_when_it_is_told_to(tmp_path: Path) -> None:
    store = ["--store", str(tmp_path / "team.db")]
    assert "serve --new make it" in refusal(*store, "serve")
    permits = ["--allow", "memory:read", "--allow", "memory:write"]
    created = CliRunner().invoke(
        app, [*store, "--user", "ann", "--role", "member", "keys", "create", *permits]
    )
    headers = {"authorization": f"Bearer {created.stdout.split()[-1]}", "idempotency-key": "w1"}

    server = subprocess.Popen(
        [*COMMAND, *store, "serve", "--new", "--port", "0"], stderr=subprocess.PIPE, text=True
    )
    assert server.stderr is not None
    try:
        address = re.search(r"http://127\.0\.0\.1:\d+", server.stderr.readline())
        assert address is not None
        claim = {"subject": "Sam Rivera", "slot": "office", "value": "Chicago"}
        written = httpx2.post(f"{address[0]}/v1/write", json=claim, headers=headers)
        assert written.status_code == 200, written.text

        # A client that asks for a WebSocket gets the page, not another library's refusal.
        upgrade = {"connection": "upgrade", "upgrade": "websocket", "sec-websocket-key": "x"}
        page = httpx2.get(f"{address[0]}/v1/version", headers=upgrade)
        assert (page.status_code, list(page.json())) == (200, ["version"])
    finally:
        server.send_signal(signal.SIGTERM)
        server.communicate(timeout=30)
    with tenure.connect(str(tmp_path / "team.db")) as memory:
        assert memory.as_of().value("Sam Rivera", "office") == "Chicago"


def test_a_new_code_can_be_had_beside_the_server(store: Path) -> None:
    result = CliRunner().invoke(app, ["--store", str(store), "serve", "code"])
    assert re.fullmatch(r"[A-Z2-7]{5}-[A-Z2-7]{5}\n", result.stdout)
    assert Path(f"{store}.control").exists()


def test_a_code_goes_into_the_control_file_that_is_named(store: Path, tmp_path: Path) -> None:
    path = tmp_path / "other.control"
    flags = ["--store", str(store), "serve", "--control", str(path), "code"]
    assert CliRunner().invoke(app, flags).exit_code == 0
    assert path.exists()
    assert not Path(f"{store}.control").exists()


def test_what_serve_refuses(store: Path) -> None:
    assert "--demo serves a store of its own" in refusal("--store", str(store), "serve", "--demo")
    assert "create a key first" in refusal("--store", str(store), "serve", "--host", "0.0.0.0")
    assert "loopback alone" in refusal("serve", "--demo", "--host", "0.0.0.0")
    assert "there is no store" in refusal("--store", "nowhere.db", "serve")
    assert "level 0 or 1" in refusal(
        "--store", str(store), "--role", "steward", "--level", "1", "serve", "--port", "0"
    )
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = str(other.getsockname()[1])
        assert "--port" in refusal("--store", str(store), "serve", "--port", port)


def test_an_answer_leaves_at_once_and_not_when_its_head_was_acknowledged() -> None:
    with listening_socket("127.0.0.1", 0) as listener:
        with socket.create_connection(listener.getsockname()):
            connection, _ = listener.accept()
        with connection:
            assert connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
