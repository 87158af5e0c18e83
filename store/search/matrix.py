"""The exact vector search of one tenant and encoder, in memory, over either store.

A `Matrix` has the vectors of every claim and follows the store's counters: the vector counter for
new rows, the clock for erased objects. A claim's score is the best of its content's chunks; the
score of `why_it_matters` is separate. Scores are whole numbers in units of 1 / 16,000,000 with ties
by object id. Every sum is whole and below 2**24, so the order of addition and the machine never
show.

`walk` yields the claims of some scopes in score order, chunk by chunk, and the caller keeps the
visible ones; claims of other users are not scored. Above the policy's count a binary prefilter
proposes claims in rings of differing signs; exact scores order each ring.

Blocks have a fixed number of rows and are only filled, so a `Scan` stays what it was. Erased rows
are zeroed at once. The process drops the least used matrix, within one bound for all tenants, but
never the one in use. If a tenant moves to another database, its vectors are loaded again.
"""

from __future__ import annotations

import threading
from array import array
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from ...schema.errors import Fault
from ..port.records import PlacedVector
from ..port.store import Clock
from ..port.vectors import SQUARE_LIMIT, Hit, VectorScore, check_vector
from .caches import DEFAULT_BOUNDS

Floats = NDArray[np.float32]
Ints = NDArray[np.int32]
Flags = NDArray[np.bool_]
Bits = NDArray[np.uint64]

_SHIFT: Final = 16
BLOCK: Final = 1 << _SHIFT
"""Rows of a block: 100 MB at 384 dimensions, but memory is touched only as it is filled."""
_OFFSET_BITS: Final = BLOCK - 1
_NO_ROW: Final = -1

DEAD: Final = -1
"""The owner of a row that no longer counts."""

WHY_PART: Final = "why"
"""The part that holds `why_it_matters`; every other part is the number of a chunk."""

RING: Final = 1_000
"""Rows of the first ring of the prefilter; measured: .958 of the ten best in it
among a million, and .864 with 300."""
RING_SHARE: Final = 64
"""Rows of a ring for each claim that is asked for."""
_SPARSE: Final = 4
"""Rows that are looked at for each one that is scored, from which on the others are left out: to
take a row out of its block costs as much as to score some."""
_STEP: Final = 50_000
"""Rows turned into numbers at once: 77 MB at 384 dimensions."""


@dataclass(frozen=True, slots=True)
class Scan:
    """The rows as they were at one moment."""

    blocks: tuple[Floats, ...]
    signs: tuple[Bits, ...]
    owners: tuple[Ints, ...]
    count: int
    """How many rows there are, dead ones included."""

    def _parts(self, blocks: Sequence[NDArray[Any]]) -> Iterator[NDArray[Any]]:
        for number, block in enumerate(blocks):
            yield block[: self.count - (number << _SHIFT)]

    def owner(self) -> Ints:
        """Return the claim of each row, `DEAD` for dead ones."""
        return _concatenation(self._parts(self.owners))

    def scores(self, query: Floats) -> Ints:
        """Return the exact score of each row."""
        return _concatenation(_products(block, query) for block in self._parts(self.blocks))

    def distances(self, query: Floats) -> Ints:
        """Return how many signs of each row differ from the query's."""
        bits = sign_bits(query[np.newaxis, :])
        return _concatenation(
            np.bitwise_count(block ^ bits).sum(axis=1, dtype=np.int32)
            for block in self._parts(self.signs)
        )

    def at(self, rows: Sequence[int] | NDArray[np.intp], query: Floats) -> Ints:
        """Return the exact scores of some rows, in their order."""
        positions = np.asarray(rows, np.intp)
        scores = np.empty(len(positions), np.int32)
        blocks = positions >> _SHIFT

        for number, block in enumerate(self.blocks):
            in_block = np.flatnonzero(blocks == number)
            scores[in_block] = _products(block[positions[in_block] & _OFFSET_BITS], query)

        return scores


