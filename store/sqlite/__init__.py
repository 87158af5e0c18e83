"""The embedded store: one SQLite file per tenant, append-only by triggers."""

from .store import SqliteStore, open_store

__all__ = ["SqliteStore", "open_store"]
