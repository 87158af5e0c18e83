"""The matrices of a process: one for each tenant and encoder, the least used dropped first.

A matrix is a cache of what the store holds, so dropping one costs a reload and nothing else.
Memory is bounded over all tenants; the matrix in use always stays, whatever its size, because
an answer that depends on free memory would not be the same on every machine. A tenant that has
moved to another database is loaded anew, because its vectors are numbered anew there.
"""

from __future__ import annotations

import threading
from collections import OrderedDict

from .cache_bounds import DEFAULT_BOUNDS
from .matrix import Matrix, VectorSource


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
            self._make_room()

        return matrix

    @property
    def used_bytes(self) -> int:
        """What all of them take."""
        return sum(matrix.nbytes for _, matrix in list(self._held.values()))

    def _make_room(self) -> None:
        used_bytes = self.used_bytes
        while used_bytes > self._most_bytes and len(self._held) > 1:
            _, (_, matrix) = self._held.popitem(last=False)
            used_bytes -= matrix.nbytes
