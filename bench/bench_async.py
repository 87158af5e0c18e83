"""Reads of the server store side by side: worker threads, and the driver's async API.

    python bench/bench_async.py [--version 5.26.29] [--at-once 200] [--rounds 10]

Starts a server of its own (or uses the one at NEO4J_URI). Reads `value()` of 200 people at once,
in three ways and in turns: `aconnect`, which runs each call on a worker thread; the statements of
the same reads on worker threads, with their rows left as the driver gives them; these statements
through the driver's async API. The third is the least that a native async reader could cost, and
the second is what it would replace. Prints medians for each read: CPU time of this process, and
wall time of the whole divided by the reads.
"""

from __future__ import annotations

import asyncio
import statistics
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any
from unittest.mock import patch

import neo4j

from tenure import Memory, Write, aconnect, connect
from tenure.bench.script import options_of
from tenure.schema.principal import OWNER
from tenure.store.neo4j.calls import FETCH
from tenure.store.neo4j.connect import driver_settings
from tenure.tests.neo4j_fixtures import wipe
from tenure.tests.neo4j_process import DATABASE
from tenure.tests.neo4j_server import Server, running_server, wanted_version

TENANT = "bench-async"
WHO = replace(OWNER, tenant=TENANT)
Statement = tuple[neo4j.Query, dict[str, Any]]
Way = Callable[[int], Awaitable[object]]


def person(number: int) -> str:
    """The name of a person."""
    return f"Person {chr(65 + number // 26)}{chr(65 + number % 26)} Numbered"


def statements_of(memory: Memory, number: int) -> tuple[Statement, ...]:
    """The statements of one read, with their parameters, as the store runs them."""
    statements: list[Statement] = []
    run = neo4j.Session.run

    def noting(self: neo4j.Session, query: Any, parameters: Any = None, **more: Any) -> Any:
        statements.append((query, parameters))
        return run(self, query, parameters, **more)

    with patch.object(neo4j.Session, "run", noting):
        memory.as_of().value(person(number), "office")
    return tuple(statements)


async def measure(at_once: int, rounds: int, ways: dict[str, Way]) -> None:
    """Print what a read costs by each way, in turns."""
    cpu: dict[str, list[float]] = {name: [] for name in ways}
    wall: dict[str, list[float]] = {name: [] for name in ways}
    for turn in range(rounds + 1):
        for name, way in ways.items():
            cpu_start, start = time.process_time(), time.perf_counter()
            await asyncio.gather(*map(way, range(at_once)))
            if turn:  # the first opens connections and plans statements
                cpu[name].append((time.process_time() - cpu_start) / at_once)
                wall[name].append((time.perf_counter() - start) / at_once)
    print(f"{at_once} reads at once, medians of {rounds} rounds in turns, ms a read")
    print(f"  {'way':<38} {'CPU':>6} {'wall':>6}")
    for name in ways:
        cpu_s, wall_s = statistics.median(cpu[name]), statistics.median(wall[name])
        print(f"  {name:<38} {1_000 * cpu_s:6.2f} {1_000 * wall_s:6.2f}")


async def compare(server: Server, at_once: int, rounds: int) -> None:
    """Fill a tenant and measure the three ways."""
    with connect(server.uri, auth=server.auth, principal=WHO) as memory:
        memory.write_many(
            [Write(subject=person(n), slot="office", value=f"Room {n}") for n in range(at_once)]
        )
        statements = [statements_of(memory, number) for number in range(at_once)]
    print(f"a read runs {len(statements[-1])} statements")

    driver = neo4j.GraphDatabase.driver(server.uri, auth=server.auth, **driver_settings())
    native = neo4j.AsyncGraphDatabase.driver(server.uri, auth=server.auth, **driver_settings())
    options: dict[str, Any] = {
        "database": DATABASE,
        "default_access_mode": neo4j.READ_ACCESS,
        "fetch_size": FETCH,
    }

    def rows_on_a_thread(number: int) -> list[list[neo4j.Record]]:
        with driver.session(**options) as session:
            return [list(session.run(*statement)) for statement in statements[number]]

    async def rows_natively(number: int) -> list[list[neo4j.Record]]:
        async with native.session(**options) as session:
            return [
                [row async for row in await session.run(*statement)]
                for statement in statements[number]
            ]

    async with native, aconnect(server.uri, auth=server.auth, principal=WHO) as twin:

        async def value(number: int) -> object:
            return await (await twin.as_of()).value(person(number), "office")

        assert await value(3) == "Room 3"
        assert rows_on_a_thread(3) == await rows_natively(3)
        ways: dict[str, Way] = {
            "value() on worker threads (aconnect)": value,
            "its statements on worker threads": lambda n: asyncio.to_thread(rows_on_a_thread, n),
            "its statements, the driver's async API": rows_natively,
        }
        await measure(at_once, rounds, ways)
    wipe(driver, TENANT)
    driver.close()


def main() -> None:
    """Run the comparison on one server."""
    arguments = options_of(__doc__, version=wanted_version(), at_once=200, rounds=10)
    with running_server(arguments.version) as server:
        asyncio.run(compare(server, arguments.at_once, arguments.rounds))


if __name__ == "__main__":
    main()
