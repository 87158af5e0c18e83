"""A store whose tenants are called something else: builders always say the same name."""

from collections.abc import Mapping
from typing import Any

from tenure.store.port.store import Store


class Renamed:
    """Hands every call on with the real name of its tenant."""

    def __init__(self, store: Store, names: Mapping[str, str]) -> None:
        self._store = store
        self._names = names

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._store, name)
        if not callable(found) or name == "close":
            return found

        def call(tenant: str, *args: Any, **given: Any) -> Any:
            return found(self._names.get(tenant, tenant), *args, **given)

        return call
