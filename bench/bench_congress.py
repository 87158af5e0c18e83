"""How fast a real history loads: 19,331 recorded events about the members of Congress (CC0).

    python bench/bench_congress.py [--file FILE] [--json FILE]

Loads the whole file with the transaction times that it recorded, and the first half of it, each
into a new embedded store: the ratio of the two rates says how loading slows with what is there.
Without `--file` it looks in the folder that TENURE_SHARED names, and says so if that is not set.
"""

from __future__ import annotations

import gzip
import tempfile
import time
from pathlib import Path

from tenure import connect
from tenure.bench.script import options_of, print_table, shared_file, write_json

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
    options = options_of(__doc__, file=Path, json=Path("bench/results/congress.json"))
    history = options.file or shared_file(HISTORY)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        half = load(first_half(history, folder), folder / "half.db")
        whole = load(history, folder / "whole.db")

    found = {"half": half, "whole": whole}
    rates = {name: events / seconds for name, (events, seconds) in found.items()}
    rows = (
        (name, f"{events:,}", f"{seconds:.1f}", f"{rates[name]:,.0f}")
        for name, (events, seconds) in found.items()
    )
    heads = "history", "events", "seconds", "events/s"
    print_table(*heads, rows=rows, title="loading a replayed history")
    print(f"the whole loads at {rates['whole'] / rates['half']:.2f} of the rate of its half")
    write_json(options.json, {"events_per_s": rates})


if __name__ == "__main__":
    main()
