"""What a compile costs, stage by stage, over a store of facts and passages.

    python bench/bench_compile.py [--objects 100000] [--rounds 40]

Words are drawn by Zipf's law, as in real text, so that a query has rare and common words. The
figures are milliseconds of CPU time of this process: p50 and p95 over all queries.
"""

from __future__ import annotations

import argparse
import random
import statistics
from collections.abc import Iterator
from time import process_time
from typing import Any

from rich.console import Console
from rich.table import Table

from tenure import Memory, Write, connect
from tenure.compiler import compile as driver
from tenure.compiler.binding import ExactBinder
from tenure.compiler.gather import gather
from tenure.compiler.request_parsing import parse_request

STAGES = ("normalize", "resolve", "gate", "validate", "rank", "rescue", "convert", "contain",
          "order", "emit")  # fmt: skip
SLOTS = ("office", "title", "timezone", "specialty", "skill")
VOCABULARY = 20_000


def words(chance: random.Random, count: int) -> str:
    """Return words of a Zipf-like law: the rank is the inverse of a uniform number."""
    ranks = (int(VOCABULARY ** chance.random()) for _ in range(count))
    return " ".join(f"w{rank}x" for rank in ranks)


def writes(objects: int) -> Iterator[Write]:
    """Yield four facts of a person for each passage."""
    chance = random.Random(7)
    for number in range(objects):
        if number % 5 == 0:
            yield Write(
                content=f"{words(chance, 40)}.", object_type="retrieved_passage",
                source_origin=f"doc://d/{number}", why_it_matters="handbook",
            )  # fmt: skip
        else:
            who = f"Person {number // 5}"
            slot, value = SLOTS[number % 5], f"{words(chance, 2)} {number}"
            yield Write(subject={"name": who, "type": "person"}, slot=slot, value=value)


def filled(objects: int) -> Memory:
    """Return a memory that holds so many objects."""
    memory, batch = connect(":memory:"), list[Write]()
    for write in writes(objects):
        batch.append(write)
        if len(batch) == 5_000:
            memory.write_many(batch)
            batch = []
    memory.write_many(batch)
    return memory


def measured(memory: Memory, query: str) -> dict[str, float]:
    """Return the CPU seconds of gather and of each stage for one query."""
    tenant, view = memory.principal.tenant, memory.as_of()
    times: dict[str, float] = {}
    began = process_time()
    with memory.backend.store.reading(tenant) as reader:
        setting = driver.setting_of(
            parse_request("code_generation", query=query),
            driver.Circumstances(
                principal=memory.principal, vocabulary=memory.backend.vocabulary(tenant),
                policy=memory.policy, point=view.point, keys=reader.keys(),
            ),
        )  # fmt: skip
        bind = ExactBinder(reader, setting.scopes, view.point.tx_us)
        value: Any = gather(setting, reader, bind=bind)
    times["gather"] = process_time() - began
    for name in STAGES:
        start = process_time()
        value = getattr(driver, name)(value, setting)
        times[name] = process_time() - start
    times["whole"] = process_time() - began
    return times


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--objects", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=40)
    given = parser.parse_args()
    memory, chance = filled(given.objects), random.Random(3)
    queries = [words(chance, 5) for _ in range(given.rounds)]
    measured(memory, queries[0])
    runs = [measured(memory, query) for query in queries]
    table = Table("stage", "p50 ms", "p95 ms", title=f"compile over {given.objects} objects")
    for name in ("gather", *STAGES, "whole"):
        taken = sorted(run[name] * 1000 for run in runs)
        p95 = taken[min(len(taken) - 1, round(0.95 * len(taken)))]
        table.add_row(name, f"{statistics.median(taken):.2f}", f"{p95:.2f}")
    Console().print(table)
    memory.close()


if __name__ == "__main__":
    main()
