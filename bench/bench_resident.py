"""How much memory a process keeps, by the size of its store, with and without vectors.

    python bench/bench_resident.py [--sizes 10000 100000] [--big]

A store is filled by a process of its own, facts of people and passages as in `bench_compile.py`.
Two others open it in turn, one without an encoder and one with vectors of 384 numbers, and do the
same: point reads, searches, compiles, writes. After each kind of work the resident size is noted
in megabytes, so a row says what that work added; `peak` is the most that the process ever had. What
a reader keeps is bounded by numbers of entries, so only what grows from size to size grows without
end: the vectors, which are held as one matrix. `--big` adds a million objects, for which 8 GB of
memory and half an hour must be free.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from tenure import Memory, connect
from tenure.bench.bench_compile import SLOTS, WordVectors, filled, words
from tenure.bench.bench_resolve import raw_id
from tenure.bench.script import parser_of, print_table

READS = 5_000
SEARCHES = 50
COMPILES = 20
WRITES = 500
ROUNDS = 2
"""The last step repeats all of the work: what a process has come to is level, or it leaks."""
STATUS = Path("/proc/self/status")


def resident_mb(field: str = "VmRSS") -> float:
    """What the process has in memory now, or had at most (`VmHWM`), in megabytes."""
    for line in STATUS.read_text().splitlines():
        name, _, size = line.partition(":")
        if name == field:
            return int(size.split()[0]) / 1024
    raise SystemExit(f"{STATUS} has no {field}: this needs Linux")


def point_reads(memory: Memory, people: int, chance: random.Random) -> None:
    """Ask for a slot of somebody, thousands of times."""
    view = memory.as_of()
    for number in range(READS):
        view.value(raw_id(chance.randrange(people)), SLOTS[number % len(SLOTS)])


def searches(memory: Memory, _: int, chance: random.Random) -> None:
    """Search for two words of the law that the texts follow."""
    for _number in range(SEARCHES):
        memory.as_of().search(words(chance, 2))


def compiles(memory: Memory, _: int, chance: random.Random) -> None:
    """Compile an envelope for six words."""
    for _number in range(COMPILES):
        memory.compile("analytical_reporting", words(chance, 6), budget_tokens=4_000)


def writes(memory: Memory, people: int, chance: random.Random) -> None:
    """Change a slot of somebody."""
    for number in range(WRITES):
        memory.write(raw_id(chance.randrange(people)), "office", f"{words(chance, 2)} {number}")


WORK: tuple[Callable[[Memory, int, random.Random], None], ...] = (
    point_reads,
    searches,
    compiles,
    writes,
)


def measure(path: Path, objects: int, vectors: bool) -> dict[str, float]:
    """Open a store, work on it, and return the resident size after each kind of work."""
    people, chance = objects // 5, random.Random(11)
    figures = {"started": resident_mb()}
    with connect(str(path), encoder=WordVectors() if vectors else None) as memory:
        memory.as_of().value(raw_id(0), SLOTS[0])
        figures["opened"] = resident_mb()
        for work in WORK:
            work(memory, people, chance)
            figures[work.__name__.replace("_", " ")] = resident_mb()

        for _ in range(ROUNDS):
            for work in WORK:
                work(memory, people, chance)
        figures[f"{ROUNDS} times more"] = resident_mb()
    figures["peak"] = resident_mb("VmHWM")
    return figures


def in_process(*words_of_command: str) -> str:
    """Run this script for one step in a process of its own; return what it printed."""
    command = [sys.executable, "-P", __file__, *words_of_command]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def main() -> None:
    parser = parser_of(__doc__, sizes=[10_000, 100_000], big=False)
    parser.add_argument("--fill", nargs=2, metavar=("FILE", "OBJECTS"), help=argparse.SUPPRESS)
    parser.add_argument("--measure", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()

    if options.fill:
        path, objects = options.fill
        filled(Path(path), int(objects))
        return
    if options.measure:
        path, objects, way = options.measure
        print(json.dumps(measure(Path(path), int(objects), way == "vectors")))
        return

    columns: dict[str, dict[str, float]] = {}
    for size in [*options.sizes, *([1_000_000] if options.big else [])]:
        with tempfile.TemporaryDirectory() as folder:
            path = str(Path(folder) / "store.db")
            in_process("--fill", path, str(size))
            for way in ("lexical", "vectors"):
                line = in_process("--measure", path, str(size), way).splitlines()[-1]
                columns[f"{size:,} {way}"] = json.loads(line)
    kinds = next(iter(columns.values()))
    print_table(
        "resident MB after",
        *columns,
        rows=((kind, *(f"{figures[kind]:,.0f}" for figures in columns.values())) for kind in kinds),
    )


if __name__ == "__main__":
    main()
