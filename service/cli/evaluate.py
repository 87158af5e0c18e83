"""Commands that measure contexts: `evaluate recall` and `evaluate convert`.

`recall` says how much of the evidence of labelled questions a compile holds within a budget, how
much that is superseded it shows, and how it meets questions without an answer, beside plain
retrieval. Without `--store` the file is loaded into temporary stores. `convert` turns the files of
public benchmarks into the format that `recall` reads (C-102).
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, TextIO

import typer

from ...schema.errors import Unavailable
from ..visual.text import json_text
from .frame import answer, examples, frame_of, note, open_memory
from .progress import meter
from .show import Columns, Screen

if TYPE_CHECKING:
    from ..evaluation.recall import EvaluationOptions, RecallReport, Watch

app = typer.Typer()
evaluate_app = typer.Typer(help="Measure contexts on labelled questions.", rich_markup_mode=None)
app.add_typer(evaluate_app, name="evaluate")

_MOST_LINES: Final = 8
"""Reasons and refused items that are told; --json has all."""


@evaluate_app.command(
    epilog=examples(
        "tenure evaluate recall questions.jsonl",
        "tenure evaluate recall questions.jsonl --budget 1000 --encoder onnx",
        "tenure --store team.db --json evaluate recall questions.jsonl",
    )
)
def recall(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(help="Question sets in JSON Lines; `.gz` too.")],
    budget: Annotated[
        list[int] | None,
        typer.Option(min=1, metavar="TOKENS", help="Repeat it. [default: 1000 and 4000]"),
    ] = None,
    encoder: Annotated[
        str | None,
        typer.Option(
            help="onnx, or sentence-transformers: and a folder, for the dense and the hybrid "
            "baseline and for tenure itself. [default: the setting `encoder`]"
        ),
    ] = None,
    task: Annotated[
        str, typer.Option(help="The task type to compile for.")
    ] = "analytical_reporting",
    model: Annotated[str, typer.Option(help="Whose tokens are counted.")] = "generic",
    policy: Annotated[
        str | None,
        typer.Option(
            help="A ready policy, such as quality_first. [default: the setting `policy`]",
            metavar="PRESET",
        ),
    ] = None,
    limit: Annotated[
        int | None, typer.Option(min=1, help="Ask the first so many questions only.")
    ] = None,
    details: Annotated[
        Path | None, typer.Option(help="Write the score of every question into this file.")
    ] = None,
) -> None:
    """Measure the evidence in contexts, beside plain retrieval.

    Beside it stand BM25, dense and hybrid retrieval.
    """
    from ...schema.presets import preset
    from ..evaluation.recall import BUDGETS, EvaluationOptions

    settings = frame_of(context).settings().settings
    options = EvaluationOptions(
        budgets=tuple(dict.fromkeys(budget or BUDGETS)),
        task=task,
        model=model,
        encoder=encoder or settings.encoder,
        policy=preset(policy) if policy else settings.policy,
        limit=limit,
    )
    report = _measure(context, file, options, details)
    answer(context, report, lambda screen: show_recall(screen, report))


def _measure(
    context: typer.Context, file: Path, options: EvaluationOptions, details: Path | None
) -> RecallReport:
    from ..evaluation.recall import evaluate_recall

    with _score_writer(details) as watch, meter("questions") as gauge:
        # By the flag and not the setting: a store of one's own is never measured by accident.
        if frame_of(context).flags.get("store") is None:
            return evaluate_recall(file, options=options, progress=gauge.tell, watch=watch)

        with open_memory(context) as memory:
            return evaluate_recall(
                file, options=options, memory=memory, progress=gauge.tell, watch=watch
            )


@contextmanager
def _score_writer(path: Path | None) -> Generator[Watch | None]:
    """What writes scores into a file, line by line."""
    if path is None:
        yield None
        return
    with _open_for_writing(path) as file:
        yield lambda score: _write_line(file, score)


@contextmanager
def _open_for_writing(path: Path) -> Generator[TextIO]:
    try:
        file = path.open("w", encoding="utf-8")
    except OSError as error:
        raise Unavailable(
            f"{path} cannot be written: {error.strerror or error}", code="file_unwritable"
        ) from error
    with file:
        yield file


def _write_line(file: TextIO, value: object) -> None:
    file.write(json_text(value, indent=None) + "\n")


def _share(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


_FIGURES: Columns = {
    "budget": "budget",
    "method": "method",
    "recall": lambda row: _share(row.recall),
    "all": lambda row: _share(row.all_evidence),
    "precision": lambda row: _share(row.precision),
    "stale": lambda row: _share(row.stale_exposure),
    "abstains": lambda row: _share(row.abstention),
    "noise": lambda row: "-" if row.noise is None else f"{row.noise:.1f}",
    "false gaps": lambda row: _share(row.false_gaps),
    "tokens": lambda row: f"{row.tokens:.0f}",
    "p50 ms": lambda row: f"{row.p50_ms:.1f}",
    "p95 ms": lambda row: f"{row.p95_ms:.1f}",
}


_READS: Final[Mapping[str, str]] = {
    "locomo": "LoCoMo, a list of conversations with questions (locomo10.json)",
    "longmemeval": "LongMemEval, a list of questions with their sessions (longmemeval_s.json)",
    "memora": "Memora, a persona's folder, its evaluation_questions_*.json beside conversations/, "
    "or a line a person with `person`, `sessions` and `questions` (changing-lives.jsonl.gz)",
    "meetings": "QMSum, a line a meeting with `conversation`, `turns` and `questions` "
    "(meetings.jsonl.gz)",
}
"""What `convert` reads of each benchmark, for its help."""


def show_recall(screen: Screen, report: RecallReport) -> None:
    """Print the figures of an evaluation, and what stayed out."""
    screen.line(
        f"{report.questions} questions ({report.unanswerable} without an answer), "
        f"{report.items} items, {report.sets} sets, {report.seconds:.1f} s"
    )
    screen.table(report.figures, _FIGURES)
    if report.encoder is None:
        screen.line("no encoder: dense and hybrid are left out; try --encoder onnx")

    for budget, reasons in report.missed_by_budget.items():
        total = sum(reasons.values())
        if total:
            screen.line(f"\nevidence that stayed out of tenure's contexts at {budget} ({total}):")
        for reason, count in [*reasons.items()][:_MOST_LINES]:
            screen.line(f"  {count:>6}  {reason}")

    for refusal in report.refused[:_MOST_LINES]:
        screen.line(
            f"not loaded: line {refusal.line}, {refusal.id}: {refusal.reason} [{refusal.code}]"
        )
    if len(report.refused) > _MOST_LINES:
        screen.line(f"not loaded: {len(report.refused) - _MOST_LINES} more; --json lists them")


@evaluate_app.command(
    epilog=examples(
        "tenure evaluate convert --from locomo locomo10.json --output locomo.jsonl",
        "tenure evaluate convert --from longmemeval longmemeval_s.json -o s.jsonl",
        "tenure evaluate convert --from memora weekly/sales_manager -o m.jsonl",
        "tenure evaluate convert --from memora changing-lives.jsonl.gz -o lives.jsonl",
        "tenure evaluate convert --from meetings meetings.jsonl.gz -o set.jsonl",
    )
)
def convert(
    file: Annotated[
        Path,
        typer.Argument(
            help="The file as it was published, also packed with gzip; of memora, a persona's "
            "folder too."
        ),
    ],
    source: Annotated[
        str,
        typer.Option(
            "--from",
            help="What it reads. " + " ".join(f"{name}: {file}." for name, file in _READS.items()),
            metavar="BENCHMARK",
        ),
    ],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Where to. [default: standard output]"),
    ] = None,
) -> None:
    """Convert the file of a public benchmark into question sets."""
    from ..evaluation.formats import convert as convert_file

    lines = convert_file(source, file)
    # As they come: a whole benchmark need not be in memory.
    if output is None:
        for line in lines:
            print(json_text(line, indent=None))
        return

    turns, questions = _write_whole(lines, output)
    note(f"{turns} turns and {questions} questions in {output}")


def _write_whole(lines: Iterable[Mapping[str, Any]], output: Path) -> tuple[int, int]:
    """Write lines beside the target, and put them in its place when all of them are there."""
    turns = questions = 0
    draft = output.with_name(output.name + ".part")

    try:
        with _open_for_writing(draft) as file:
            for line in lines:
                _write_line(file, line)
                questions += "question" in line
                turns += "question" not in line
        draft.replace(output)
    finally:
        draft.unlink(missing_ok=True)
    return turns, questions
