"""Moving a whole tenant to a server, with its process killed on the way.

    python bench/bench_move.py [--events 50000] [--kills 3] [--turns 3] [--seed 1] [--file EXPORT]

Fills an embedded store with events of a stamp each (names, a value that changes, texts), exports
it, and imports the file twice: into another embedded store, and into Neo4j with a heap of 2 GB by
`tenure import` in a process that is killed with SIGKILL some times and resumed. Beside that the
same lines go to the server as bare nodes, and their records as a bare graph: the same nodes,
properties, labels, indices and relationships by one short statement a kind, with rows made
beforehand and nothing checked, which no import into this schema can be faster than.
Prints records, seconds, kills and how the rates compare (without kills they do), and exits with an
error unless the server's export has the same records, line by line, and its doctor finds nothing.
Filling takes the longest; with `--file` it is done once, and what stands there is moved. All of it
is done `--turns` times on one server, whose first turn is its slowest, for it compiles its own
code meanwhile; the medians of the ratios stand below.
"""

from __future__ import annotations

import hashlib
import os
import random
import secrets
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

from neo4j import GraphDatabase

from tenure import connect
from tenure.bench.script import fresh_memory, options_of
from tenure.schema.principal import OWNER
from tenure.store.neo4j import codec
from tenure.store.neo4j.store import open_store
from tenure.store.port.store import RecordKind, TxEvent
from tenure.store.transfer.transfer import check_lines, record_of
from tenure.tests.neo4j_process import DATABASE
from tenure.tests.neo4j_server import Server, running_server, wanted_version

WORDS = "budget travel contract renewal office lunch meeting plan invoice deadline".split()
PEOPLE = 2_000
BARE_AT_ONCE = 1_000
"""Nodes in a transaction of the bare imports."""
Rows = dict[str, list[dict[str, Any]]]
"""What the statements of the bare graph unwind, by kind of record."""

GRAPH = {
    "event": "CREATE (t:TxEvent {tenant_id: $tenant}) SET t += row",
    "entity": "CREATE (e:Entity {tenant_id: $tenant}) SET e += row",
    "alias": "MATCH (e:Entity {tenant_id: $tenant, entity_id: row.props.entity_id})"
    " CREATE (a:Alias {tenant_id: $tenant, alias_key: row.alias_key})-[:ALIAS_OF]->(e)"
    " SET a += row.props, a.n = row.n",
    "block_keys": "CREATE (m:Norm {tenant_id: $tenant, norm: row.norm})"
    " WITH m, row UNWIND row.keys AS key"
    " MERGE (b:BlockKey {tenant_id: $tenant, key: key[0]}) ON CREATE SET b.kind = key[1]"
    " CREATE (m)-[:HAS_KEY]->(b)",
    "slot": "CREATE (s:Slot {tenant_id: $tenant, about_id: row.subject_id}) SET s += row",
    "claim": "MATCH (s:Slot {tenant_id: $tenant, slot_key: row.slot_key})"
    " CREATE (c:Claim {tenant_id: $tenant, object_id: row.object_id})-[:ASSERTS]->(s)"
    " SET c += row.props, c.n = row.n",
    "row": "MATCH (c:Claim {tenant_id: $tenant, object_id: row.object_id})-[:ASSERTS]->(s:Slot)"
    " MATCH (e:Entity {tenant_id: $tenant, entity_id: c.subject_id})"
    " CREATE (v:Fact {tenant_id: $tenant, slot_key: s.slot_key})"
    " SET v += row"
    " CREATE (v)-[:VERSION_OF]->(s) CREATE (v)-[:PIECE_OF]->(c)"
    " CREATE (e)-[:HAS_FACT {valid_from: row.valid_from, valid_to: row.valid_to,"
    " recorded_at: row.recorded_at, replaced_at: row.replaced_at}]->(v)",
    "live": "MATCH (c:Claim {tenant_id: $tenant, object_id: row.object_id}) SET c:Live",
    "receipt": "CREATE (r:Receipt {tenant_id: $tenant}) SET r += row",
    "edge": "MATCH (a:Claim {tenant_id: $tenant, object_id: row.src})"
    " MATCH (b:Claim {tenant_id: $tenant, object_id: row.dst})"
    " CREATE (a)-[:SUPERSEDES {n: row.n, valid_from: row.valid_from,"
    " valid_until: row.valid_until, reason: row.reason, relation: row.relation, tx: row.tx}]->(b)",
}
"""The statements of the bare graph, each behind `UNWIND $rows AS row`, in their order."""


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
    with fresh_memory(durability="normal") as memory:
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


def move(server: Server, tenant: str, export: Path, waits: Sequence[float]) -> float:
    """Import a file, and return the seconds; the process dies after each wait before it may end."""
    began = time.perf_counter()
    words, environment = command(server, tenant, "import", str(export), "--resume")
    for number, wait in enumerate([*waits, None], start=1):
        process = subprocess.Popen(words, env=environment)
        if wait is None:
            if process.wait() != 0:
                raise SystemExit("the last import failed")
            break

        time.sleep(wait)
        if process.poll() is not None:
            print(f"  it had ended before kill {number}")
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


