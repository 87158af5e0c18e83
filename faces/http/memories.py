"""The memory that a caller sees: one store for all, bound to the principal of each request."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING

from ...service.backend.caller import backend_of

if TYPE_CHECKING:
    from ...schema.principal import Principal
    from ...service.backend.backend import RequestSpan
    from ...service.client.memory import Memory


class Memories:
    """Binds callers to the open store; the tenant comes from the credential alone."""

    def __init__(self, root: Memory) -> None:
        self._root = root

    def bound(self, principal: Principal) -> Memory:
        """The memory of a caller; it costs nothing and holds nothing of a request."""
        return self._root.bind(principal)

    def span_of_request(
        self, method: str, headers: Mapping[str, str]
    ) -> AbstractContextManager[RequestSpan | None]:
        """What lasts as long as a request, and the span to fill where anybody traces."""
        spans = backend_of(self._root).spans
        return nullcontext() if spans is None else spans.request(method, headers)

    def ask(self, tenant: str) -> None:
        """Ask the store of a tenant for as little as there is.

        Raises:
            TenureError: it does not answer, or not for this version of tenure.
        """
        with backend_of(self._root).store.reading(tenant) as reader:
            reader.clock()

    def problems(self, tenant: str) -> tuple[str, ...]:
        """What the doctor finds: a sentence for each thing that does not agree with another."""
        return backend_of(self._root).store.check(tenant)

    def flush(self) -> None:
        """Wait until what was acknowledged is findable, before the process ends."""
        self._root.flush()
