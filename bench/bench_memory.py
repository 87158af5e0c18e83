"""What the client costs over the embedded store, and how that grows: 10k, 100k, 1M versions.

    python bench/bench_memory.py [--sizes 10000,100000,1000000] [--json FILE]

Writes (single durable by one and by sixteen threads, batched), as-of point reads, timelines,
two hops, differences and compiles, each at every size, with the growth from the smallest to
the largest. Figures are medians of one run on one machine: read them as ratios.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import tempfile
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from tenure import Memory, Write, connect

SLOTS = ("office", "title", "timezone", "experience_level", "party", "seat", "code_style",
         "output_format", "manager", "team")  # fmt: skip
GENERATIONS = 5
ROWS_PER_PERSON = 118
START = datetime(2020, 1, 1, tzinfo=UTC)
THREADS = 16


def seed(memory: Memory, versions: int) -> list[str]:
    """Fill a store with people until it holds about so many versions; return their ids."""
    people = max(20, versions // ROWS_PER_PERSON)
    chance, ids = random.Random(1), []
    for first in range(0, people, 200):
        batch = [
            Write(subject=f"Person {n} Of{n}", slot="office", value="Start", valid_from=START)
            for n in range(first, min(first + 200, people))
        ]
        ids += [receipt.entity or "" for receipt in memory.write_many(batch)]
    for generation in range(GENERATIONS):
        at = START + timedelta(days=100 * (generation + 1))
        for first in range(0, people, 50):
            batch = [
                Write(subject=ids[n], slot=slot, value=value(slot, n, generation, ids, chance),
                      valid_from=at)
                for n in range(first, min(first + 50, people))
                for slot in SLOTS
            ]  # fmt: skip
            memory.write_many(batch)
    return ids


def value(slot: str, n: int, generation: int, ids: list[str], chance: random.Random) -> str:
    if slot == "manager":
        return ids[chance.randrange(len(ids))]
    if slot == "team":
        return ids[(n // 8) * 8 % len(ids)]
    return f"{slot} {generation} of {n}"


def median_us(call: Callable[[int], object], rounds: int) -> float:
    """Return the median of single calls in microseconds."""
    times = []
    for number in range(rounds):
        began = time.perf_counter()
        call(number)
        times.append(time.perf_counter() - began)
    return statistics.median(times) * 1e6


def rate(calls: int, work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return calls / (time.perf_counter() - began)


def sixteen(memory: Memory, ids: list[str], each: int) -> Callable[[], None]:
    def write(thread: int) -> None:
        for number in range(each):
            memory.write(subject=ids[(thread * 97 + number * 7) % len(ids)], slot="office",
                         value=f"T{thread}-{number}")  # fmt: skip

    def work() -> None:
        threads = [threading.Thread(target=write, args=(n,)) for n in range(THREADS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    return work


def compile_once(memory: Memory, number: int) -> object:
    return memory.compile(
        "analytical_reporting",
        f"what is the office and title of Person {number} Of{number}",
        user_request="Report on the person's office and title.",
        budget_tokens=4000,
    )


def measure(folder: Path, versions: int) -> dict[str, float]:
    """Return every figure at one size."""
    path, chance = folder / f"{versions}.db", random.Random(2)
    with connect(str(path)) as memory:
        seeded = time.perf_counter()
        ids = seed(memory, versions)
        seconds = time.perf_counter() - seeded
        with memory._backend.store.reading("default") as reader:
            held = reader.clock().next_vid - 1
        view, old = memory.as_of(), memory.as_of("2020-06-01T00:00:00Z")
        whole = memory.as_of()
        last = whole.tx
        assert last is not None
        pick = [ids[chance.randrange(len(ids))] for _ in range(4000)]
        found = {
            "versions": held,
            "seed writes/s": (len(ids) * (1 + GENERATIONS * len(SLOTS))) / seconds,
            "now, value µs": median_us(lambda n: view.value(pick[n], "title"), 4000),
            "as-of, value µs": median_us(lambda n: old.value(pick[n], "office"), 4000),
            "as-of, slot µs": median_us(lambda n: view.slot(pick[n], "title"), 1000),
            "timeline µs": median_us(lambda n: view.timeline(pick[n], "title"), 500),
            "two hops µs": median_us(lambda n: view.neighbourhood(pick[n], hops=2), 200),
            "diff of 100 writes µs": median_us(
                lambda n: memory.diff(last - timedelta(milliseconds=1), last), 50
            ),
            "compile ms": median_us(lambda n: compile_once(memory, n % len(ids)), 60) / 1000,
            "writes/s, 1 thread": rate(
                200, lambda: [memory.write(subject=pick[n], slot="title", value=f"W{n}")
                              for n in range(200)]),
            "writes/s, 16 threads": rate(THREADS * 200, sixteen(memory, ids, 200)),
            "writes/s, batched": rate(
                1000, lambda: memory.write_many(
                    [Write(subject=pick[n], slot="seat", value=f"B{n}") for n in range(1000)])),
        }  # fmt: skip
        found["file MB"] = path.stat().st_size / 1e6
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", default="10000,100000,1000000")
    parser.add_argument("--json", type=Path, default=Path("bench/results/memory.json"))
    given = parser.parse_args()
    sizes = [int(size) for size in given.sizes.split(",")]
    found: dict[int, dict[str, float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for size in sizes:
            found[size] = measure(Path(folder), size)
    show(found)
    given.json.parent.mkdir(parents=True, exist_ok=True)
    given.json.write_text(json.dumps(found, indent=1))


def show(found: dict[int, dict[str, Any]]) -> None:
    sizes = list(found)
    table = Table("", *(f"{size:,}" for size in sizes), "growth", title="embedded store, durable")
    for name in found[sizes[0]]:
        row = [found[size][name] for size in sizes]
        growth = f"{row[-1] / row[0]:.2f}x" if row[0] else ""
        table.add_row(name, *(f"{number:,.1f}" for number in row), growth)
    Console(width=110).print(table)


if __name__ == "__main__":
    main()
