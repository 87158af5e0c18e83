"""Whatever way an erasure comes, the answers that a server keeps for retries lose what it took."""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any, NamedTuple

import httpx2
import pytest
from typer.testing import CliRunner

import tenure
from tenure.faces.cli.main import app
from tenure.faces.http.api import AnswerBook
from tenure.faces.http.control import ControlFile
from tenure.tests.faces.http.served import RunningServer, serving
from tenure.tests.support.refusals import refused

NAME = "Mara Lindqvist"


class Place(NamedTuple):
    """A store in a file, its server, and what ends the server."""

    store: Path
    server: RunningServer
    stop: Callable[[], None]

    @property
    def control(self) -> Path:
        return self.server.control.path

    def post(self, path: str, body: dict[str, Any], key: str) -> httpx2.Response:
        headers = {
            "authorization": f"Bearer {self.server.owner_key()}",
            "idempotency-key": key,
        }
        return httpx2.post(self.server.url + path, json=body, headers=headers, timeout=30)


@pytest.fixture(params=["team.db.control", "elsewhere.control"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Place]:
    store = tmp_path / "team.db"
    with ExitStack() as stack:
        memory = stack.enter_context(tenure.connect(str(store)))
        server = stack.enter_context(serving(memory, tmp_path, request.param))
        yield Place(store, server, stack.close)


def by_command(place: Place) -> None:
    flags = ["--store", str(place.store), "erase", "--entity", NAME, "--reason", "asked", "--yes"]
    assert CliRunner().invoke(app, flags).exit_code == 0


def by_library(place: Place) -> None:
    with tenure.connect(str(place.store)) as memory:
        memory.erase(entity=NAME, reason="asked")


def by_http(place: Place) -> None:
    answer = place.post("/v1/erase", {"entity": NAME, "reason": "asked"}, "erasure")
    assert answer.status_code == 200, answer.text


def by_remote(place: Place) -> None:
    with tenure.connect(place.server.url, token=place.server.owner_key()) as memory:
        memory.erase(entity=NAME, reason="asked")


def by_second_server(place: Place) -> None:
    folder = place.store.parent
    with (
        tenure.connect(str(place.store)) as memory,
        serving(memory, folder, place.control.name) as server,
        tenure.connect(server.url, token=server.owner_key()) as client,
    ):
        client.erase(entity=NAME, reason="asked")


def by_command_while_no_server_runs(place: Place) -> None:
    place.stop()
    by_command(place)


WAYS = (
    *(by_command, by_library, by_http, by_remote, by_second_server),
    by_command_while_no_server_runs,
)


@pytest.mark.parametrize("erase", WAYS, ids=lambda way: way.__name__)
def test_no_kept_answer_names_the_erased(place: Place, erase: Callable[[Place], None]) -> None:
    if place.control.name == "elsewhere.control" and erase not in (by_http, by_remote):
        pytest.skip("a file of another name is known to its own server alone")
    fact = {"subject": NAME, "slot": "office", "value": "Chicago"}
    written = place.post("/v1/write", fact, "lindqvist-1")
    assert written.status_code == 200
    alias = {"entity": written.json()["entity"], "alias": "Mara L. Lindqvist"}
    added = place.post("/v1/entities/add_alias", alias, "lindqvist-2")
    assert added.status_code == 200, added.text
    other = place.post("/v1/write", {**fact, "subject": "Olof Berg"}, "berg-1")
    words = b"indqvist"
    assert words in place.control.read_bytes()

    erase(place)
    for path in place.store.parent.glob("*.control*"):
        assert words not in path.read_bytes(), path
    if erase is not by_command_while_no_server_runs:
        refusal = place.post("/v1/write", fact, "lindqvist-1")
        assert (refusal.status_code, refusal.json()["code"]) == (409, "answer_erased")
        again = place.post("/v1/write", {**fact, "subject": "Olof Berg"}, "berg-1")
        assert again.content == other.content


def test_a_key_is_kept_as_a_keyed_hash(tmp_path: Path) -> None:
    caller = tenure.Principal(user="ann")
    with closing(ControlFile(tmp_path / "c.control")) as control:
        assert AnswerBook(control).begin(caller, "lindqvist-7", b"request") is None
    with closing(ControlFile(tmp_path / "c.control")) as control:
        book = AnswerBook(control)
        with pytest.raises(tenure.Conflict, match="another request"):
            book.begin(caller, "lindqvist-7", b"other request")
    assert b"lindqvist" not in (tmp_path / "c.control").read_bytes()


def test_a_control_file_that_is_damaged_says_so(tmp_path: Path) -> None:
    with tenure.connect(str(tmp_path / "team.db")) as memory:
        memory.write(NAME, "office", "Chicago")
        (tmp_path / "team.db.control").write_bytes(b"this is no database" * 100)
        with refused(tenure.Unavailable, "answers_unreachable"):
            memory.erase(entity=NAME, reason="asked")


def test_a_control_file_of_no_server_yet_is_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "team.db.control"
    with closing(sqlite3.connect(path)) as db:
        db.execute("CREATE TABLE other (x)")
    with tenure.connect(str(tmp_path / "team.db")) as memory:
        memory.write(NAME, "office", "Chicago")
        memory.erase(entity=NAME, reason="asked")
