"""Do the quality metrics tell a context that bears on its question from one that does not?

    python -P bench/bench_quality.py [--meetings 12] [--questions 6] [--budget 1000]

The shortest meetings of `talk/meetings.jsonl.gz` are a store each. Each is asked its own questions,
which it answers, and those of another meeting, which nothing in it answers; so every context has a
label. Printed are, for signal density and precision, the mean of both kinds, how often each kind
alerts, and the chance that a context of the right meeting has the higher value (AUC; 50 % is
guessing).

The folder that TENURE_SHARED names holds the data; without it the script says so and stops.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

import tenure
from tenure.bench.talk_data import MEETINGS, START, Clock, meetings, turns_of
from tenure.compiler.explain.diagnosis import LOW_PRECISION
from tenure.compiler.trace.metrics import targets_of
from tenure.schema.policy import DEFAULT

FLOORS = {
    "signal_density": targets_of(DEFAULT.compile)["signal_density"].floor,
    "context_precision": LOW_PRECISION,
}
"""By metric: the value below which it alerts."""

Values = dict[tuple[str, bool], list[float]]
"""By metric, and whether the meeting answers the question."""


def load(meeting: dict[str, Any], path: Path) -> tenure.Memory:
    """A store of one meeting."""
    clock = Clock()
    memory = tenure.connect(str(path), clock=clock)
    for turn in turns_of(meeting):
        clock.now = turn.day
        origin = f"chat://{meeting['conversation']}"
        memory.observe(turn.text, turn.speaker, at=turn.day, source_origin=origin)
    memory.flush()
    clock.now = START + timedelta(days=1)
    return memory


def ask(memory: tenure.Memory, questions: Sequence[str], budget: int, answers: bool) -> Values:
    """The metrics of the contexts of some questions."""
    values: Values = defaultdict(list)
    for question in questions:
        envelope = memory.compile("analytical_reporting", question, budget_tokens=budget)
        metrics = {**envelope.quality.metrics, **envelope.trace.metrics}
        for name in FLOORS:
            values[name, answers].append(metrics[name])
    return values


def higher(right: Sequence[float], wrong: Sequence[float]) -> float:
    """The chance that a value of the right ones is above one of the wrong; ties count half."""
    wins = sum((a > b) + 0.5 * (a == b) for a in right for b in wrong)
    return wins / (len(right) * len(wrong))


def show(values: Values) -> None:
    """Print how well each metric tells the two kinds apart."""
    count = len(values["signal_density", True]), len(values["signal_density", False])
    table = Table(title=f"{count[0]} contexts of the right meeting, {count[1]} of a wrong one")
    for heading in ("metric", "right", "wrong", "alerts, right", "alerts, wrong", "AUC"):
        table.add_column(heading, justify="left" if heading == "metric" else "right")

    for name, floor in FLOORS.items():
        right, wrong = values[name, True], values[name, False]
        alerts = [
            100 * statistics.fmean(value < floor for value in kind) for kind in (right, wrong)
        ]
        table.add_row(
            f"{name} >= {floor:g}",
            f"{statistics.fmean(right):.2f}",
            f"{statistics.fmean(wrong):.2f}",
            *(f"{share:.0f} %" for share in alerts),
            f"{100 * higher(right, wrong):.0f} %",
        )
    Console(width=100).print(table)


def main() -> None:
    """Ask each meeting its own questions and another's."""
    parser = argparse.ArgumentParser(description="quality metrics on labelled contexts")
    parser.add_argument("--meetings", type=int, default=12)
    parser.add_argument("--questions", type=int, default=6)
    parser.add_argument("--budget", type=int, default=1000)
    options = parser.parse_args()
    shared = os.environ.get("TENURE_SHARED")
    if not shared or not Path(shared, MEETINGS).is_file():
        print("no talk to ask about: set TENURE_SHARED to the folder that holds data/")
        return

    by_length = sorted(meetings(Path(shared, MEETINGS), None), key=lambda m: len(m["turns"]))
    chosen = by_length[: options.meetings]
    asked = [[q["question"] for q in m["questions"][: options.questions]] for m in chosen]
    values: Values = defaultdict(list)
    for number, meeting in enumerate(chosen):
        with tempfile.TemporaryDirectory() as folder:
            memory = load(meeting, Path(folder) / "talk.db")
            foreign = asked[(number + len(chosen) // 2) % len(chosen)]
            for answers, questions in ((True, asked[number]), (False, foreign)):
                for key, column in ask(memory, questions, options.budget, answers).items():
                    values[key] += column
            memory.close()
    show(values)


if __name__ == "__main__":
    main()
