"""Loading a history: events of a stamp each, into an embedded store and into Neo4j.

    python bench/bench_history.py [--events 6000] [--turns 3] [--people 2000] [--seed 1] [--server]

Writes a file of events a second apart, of which three of four state a fact that changes and the
fourth a text, about people of whom most are met more than once. Loads it by `memory.ingest` with
`replay` and, without its stamps, as a plain import; with `--server` into Neo4j too, each turn into
a tenant of its own, in turns on one server. Prints events a second, the CPU time of this process,
and the medians of the ratios. New names are most of the work: with few people the rates are higher.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import secrets
import statistics
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from tenure import Memory, connect
from tenure.bench.bench_move import history
from tenure.bench.script import fresh_memory, options_of
from tenure.schema.principal import OWNER
from tenure.tests.neo4j_process import DATABASE
from tenure.tests.neo4j_server import Server, running_server, wanted_version

Walls = dict[tuple[str, str], float]
"""Seconds by file and place."""


class Seconds(NamedTuple):
    """What one load took."""

    wall: float
    cpu: float
    """Of this process; a server's is not in it."""


def events_of(count: int, people: int, rng: random.Random) -> list[dict[str, Any]]:
    """A history about some people."""
    events = list(history(count, rng))
    for event in events:
        event["subject"]["name"] = f"Person {rng.randrange(people)}"
    return events


def write_file(path: Path, events: list[dict[str, Any]]) -> None:
    """Write events, a line each."""
    path.write_text("".join(json.dumps(event) + "\n" for event in events), encoding="utf-8")


def load(memory: Memory, path: Path, *, replay: bool) -> Seconds:
    """Load a file into an empty tenant."""
    memory.vocabulary.define_slot("note", description="What somebody said.", cardinality="many")
    wall, cpu = time.perf_counter(), time.process_time()
    memory.ingest(path, replay=replay)
    return Seconds(time.perf_counter() - wall, time.process_time() - cpu)


def embedded(path: Path, *, replay: bool) -> Seconds:
    """Load a file into a new embedded store."""
    with fresh_memory() as memory:
        return load(memory, path, replay=replay)


def served(server: Server, path: Path, *, replay: bool) -> Seconds:
    """Load a file into a new tenant of a server."""
    principal = replace(OWNER, tenant=f"history-{secrets.token_hex(4)}")
    with connect(server.uri, auth=server.auth, database=DATABASE, principal=principal) as memory:
        return load(memory, path, replay=replay)


def print_line(name: str, events: int, seconds: Seconds) -> None:
    """Print the rate of one load."""
    print(
        f"{name}: {events / seconds.wall:,.0f} events/s, {seconds.cpu / events * 1000:.2f} ms of"
        f" CPU an event; load {os.getloadavg()[0]:.1f}",
        flush=True,
    )


def turn(files: dict[str, Path], events: int, places: dict[str, Callable[..., Seconds]]) -> Walls:
    """Load each file into each place; return the walls by (file, place)."""
    walls: Walls = {}
    for file_name, path in files.items():
        for place, run in places.items():
            seconds = run(path, replay=file_name == "replay")
            print_line(f"{file_name}, {place}", events, seconds)
            walls[file_name, place] = seconds.wall
    return walls


def main() -> None:
    """Write the files, load them in turns, compare."""
    options = options_of(__doc__, events=6_000, turns=3, people=2_000, seed=1, server=False)
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        events = events_of(options.events, options.people, random.Random(options.seed))
        files = {"replay": folder / "replay.jsonl", "plain": folder / "plain.jsonl"}
        write_file(files["replay"], events)
        for event in events:
            del event["recorded_at"]
        write_file(files["plain"], events)

        places: dict[str, Callable[..., Seconds]] = {"embedded": embedded}
        if options.server:
            server = stack.enter_context(running_server(wanted_version()))

            def into_server(path: Path, *, replay: bool) -> Seconds:
                return served(server, path, replay=replay)

            places["neo4j"] = into_server

        turns = [turn(files, options.events, places) for _ in range(options.turns)]
        plain = [walls["plain", "embedded"] / walls["replay", "embedded"] for walls in turns]
        print(f"embedded, a replay at {statistics.median(plain):.2f} of a plain import's rate")
        if options.server:
            for name in files:
                ratios = [walls[name, "embedded"] / walls[name, "neo4j"] for walls in turns]
                print(
                    f"neo4j, {name}: {statistics.median(ratios):.2f} of the embedded rate"
                    f" ({ratios[0]:.2f} in the first turn, on a cold server)"
                )


if __name__ == "__main__":
    main()
