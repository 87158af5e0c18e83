"""`tenure bench`: what this machine does with a temporary store, in seconds.

It measures the client as a user meets it: single writes, an import, point reads of now and
of the past, and a compile. The scripts in `bench/` of the repository measure every bar.
"""

from __future__ import annotations

import json
import statistics
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .frame import answer, examples
from .show import Columns

if TYPE_CHECKING:
    from ..client.memory import Memory

app = typer.Typer()

_READS = 200
_COMPILES = 10


@dataclass(frozen=True, slots=True)
class Measure:
    """One figure."""

    operation: str
    median: float
    p99: float
    unit: str


@app.command(epilog=examples("tenure bench", "tenure bench --claims 20000"))
def bench(
    context: typer.Context,
    claims: Annotated[int, typer.Option(min=100, help="Claims to write.")] = 1000,
) -> None:
    """Measure this machine: writing, reading and compiling.

    The store is temporary.
    """
    from ..client.connect import connect

    with tempfile.TemporaryDirectory(prefix="tenure-bench-") as folder:
        path = Path(folder) / "events.jsonl"
        path.write_text("".join(json.dumps(_event(number)) + "\n" for number in range(claims)))

        # A file and not :memory:, since a user's writes wait for the disk.
        with connect(str(Path(folder) / "bench.db")) as memory:
            measures = (*_writes(memory, path, claims), *_reads(memory))

    columns: Columns = {
        "operation": "operation",
        "median": lambda measure: f"{measure.median:,.2f}",
        "p99": lambda measure: f"{measure.p99:,.2f}",
        "unit": "unit",
    }
    answer(context, measures, columns)


def _event(number: int) -> dict[str, object]:
    # A hundred people, so that timelines grow and the past has something to say.
    return {
        "subject": f"Person {number % 100}",
        "slot": "office",
        "value": f"Room {number}",
        "valid_from": f"{2000 + number // 100 % 25}-01-01T00:00:00Z",
    }


def _writes(memory: Memory, path: Path, claims: int) -> tuple[Measure, ...]:
    report = memory.ingest(path)
    rate = claims / report.seconds

    times = [
        _time_ms(partial(memory.write, "Ann Lee", "skill", f"skill {number}"))
        for number in range(_READS)
    ]
    return (Measure("import", rate, rate, "events/s"), _measure("one write", times))


def _reads(memory: Memory) -> tuple[Measure, ...]:
    view, old_view = memory.as_of(), memory.as_of("2010-06-01T00:00:00Z")
    names = [f"Person {number % 100}" for number in range(_READS)]
    queries = [f"the office of {name}" for name in names[:_COMPILES]]

    return (
        _measure(
            "read what is true now",
            [_time_ms(partial(view.value, name, "office")) for name in names],
        ),
        _measure(
            "read the past", [_time_ms(partial(old_view.value, name, "office")) for name in names]
        ),
        _measure(
            "compile",
            [_time_ms(partial(memory.compile, "data_extraction", query)) for query in queries],
        ),
    )


def _time_ms(work: Callable[[], object]) -> float:
    begin = time.perf_counter()
    work()
    return (time.perf_counter() - begin) * 1000


def _measure(operation: str, times_ms: list[float]) -> Measure:
    p99 = sorted(times_ms)[max(0, round(len(times_ms) * 0.99) - 1)]
    return Measure(operation, statistics.median(times_ms), p99, "ms")
