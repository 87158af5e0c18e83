"""Measure the register at size: pages of entities, the review queue, the finder of known names.

    python bench/bench_register.py [--sizes 10000 100000] [--reviews 10000] [--json FILE]

Pages: the first hundred entities, a hundred from the middle, all of them, and one entity's page.
The queue: `reviews.list()` with all its priorities, and the page of one case. Known names in a
text: the word trie of `Gazetteer` built once, its memory, one name added and discarded, and its
time per KB; and `memory.mentions`, which holds no trie but looks up the text's own runs of words,
so that a write rebuilds nothing.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import tempfile
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tenure import EntityRef, Memory, connect
from tenure.bench.bench_resolve import names, raw_id, stock
from tenure.resolution.extract import Gazetteer
from tenure.resolution.scorer import NameScorer
from tenure.schema.entity import EntityCandidate, Review
from tenure.schema.vocabulary import CandidateSource, ReviewState
from tenure.store.port.store import Batch, TxEvent

PAGE = 100
FILLER = "the team said that it would look at this in the next days and then write a note".split()


def timed(work: Callable[[], Any], rounds: int) -> dict[str, float]:
    """Return the p50 in milliseconds of the wall and of the thread's own time."""
    wall, own = [], []
    for _ in range(rounds):
        cpu, began = time.thread_time(), time.perf_counter()
        work()
        wall.append(time.perf_counter() - began)
        own.append(time.thread_time() - cpu)
    return {
        "p50_ms": round(statistics.median(wall) * 1_000, 3),
        "cpu_p50_ms": round(statistics.median(own) * 1_000, 3),
    }


def pages(memory: Memory, size: int) -> dict[str, Any]:
    """Return what pages of entities cost."""
    entities, middle = memory.entities, sorted(map(raw_id, range(size)))[size // 2]
    return {
        "first page": timed(lambda: entities.list(limit=PAGE), 15),
        "page of a type": timed(lambda: entities.list("organization", limit=PAGE), 15),
        "page in the middle": timed(lambda: entities.list(after=middle, limit=PAGE), 15),
        "get": timed(lambda: entities.get(middle), 15),
        "all": timed(entities.list, 1),
    }


def queue(memory: Memory, count: int) -> dict[str, Any]:
    """Return what a queue of so many open cases costs, one case an entity."""
    with memory._backend.store.writing(memory.principal.tenant) as tx:
        clock = tx.lock()
        at_us = clock.last_us + 1
        event = TxEvent(seq=clock.seq + 1, tx=at_us, actor="bench", op="write", object_ids=())
        cases = tuple(_case(place, at_us) for place in range(count))
        tx.apply(
            Batch(
                clock=clock._replace(seq=event.seq, last_us=at_us), events=(event,), reviews=cases
            )
        )
    reviews = memory.reviews
    return {
        "cases": count,
        "list": timed(reviews.list, 1),
        "get": timed(lambda: reviews.get(cases[0].review_id), 15),
    }


def _case(place: int, at_us: int) -> Review:
    best = EntityCandidate(
        entity=raw_id(place + 1), name="Another", score=round(0.71 + place % 24 / 100, 2),
        log_odds=1.0, source=CandidateSource.BLOCKING,
    )  # fmt: skip
    return Review(
        review_id=f"case-{place:07}", entity_id=raw_id(place), mention="A name",
        type="organization", scope_id="tenant", candidates=(best,), reason="scored",
        object_id=raw_id(place), state=ReviewState.OPEN, version=1, opened_tx=at_us,
    )  # fmt: skip


def texts(known: list[str], count: int = 40) -> list[str]:
    """Return texts of about one KB with a known name in every twelfth place."""
    rng = random.Random(9)
    return [
        " ".join(
            rng.choice(known) if place % 12 == 0 else rng.choice(FILLER) for place in range(150)
        )
        for _ in range(count)
    ]


def finder(known: list[str]) -> dict[str, Any]:
    """Return what the trie over all names costs."""
    began = time.thread_time()
    gazetteer = _trie(known)
    built = time.thread_time() - began
    said = texts(known)
    kilobytes = sum(map(len, said)) / 1_024
    find = timed(lambda: [gazetteer.extract(text) for text in said], 3)

    def change() -> None:
        for place in range(1_000):
            gazetteer.add(f"Fresh {place} Name", f"fresh-{place}", "organization")
        for place in range(1_000):
            gazetteer.discard(f"fresh-{place}")

    changed = timed(change, 3)
    return {
        "names": len(gazetteer),
        "build_cpu_s": round(built, 2),
        "memory_mb": _megabytes(known),
        "add_and_discard_us": round(changed["cpu_p50_ms"], 2),
        "cpu_ms_per_kb": round(find["cpu_p50_ms"] / kilobytes, 4),
    }


def _trie(known: list[str]) -> Gazetteer:
    return Gazetteer((name, raw_id(place), "organization") for place, name in enumerate(known))


def _megabytes(known: list[str]) -> float:
    """Return what a trie holds; tracing slows, so it is not the one that is timed."""
    tracemalloc.start()
    held = _trie(known)
    size, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return round(size / 2**20, 1) if held else 0.0


def linked(memory: Memory, known: list[str]) -> dict[str, float]:
    """Return what `memory.mentions` costs per KB, linking included."""
    said = texts(known, 20)
    kilobytes = sum(map(len, said)) / 1_024
    found = timed(lambda: [memory.mentions(text) for text in said], 3)
    return {name: round(value / kilobytes, 3) for name, value in found.items()}


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--sizes", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--reviews", type=int, default=10_000)
    parser.add_argument("--json", type=Path)
    chosen = parser.parse_args()
    known = names(max(chosen.sizes))
    NameScorer().keys(EntityRef(name=known[0]))  # reads the word lists
    report: dict[str, Any] = {}
    with (
        tempfile.TemporaryDirectory() as folder,
        connect(str(Path(folder) / "bench.db")) as memory,
    ):
        loaded = 0
        for size in sorted(chosen.sizes):
            stock(memory, known[loaded:size], loaded)
            loaded = size
            row = {"entities": pages(memory, size), "gazetteer": finder(known[:size]),
                   "mentions_per_kb": linked(memory, known[:size])}  # fmt: skip
            report[str(size)] = row
            print(size, json.dumps(row), flush=True)
        report["reviews"] = queue(memory, min(chosen.reviews, loaded - 1))
        print("reviews", json.dumps(report["reviews"]), flush=True)
    if chosen.json:
        chosen.json.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
