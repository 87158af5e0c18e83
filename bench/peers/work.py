"""Measure one peer in its own environment and print its figures as one line of JSON.

    python bench/peers/work.py PEER --facts 1000 [--tasks known new]

`bench/bench_peers.py` starts this; every peer reads and writes through the same SQLite, the one
of `pysqlite3-binary`, where it uses any.
"""

from __future__ import annotations

import argparse
import importlib
import json
import logging
import sys


def main() -> int:
    """Run the tasks; one that the peer cannot finish gives the reason in place of figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("peer")
    parser.add_argument("--facts", type=int, default=1000)
    parser.add_argument("--tasks", nargs="+")
    options = parser.parse_args()

    # Before the peer is imported, so that its `import sqlite3` gets this one.
    sqlite = importlib.import_module("pysqlite3")
    sys.modules["sqlite3"] = sqlite
    tasks = importlib.import_module("tasks").TASKS
    peer = importlib.import_module(f"{options.peer}_peer").PEER

    logging.disable(logging.CRITICAL)
    figures: dict[str, object] = {"SQLite": sqlite.sqlite_version}
    for name in options.tasks or tasks:
        try:
            figures.update(tasks[name](peer, options.facts))
        # A peer may fail in ways of its own; the others are still measured.
        except Exception as error:  # noqa: BLE001
            figures[f"failed: {name}"] = f"{type(error).__name__}: {error}"
    print(json.dumps(figures))
    return 0


if __name__ == "__main__":
    sys.exit(main())
