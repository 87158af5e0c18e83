"""Time of the selection inside a section, in one run.

    python bench/bench_select.py

Prints the knapsack's median beside scipy's integer solver when scipy is there, and the time of the
plain Python path and of buckets.
"""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from tenure.compiler.budget.items import Item
from tenure.compiler.budget.knapsack import decide_in_python, knapsack


def median_ms(call: Callable[[], object], runs: int) -> float:
    """Return the median time of one call in milliseconds."""
    times: list[float] = []
    for _ in range(runs):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return statistics.median(times) * 1e3


def items_of(rng: random.Random, count: int, least: int, most: int) -> list[Item]:
    """Return items of random size and value."""
    return [
        Item(f"i{n:03}", rng.randrange(least, most), rng.randrange(1, 1000)) for n in range(count)
    ]


def solve_with_scipy(items: list[Item], budget: int) -> None:
    """Solve the same knapsack with HiGHS."""
    np: Any = import_module("numpy")
    optimize: Any = import_module("scipy.optimize")
    optimize.milp(
        c=[-item.value for item in items],
        constraints=optimize.LinearConstraint([[item.tokens for item in items]], ub=budget),
        integrality=np.ones(len(items)),
        bounds=optimize.Bounds(0, 1),
        options={"mip_rel_gap": 0},
    )


def additive() -> None:
    """Print the knapsack's figures."""
    rng = random.Random(3)
    items = items_of(rng, 200, 20, 400)
    knapsack(items, 8000)  # numpy is imported here
    exact = median_ms(lambda: knapsack(items, 8000), 15)
    print(f"knapsack n 200, B 8000:         {exact:8.2f} ms")
    if find_spec("scipy"):
        solver = median_ms(lambda: solve_with_scipy(items, 8000), 3)
        print(f"  scipy milp:                   {solver:8.2f} ms   ratio {exact / solver:.3f}")
    sizes, values = [item.tokens for item in items], [item.value for item in items]
    slow = median_ms(lambda: decide_in_python(sizes, values, 8000), 1)
    print(f"  plain Python path:            {slow:8.2f} ms")
    many = items_of(rng, 1000, 50, 3000)
    large = median_ms(lambda: knapsack(many, 100_000), 3)
    print(f"knapsack n 1000, B 100000:      {large:8.2f} ms   (in buckets)")


if __name__ == "__main__":
    additive()
