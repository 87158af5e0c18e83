"""kill -9 in the middle of a session: no event is lost, none is doubled, and it goes on."""

from __future__ import annotations

import random
import secrets
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tenure import connect
from tenure.service.sessions.session import Session
from tenure.tests.neo4j_fixtures import wipe
from tenure.tests.service.session_talker import TURNS, act, opened
from tenure.window.layout import native_messages

if TYPE_CHECKING:
    import neo4j

    from tenure.tests.neo4j_server import Server

SERVER_KILLS = 20
TALKER = Path(__file__).with_name("session_talker.py")


def killed_after(store: str, seconds: float) -> int:
    """Let a process talk, kill it without warning, and return the last event that it told of."""
    process = subprocess.Popen(
        [sys.executable, str(TALKER), store], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    lines = [process.stdout.readline()]
    time.sleep(seconds)
    process.kill()
    tail, _ = process.communicate()
    # What stands behind the last line break was cut off by the kill.
    whole_lines = "".join([*lines, tail]).split("\n")[:-1]
    return int(whole_lines[-1]) if whole_lines else 0


def told(session: Session) -> list[tuple[str, object, object]]:
    events: list[tuple[str, object, object]] = []
    for event in session.events():
        # The id of a checkpoint's claim is drawn anew in each store.
        body = {name: value for name, value in event.body.items() if name != "object"}
        events.append((event.kind.value, body, event.texts))
    return events


def check_kills(store: str, count: int, *, longest: float = 0.4) -> None:
    chance = random.Random(11)
    for _ in range(count):
        acknowledged = killed_after(store, chance.uniform(0.02, longest))
        with opened(store) as memory:
            assert memory.doctor() == ()
            assert memory.session("s1", window=9_000, goal="Rebook").state.seq >= acknowledged

    with opened(store) as memory, connect(":memory:") as calm_memory:
        sessions = [
            opener.session("s1", window=9_000, goal="Rebook") for opener in (memory, calm_memory)
        ]
        for session in sessions:
            while session.state.turn < TURNS or session.state.in_turn:
                act(session)

        # The log, and so every request, is that of a process which was never killed.
        killed, calm = sessions
        assert killed.state.edits > 0
        assert told(killed) == told(calm)
        assert killed.state.units == calm.state.units
        requests = [native_messages(session.state, "anthropic") for session in sessions]
        assert requests[0] == requests[1]


def test_three_kills_leave_the_log_of_an_undisturbed_session(tmp_path: Path) -> None:
    check_kills(str(tmp_path / "crash.db"), 3)


@pytest.mark.slow
def test_thirty_kills_leave_the_log_of_an_undisturbed_session(tmp_path: Path) -> None:
    check_kills(str(tmp_path / "crash.db"), 30)


@pytest.mark.slow
@pytest.mark.integration
def test_kills_of_a_client_leave_the_log_on_a_server_whole(
    neo4j_server: Server, neo4j_driver: neo4j.Driver, monkeypatch: pytest.MonkeyPatch
) -> None:
    tenant = f"test-{secrets.token_hex(8)}"
    monkeypatch.setenv("TALKER_TENANT", tenant)
    monkeypatch.setenv("TALKER_AUTH", "/".join(neo4j_server.auth or ()))
    try:
        check_kills(neo4j_server.uri, SERVER_KILLS, longest=1.5)
    finally:
        wipe(neo4j_driver, tenant)
