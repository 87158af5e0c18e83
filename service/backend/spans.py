"""Where the client says what it does, for whoever traces; by default nobody does.

The use-cases know this protocol alone, so that nothing of tracing is loaded, and nothing is
worked out for it, where it is off.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager
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


UPSERT: Final = "upsert_memory"
SEARCH: Final = "search_memory"
DELETE: Final = "delete_memory"
COMPILE: Final = "tenure.compile"
