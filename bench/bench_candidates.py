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
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from rich.console import Console
from rich.table import Table

from tenure import connect
from tenure.bench.bench_compile import WordVectors, filled, queries
from tenure.schema.policy import DEFAULT, Policy

LARGE = (3_000, 1_000)
"""Text matches and near claims of the compile that others are held against."""
FEWER = ((64, 64), (112, 160), (160, 160), (256, 200), (512, 400))


class Chosen(NamedTuple):
    """What one compile chose."""

    scores: dict[str, int]
    candidates: int


def policy(text: int, near: int) -> Policy:
    rules = replace(
        DEFAULT.compile, text_candidates=text, text_beside_vectors=text, vector_candidates=near,
        candidates=5_000,
    )  # fmt: skip
    return replace(
        DEFAULT, compile=rules, read=replace(DEFAULT.read, text_candidates=text,
                                             vector_candidates=near),
    )  # fmt: skip


def chosen(path: Path, asked: Sequence[str], rules: Policy, *, hybrid: bool) -> list[Chosen]:
    encoder = WordVectors()
    found: list[Chosen] = []
    with connect(str(path), encoder=encoder if hybrid else None, policy=rules) as memory:
        for text in asked:
            vector = encoder.encode([text])[0] if hybrid else None
            envelope = memory.compile("code_generation", text, query_vector=vector)
            scores = {each.object_id: each.score for each in envelope.trace.compiled_objects}
            found.append(Chosen(scores, len(envelope.manifest.candidates)))
    return found


def kept(large: Chosen, small: Chosen) -> tuple[float, float, float]:
    best = sorted(large.scores, key=lambda each: (-large.scores[each], each))[:20]
    worth = sum(large.scores.values())
    shared = sum(value for each, value in large.scores.items() if each in small.scores)
    return (
        len(small.scores.keys() & set(best)) / max(1, len(best)),
        shared / max(1, worth),
        sum(small.scores.values()) / max(1, worth),
    )


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
        for hybrid in (False, True):
            large = chosen(path, asked, policy(*LARGE), hybrid=hybrid)
            for few in FEWER:
                small = chosen(path, asked, policy(*few), hybrid=hybrid)
                shares = [kept(a, b) for a, b in zip(large, small, strict=True)]
                means = [f"{statistics.mean(each):.2f}" for each in zip(*shares, strict=True)]
                many = statistics.mean(each.candidates for each in small)
                mode = "hybrid" if hybrid else "lexical"
                table.add_row(mode, f"{few[0]}, {few[1]}", f"{many:.0f}", *means)
    Console(width=100).print(table)


if __name__ == "__main__":
    main()
