"""The memory that a caller sees: one store for all, bound to the principal of each request."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ...schema.principal import Principal
    from ..client.memory import Memory


class Memories:
    """Binds callers to the open store; the tenant comes from the credential alone."""

    def __init__(self, root: Memory) -> None:
        self._root = root

    def bound(self, principal: Principal) -> Memory:
        """The memory of a caller; it costs nothing and holds nothing of a request."""
        return self._root.bind(principal)

    def flush(self) -> None:
        """Wait until what was acknowledged is findable, before the process ends."""
        self._root.flush()
