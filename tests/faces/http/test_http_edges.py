"""Clients at the edges: they go away, they want the head alone, they need an error's facts."""

import logging
import socket
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx2
import pytest

import tenure
from tenure.faces.http.api import AnswerBook
from tenure.faces.http.control import ControlFile
from tenure.faces.http.problems import problem_of
from tenure.faces.remote import memory as remote
from tenure.service.writing.write import Writer
from tenure.tests.faces.http.served import RunningServer
from tenure.tests.support.refusals import refused


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
        with refused(tenure.Conflict, "in_progress"):
            book.begin(caller, "k", request)

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


BODIES: dict[str, tuple[bytes, str, str]] = {
    "no JSON": (b"hello", "bad_request", "the body is no JSON: Expecting value at column 1"),
    "deep": (b"[" * 10_000, "bad_request", "the body is no JSON: it is nested too deeply"),
    "twice": (b'{"text": "a", "text": "b"}', "bad_request", "a key occurs twice: text"),
    "NaN": (b'{"text": NaN}', "bad_request", "NaN is no number of JSON"),
    "digits": (b'{"text": %s}' % (b"9" * 5_000), "out_of_range", "beyond int64"),
    "charset": ('{"text": "Zo\xeb"}'.encode("latin-1"), "bad_request", "byte 13, on line 1"),
    "UTF-16": ('{"text": "a"}'.encode("utf-16"), "bad_request", "byte 1, on line 1"),
    "unknown": (b'{"text": "a", "limt": 1}', "bad_request", "did you mean 'limit'?"),
    "missing": (b"{}", "bad_request", "text: is missing; state it"),
    "kind": (b'{"text": 5}', "bad_request", "text: must be a text"),
    "surrogate": (b'{"\\ud800": 5}', "bad_request", "without lone surrogates"),
    "long": (
        b'{"text": "", "%s": 1}' % (b"k" * 100_000),
        "bad_request",
        "kkkk: is no field here; ",
    ),
}


@pytest.mark.parametrize("name", BODIES)
def test_a_body_that_cannot_be_read_is_a_problem_that_says_why(
    server: RunningServer, name: str
) -> None:
    body, code, sentence = BODIES[name]
    headers = {"authorization": f"Bearer {server.owner_key()}"}
    answer = httpx2.post(server.url + "/v1/view/search", headers=headers, content=body)
    problem = answer.json()
    assert (answer.status_code, problem["code"]) == (422, code)
    assert sentence in problem["detail"]
    assert len(problem["detail"]) < 1_000


QUERIES = {
    "text=a&text=b": "text occurs twice in the query; state it once",
    "text=%FF": "the query is not UTF-8; write the bytes of UTF-8 as %XX",
    "text=a&limit=x": "limit: must be a whole number",
}


@pytest.mark.parametrize("query", QUERIES)
def test_a_query_that_can_be_read_in_two_ways_is_refused(server: RunningServer, query: str) -> None:
    headers = {"authorization": f"Bearer {server.owner_key()}"}
    answer = httpx2.get(f"{server.url}/v1/view/search?{query}", headers=headers)
    assert (answer.status_code, answer.json()["detail"]) == (422, QUERIES[query])


@pytest.mark.parametrize("name", ["authorization", "idempotency-key", "if-match", "x-tenant"])
def test_a_header_that_decides_may_not_stand_twice(server: RunningServer, name: str) -> None:
    tenant, key = server.memory.principal.tenant, f"Bearer {server.owner_key()}"
    first = {"authorization": key, "x-tenant": tenant}.get(name, "1")
    headers = [("authorization", key)] * (name != "authorization")
    answer = httpx2.get(
        server.url + "/v1/caller", headers=[*headers, (name, first), (name, "other")]
    )
    problem = answer.json()
    assert (answer.status_code, problem["code"]) == (400, "bad_request")
    assert problem["detail"] == f"the header {name} occurs twice; send it once"


def test_another_method_is_told_which_ones_an_address_takes(server: RunningServer) -> None:
    answer = httpx2.put(server.url + "/v1/view/search")
    assert answer.status_code == 405
    detail = "PUT is not taken at this address; use GET or HEAD or POST"
    assert answer.json()["detail"] == detail


def test_a_call_whose_extra_is_missing_is_refused(
    server: RunningServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def post(path: str, body: dict[str, Any]) -> httpx2.Response:
        headers = {"authorization": f"Bearer {server.owner_key()}", "idempotency-key": path}
        return httpx2.post(server.url + path, json=body, headers=headers, timeout=30)

    monkeypatch.setitem(sys.modules, "numpy", None)
    monkeypatch.delitem(sys.modules, "tenure.service.encoders.models", raising=False)
    answer = post("/v1/re_embed", {})
    assert (answer.status_code, answer.json()["code"]) == (422, "bad_encoder")

    def lacking(*_: Any, **__: Any) -> None:
        raise ModuleNotFoundError("no such package", name="numpy")

    monkeypatch.setattr(Writer, "submit", lacking)
    answer = post("/v1/write", {"subject": "Ann Lee", "slot": "office", "value": "Rome"})
    assert (answer.status_code, answer.json()["code"]) == (503, "extra_missing")


@pytest.mark.parametrize("value", [0, 1, "true", "yes", None, [], 1.0])
def test_a_truth_value_of_a_body_is_true_or_false(server: RunningServer, value: object) -> None:
    headers = {"authorization": f"Bearer {server.owner_key()}", "idempotency-key": f"{value}"}
    writes = [{"subject": "Ann Lee", "slot": "office", "value": "Rome"}]
    body = {"writes": writes, "dry_run": value}
    answer = httpx2.post(f"{server.url}/v1/write:batch", json=body, headers=headers, timeout=30)
    assert (answer.status_code, answer.json()["code"]) == (422, "bad_request")
    assert "dry_run" in answer.json()["detail"]


@pytest.mark.parametrize("value", ["5", True, 5.5, [5], {}])
def test_a_number_of_a_body_is_a_number_and_of_a_query_a_text(
    server: RunningServer, value: object
) -> None:
    headers = {"authorization": f"Bearer {server.owner_key()}"}
    body = {"text": "office", "limit": value}
    answer = httpx2.post(f"{server.url}/v1/view/search", json=body, headers=headers, timeout=30)
    assert (answer.status_code, answer.json()["code"]) == (422, "bad_request")

    question = {"text": "office", "limit": "5"}
    answer = httpx2.get(f"{server.url}/v1/view/search", params=question, headers=headers)
    assert answer.status_code == 200
