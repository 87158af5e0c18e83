"""What a window manager keeps in sight, on 132 real runs of a tool-using agent: one table.

The runs are chained into one session, one trial a task, and replayed through several policies. Each
request is checked against the pairing and order rules of its provider and against the window. A
question is a value of a right action (six characters or more) that stood verbatim in an earlier
user or tool message; it is asked 5, 20 and 60 turns later and at the end: does it stand in the
context, and if not, does an address in the context lead back to it? No policy knows the questions.
Each baseline is given the trigger at which it is equal with ours: in the mean request, in all
tokens (`total`, those of summarisers included), or in recall within a point.

Summaries of baselines are written by TextRank, a published summariser that knows nothing of tenure,
and once more by `summary_script.py`, which lists every identifier that tenure's own folds would
find: that is no summary of others any more, but the most that a summary of that length can keep.

Behind the policies stand the rows of tenure alone: values that the store has overtaken, summaries
that fail, short forms by kind of result, the error of counts, and what a session costs.

Run: `python bench/bench_window.py [--window 16384 32768 131072] [--equal mean total]
[--part policies rows]`. The 131,072 window takes four trials a task. `bench_window_kills.py` is
the row of killed processes. Reads the folder `TENURE_SHARED` (by default `shared` beside the
checkout).
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from tenure.bench.bench_overtaken import overtaken_chain
from tenure.bench.bench_window_life import print_lives
from tenure.bench.summary_script import scripted_summary
from tenure.bench.window_data import MODEL, Chain, Tally, chained
from tenure.bench.window_others import LIBRARIES, Unavailable, other, textrank
from tenure.bench.window_policies import (
    Policy,
    Summariser,
    clear_tool_uses,
    none,
    ours,
    placeholders,
    sliding_window,
    summarise_all,
    truncation,
)
from tenure.bench.window_replay import MEASURES, count_errors, replayed, trigger_at
from tenure.bench.window_rows import print_overtaken, print_summaries
from tenure.bench.window_tables import kinds_table
from tenure.compiler.tokens.capabilities import capability

WINDOWS: Final = (16_384, 32_768, 131_072)
PASSES_OF: Final = {131_072: 4}
"""Trials a task, where one does not fill the window."""
OVERTAKEN_TURNS: Final = 200
PLAIN: Final[Mapping[str, Policy]] = {
    "truncation": truncation,
    "sliding window": sliding_window,
    "clear_tool_uses": clear_tool_uses,
    "placeholders": placeholders,
}
"""The baselines without a summariser."""
SUMMARISING: Final = ("summarise all", *LIBRARIES)
SUMMARISERS: Final = ("textrank", "dense")
MODELS: Final = ("gpt-5", "generic")
"""Whose requests can be counted here, so that the bound of the count has an error."""
HEADER: Final = (
    f"{'policy':24} {'trigger':>7} {'mean':>7} {'total':>7} {'largest':>7} {'over':>5}"
    f" {'faults':>6} {'recall':>6} {'@5':>5} {'@20':>5} {'@60':>5} {'@end':>5} {'removed':>7}"
    f" {'reach':>6} {'stale':>6} {'cached':>6} {'loss':>5} {'cost':>7} {'ed/100':>6} {'edit ms':>7}"
)


@dataclass(frozen=True)
class Setting:
    """What all policies of one table are given."""

    window: int
    chain: Chain
    overtaken: Chain
    equal: str
    tries: int


def line(name: str, tally: Tally, trigger: float | None = None, own: Tally | None = None) -> str:
    """The row of a policy; `own` is the tally of ours, which says how many misses ours removes."""
    ages: list[str] = []
    for age in ("5", "20", "60", "end"):
        ages.append(f"{100 * tally.standing[age] / tally.asked[age]:5.1f}")
    asked = sum(tally.asked.values())
    row = capability(MODEL)
    cost = tally.written * row.write_permille[0] + tally.read * row.read_permille
    cost += tally.summariser

    misses = 100 - tally.recall
    removed = f"{'-':>7}"
    if own is not None and misses:
        removed = f"{100 * (own.recall - tally.recall) / misses:7.1f}"
    at = f"{'-':>7}" if trigger is None else f"{trigger:7.3f}"
    return (
        f"{name:24} {at} {tally.mean:7.0f} {tally.total / tally.requests:7.0f} {tally.largest:7}"
        f" {tally.over:5} {tally.faults:6} {tally.recall:6.1f} {' '.join(ages)} {removed}"
        f" {100 * tally.reachable / asked:6.1f} {tally.stale:6}"
        f" {100 * tally.read / max(1, tally.tokens):6.1f} {tally.cache_loss:5.1f} {cost / 1e9:7.2f}"
        f" {100 * tally.edits / tally.requests:6.1f} {tally.slowest_ms:7.1f}"
    )


def own_tally(setting: Setting) -> Tally:
    """Of ours; what the store has overtaken has a row of its own, because it needs a store."""
    return replayed(setting.window, ours, 1.0, setting.chain, check=True)


def policy_line(setting: Setting, name: str, policy: Policy, own: Tally) -> str:
    """The row of a policy that runs here, at the trigger where it is equal with ours."""
    measure = MEASURES[setting.equal]
    trigger, _ = trigger_at(
        lambda scale: replayed(setting.window, policy, scale, setting.chain),
        measure,
        measure(own),
        12,
    )
    tally = replayed(setting.window, policy, trigger, setting.chain, check=True)
    tally.stale = replayed(setting.window, policy, trigger, setting.overtaken).stale
    return line(name, tally, trigger, own)


def library_line(setting: Setting, name: str, writer: str, write: Summariser, own: Tally) -> str:
    """The row of another library's compaction, or why there is none."""
    label, measure = f"{name}, {writer}", MEASURES[setting.equal]
    try:
        with other(name, setting.window, write) as library:
            trigger, tally = trigger_at(
                lambda scale: library.replayed(setting.chain, scale),
                measure,
                measure(own),
                setting.tries,
            )
            tally.stale = library.replayed(setting.overtaken, trigger).stale
            return line(label, tally, trigger, own)
    except Unavailable as reason:
        return f"{label:24} not measured: {reason}"