class VectorRows:
    """The rows of one side, content or `why`; the caller holds a lock around changes."""

    def __init__(self, dimensions: int) -> None:
        self.dimensions = dimensions
        self.dead = 0
        self._blocks: list[Floats] = []
        self._signs: list[Bits] = []
        self._owners: list[Ints] = []
        self._count = 0
        self._scan: Scan | None = None
        self._first = array("i")
        """Of each claim: its newest row."""
        self._next = array("i")
        """Of each row: the next one of its claim."""
        self._part = array("i")

    def __len__(self) -> int:
        return self._count - self.dead

    @property
    def nbytes(self) -> int:
        """Return the bytes that the rows take, dead ones included."""
        words = -(-self.dimensions // 64)
        return self._count * (4 * self.dimensions + 8 * words + 12) + 4 * len(self._first)

    def scan(self) -> Scan:
        """Return the rows as they are now."""
        if self._scan is None:
            self._scan = Scan(
                tuple(self._blocks), tuple(self._signs), tuple(self._owners), self._count
            )

        return self._scan

    def has(self, claim: int) -> bool:
        """Tell whether a claim has a live row."""
        return claim < len(self._first) and self._first[claim] != _NO_ROW

    def of(self, claim: int) -> list[int]:
        """Return the live rows of a claim."""
        rows: list[int] = []
        row = self._first[claim] if claim < len(self._first) else _NO_ROW
        while row != _NO_ROW:
            rows.append(row)
            row = self._next[row]

        return rows

    def put(self, claims: Sequence[int], parts: Sequence[int], values: Floats) -> None:
        """Add rows; one of a claim and part that is there already takes its place.

        Of two equal parts among the new rows the last one counts.
        """
        if not claims:
            return

        self._scan = None
        missing = max(claims) + 1 - len(self._first)
        self._first.extend([_NO_ROW] * missing)
        start = self._count
        self._append(np.asarray(claims, np.int32), values)
        old_rows: list[int] = []

        for row, (claim, part) in enumerate(zip(claims, parts, strict=True), start):
            if self._first[claim] != _NO_ROW:
                old_rows += self._unlink(claim, part)
            self._next.append(self._first[claim])
            self._part.append(part)
            self._first[claim] = row

        self._kill(old_rows)

    def drop(self, claims: Iterable[int]) -> None:
        """Forget the rows of claims, and overwrite them."""
        rows: list[int] = []
        for claim in claims:
            rows += self.of(claim)
            if claim < len(self._first):
                self._first[claim] = _NO_ROW

        self._kill(rows)

        for row in rows:
            self._blocks[row >> _SHIFT][row & _OFFSET_BITS] = 0
            self._signs[row >> _SHIFT][row & _OFFSET_BITS] = 0

    def compacted(self) -> VectorRows:
        """Return the same rows without the dead ones."""
        fresh = VectorRows(self.dimensions)
        part = np.asarray(self._part, np.int32)
        for number, (block, owners) in enumerate(zip(self._blocks, self._owners, strict=True)):
            start = number << _SHIFT
            owners_left = owners[: self._count - start]
            live = np.flatnonzero(owners_left != DEAD)
            fresh.put(owners_left[live].tolist(), part[start + live].tolist(), block[live])

        return fresh

    def _append(self, claims: Ints, values: Floats) -> None:
        count = 0
        while count < len(claims):
            offset = self._count & _OFFSET_BITS
            if not offset:
                self._blocks.append(np.empty((BLOCK, self.dimensions), np.float32))
                self._signs.append(np.empty((BLOCK, -(-self.dimensions // 64)), np.uint64))
                self._owners.append(np.empty(BLOCK, np.int32))

            size = min(len(claims) - count, BLOCK - offset)
            piece = slice(count, count + size)
            self._blocks[-1][offset : offset + size] = values[piece]
            self._signs[-1][offset : offset + size] = sign_bits(values[piece])
            self._owners[-1][offset : offset + size] = claims[piece]
            self._count += size
            count += size

    def _unlink(self, claim: int, part: int) -> list[int]:
        before = _NO_ROW
        for row in self.of(claim):
            if self._part[row] == part:
                if before == _NO_ROW:
                    self._first[claim] = self._next[row]
                else:
                    self._next[before] = self._next[row]
                return [row]
            before = row

        return []

    def _kill(self, rows: Sequence[int]) -> None:
        if not rows:
            return

        self._scan = None
        self.dead += len(rows)
        by_block: dict[int, list[int]] = {}

        for row in rows:
            by_block.setdefault(row >> _SHIFT, []).append(row & _OFFSET_BITS)

        for number, offsets in by_block.items():
            # a copy, since scans that are being read hold the old one
            self._owners[number] = self._owners[number].copy()
            self._owners[number][offsets] = DEAD


def sign_bits(values: Floats) -> Bits:
    """Return which numbers of each row are above zero, 64 a word."""
    bits = np.packbits(values > 0, axis=1)
    short = -bits.shape[1] % 8
    wide = np.pad(bits, ((0, 0), (0, short))) if short else bits

    return np.ascontiguousarray(wide).view(np.uint64)


def _products(rows: Floats, query: Floats) -> Ints:
    """Return the product of each row with the query.

    By `einsum`, since BLAS shares even few rows out between its threads and spins until the last
    has come: on two cores with other work that took twice as long, for the same numbers.
    """
    products: Floats = np.einsum("ij,j->i", rows, query)
    return products.astype(np.int32)


def _concatenation(pieces: Iterable[NDArray[Any]]) -> Ints:
    arrays = list(pieces)
    return np.concatenate(arrays) if arrays else np.empty(0, np.int32)


class VectorSource(Protocol):
    """What a matrix is fed from: a part of the store's reader."""

    @property
    def home(self) -> str:
        """Return the name of the database: its vectors and stamps are numbered there."""
        ...

    def clock(self) -> Clock:
        """Return the counters at the snapshot."""
        ...

    def vectors(self, encoder_id: str, after: int) -> tuple[int, tuple[PlacedVector, ...]]:
        """Return the vector counter and the rows put after a count, in order."""
        ...

    def erased_since(self, seq: int) -> tuple[str, ...]:
        """Return the objects erased by stamps after a sequence number."""
        ...


class Matrix:
    """All vectors of one tenant for one encoder; safe to share between threads."""

    def __init__(self, encoder_id: str) -> None:
        self.encoder_id = encoder_id
        self._lock = threading.Lock()
        self._seq = 0
        self._vec_seq = 0
        self._ids: list[str] = []
        self._numbers: dict[str, int] = {}
        self._scopes: dict[str, int] = {}
        """Number of each scope, in the order in which they were met."""
        self._scope_of = array("i")
        """Number of the scope of each claim."""
        self._claims = 0
        self._content = VectorRows(0)
        self._why = VectorRows(0)

    def __len__(self) -> int:
        """Return how many claims have a vector."""
        return self._claims

    @property
    def dimensions(self) -> int:
        """Return the length of the vectors; 0 before the first one came."""
        return self._content.dimensions

    @property
    def nbytes(self) -> int:
        """Return about how many bytes it takes."""
        return self._content.nbytes + self._why.nbytes + 204 * len(self._ids)

    def holds(self, object_id: str) -> bool:
        """Tell whether a claim has a vector."""
        number = self._numbers.get(object_id)
        return number is not None and self._has(number)

    def sync(self, source: VectorSource) -> None:
        """Take in what the source has and this has not: erasures first, then new rows.

        Raises:
            Fault: `invariant_broken` for a stored vector that is none.
        """
        clock = source.clock()
        if clock.seq <= self._seq and clock.vec_seq <= self._vec_seq:
            return

        with self._lock:
            if clock.seq > self._seq:
                self._drop(source.erased_since(self._seq))
                self._seq = clock.seq
            if clock.vec_seq > self._vec_seq:
                counter, rows = source.vectors(self.encoder_id, self._vec_seq)
                self._add(rows)
                self._vec_seq = counter

    def add(self, rows: Sequence[PlacedVector]) -> None:
        """Add or replace vectors.

        Raises:
            Fault: `invariant_broken` for a vector of another length or encoder.
        """
        with self._lock:
            self._add(rows)

    def drop(self, object_ids: Iterable[str]) -> None:
        """Forget claims, and overwrite their vectors."""
        with self._lock:
            self._drop(object_ids)

    def scores(self, query: Sequence[int], object_ids: Sequence[str]) -> tuple[VectorScore, ...]:
        """Return the scores of those of these claims that have vectors, in their order."""
        if not self.dimensions:
            return ()

        floats = _floats(check_vector(query, dimensions=self.dimensions))
        content: list[list[int]] = []
        conditions: list[list[int]] = []
        with self._lock:
            for object_id in object_ids:
                number = self._numbers.get(object_id)
                content.append([] if number is None else self._content.of(number))
                conditions.append([] if number is None else self._why.of(number))
            scans = self._content.scan(), self._why.scan()

        content_best = _best(scans[0], content, floats)
        why_best = _best(scans[1], conditions, floats)

        scores: list[VectorScore] = []
        for object_id, score, condition in zip(object_ids, content_best, why_best, strict=True):
            if score is not None or condition is not None:
                scores.append(VectorScore(object_id, score or 0, condition or 0))
        return tuple(scores)

    def walk(
        self, query: Sequence[int], *, scopes: Sequence[str], first: int, exact_rows: int
    ) -> Iterator[tuple[Hit, ...]]:
        """Yield the claims of scopes by the score of their content, best first, in growing chunks.

        A chunk is never cut inside a tie; the first one is made of the `first` best rows, so
        it has fewer claims where a claim has several chunks. With more than `exact_rows` claims
        they come ring by ring of the prefilter, each ring in order of score.

        Raises:
            InvalidInput: `bad_vector`.
        """
        if not self.dimensions:
            return iter(())

        floats = _floats(check_vector(query, dimensions=self.dimensions))
        with self._lock:
            scan, count = self._content.scan(), self._claims
            in_scopes = self._in_scopes(scopes)

        owner = scan.owner()
        if in_scopes is None:
            rows = np.flatnonzero(owner != DEAD)
        else:
            # DEAD, as an index, means the last place, which is no claim's.
            rows = np.flatnonzero(in_scopes[owner])
            count = _count_claims(owner[rows], len(in_scopes))

        if count <= exact_rows:
            return self._by_score(scan, owner, rows, floats, first)
        return self._by_ring(scan, owner, rows, floats, first)

    def _in_scopes(self, scopes: Sequence[str]) -> Flags | None:
        """Return of each claim whether it is in one of these scopes, and a False at the end.

        None where all do, as in a store of one user.
        """
        if self._scopes.keys() <= set(scopes):
            return None

        flags = np.zeros(len(self._scopes), np.bool_)
        flags[[self._scopes[scope] for scope in scopes if scope in self._scopes]] = True
        return np.append(flags[np.asarray(self._scope_of, np.int32)], False)

    def _by_score(
        self, scan: Scan, owner: Ints, rows: NDArray[np.intp], query: Floats, first: int
    ) -> Iterator[tuple[Hit, ...]]:
        if len(rows) == scan.count:
            return self._in_order(owner, scan.scores(query), set(), first)

        is_dense = len(rows) * _SPARSE > scan.count
        scores = scan.scores(query)[rows] if is_dense else scan.at(rows, query)
        return self._in_order(owner[rows], scores, set(), first)

    def _by_ring(
        self, scan: Scan, owner: Ints, rows: NDArray[np.intp], query: Floats, first: int
    ) -> Iterator[tuple[Hit, ...]]:
        nearness = -scan.distances(query)[rows]
        size = max(RING, RING_SHARE * first)
        visited_claims: set[int] = set()

        while len(rows):
            here = nearness >= _cut(nearness, size)
            claims = _whole_claims(owner, rows[here])
            yield from self._in_order(owner[claims], scan.at(claims, query), visited_claims, first)
            rows, nearness = rows[~here], nearness[~here]
            size *= 4

    def _in_order(
        self, claims: Ints, scores: Ints, visited_claims: set[int], size: int
    ) -> Iterator[tuple[Hit, ...]]:
        """Yield the claims that are not seen yet by their best score, `size` rows at first."""
        while len(scores):
            here = scores >= _cut(scores, size)
            hits = self._hits(claims[here].tolist(), scores[here].tolist(), visited_claims)
            if hits:
                yield hits
            claims, scores = claims[~here], scores[~here]
            size *= 4

    def _hits(
        self, claims: list[int], scores: list[int], visited_claims: set[int]
    ) -> tuple[Hit, ...]:
        """Return the best score of each claim that is new, best first."""
        best: dict[int, int] = {}
        for claim, score in zip(claims, scores, strict=True):
            if claim not in visited_claims and score > best.get(claim, -SQUARE_LIMIT):
                best[claim] = score

        visited_claims.update(best)
        hits = (Hit(self._ids[claim], score) for claim, score in best.items())

        return tuple(sorted(hits, key=lambda hit: (-hit.score, hit.object_id)))

    def _add(self, rows: Sequence[PlacedVector]) -> None:
        for start in range(0, len(rows), _STEP):
            self._add_some(rows[start : start + _STEP])

    def _add_some(self, rows: Sequence[PlacedVector]) -> None:
        values = self._values(rows)
        numbers: list[int] = []
        conditions: list[int] = []
        content: list[int] = []
        parts: list[int] = []
        for place, row in enumerate(rows):
            numbers.append(self._number(row))
            if row.part == WHY_PART:
                conditions.append(place)
            else:
                content.append(place)
                parts.append(int(row.part))

        before = self._count(numbers)
        self._why.put([numbers[p] for p in conditions], [0] * len(conditions), values[conditions])
        self._content.put([numbers[p] for p in content], parts, values[content])
        self._claims += self._count(numbers) - before
        self._tidy()

    def _values(self, rows: Sequence[PlacedVector]) -> Floats:
        size = 2 * (self.dimensions or len(rows[0].vec16) // 2)
        if not size or any(len(r.vec16) != size or r.encoder_id != self.encoder_id for r in rows):
            raise Fault(
                f"stored vectors of {self.encoder_id} differ in length or encoder; "
                "run: tenure doctor",
                code="invariant_broken",
            )

        if not self.dimensions:
            self._content, self._why = VectorRows(size // 2), VectorRows(size // 2)

        flat = np.frombuffer(b"".join(row.vec16 for row in rows), "<i2")
        values = flat.reshape(len(rows), size // 2).astype(np.float32)
        squares = np.einsum("ij,ij->i", values, values, dtype=np.float64)
        if (squares >= SQUARE_LIMIT).any():
            raise Fault(
                f"a stored vector of {self.encoder_id} is not normalised; run: tenure doctor",
                code="invariant_broken",
            )

        return values

    def _number(self, row: PlacedVector) -> int:
        number = self._numbers.setdefault(row.object_id, len(self._ids))
        if number == len(self._ids):
            self._ids.append(row.object_id)
            self._scope_of.append(self._scopes.setdefault(row.scope_id, len(self._scopes)))
        return number

    def _count(self, numbers: Iterable[int]) -> int:
        return sum(map(self._has, set(numbers)))

    def _has(self, number: int) -> bool:
        return self._content.has(number) or self._why.has(number)

    def _drop(self, object_ids: Iterable[str]) -> None:
        numbers = [self._numbers[i] for i in object_ids if i in self._numbers]
        self._claims -= self._count(numbers)
        self._content.drop(numbers)
        self._why.drop(numbers)
        self._tidy()

    def _tidy(self) -> None:
        if self._content.dead > len(self._content) + _STEP:
            self._content = self._content.compacted()
        if self._why.dead > len(self._why) + _STEP:
            self._why = self._why.compacted()


def _floats(query: Sequence[int]) -> Floats:
    return np.asarray(query, np.float32)


def _cut(scores: Ints, size: int) -> int:
    """Return the score from which at least `size` rows are taken, ties included."""
    if len(scores) <= size:
        return int(scores.min())

    place = len(scores) - size
    return int(np.partition(scores, place)[place])


def _count_claims(owner: Ints, claims: int) -> int:
    """Return of how many claims some rows are, whose numbers are below `claims`."""
    marks = np.zeros(claims, np.bool_)
    marks[owner] = True
    return int(np.count_nonzero(marks))


def _whole_claims(owner: Ints, rows: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return all rows of the claims of some rows: a claim's score is that of its best chunk."""
    marks = np.zeros(int(owner.max()) + 2, np.bool_)
    marks[owner[rows]] = True
    # DEAD, as an index, means the last place, which no claim has
    return np.flatnonzero(marks[owner])


def _best(scan: Scan, rows: Sequence[Sequence[int]], query: Floats) -> list[int | None]:
    """Return the best score of each group of rows, None for an empty group."""
    # Asked for at once: a look at a block costs more than its rows.
    all_rows: list[int] = []
    for group in rows:
        all_rows += group
    flat: list[int] = scan.at(all_rows, query).tolist()

    best: list[int | None] = []
    position = 0

    for group in rows:
        end = position + len(group)
        best.append(
            flat[position] if end - position == 1 else max(flat[position:end], default=None)
        )
        position = end

    return best


class Matrices:
    """The matrices of one store; safe to share between threads."""

    def __init__(self, most_bytes: int = DEFAULT_BOUNDS.most_bytes("vectors")) -> None:
        self._most_bytes = most_bytes
        self._lock = threading.Lock()
        self._held: OrderedDict[tuple[str, str], tuple[str, Matrix]] = OrderedDict()
        """By tenant and encoder, the database that it was fed from first."""

    def current(self, tenant: str, encoder_id: str, source: VectorSource) -> Matrix:
        """Return the matrix of a tenant and encoder, as new as the source at least.

        Raises:
            Fault: `invariant_broken` for stored vectors that are none.
        """
        key = (tenant, encoder_id)
        with self._lock:
            home, matrix = self._held.get(key) or (source.home, Matrix(encoder_id))
            if home != source.home:
                matrix = Matrix(encoder_id)
            self._held[key] = source.home, matrix
            self._held.move_to_end(key)

        matrix.sync(source)

        with self._lock:
            used_bytes = self.used_bytes
            while used_bytes > self._most_bytes and len(self._held) > 1:
                _, (_, oldest) = self._held.popitem(last=False)
                used_bytes -= oldest.nbytes

        return matrix

    @property
    def used_bytes(self) -> int:
        """What all of them take."""
        return sum(matrix.nbytes for _, matrix in list(self._held.values()))
