"""What reaches the model, in one table: every bar of it, with plain retrieval over the same turns.

    python -P bench/bench_answers.py [--quick] [--row meetings year lives frames congress ...]
                                     [--encoder onnx] [--minutes 8] [--resume FILE] [--json FILE]

The rows are those of the scripts they come from, which say how each is measured and print more:

    meetings   `bench_talk.py`: evidence recall by budget, share of frame, who and when
    year       `bench_talk.py --year`: the same with the turns spread over a year
    lives      `bench_lives.py`: FAMA* and stale memory; structured, by rules, by a perfect reader
    congress   `bench_recall.py`: recall, abstention and tokens on a real history
    empty      tokens of an envelope in which nothing but the request stands
    contain    `bench_containment.py`: payloads that left their data block
    compile    `bench_compile.py --table`: times at 100,000 objects, and what a compile keeps

`--quick` takes samples of each row in some minutes, and its figures say little: one question of ten
moves a mean by ten points. The whole table takes hours; `--resume` and `--minutes` are those of
`bench_talk.py`, for the two rows that ask it. Rows without an encoder leave out what needs one.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import tempfile
from argparse import Namespace
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

import tenure
from tenure.bench import bench_compile, bench_lives, bench_recall, bench_talk
from tenure.bench.evaluation.recall import EvaluationOptions, evaluate_recall
from tenure.bench.talk_results import shares_of_frame
from tenure.schema.policy import DEFAULT
from tenure.tests.containment import Verdicts, trial

EMPTY_BAR = 90
YEAR_BAR = 1.0
STALE_BAR = 2.0
CONGRESS_BUDGETS = (500, 1000)
CONGRESS_BARS = {"recall": 1.0, "abstention": 0.95}


@dataclass(frozen=True, slots=True)
class BarLine:
    """A figure of the table beside what it is to reach."""

    row: str
    subject: str
    figure: float
    bar: float | None = None
    """None for what stands beside for comparison."""
    at_most: bool = False
    """Whether the bar is the most that the figure may be."""
    unit: str = ""

    @property
    def is_met(self) -> bool | None:
        """Whether the figure reaches its bar, as it is printed; None without one."""
        if self.bar is None:
            return None
        figure, bar = round(self.figure, 2), round(self.bar, 2)
        return figure <= bar if self.at_most else figure >= bar


def talk_options(options: Namespace, *flags: str) -> Namespace:
    """The options of `bench_talk.py` for a row."""
    arguments = [*flags]
    if options.encoder:
        arguments += ["--encoder", options.encoder]
    if options.quick:
        arguments += ["--meetings", "3", "--questions", "4"]
    if options.resume:
        arguments += ["--resume", str(options.resume)]
    if options.minutes:
        arguments += ["--minutes", str(options.minutes)]
    talk = bench_talk.options_of(arguments)
    talk.pack = DEFAULT
    return talk


def meeting_lines(options: Namespace, encoder: Any) -> Iterator[BarLine]:
    """Recall by method and budget, frames, and who and when."""
    talk = talk_options(options)
    methods = bench_talk.methods_of(talk)
    results = bench_talk.results_of(methods, talk, encoder)
    totals = {method.name: results.total(method.name) for method in methods}

    for method in methods:
        for budget in talk.budget:
            recall = bench_talk.percent(totals[method.name].recall[budget])
            bar = bench_talk.bar_of(method, budget, totals)
            yield BarLine("meetings", f"{method.name}, {budget:,}", recall, bar, unit="%")

    for method in methods:
        total = totals[method.name]
        if not total.tokens:
            continue
        _, frames = shares_of_frame(total, talk.budget)
        for budget, share in zip(talk.budget, frames, strict=True):
            bar = bench_talk.FRAME_BARS.get(budget)
            subject = f"{method.name}, frame at {budget:,}"
            yield BarLine("meetings", subject, share, bar, at_most=True, unit="%")
        labelled = 100 * statistics.fmean(total.labels) if total.labels else float("nan")
        yield BarLine("meetings", f"{method.name}, with who and when", labelled, 100.0, unit="%")


def year_lines(options: Namespace, encoder: Any) -> Iterator[BarLine]:
    """How far recall moves when the clock follows the talk over a year."""
    talk = talk_options(options, "--year")
    methods = [method for method in bench_talk.methods_of(talk) if method.name.startswith("tenure")]
    results = bench_talk.results_of(methods, talk, encoder)
    for method in methods:
        if not method.spread_days:
            continue
        spread = results.total(method.name)
        plain = results.total(method.name.removesuffix(", year"))
        for budget in talk.budget:
            moved = bench_talk.percent(spread.recall[budget])
            moved -= bench_talk.percent(plain.recall[budget])
            subject = f"{method.name}, {budget:,}: points lost"
            yield BarLine("year", subject, -moved, YEAR_BAR, at_most=True)


def life_lines(options: Namespace, encoder: Any) -> Iterator[BarLine]:
    """FAMA* of all modes and callers, and what is shown that no longer holds."""
    arguments: list[str] = []
    if options.quick:
        arguments = ["--people", "1", "--budget", "2000", "--caller", "bound"]
    tally = bench_lives.tally_of(bench_lives.options_of(arguments), encoder)
    for (method, budget), rows in tally.scores.items():
        fama = 100 * statistics.fmean(line.fama for _, line in rows)
        bar_text = bench_lives.bar_of(method, budget, tally)
        bar = float(bar_text) if bar_text else None
        yield BarLine("lives", f"{method}, {budget:,}: FAMA*", fama, bar)

        if method.startswith("structured"):
            shares = [line.stale for _, line in rows if line.stale is not None]
            stale = 100 * statistics.fmean(shares) if shares else 0.0
            subject = f"{method}, {budget:,}: stale"
            yield BarLine("lives", subject, stale, STALE_BAR, at_most=True, unit="%")


def congress_lines(options: Namespace, encoder: Any) -> Iterator[BarLine]:
    """Recall, abstention and tokens beside plain retrieval, on a real history."""
    history = Path(os.environ["TENURE_SHARED"], bench_recall.HISTORY)
    budgets = CONGRESS_BUDGETS[:1] if options.quick else CONGRESS_BUDGETS
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder, "congress-questions.jsonl")
        bench_recall.written(history, 4 if options.quick else 60, target)
        report = evaluate_recall(
            target, options=EvaluationOptions(budgets=budgets, encoder=encoder)
        )

    for figures in report.figures:
        is_ours = figures.method == "tenure"
        subject = f"{figures.method}, {figures.budget:,}"
        for name, bar in CONGRESS_BARS.items():
            figure = getattr(figures, name)
            yield BarLine("congress", f"{subject}: {name}", figure, bar if is_ours else None)
        yield BarLine("congress", f"{subject}: tokens", figures.tokens)


def empty_lines(options: Namespace, encoder: Any) -> Iterator[BarLine]:
    """The tokens of an envelope that says nothing but its policy and the request."""
    with tenure.connect(":memory:", encoder=encoder) as memory:
        envelope = memory.compile(
            "analytical_reporting", "What is new?", user_request="What is new?", budget_tokens=1000
        )
        yield BarLine("empty", "tokens", envelope.tokens, EMPTY_BAR, at_most=True)


def contain_lines(options: Namespace, encoder: Any) -> Iterator[BarLine]:
    """The payloads that left their block, over all channels."""
    file = Path(os.environ["TENURE_SHARED"], "data/injection/injections.dev.jsonl")
    texts = [json.loads(line)["text"] for line in file.read_text(encoding="utf-8").splitlines()]
    verdicts = Verdicts()
    payloads = texts[:: 100 if options.quick else 1]
    for payload in payloads:
        trial(payload, verdicts)
    subject = f"faults over {len(payloads)} payloads"
    yield BarLine("contain", subject, verdicts.faults, 0, at_most=True)


def compile_lines(options: Namespace, encoder: Any) -> Iterator[BarLine]:
    """CPU of a compile by kind of data, and what it keeps of a wide one."""
    objects, rounds = (5_000, 12) if options.quick else (100_000, 60)
    with tempfile.TemporaryDirectory() as folder:
        place = options.keep or Path(folder)
        for row in bench_compile.rows_of(("talk", "dense"), place, objects, rounds):
            subject = f"{row.kind}, {row.mode}"
            bars = bench_compile.BARS[row.mode]
            for name, figure, bar in zip(("p50", "p95"), row.times_ms, bars, strict=True):
                yield BarLine("compile", f"{subject}: {name}", figure, bar, True, "ms")
            parts = zip(("best twenty", "worth"), row.kept, bench_compile.KEPT_BARS, strict=False)
            for name, share, least in parts:
                yield BarLine("compile", f"{subject}: {name} kept", share, least)
            if row.evidence is not None:
                shown, shown_by_wide = (100 * share for share in row.evidence)
                subject += ": evidence, and that of the wide one"
                yield BarLine("compile", subject, shown, shown_by_wide, unit="%")


ROWS: dict[str, Callable[[Namespace, Any], Iterator[BarLine]]] = {
    "meetings": meeting_lines,
    "year": year_lines,
    "lives": life_lines,
    "congress": congress_lines,
    "empty": empty_lines,
    "contain": contain_lines,
    "compile": compile_lines,
}


def show(lines: Sequence[BarLine]) -> None:
    """Print the one table, and how many of the bars are met."""
    table = Table(title="what reaches the model")
    for heading in ("row", "what", "figure", "bar", ""):
        table.add_column(heading, justify="right" if heading in ("figure", "bar") else "left")
    for line in lines:
        sign = "<=" if line.at_most else ">="
        bar = "" if line.bar is None else f"{sign} {line.bar:,.2f}"
        verdict = {None: "", True: "met", False: "MISSED"}[line.is_met]
        table.add_row(line.row, line.subject, f"{line.figure:,.2f} {line.unit}", bar, verdict)
    Console(width=110).print(table)

    verdicts = [line.is_met for line in lines if line.bar is not None]
    print(f"{sum(map(bool, verdicts))} of {len(verdicts)} bars met")


def main() -> None:
    """Measure the rows that are asked for and print them."""
    parser = argparse.ArgumentParser(description="what reaches the model, in one table")
    parser.add_argument("--row", nargs="*", default=list(ROWS), choices=list(ROWS))
    parser.add_argument("--quick", action="store_true", help="samples; their figures say little")
    parser.add_argument("--encoder", default=None)
    parser.add_argument("--minutes", type=float, default=None)
    parser.add_argument("--resume", type=Path, default=None)
    parser.add_argument("--keep", type=Path, default=None, help="stores of the compile row")
    parser.add_argument("--json", type=Path, default=None)
    options = parser.parse_args()
    if not Path(os.environ.get("TENURE_SHARED", ""), "data").is_dir():
        print("no data to ask about: set TENURE_SHARED to the folder that holds data/")
        return
    encoder = None
    if options.encoder:
        from tenure.service.encoders.choice import encoder_of

        encoder = encoder_of(options.encoder)

    lines: list[BarLine] = []
    for name in options.row:
        lines += ROWS[name](options, encoder)
    show(lines)
    if options.json is not None:
        options.json.parent.mkdir(parents=True, exist_ok=True)
        members = [asdict(line) | {"met": line.is_met} for line in lines]
        options.json.write_text(json.dumps(members, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
