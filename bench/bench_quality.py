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

import statistics
from collections import defaultdict
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import tenure
from tenure.bench.script import fresh_memory, options_of, print_table, shared_file
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


def hear(memory: tenure.Memory, clock: Clock, meeting: dict[str, Any]) -> None:
    """Write the turns of a meeting, each at its time."""
    for turn in turns_of(meeting):
        clock.now = turn.day
        origin = f"chat://{meeting['conversation']}"
        memory.observe(turn.text, turn.speaker, at=turn.day, source_origin=origin)
    memory.flush()
    clock.now = START + timedelta(days=1)


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
    rows: list[tuple[str, ...]] = []
    for name, floor in FLOORS.items():
        kinds = values[name, True], values[name, False]
        means = [f"{statistics.fmean(kind):.2f}" for kind in kinds]
        alerts = [statistics.fmean(value < floor for value in kind) for kind in kinds]
        shares = [f"{100 * share:.0f} %" for share in (*alerts, higher(*kinds))]
        rows.append((f"{name} >= {floor:g}", *means, *shares))
    heads = "metric", "right", "wrong", "alerts, right", "alerts, wrong", "AUC"
    title = f"{count[0]} contexts of the right meeting, {count[1]} of a wrong one"
    print_table(*heads, rows=rows, title=title)


def main() -> None:
    """Ask each meeting its own questions and another's."""
    options = options_of(__doc__, meetings=12, questions=6, budget=1000)
    by_length = sorted(meetings(shared_file(MEETINGS), None), key=lambda m: len(m["turns"]))
    chosen = by_length[: options.meetings]
    asked = [[q["question"] for q in m["questions"][: options.questions]] for m in chosen]
    values: Values = defaultdict(list)
    for number, meeting in enumerate(chosen):
        clock = Clock()
        with fresh_memory(clock=clock) as memory:
            hear(memory, clock, meeting)
            foreign = asked[(number + len(chosen) // 2) % len(chosen)]
            for answers, questions in ((True, asked[number]), (False, foreign)):
                for key, column in ask(memory, questions, options.budget, answers).items():
                    values[key] += column
    show(values)


if __name__ == "__main__":
    main()
