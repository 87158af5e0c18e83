"""A conversation that goes on from wherever its session stands: for a process that gets killed."""

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
        session.on_turn_start("question")
    elif state.open_units:
        call_id = state.open_units[0].open_calls[0]
        text = "word " * 320
        session.on_tool_result(call_id, {"id": f"REF{state.turn}X", "text": text})
    elif state.units[-1].is_user:
        function = {"name": "look", "arguments": json.dumps({"n": state.turn})}
        session.on_step({"tool_calls": [{"id": f"c{state.turn}", "function": function}]})
    else:
        session.on_turn_end(f"answer {state.turn}")


def is_over(session: Session, turns: int = TURNS) -> bool:
    """Whether everything was said."""
    return session.state.turn >= turns and not session.state.in_turn


def opened_session(memory: Memory, name: str, *, resume: bool = True) -> Session:
    """The session as every process opens it; one that talks alone resumes a turn left open."""
    return memory.session(name, window=9_000, goal="Rebook", resume=resume)


def opened(store: str) -> Memory:
    """A store: a file, or a server as the tenant and with the credentials of the environment."""
    tenant = os.environ.get("TALKER_TENANT")
    if tenant is None:
        return connect(store)
    user, _, password = os.environ["TALKER_AUTH"].partition("/")
    auth = (user, password) if user else None
    return connect(store, auth=auth, principal=replace(OWNER, tenant=tenant))


def main(store: str, name: str, mode: str = "alone") -> None:
    """Talk, and say the number of each event once it is kept."""
    with opened(store) as memory:
        session = opened_session(memory, name, resume=mode == "alone")
        own_turn = session.state.turn if mode == "alone" else 0
        while not is_over(session):
            is_own = session.state.turn == own_turn
            if session.state.in_turn and not is_own and session.state.turn >= TURNS:
                return
            try:
                if session.state.in_turn and not is_own:
                    # Refused for as long as the other process has its turn open.
                    session.on_turn_start("question")
                else:
                    act(session)
            except Conflict as conflict:
                # The other process was faster; what it wrote is read, and decided on again.
                if conflict.code not in ("stale_version", "turn_open_elsewhere"):
                    raise
                print("lost", flush=True)
            else:
                if session.state.in_turn:
                    own_turn = session.state.turn
                print(session.state.seq, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
