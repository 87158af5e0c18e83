"""What a window keeps of what an agent needs next, on recorded runs: ours and what others do.

Customer service runs (one customer after another, and six in rotation) and coding runs are
replayed through windows of 16K and 32K. Needs, first uses and later questions are defined in
`window_runs.py` and `window_measure.py`; half of the sessions were held out from tuning. Each
baseline is shown with the full window and, with `--equal`, at the trigger where its mean request
is ours. LangChain's middleware runs where `langchain` is installed, with a summariser that lists
identifiers.

Run: `python bench/bench_window.py [--held-out] [--window 16384 32768] [--set service coding]
[--equal]`. Reads the folder `TENURE_SHARED`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from typing import Final

from tenure.bench.script import options_of
from tenure.bench.window_measure import Tally, Window, measure, share
from tenure.bench.window_policies import (
    ClearToolUses,
    LangChainPeer,
    LedgerPeer,
    Ours,
    SlidingWindow,
    Truncation,
)
from tenure.bench.window_runs import SETS, Run
from tenure.service.sessions.terms import window_limit

WINDOWS: Final = (16_384, 32_768)
BASELINES: Final = {
    "truncation": Truncation,
    "sliding window": SlidingWindow,
    "clear_tool_uses": ClearToolUses,
    "list of identifiers": LedgerPeer,
    **({"LangChain": LangChainPeer} if find_spec("langchain") else {}),
}
HEADER: Final = (
    f"{'window':>6} {'runs':9} {'policy':20} {'mean':>6} {'largest':>7} {'over':>4} {'bad':>3}"
    f" {'needs':>6} {'first':>6} {'later':>6} {'computed':>8} {'cost':>6}"
)


def line(window: int, runs: str, name: str, tally: Tally) -> str:
    """The row of a policy."""
    return (
        f"{window:6} {runs:9} {name:20} {tally.mean:6.0f} {tally.largest:7} {tally.over:4}"
        f" {tally.faults:3} {share(tally.needs):6.1f} {share(tally.first_uses):6.1f}"
        f" {share(tally.later):6.1f} {tally.computed_cost:8.0f} {tally.cost:6.0f}"
    )


def equal_trigger(runs: list[Run], make: Callable[..., Window], limit: int, mean: float) -> Tally:
    """The tally at the trigger whose mean request comes nearest to a mean, by bisection."""
    low, high = 0.05, 1.5
    best: Tally | None = None
    for _ in range(9):
        trigger = (low + high) / 2
        tally = measure(runs, partial(make, trigger=trigger), limit)
        if best is None or abs(tally.mean - mean) < abs(best.mean - mean):
            best = tally
        low, high = (trigger, high) if tally.mean < mean else (low, trigger)
    assert best is not None
    return best


def main() -> None:
    """Print the table."""
    arguments = options_of(
        __doc__, window=list(WINDOWS), set=list(SETS), held_out=False, equal=False
    )
    print(HEADER)
    for window in arguments.window:
        _, limit = window_limit("generic", window, None)
        for name in arguments.set:
            runs = SETS[name](held_out=arguments.held_out)
            own = measure(runs, Ours, limit)
            print(line(window, name, "tenure", own), flush=True)
            for label, make in BASELINES.items():
                tally = measure(runs, make, limit)
                print(line(window, name, label, tally), flush=True)
                if arguments.equal:
                    tally = equal_trigger(runs, make, limit, own.mean)
                    print(line(window, name, f"{label}, equal", tally), flush=True)


if __name__ == "__main__":
    main()
