"""Evidence of chats over months in a context, beside BM25: people to people, and to an assistant.

    python -P bench/bench_chats.py [--budget 500 1000 2000 4000] [--encoder onnx] [--task TYPE]

`tests/data/chats.jsonl.gz` holds two talks of friends over twelve sessions each, and fifteen
sessions with an assistant, with questions that use other words than the answers: of one turn, of
several sessions, of times, of what changed, and some that nothing answers. Half of the questions,
by a seed, were read by who mended the ranking; the others were only counted.
"""

from __future__ import annotations

from pathlib import Path

from tenure.bench.evaluation.recall import EvaluationOptions, evaluate_recall
from tenure.bench.evaluation.scoring import Score, figures
from tenure.bench.script import options_of, print_table

CHATS = Path(__file__).parent.parent / "tests" / "data" / "chats.jsonl.gz"
PARTS = ("read", "unread")


def scores_of(options: EvaluationOptions) -> dict[str, list[Score]]:
    """The scores of every question, by the part it belongs to."""
    parts: dict[str, list[Score]] = {part: [] for part in PARTS}

    def watch(score: Score) -> None:
        parts[score.category.split()[0]].append(score)

    evaluate_recall(CHATS, options=options, watch=watch)
    return parts


def percent(share: float | None) -> str:
    """A share as it stands in the table."""
    return "-" if share is None else f"{100 * share:.1f}"


def main() -> None:
    """Ask every question and print the table."""
    args = options_of(__doc__, budget=[500, 1_000, 2_000, 4_000], encoder=str, task="conversation")
    budgets = tuple(args.budget)
    options = EvaluationOptions(budgets=budgets, task=args.task, encoder=args.encoder)
    rows: list[tuple[str, ...]] = []
    for part, scores in scores_of(options).items():
        for row in figures(scores):
            shares = percent(row.recall), percent(row.stale_exposure)
            noise = "-" if row.noise is None else f"{row.noise:.1f}"
            rows.append((part, f"{row.budget:,}", row.method, *shares, noise))
    heads = "part", "tokens", "method", "recall", "stale", "noise"
    print_table(*heads, rows=rows, title="chats, percent")


if __name__ == "__main__":
    main()
