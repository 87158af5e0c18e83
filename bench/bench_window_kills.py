"""Sessions whose process is killed without warning, 200 times on each store.

A process talks through a session of 24 turns with calls, results, edits and checkpoints, and is
killed (SIGKILL) at a random moment, also inside an edit. The next one goes on from the log. After
each kill the store's own checks must be silent and no event that was told of may be missing; each
session that ends must have the events, the window and the request of one that nobody killed.

Run: `python bench/bench_window_kills.py [--kills 200] [--neo4j]`.
"""

from __future__ import annotations

import os
import secrets
import tempfile
from functools import partial
from pathlib import Path

from tenure.bench.script import options_of
from tenure.tests.neo4j_server import running_server, wanted_version
from tenure.tests.service.session_kills import SERVER_LONGEST, check_kills, check_two

TOGETHER = 10
KEPT = ": no event lost or doubled, the same next request"


def tell(store: str, kills: int) -> None:
    """Say how far it is."""
    print(f"\r{store}: {kills} kills", end="", flush=True)


def on_a_file(kills: int) -> None:
    """Kill writers of a file."""
    with tempfile.TemporaryDirectory() as folder:
        check_kills(str(Path(folder) / "crash.db"), kills, tell=partial(tell, "SQLite"))
        print(KEPT, flush=True)
        print_two(str(Path(folder) / "two.db"), "SQLite")


def print_two(store: str, name: str) -> None:
    """Let two processes talk through sessions at once, and say how often one lost an append."""
    losses = 0
    for number in range(TOGETHER):
        losses += check_two(store, f"both{number}")
    print(f"{name}: {TOGETHER} sessions by two processes, {losses} appends lost and decided anew")


def on_a_server(kills: int) -> None:
    """Kill clients of a Neo4j."""
    with running_server(wanted_version()) as server:
        os.environ["TALKER_TENANT"] = f"kills-{secrets.token_hex(4)}"
        os.environ["TALKER_AUTH"] = "/".join(server.auth or ())
        name = f"Neo4j {server.version}"
        check_kills(server.uri, kills, longest=SERVER_LONGEST, tell=partial(tell, name))
        print(KEPT, flush=True)
        print_two(server.uri, name)


def main() -> None:
    arguments = options_of(__doc__, kills=200, neo4j=False)
    if arguments.neo4j:
        on_a_server(arguments.kills)
    else:
        on_a_file(arguments.kills)


if __name__ == "__main__":
    main()
