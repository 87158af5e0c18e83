"""What a version and a vector take on disk and in memory, in both stores.

    python bench/bench_capacity.py [10000 50000] [--vectors 5000] [--version 2026.08.1] [--no-neo4j]

Fills a tenant with the history of `bench_store.py` at each size (claims of about 25 words, five
generations a slot), closes it, and measures its files; the growth between the first size and the
last, divided by the rows between them, is what one version takes. Vectors have 384 numbers, one a
claim; with the option `vector_index` they stand in the server's index as well. The Neo4j server
is one of its own; its store files are measured after an orderly stop, transaction logs apart.
"""

from __future__ import annotations

import argparse
import random
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tenure.bench.bench_store import TENANT, fill
from tenure.store.neo4j.store import open_store
from tenure.store.port.store import PlacedVector, Store
from tenure.store.port.vectors import quantise
from tenure.store.search.matrix import Matrix
from tenure.store.sqlite import SqliteStore
from tenure.tests.neo4j_process import DATABASE, LocalServer
from tenure.tests.neo4j_server import local_server, wanted_version

DIMENSIONS, ENCODER, PART = 384, "bench@1", 1_000
GIGABYTE = 10**9


@dataclass(frozen=True, slots=True)
class Taken:
    """What one store takes."""

    name: str
    first: int
    """Bytes at the first size."""
    last: int
    """Bytes at the last size."""
    with_vectors: int
    version: float
    """Bytes of one version."""
    vector: float
    """Bytes of one vector."""


def size_of(folder: Path) -> int:
    """Return the bytes of all files below a folder."""
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


def vectors(count: int) -> Iterator[list[PlacedVector]]:
    """Yield batches of random vectors, one a claim."""
    rng = random.Random(5)
    for first in range(1, count + 1, PART):
        yield [
            PlacedVector(
                f"object-{number}",
                ENCODER,
                "0",
                quantise([rng.gauss(0, 1) for _ in range(DIMENSIONS)]),
                "tenant",
            )
            for number in range(first, min(first + PART, count + 1))
        ]


def embed(store: Store, count: int) -> None:
    """Store vectors for the first claims."""
    for rows in vectors(count):
        store.put_vectors(TENANT, rows)


def embedded(sizes: Sequence[int], count: int) -> Taken:
    """Return what the embedded store takes."""
    totals: list[int] = []
    for versions in (sizes[0], sizes[-1]):
        with tempfile.TemporaryDirectory() as folder:
            store = SqliteStore(Path(folder) / "memory.db")
            fill(store, versions)
            store.close()
            totals.append(size_of(Path(folder)))
            if versions == sizes[-1]:
                store = SqliteStore(Path(folder) / "memory.db")
                embed(store, count)
                store.close()
                totals.append(size_of(Path(folder)))
    return _taken("SQLite", totals, sizes, count)


def served(version: str, sizes: Sequence[int], count: int, *, index: bool) -> tuple[Taken, int]:
    """Return what a server of its own takes, and the bytes of its transaction logs."""
    totals: list[int] = []
    logs = 0
    for versions in (sizes[0], sizes[-1]):
        server = local_server(version)
        try:
            server.start()
            store = open_store(server.uri, auth=server.auth, vector_index=index)
            fill(store, versions)
            store.close()
            totals.append(_data(server))
            if versions == sizes[-1]:
                server.start()
                store = open_store(server.uri, auth=server.auth, vector_index=index)
                embed(store, count)
                store.close()
                totals.append(_data(server))
                logs = size_of(server.home / "data" / "transactions")
        finally:
            server.close()
    name = f"Neo4j {version}" + (", vector_index" if index else "")
    return _taken(name, totals, sizes, count), logs


def _data(server: LocalServer) -> int:
    """Return the bytes of the store files of a server that ends with all written into them."""
    server.stop()
    return size_of(server.home / "data" / "databases" / DATABASE)


def _taken(name: str, totals: Sequence[int], sizes: Sequence[int], count: int) -> Taken:
    first, last, with_vectors = totals
    rows = sizes[-1] - sizes[0]
    return Taken(
        name, first, last, with_vectors, (last - first) / rows, (with_vectors - last) / count
    )


def in_memory(count: int) -> float:
    """Return the bytes of one vector in the matrix of a process."""
    matrix = Matrix(ENCODER)
    for rows in vectors(count):
        matrix.add(rows)
    return matrix.nbytes / count


def show(taken: Taken, sizes: Sequence[int]) -> None:
    """Print one store's line, and what a gigabyte holds."""
    print(
        f"| {taken.name} | {taken.first / 1e6:,.1f} MB | {taken.last / 1e6:,.1f} MB "
        f"| {taken.version:,.0f} B | {taken.vector:,.0f} B "
        f"| {GIGABYTE / taken.version / 1e6:,.2f} M |"
    )


def main() -> None:
    """Measure and print a table in Markdown."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sizes", nargs="*", type=int, default=[10_000, 50_000])
    parser.add_argument("--vectors", type=int, default=5_000)
    parser.add_argument("--version", default=wanted_version())
    parser.add_argument("--no-neo4j", action="store_true", help="measure the embedded store alone")
    stated = parser.parse_args()
    sizes = stated.sizes
    print(
        f"| store | {sizes[0]:,} versions | {sizes[-1]:,} versions | a version | a vector ", end=""
    )
    print("| versions in 1 GB |\n|---|---|---|---|---|---|")
    show(embedded(sizes, stated.vectors), sizes)
    if not stated.no_neo4j:
        for index in (False, True):
            taken, logs = served(stated.version, sizes, stated.vectors, index=index)
            show(taken, sizes)
            print(f"<!-- transaction logs beside it, until they rotate: {logs / 1e6:,.0f} MB -->")
    print(f"\nin the matrix of a process a vector takes {in_memory(stated.vectors):,.0f} B")


if __name__ == "__main__":
    main()
