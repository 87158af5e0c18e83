"""Frames that are no message: each has an answer, and the session goes on."""

import json
import subprocess
import sys
from typing import Any

import pytest

PING = '{"jsonrpc": "2.0", "id": 9, "method": "ping"}'
CLIENT = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "a client", "version": "1"},
}
INITIALIZE = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": CLIENT}
FRAMES = [
    "hello",
    "[]",
    "[" * 10_000,
    '{"jsonrpc": "1.0", "id": 1, "method": "ping"}',
    '{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "\\ud800"}}',
    '{"jsonrpc": "2.0", "id": %s, "method": "ping"}' % ("9" * 5_000),
]


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """What the server answers to a handshake, the frames and two questions."""
    store = tmp_path_factory.mktemp("mcp") / "memory.db"
    prompt = {"jsonrpc": "2.0", "id": 8, "method": "prompts/get", "params": {"name": "nope"}}
    lines = [json.dumps(INITIALIZE), '{"jsonrpc": "2.0", "method": "notifications/initialized"}']
    lines += [*FRAMES, json.dumps(prompt), PING]

    command = [sys.executable, "-P", "-m", "tenure", "--store", str(store), "mcp"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as server:
        assert server.stdin and server.stdout and server.stderr
        server.stdin.write("\n".join(lines) + "\n")
        server.stdin.flush()
        answers: list[dict[str, Any]] = []
        while not answers or answers[-1].get("id") != 9:
            answers.append(json.loads(server.stdout.readline()))
        server.stdin.close()
        assert "Traceback" not in server.stderr.read()
    return answers


def test_a_frame_that_cannot_be_read_is_answered(answers: list[dict[str, Any]]) -> None:
    refusals = [answer for answer in answers if answer["id"] is None]
    assert len(refusals) == len(FRAMES)
    for refusal in refusals:
        assert refusal["error"]["code"] == -32700
        assert refusal["error"]["message"].startswith("the frame is no JSON-RPC message: send")


def test_an_unknown_prompt_is_told_which_ones_there_are(answers: list[dict[str, Any]]) -> None:
    (answer,) = [answer for answer in answers if answer["id"] == 8]
    assert answer["error"] == {
        "code": -32602,
        "message": "unknown prompt 'nope': known: use_memory",
    }
