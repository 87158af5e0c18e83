"""Lists of `/v1` by pages and by lines: what a cursor is good for, and for whom."""

import json
import uuid
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

import tenure
from tenure.faces.http.openapi import description
from tenure.faces.http.paging import NDJSON, is_listing
from tenure.service.calls.table import CALLS, path_of
from tenure.tests.faces.http.served import RunningServer, client, serving

NAMES = tuple(f"Person {letter}" for letter in "ABCDEFG")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    folder = tmp_path_factory.mktemp("server")
    with tenure.connect(f"{folder}/stores/") as memory, serving(memory, folder) as server:
        for name in NAMES:
            memory.write(tenure.EntityRef(name=name, type="person"), "office", "Chicago")
        yield server


def pages(http: httpx2.Client, path: str, **question: Any) -> Iterator[dict[str, Any]]:
    cursor: str | None = ""
    while cursor is not None:
        parameters = question | ({"cursor": cursor} if cursor else {})
        response = http.get(path, params=parameters)
        assert response.status_code == 200, response.text
        page = response.json()
        yield page
        cursor = page["next_cursor"]


def refusal(response: Any) -> tuple[int, str]:
    return response.status_code, response.json()["code"]


@pytest.mark.parametrize("path", ["/v1/entities/list", "/v1/log", "/v1/view/timeline"])
def test_the_pages_together_are_the_list(owner: httpx2.Client, path: str) -> None:
    question = {"entity": NAMES[0], "slot": "office"} if "view" in path else {}
    whole = owner.get(path, params=question).json()
    walked = [
        entry for page in pages(owner, path, page_size=2, **question) for entry in page["items"]
    ]
    assert walked == whole
    assert whole


def test_a_page_of_a_log_reaches_beyond_the_limit_of_the_call(
    server: RunningServer, owner: httpx2.Client
) -> None:
    for number in range(60):
        server.memory.write("Busy Person", "office", f"Room {number}")
    assert len(owner.get("/v1/log").json()) == 50
    assert sum(len(page["items"]) for page in pages(owner, "/v1/log", page_size=40)) >= 67


def test_what_comes_or_goes_before_a_page_moves_nothing(
    server: RunningServer, owner: httpx2.Client
) -> None:
    first = owner.get("/v1/log", params={"page_size": 3}).json()
    expected = owner.get("/v1/log", params={"limit": 6}).json()[3:]
    server.memory.write("New Person", "office", "Rome")
    parameters = {"page_size": 3, "cursor": first["next_cursor"]}
    assert owner.get("/v1/log", params=parameters).json()["items"] == expected


def test_later_pages_of_a_view_are_as_of_the_point_of_the_first(
    server: RunningServer, owner: httpx2.Client
) -> None:
    server.memory.write("Moving Person", "office", "Rome", valid_from="2026-01-01T00:00:00Z")
    server.memory.write("Moving Person", "office", "Oslo", valid_from="2026-02-01T00:00:00Z")
    question = {"entity": "Moving Person", "slot": "office"}
    first = owner.get("/v1/view/timeline", params={**question, "page_size": 1}).json()
    server.memory.write(
        "Moving Person", "office", "Bern", valid_from="2026-02-01T00:00:00Z", op="correct"
    )

    parameters = {**question, "page_size": 500, "cursor": first["next_cursor"]}
    second = owner.get("/v1/view/timeline", params=parameters).json()
    assert [first["tx"], first["valid"]] == [second["tx"], second["valid"]]
    assert "Oslo" in json.dumps(second["items"])
    assert "Bern" not in json.dumps(second["items"])


def test_a_cursor_is_good_for_its_caller_and_its_question_alone(
    server: RunningServer, owner: httpx2.Client
) -> None:
    cursor = owner.get("/v1/entities/list", params={"page_size": 2}).json()["next_cursor"]
    question = {"page_size": 2, "cursor": cursor}
    assert owner.get("/v1/entities/list", params=question).status_code == 200

    bad = (400, "bad_cursor")
    filtered = {**question, "type": "person"}
    assert refusal(owner.get("/v1/entities/list", params=filtered)) == bad
    assert refusal(owner.get("/v1/log", params=question)) == bad
    for edited in (cursor[:-4] + "AAAA", cursor[4:], "é", "x" * 40):
        question = {"page_size": 2, "cursor": edited}
        assert refusal(owner.get("/v1/entities/list", params=question)) == bad

    question = {"page_size": 2, "cursor": cursor}
    for fields in ({"user": "lee"}, {"user": "olga", "tenant": "other", "roles": {"owner"}}):
        with client(server, server.key(**fields)) as other:
            assert refusal(other.get("/v1/entities/list", params=question)) == bad


@pytest.mark.parametrize("size", ["0", "501", "two", "-1", "٣", "9" * 40])
def test_the_size_of_a_page_has_bounds(owner: httpx2.Client, size: str) -> None:
    response = owner.get("/v1/entities/list", params={"page_size": size})
    assert refusal(response) == (422, "bad_request")


def test_a_body_may_ask_and_the_address_say_the_page(owner: httpx2.Client) -> None:
    response = owner.post("/v1/entities/list", params={"page_size": 1}, json={"type": "person"})
    assert len(response.json()["items"]) == 1


def test_a_list_comes_one_entry_a_line(owner: httpx2.Client) -> None:
    response = owner.get("/v1/entities/list", headers={"accept": NDJSON})
    assert response.headers["content-type"].startswith(NDJSON)
    entries = [json.loads(line) for line in response.text.splitlines()]
    assert entries == owner.get("/v1/entities/list").json()


def test_every_list_has_pages_and_nothing_else_has(owner: httpx2.Client) -> None:
    paths = description()["paths"]
    for call in CALLS:
        operation = paths[path_of(call)]["post"]
        names = {parameter["name"] for parameter in operation.get("parameters", ())}
        assert ("cursor" in names) == is_listing(call), call.name
    assert sum(map(is_listing, CALLS)) >= 15

    key = {"idempotency-key": str(uuid.uuid4())}
    body = {"text": "Hello", "page_size": 2}
    assert owner.post("/v1/observe", json=body, headers=key).status_code == 422