@contextmanager
def summariser(writer: str) -> Iterator[Summariser]:
    """One of the two summarisers, until the block ends.

    Raises:
        Unavailable: when it cannot be installed.
    """
    if writer == "dense":
        yield scripted_summary
        return
    with textrank() as summarise:
        yield summarise


def print_policies(setting: Setting, baselines: list[str], writers: list[str]) -> None:
    """Print the table of one window."""
    heading = f"window {setting.window}, {MODEL}, equal in {setting.equal}"
    print(f"\n{heading}\n{HEADER}", flush=True)
    own = own_tally(setting)
    print(line("tenure", own), flush=True)
    if "none" in baselines:
        tally = replayed(setting.window, none, 1.0, setting.chain, check=True)
        tally.stale = replayed(setting.window, none, 1.0, setting.overtaken).stale
        print(line("none", tally), flush=True)

    for name, policy in PLAIN.items():
        if name in baselines:
            print(policy_line(setting, name, policy, own), flush=True)
    for writer in writers:
        try:
            with summariser(writer) as write:
                _print_summarising(setting, baselines, writer, write, own)
        except Unavailable as reason:
            print(f"summaries by {writer} not measured: {reason}", flush=True)


def _print_summarising(
    setting: Setting, baselines: list[str], writer: str, write: Summariser, own: Tally
) -> None:
    for name in SUMMARISING:
        if name not in baselines:
            continue
        if name in LIBRARIES:
            print(library_line(setting, name, writer, write, own), flush=True)
        else:
            policy = summarise_all(write)
            print(policy_line(setting, f"{name}, {writer}", policy, own), flush=True)


def print_kinds() -> None:
    """Print what short forms come to."""
    print("\ncompression by kind of result")
    print("\n".join(kinds_table()), flush=True)


def print_counts() -> None:
    """Print how far the bound of a request is from its count."""
    print(f"\n{'bound over count':16} {'requests':>7} {'p50 %':>7} {'p95 %':>7} {'least %':>7}")
    for model in MODELS:
        print(count_errors(model, ours, chained()).line(model), flush=True)


ROWS: Final[Mapping[str, Callable[[], None]]] = {
    "overtaken": print_overtaken,
    "summaries": print_summaries,
    "kinds": print_kinds,
    "counts": print_counts,
    "life": print_lives,
}
"""What is measured of tenure alone, by part."""


def main() -> None:
    """Print the table of policies for each window, and the rows behind it."""
    every = ["none", *PLAIN, *SUMMARISING]
    parts = ["policies", *ROWS]
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--part", nargs="*", choices=parts, default=parts)
    parser.add_argument("--window", type=int, nargs="*", default=WINDOWS)
    parser.add_argument("--equal", nargs="*", choices=[*MEASURES], default=["mean", "total"])
    parser.add_argument("--baseline", nargs="*", choices=every, default=every)
    parser.add_argument("--summariser", nargs="*", choices=SUMMARISERS, default=SUMMARISERS)
    parser.add_argument("--tries", type=int, default=8, help="replays of a library at most")
    arguments = parser.parse_args()

    for equal in arguments.equal if "policies" in arguments.part else ():
        for window in arguments.window:
            passes = PASSES_OF.get(window, 1)
            overtaken = overtaken_chain(OVERTAKEN_TURNS * passes)
            setting = Setting(window, chained(passes), overtaken, equal, arguments.tries)
            print_policies(setting, arguments.baseline, arguments.summariser)
    for part, print_rows in ROWS.items():
        if part in arguments.part:
            print_rows()


if __name__ == "__main__":
    main()
