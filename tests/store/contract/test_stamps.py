"""A read that states a stamp is never answered from before it, whichever process wrote."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tenure import Memory
from tenure.faces.http.api import AFTER, STAMP
from tenure.service.backend.caller import backend_of
from tenure.tests.faces.http.served import client, serving
from tenure.tests.faces.mcp.test_transports import over_http
from tenure.tests.store.builders import Open

QUESTION = {"entity": "Sam Rivera", "slot": "office"}
VALUE = "/v1/view/value"
WRITER = """
import json, sys, time
from dataclasses import replace
from tenure import connect
from tenure.schema.principal import OWNER

url, auth, tenant = json.loads(sys.argv[1])
options = {"auth": tuple(auth)} if auth else {}
with connect(url, principal=replace(OWNER, tenant=tenant), **options) as memory:
    # A server plans the statements of a first write for seconds.
    memory.write("Robin Vale", "office", "Lima")
    print("ready", flush=True)
    for place in sys.stdin:
        time.sleep(0.3)
        receipt = memory.write("Sam Rivera", "office", place.strip())
        print(receipt.tx.isoformat(), flush=True)
"""


class Neighbour:
    """Another process over the same store."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        assert self.line() == "ready"

    def line(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline().strip()

    def begin_write(self, office: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(f"{office}\n")
        self._process.stdin.flush()

    def write(self, office: str) -> str:
        self.begin_write(office)
        return self.line()


@pytest.fixture
def memory(open_memory: Open) -> Memory:
    memory = open_memory()
    memory.write("Sam Rivera", "office", "Chicago")
    return memory


@pytest.fixture
def neighbour(memory: Memory, request: pytest.FixtureRequest) -> Iterator[Neighbour]:
    url = backend_of(memory).store.url
    auth = request.getfixturevalue("neo4j_server").auth if "://" in url else None
    place = json.dumps([url, auth, memory.principal.tenant])
    with subprocess.Popen(
        [sys.executable, "-P", "-c", WRITER, place],
        text=True,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdin is not None
        yield Neighbour(process)
        process.stdin.close()


@pytest.fixture
def http(memory: Memory, tmp_path: Path) -> Iterator[httpx2.Client]:
    with serving(memory, tmp_path) as server, client(server, server.owner_key()) as http:
        yield http


def soon() -> str:
    """A stamp that comes before the one of a write that was just begun elsewhere."""
    return (datetime.now(UTC) + timedelta(milliseconds=100)).isoformat()


def ask(http: httpx2.Client, after: str) -> httpx2.Response:
    return http.post("/v1/view/value", json=QUESTION, headers={AFTER: after})


def test_a_read_sees_the_write_of_another_process_whose_stamp_it_states(
    http: httpx2.Client, neighbour: Neighbour
) -> None:
    answer = ask(http, neighbour.write("Boston"))
    assert answer.json() == "Boston"


def test_a_read_waits_for_a_write_that_comes_within_the_time(
    http: httpx2.Client, neighbour: Neighbour
) -> None:
    neighbour.begin_write("Boston")
    answer = ask(http, soon())
    assert answer.json() == "Boston"
    assert datetime.fromisoformat(neighbour.line()) <= datetime.fromisoformat(answer.headers[STAMP])


def test_a_read_of_a_stamp_that_does_not_come_gets_no_older_answer(http: httpx2.Client) -> None:
    answer = ask(http, "2100-01-01T00:00:00Z")
    assert (answer.status_code, answer.json()["code"]) == (503, "not_yet")


def test_a_stamp_that_is_no_time_is_refused(http: httpx2.Client) -> None:
    answer = ask(http, "the newest")
    assert (answer.status_code, answer.json()["code"]) == (422, "bad_time")


def test_a_receipt_and_a_read_after_it_carry_the_stamp_of_the_write(http: httpx2.Client) -> None:
    fact = {"subject": "Sam Rivera", "slot": "office", "value": "Boston"}
    written = http.post("/v1/write", json=fact, headers={"idempotency-key": "one"})
    assert written.headers[STAMP] == written.json()["tx"]
    assert ask(http, written.headers[STAMP]).headers[STAMP] == written.headers[STAMP]


def test_a_tool_waits_for_the_stamp_and_answers_with_the_newest(
    memory: Memory, neighbour: Neighbour, tmp_path: Path
) -> None:
    async def tell() -> tuple[Any, Any]:
        async with over_http(memory, tmp_path, "2026-07-28") as agent:
            neighbour.begin_write("Boston")
            seen = await agent.call_tool("as_of", QUESTION, meta={"tenure/after": soon()})
            late = {"tenure/after": "2100-01-01T00:00:00Z"}
            return seen, await agent.call_tool("as_of", QUESTION, meta=late)

    seen, refused = asyncio.run(tell())
    assert "Boston" in seen.content[0].text
    assert seen.meta["tenure/stamp"] >= neighbour.line()[:19]
    assert refused.is_error
    assert refused.structured_content["code"] == "not_yet"
