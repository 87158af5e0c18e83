"""The embedded store: one SQLite file per tenant, append-only by triggers."""

from .store import SqliteStore

__all__ = ["SqliteStore"]
