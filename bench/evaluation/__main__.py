"""Measure contexts and name matching: `python -m bench.evaluation COMMAND`, in a checkout.

`recall` says how much of the evidence of labelled questions a compile holds within a budget, how
much that is superseded it shows, and how it meets questions without an answer, beside plain
retrieval. Without `--store` the file is loaded into temporary stores. `convert` turns the files of
public benchmarks into the format that `recall` reads (C-102).
"""

from __future__ import annotations

import csv
from collections.abc import Generator, Iterable, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, TextIO

import typer

from tenure.faces.cli.commands import command, group_options
from tenure.faces.cli.frame import Columns, Screen, answer, frame_of, note, open_memory
from tenure.faces.cli.main import GuardedGroup, meter, options
from tenure.schema.errors import InvalidInput, NotFound, Unavailable, unknown
from tenure.service.visual.text import json_text

if TYPE_CHECKING:
    from .fit import LabelledPair
    from .recall import EvaluationOptions, RecallReport, Watch
    from .resolution import FitReport, Interval95, Report, SetReport

app = typer.Typer(cls=GuardedGroup, no_args_is_help=True, rich_markup_mode=None)
group_options(app)(options)

_MOST_LINES: Final = 8
"""Reasons and refused items that are told; --json has all."""


@command(
    app,
    "python -m bench.evaluation recall questions.jsonl",
    "python -m bench.evaluation recall questions.jsonl --budget 1000 --encoder onnx",
    "python -m bench.evaluation --store team.db --json recall questions.jsonl",
)
def recall(
    context: typer.Context,
    file: Path,
    *,
    budget: Annotated[
        list[int] | None,
        typer.Option(min=1, metavar="TOKENS", help="Repeat it. [default: 1000 and 4000]"),
    ] = None,
    encoder: str | None = None,
    task: str = "analytical_reporting",
    model: str = "generic",
    policy: str | None = None,
    limit: int | None = None,
    details: Path | None = None,
) -> None:
    """Measure the evidence in contexts, beside plain retrieval.

    Beside it stand BM25, dense and hybrid retrieval.

    Options:
        file: Question sets in JSON Lines; `.gz` too.
        encoder: onnx, or sentence-transformers: and a folder, for the dense and the hybrid
            baseline and for tenure itself. [default: the setting `encoder`]
        task: The task type to compile for.
        model: Whose tokens are counted.
        policy (PRESET): A ready policy, such as quality_first. [default: the setting `policy`]
        limit: Ask the first so many questions only.
        details: Write the score of every question into this file.
    """
    from tenure.schema.presets import preset

    from .recall import BUDGETS, EvaluationOptions

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
    from .recall import evaluate_recall

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
    "beam": "BEAM, a folder with chat.json and probing_questions/, or several of them (chats/100K)",
    "memconflict": "MemConflict, a line a persona (Step4_4.jsonl)",
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


