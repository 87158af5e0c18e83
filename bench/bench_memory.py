"""What the client costs over the embedded store, and how that grows: 10k, 100k, 1M versions.

    python bench/bench_memory.py [--sizes 10000,100000,1000000] [--folder PATH] [--json FILE]

Writes (single durable by one and by sixteen threads, batched), as-of point reads, timelines,
two hops, differences and compiles, each at every size, with the growth from the smallest to
the largest. Reads are measured by the CPU of their thread, writes three times in turns by the
clock and by the CPU of the process. Figures are medians of one run: read them as ratios. With
`--folder` the stores stay there, and those that it holds are measured as they are.
"""

from __future__ import annotations

import itertools
import json
import random
import statistics
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

from tenure import Memory, Write, connect
from tenure.bench.script import median_ms, options_of, print_table, write_json

SLOTS = ("office", "title", "timezone", "experience_level", "party", "seat", "code_style",
         "output_format", "manager", "team")  # fmt: skip
GENERATIONS = 5
ROWS_PER_PERSON = 118
START = datetime(2020, 1, 1, tzinfo=UTC)
RELATIONS = ("manager", "team")
FACTS = 600
"""How many facts are read once and again: fewer than a store of 10,000 versions has."""
THREADS = 16
TURNS = 3


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


class Cost(NamedTuple):
    """What a write takes, by the clock and of the CPU."""

    rate: float
    cpu_ms: float


def cost(writes: int, work: Callable[[], object]) -> Cost:
    """Return what each of so many writes takes."""
    began, cpu_began = time.perf_counter(), time.process_time()
    work()
    cpu, seconds = time.process_time() - cpu_began, time.perf_counter() - began
    return Cost(writes / seconds, cpu / writes * 1000)


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


def stored(folder: Path, versions: int) -> tuple[Path, list[str]]:
    """A store of this size and its people; a folder keeps both from run to run."""
    path, people = folder / f"{versions}.db", folder / f"{versions}.json"
    if not people.exists():
        path.unlink(missing_ok=True)  # a filling that was cut off
        with connect(str(path)) as memory:
            ids = seed(memory, versions)
        people.write_text(json.dumps(ids))
    return path, json.loads(people.read_text())


def reads(memory: Memory, ids: list[str]) -> dict[str, float]:
    """Return the medians of reads at random places."""
    chance = random.Random(2)
    view, old = memory.as_of(), memory.as_of("2020-06-01T00:00:00Z")
    last = view.tx
    assert last is not None
    pick = [ids[chance.randrange(len(ids))] for _ in range(4000)]
    before = last - timedelta(milliseconds=1)
    # As many facts at every size, each once and then again: of a small store all that is picked at
    # random was decoded before, of a large one hardly anything.
    facts = [(person, slot) for person in ids for slot in SLOTS if slot not in RELATIONS]
    facts = chance.sample(facts, FACTS)
    changes = len(memory.diff(before, last))
    first = median_ms(lambda n: view.value(*facts[n]), FACTS)
    again = median_ms(lambda n: view.value(*facts[n]), FACTS)
    medians_ms = {
        "a fact, first read": first,
        "a fact, read again": again,
        "now, value": median_ms(lambda n: view.value(pick[n], "title"), 4000),
        "as-of, value": median_ms(lambda n: old.value(pick[n], "office"), 4000),
        "as-of, slot": median_ms(lambda n: view.slot(pick[n], "title"), 1000),
        "timeline": median_ms(lambda n: view.timeline(pick[n], "title"), 500),
        "two hops": median_ms(lambda n: view.neighbourhood(pick[n], hops=2), 200),
        "diff, of a change": median_ms(lambda n: memory.diff(before, last), 50) / changes,
    }
    figures = {f"{name} µs": 1000 * ms for name, ms in medians_ms.items()}
    figures["compile ms"] = median_ms(lambda n: compile_once(memory, n % len(ids)), 60)
    return figures


def writes(memory: Memory, ids: list[str]) -> dict[str, float]:
    """Return what writes of the three kinds take, each kind in its turn."""
    chance = random.Random(3)
    pick = [ids[chance.randrange(len(ids))] for _ in range(1000)]
    batches = [
        [
            Write(subject=person, slot="seat", value=f"B{first}")
            for person in pick[first : first + 100]
        ]
        for first in range(0, len(pick), 100)
    ]
    serial = itertools.count()

    def one_by_one() -> None:
        for person in pick[:200]:
            memory.write(subject=person, slot="title", value=f"W{next(serial)}")

    def batched() -> None:
        for batch in batches:
            memory.write_many(batch)

    kinds: dict[str, tuple[int, Callable[[], object]]] = {
        "1 thread": (200, one_by_one),
        "16 threads": (THREADS * 200, sixteen(memory, ids, 200)),
        "batches of 100": (len(pick), batched),
    }
    costs: dict[str, list[Cost]] = {name: [] for name in kinds}
    for _ in range(TURNS):
        for name, (count, work) in kinds.items():
            costs[name].append(cost(count, work))

    figures: dict[str, float] = {}
    for name, taken in costs.items():
        figures[f"writes/s, {name}"] = statistics.median(each.rate for each in taken)
        figures[f"CPU ms a write, {name}"] = statistics.median(each.cpu_ms for each in taken)
    alone, threads = costs["1 thread"], costs["16 threads"]
    pairs = list(zip(threads, alone, strict=True))
    figures["rate, 16 threads over 1"] = statistics.median(b.rate / a.rate for b, a in pairs)
    figures["CPU, 16 threads over 1"] = statistics.median(b.cpu_ms / a.cpu_ms for b, a in pairs)
    return figures


def page_in(path: Path) -> None:
    """Have the system's cache hold a file: fetching pages from the disk costs CPU, too."""
    with path.open("rb") as file:
        while file.read(1 << 24):
            pass


def measure(folder: Path, versions: int) -> dict[str, float]:
    """Return every figure at one size."""
    path, ids = stored(folder, versions)
    page_in(path)
    with connect(str(path)) as memory:
        with memory._backend.store.reading("default") as reader:
            held = reader.clock().next_vid - 1
        figures = {"versions": float(held), **reads(memory, ids), **writes(memory, ids)}
        figures["file MB"] = path.stat().st_size / 1e6
    return figures


def main() -> None:
    default_file = Path("bench/results/memory.json")
    options = options_of(__doc__, sizes="10000,100000,1000000", json=default_file, folder=Path)
    sizes = [int(size) for size in options.sizes.split(",")]
    found: dict[int, dict[str, float]] = {}
    if options.folder:
        options.folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as passing:
        for size in sizes:
            found[size] = measure(options.folder or Path(passing), size)
    heads = *(f"{size:,}" for size in sizes), "growth"
    print_table("", *heads, rows=rows_of(found), title="embedded store, durable")
    write_json(options.json, found)


def rows_of(found: dict[int, dict[str, float]]) -> Iterator[tuple[str, ...]]:
    """Yield a row a figure, with its growth from the smallest size to the largest."""
    for name in next(iter(found.values())):
        row = [figures[name] for figures in found.values()]
        growth = f"{row[-1] / row[0]:.2f}x" if row[0] else ""
        yield name, *(f"{number:,.2f}" for number in row), growth


if __name__ == "__main__":
    main()
