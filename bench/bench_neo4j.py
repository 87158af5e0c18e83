"""Figures of the server store: single writes, batches against bare Cypher, and reads by size.

    python bench/bench_neo4j.py [10000 100000 1000000] [--version 2026.08.1]

Starts a server of its own (or uses the one at NEO4J_URI). Prints durable single writes through
the client by one thread and by 16, which share commits; the store's batches beside a bare
`UNWIND … CREATE` of the same nodes and relationships under the same constraints; then every read
of `bench_store.py` in turns with an empty round trip, and compiles, at each size, with the rows
and the round trips of each and the growth between the sizes. A read's time includes decoding its
rows.
"""

from __future__ import annotations

import random
import secrets
import statistics
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import neo4j

from tenure import Memory, Write, connect
from tenure.bench.bench_store import (
    GENERATIONS,
    SHOWN,
    SLOTS,
    TENANT,
    WORDS,
    assertion,
    fill,
    reads,
    timed,
)
from tenure.bench.script import parser_of
from tenure.schema.claim import Row
from tenure.schema.principal import OWNER
from tenure.store.neo4j import codec
from tenure.store.neo4j.calls import Reads, Writes
from tenure.store.neo4j.cypher import core as statements
from tenure.store.neo4j.store import open_store
from tenure.store.port.store import Batch, Clock, SlotRecord, TxEvent
from tenure.tests.neo4j_fixtures import wipe
from tenure.tests.neo4j_process import DATABASE
from tenure.tests.neo4j_server import Server, running_server, wanted_version
from tenure.tests.store.apart import ApartStore

BARE = """
UNWIND $rows AS row
CREATE (t:TxEvent {tenant_id: $tenant, seq: row.seq, tx: row.seq, actor: 'ann', op: 'write',
  object_ids: [row.object_id], digest: $digest})
CREATE (s:Slot {tenant_id: $tenant, slot_key: row.slot_key, n: row.seq, subject_id: row.about,
  about_id: row.about, slot: row.slot, scope_id: 'tenant', many: false})
CREATE (e:Entity {tenant_id: $tenant, entity_id: row.about})
CREATE (c:Claim:Live {tenant_id: $tenant, object_id: row.object_id})
SET c += row.props
CREATE (c)-[:ASSERTS]->(s)
CREATE (v:Fact {tenant_id: $tenant, vid: row.seq, slot_key: row.slot_key,
  object_id: row.object_id, scope_id: 'tenant', valid_from: datetime($native),
  recorded_at: datetime($native),
  status: 'clean', reason: '', head: true, deny: false, open: 0})
CREATE (v)-[:VERSION_OF]->(s)
CREATE (v)-[:PIECE_OF]->(c)
CREATE (e)-[:HAS_FACT {valid_from: datetime($native), recorded_at: datetime($native)}]->(v)
"""
ROWS = 1_000


def _bare_write(rows: Any, bound: dict[str, Any], tx: Any) -> object:
    return tx.run(BARE, rows=rows, **bound).consume()


def facts(first: int, rng: random.Random) -> Batch:
    """Return a batch of new facts, each with a slot, an event and a version of its own."""
    numbers = range(first, first + ROWS)
    stated = [assertion(n, n, 1, 0, n, rng) for n in numbers]
    return Batch(
        clock=Clock(numbers[-1], numbers[-1], numbers[-1] + 1, 0),
        events=tuple(
            TxEvent(seq=n, tx=n, actor="ann", op="write", object_ids=(one.claim.object_id,))
            for n, one in zip(numbers, stated, strict=True)
        ),
        slots=tuple(
            SlotRecord(s.claim.slot_key, s.details.subject_id, "slot1", "tenant", False)
            for s in stated
        ),
        claims=tuple(stated),
        rows=tuple(
            Row(n, one.claim, one.claim.interval, SHOWN, n)
            for n, one in zip(numbers, stated, strict=True)
        ),
    )


