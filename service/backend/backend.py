"""What all callers of one store share: the store, its queues, its vocabulary and its clock.

`connect` makes a `Backend`, and no request changes it: tenant, principal and as-of times are passed
as values. Writes of a process's threads meet in one commit queue for each tenant. The vocabulary is
cached by version, and the version is read on every use, so definitions of other processes are seen.

An object id is uuid5 of the tenant and the digest of a stated idempotency key, uuid5 of the event
for a replayed line, and a fresh uuid7 (RFC 9562) otherwise. `connect(ids=…, clock=…)` replaces both
sources, so that a test or a simulation is the same every time. Tracing is a protocol (`Spans`): if
it is off, nothing of it is loaded or computed.
"""

from __future__ import annotations

import json
import os
import threading
import time
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeAlias

from ...schema.errors import Conflict, TenureError
from ...schema.policy import Policy
from ...schema.signing import OBJECT_SPACE
from ...schema.slots import Vocabulary
from ...schema.values import canonical_json, micros
from ...store.commit.queue import Attempt, CommitQueue, attempts
from ...store.search.caches import DEFAULT_BOUNDS, CacheBounds
from .definitions import with_definition
from .kept_answers import forget_kept

if TYPE_CHECKING:
    from ...compiler.gathering.rerank import Reranker
    from ...resolution.bind import Scorer
    from ...resolution.extract import MentionExtractor
    from ...schema.write import Submission
    from ...store.commit.work import Result
    from ...store.port.store import Reader, Store, WriteTx
    from ...store.transfer.artifact_files import ArtifactFiles
    from ..encoders.encoder import Encoder
    from ..encoders.models import Embedding
    from ..extraction.choice import AnswerCache, TenantSeal
    from ..extraction.claims import Extractor

Work: TypeAlias = "Callable[[WriteTx], Any]"
"""Something that has a write transaction to itself."""

Ids = Callable[[], str]
"""Returns a new uuid as text."""

Clock = Callable[[], "int | datetime"]
"""Returns now: microseconds UTC, or an aware datetime."""

UPSERT: Final = "upsert_memory"
SEARCH: Final = "search_memory"
DELETE: Final = "delete_memory"
COMPILE: Final = "tenure.compile"


