"""What a plain write costs beside bare INSERTs of the same rows into the same tables and indices.

    python -P bench/bench_bare.py [--versions 10000] [--writes 100] [--rounds 9]

A store is filled and copied. Known people get new offices through tenure, one durable write each;
then the rows that those writes added are read from the file and put into the copy: the tables and
indices are its own, the triggers are dropped, one transaction a write with as many INSERTs as the
write added rows, synced at each commit as tenure does it. What tenure changes in place (the row
that it closes, the counters) is left out, so the bare side does a little less. Milliseconds of CPU
of the thread, medians over the writes of each round; the last line is the median of the rounds.
"""

from __future__ import annotations

import argparse
import os
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from rich.console import Console
from rich.table import Table

import tenure
from tenure.bench.bench_memory import seed

Insert = tuple[str, list[tuple[object, ...]]]
"""A statement, and the rows that all writes of a round have put into its table."""

WORDS_ADDED = {
    "text_all": """
SELECT claim_id, terms FROM main.searchable
WHERE claim_id NOT IN (SELECT claim_id FROM before.content) ORDER BY claim_id""",
    "text_live": """
SELECT claim_id, terms FROM main.live JOIN main.searchable USING (claim_id)
WHERE claim_id NOT IN (SELECT claim_id FROM before.live) ORDER BY claim_id""",
}
"""What the indices over texts took in, by index."""


def median_ms(call: Callable[[int], object], count: int) -> float:
    """The median CPU of calls."""
    times: list[float] = []
    for number in range(count):
        began = time.thread_time()
        call(number)
        times.append((time.thread_time() - began) * 1000)
    return statistics.median(times)


def copy(path: Path, target: Path) -> None:
    """Copy a file that is open."""
    target.unlink(missing_ok=True)
    source, db = sqlite3.connect(path), sqlite3.connect(target)
    source.backup(db)
    source.close()
    db.close()


def added(path: Path, before: Path) -> list[Insert]:
    """The rows that a file has and an older copy of it has not, by table."""
    db = sqlite3.connect(path)
    db.execute("ATTACH ? AS before", (str(before),))
    tables = db.execute(
        "SELECT name, wr FROM pragma_table_list WHERE schema = 'main' AND type = 'table'"
        " AND name NOT LIKE 'sqlite_%' ORDER BY name"
    ).fetchall()

    inserts: list[Insert] = []
    for name, without_rowid in tables:
        columns = db.execute("SELECT name, pk FROM pragma_table_info(?)", (name,)).fetchall()
        keys = [column for column, pk in columns if pk] if without_rowid else ["rowid"]
        key = ", ".join(keys)
        rows = db.execute(
            f"SELECT * FROM main.{name} WHERE ({key}) NOT IN (SELECT {key} FROM before.{name})"
            f" ORDER BY {key}"
        ).fetchall()
        if rows:
            marks = ", ".join("?" for _ in columns)
            inserts.append((f"INSERT INTO {name} VALUES ({marks})", rows))

    # What an index of words took in stands in no row of its own.
    for name, query in WORDS_ADDED.items():
        rows = db.execute(query).fetchall()
        inserts.append((f"INSERT INTO {name} (rowid, terms) VALUES (?, ?)", rows))
    db.close()
    return inserts


def bare(path: Path, inserts: list[Insert], writes: int) -> float:
    """The CPU of putting the rows of each write into a file by itself."""
    db = sqlite3.connect(path, isolation_level=None)
    db.execute("PRAGMA journal_mode = WAL")
    db.execute("PRAGMA synchronous = FULL")
    for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
        db.execute(f"DROP TRIGGER {name}")

    def put(number: int) -> None:
        db.execute("BEGIN IMMEDIATE")
        for statement, rows in inserts:
            # The rows of a table stand in order of writing, as many for each write.
            first, last = (len(rows) * place // writes for place in (number, number + 1))
            for row in rows[first:last]:
                db.execute(statement, row)
        db.execute("COMMIT")

    cpu_ms = median_ms(put, writes)
    db.close()
    return cpu_ms


def figures(tenure_ms: float, bare_ms: float, ratio: float) -> tuple[str, str, str]:
    """The cells of a round."""
    return f"{tenure_ms:.2f}", f"{bare_ms:.3f}", f"{ratio:.1f}x"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--versions", type=int, default=10_000)
    parser.add_argument("--writes", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=9)
    options = parser.parse_args()

    table = Table("ms of CPU", "tenure", "bare INSERTs", "ratio", "a write", "")
    rounds: list[tuple[float, float, float]] = []
    with tempfile.TemporaryDirectory() as folder:
        path, before = Path(folder, "store.db"), Path(folder, "before.db")
        memory = tenure.connect(str(path))
        ids = seed(memory, options.versions)
        for number in range(options.rounds):
            for person in ids[-5:]:  # the caches of a new connection
                memory.write(person, "title", f"warm {number}")
            memory.flush()
            copy(path, before)

            def write(n: int, memory: tenure.Memory = memory, turn: int = number) -> None:
                memory.write(ids[n % len(ids)], "office", f"Room {turn}/{n}")

            cpu_ms = median_ms(write, options.writes)
            memory.close()

            inserts = added(path, before)
            bare_ms = bare(before, inserts, options.writes)
            row_count = sum(len(rows) for _, rows in inserts) / options.writes
            rounds.append((cpu_ms, bare_ms, cpu_ms / bare_ms))
            shape = f"{len(inserts)} tables", f"{row_count:.1f} rows"
            table.add_row(f"round {number + 1}", *figures(*rounds[-1]), *shape)
            memory = tenure.connect(str(path))
        memory.close()

    table.add_row("median", *figures(*map(statistics.median, zip(*rounds, strict=True))), "", "")
    Console(width=100).print(table)
    print(f"load {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
