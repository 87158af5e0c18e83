"""That a change of the code costs nothing: trees side by side.

    python -P bench/bench_house.py [TREE …] [--speed 10000 100000] [--rounds 9]

A tree is a checkout; without one it is this checkout. Each runs in a process of its own under the
name `tenure`, with the packages of the calling Python. Counted are the public names, and the
modules and frames that a write and a compile pass through: frames of the package between the public
call and its deepest SQL statement. How the code reads is counted by `tests/house.py`.

`--speed` fills a store of that many facts in each tree and lets the trees take turns: the median
over the rounds of a write and of a compile, in millions of instructions of the calling thread where
the machine counts them, else in milliseconds of its CPU time. It is the cost of a process that has
compiled for a while: what the first calls cost is what `bench_start.py` measures.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tenure.bench.script import parser_of, print_table

HERE = Path(__file__).resolve().parent.parent

PROBE = '''
import json, os, sys, tempfile
from pathlib import Path

import tenure

ROOT = os.path.realpath(os.path.dirname(tenure.__file__)) + "/"


def module(code):
    if code.co_filename.startswith("<"):
        return None
    path = os.path.realpath(code.co_filename)
    return path[len(ROOT):] if path.startswith(ROOT) else None


def watch(call):
    """The modules whose functions run, and how deep a statement of SQL stands below the call."""
    modules, depth = set(), 0

    def profile(frame, event, argument):
        nonlocal depth
        if event == "call":
            modules.add(module(frame.f_code))
        elif event == "c_call" and getattr(argument, "__name__", "").startswith("execute"):
            frames = 0
            while frame is not None:
                frames += module(frame.f_code) is not None
                frame = frame.f_back
            depth = max(depth, frames - 1)

    sys.setprofile(profile)
    call()
    sys.setprofile(None)
    return {"modules": len(modules - {None}), "frames": depth}


with tempfile.TemporaryDirectory() as folder:
    memory = tenure.connect(str(Path(folder) / "probe.db"))

    def write(day):
        memory.write(
            subject="Sam Rivera", slot="office", value=f"Room {day}",
            valid_from=f"2025-01-{day:02}T00:00:00Z",
        )

    def compile_():
        memory.compile("analytical_reporting", "Where is Sam's office?", budget_tokens=1000)

    for day in range(1, 6):
        write(day)
    figures = {"write": watch(lambda: write(9))}
    # After the writes: a compile leaves its manifest to the queue, where a write would meet it.
    compile_()
    figures["compile"] = watch(compile_)
    figures["names"] = len(tenure.__all__)
    memory.close()
print(json.dumps(figures))
'''

SPEED = """
import json, sys, tempfile, time
from pathlib import Path

sys.path.insert(0, BENCH)
import tenure

try:
    from instructions import instruction_clock
    clock, scale, unit = instruction_clock(), 1e3, "M instructions"
except OSError:
    clock, scale, unit = time.thread_time, 1e3, "ms of CPU"

size = int(sys.argv[1])
SLOTS = ("office", "title", "timezone", "specialty", "skill")
WARM_UP = 200

with tempfile.TemporaryDirectory() as folder:
    memory = tenure.connect(str(Path(folder) / "speed.db"))
    batch = []
    for number in range(size):
        person = f"Person {number // 5:06} Bench"
        batch.append(tenure.Write(subject=person, slot=SLOTS[number % 5], value=f"v {number}"))
        if len(batch) == 1000:
            memory.write_many(batch)
            batch = []
    if batch:
        memory.write_many(batch)
    serial = 0
    # A tree builds tables at its first compile or spreads them over its first texts: over here.
    for _ in range(WARM_UP):
        serial += 1
        person = f"Person {serial * 7 % (size // 5):06} Bench"
        memory.compile("analytical_reporting", f"Where is {person}?", budget_tokens=2000)
    print(json.dumps({"unit": unit}), flush=True)

    for line in sys.stdin:
        times = {"write": [], "compile": []}
        for _ in range(20):
            serial += 1
            person = f"Person {serial * 7 % (size // 5):06} Bench"
            start = clock()
            memory.write(subject=person, slot="office", value=f"new {serial}")
            times["write"].append((clock() - start) * scale)
        for _ in range(10):
            serial += 1
            person = f"Person {serial * 7 % (size // 5):06} Bench"
            start = clock()
            memory.compile("analytical_reporting", f"Where is {person}?", budget_tokens=2000)
            times["compile"].append((clock() - start) * scale)
        medians = {name: sorted(values)[len(values) // 2] for name, values in times.items()}
        print(json.dumps(medians), flush=True)
    memory.close()
"""


def start(tree: Path, script: str, *arguments: str) -> subprocess.Popen[str]:
    """Start a script in a process whose `tenure` is a tree."""
    home = Path(tempfile.mkdtemp())
    (home / "tenure").symlink_to(tree)
    program = f"import sys; sys.path.insert(0, {str(home)!r})\nBENCH = {str(HERE / 'bench')!r}\n"
    return subprocess.Popen(
        [sys.executable, "-P", "-c", program + script, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONSAFEPATH": "1"},
    )


def probe(tree: Path) -> dict[str, Any]:
    """Ask a tree what a write and a compile pass through."""
    answer, _ = start(tree, PROBE).communicate()
    figures: dict[str, Any] = json.loads(answer)
    return figures


def rows(tree: Path) -> list[tuple[str, str]]:
    """The figures of one tree, by what they say."""
    passed = probe(tree)
    return [
        ("a write: modules / frames", "{modules} / {frames}".format(**passed["write"])),
        ("a compile: modules / frames", "{modules} / {frames}".format(**passed["compile"])),
        ("names at the top", str(passed["names"])),
    ]


def speed(trees: Sequence[Path], size: int, rounds: int) -> None:
    """Let the trees take turns at writing and compiling over as many facts."""
    processes = [start(tree, SPEED, str(size)) for tree in trees]
    units = [json.loads(_line(process))["unit"] for process in processes]
    medians: list[dict[str, list[float]]] = [defaultdict(list) for _ in trees]
    for _ in range(rounds):
        for process, figures in zip(processes, medians, strict=True):
            assert process.stdin is not None
            process.stdin.write("go\n")
            process.stdin.flush()
            for name, cost in json.loads(_line(process)).items():
                figures[name].append(cost)
    for process in processes:
        process.communicate()

    lines: list[tuple[str, ...]] = []
    for name in ("write", "compile"):
        costs = [statistics.median(figures[name]) for figures in medians]
        growth = f"{costs[-1] / costs[0]:.3f}"
        lines.append((name, *(f"{cost:.2f}" for cost in costs), growth))
    title = f"{size:,} facts, {units[0]}, median of {rounds} rounds in turns"
    print_table("call", *(tree.name for tree in trees), "last / first", rows=lines, title=title)


def _line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline()


def main() -> None:
    """Print the table, and the speed where it is asked for."""
    parser = parser_of(__doc__, rounds=9)
    parser.add_argument("trees", nargs="*", type=Path, default=[HERE])
    parser.add_argument("--speed", nargs="*", type=int, default=[], metavar="FACTS")
    options = parser.parse_args()
    trees = [tree.resolve() for tree in options.trees]

    lines: list[tuple[str, ...]] = []
    for labels in zip(*(rows(tree) for tree in trees), strict=True):
        lines.append((labels[0][0], *(figure for _, figure in labels)))
    print_table("what", *(tree.name for tree in trees), rows=lines, title="the house")

    for size in options.speed:
        speed(trees, size, options.rounds)


if __name__ == "__main__":
    main()
