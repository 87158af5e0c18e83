"""Embedding: vectors for what is written, made after the commit, and for what has none yet.

A write is acknowledged before its vectors are there: they are made by one thread of this
process, in batches, and stored by `put_vectors`, which takes no stamp. The queue is bounded
and never makes a writer wait: what does not fit is left to a catch-up, which asks the store
what has no vector of this encoder and makes exactly that. `flush` and `close` wait for both;
after a crash `re_embed` finds what is missing in the same way, so nothing is ever lost.

A claim has one vector for each chunk of its content and one for `why_it_matters`. Rows carry
the encoder's id, and a search compares one id only.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import islice
from types import TracebackType
from typing import Final, Self

from ...schema.claim import Assertion, Content
from ...store.port.store import Reader, RecordKind, Store, VectorRow
from ...store.port.vectors import Vectors, bad_vector, quantise, to16
from ...store.search.cache_bounds import DEFAULT_BOUNDS
from ...store.search.matrices import Matrices
from ...store.search.matrix import WHY_PART, Matrix
from .chunking import chunks_of
from .encoder import CountsTokens, Encoder
from .progress import Progress, ShowProgress

MOST_WAITING: Final = 20_000
"""Claims in the queue: some 20 MB of text, half a minute of an encoder on a small machine."""
BATCH: Final = 128
"""Claims that are encoded and stored together."""
_PAGE: Final = 10_000
"""Claims read from one snapshot of a catch-up."""
_CHARACTERS_A_TOKEN: Final = 3
"""For an encoder that counts no tokens: English has about four."""


Waiting = tuple[str, Content]
"""A claim that waits for its vectors: its object id and what it says."""


@dataclass(slots=True)
class _Queue:
    """What waits, by tenant; guarded by the lock of its owner."""

    waiting: dict[str, list[Waiting]] = field(default_factory=dict[str, list[Waiting]])
    count: int = 0
    overflow: set[str] = field(default_factory=set[str])
    """Tenants with claims that did not fit."""
    failures: set[str] = field(default_factory=set[str])
    """Tenants with claims that could not be embedded; tried again by the next `flush`."""
    error: Exception | None = None
    """The first error that nobody was told yet."""
    running: bool = False

    def take(self) -> tuple[str | None, list[Waiting]]:
        """Return a batch of one tenant, or a tenant that is behind with no batch."""
        for tenant, claims in self.waiting.items():
            batch, remainder = claims[:BATCH], claims[BATCH:]
            self.count -= len(batch)
            if remainder:
                self.waiting[tenant] = remainder
            else:
                del self.waiting[tenant]
            return tenant, batch
        return (self.overflow.pop() if self.overflow else None), []


class _Attempt:
    """One piece of background work: its error is kept for `flush`, and the next piece runs."""

    def __init__(self, queue: _Queue, tenant: str) -> None:
        self._queue = queue
        self._tenant = tenant

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool:
        if error is None:
            return False
        self._queue.failures.add(self._tenant)
        if isinstance(error, Exception):
            self._queue.error = self._queue.error or error
        return isinstance(error, Exception)


class Embedding:
    """The vectors of one store and encoder; safe to share between threads."""

    def __init__(
        self,
        store: Store,
        encoder: Encoder,
        *,
        most_waiting: int = MOST_WAITING,
        most_bytes: int = DEFAULT_BOUNDS.most_bytes("vectors"),
    ) -> None:
        self.encoder = encoder
        self._store = store
        self._matrices = Matrices(most_bytes)
        self._most_waiting = most_waiting
        self._queue = _Queue()
        self._changed = threading.Condition()
        self._worker = ThreadPoolExecutor(1, thread_name_prefix="tenure-embedding")
        self._closed = False

    @property
    def used_bytes(self) -> int:
        """What the vectors take in memory."""
        return self._matrices.used_bytes

    def query(self, text: str) -> tuple[int, ...]:
        """Return the whole-number vector of a question."""
        return to16(encode_one(self.encoder, text), dimensions=self.encoder.dimensions)

    def vectors(self, tenant: str, reader: Reader) -> Vectors:
        """Return what a search walks: the store's own index where it keeps one, else the matrix."""
        index = reader.near(self.encoder.id)
        return self.matrix(tenant, reader) if index is None else index

    def matrix(self, tenant: str, reader: Reader) -> Matrix:
        """Return the vectors of a tenant, as new as the reader's snapshot at least."""
        return self._matrices.current(tenant, self.encoder.id, reader)

    def enqueue(self, tenant: str, claims: Iterable[Waiting]) -> None:
        """Have vectors made for claims that were committed; never waits for the encoder."""
        batch = list(claims)
        with self._changed:
            if not batch or self._closed:
                return
            queue = self._queue
            room = max(0, self._most_waiting - queue.count)
            accepted_claims = batch[:room]
            if len(accepted_claims) < len(batch):
                queue.overflow.add(tenant)
            if accepted_claims:
                queue.waiting.setdefault(tenant, []).extend(accepted_claims)
                queue.count += len(accepted_claims)
            self._start()

    def flush(self) -> None:
        """Wait until everything written before is searchable by vector.

        Raises:
            TenureError: what the encoder or the store refused, once; the claims stay marked
                and are tried again by the next call.
        """
        with self._changed:
            queue = self._queue
            queue.overflow |= queue.failures
            queue.failures.clear()
            self._start()
            while queue.running:
                self._changed.wait()
            error, queue.error = queue.error, None
        if error is not None:
            raise error

    def close(self) -> None:
        """Finish what waits and stop; what is written afterwards is left to a catch-up."""
        with self._changed:
            self._closed = True
        try:
            self.flush()
        finally:
            self._worker.shutdown()

    def catch_up(self, tenant: str, progress: ShowProgress | None = None) -> Progress:
        """Make the vectors that claims of a tenant lack; can be stopped and run again."""
        attempted_ids: set[str] = set()
        missing = self._count_missing(tenant)
        while page := self._page(tenant, attempted_ids):
            for start in range(0, len(page), BATCH):
                batch = page[start : start + BATCH]
                self._embed(tenant, batch)
                attempted_ids.update(object_id for object_id, _ in batch)
                if progress is not None:
                    progress(Progress(len(attempted_ids), max(missing, len(attempted_ids))))
        return Progress(len(attempted_ids), max(missing, len(attempted_ids)))

    def _start(self) -> None:
        """Begin a round unless one runs or nothing waits; the caller holds the lock."""
        queue = self._queue
        if not queue.running and (queue.count or queue.overflow):
            queue.running = True
            self._worker.submit(self._work)

    def _work(self) -> None:
        """Empty the queue; runs on the worker, and ends when nothing waits."""
        tenant, batch = self._next()
        while tenant is not None:
            with _Attempt(self._queue, tenant):
                if batch:
                    self._embed(tenant, batch)
                else:
                    self.catch_up(tenant)
            tenant, batch = self._next()

    def _next(self) -> tuple[str | None, list[Waiting]]:
        with self._changed:
            tenant, batch = self._queue.take()
            if tenant is None:
                self._queue.running = False
                self._changed.notify_all()
            return tenant, batch

    def _embed(self, tenant: str, claims: Sequence[Waiting]) -> None:
        rows = vector_rows(self.encoder, claims)
        if rows:
            self._store.put_vectors(tenant, rows)

    def _count_missing(self, tenant: str) -> int:
        with self._store.reading(tenant) as reader:
            return sum(1 for _ in self._missing(tenant, reader))

    def _page(self, tenant: str, attempted_ids: set[str]) -> list[Waiting]:
        with self._store.reading(tenant) as reader:
            missing = self._missing(tenant, reader)
            return list(
                islice((claim for claim in missing if claim[0] not in attempted_ids), _PAGE)
            )

    def _missing(self, tenant: str, reader: Reader) -> Iterator[Waiting]:
        matrix = self.matrix(tenant, reader)
        for record in claims_of(reader):
            object_id = record.claim.object_id
            if texts_of(record.content) and not matrix.holds(object_id):
                yield object_id, record.content


