"""tenure on tests that other people made: `python -m bench.common`, in a checkout.

One run prints every table of `docs/comparison.md` that is about such a test. What cannot be had is
skipped with the reason. The Agent Memory Benchmark is fetched; of all others the path of a copy is
stated.

    python -m bench.common --data copies/v2 --longitudinal LONGITUDINAL_V1_FIXTURE.json
    python -m bench.common --only sessions --sessions longmemeval=longmemeval_s.json \
        --rankings rankings.json --encoder onnx

`--rankings` writes `{question_id: [session ids]}` for each copy, of a search and of a compile:
`rankings.longmemeval.search.json` and `rankings.longmemeval.compile.json`.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from platform import python_version
from typing import Any

import tenure
from tenure.bench.bench_peers import Unavailable
from tenure.bench.evaluation.recall import RecallReport
from tenure.bench.peers.table import markdown
from tenure.schema.errors import TenureError

from .agent_memory import TenureMemory, wrong_answers
from .changed import write_changed
from .longitudinal import by_text, by_writes, load_fixture, totals
from .sessions import BUDGETS, CUTS, measure_sessions
from .sources import RIVALS, agent_memory_source, dataset_folders, rival_result

READS = ("search", "compile")


def agent_memory(options: argparse.Namespace) -> Iterator[str]:
    """The Agent Memory Benchmark: each data set, then its changed copy."""
    root = agent_memory_source(options.environments)
    sys.path.insert(0, str(root))
    for folder in dataset_folders(root, options.data):
        yield _agent_memory_table(f"Agent Memory Benchmark {folder.name}", folder, root, options)
        with tempfile.TemporaryDirectory() as place:
            copy = write_changed(folder, Path(place) / folder.name)
            title = f"Agent Memory Benchmark {folder.name}, other names, dates and wording"
            yield _agent_memory_table(title, copy, root, options)


def _agent_memory_table(title: str, folder: Path, root: Path, options: argparse.Namespace) -> str:
    from benchmarks.agent_memory.dataset import load
    from benchmarks.agent_memory.runner import run

    results: list[Any] = []
    notes: list[str] = []
    for reads in READS:
        system = TenureMemory(reads, options.encoder)
        result = run(system, load(folder.name, folder.parent))
        system.close()
        results.append(result.to_json())
        for question, given, expected in wrong_answers(result):
            notes.append(f"{system.name}, {question}: {given}, not {expected}")
    for name in RIVALS:
        try:
            results.append(rival_result(root, folder, name, options.environments))
        except Unavailable as reason:
            notes.append(f"{name} is left out: {reason}")

    groups = list(results[0]["metrics"]["by_dimension"])
    body: list[tuple[str, ...]] = []
    for result in results:
        overall, by_group = result["metrics"]["overall"], result["metrics"]["by_dimension"]
        name = f"{result['system']} {result['system_version']}"
        cells = [f"{by_group[group]['correct']}/{by_group[group]['total']}" for group in groups]
        body.append((name, f"{overall['correct']}/{overall['total']}", *cells))
    return _section(title, ("system", "right", *groups), body, notes)


def longitudinal(options: argparse.Namespace) -> Iterator[str]:
    """longitudinal-v1 from a copy of its fixture."""
    if options.longitudinal is None:
        raise Unavailable("state the path of a copy of its fixture: --longitudinal FILE")
    fixture = load_fixture(options.longitudinal)
    body: list[tuple[str, ...]] = []
    measured = {
        "tenure, by text": by_text(fixture, options.encoder),
        "tenure, by stated writes": by_writes(fixture),
    }
    for name, failures_by_case in measured.items():
        right, failures, kinds = totals(failures_by_case)
        counts = ", ".join(f"{kind} {count}" for kind, count in kinds.items()) or "-"
        body.append((name, f"{right}/{len(fixture['cases'])}", str(failures), counts))
    header = ("system", "questions without a failure", "failures", "by kind")
    yield _section("longitudinal-v1", header, body, ())


def sessions(options: argparse.Namespace) -> Iterator[str]:
    """Retrieval of sessions, and of evidence within budgets, on the user's copies."""
    if not options.sessions:
        raise Unavailable("state a copy: --sessions longmemeval=FILE, locomo, beam or memconflict")
    for option in options.sessions:
        source, _, path = option.partition("=")
        try:
            yield from _session_tables(source, path, options)
        except (Unavailable, TenureError) as reason:
            yield f"### {option}\n\nskipped: {reason}\n"


def _session_tables(source: str, path: str, options: argparse.Namespace) -> Iterator[str]:
    if not path:
        raise Unavailable(f"state where its copy is: {source}=FILE")
    report, recall = measure_sessions(
        source, Path(path), encoder=options.encoder, limit=options.limit
    )
    if options.rankings:
        report.write_rankings(options.rankings.with_suffix(f".{source}{options.rankings.suffix}"))

    measures = ("recall_any", "recall_all", "NDCG")
    header = ["order of sessions", *(f"{m}@{cut}" for cut in CUTS for m in measures)]
    notes = [f"left out, {reason}: {count}" for reason, count in report.left_out.items()]
    notes += [f"turn {item.id} is not stored: {item.reason}" for item in recall.refused]
    notes.append(f"questions asked: {recall.questions}; encoder: {recall.encoder or 'none'}")
    yield _section(f"{source}: sessions, %", header, report.rows(), notes)
    header = ["evidence", *(f"{budget:,} tokens" for budget in BUDGETS)]
    yield _section(f"{source}: evidence, %", header, _recall_rows(recall), ())


def _recall_rows(recall: RecallReport) -> list[tuple[str, ...]]:
    rows: dict[str, list[str]] = {}
    for figure in recall.figures:
        cell = "-" if figure.recall is None else f"{100 * figure.recall:.1f}"
        rows.setdefault(figure.method, []).append(cell)
    return [(method, *cells) for method, cells in rows.items()]


def _section(
    title: str, header: Sequence[str], body: Sequence[Sequence[str]], notes: Sequence[str]
) -> str:
    listed = "".join(f"\n- {note}" for note in notes)
    return f"### {title}\n\n{markdown(header, body)}\n{listed}\n"


PARTS: dict[str, Callable[[argparse.Namespace], Iterator[str]]] = {
    "agent-memory": agent_memory,
    "longitudinal": longitudinal,
    "sessions": sessions,
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the tables."""
    parser = argparse.ArgumentParser(prog="python -m bench.common", description=__doc__)
    parser.add_argument("--only", nargs="+", choices=PARTS, default=tuple(PARTS))
    parser.add_argument(
        "--data",
        nargs="+",
        type=Path,
        default=[],
        metavar="FOLDER",
        help="further data sets of the Agent Memory Benchmark, such as v2",
    )
    parser.add_argument("--longitudinal", type=Path, metavar="FILE")
    parser.add_argument("--sessions", nargs="+", default=[], metavar="SOURCE=PATH")
    parser.add_argument("--rankings", type=Path, metavar="FILE")
    parser.add_argument("--encoder", help="onnx, or sentence-transformers: and a folder")
    parser.add_argument("--limit", type=int, help="ask the first so many questions only")
    parser.add_argument("--environments", type=Path, metavar="FOLDER")
    options = parser.parse_args(arguments)

    day = datetime.now(UTC).date()
    print(f"Printed on {day} by tenure {tenure.__version__}, Python {python_version()}.\n")
    for name in options.only:
        try:
            for section in PARTS[name](options):
                print(section, flush=True)
        except (Unavailable, TenureError) as reason:
            print(f"### {name}\n\nskipped: {reason}\n", flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