@dataclass(slots=True, repr=False)
class Backend:
    """A store with everything the client needs around it."""

    store: Store
    policy: Policy
    clock: Clock
    ids: Ids
    extractor: Extractor | None = None
    mentions: MentionExtractor | None = None
    """Finds names next to the known ones and the rules."""
    scorer: Scorer | None = None
    encoder: Encoder | None = None
    reranker: Reranker | None = None
    tenant_key: bytes | None = None
    artifacts: ArtifactFiles | None = None
    """Where originals are kept; None for a server that was not told where."""
    spans: Spans | None = None
    """Who traces what is done; None: nobody."""
    caches: CacheBounds = DEFAULT_BOUNDS
    """How much of what could be read again is kept in memory."""
    control_path: Path | None = None
    """The control file of a server of this store, whose kept answers an erasure empties."""
    answers_path: Path | None = None
    """The file of what models answered; None keeps that in memory."""
    _answers: AnswerCache | None = None
    _swept_tenants: set[str] = field(default_factory=set[str])
    _words: dict[str, Vocabulary] = field(default_factory=dict[str, Vocabulary])
    _queues: dict[str, CommitQueue[Submission | Work, Any]] = field(
        default_factory=dict[str, "CommitQueue[Submission | Work, Any]"]
    )
    _secrets: dict[str, bytes] = field(default_factory=dict[str, bytes], repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _worker: ThreadPoolExecutor = field(
        default_factory=lambda: ThreadPoolExecutor(1, thread_name_prefix="tenure")
    )
    _pending: list[Future[None]] = field(default_factory=list[Future[None]])
    _embedding: Embedding | None = None

    def __repr__(self) -> str:
        # Every value of the client holds a backend, and a backend holds the tenant's key.
        return f"Backend({type(self.store).__name__})"

    def __post_init__(self) -> None:
        if self.encoder is not None:
            from ..encoders.models import Embedding

            most_bytes = self.caches.most_bytes("vectors")
            self._embedding = Embedding(self.store, self.encoder, most_bytes=most_bytes)
        if self.caches.names_mib != DEFAULT_BOUNDS.names_mib:
            from ...resolution.names import MEMORY

            MEMORY.bound(1_024 * self.caches.names_mib)

    @property
    def embedding(self) -> Embedding | None:
        """Return what makes and searches vectors; None without an encoder."""
        return self._embedding

    def used_bytes(self) -> dict[str, int]:
        """About what each cache of this process takes; SQLite tells nobody what its pages take."""
        from ...resolution.names import MEMORY

        vectors = 0 if self._embedding is None else self._embedding.used_bytes
        return {**self.store.used_bytes, "names": MEMORY.used_bytes, "vectors": vectors}

    def span_of(self, operation: str, tenant: str) -> AbstractContextManager[OperationSpan | None]:
        """Return what lasts as long as an operation, and the span to fill where anybody traces."""
        return nullcontext() if self.spans is None else self.spans.operation(operation, tenant)

    def step_of(self, step: str) -> AbstractContextManager[object]:
        """Return what lasts as long as a step of a compile."""
        return nullcontext() if self.spans is None else self.spans.step(step)

    def span_of_request(
        self, method: str, headers: Mapping[str, str]
    ) -> AbstractContextManager[RequestSpan | None]:
        """Return what lasts as long as a request, and the span to fill where anybody traces."""
        return nullcontext() if self.spans is None else self.spans.request(method, headers)

    def now_us(self) -> int:
        """Return what the clock says in microseconds UTC."""
        now = self.clock()
        return micros(now) if isinstance(now, datetime) else now

    def open(self, tenant: str) -> None:
        """Make a tenant when it is not there, and its queue."""
        # One queue a tenant for the whole process: it is what writers of all threads meet in.
        with self._lock:
            if tenant not in self._queues:
                self.store.ensure(tenant, key=self.tenant_key, at_once=False)
                self._queues[tenant] = CommitQueue(partial(self._run, tenant))

    def make(self, tenant: str) -> None:
        """Make a tenant at once: what only opens one leaves that to the first write."""
        self.store.ensure(tenant, key=self.tenant_key)

    def secret(self, tenant: str) -> bytes:
        """The tenant's first secret key; it is never changed, so it is read once."""
        if tenant not in self._secrets:
            self.open(tenant)
            with self.store.reading(tenant) as reader:
                self._secrets[tenant] = reader.keys()[0]
        return self._secrets[tenant]

    def seal(self, tenant: str) -> TenantSeal:
        """What digests of the tenant's texts are made with."""
        from ..extraction.choice import TenantSeal

        return TenantSeal(tenant, self.secret(tenant))

    @property
    def answers(self) -> AnswerCache:
        """What models answered before; its file is opened with the first question."""
        from ..extraction.choice import AnswerCache

        with self._lock:
            if self._answers is None:
                self._answers = AnswerCache(self.answers_path)
            return self._answers

    def settled_answers(self, tenant: str) -> AnswerCache:
        """What models answered, without what was erased while no process saw to it.

        Raises:
            Unavailable: `answers_unreachable`.
        """
        answers = self.answers
        if tenant not in self._swept_tenants:
            # A crash between an erasure and its answers leaves them: the next process sees to it.
            with self.store.reading(tenant) as reader:
                erased_ids = reader.erased_since(0)
            answers.forget(self.seal(tenant), object_ids=erased_ids)
            self._swept_tenants.add(tenant)
        return answers

    def forget_answers(
        self,
        tenant: str,
        object_ids: Iterable[str],
        *,
        texts: Iterable[str] = (),
        repeats: Callable[[str], bool] | None = None,
        names: Iterable[str] = (),
    ) -> int:
        """Drop what models answered about texts that were erased; how many answers.

        Answers that a server keeps go with them, where they name these objects or `names`.

        Raises:
            Unavailable: `answers_unreachable`.
        """
        ids = tuple(object_ids)
        if self.control_path is not None:
            forget_kept(self.control_path, tenant, {*ids, *names}, repeats)
        return self.answers.forget(self.seal(tenant), object_ids=ids, texts=texts, repeats=repeats)

    def queue(self, tenant: str) -> CommitQueue[Submission | Work, Any]:
        """What writers of a tenant meet in, whatever thread they are of.

        A submission shares a transaction with its neighbours, and gets its receipts; a piece of
        work has a transaction to itself, and gets what it returns.
        """
        self.open(tenant)
        return self._queues[tenant]

    @property
    def commit(self) -> partial[list[Result]]:
        """Commits a group of submissions in a transaction, by this store's clock and policy."""
        # Opening a store loads nothing that only its writes need.
        from ...store.commit.commit import commit

        return partial(commit, now_us=self.now_us, policy=self.policy, scorer=self.scorer)

    def _run(self, tenant: str, jobs: Sequence[Submission | Work]) -> Sequence[Any]:
        results: dict[int, Any] = {}
        writes = [job for job in jobs if not callable(job)]
        for attempt in attempts(writes) if writes else ():
            with attempt:
                work = partial(self.commit, group=attempt.jobs)
                attempt.answers = self.store.transact(tenant, work)
            for write, answer in attempt.answered():
                results[id(write)] = answer

        for job in jobs:
            if callable(job):
                results[id(job)] = self._run_alone(tenant, job)

        return [results[id(job)] for job in jobs]

    def _run_alone(self, tenant: str, work: Work) -> Any:
        attempt: Attempt[Work, Any] = Attempt([work])
        try:
            with attempt:
                attempt.answers = [self.store.transact(tenant, work)]
        except TenureError as refusal:
            return refusal

        (answer,) = attempt.answers
        return answer

    def vocabulary(self, tenant: str) -> Vocabulary:
        """Return the tenant's newest vocabulary."""
        return self.newest(tenant)[1]

    def words(self, tenant: str, reader: Reader) -> Vocabulary:
        """Return the tenant's vocabulary as a snapshot holds it."""
        return self._extended(tenant, reader.definitions)

    def known_words(self, tenant: str) -> Vocabulary | None:
        """The tenant's vocabulary as this process has read it last; None where it never did."""
        return self._words.get(tenant)

    def newest(self, tenant: str) -> tuple[int, Vocabulary]:
        """Return the tenant's last stamp and its vocabulary."""
        self.open(tenant)
        version = (self.known_words(tenant) or Vocabulary()).version
        last_us, new = self.store.newest(tenant, version)

        def definitions(after: int) -> tuple[tuple[int, str], ...]:
            # Another thread may have taken some of them in meanwhile.
            return tuple(line for line in new if line[0] > after)

        return last_us, self._extended(tenant, definitions)

    def _extended(
        self, tenant: str, definitions: Callable[[int], tuple[tuple[int, str], ...]]
    ) -> Vocabulary:
        """The vocabulary that is kept, with what was defined since."""
        known = self.known_words(tenant) or Vocabulary()
        # In order, because a later definition replaces an earlier one of the same word.
        for _, definition in definitions(known.version):
            known = with_definition(known, json.loads(definition))

        self._words[tenant] = known
        return known

    def vocabulary_at(self, tenant: str, version: int) -> Vocabulary:
        """Return the tenant's vocabulary as it was at a version."""
        known = Vocabulary()
        with self.store.reading(tenant) as reader:
            for number, definition in reader.definitions(0):
                if number <= version:
                    known = with_definition(known, json.loads(definition))

        return known

    def define(self, tenant: str, definition: dict[str, Any]) -> Vocabulary:
        """Append a definition when it changes something, and return the new vocabulary.

        Raises:
            InvalidInput: for a definition that is malformed or breaks a fixed property.
        """
        # Another process may define something between the read and the append; then it is
        # looked at again. Eight times is far beyond what any two people do at once.
        for _ in range(8):
            known = self.vocabulary(tenant)
            with_definition(known, definition)  # what is malformed asks no store, and makes none
            vocabulary = with_definition(known, definition, used=self._used(tenant, definition))
            if vocabulary == known:
                return known
            text = canonical_json(definition)
            if self.store.define(tenant, after=known.version, definition=text):
                return self.vocabulary(tenant)
        raise Conflict(
            "the vocabulary keeps changing under this definition; try again",
            code="stale_version",
        )

    def _used(self, tenant: str, definition: dict[str, Any]) -> bool:
        if definition.get("define") != "slot":
            return False
        with self.store.reading(tenant) as reader:
            return reader.slot_in_use(str(definition.get("name")))

    def later(self, work: Callable[[], None]) -> None:
        """Do something after the call returns, in order; `settle` and `close` wait for it."""
        with self._lock:
            self._pending = [job for job in self._pending if not job.done() or job.exception()]
            self._pending.append(self._worker.submit(work))

    def settle(self) -> None:
        """Wait for all that was put off; raise what the first failure raised."""
        with self._lock:
            waiting, self._pending = self._pending, []
        for job in waiting:
            job.result()

    def flush(self) -> None:
        """Wait for all that was put off, vectors included."""
        self.settle()
        if self._embedding is not None:
            self._embedding.flush()

    def close(self) -> None:
        """Finish what is queued and put off, and close the store, whatever fails on the way."""
        try:
            self.settle()
        finally:
            self._worker.shutdown()
            with self._lock:
                for queue in self._queues.values():
                    queue.close()
            if self._answers is not None:
                self._answers.close()
            try:
                if self._embedding is not None:
                    self._embedding.close()
            finally:
                self.store.close()


def wall_clock() -> int:
    """Return the time of this machine in microseconds UTC."""
    return time.time_ns() // 1_000


def uuid7() -> str:
    """Return a random uuid that sorts by the time it was made, to a quarter of a microsecond.

    So the ids of a batch are in the order of its writes (RFC 9562, 6.2, method 3): of two that
    say the same at once the smaller one shows, which is the first.
    """
    stamp_ms, fraction_ns = divmod(time.time_ns(), 1_000_000)
    fraction = (fraction_ns << 12) // 1_000_000
    noise = int.from_bytes(os.urandom(8), "big") >> 2
    number = (stamp_ms & ((1 << 48) - 1)) << 80 | 7 << 76 | fraction << 64 | 2 << 62 | noise
    digits = f"{number:032x}"
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))


