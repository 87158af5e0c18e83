"""Measure what a fresh process takes for its first steps: CPU, the best of several processes.

    python bench/bench_start.py [--rounds 5] [--json FILE]

Bytecode is warm: it is kept in a folder of the run, whatever the environment says about writing
it, and every step is run once before it is measured. `--version` and `get` are whole
processes of the command line; `connect`, the first read, the first write and the first compile
are steps of one process each, measured without what came before. The empty process of this Python
stands beside them, because the machine and its load move all of them alike: compare ratios.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from tenure.bench.script import options_of, print_table, write_json

COMMAND = "import sys; from tenure.faces.cli.main import main; main()"
STEP = """
import sys, time
import tenure

def write():
    return memory.write("Sam Rivera", "office", "Chicago")

def run(step):
    if step == "connect":
        return tenure.connect(sys.argv[1])
    if step == "first read":
        return memory.as_of().value("Sam Rivera", "office")
    if step == "first write":
        return write()
    return memory.compile("assistant", "Where does Sam Rivera work?", budget_tokens=2_000)

step = sys.argv[2]
if step != "connect":
    memory = tenure.connect(sys.argv[1])
if step == "first compile":
    write()

began = time.process_time()
opened = run(step)
print((time.process_time() - began) * 1_000)
(opened if step == "connect" else memory).close()
"""
STEPS = ("connect", "first read", "first write", "first compile")


def warm_environment(cache: Path) -> dict[str, str]:
    """The environment of a process whose bytecode stands in a folder of the run."""
    environment = dict(os.environ)
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    environment["PYTHONPYCACHEPREFIX"] = str(cache)
    return environment


def process_ms(environment: Mapping[str, str], code: str, *words: str) -> float:
    """The CPU of a whole process, in milliseconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-P", "-c", code, *words]
    subprocess.run(command, capture_output=True, check=True, env=environment)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) * 1_000


def step_ms(environment: Mapping[str, str], store: Path, step: str) -> float:
    """The CPU of one step of a process, in milliseconds."""
    command = [sys.executable, "-P", "-c", STEP, str(store), step]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    return float(done.stdout)


def measure(store: Path, rounds: int) -> dict[str, float]:
    """The best of each step over some rounds, in turns."""
    in_store = ("--store", str(store))
    environment = warm_environment(store.parent / "bytecode")
    process_ms(environment, COMMAND, *in_store, "write", "Sam Rivera", "office", "Austin")

    times: dict[str, list[float]] = {}
    for _ in range(rounds + 1):
        costs = {
            "empty process": process_ms(environment, "pass"),
            "--version": process_ms(environment, COMMAND, "--version"),
            "get": process_ms(environment, COMMAND, *in_store, "get", "Sam Rivera", "office"),
            "import tenure": process_ms(environment, "import tenure"),
        }
        for step in STEPS:
            costs[step] = step_ms(environment, store, step)
        for name, cost in costs.items():
            times.setdefault(name, []).append(cost)

    # The first round writes the bytecode.
    return {name: min(costs[1:]) for name, costs in times.items()}


def main() -> None:
    options = options_of(__doc__, rounds=5, json=Path)
    with tempfile.TemporaryDirectory() as folder:
        figures = measure(Path(folder) / "start.db", options.rounds)

    empty = figures["empty process"]
    rows = ((name, f"{cost:.0f}", f"{cost / empty:.1f}") for name, cost in figures.items())
    print_table("step", "CPU ms", "empty processes", rows=rows)
    write_json(options.json, figures)


if __name__ == "__main__":
    main()
