"""kill -9 at random points of sessions, and what must stand in their logs afterwards."""

import random
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from tenure import Memory, connect
from tenure.service.sessions.session import Session
from tenure.tests.service.session_talker import TURNS, act, is_over, opened, opened_session
from tenure.window.layout import native_messages

SEED = 11
SERVER_LONGEST = 1.5
"""Seconds until a kill at most where the store is a server: it takes longer for a session."""
TALKER = Path(__file__).with_name("session_talker.py")


def check_kills(
    store: str, count: int, *, longest: float = 0.4, tell: Callable[[int], None] = lambda _: None
) -> None:
    """Kill a talking process so often; each session that ends is held against a calm one.

    A process that was done before its time was up counts as no kill. `tell` hears of each kill.

    Raises:
        AssertionError: when an event was lost or doubled, or the next request is another one.
    """
    chance = random.Random(SEED)
    kills = number = 0
    while kills < count:
        name = f"s{number}"
        acknowledged, running = killed_after(store, name, chance.uniform(0.02, longest))
        kills += running
        tell(kills)
        with opened(store) as memory:
            assert memory.doctor() == ()
            session = opened_session(memory, name)
            assert session.state.seq >= acknowledged
            if is_over(session):
                check_log(memory, name)
                number += 1

    with opened(store) as memory:
        check_log(memory, f"s{number}")


def killed_after(store: str, name: str, seconds: float) -> tuple[int, bool]:
    """Let a process talk, kill it without warning: the last event it told, and whether it ran."""
    command = [sys.executable, str(TALKER), store, name]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    lines = [process.stdout.readline()]
    time.sleep(seconds)
    running = process.poll() is None
    process.kill()
    tail, _ = process.communicate()
    # What stands behind the last line break was cut off by the kill.
    whole_lines = "".join([*lines, tail]).split("\n")[:-1]
    return int(whole_lines[-1]) if whole_lines else 0, running


def check_two(store: str, name: str) -> int:
    """Let two processes talk through one session at once; how often one of them lost an append.

    Raises:
        AssertionError: when one of them failed, or the log is not that of one alone.
    """
    command = [sys.executable, str(TALKER), store, name, "beside another"]
    talkers = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    lines: list[str] = []
    for talker in talkers:
        output, _ = talker.communicate()
        lines += output.split()
    assert [talker.returncode for talker in talkers] == [0, 0]

    with opened(store) as memory:
        assert memory.doctor() == ()
        check_log(memory, name)
    return lines.count("lost")


def check_log(memory: Memory, name: str) -> None:
    """Go on to the end: the log, and so every request, is that of a process never killed."""
    killed = talked_out(memory, name)
    assert killed.state.edits > 0
    with connect(":memory:") as calm_memory:
        # Two processes that begin the last turn at once have one turn more.
        calm = talked_out(calm_memory, name, turns=killed.state.turn)
        assert told(killed) == told(calm)

    assert killed.state.units == calm.state.units
    requests = [native_messages(session.state, "anthropic") for session in (killed, calm)]
    assert requests[0] == requests[1]


def talked_out(memory: Memory, name: str, *, turns: int = TURNS) -> Session:
    """The session, after all its turns."""
    session = opened_session(memory, name)
    while not is_over(session, turns):
        act(session)
    return session


def told(session: Session) -> list[tuple[str, object, object]]:
    """The events of a session, without what is drawn anew in each store."""
    events: list[tuple[str, object, object]] = []
    for event in session.events():
        # The id of a checkpoint's claim is drawn anew in each store.
        body = {name: value for name, value in event.body.items() if name != "object"}
        events.append((event.kind.value, body, event.texts))
    return events
