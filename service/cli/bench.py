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

from .frame import examples
from .show import answer, table

if TYPE_CHECKING:
    from ..client.memory import Memory

app = typer.Typer()

_READS = 200
_COMPILES = 10


@dataclass(frozen=True, slots=True)
class Measure:
    """One figure."""

    what: str
    median: float
    p99: float
    unit: str


@app.command(epilog=examples(["tenure bench", "tenure bench --claims 20000"]))
def bench(
    context: typer.Context,
    claims: Annotated[int, typer.Option(min=100, help="Claims to write.")] = 1000,
) -> None:
    """Measure writing, reading and compiling on a temporary store of this machine."""
    from ..client.connect import connect

    with tempfile.TemporaryDirectory(prefix="tenure-bench-") as folder:
        path = Path(folder) / "events.jsonl"
        path.write_text("".join(json.dumps(_event(n)) + "\n" for n in range(claims)))
        with connect(str(Path(folder) / "bench.db")) as memory:
            measured = (*_writes(memory, path, claims), *_reads(memory))
    rows = [(m.what, f"{m.median:,.2f}", f"{m.p99:,.2f}", m.unit) for m in measured]
    answer(context, measured, lambda out: table(out, ("what", "median", "p99", "unit"), rows))


def _event(number: int) -> dict[str, object]:
    return {
        "subject": f"Person {number % 100}",
        "slot": "office",
        "value": f"Room {number}",
        "valid_from": f"{2000 + number // 100 % 25}-01-01T00:00:00Z",
    }


def _writes(memory: Memory, path: Path, claims: int) -> tuple[Measure, ...]:
    report = memory.ingest(path)
    singles = [
        _timed(partial(memory.write, "Ann Lee", "skill", f"skill {n}")) for n in range(_READS)
    ]
    rate = claims / report.seconds
    return (Measure("import", rate, rate, "events/s"), _measure("one write", singles))


def _reads(memory: Memory) -> tuple[Measure, ...]:
    view, past = memory.as_of(), memory.as_of("2010-06-01T00:00:00Z")
    names = [f"Person {number % 100}" for number in range(_READS)]
    now = [_timed(partial(view.value, n, "office")) for n in names]
    then = [_timed(partial(past.value, n, "office")) for n in names]
    compiled = [
        _timed(partial(memory.compile, "data_extraction", f"the office of Person {n}"))
        for n in range(_COMPILES)
    ]
    return (
        _measure("read what is true now", now),
        _measure("read the past", then),
        _measure("compile", compiled),
    )


def _timed(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return (time.perf_counter() - began) * 1000


def _measure(what: str, spent_ms: list[float]) -> Measure:
    last = sorted(spent_ms)[max(0, round(len(spent_ms) * 0.99) - 1)]
    return Measure(what, statistics.median(spent_ms), last, "ms")
