"""Long calls over HTTP: what they say while they work, and tenants that move by their lines."""

import json
import uuid
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

import tenure
from tenure.service.stewardship.operations import Steward
from tenure.store.transfer import restore as groups
from tenure.tests.faces.http.served import RunningServer, client, serving
from tenure.tests.service.toy_encoder import ToyEncoder

EVENTS = {"accept": "text/event-stream"}


@pytest.fixture
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    folder = tmp_path_factory.mktemp("server")
    encoder = ToyEncoder()
    with (
        tenure.connect(f"{folder}/stores/", encoder=encoder) as memory,
        serving(memory, folder) as server,
    ):
        yield server


def events_of(response: httpx2.Response) -> list[tuple[str, Any]]:
    assert response.headers["content-type"].startswith("text/event-stream")
    events: list[tuple[str, Any]] = []
    for part in response.text.split("\n\n")[:-1]:
        if part.startswith("event: "):
            name, body = part.split("\n", 1)
            events.append((name.removeprefix("event: "), json.loads(body.removeprefix("data: "))))
    return events


def event_lines(count: int) -> bytes:
    lines = [
        {"op": "assert", "subject": {"name": f"Line {n}"}, "slot": "office", "value": "Rome"}
        for n in range(count)
    ]
    return "\n".join(map(json.dumps, lines)).encode()


def test_an_import_says_how_far_it_is_and_then_its_report(owner: httpx2.Client) -> None:
    events = events_of(owner.post("/v1/ingest", content=event_lines(9), headers=EVENTS))
    assert events[-1][0] == "done"
    assert events[-1][1]["events"] == 9
    assert [name for name, _ in events[:-1]] == ["progress"] * (len(events) - 1)

    refused = events_of(owner.post("/v1/ingest", content=b'{"slot": "ofice"}', headers=EVENTS))
    (problem,) = [body for name, body in refused if name == "problem"]
    assert problem["status"] == 422
    assert problem["kind"] == "InvalidInput"


def test_a_tenant_moves_by_its_lines(
    server: RunningServer, owner: httpx2.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(groups, "GROUP_RECORDS", 10)
    owner.post("/v1/ingest", content=event_lines(5))
    export = owner.get("/v1/export", params={"keys": "true"})
    assert export.headers["content-type"].startswith("application/x-ndjson")

    key = server.key(tenant="copy", user="olga", roles={"owner"})
    with client(server, key) as copy:
        answer = copy.post("/v1/import", content=export.content, headers=EVENTS)
        *progress, (name, report) = events_of(answer)
        assert name == "done"
        assert report["records"] == len(export.text.splitlines()) - 2
        assert progress[-1][1]["records_written"] == report["records"]

        again = copy.post("/v1/import", content=export.content)
        assert (again.status_code, again.json()["code"]) == (409, "tenant_not_empty")
        resumed = copy.post("/v1/import?resume=true", content=export.content)
        assert resumed.status_code == 200
        assert copy.post("/v1/import/abort").json()["code"] == "no_import"
        # The header names the tenant that was exported; all else is the same.
        lines = copy.get("/v1/export", params={"keys": "true"}).text.splitlines()
        assert lines[1:-1] == export.text.splitlines()[1:-1]


def test_a_half_restored_tenant_answers_nobody_and_can_be_emptied(
    server: RunningServer, owner: httpx2.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    owner.post("/v1/ingest", content=event_lines(5))
    export = owner.get("/v1/export").text.splitlines()
    monkeypatch.setattr(groups, "GROUP_RECORDS", 10)
    half = server.memory.bind(tenure.Principal(tenant="half", user="olga", roles={"owner"}))

    class CutOffError(Exception):
        pass

    def cut_off(_: groups.RestoreProgress) -> None:
        raise CutOffError

    with pytest.raises(CutOffError):
        groups.restore(export, half._backend.store, "half", watch=cut_off)

    with client(server, server.key(tenant="half", user="olga", roles={"owner"})) as http:
        refusal = http.get("/v1/log")
        assert (refusal.status_code, refusal.json()["code"]) == (409, "in_progress")
        assert http.post("/v1/import/abort").json() == {"aborted": True}
        assert http.get("/v1/log").json() == []


def test_vectors_are_made_anew_and_counted(owner: httpx2.Client) -> None:
    owner.post("/v1/ingest", content=event_lines(3))
    events = events_of(owner.post("/v1/re_embed", headers=EVENTS))
    assert events[-1][0] == "done"
    assert set(events[-1][1]) == {"embedded", "missing"}


@pytest.mark.parametrize(("path", "body"), [("/v1/sweep", {"limit": 1}), ("/v1/erase", {})])
def test_a_sweep_and_an_erasure_say_that_they_began(
    owner: httpx2.Client, path: str, body: dict[str, Any]
) -> None:
    owner.post("/v1/ingest", content=event_lines(2))
    if path == "/v1/erase":
        body = {"entity": "Line 0", "reason": "asked to"}
    headers = {**EVENTS, "idempotency-key": str(uuid.uuid4())}
    events = events_of(owner.post(path, json=body, headers=headers))
    # A reader gets the newest progress only, so that the beginning may be passed over.
    assert events[0][0] == events[-2][0] == "progress"
    assert events[-1][0] == "done"
    if path == "/v1/erase":
        assert events[-2][1] == {"step": "sessions", "emptied": 0}
        assert events[-1][1]["object_ids"]


def test_an_erasure_says_each_step_that_is_done(server: RunningServer) -> None:
    receipt = server.memory.write("Sam Rivera", "office", "Chicago")
    steps: list[tuple[str, int]] = []
    steward = Steward(server.memory._backend, server.memory.principal)
    steward.erase(
        receipt.object_id,
        None,
        "asked to",
        watch=lambda step, emptied: steps.append((step, emptied)),
    )
    assert steps == [("objects", 1), ("artifacts", 0), ("sessions", 0)]


def test_whole_tenants_need_every_permit(server: RunningServer) -> None:
    routes = [("GET", "/v1/export"), ("POST", "/v1/import"), ("POST", "/v1/re_embed")]
    routes += [("POST", "/v1/import/abort"), ("POST", "/v1/ingest")]
    for method, path in routes:
        with client(server, server.key("memory:read", user="ann")) as reader:
            assert reader.request(method, path).json()["code"] == "permission_required"
        with client(server, server.key(user="ann")) as member:
            assert member.request(method, path).json()["code"] == "privilege_required"
    with client(server, server.owner_key()) as http:
        assert http.get("/v1/export?keys=maybe").json()["code"] == "bad_request"


def test_lines_may_be_longer_than_any_other_body(tmp_path_factory: Any) -> None:
    folder = tmp_path_factory.mktemp("server")
    with (
        tenure.connect(f"{folder}/stores/") as memory,
        serving(memory, folder, max_body_bytes=2_000) as server,
        client(server, server.owner_key()) as http,
    ):
        lines = event_lines(100)
        assert len(lines) > 2_000
        assert http.post("/v1/ingest", content=lines).json()["events"] == 100
        assert http.post("/v1/log", content=b" " * 3_000).status_code == 413
