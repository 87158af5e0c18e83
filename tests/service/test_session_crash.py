"""kill -9 in the middle of a session: no event is lost, none is doubled, and it goes on."""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tenure.tests.neo4j_fixtures import wipe
from tenure.tests.service.session_kills import SERVER_LONGEST, check_kills, check_two
from tenure.tests.support.sampling import size

if TYPE_CHECKING:
    import neo4j

    from tenure.tests.neo4j_server import Server

SERVER_KILLS = size(6, 20)


def test_three_kills_leave_the_log_of_an_undisturbed_session(tmp_path: Path) -> None:
    check_kills(str(tmp_path / "crash.db"), 3)


def test_two_processes_on_one_session_make_the_log_of_one(tmp_path: Path) -> None:
    check_two(str(tmp_path / "two.db"), "s1")


@pytest.mark.slow
def test_kills_leave_the_log_of_an_undisturbed_session(tmp_path: Path) -> None:
    check_kills(str(tmp_path / "crash.db"), size(6, 30))


@pytest.mark.slow
@pytest.mark.integration
def test_kills_of_a_client_leave_the_log_on_a_server_whole(
    neo4j_server: Server, neo4j_driver: neo4j.Driver, monkeypatch: pytest.MonkeyPatch
) -> None:
    tenant = f"test-{secrets.token_hex(8)}"
    monkeypatch.setenv("TALKER_TENANT", tenant)
    monkeypatch.setenv("TALKER_AUTH", "/".join(neo4j_server.auth or ()))
    try:
        check_kills(neo4j_server.uri, SERVER_KILLS, longest=SERVER_LONGEST)
    finally:
        wipe(neo4j_driver, tenant)
