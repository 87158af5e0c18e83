"""What one slot that changes often costs: a write, a read and a compile, by the changes before.

    python -P bench/bench_changes.py [--changes 100 1000 10000] [--rounds 15] [--batches 35]

A tier of one customer is written again and again, each value from the moment on at which it is
written, as a system does that reports what it sees. Figures are milliseconds of CPU of the calling
thread, medians over the rounds; growth is that of the last column over the first. What a compile
shows is the same at each size, so its growth is what the past costs.

The last table is of a slot that takes 100 values at one moment, batch after batch: each leaves a
tie that waits for a person.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from rich.console import Console
from rich.table import Table

import tenure

SUBJECT, SLOT = "Orchid Foods", "pricing_tier"
BATCH = 100


def median_ms(call: Callable[[], object], rounds: int) -> float:
    """The median CPU of a call."""
    times: list[float] = []
    for _ in range(rounds):
        began = time.thread_time()
        call()
        times.append((time.thread_time() - began) * 1000)
    return statistics.median(times)


def figures(memory: tenure.Memory, rounds: int) -> dict[str, float]:
    """What each kind of call takes now."""
    serial = iter(range(rounds))
    calls: dict[str, Callable[[], object]] = {
        "write": lambda: memory.write(SUBJECT, SLOT, f"measured {next(serial)}"),
        "value": lambda: memory.as_of().value(SUBJECT, SLOT),
        "compile": lambda: memory.compile("analytical_reporting", f"Which tier has {SUBJECT}?"),
    }
    medians: dict[str, float] = {}
    for name, call in calls.items():
        memory.flush()  # what was put off is nobody's cost here
        medians[name] = median_ms(call, rounds)
    return medians


def batch_ms(memory: tenure.Memory, batches: int) -> list[float]:
    """The CPU a claim of each batch of 100 values that one slot takes at one moment."""
    times: list[float] = []
    for batch in range(batches):
        writes: list[tenure.Write] = []
        for number in range(BATCH):
            value = f"tier {number} of {batch}"
            writes.append(tenure.Write(subject="Blue Mill", slot=SLOT, value=value))
        began = time.thread_time()
        memory.write_many(writes)
        times.append((time.thread_time() - began) * 1000 / BATCH)
    return times


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--changes", type=int, nargs="+", default=[100, 1_000, 10_000])
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--batches", type=int, default=35)
    options = parser.parse_args()
    if options.batches < 11:
        parser.error("--batches takes 11 at least: the first and the last five are compared")

    rows: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        memory = tenure.connect(str(Path(folder) / "changes.db"))
        changes = 0
        for size in options.changes:
            while changes < size:
                memory.write(SUBJECT, SLOT, f"tier {changes}")
                changes += 1
            for name, ms in figures(memory, options.rounds).items():
                rows.setdefault(name, []).append(ms)
        times_ms = batch_ms(memory, options.batches)
        memory.close()

    table = Table("ms of CPU", *(f"{size:,} changes" for size in options.changes), "growth")
    for name, medians_ms in rows.items():
        growth = medians_ms[-1] / medians_ms[0]
        table.add_row(name, *(f"{ms:.2f}" for ms in medians_ms), f"{growth:.1f}x")
    Console(width=100).print(table)

    # The first batch makes the name and warms the caches.
    first, last = statistics.median(times_ms[1:6]), statistics.median(times_ms[-5:])
    names = "ms of CPU a claim", "batches 2 to 6", f"last five of {options.batches}", "growth"
    table = Table(*names)
    table.add_row("a batch of 100", f"{first:.2f}", f"{last:.2f}", f"{last / first:.1f}x")
    Console(width=100).print(table)


if __name__ == "__main__":
    main()
