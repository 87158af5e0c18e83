"""What clients do at the edges: they go away, they only want the head, they need an error's facts."""

from __future__ import annotations

import logging
import socket
import time
from collections.abc import Iterator

import pytest

import tenure
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
