"""A server store whose tenants nobody else has: for suites that name their tenants alike."""

import secrets
from collections.abc import Callable
from typing import Any

from tenure.store.neo4j.store import Neo4jStore


class ApartStore:
    """Hands every call on with a random word before its tenant, and wipes what it used."""

    def __init__(self, store: Neo4jStore, wipe: Callable[[str], None]) -> None:
        self.store = store
        self._wipe = wipe
        self._word = secrets.token_hex(6)
        self._used: set[str] = set()

    def real(self, tenant: str) -> str:
        self._used.add(f"{self._word}-{tenant}")
        return f"{self._word}-{tenant}"

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.store, name)
        if not callable(found) or name == "close":
            return found

        def call(tenant: str, *args: Any, **given: Any) -> Any:
            return found(self.real(tenant), *args, **given)

        return call

    def wipe(self) -> None:
        for tenant in sorted(self._used):
            self._wipe(tenant)