def event_id(tenant: str, recorded_us: int, ordinal: int, event: str) -> str:
    """Return the object id of a replayed event; `event` is its canonical JSON."""
    return str(
        uuid.uuid5(OBJECT_SPACE, canonical_json(["event", tenant, recorded_us, ordinal, event]))
    )


class OperationSpan(Protocol):
    """One operation that runs."""

    def records(self, object_ids: Iterable[str]) -> None:
        """Tell which objects it wrote or found."""
        ...

    def query(self, text: str) -> None:
        """Tell what was asked; kept only where content was asked for."""
        ...

    def figures(self, **figures: int) -> None:
        """Tell numbers of it, by name."""
        ...


class RequestSpan(Protocol):
    """One request over HTTP that runs."""

    def finish(self, route: str, status: int) -> None:
        """Tell which route answered it, by its pattern, and how."""
        ...


class Spans(Protocol):
    """Who traces."""

    def operation(self, name: str, store: str) -> AbstractContextManager[OperationSpan]:
        """Return what lasts as long as an operation on the store of a tenant."""
        ...

    def step(self, name: str) -> AbstractContextManager[object]:
        """Return what lasts as long as a step of the compile that runs."""
        ...

    def request(
        self, method: str, headers: Mapping[str, str]
    ) -> AbstractContextManager[RequestSpan]:
        """Return what lasts as long as a request over HTTP, in the trace that its headers name."""
        ...
