"""Vector rows in memory: blocks that grow in place, exact scores, sign bits.

A row is a quantised vector of one part of one claim, kept as float32, which vector units multiply
fastest; every number and every sum is whole and below 2**24, hence exact in any order.
Blocks have a fixed number of rows and are only ever filled, so a `Scan` taken before a change
stays what it was: rows behind its count are not looked at, and a row that dies gets its owner
erased in a copy. What an erasure drops is overwritten with zeros at once.

Claims are numbers here; who they are, and what a caller may see, others know.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

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
        self._grow(max(claims))
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

    def _grow(self, claim: int) -> None:
        missing = claim + 1 - len(self._first)
        if missing > 0:
            self._first.extend([_NO_ROW] * missing)

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
