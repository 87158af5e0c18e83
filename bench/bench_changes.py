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

import statistics
import time
from collections.abc import Callable

import tenure
from tenure.bench.script import fresh_memory, median_ms, options_of, print_table

SUBJECT, SLOT = "Orchid Foods", "pricing_tier"
BATCH = 100


def figures(memory: tenure.Memory, rounds: int) -> dict[str, float]:
    """What each kind of call takes now."""
    calls: dict[str, Callable[[int], object]] = {
        "write": lambda number: memory.write(SUBJECT, SLOT, f"measured {number}"),
        "value": lambda _: memory.as_of().value(SUBJECT, SLOT),
        "compile": lambda _: memory.compile("analytical_reporting", f"Which tier has {SUBJECT}?"),
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
    """Print the tables."""
    options = options_of(__doc__, changes=[100, 1_000, 10_000], rounds=15, batches=35)
    if options.batches < 11:
        raise SystemExit("--batches takes 11 at least: the first and the last five are compared")

    rows: dict[str, list[float]] = {}
    with fresh_memory() as memory:
        changes = 0
        for size in options.changes:
            while changes < size:
                memory.write(SUBJECT, SLOT, f"tier {changes}")
                changes += 1
            for name, ms in figures(memory, options.rounds).items():
                rows.setdefault(name, []).append(ms)
        times_ms = batch_ms(memory, options.batches)

    print_table(
        "ms of CPU",
        *(f"{size:,} changes" for size in options.changes),
        "growth",
        rows=(
            (name, *(f"{ms:.2f}" for ms in medians_ms), f"{medians_ms[-1] / medians_ms[0]:.1f}x")
            for name, medians_ms in rows.items()
        ),
    )
    # The first batch makes the name and warms the caches.
    first, last = statistics.median(times_ms[1:6]), statistics.median(times_ms[-5:])
    names = "ms of CPU a claim", "batches 2 to 6", f"last five of {options.batches}", "growth"
    cells = "a batch of 100", f"{first:.2f}", f"{last:.2f}", f"{last / first:.1f}x"
    print_table(*names, rows=[cells])


if __name__ == "__main__":
    main()
