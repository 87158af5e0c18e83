"""Commands that measure contexts: `evaluate recall` and `evaluate convert`.

`recall` says how much of the evidence of labelled questions a compile holds within a budget, how
much that is superseded it shows, and how it meets questions without an answer, beside plain
retrieval. Without `--store` the file is loaded into temporary stores. `convert` turns the files of
public benchmarks into the format that `recall` reads. Source: checklist C-102; docs/evaluation.md.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TextIO

import typer

from ...schema.errors import Unavailable
from .frame import examples, frame_of, note, opened
from .show import answer, table

if TYPE_CHECKING:
    from rich.console import Console

    from ..client.memory import Memory
    from ..evaluation.recall import EvaluationOptions, RecallReport, ShowProgress, Watch
    from ..evaluation.scoring import Figures

app = typer.Typer()
evaluate_app = typer.Typer(help="Measure contexts on labelled questions.", rich_markup_mode=None)
app.add_typer(evaluate_app, name="evaluate")

_MISSES = 8


@evaluate_app.command(
    epilog=examples(
        [
            "tenure evaluate recall questions.jsonl",
            "tenure evaluate recall questions.jsonl --budget 1000 --budget 4000 --encoder onnx",
            "tenure --store team.db --json evaluate recall questions.jsonl",
        ]
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
    half_life_days: Annotated[
        float | None,
        typer.Option(min=0.001, help="Of documents. [default: the 30 days of a passage]"),
    ] = None,
    details: Annotated[
        Path | None, typer.Option(help="Write the score of every question into this file.")
    ] = None,
) -> None:
    """Measure how much evidence a context holds, beside BM25, dense and hybrid retrieval."""
    from ..evaluation.recall import BUDGETS, EvaluationOptions

    settings = frame_of(context).loaded().settings
    options = EvaluationOptions(
        budgets=tuple(dict.fromkeys(budget or BUDGETS)),
        task=task,
        model=model,
        encoder=encoder or settings.encoder,
        half_life_days=half_life_days,
        policy=settings.policy,
    )
    report = _run(context, file, options, details)
    answer(context, report, lambda out: show_recall(out, report))


def _run(
    context: typer.Context, file: Path, options: EvaluationOptions, details: Path | None
) -> RecallReport:
    from ..evaluation.recall import evaluate_recall

    with _watching(details) as watch, _progress() as progress:

        def measured(memory: Memory | None) -> RecallReport:
            return evaluate_recall(
                file, options=options, memory=memory, progress=progress, watch=watch
            )

        if frame_of(context).flags.get("store") is None:
            return measured(None)
        with opened(context) as memory:
            return measured(memory)


@contextmanager
def _watching(path: Path | None) -> Generator[Watch | None]:
    """Give what writes scores into a file, line by line."""
    if path is None:
        yield None
        return
    with _written(path) as file:
        yield lambda score: _line(file, asdict(score))


@contextmanager
def _written(path: Path) -> Generator[TextIO]:
    try:
        file = path.open("w", encoding="utf-8")
    except OSError as error:
        raise Unavailable(
            f"{path} cannot be written: {error.strerror or error}", code="file_unwritable"
        ) from error
    with file:
        yield file


def _line(file: TextIO, held: dict[str, Any]) -> None:
    file.write(json.dumps(held, ensure_ascii=False) + "\n")


@contextmanager
def _progress() -> Generator[ShowProgress | None]:
    """Give a line on standard error that says how far it is, on a terminal only."""
    if not sys.stderr.isatty():
        yield None
        return
    yield lambda done, total: print(f"\r{done} of {total} questions", end="", file=sys.stderr)
    print(file=sys.stderr)


def show_recall(out: Console, report: RecallReport) -> None:
    """Print the figures of an evaluation, and what stayed out."""
    out.print(
        f"{report.questions} questions ({report.unanswerable} without an answer), "
        f"{report.items} items, {report.sets} sets, {report.seconds:.1f} s"
    )
    heads = ("budget", "method", "recall", "all", "precision", "stale", "abstains", "noise",
             "false gaps", "tokens", "p50 ms", "p95 ms")  # fmt: skip
    table(out, heads, [_row(each) for each in report.figures])
    if report.encoder is None:
        out.print("no encoder: dense and hybrid are left out; try --encoder onnx")
    if report.missed:
        whole = sum(report.missed.values())
        out.print(f"\nevidence that stayed out of tenure's contexts ({whole}):")
        for reason, count in [*report.missed.items()][:_MISSES]:
            out.print(f"  {count:>6}  {reason}")
    for item in report.refused[:_MISSES]:
        out.print(f"not loaded: line {item.line}, {item.id}: {item.reason} [{item.code}]")
    if len(report.refused) > _MISSES:
        out.print(f"not loaded: {len(report.refused) - _MISSES} more; --json lists them")


def _row(each: Figures) -> tuple[object, ...]:
    shares = (each.recall, each.all_evidence, each.precision, each.stale_exposure, each.abstention)
    noise = None if each.noise is None else f"{each.noise:.1f}"
    return (
        each.budget,
        each.method,
        *(None if share is None else f"{share:.3f}" for share in shares),
        noise,
        None if each.false_gaps is None else f"{each.false_gaps:.3f}",
        f"{each.tokens:.0f}",
        f"{each.p50_ms:.1f}",
        f"{each.p95_ms:.1f}",
    )


@evaluate_app.command(
    epilog=examples(
        [
            "tenure evaluate convert --from locomo locomo10.json --output locomo.jsonl",
            "tenure evaluate convert --from longmemeval longmemeval_s.json -o s.jsonl",
            "tenure evaluate convert --from memora data/weekly/sales_manager -o memora.jsonl",
        ]
    )
)
def convert(
    file: Annotated[
        Path, typer.Argument(help="The published file; of Memora, a persona's folder too.")
    ],
    source: Annotated[
        str, typer.Option("--from", help="locomo, longmemeval or memora.", metavar="BENCHMARK")
    ],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Where to. [default: standard output]"),
    ] = None,
) -> None:
    """Convert the file of a public benchmark into question sets."""
    from ..evaluation.formats import convert as converted

    lines = converted(source, file)
    if output is None:
        for held in lines:
            print(json.dumps(held, ensure_ascii=False))
        return
    kinds = _kept(lines, output)
    note(f"{kinds[False]} turns and {kinds[True]} questions in {output}")


def _kept(lines: Iterable[dict[str, Any]], output: Path) -> dict[bool, int]:
    """Write lines beside the target and put them in its place when all of them are there."""
    counts = {False: 0, True: 0}
    beside = output.with_name(output.name + ".part")
    try:
        with _written(beside) as file:
            for held in lines:
                counts["question" in held] += 1
                _line(file, held)
        beside.replace(output)
    finally:
        beside.unlink(missing_ok=True)
    return counts