def claims_of(reader: Reader) -> Iterator[Assertion]:
    """Yield every claim of a tenant whose content is there, whoever may see it."""
    for record in reader.records(RecordKind.CLAIM):
        if isinstance(record, Assertion) and not record.erased:
            yield record


def texts_of(content: Content) -> dict[str, str]:
    """Return the two texts of a claim that are embedded, by kind; empty ones are left out.

    The content is the claim as a sentence and the text it was taken from.
    """
    texts: dict[str, str] = {}
    claim, source = content.normalized_claim.strip(), content.text.strip()
    if claim or source:
        parts = [claim] if claim == source else [claim, source]
        texts["content"] = "\n".join(part for part in parts if part)

    reason = content.why_it_matters.strip()
    if reason:
        texts[WHY_PART] = reason
    return texts


def vector_rows(encoder: Encoder, claims: Sequence[Waiting]) -> list[VectorRow]:
    """Return the vector rows of claims, all of one encoding.

    Raises:
        InvalidInput: `bad_vector` for an encoder that returns something else than vectors of
            its own count of numbers.
    """
    places: list[tuple[str, str]] = []
    texts: list[str] = []
    for object_id, content in claims:
        for part, text in _parts(encoder, content):
            places.append((object_id, part))
            texts.append(text)
    vectors = _encode(encoder, texts)
    return [
        VectorRow(object_id, encoder.id, part, quantise(vector, dimensions=encoder.dimensions))
        for (object_id, part), vector in zip(places, vectors, strict=True)
    ]


def _parts(encoder: Encoder, content: Content) -> Iterator[tuple[str, str]]:
    texts = texts_of(content)
    pieces = chunks_of(texts.get("content", ""), limit=encoder.max_tokens, count=_counter(encoder))
    for number, piece in enumerate(pieces):
        yield str(number), piece
    if WHY_PART in texts:
        yield WHY_PART, texts[WHY_PART]


def _counter(encoder: Encoder) -> Callable[[str], int]:
    if isinstance(encoder, CountsTokens):
        return encoder.count_tokens
    return lambda text: -(-len(text) // _CHARACTERS_A_TOKEN)


def encode_one(encoder: Encoder, text: str) -> Sequence[float]:
    """Return the vector of one text as the encoder makes it."""
    return _encode(encoder, [text])[0]


def _encode(encoder: Encoder, texts: Sequence[str]) -> Sequence[Sequence[float]]:
    if not texts:
        return []
    vectors = encoder.encode(texts)
    if len(vectors) != len(texts):
        raise bad_vector(f"{encoder.id} returned {len(vectors)} vectors for {len(texts)} texts")
    return vectors
