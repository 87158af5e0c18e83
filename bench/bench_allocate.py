"""Time of the exact allocator, beside unit greedy in the same run.

    python bench/bench_allocate.py

Prints the median of one call for ten required sections, for the same with three optional ones,
for a grid of 64, and the ratio to giving the tokens out one by one.
"""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Callable
from dataclasses import replace

from tenure.compiler.budget.allocate import allocate
from tenure.compiler.budget.marginals import marginal
from tenure.compiler.budget.section import Section
from tenure.compiler.budget.waterfill import top_up

CASES = 40
BUDGET = 8000


def problem(rng: random.Random) -> list[Section]:
    """Return ten sections of the kind a compile has."""
    return [
        Section(
            f"section{i}",
            w=rng.uniform(0.1, 1),
            alpha=rng.uniform(0.5, 8),
            beta=rng.uniform(20, 900),
            t_min=rng.randrange(120),
            t_max=rng.randrange(400, 5000),
        )
        for i in range(10)
    ]


def unit_greedy(sections: list[Section]) -> int:
    """Give every token out by itself, as the oracle of the tests does."""
    marginals = [marginal(section, 0) for section in sections]
    left = BUDGET - sum(section.t_min for section in sections)
    return sum(top_up(marginals, [0] * len(sections), left))


def median_us(
    cases: list[list[Section]], call: Callable[[list[Section]], object], runs: int
) -> float:
    """Return the median time of one call in microseconds."""
    times: list[float] = []
    for _ in range(runs):
        for case in cases:
            start = time.perf_counter()
            call(case)
            times.append(time.perf_counter() - start)
    return statistics.median(times) * 1e6


def main() -> None:
    """Print the figures."""
    rng = random.Random(7)
    cases = [problem(rng) for _ in range(CASES)]
    optional = [
        [*case[:7], *(replace(one, required=False, base=rng.random()) for one in case[7:])]
        for case in cases
    ]
    exact = median_us(cases, lambda case: allocate(case, BUDGET), 20)
    greedy = median_us(cases, unit_greedy, 1)
    print(f"ten required sections, B {BUDGET}: {exact:8.1f} us   (bar: 200)")
    print(f"unit greedy:                     {greedy:8.1f} us   ratio {exact / greedy:.4f}")
    with_optional = median_us(optional, lambda case: allocate(case, BUDGET), 5)
    print(f"seven required, three optional:  {with_optional:8.1f} us")
    grid = median_us(cases, lambda case: allocate(case, BUDGET, quantum=64), 2)
    print(f"ten required on a grid of 64:    {grid:8.1f} us")


if __name__ == "__main__":
    main()
