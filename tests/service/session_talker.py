"""A conversation that goes on from wherever its session stands: for a process that gets killed."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import replace

from tenure import Memory, connect
from tenure.schema.errors import Conflict
from tenure.schema.principal import OWNER
from tenure.service.sessions.session import Session

TURNS = 24


def act(session: Session) -> None:
    """Do what comes next; the log alone decides what that is, so a killed process goes on."""
    state = session.state
    if not state.in_turn:
        session.on_turn_start(f"question {state.turn}")
    elif state.open_units:
        call_id = state.open_units[0].open_calls[0]
        text = "word " * 150
        session.on_tool_result(call_id, {"id": f"REF{state.turn}X", "text": text})
    elif state.units[-1].is_user:
        function = {"name": "look", "arguments": json.dumps({"n": state.turn})}
        session.on_step({"tool_calls": [{"id": f"c{state.turn}", "function": function}]})
    else:
        session.on_turn_end(f"answer {state.turn}")


def is_over(session: Session) -> bool:
    """Whether everything was said."""
    return session.state.turn >= TURNS and not session.state.in_turn


def opened_session(memory: Memory, name: str) -> Session:
    """The session as every process opens it."""
    return memory.session(name, window=9_000, goal="Rebook")


def opened(store: str) -> Memory:
    """A store: a file, or a server as the tenant and with the credentials of the environment."""
    tenant = os.environ.get("TALKER_TENANT")
    if tenant is None:
        return connect(store)
    user, _, password = os.environ["TALKER_AUTH"].partition("/")
    auth = (user, password) if user else None
    return connect(store, auth=auth, principal=replace(OWNER, tenant=tenant))


def main(store: str, name: str) -> None:
    """Talk, and say the number of each event once it is kept."""
    with opened(store) as memory:
        session = opened_session(memory, name)
        while not is_over(session):
            try:
                act(session)
            except Conflict as conflict:
                # Somebody else was faster; what they wrote is read, and decided on anew.
                if conflict.code != "stale_version":
                    raise
                print("lost", flush=True)
            else:
                print(session.state.seq, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
