"""Where the client says what it does, for whoever traces; by default nobody listens.

The use-cases know this protocol alone, so that nothing of tracing is loaded where it is off.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import AbstractContextManager, nullcontext
from typing import Final, Protocol


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


class Spans(Protocol):
    """Who traces."""

    def operation(self, name: str, store: str) -> AbstractContextManager[OperationSpan]:
        """Return what lasts as long as an operation on the store of a tenant."""
        ...


class _Unheard:
    """A span that nobody hears."""

    def records(self, object_ids: Iterable[str]) -> None:
        """Tell nobody."""

    def query(self, text: str) -> None:
        """Tell nobody."""

    def figures(self, **figures: int) -> None:
        """Tell nobody."""


class _NoSpans:
    """Nobody traces."""

    def __init__(self) -> None:
        self._nothing = nullcontext(_Unheard())

    def operation(self, name: str, store: str) -> AbstractContextManager[OperationSpan]:
        """Return what does nothing."""
        return self._nothing


NO_SPANS: Final = _NoSpans()

UPSERT: Final = "upsert_memory"
SEARCH: Final = "search_memory"
DELETE: Final = "delete_memory"
COMPILE: Final = "tenure.compile"
