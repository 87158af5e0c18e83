"""Quantising: a vector as whole numbers, so that every score is exact on every machine.

A vector is divided by its length and kept as `rint(4000 x)`, with 16 bits a number. Each is shorter
than 4096, so every partial sum of a product stays below 2**24: float32 adds exactly, in any order,
and a score is a whole number in units of 1 / 16,000,000. Floats are rounded to even here and
nowhere else. An encoder is known only by its number of dimensions.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple, Protocol

from ...schema.errors import InvalidInput


class Hit(NamedTuple):
    """A claim of a walk."""

    object_id: str
    score: int


class Vectors(Protocol):
    """The vectors of one tenant for one encoder."""

    def walk(
        self, query: Sequence[int], *, scopes: Sequence[str], first: int, exact_rows: int
    ) -> Iterator[tuple[Hit, ...]]:
        """Yield the claims of scopes by the exact score of their content, in chunks, best first.

        `first` is how many are wanted at least; `exact_rows` is how many claims are scored
        one by one before anything proposes.
        """
        ...

    def scores(self, query: Sequence[int], object_ids: Sequence[str]) -> tuple[VectorScore, ...]:
        """Return the exact scores of those of these claims that have vectors, in their order."""
        ...


SCALE: Final = 4_000
"""What a coordinate of 1 becomes."""


FULL: Final = SCALE * SCALE
"""The score of two equal vectors."""


SQUARE_LIMIT: Final = 1 << 24
"""What the square of a whole-number vector's length stays below; then its sums are exact."""


MOST_DIMENSIONS: Final = 32_768
"""Rounding lengthens a vector by at most half the root of its dimensions: 4,000 + 91 < 4,096."""


class VectorScore(NamedTuple):
    """Cosines of a claim to a query, in units of 1 / 16,000,000."""

    object_id: str
    content: int
    """Best of its chunks; 0 without one."""
    why: int
    """Of `why_it_matters`; 0 without one."""


def to16(vector: Sequence[float], *, dimensions: int | None = None) -> tuple[int, ...]:
    """Return a vector of any length as the whole numbers of its direction.

    Raises:
        InvalidInput: `bad_vector` for no numbers, NaN, infinity, a zero vector, or another
            count of numbers than `dimensions`.

    >>> to16([3.0, 4.0])
    (2400, 3200)
    """
    _check_count(len(vector), dimensions)
    largest = max(map(abs, vector))
    if not all(map(math.isfinite, vector)):
        raise bad_vector("it holds NaN or infinity")
    if not largest:
        raise bad_vector("all its numbers are zero, so it has no direction")

    # Scaled by a power of two first, which changes no bit but keeps the squares in range; and
    # summed exactly, so that every machine gets the same whole numbers.
    _, power = math.frexp(largest)
    components = [math.ldexp(x, -power) for x in vector]
    length = math.sqrt(math.fsum(x * x for x in components))

    return tuple(round(SCALE * x / length) for x in components)


def quantise(vector: Sequence[float], *, dimensions: int | None = None) -> bytes:
    """Return a vector as it is stored: int16, little endian; see `to16`.

    >>> quantise([0.0, 1.0]).hex()
    '0000a00f'
    """
    return pack_vector(to16(vector, dimensions=dimensions))


def pack_vector(numbers: Sequence[int]) -> bytes:
    """Return whole numbers as int16, little endian."""
    return struct.pack(f"<{len(numbers)}h", *numbers)


def unpack_vector(vec16: bytes) -> tuple[int, ...]:
    """Return the whole numbers of a stored vector.

    >>> unpack_vector(bytes.fromhex("0000a00f"))
    (0, 4000)
    """
    return struct.unpack(f"<{len(vec16) // 2}h", vec16)


def check_vector(numbers: Sequence[int], *, dimensions: int | None = None) -> tuple[int, ...]:
    """Return a query of whole numbers that can be multiplied exactly.

    Raises:
        InvalidInput: `bad_vector` for another count than `dimensions`, or a vector longer
            than a quantised one can be.
    """
    _check_count(len(numbers), dimensions)
    # Below this every partial sum is a whole number that a float of 32 bits holds exactly.
    if sum(x * x for x in numbers) >= SQUARE_LIMIT:
        raise bad_vector(
            f"its whole numbers are no normalised vector times {SCALE}; give the floats instead"
        )

    return tuple(numbers)


def bad_vector(reason: str) -> InvalidInput:
    """Return the error of a vector that cannot be taken."""
    return InvalidInput(f"this vector cannot be used: {reason}", code="bad_vector")


def _check_count(count: int, dimensions: int | None) -> None:
    if dimensions is not None and count != dimensions:
        raise bad_vector(
            f"it has {count} numbers, the encoder makes {dimensions}; "
            "vectors of different encoders are never mixed"
        )

    if not 0 < count <= MOST_DIMENSIONS:
        raise bad_vector(f"it has {count} numbers, allowed are 1 to {MOST_DIMENSIONS}")
