"""How many candidates a compile needs: what few of them keep of what thousands would give.

    python bench/bench_candidates.py [--objects 100000] [--rounds 60] [--keep FILE]

The store and the queries are those of `bench_compile.py`. Each query is compiled with thousands of
candidates first, then with fewer. `best 20` is the share of the twenty best objects of the large
compile that stand in the small one too, `worth` the share of the value of all its objects, `total`
the value of the small envelope over that of the large one.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
from pathlib import Path

from rich.console import Console
from rich.table import Table

from tenure.bench.bench_compile import WordVectors, filled, queries
from tenure.bench.compile_kept import WIDE, Asking, chosen, mean_kept, policy_of

FEWER = ((64, 64), (112, 160), (160, 160), (256, 200), (512, 400))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--objects", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=60)
    parser.add_argument("--keep", type=Path, help="keep the store in this file, or use it")
    given = parser.parse_args()
    table = Table("mode", "text, near", "candidates", "best 20", "worth", "total")
    with tempfile.TemporaryDirectory() as name:
        path = given.keep or Path(name) / f"{given.objects}.db"
        if not path.exists():
            filled(path, given.objects)
        asked = queries(given.rounds, given.objects, 77)
        for mode, encoder in (("lexical", None), ("hybrid", WordVectors())):
            asking = Asking(path, "code_generation", asked, encoder)
            wide = chosen(asking, policy_of(*WIDE))
            for few in FEWER:
                small = chosen(asking, policy_of(*few))
                means = [f"{share:.2f}" for share in mean_kept(wide, small)]
                many = statistics.mean(each.candidates for each in small)
                table.add_row(mode, f"{few[0]}, {few[1]}", f"{many:.0f}", *means)
    Console(width=100).print(table)


if __name__ == "__main__":
    main()