@command(
    app,
    "python -m bench.evaluation convert --from locomo locomo10.json --output locomo.jsonl",
    "python -m bench.evaluation convert --from longmemeval longmemeval_s.json -o s.jsonl",
    "python -m bench.evaluation convert --from memora weekly/sales_manager -o m.jsonl",
    "python -m bench.evaluation convert --from memora changing-lives.jsonl.gz -o lives.jsonl",
    "python -m bench.evaluation convert --from beam chats/100K -o beam.jsonl",
    "python -m bench.evaluation convert --from memconflict Step4_4.jsonl -o conflict.jsonl",
    "python -m bench.evaluation convert --from meetings meetings.jsonl.gz -o set.jsonl",
)
def convert(
    _: typer.Context,
    file: Path,
    *,
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
    """Convert the file of a public benchmark into question sets.

    Options:
        file: The file as it was published, also packed with gzip; of memora, a persona's folder
            too.
    """
    from .formats import convert as convert_file

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


@command(app)
def resolution(
    context: typer.Context,
    file: Path,
    *,
    assume_same_scope: bool = False,
    stress: str = "",
    refit: Path | None = None,
    model: Path | None = None,
) -> None:
    """Measure name matching on labelled pairs.

    The CSV has the columns of the alias data.

    Options:
        file: The labelled pairs.
        assume_same_scope: Lift person_without_context, and nothing else.
        stress: A stress test: give every pair, right or wrong, this context: scope, neighbour or
            both.
        refit: Refit Platt's two numbers and write the model here.
        model: Score with this model, as `--refit` wrote it.
    """
    from tenure.bench.evaluation.fit import model_to_json
    from tenure.resolution.model import default_model, model_from_json

    from .resolution import STRESS, refit_platt
    from .resolution import evaluate as measure

    pairs = _labelled_pairs(file)
    if stress not in STRESS:
        raise unknown("stress test", stress, filter(None, STRESS))

    scoring = None if model is None else model_from_json(model.read_text(encoding="utf-8"))
    report = measure(
        pairs, assume_same_scope=assume_same_scope, model=scoring, context=STRESS[stress]
    )
    # The report comes first: it is worth having where the refit is refused.
    answer(context, report, lambda screen: _show_report(screen, report, stress))

    if refit is not None:
        outcome = refit_platt(pairs, scoring or default_model())
        if outcome.model is None:
            raise InvalidInput(f"no new model: {outcome.refused}", code="refit_refused")
        refit.write_text(model_to_json(outcome.model), encoding="utf-8")


def _labelled_pairs(file: Path) -> tuple[LabelledPair, ...]:
    from .resolution import pairs_from_rows

    if not file.exists():
        raise NotFound(f"there is no file {file}", code="unknown_file")
    with file.open(encoding="utf-8", newline="") as lines:
        try:
            return pairs_from_rows(csv.DictReader(lines))
        except KeyError as missing:
            raise InvalidInput(
                f"{file} has no column {missing}; it needs pair_id, kind, name1, name2, "
                "is_match, cluster1, cluster2",
                code="bad_file",
            ) from missing


_LEVELS: Columns = {
    "column": "column",
    "level": "level",
    "matches": "matches",
    "others": "non_matches",
    "m": lambda row: f"{row.m:.4f}",
    "u": lambda row: f"{row.u:.4f}",
    "weight": lambda row: f"{row.weight:+.2f}",
}


@command(app, "python -m bench.evaluation fit labels.csv -o model.json")
def fit(
    context: typer.Context,
    file: Path,
    *,
    output: Annotated[Path, typer.Option("--output", "-o", help="Where the model goes.")] = Path(
        "model.json"
    ),
) -> None:
    """Fit a weight for each level of each column to labelled pairs.

    The CSV has the columns of `resolution`, and those of attributes in twos: email1, email2, ...

    Options:
        file: The labelled pairs.
    """
    from tenure.bench.evaluation.fit import model_to_json

    from .resolution import fit_columns

    report = fit_columns(_labelled_pairs(file), file.name)
    output.write_text(model_to_json(report.model), encoding="utf-8")
    answer(context, report, lambda screen: _show_fit(screen, report))


def _show_fit(screen: Screen, report: FitReport) -> None:
    screen.line(f"model {report.model.version}; what it does to the third that was held out:")
    screen.table((report.held_out.pooled, *report.held_out.sets), _SETS)
    screen.table(report.levels, _LEVELS)


def _proof(row: SetReport) -> str:
    return "yes" if row.proven else "n < 300"


def _proportion(interval: Interval95) -> str:
    return f"{interval.share:.3f} ({interval.right}/{interval.n})"


_SETS: Columns = {
    "set": "name",
    "pairs": "pairs",
    "bound": "bind.n",
    "right": "bind.right",
    "precision": lambda row: f"{row.bind.share:.4f}",
    "proven": _proof,
    "95 % interval": lambda row: f"{row.bind.low:.4f}-{row.bind.high:.4f}",
    "recall": lambda row: f"{row.recall:.3f}",
    "review": lambda row: f"{row.review_share:.3f}",
}
_BINS: Columns = {
    "score": lambda row: f"{row.low:.2f}-{row.high:.2f}",
    "pairs": "truth.n",
    "true": lambda row: _proportion(row.truth),
}
_CUTS: Columns = {
    "threshold": lambda row: f"{row.threshold:.2f}",
    "precision": lambda row: _proportion(row.precision),
    "recall": lambda row: f"{row.recall:.3f}",
}


def _show_report(screen: Screen, report: Report, stress: str) -> None:
    """Print a measurement: each set, the reliability of scores, and what a threshold would do."""
    if stress:
        screen.line(
            f"a stress test ({stress}): every pair, right or wrong, was given this context; real "
            "pairs have it less often, so the shares of reviews and the bins are no forecast"
        )
    screen.line(f"model {report.model_version}; calibration error {report.calibration_error:.3f}")
    screen.table((report.pooled, *report.sets), _SETS)
    screen.table(report.reliability, _BINS)
    screen.table(report.thresholds, _CUTS)


if __name__ == "__main__":
    typer.main.get_command(app)(prog_name="python -m bench.evaluation")
