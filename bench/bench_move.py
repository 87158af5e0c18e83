"""Moving a whole tenant to a server, with its process killed on the way.

    python bench/bench_move.py [--events 50000] [--kills 3] [--seed 1] [--file EXPORT]

Fills an embedded store with events of a stamp each (names, a value that changes, texts), exports
it, and imports the file twice: into another embedded store, and into Neo4j with a heap of 2 GB by
`tenure import` in a process that is killed with SIGKILL some times and resumed. Beside that the
same lines go to the server as bare nodes, by UNWIND and CREATE: what no import can be faster than.
Prints records, seconds, kills and how the rates compare (without kills they do), and exits with an
error unless the server's export has the same records, line by line, and its doctor finds nothing.
Filling takes the longest; with `--file` it is done once, and what stands there is moved.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import random
import secrets
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from neo4j import GraphDatabase

from tenure import connect
from tenure.schema.principal import OWNER
from tenure.tests.neo4j_process import DATABASE
from tenure.tests.neo4j_server import Server, running_server, wanted_version

WORDS = "budget travel contract renewal office lunch meeting plan invoice deadline".split()
PEOPLE = 2_000
BARE_AT_ONCE = 1_000
"""Nodes in a transaction of the bare import."""


def history(events: int, rng: random.Random) -> Iterator[dict[str, Any]]:
    """Events a second apart: three of four state a fact, the fourth a text."""
    start = datetime(2026, 1, 1, tzinfo=UTC)
    for number in range(events):
        person = {"name": f"Person {rng.randrange(PEOPLE)}", "type": "person"}
        event: dict[str, Any] = {
            "recorded_at": (start + timedelta(seconds=number)).isoformat(),
            "op": "assert",
            "subject": person,
        }
        if number % 4:
            event |= {
                "slot": rng.choice(["office", "title"]),
                "value": f"{rng.choice(WORDS)} {number}",
            }
        else:
            event |= {"slot": "note", "value": " ".join(rng.choices(WORDS, k=12))}
        yield event


def export_of_history(path: Path, events: int, rng: random.Random) -> None:
    """Fill an embedded store and export it, unless that was done before."""
    if path.exists():
        return
    began = time.perf_counter()
    with (
        tempfile.TemporaryDirectory() as name,
        connect(str(Path(name) / "from.db"), durability="normal") as memory,
    ):
        memory.vocabulary.define_slot("note", description="What somebody said.", cardinality="many")
        memory.replay_import(history(events, rng))
        seconds = time.perf_counter() - began
        report = memory.export(path)
    print(f"{events:,} events filled in {seconds:.0f} s: {report.records:,} records")


SCRIPT = [sys.executable, "-P", "-m", "tenure"]


def command(server: Server, tenant: str, *words: str) -> tuple[list[str], dict[str, str]]:
    """The words and the environment of a command on the server."""
    user, password = server.auth or ("", "")
    settings = {"TENURE_AUTH__USER": user, "TENURE_AUTH__PASSWORD": password}
    options = ["--store", server.uri, "--tenant", tenant]
    return [*SCRIPT, *options, *words], {**os.environ, **settings}


def embedded_seconds(folder: Path, export: Path) -> float:
    """Import a file into an embedded store, by the same command, and return the seconds."""
    began = time.perf_counter()
    words = [*SCRIPT, "--store", str(folder / "beside.db"), "import", str(export)]
    subprocess.run(words, check=True)
    return time.perf_counter() - began


def move(server: Server, tenant: str, export: Path, kills: int, rng: random.Random) -> float:
    """Import a file, and return the seconds; the process dies so many times before it may end."""
    began = time.perf_counter()
    for number in range(kills + 1):
        words, environment = command(server, tenant, "import", str(export), "--resume")
        process = subprocess.Popen(words, env=environment)
        if number == kills:
            if process.wait() != 0:
                raise SystemExit("the last import failed")
            break

        time.sleep(rng.uniform(15, 40))
        if process.poll() is not None:
            print(f"  it had ended before kill {number + 1}")
            break
        process.send_signal(signal.SIGKILL)
        process.wait()
        print(f"  killed after {time.perf_counter() - began:.0f} s")
    return time.perf_counter() - began


def bare_seconds(server: Server, export: Path) -> float:
    """Store each line of a file as a node without index, edge or check, and return the seconds."""
    lines = export.read_text(encoding="utf-8").splitlines()
    began = time.perf_counter()
    with GraphDatabase.driver(server.uri, auth=server.auth) as driver:
        for position in range(0, len(lines), BARE_AT_ONCE):
            part = lines[position : position + BARE_AT_ONCE]
            driver.execute_query(
                "UNWIND $lines AS line CREATE (:Bare {line: line})", lines=part, database_=DATABASE
            )
        return time.perf_counter() - began


def digest_of(path: Path) -> tuple[str, int]:
    """The SHA-256 of the records of an export, and how many there are."""
    digest, records = hashlib.sha256(), 0
    with path.open("rb") as file:
        lines = iter(file)
        next(lines)
        for line in lines:
            if not line.startswith(b'{"end"'):
                digest.update(line)
                records += 1
    return digest.hexdigest(), records


def main() -> None:
    """Fill, export, move, compare."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--events", type=int, default=50_000)
    parser.add_argument("--kills", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--file", type=Path, help="the export; made where it is not there")
    options = parser.parse_args()

    rng = random.Random(options.seed)
    tenant = f"move-{secrets.token_hex(4)}"
    with tempfile.TemporaryDirectory() as name, ExitStack() as ends:
        folder = Path(name)
        export = options.file or folder / "tenant.jsonl"
        export_of_history(export, options.events, rng)
        beside = embedded_seconds(folder, export)
        server = ends.enter_context(running_server(wanted_version()))
        bare = bare_seconds(server, export)
        seconds = move(server, tenant, export, options.kills, rng)
        print(
            f"imported in {seconds:.0f} s ({options.events / seconds:.0f} events/s), into an"
            f" embedded store in {beside:.0f} s: {beside / seconds:.2f} of its rate; as bare nodes"
            f" in {bare:.0f} s: {bare / seconds:.2f} of theirs"
        )

        principal = replace(OWNER, tenant=tenant)
        with connect(
            server.uri, auth=server.auth, database=DATABASE, principal=principal
        ) as memory:
            problems = memory.doctor()
            memory.export(folder / "back.jsonl")

        first, second = digest_of(export), digest_of(folder / "back.jsonl")
        print(
            f"records: {first[1]:,} left, {second[1]:,} arrived; doctor: {len(problems)} problems"
        )
        if first != second or problems:
            raise SystemExit(f"the tenants differ: {first} {second} {problems[:3]}")
        print("every record arrived once")


if __name__ == "__main__":
    main()
