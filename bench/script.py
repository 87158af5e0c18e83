"""What scripts of this folder have in common: options, shared data, stores of their own, tables.

An option is stated by its default, which tells its type:
`options_of(__doc__, sizes=[10_000, 100_000], rounds=60, json=Path, big=False)`.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from tenure import Memory, connect

SHARED = Path(os.environ.get("TENURE_SHARED") or Path(__file__).resolve().parents[2] / "shared")
"""The folder that holds `data/`: TENURE_SHARED, or `shared` next to the checkout."""


def parser_of(description: str | None, **options: Any) -> argparse.ArgumentParser:
    """A parser with an option a name. A type has no default, False is a flag, a list takes many."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    for name, default in options.items():
        flag = f"--{name.replace('_', '-')}"
        if default is False:
            parser.add_argument(flag, action="store_true")
        elif isinstance(default, type):
            parser.add_argument(flag, type=default)
        elif isinstance(default, list):
            kind = type(default[0]) if default else str
            parser.add_argument(flag, type=kind, nargs="*", default=default)
        else:
            parser.add_argument(flag, type=type(default), default=default)
    return parser


def options_of(description: str | None, **options: Any) -> argparse.Namespace:
    """What the command line of this process states of some options."""
    return parser_of(description, **options).parse_args()


def shared_file(path: str) -> Path:
    """A file below `SHARED`; without it the script says so and ends."""
    file = SHARED / path
    if not file.is_file():
        print(f"there is no {path}: set TENURE_SHARED to the folder that holds data/")
        raise SystemExit
    return file


@contextmanager
def fresh_memory(**options: Any) -> Iterator[Memory]:
    """A memory over a new file, which goes with it."""
    with (
        tempfile.TemporaryDirectory() as folder,
        connect(str(Path(folder) / "bench.db"), **options) as memory,
    ):
        yield memory


def median_ms(call: Callable[[int], object], rounds: int) -> float:
    """The median CPU of a call in milliseconds: other work hardly moves it."""
    times: list[float] = []
    for number in range(rounds):
        began = time.thread_time()
        call(number)
        times.append((time.thread_time() - began) * 1000)
    return statistics.median(times)


def print_table(*heads: str, rows: Iterable[Iterable[object]], title: str = "") -> None:
    """Print rows below their heads: the first column to the left, figures to the right."""
    table = Table(title=title)
    for place, head in enumerate(heads):
        table.add_column(head, justify="right" if place else "left")
    for row in rows:
        table.add_row(*map(str, row))
    Console(width=110).print(table)


def run_parts(parts: Iterable[str], run: Callable[[str, Path], bool]) -> None:
    """Run each part in a folder of its own, and end with an error where one misses its bar."""
    failures: list[str] = []
    for part in parts:
        with tempfile.TemporaryDirectory() as folder:
            is_good = run(part, Path(folder))
        print(f"{part}: {'kept' if is_good else 'MISSED'}")
        failures += [] if is_good else [part]
    if failures:
        raise SystemExit(f"missed: {', '.join(failures)}")


def write_json(path: Path | None, figures: object) -> None:
    """Write figures into a file, where one was named."""
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(figures, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
