"""What a compile costs by stage, lexical and hybrid, over facts and passages, and how it grows.

    python bench/bench_compile.py [--sizes 10000 100000] [--big] [--rounds 60] [--instructions]
    python bench/bench_compile.py --table [--data talk dense sparse] [--objects 100000]

Words are drawn by Zipf's law, as in real text, so that a query has rare and common words; every
other query also names a person. The store is a file, the query is embedded beforehand, and a
vector is the mean of random vectors of its words, so that near texts have near vectors. Figures
are milliseconds of wall time, one call a query: p50 and p95 over all queries; with
`--instructions` millions of instructions of the calling thread, which other work does not move.
`client` is `memory.compile` as a user calls it; the stages are those of the driver within another
call; `trace` is what asking for the trace adds, once.
`--table` prints the bars instead, in CPU: what a compile takes over 100,000 turns of talk as people
talk, over a dense graph of a thousand relations and over the facts and passages above, and what it
keeps of a compile that looks at thousands of candidates; that one's own times are the price of all.
`--big` adds a million objects, for which 8 GB of memory and half an hour must be free.
"""

from __future__ import annotations

import random
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np

from tenure import Memory, Write, connect
from tenure.bench import compile_data as data
from tenure.bench.bench_resolve import raw_id, stock
from tenure.bench.compile_kept import (
    WARM_UP,
    WIDE,
    Asking,
    chosen,
    evidence_shown,
    mean_kept,
    percentiles,
    policy_of,
)
from tenure.bench.instructions import instruction_clock
from tenure.bench.script import options_of, print_table, write_json
from tenure.compiler import compile as driver
from tenure.compiler.gathering.gather import gather
from tenure.compiler.gathering.mentions import ExactBinder
from tenure.compiler.ir.context import Circumstances
from tenure.compiler.request.parse import parse_request
from tenure.schema.terms import content_terms
from tenure.service.encoders.models import claims_of, texts_of
from tenure.service.reading.search import KNOWN, VectorView, VisibleVectors
from tenure.service.reading.view import point_of
from tenure.store.port.store import VectorRow
from tenure.store.search.matrix import WHY_PART

STAGES = ("normalize", "resolve", "gate", "validate", "rank", "rescue", "convert", "contain",
          "order", "emit")  # fmt: skip
SLOTS = ("office", "title", "timezone", "specialty", "skill")
VOCABULARY = 20_000
DIMENSIONS = 384
BARS = {"lexical": (20, 40), "hybrid": (30, 60)}
"""Milliseconds at 100,000 objects: p50 and p95."""
KEPT_BARS = (0.90, 0.80)
"""Of the best twenty and of the worth of a wide compile."""
WIDE_TALK = 1_600
"""Turns around found ones that the wide compile reads."""


def words(chance: random.Random, count: int) -> str:
    """Return words of a Zipf-like law: the rank is the inverse of a uniform number."""
    ranks = (int(VOCABULARY ** chance.random()) for _ in range(count))
    return " ".join(f"w{rank}x" for rank in ranks)


