"""Time and quality of the selection inside a section, in one run.

    python bench/bench_select.py

Prints the knapsack's median beside scipy's integer solver when scipy is there, the time of the
plain Python path and of buckets, and for the diverse selection the share of the optimum and the
time at several sizes.
"""

from __future__ import annotations

import itertools
import random
import statistics
import time
from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from itertools import combinations
from typing import Any

from tenure.compiler.budget.diversity import facility_location, mmr
from tenure.compiler.budget.items import Item
from tenure.compiler.budget.knapsack import decide_in_python, knapsack

Table = Mapping[tuple[str, str], int]


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


def table_of(rng: random.Random, items: list[Item]) -> Table:
    """Return similarities of points in the plane: near is alike."""
    spots = {item.id: (rng.random(), rng.random()) for item in items}
    return {
        (a, b): round(1000 * max(0.0, 1 - 1.5 * abs(complex(*x) - complex(*y))))
        for (a, x), (b, y) in itertools.product(spots.items(), repeat=2)
    }


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


def optimum(items: list[Item], table: Table, budget: int) -> int:
    """Return the best value over all subsets."""
    best = 0
    for count in range(1, len(items) + 1):
        for subset in combinations(items, count):
            if sum(item.tokens for item in subset) <= budget:
                best = max(best, value_of(tuple(item.id for item in subset), items, table))
    return best


def value_of(ids: tuple[str, ...], items: list[Item], table: Table) -> int:
    """Return the facility-location value of a choice."""
    return sum(item.value * max((table[i, item.id] for i in ids), default=0) for item in items)


def diverse() -> None:
    """Print the figures of the diverse selection."""
    rng = random.Random(4)
    shares: dict[str, list[float]] = {"greedy from every start": [], "mmr 0.7": []}
    for _ in range(20):
        items = items_of(rng, 13, 20, 200)
        table = table_of(rng, items)
        best = optimum(items, table, 400)
        alike = lambda a, b, table=table: table[a, b]  # noqa: E731 - one table a round
        ids = facility_location(items, alike, 400).ids
        shares["greedy from every start"].append(value_of(ids, items, table) / best)
        shares["mmr 0.7"].append(value_of(mmr(items, alike, 400).ids, items, table) / best)
    for name, reached in shares.items():
        print(
            f"{name + ' / optimum, n 13:':32}{statistics.mean(reached):8.4f} mean, "
            f"{min(reached):.4f} worst of {len(reached)}"
        )
    for count in (6, 12, 24):
        items = items_of(rng, count, 20, 200)
        table = table_of(rng, items)
        alike = lambda a, b, table=table: table[a, b]  # noqa: E731 - one table a round
        took = median_ms(partial(facility_location, items, alike, 1500), 9)
        print(f"facility location n {count:3}, B 1500: {took:8.2f} ms")


if __name__ == "__main__":
    additive()
    diverse()
