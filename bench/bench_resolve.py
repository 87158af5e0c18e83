"""Measure resolving a mention: time at rising sizes, hits and misses apart and mixed.

    python bench/bench_resolve.py [--sizes 10000 100000] [--asks 400] [--json FILE]

The names are made of syllables with a common last word, like those of services and teams. The
mix, asked of `memory.entities.resolve` in turn: 40 % an exact name, 20 % an identifier, 10 % a
name with one letter dropped, 10 % a legal or spelling variant, 20 % a name nobody has. The store
is embedded; the process alone on the machine gives the honest number.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tenure import EntityRef, Memory, Write, connect

SYLLABLES = (
    "an be cor da el fi gra ho in jo ka lu mo ne or pa qui ro sa ti u vel wi xa yo ze"
).split()
LAST = ("Service", "Labs", "Group", "Systems", "Gateway", "Analytics", "Foods", "Partners")
BATCH = 1_000


def names(count: int, seed: int = 1) -> list[str]:
    """Return distinct names, the same for the same seed."""
    rng = random.Random(seed)
    found: dict[str, None] = {}
    while len(found) < count:
        words = ["".join(rng.choices(SYLLABLES, k=rng.randint(2, 4))).capitalize() for _ in "ab"]
        found[f"{' '.join(words)} {rng.choice(LAST)}"] = None
    return list(found)


def load(memory: Memory, known: list[str], start: int) -> None:
    """Write one claim about each name from a place on."""
    for at in range(start, len(known), BATCH):
        memory.write_many(
            [
                Write(
                    subject=EntityRef(
                        name=name, type="organization", external_ids={"bench": str(at + place)}
                    ),
                    slot="noted",
                    value="x",
                )
                for place, name in enumerate(known[at : at + BATCH])
            ]
        )


def asks(known: list[str], rng: random.Random) -> dict[str, Callable[[], Any]]:
    """Return a maker of mentions for each kind of the mix."""
    strangers = iter(names(10_000, seed=2))

    def dropped() -> EntityRef:
        name = rng.choice(known)
        at = rng.randrange(1, 5)
        return EntityRef(name=name[:at] + name[at + 1 :], type="organization")

    return {
        "exact": lambda: EntityRef(name=rng.choice(known), type="organization"),
        "identifier": lambda: EntityRef(
            name="Anything", external_ids={"bench": str(rng.randrange(len(known)))}
        ),
        "dropped letter": dropped,
        "variant": lambda: EntityRef(name=f"{rng.choice(known)} GmbH", type="organization"),
        "unknown": lambda: EntityRef(name=next(strangers), type="organization"),
    }


MIX = ("exact",) * 4 + ("identifier",) * 2 + ("dropped letter", "variant") + ("unknown",) * 2


def measure(memory: Memory, known: list[str], count: int) -> dict[str, Any]:
    """Return p50 and p95 in milliseconds, by kind and over the mix."""
    made = asks(known, random.Random(3))
    times: dict[str, list[float]] = {kind: [] for kind in made}
    entities = memory.entities
    for number in range(count):
        kind = MIX[number % len(MIX)]
        mention = made[kind]()
        began = time.perf_counter()
        entities.resolve(mention)
        times[kind].append((time.perf_counter() - began) * 1_000)
    everything = sorted(t for found in times.values() for t in found)
    return {"mix": _points(everything)} | {k: _points(sorted(v)) for k, v in times.items()}


def _points(found: list[float]) -> dict[str, float]:
    return {
        "n": len(found),
        "p50_ms": round(statistics.median(found), 3),
        "p95_ms": round(found[int(len(found) * 0.95)], 3),
    }


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--sizes", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--asks", type=int, default=400)
    parser.add_argument("--json", type=Path)
    chosen = parser.parse_args()
    known = names(max(chosen.sizes))
    report: dict[str, Any] = {}
    with (
        tempfile.TemporaryDirectory() as folder,
        connect(str(Path(folder) / "bench.db")) as memory,
    ):
        memory.vocabulary.define_slot("noted", description="what was noted")
        loaded = 0
        for size in sorted(chosen.sizes):
            began = time.perf_counter()
            load(memory, known[:size], loaded)
            rate = (size - loaded) / (time.perf_counter() - began)
            loaded = size
            report[str(size)] = measure(memory, known[:size], chosen.asks)
            report[str(size)]["new_entities_per_s"] = round(rate)
            print(size, json.dumps(report[str(size)]), flush=True)
    if chosen.json:
        chosen.json.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