def writes(objects: int) -> Iterator[Write]:
    """Yield four facts of a person for each passage."""
    chance = random.Random(7)
    for number in range(objects):
        if number % 5 == 0:
            yield Write(
                content=f"{words(chance, 40)}.", object_type="retrieved_passage",
                source_origin=f"doc://d/{number}", why_it_matters="handbook",
            )  # fmt: skip
        else:
            slot, value = SLOTS[number % 5], f"{words(chance, 2)} {number}"
            yield Write(subject=raw_id(number // 5), slot=slot, value=value)


class WordVectors:
    """An encoder that costs nothing: the mean of the random vectors of a text's words."""

    id = "bench-words@1"
    dimensions = DIMENSIONS
    max_tokens = 256

    def __init__(self) -> None:
        self._noise = np.random.default_rng(5).normal(size=(4096, DIMENSIONS)).astype(np.float32)

    def encode(self, texts: Sequence[str]) -> list[list[float]]:
        rows: list[list[float]] = self.matrix(texts).tolist()
        return rows

    def matrix(self, texts: Sequence[str]) -> Any:
        """Return unit vectors, a row a text."""
        sums = np.stack([self._noise[self._rows(text)].sum(axis=0) for text in texts])
        return sums / np.linalg.norm(sums, axis=1, keepdims=True)

    @staticmethod
    def _rows(text: str) -> list[int]:
        return [_row(word) for word in text.split()] or [0]


@cache
def _row(word: str) -> int:
    return random.Random(word).randrange(4096)


def filled(path: Path, objects: int) -> tuple[float, float]:
    """Write so many objects and their vectors into a file; return the seconds of both.

    The people are put there first: whom a name means is what `bench_resolve.py` measures.
    """
    people = [f"Person {who}" for who in range(-(-objects // 5))]
    return data.filled(
        path, writes(objects), embed, lambda memory: stock(memory, people, type="person")
    )


class TermVectors(WordVectors):
    """The same over content terms, so that the commonest words do not make all texts alike."""

    id = "bench-terms@1"

    @staticmethod
    def _rows(text: str) -> list[int]:
        return [_row(term) for term in sorted(content_terms(text))] or [0]


def embed(memory: Memory, encoder: WordVectors | None = None) -> None:
    """Put the vectors of every claim, made in bulk."""
    encoder = encoder or WordVectors()
    store, tenant = memory._backend.store, memory.principal.tenant
    with store.reading(tenant) as reader:
        parts = [
            (each.claim.object_id, WHY_PART if kind == WHY_PART else "0", text)
            for each in claims_of(reader)
            for kind, text in texts_of(each.content).items()
        ]
    for start in range(0, len(parts), 10_000):
        some = parts[start : start + 10_000]
        vectors = np.rint(4000 * encoder.matrix([text for _, _, text in some])).astype("<i2")
        store.put_vectors(tenant, [
            VectorRow(object_id, encoder.id, part, vector.tobytes())
            for (object_id, part, _), vector in zip(some, vectors, strict=True)
        ])  # fmt: skip


Clock = Callable[[], float]
Asked = tuple[str, "list[float] | None"]


def measured(memory: Memory, asked: Asked, clock: Clock) -> dict[str, float]:
    """Return the seconds of gather and of each stage for one query."""
    query, vector = asked
    tenant, view, embedding = memory.principal.tenant, memory.as_of(), memory._backend.embedding
    times, began = dict[str, float](), clock()
    with memory._backend.store.reading(tenant) as reader:
        context = driver.context_of(
            parse_request("code_generation", query=query, query_vector=vector),
            Circumstances(
                principal=memory.principal, vocabulary=memory._backend.vocabulary(tenant),
                policy=memory.policy, point=point_of(view), keys=reader.keys(),
            ),
        )  # fmt: skip
        index = None
        if vector is not None and embedding is not None:
            index = VisibleVectors(
                VectorView(
                    vectors=embedding.vectors(tenant, reader), reader=reader,
                    sight=memory.principal.sight(context.scopes), point=point_of(view),
                    exact_rows=memory.policy.read.vector_exact_rows, ask=KNOWN,
                )
            )  # fmt: skip
        bind = ExactBinder(reader, context.scopes, point_of(view).tx_us)
        snapshot = gather(context, reader, bind=bind, index=index)
    times["gather"] = clock() - began
    with ExitStack() as patches:
        for name in STAGES:
            stage = clocked(name, getattr(driver, name), times, clock)
            patches.enter_context(patch.object(driver, name, stage))
        driver.compile_snapshot(snapshot, context)
    times["stages"] = clock() - began
    return times


def clocked(name: str, stage: Any, times: dict[str, float], clock: Clock) -> Any:
    """Return a stage that notes how long it takes."""

    def run(*outputs: Any, **options: Any) -> Any:
        began = clock()
        output = stage(*outputs, **options)
        times[name] = clock() - began
        return output

    return run


def client(memory: Memory, asked: Asked, clock: Clock) -> float:
    """Return the seconds of a compile as a user calls it."""
    memory._backend.settle()  # the manifest of the call before is stored after it returned
    began = clock()
    memory.compile("code_generation", asked[0], query_vector=asked[1])
    return clock() - began


def trace(memory: Memory, asked: Asked, clock: Clock) -> float:
    """Return the seconds that the trace of a compile takes, which is worked out when asked for."""
    envelope = memory.compile("code_generation", asked[0], query_vector=asked[1])
    began = clock()
    assert envelope.trace.trace_id == envelope.envelope_id
    return clock() - began


def queries(rounds: int, objects: int, seed: int) -> list[str]:
    chance = random.Random(seed)
    asked = [words(chance, 5) for _ in range(rounds)]
    people = [chance.randrange(objects // 5) for _ in range(rounds)]
    return [
        f"{text} of Person {who}" if n % 2 else text
        for n, (text, who) in enumerate(zip(asked, people, strict=True))
    ]


def measure(
    path: Path, objects: int, rounds: int, clock: Clock
) -> dict[str, dict[str, tuple[float, float]]]:
    """Return p50 and p95 by mode and stage."""
    encoder = WordVectors()
    found: dict[str, dict[str, tuple[float, float]]] = {}
    for mode in BARS:
        hybrid = mode == "hybrid"

        def asked(count: int, seed: int, hybrid: bool = hybrid) -> list[Asked]:
            texts = queries(count, objects, seed)
            return [(text, encoder.encode([text])[0] if hybrid else None) for text in texts]

        with connect(str(path), encoder=encoder if hybrid else None) as memory:
            for each in asked(60, 1):  # caches, and the matrix
                client(memory, each, clock)
            whole = [client(memory, each, clock) for each in asked(rounds, 3)]
            runs = [measured(memory, each, clock) for each in asked(rounds, 4)]
            told = [trace(memory, each, clock) for each in asked(rounds, 5)]
        found[mode] = {"client": percentiles(whole)}
        for name in ("gather", *STAGES, "stages"):
            found[mode][name] = percentiles([run[name] for run in runs])
        found[mode]["trace"] = percentiles(told)
    return found


def show(
    sizes: Sequence[int], found: dict[int, dict[str, dict[str, tuple[float, float]]]], unit: str
) -> None:
    heads = [head for size in sizes for head in (f"{size:,} p50", "p95")]
    for mode, bar in BARS.items():
        rows: list[tuple[str, ...]] = []
        for name in found[sizes[0]][mode]:
            pairs = [found[size][mode][name] for size in sizes]
            cells = [f"{value:.2f}" for pair in pairs for value in pair]
            rows.append((name, *cells, f"{pairs[-1][0] / pairs[0][0]:.2f}x"))
        title = f"{mode} compile, {unit} (bars at 100,000: p50 {bar[0]} ms, p95 {bar[1]} ms)"
        print_table("stage", *heads, "growth", rows=rows, title=title)


def asked_of(kind: str, folder: Path, objects: int, rounds: int) -> Asking | None:
    """The questions to one kind of store, which is made where it is not there yet."""
    path = folder / f"{kind}-{objects}.db"
    if kind == "sparse":
        path = folder / f"{objects}.db"
        if not path.exists():
            filled(path, objects)
        return Asking(path, "code_generation", queries(rounds, objects, 77), WordVectors())

    encoder = TermVectors()
    if kind == "dense":
        path = folder / "dense.db"
        if not path.exists():
            writes_of_graph = data.graph_writes(data.FACTS)
            data.filled(path, writes_of_graph, lambda m: embed(m, encoder), data.define_relations)
        return Asking(path, "analytical_reporting", data.graph_questions(rounds, 77), encoder)

    questions = data.talk_questions(rounds, objects, 77)
    if not questions:
        print("no talk to ask about: set TENURE_SHARED to the folder that holds data/")
        return None
    if not path.exists():
        data.filled(path, data.talk_writes(objects), lambda m: embed(m, encoder))
    texts, evidence = [q.text for q in questions], [q.evidence for q in questions]
    return Asking(path, "analytical_reporting", texts, encoder, evidence)


class Row(NamedTuple):
    """What compiles of one kind of data and mode take, and what they keep."""

    kind: str
    mode: str
    times_ms: tuple[float, float]
    """p50 and p95."""
    candidates: float
    kept: Sequence[float]
    """The shares `best 20`, `worth` and `total` of the wide compile."""
    price_ms: tuple[float, float]
    """p50 and p95 of the wide compile."""
    evidence: tuple[float, float] | None
    """The shares of the evidence that this compile and the wide one show, where that is known."""


def rows_of(kinds: Sequence[str], folder: Path, objects: int, rounds: int) -> Iterator[Row]:
    """Yield times, and what is kept, by kind of data and mode."""
    for kind in kinds:
        both_modes = asked_of(kind, folder, objects, rounds)
        if both_modes is None:
            continue
        for mode in BARS:
            asking = both_modes._replace(encoder=both_modes.encoder if mode == "hybrid" else None)
            default = chosen(asking, warm_up=WARM_UP)
            wide = chosen(asking, policy_of(*WIDE, talk_candidates=WIDE_TALK), warm_up=WARM_UP)
            evidence = None
            if asking.evidence:
                evidence = evidence_shown(asking, default), evidence_shown(asking, wide)
            yield Row(
                kind,
                mode,
                percentiles([answer.seconds for answer in default]),
                statistics.mean(answer.candidates for answer in default),
                mean_kept(wide, default),
                percentiles([answer.seconds for answer in wide]),
                evidence,
            )


def print_bars(kinds: Sequence[str], folder: Path, objects: int, rounds: int) -> None:
    """Print the one table: times, and what is kept, by kind of data and mode."""
    title = f"a compile over {objects:,} objects (dense: {data.FACTS:,} facts), CPU of the process"
    heads = ("p50 ms", "p95 ms", "candidates", "best 20", "worth", "total",
             "evidence", "wide p50", "p95", "evidence")  # fmt: skip
    table: list[tuple[str, ...]] = []
    for row in rows_of(kinds, folder, objects, rounds):
        times = [f"{ms:.1f}" for ms in row.times_ms]
        price = [f"{ms:.0f}" for ms in row.price_ms]
        shares = [f"{share:.2f}" for share in row.kept]
        evidence = ["", ""]
        if row.evidence is not None:
            evidence = [f"{share:.2f}" for share in row.evidence]
        count = f"{row.candidates:.0f}"
        table.append((row.kind, row.mode, *times, count, *shares, evidence[0], *price, evidence[1]))
    for mode, bar in BARS.items():
        table.append(("bar", mode, *map(str, bar), "", *(f"{share:.2f}" for share in KEPT_BARS)))
    print_table("data", "mode", *heads, rows=table, title=title)


def main() -> None:
    """Print the tables."""
    arguments = options_of(
        __doc__,
        sizes=[10_000, 100_000],
        big=False,
        rounds=60,
        instructions=False,
        table=False,
        data=["talk", "dense", "sparse"],
        objects=100_000,
        keep=Path,
        json=Path("bench/results/compile.json"),
    )
    sizes = [*arguments.sizes, *([1_000_000] if arguments.big else [])]
    clock = instruction_clock() if arguments.instructions else time.perf_counter
    found: dict[int, dict[str, dict[str, tuple[float, float]]]] = {}
    with tempfile.TemporaryDirectory() as name:
        if arguments.table:
            print_bars(
                arguments.data, arguments.keep or Path(name), arguments.objects, arguments.rounds
            )
            return
        for objects in sizes:
            path = (arguments.keep or Path(name)) / f"{objects}.db"
            if not path.exists():
                spent = filled(path, objects)
                print(f"{objects:,} objects: written in {spent[0]:.0f} s, vectors {spent[1]:.0f} s")
            found[objects] = measure(path, objects, arguments.rounds, clock)
    show(sizes, found, "M instructions" if arguments.instructions else "ms")
    write_json(arguments.json, found)


if __name__ == "__main__":
    main()
