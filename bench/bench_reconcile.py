"""How long the planner takes: one write against 1 to 500 live claims, and a chain of changes.

The bar is 60 microseconds for a typical assert over one incumbent. Run it alone:
`python bench/bench_reconcile.py`. Each figure is the best of several rounds, because the
others measure the machine's load.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from tenure.schema.claim import Claim, Row
from tenure.schema.interval import INF_US, Interval
from tenure.schema.vocabulary import Op
from tenure.store.timeline.reconcile import fold, plan

BAR_US = 60.0
CHAIN = 3_000


def says(number: int, op: Op = Op.ASSERT) -> Claim:
    """Return an open-ended claim that starts after all claims of smaller numbers."""
    return Claim(
        object_id=f"{number:08}",
        slot_key="s",
        op=op,
        value_key=f"s:{number}",
        interval=Interval(number, INF_US),
        since_us=number,
        level=2,
        source_authority=800,
        confidence=800,
        tx=number,
        ordinal=0,
    )


def best_us(call: Callable[[], object], *, calls: int, rounds: int = 7) -> float:
    """Return the microseconds of one call in the fastest round."""
    fastest = float("inf")
    for _ in range(rounds):
        start = time.perf_counter()
        for _ in range(calls):
            call()
        fastest = min(fastest, time.perf_counter() - start)
    return fastest / calls * 1e6


def heads_of(rows: tuple[Row, ...] | list[Row], claim: Claim) -> list[Row]:
    """Return what a store reads for an assert: the overlapping heads and denials."""
    return [row for row in rows if row.look.head and row.interval.overlaps(claim.interval)]


def chain(length: int) -> tuple[float, int]:
    """Return the seconds and the rows read of a chain of open-ended changes."""
    head: list[Row] = []
    seconds, read = 0.0, 0
    for number in range(length):
        claim = says(number)
        rows = heads_of(head, claim)
        start = time.perf_counter()
        done = plan(rows, claim)
        seconds += time.perf_counter() - start
        read += len(rows)
        head = [row for row in done.insert if row.interval.end_us == INF_US]
    return seconds, read


def measured(live: int) -> tuple[int, float, float, float]:
    """Return rows met, and the time of an assert over all, over heads, and of a correct."""
    rows = fold(says(number) for number in range(live))
    new, correction = says(live + 1), says(0, Op.CORRECT)
    met = [row for row in rows if row.interval.overlaps(new.interval)]
    heads = heads_of(rows, new)
    calls = max(3, 3_000 // live)
    return (
        len(met),
        best_us(lambda: plan(met, new), calls=calls),
        best_us(lambda: plan(heads, new), calls=1_000),
        best_us(lambda: plan(met, correction), calls=calls),
    )


def main() -> None:
    """Print the table."""
    print(f"{'live':>6} {'rows':>6} {'assert, all read':>17} {'heads read':>12} {'correct':>12}")
    for live in (1, 5, 20, 500):
        met, whole, heads, correct = measured(live)
        print(f"{live:>6} {met:>6} {whole:>14.1f} us {heads:>9.1f} us {correct:>9.1f} us")
        if live == 1:
            verdict = "holds" if heads <= BAR_US else "FAILS"
            print(f"{'':>14}bar of {BAR_US:.0f} us for one incumbent: {verdict}")
    seconds, read = chain(CHAIN)
    print(
        f"chain of {CHAIN} open-ended asserts: {read} rows read, "
        f"{seconds / CHAIN * 1e6:.1f} us a plan, {seconds * 1e3:.0f} ms in all"
    )


if __name__ == "__main__":
    main()