def graph_rows(export: Path, tenant: str) -> Rows:
    """The records of a file as properties of nodes and relationships, by kind."""
    encoders: dict[RecordKind, Callable[[Any], dict[str, Any]]] = {
        RecordKind.EVENT: event_row,
        RecordKind.ENTITY: codec.entity_row,
        RecordKind.ALIAS: codec.alias_row,
        RecordKind.BLOCK_KEYS: lambda norm: {
            "norm": norm.norm,
            "keys": list(map(list, norm.keys)),
        },
        RecordKind.SLOT: codec.slot_row,
        RecordKind.CLAIM: lambda one: codec.claim_row(one, tenant=tenant, live=False),
        RecordKind.ROW: codec.version_row,
        RecordKind.RECEIPT: codec.receipt_row,
        RecordKind.EDGE: codec.edge_row,
    }
    lines: list[str] = []
    with export.open(encoding="utf-8") as file:
        header = check_lines(file, lines.append, lambda _: None).header

    rows: Rows = {kind: [] for kind in GRAPH}
    _, *record_lines, _ = lines  # between the header and the footer
    for number, line in enumerate(record_lines, 1):
        kind, record = record_of(line, header)
        if kind in encoders:
            rows[kind.value].append(encoders[kind](record) | {"n": number})

    heads = [row for row in rows["row"] if row["open"] == codec.HEAD]
    rows["live"] = [{"object_id": row["object_id"]} for row in heads]
    return rows


def event_row(event: TxEvent) -> dict[str, Any]:
    """The properties of an event, with a digest that seals nothing."""
    return {
        "seq": event.seq,
        "tx": event.tx,
        "actor": event.actor,
        "op": event.op,
        "object_ids": list(event.object_ids),
        "digest": bytes(32),
    }


def graph_seconds(server: Server, export: Path) -> float:
    """Store the records of a file as the graph that they become, and return the seconds."""
    tenant = f"graph-{secrets.token_hex(4)}"
    rows = graph_rows(export, tenant)
    began = time.perf_counter()
    with GraphDatabase.driver(server.uri, auth=server.auth) as driver:
        for kind, text in GRAPH.items():
            for position in range(0, len(rows[kind]), BARE_AT_ONCE):
                driver.execute_query(
                    f"UNWIND $rows AS row {text}",
                    rows=rows[kind][position : position + BARE_AT_ONCE],
                    tenant=tenant,
                    database_=DATABASE,
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


class Rates(NamedTuple):
    """The rate of an import as a multiple of the rate of what is done beside it."""

    embedded: float
    nodes: float
    graph: float


def turn(server: Server, tenant: str, export: Path, kills: int, rng: random.Random) -> Rates:
    """Import a file each way, print how the rates compare, and return that."""
    with tempfile.TemporaryDirectory() as folder:
        embedded = embedded_seconds(Path(folder), export)
    bare = bare_seconds(server, export)
    open_store(server.uri, auth=server.auth).ensure(tenant)  # which makes the indices
    graph = graph_seconds(server, export)
    # An embedded store takes half as long or less, so that most kills meet the middle of the work.
    waits = [rng.uniform(0.5, 1.5) * embedded for _ in range(kills)]
    seconds = move(server, tenant, export, waits)
    rates = Rates(embedded / seconds, bare / seconds, graph / seconds)
    print(
        f"imported in {seconds:.1f} s, into an embedded store in {embedded:.1f} s:"
        f" {rates.embedded:.2f} of its rate; as bare nodes in {bare:.1f} s:"
        f" {rates.nodes:.2f} of theirs; as a bare graph under the same indices in"
        f" {graph:.1f} s: {rates.graph:.2f} of its rate; load {os.getloadavg()[0]:.1f}",
        flush=True,
    )
    return rates


def print_medians(turns: Sequence[Rates]) -> None:
    """Print the medians of all turns, and what the first one was, whose server was cold."""
    middle, first = Rates(*map(statistics.median, zip(*turns, strict=True))), turns[0]
    print(
        f"medians of {len(turns)} turns: {middle.embedded:.2f} of the rate of an embedded store"
        f" ({first.embedded:.2f} in the first, on a cold server), {middle.graph:.2f} of that of a"
        f" bare graph, {middle.nodes:.2f} of that of bare nodes"
    )


def check(server: Server, tenant: str, export: Path, folder: Path) -> None:
    """Exit with an error unless a tenant holds the records of a file, each once."""
    principal = replace(OWNER, tenant=tenant)
    with connect(server.uri, auth=server.auth, database=DATABASE, principal=principal) as memory:
        problems = memory.doctor()
        memory.export(folder / "back.jsonl")

    first, second = digest_of(export), digest_of(folder / "back.jsonl")
    print(f"records: {first[1]:,} left, {second[1]:,} arrived; doctor: {len(problems)} problems")
    if first != second or problems:
        raise SystemExit(f"the tenants differ: {first} {second} {problems[:3]}")
    print("every record arrived once")


def main() -> None:
    """Fill, export, move, compare."""
    options = options_of(__doc__, events=50_000, kills=3, turns=3, seed=1, file=Path)
    rng = random.Random(options.seed)
    with tempfile.TemporaryDirectory() as name, running_server(wanted_version()) as server:
        folder = Path(name)
        export = options.file or folder / "tenant.jsonl"
        export_of_history(export, options.events, rng)
        tenants = [f"move-{secrets.token_hex(4)}" for _ in range(options.turns)]
        print_medians([turn(server, tenant, export, options.kills, rng) for tenant in tenants])
        check(server, tenants[-1], export, folder)


if __name__ == "__main__":
    main()