def batches(server: Server, driver: neo4j.Driver, rounds: int = 8) -> None:
    """Print the store's batches beside the bare statement, in turns, best and median."""
    store = ApartStore(open_store(server.uri, auth=server.auth), lambda t: wipe(driver, t))
    store.ensure(TENANT)
    bare_tenant, rng = f"bare-{secrets.token_hex(4)}", random.Random(1)
    spent: dict[str, list[float]] = {"store": [], "bare": []}
    for turn in range(rounds):
        batch = facts(turn * ROWS + 1, rng)
        start = time.perf_counter()
        with store.writing(TENANT) as tx:
            tx.lock()
            tx.apply(batch)
        spent["store"].append(time.perf_counter() - start)
        rows = [_bare(batch, place, bare_tenant) for place in range(ROWS)]
        start = time.perf_counter()
        bound: dict[str, Any] = {
            "tenant": bare_tenant,
            "native": codec.instant(0),
            "digest": b"\0" * 32,
        }
        with driver.session(database=DATABASE) as session:
            session.execute_write(partial(_bare_write, rows, bound))
        spent["bare"].append(time.perf_counter() - start)
    warm = {name: sorted(times[2:]) for name, times in spent.items()}
    middle = {name: ROWS / times[len(times) // 2] for name, times in warm.items()}
    print(f"\nbatches of {ROWS:,}, medians of {rounds - 2} in turns")
    for name, rate in middle.items():
        print(f"  {name:6} {rate:8,.0f} facts/s")
    print(f"  the store reaches {middle['store'] / middle['bare']:.2f} of bare Cypher")
    wipe(driver, bare_tenant)
    store.wipe()
    store.close()


def _bare(batch: Batch, place: int, tenant: str) -> dict[str, Any]:
    one = batch.claims[place]
    claim = codec.claim_row(one, tenant=tenant, live=True)
    return {
        "seq": batch.events[place].seq,
        "object_id": one.claim.object_id,
        "slot_key": one.claim.slot_key,
        "about": one.details.subject_id,
        "slot": "slot1",
        "props": claim["props"] | {"n": place},
    }


class Counted:
    """Counts the statements that this process sends, by reads and writes, and the commits."""

    def __init__(self) -> None:
        self.reads = self.writes = self.commits = 0
        self._guard = threading.Lock()
        Reads.rows = self._wrapped(Reads.rows, "reads")  # type: ignore[method-assign]
        Writes.rows = self._wrapped(Writes.rows, "writes")  # type: ignore[method-assign]

    def _wrapped(self, real: Any, name: str) -> Any:
        def rows(calls: Any, text: Any, **bound: Any) -> Any:
            with self._guard:
                setattr(self, name, getattr(self, name) + 1)
                self.commits += text is statements.LOCK
            return real(calls, text, **bound)

        return rows


def single_writes(server: Server, driver: neo4j.Driver, counted: Counted, rounds: int = 5) -> None:
    """Print durable single writes through the client, by one thread and by 16, in turns."""
    rates: dict[int, list[float]] = {1: [], 16: []}
    told: dict[int, list[float]] = {1: [0, 0, 0], 16: [0, 0, 0]}
    owner = replace(OWNER, tenant=f"bench-{secrets.token_hex(4)}")
    print(f"\nsingle facts through the client, resolved and reconciled; {rounds} turns of 3 s")
    with connect(server.uri, auth=server.auth, principal=owner) as memory:
        memory.vocabulary.define_slot("city", description="where it is")
        for writers in (1, 16, 1, 16):  # until the server has planned and compiled everything
            _write_for(memory, writers, 6.0)
        for _ in range(rounds):
            for writers, times in rates.items():
                before = counted.writes, counted.commits
                start = time.perf_counter()
                count = _write_for(memory, writers, 3.0)
                times.append(count / (time.perf_counter() - start))
                told[writers][0] += count
                told[writers][1] += counted.writes - before[0]
                told[writers][2] += counted.commits - before[1]
    wipe(driver, owner.tenant)
    for writers, times in rates.items():
        writes, trips, commits = told[writers]
        print(
            f"  {writers:2} threads: {statistics.median(times):8,.0f} writes/s"
            f"   {writes / commits:5.1f} writes and {trips / commits + 2:5.1f} trips a commit"
        )
    ratios = [many / one for one, many in zip(rates[1], rates[16], strict=True)]
    print(
        f"  16 threads write {statistics.median(ratios):.1f} times as much as one"
        f" ({min(ratios):.1f} to {max(ratios):.1f})"
    )


def _write_for(memory: Memory, writers: int, seconds: float) -> int:
    until, counts = time.perf_counter() + seconds, [0] * writers

    def work(writer: int) -> None:
        mark = secrets.token_hex(3)
        while time.perf_counter() < until:
            name = f"Site {mark} {writer} {counts[writer] // 4}"
            memory.write(
                subject={"name": name, "type": "organization"},
                slot="city",
                value=f"city {counts[writer]}",
                valid_from=f"2024-01-0{1 + counts[writer] % 4}T00:00:00Z",
            )
            counts[writer] += 1

    threads = [threading.Thread(target=work, args=(n,)) for n in range(writers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(counts)


PEOPLE = [f"Person {n} Of{n}" for n in range(20)]


class Compiled(NamedTuple):
    """Median microseconds of a compile on the server, of an embedded one and of an empty trip."""

    server: float
    embedded: float
    trip: float

    def line(self, name: str, trips: float) -> str:
        """What is printed of them, with the multiple of what they may take."""
        bar = 1.3 * self.embedded + 3 * self.trip
        return (
            f"  {name:22} p50 {self.server:10.1f} us   {trips:.1f} trips, embedded"
            f" {self.embedded:.1f} us, an empty trip {self.trip:.1f} us:"
            f" {self.server / bar:.2f} of 1.3 x that and three empty trips"
        )


STARTED_COMPILES, WARM_COMPILES = 480, 2_000
"""Compiles that a server has answered when it counts as just started, and as warm.

A server compiles its own code while it works: the first hundreds take several times what later
ones do, and each thousand makes the next some hundredths cheaper until about here.
"""


def compiles(
    server: Server, tenant: str, counted: Counted, trip: Callable[[int], object], count: int = 200
) -> float:
    """Print what a compile takes here and embedded, and return the median microseconds here.

    The request names one of twenty people who manage each other, among everything there is; an
    embedded store that the tenant was exported to answers the same ones. In turns with it and with
    an empty trip, each when the manifests of the one before are kept: once by a server that has
    just started, once by a warm one. Last each in a row, where the manifest of one is kept while
    the next is made.
    """
    owner = replace(OWNER, tenant=tenant)
    with (
        tempfile.TemporaryDirectory() as folder,
        connect(server.uri, auth=server.auth, principal=owner) as memory,
        connect(f"{folder}/beside.db", principal=owner) as embedded,
    ):
        pairs = zip(PEOPLE, [PEOPLE[-1], *PEOPLE], strict=False)
        memory.write_many([Write(subject=who, slot="manager", value=boss) for who, boss in pairs])
        memory.export(Path(folder) / "tenant.jsonl")
        embedded.import_file(Path(folder) / "tenant.jsonl")

        calls = {"server": _compile_of(memory), "embedded": _compile_of(embedded), "trip": trip}
        stores, answered = (memory, embedded), 0
        for name, compiles_before in (("just started", STARTED_COMPILES), ("warm", WARM_COMPILES)):
            for store in stores:
                timed(_compile_of(store), compiles_before - answered)
                store.flush()

            before = counted.reads
            in_turn = _compiled_in_turns(stores, calls, count)
            trips = (counted.reads - before) / count
            answered = compiles_before + count
            print(in_turn.line(f"compile, {name}", trips), flush=True)

        in_a_row = Compiled(**{name: timed(call, count)[0] for name, call in calls.items()})
        print(in_a_row.line("compile, in a row", trips))
        return in_turn.server


def _compiled_in_turns(
    stores: Sequence[Memory], calls: Mapping[str, Callable[[int], object]], count: int
) -> Compiled:
    times: dict[str, list[float]] = {name: [] for name in calls}
    for number in range(count):
        for name, call in calls.items():
            start = time.perf_counter()
            call(number)
            times[name].append((time.perf_counter() - start) * 1e6)
            for store in stores:
                store.flush()

    return Compiled(**{name: statistics.median(spent) for name, spent in times.items()})


def _compile_of(memory: Memory) -> Callable[[int], object]:
    """A compile that differs by its number; the same numbers ask the same of every store."""

    def call(number: int) -> object:
        chance = random.Random(number)
        words = " ".join(chance.sample(WORDS, 4))
        return memory.compile(
            "analytical_reporting",
            f"who is the manager of {chance.choice(PEOPLE)}, {words}",
            budget_tokens=4000,
        )

    return call


def empty_trip(driver: neo4j.Driver) -> Callable[[int], object]:
    """Return a call that asks the server for nothing."""

    def call(_: int) -> object:
        with driver.session(database=DATABASE, default_access_mode=neo4j.READ_ACCESS) as session:
            return list(session.run("RETURN 1"))

    return call


def measure(
    server: Server, driver: neo4j.Driver, counted: Counted, versions: int, *, keep: bool
) -> dict[str, float]:
    """Build one size, print its figures and return the medians."""
    store = ApartStore(open_store(server.uri, auth=server.auth), lambda t: wipe(driver, t))
    claims, spent = fill(store, versions)
    print(f"\n{versions:,} rows, {claims:,} claims: {claims / spent:,.0f} writes/s in batches")
    trip = empty_trip(driver)
    timed(trip, 200)
    base, tail = timed(trip, 300)
    print(f"  {'empty round trip':22} p50 {base:10.1f} us   p99 {tail:10.1f} us")
    found = {"empty round trip": base}
    with store.reading(TENANT) as reader:
        entities = max(claims // (SLOTS * GENERATIONS), 1)
        for name, call in reads(reader, entities, reader.clock().last_us).items():
            count = 40 if "search" in name else 200
            timed(call, count)
            before = reader.round_trips
            rows: list[int] = []
            (median, tail), (base, _) = in_turns(partial(_into, rows, call), trip, count)
            trips = (reader.round_trips - before) / count
            print(
                f"  {name:22} p50 {median:10.1f} us   p99 {tail:10.1f} us"
                f"   {trips:.0f} trips, {statistics.median(rows):5,.0f} rows,"
                f" x {median / base:.1f} of an empty one"
            )
            found[name] = median
    found["compile"] = compiles(server, store.real(TENANT), counted, trip)
    if keep:
        return found
    store.wipe()
    store.close()
    return found


def in_turns(
    call: Callable[[int], object], trip: Callable[[int], object], count: int
) -> tuple[tuple[float, float], tuple[float, float]]:
    """Return what `timed` says of a call and of an empty trip after each.

    In turns, because the machine is not alone, and because a server that is asked nothing but
    `RETURN 1` a hundred times running answers sooner than one that has other work between.
    """
    calls: list[float] = []
    trips: list[float] = []
    for number in range(count):
        for act, times in ((call, calls), (trip, trips)):
            start = time.perf_counter()
            act(number)
            times.append((time.perf_counter() - start) * 1e6)

    call_figures, trip_figures = [
        (statistics.median(times), sorted(times)[int(count * 0.99)]) for times in (calls, trips)
    ]
    return call_figures, trip_figures


def _into(rows: list[int], call: Callable[[int], Any], number: int) -> None:
    rows.append(len(call(number).versions))


def main() -> None:
    parser = parser_of(__doc__, version=wanted_version(), reads=False)
    parser.add_argument("sizes", nargs="*", type=int, default=[10_000, 100_000])
    given = parser.parse_args()
    with (
        running_server(given.version) as server,
        neo4j.GraphDatabase.driver(server.uri, auth=server.auth) as driver,
    ):
        print(f"Neo4j {server.version}")
        open_store(server.uri, auth=server.auth).close()
        counted = Counted()
        if not given.reads:
            single_writes(server, driver, counted)
            batches(server, driver)
        found = [
            measure(server, driver, counted, size, keep=size == given.sizes[-1])
            for size in given.sizes
        ]
    if len(found) > 1:
        print(f"\ngrowth from {given.sizes[0]:,} to {given.sizes[-1]:,} rows")
        for read, median in found[-1].items():
            print(f"  {read:22} x {median / found[0][read]:.2f}")


if __name__ == "__main__":
    main()
