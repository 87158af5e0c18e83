"""The ranks of o200k in a form that needs no building: a look-up reads a shipped table in place.

A library builds its tables from the vocabulary before it counts a word, a quarter of a second of
CPU; a process that counts a few hundred words and ends pays that for nothing. Here the tokens
stand sorted in one file, and a token is found in it by halving: some twenty comparisons each,
which is dear for a long run of texts and next to nothing for the first ones.

The layout of `o200k.ranks`, all numbers little-endian: for each length from 1 to 128 bytes the
number of tokens (four bytes); then for each length its tokens, sorted, without separators; then
their ranks in the same order (three bytes each). `python -P tests/token_ranks.py` writes it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping
from itertools import islice
from pkgutil import get_data
from struct import Struct
from typing import Final

LONGEST: Final = 128
"""Bytes of the longest token of o200k."""
RANK_BYTES: Final = 3
COUNTS: Final = Struct(f"<{LONGEST}I")


class Ranks(Mapping[bytes, int]):
    """Rank by token, over the bytes of a table; nothing is copied out of it."""

    __slots__ = ("_counts", "_rank_starts", "_table", "_token_starts")

    def __init__(self, table: bytes) -> None:
        self._table = table
        self._counts = (0, *COUNTS.unpack_from(table))
        # Where the tokens of each length begin, and where their ranks do.
        token_start = COUNTS.size
        rank_start = token_start + sum(n * count for n, count in enumerate(self._counts))
        self._token_starts: list[int] = []
        self._rank_starts: list[int] = []
        for length, count in enumerate(self._counts):
            self._token_starts.append(token_start)
            self._rank_starts.append(rank_start)
            token_start += length * count
            rank_start += RANK_BYTES * count

    def __getitem__(self, token: bytes) -> int:
        length = len(token)
        if not 0 < length <= LONGEST:
            raise KeyError(token)

        table, start = self._table, self._token_starts[length]

        def token_at(index: int) -> bytes:
            begin = start + index * length
            return table[begin : begin + length]

        index = bisect_left(range(self._counts[length]), token, key=token_at)
        if index == self._counts[length] or token_at(index) != token:
            raise KeyError(token)
        rank = self._rank_starts[length] + RANK_BYTES * index
        return int.from_bytes(table[rank : rank + RANK_BYTES], "little")

    def __iter__(self) -> Iterator[bytes]:
        for length, count in enumerate(self._counts):
            begins = range(self._token_starts[length], len(self._table), max(1, length))
            for begin in islice(begins, count):
                yield self._table[begin : begin + length]

    def __len__(self) -> int:
        return sum(self._counts)


def shipped_ranks() -> Ranks:
    """The table of o200k that the package ships.

    Raises:
        OSError: when the file is not there.
    """
    # `importlib.resources` would load zipfile and more, which takes longer than the reading.
    table = get_data(__name__.rpartition(".")[0], "o200k.ranks")
    if table is None:
        raise FileNotFoundError("the package was loaded by something that holds no files")
    return Ranks(table)
