"""How many people that nobody has met yet wait for a review, as the register grows.

    python bench/bench_strangers.py [--sizes 10000 97000] [--asks 4000] [--common N]
        [--json FILE]

Names are drawn as people's are: given names and family names by Zipf's law, four in ten with a
middle name, one in ten with an initial. The register holds `size` distinct names; the strangers
are drawn in the same way and are nobody in it, so each review is one too many, and each bind is
wrong. Shares are in per cent, that of reviews with its interval (Wilson, 95 %); the time is the
CPU time of the thread. `--common` is the policy's `common_family_name`; a number that no family
reaches says how many would wait without it.
"""

from __future__ import annotations

import json
import random
import statistics
import time
from collections import Counter
from pathlib import Path
from typing import Any

from tenure import EntityRef, Memory, Policy
from tenure.bench.bench_resolve import SYLLABLES, stock
from tenure.bench.evaluation.resolution import wilson
from tenure.bench.script import fresh_memory, options_of, write_json
from tenure.resolution.lexicon import nicknames
from tenure.schema.policy import ResolutionPolicy

GIVEN_NAMES = 3_000
FAMILY_NAMES = 20_000


def zipf(count: int) -> list[float]:
    """Cumulative weights of the ranks from one to `count`."""
    weights: list[float] = []
    total = 0.0
    for rank in range(1, count + 1):
        total += 1 / rank**0.8
        weights.append(total)
    return weights


def people(count: int, seed: int) -> list[str]:
    """Distinct full names, the same for the same seed."""
    words = random.Random(7)
    first_names = sorted(name for name in nicknames() if name.isalpha() and len(name) > 2)
    words.shuffle(first_names)
    first_names = first_names[:GIVEN_NAMES]
    family: dict[str, None] = {}
    while len(family) < FAMILY_NAMES:
        family["".join(words.choices(SYLLABLES, k=words.randint(2, 4)))] = None
    families = list(family)

    rng = random.Random(seed)
    given_weights, family_weights = zipf(len(first_names)), zipf(len(families))
    names: dict[str, None] = {}
    while len(names) < count:
        first, middle = rng.choices(first_names, cum_weights=given_weights, k=2)
        (last,) = rng.choices(families, cum_weights=family_weights)
        draw = rng.random()
        between = middle if draw < 0.4 else f"{middle[0]}." if draw < 0.5 else ""
        names[" ".join(filter(None, (first, between, last))).title()] = None
    return list(names)


def measure(memory: Memory, strangers: list[str]) -> dict[str, Any]:
    """Shares of the decisions on strangers in per cent, and the median CPU time."""
    decisions: Counter[str] = Counter()
    times: list[float] = []
    for name in strangers:
        began = time.thread_time()
        resolution = memory.entities.resolve(EntityRef(name=name, type="person"))
        times.append(time.thread_time() - began)
        decision = resolution.decision.value
        suggested = resolution.reason == "possible_same_as"
        decisions["suggest" if suggested else decision] += 1

    interval = wilson(decisions["review"], len(strangers))
    shares = {key: round(100 * n / len(strangers), 1) for key, n in sorted(decisions.items())}
    reviews = [round(100 * interval.low, 1), round(100 * interval.high, 1)]
    return {
        "share": shares,
        "reviews_95": reviews,
        "cpu_ms_p50": round(1000 * statistics.median(times), 2),
    }


def main() -> None:
    options = options_of(
        __doc__,
        sizes=[10_000, 97_000],
        asks=4_000,
        common=ResolutionPolicy().common_family_name,
        json=Path,
    )
    drawn = people(max(options.sizes) + 4 * options.asks, seed=1)
    rows: list[dict[str, Any]] = []
    policy = Policy(resolution=ResolutionPolicy(common_family_name=options.common))
    with fresh_memory(policy=policy) as memory:
        stocked = 0
        strangers = drawn[max(options.sizes) :][: options.asks]
        for size in sorted(options.sizes):
            stock(memory, drawn[stocked:size], stocked, type="person")
            stocked = size
            rows.append({"names": size, **measure(memory, strangers)})
            print(json.dumps(rows[-1]))

    write_json(options.json, rows)


if __name__ == "__main__":
    main()
