"""How fast a real history loads: 19,331 recorded events about the members of Congress (CC0).

    python bench/bench_congress.py [--file FILE] [--json FILE]

Loads the whole file with the transaction times that it recorded, and the first half of it, each
into a new embedded store: the ratio of the two rates says how loading slows with what is there.
Without `--file` it looks in the folder that TENURE_SHARED names, and says so if that is not set.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import tempfile
import time
from pathlib import Path

from rich.console import Console
from rich.table import Table

from tenure import connect

HISTORY = "data/congress/events-2012-2018.jsonl.gz"


def load(path: Path, store: Path) -> tuple[int, float]:
    """Load a file into a new store and return its events and the seconds it took."""
    with connect(str(store)) as memory:
        began = time.perf_counter()
        report = memory.ingest(path, replay=True)
        return report.events, time.perf_counter() - began


def first_half(path: Path, folder: Path) -> Path:
    """Write the first half of a packed file's lines into a file of its own."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        lines = file.readlines()
    half = folder / "half.jsonl"
    half.write_text("".join(lines[: len(lines) // 2]), encoding="utf-8")
    return half


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    shared = os.environ.get("TENURE_SHARED")
    parser.add_argument("--file", type=Path, default=Path(shared, HISTORY) if shared else None)
    parser.add_argument("--json", type=Path, default=Path("bench/results/congress.json"))
    given = parser.parse_args()
    if given.file is None:
        print("no history to load: set TENURE_SHARED, or name the file with --file")
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        half = load(first_half(given.file, folder), folder / "half.db")
        whole = load(given.file, folder / "whole.db")
    show({"half": half, "whole": whole}, given.json)


def show(found: dict[str, tuple[int, float]], path: Path) -> None:
    table = Table("history", "events", "seconds", "events/s", title="loading a replayed history")
    for name, (events, seconds) in found.items():
        table.add_row(name, f"{events:,}", f"{seconds:.1f}", f"{events / seconds:,.0f}")
    Console(width=80).print(table)
    rates = {name: events / seconds for name, (events, seconds) in found.items()}
    print(f"the whole loads at {rates['whole'] / rates['half']:.2f} of the rate of its half")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"events_per_s": rates}, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
