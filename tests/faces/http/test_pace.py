"""A caller who asks too often is told when to go on; nobody else waits for it."""

from collections.abc import Iterator

import httpx2
import pytest

import tenure
from tenure.faces.http.connections import CallPace
from tenure.tests.faces.http.served import RunningServer, serving
from tenure.tests.support.refusals import refused


@pytest.fixture
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    folder = tmp_path_factory.mktemp("server")
    with (
        tenure.connect(f"{folder}/stores/") as memory,
        serving(memory, folder, calls_per_minute=3) as server,
    ):
        yield server


def ask(server: RunningServer, key: str, path: str = "/v1/log") -> httpx2.Response:
    headers = {"authorization": f"Bearer {key}"}
    return httpx2.get(server.url + path, headers=headers, timeout=30)


def test_a_caller_who_asks_too_often_is_told_when_to_go_on(server: RunningServer) -> None:
    first, second = server.key(user="ann"), server.key(user="ann")
    assert [ask(server, key).status_code for key in (first, second, first)] == [200] * 3

    refusal = ask(server, second)
    assert refusal.status_code == 429
    assert refusal.json()["code"] == "too_many_requests"
    assert 1 <= int(refusal.headers["retry-after"]) <= 60

    # Another one, and what asks for no credential, go on.
    assert ask(server, server.key(user="lee")).status_code == 200
    assert ask(server, first, "/healthz").status_code == 200


def test_a_remote_client_meets_it_as_what_a_retry_may_mend(server: RunningServer) -> None:
    with (
        tenure.connect(server.url, token=server.key(user="kim")) as memory,
        refused(tenure.Unavailable, "too_many_requests"),
    ):
        for _ in range(5):
            memory.log()


def test_without_a_limit_nobody_is_counted() -> None:
    pace = CallPace(None)
    for _ in range(1_000):
        pace.count(tenure.Principal(user="ann"))
