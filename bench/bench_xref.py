"""Measure finding duplicates in a register: time, memory, pairs, recall of planted ones.

    python bench/bench_xref.py [--size 100000] [--planted 2000] [--sample N] [--folder DIR]

The names are those of `bench_resolve.py`. Planted beside them are as many slips as asked: a
letter dropped, two letters swapped, words turned around, words joined, a word left out, a legal
form more, each of another name. `memory.resolution.xref` then crosses the whole register, or its
first `--sample` entities, in stretches. `recall` is the share of planted pairs among the pairs
that came, of those whose smaller id was crossed; `pairs` counts all of them, because a name that
is like another by chance is a proposal too. `peak_mb` is the resident memory of the process at
its highest, the stocking included; `cpu_s` is the process's own time. With `--folder` the store and
what was crossed stay there, stretch by stretch, and a run that was broken off goes on.
"""

from __future__ import annotations

import json
import random
import resource
import tempfile
import time
from pathlib import Path
from typing import Any

from tenure import Memory, connect
from tenure.bench.bench_resolve import names, raw_id, slips, stock
from tenure.bench.script import options_of
from tenure.resolution.keys import alias_key

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


class Progress:
    """The ids of the pairs that came and what they cost, kept in a file between stretches."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.state: dict[str, Any] = {"after": "", "pair_ids": []}
        self.state |= dict.fromkeys(("entities", "compared", "wall_s", "cpu_s", "peak_mb"), 0)
        if file.exists():
            self.state = json.loads(file.read_text(encoding="utf-8"))

    def cross(self, memory: Memory, sample: int) -> None:
        """Cross stretch after stretch, to the end of the register or of the sample."""
        state = self.state
        while state["entities"] < sample:
            cpu, began = time.process_time(), time.perf_counter()
            stretch = memory.resolution.xref(after=state["after"], entities=STRETCH, limit=KEPT)
            state["pair_ids"] += [pair.pair_id for pair in stretch.pairs]
            state["entities"] += stretch.entities
            state["compared"] += stretch.comparisons
            state["cpu_s"] += time.process_time() - cpu
            state["wall_s"] += time.perf_counter() - began
            state["peak_mb"] = max(state["peak_mb"], peak_mb())
            state["after"] = stretch.after
            self.file.write_text(json.dumps(state), encoding="utf-8")
            if not stretch.after:
                break

    def cost(self) -> dict[str, Any]:
        """What the crossing has cost so far."""
        state = self.state
        return {
            "entities": state["entities"],
            "compared": state["compared"],
            "pairs": len(state["pair_ids"]),
            "wall_s": round(state["wall_s"], 1),
            "cpu_s": round(state["cpu_s"], 1),
            "ms_an_entity": round(state["cpu_s"] * 1_000 / state["entities"], 3),
            "peak_mb": state["peak_mb"],
        }


def peak_mb() -> float:
    """The highest resident memory of this process so far, in MB."""
    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1_024, 1)


def recall(
    pair_ids: list[str], planted: list[tuple[int, str, str]], first: int, last_id: str
) -> dict[str, dict[str, float]]:
    """The share of planted pairs that came, pooled and by kind of slip."""
    proposed = frozenset(pair_ids)
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
    options = options_of(__doc__, size=100_000, planted=2_000, sample=int, folder=Path)
    known = names(options.size - options.planted)
    planted = planted_slips(known, options.planted)
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.folder or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        is_new = not (folder / "stocked").exists()
        with connect(str(folder / "bench.db")) as memory:
            if is_new:
                stock(memory, known)
                stock(memory, [slip for _, _, slip in planted], len(known))
                (folder / "stocked").touch()

            progress = Progress(folder / "progress.json")
            progress.cross(memory, options.sample or options.size)

    state = progress.state
    report = {"names": len(known) + len(planted), **progress.cost()}
    report["planted"] = recall(state["pair_ids"], planted, len(known), state["after"])
    print(json.dumps(report, indent=1))


if __name__ == "__main__":
    main()
