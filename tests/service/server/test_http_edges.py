"""Clients at the edges: they go away, they want the head alone, they need an error's facts."""

from __future__ import annotations

import logging
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx2
import pytest

import tenure
from tenure.service.remote import memory as remote
from tenure.service.server.control import ControlFile
from tenure.service.server.idempotency import AnswerBook
from tenure.service.server.problems import problem_of
from tenure.service.writing.write import Writer
from tenure.tests.service.server.served import RunningServer, serving


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    folder = tmp_path_factory.mktemp("server")
    with tenure.connect(f"{folder}/stores/") as memory, serving(memory, folder) as server:
        yield server


@pytest.mark.parametrize("path", ["/v1/compile", "/v1/ingest", "/v1/tokens"])
def test_who_goes_away_in_the_middle_of_a_request_is_no_error(
    server: RunningServer, caplog: pytest.LogCaptureFixture, path: str
) -> None:
    host, port = server.url.removeprefix("http://").split(":")
    lines = (
        f"POST {path} HTTP/1.1",
        "Host: localhost",
        f"Authorization: Bearer {server.owner_key()}",
        "Content-Length: 1000",
    )
    with caplog.at_level(logging.ERROR):
        with socket.create_connection((host, int(port))) as connection:
            connection.sendall("\r\n".join((*lines, "", '{"task"')).encode())
            time.sleep(0.2)
        time.sleep(0.3)
    assert caplog.records == []


def test_an_error_keeps_its_facts_over_http(server: RunningServer) -> None:
    words = "chat " * 4_000

    def errors(memory: tenure.Memory) -> Iterator[dict[str, object]]:
        with pytest.raises(tenure.ContextBudgetExhausted) as raised:
            memory.compile("assistant", words, budget_tokens=100)
        yield {name: raised.value.data[name] for name in ("shortfall", "budget_tokens")}
        with pytest.raises(tenure.InvalidInput) as refused:
            memory.compile("assistant", words, budget_tokens=-1)
        yield {"field": refused.value.data["field"]}

    with tenure.connect(server.url, token=server.owner_key()) as remote:
        assert list(errors(remote)) == list(errors(server.memory))


def test_a_problem_names_no_path_of_the_server(server: RunningServer) -> None:
    error = tenure.Unavailable("it cannot be read", code="file_unreadable", path="/srv/team.db")
    assert "data" not in problem_of(error)


@pytest.mark.parametrize("path", ["/healthz", "/readyz", "/sign-in", "/v1/version"])
def test_the_head_of_what_is_read_is_answered_alone(server: RunningServer, path: str) -> None:
    head, whole = httpx2.head(server.url + path), httpx2.get(server.url + path)
    assert (head.status_code, head.content) == (200, b"")
    assert head.headers["content-length"] == str(len(whole.content))
    assert httpx2.head(server.url + "/v1/write").status_code == 405


def test_the_head_of_a_page_leads_to_the_sign_in(server: RunningServer) -> None:
    answer = httpx2.head(server.url + "/reviews", headers={"accept": "text/html"})
    assert (answer.status_code, answer.headers["location"]) == (303, "/sign-in?next=%2Freviews")


def test_a_request_that_runs_for_long_is_not_done_twice(tmp_path: Path) -> None:
    now_s = 1_000.0
    caller, request = tenure.Principal(user="ann"), b"a batch"
    with closing(ControlFile(tmp_path / "control.db", clock=lambda: now_s)) as control:
        book = AnswerBook(control)
        assert book.begin(caller, "k", request) is None
        now_s += 3_600
        with pytest.raises(tenure.Conflict) as refusal:
            book.begin(caller, "k", request)
        assert refusal.value.code == "in_progress"

        # One whose process died is done by the next.
        assert AnswerBook(control).begin(caller, "k", request) is None


def test_a_client_waits_for_the_answer_of_a_request_that_takes_longer_than_it_waits(
    server: RunningServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    is_released = threading.Event()
    commit = Writer.submit

    def slow_commit(writer: Writer, *args: Any, **options: Any) -> Any:
        is_released.wait(20)
        return commit(writer, *args, **options)

    monkeypatch.setattr(remote, "TIMEOUT_S", 0.5)
    monkeypatch.setattr(remote, "_PAUSE_S", 0.05)
    with tenure.connect(server.url, token=server.owner_key()) as memory:
        monkeypatch.setattr(remote, "TIMEOUT_S", 20)
        monkeypatch.setattr(Writer, "submit", slow_commit)
        threading.Timer(1.5, is_released.set).start()
        receipt = memory.write("Patience Worth", "office", "Rome")

    assert receipt.outcome == "accepted"
    assert len(server.memory.history("Patience Worth", "office")) == 1
