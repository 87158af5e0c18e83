"""What the checks of trust cost a write: two checkouts in turns, by the CPU of a write.

    python -P bench/bench_trust_cost.py BEFORE [AFTER] [--facts 2000] [--writes 200] [--rounds 5]

`AFTER` is this checkout unless another is named. Each tree runs in a process of its own over a
store of as many facts, in memory, so that no disk is in the figure. A round is as many writes of
each kind in each tree; told is the median of the rounds' means, in microseconds of CPU of the whole
process. `--profile` prints the functions of AFTER that take most of it instead.
"""

from __future__ import annotations

import argparse
import json
import statistics
from pathlib import Path

from rich.console import Console
from rich.table import Table

from tenure.bench.bench_house import HERE, start

WRITER = """
import cProfile, json, pstats, sys, time

import tenure

facts, writes, profiled = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3] == "True"
SLOTS = ("office", "title", "timezone", "specialty", "skill")
TEXT = "The harbour report says that the crane of pier {} is closed until the wind has turned."
memory = tenure.connect(":memory:")
memory.write_many([
    tenure.Write(subject=f"Person {n // 5:06} Bench", slot=SLOTS[n % 5], value=f"v {n}")
    for n in range(facts)
])
serial = 0

def fact():
    memory.write(subject=f"Person {serial * 7 % (facts // 5):06} Bench", slot="office",
                 value=f"new {serial}", why_it_matters="where letters go")

def text():
    memory.write(content=TEXT.format(serial), why_it_matters="plans of the harbour",
                 object_type="retrieved_passage", source_origin="doc://harbour/1")

KINDS = {"a fact of a known person": fact, "a passage": text}
print("ready", flush=True)
for line in sys.stdin:
    profile = cProfile.Profile()
    costs = {}
    for kind, work in KINDS.items():
        if profiled:
            profile.enable()
        began = time.process_time()
        for _ in range(writes):
            serial += 1
            work()
        costs[kind] = (time.process_time() - began) / writes * 1e6
        profile.disable()
    if profiled:
        pstats.Stats(profile, stream=sys.stderr).sort_stats("cumtime").print_stats(70)
    print(json.dumps(costs), flush=True)
memory.close()
"""


def print_comparison(trees: list[Path], facts: int, writes: int, rounds: int) -> None:
    """Let the trees take turns, and print the medians."""
    processes = [start(tree, WRITER, str(facts), str(writes), "False") for tree in trees]
    for process in processes:
        assert process.stdout is not None
        process.stdout.readline()

    costs: list[dict[str, list[float]]] = [{} for _ in trees]
    for _ in range(rounds):
        for process, of_tree in zip(processes, costs, strict=True):
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write("go\n")
            process.stdin.flush()
            for kind, cost in json.loads(process.stdout.readline()).items():
                of_tree.setdefault(kind, []).append(cost)
    for process in processes:
        process.communicate()

    table = Table(title=f"µs of CPU a write, {facts:,} facts, median of {rounds} rounds in turns")
    for heading in ("a write", "before", "after", "change"):
        table.add_column(heading, justify="left" if heading == "a write" else "right")
    for kind, before in costs[0].items():
        first, last = statistics.median(before), statistics.median(costs[-1][kind])
        table.add_row(kind, f"{first:,.0f}", f"{last:,.0f}", f"{100 * (last / first - 1):+.1f} %")
    Console().print(table)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("before", type=Path)
    parser.add_argument("after", type=Path, nargs="?", default=HERE)
    parser.add_argument("--facts", type=int, default=2_000)
    parser.add_argument("--writes", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--profile", action="store_true")
    options = parser.parse_args()
    if options.profile:
        start(options.after, WRITER, str(options.facts), str(options.writes), "True").communicate(
            "go\n"
        )
        return
    trees = [options.before.resolve(), options.after.resolve()]
    print_comparison(trees, options.facts, options.writes, options.rounds)


if __name__ == "__main__":
    main()
