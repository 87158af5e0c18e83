"""Measure finding duplicates in a register: time, memory, pairs, recall of planted ones.

    python bench/bench_xref.py [--size 100000] [--planted 2000] [--sample N] [--json FILE]

The names are those of `bench_resolve.py`. Planted beside them are as many slips as asked: a
letter dropped, two letters swapped, words turned around, words joined, a word left out, a legal
form more, each of another name. `memory.resolution.xref` then crosses the whole register, or its
first `--sample` entities, in stretches. `recall` is the share of planted pairs among the pairs
that came, of those whose smaller id was crossed; `pairs` counts all of them, because a name that
is like another by chance is a proposal too. `peak_mb` is the resident memory of the process at
its highest, the stocking included; `cpu_s` is the process's own time.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import tempfile
import time
from pathlib import Path
from typing import Any

from tenure import Memory, connect
from tenure.bench.bench_resolve import names, raw_id, slips, stock
from tenure.resolution.keys import alias_key
from tenure.service.stewardship.matching import DuplicatePair

STRETCH = 500
KEPT = 100_000


def planted_slips(known: list[str], count: int) -> list[tuple[int, str, str]]:
    """The place of a name, the kind of the slip and what was written, each once."""
    rng = random.Random(11)
    taken = set(map(alias_key, known))
    planted: list[tuple[int, str, str]] = []
    kinds = sorted(slips(known[0], rng))

    for number, place in enumerate(rng.sample(range(len(known)), len(known))):
        kind = kinds[number % len(kinds)]
        slip = slips(known[place], rng)[kind]
        if alias_key(slip) not in taken:
            taken.add(alias_key(slip))
            planted.append((place, kind, slip))
        if len(planted) == count:
            break

    return planted


def crossed(memory: Memory, sample: int) -> tuple[list[DuplicatePair], dict[str, Any], str]:
    """The pairs of a crossing, what it cost, and the last id that was crossed."""
    pairs: list[DuplicatePair] = []
    after, entities, compared = "", 0, 0
    cpu, began = time.process_time(), time.perf_counter()

    while entities < sample:
        stretch = memory.resolution.xref(after=after, entities=STRETCH, limit=KEPT)
        pairs += stretch.pairs
        entities += stretch.entities
        compared += stretch.comparisons
        after = stretch.after
        if not after:
            break

    cost = {
        "entities": entities,
        "compared": compared,
        "pairs": len(pairs),
        "wall_s": round(time.perf_counter() - began, 1),
        "cpu_s": round(time.process_time() - cpu, 1),
        "ms_an_entity": round((time.process_time() - cpu) * 1_000 / entities, 3),
        "peak_mb": peak_mb(),
    }
    return pairs, cost, after


def peak_mb() -> float:
    """The highest resident memory of this process so far, in MB."""
    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1_024, 1)


def recall(
    pairs: list[DuplicatePair], planted: list[tuple[int, str, str]], first: int, last_id: str
) -> dict[str, dict[str, float]]:
    """The share of planted pairs that came, pooled and by kind of slip."""
    proposed = {pair.pair_id for pair in pairs}
    outcomes: dict[str, list[bool]] = {}
    for number, (place, kind, _) in enumerate(planted):
        low, high = sorted((raw_id(place), raw_id(first + number)))
        if last_id and low > last_id:
            continue
        for group in ("all", kind):
            outcomes.setdefault(group, []).append(f"{low}:{high}" in proposed)

    return {
        group: {"recall": round(sum(hits) / len(hits), 4), "n": len(hits)}
        for group, hits in sorted(outcomes.items())
    }


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--size", type=int, default=100_000)
    parser.add_argument("--planted", type=int, default=2_000)
    parser.add_argument("--sample", type=int, help="cross so many entities alone")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()

    known = names(options.size - options.planted)
    planted = planted_slips(known, options.planted)
    with (
        tempfile.TemporaryDirectory() as folder,
        connect(str(Path(folder) / "bench.db")) as memory,
    ):
        began = time.perf_counter()
        stock(memory, known)
        stock(memory, [slip for _, _, slip in planted], len(known))
        report: dict[str, Any] = {
            "names": len(known) + len(planted),
            "stocked_s": round(time.perf_counter() - began, 1),
        }
        pairs, cost, last_id = crossed(memory, options.sample or report["names"])
        report |= cost
        report["planted"] = recall(pairs, planted, len(known), last_id)

    print(json.dumps(report, indent=1))
    if options.json:
        options.json.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
