"""Tell of a database connection that nobody closed, on a Python that does not.

From 3.13 on `sqlite3` warns when the collector finds one open, and a warning is an error in the
tests. Older ones collect it in silence, so there a connection is made that warns as they do.
"""

import sqlite3
import sys
import warnings
from functools import partial
from typing import Final

TELLS_ITSELF: Final = sys.version_info >= (3, 13)


class WatchedConnection(sqlite3.Connection):
    """A connection that warns when it is collected open."""

    def __del__(self) -> None:
        try:
            _ = self.in_transaction
        except sqlite3.ProgrammingError:
            return  # it was closed, or never opened
        text = f"unclosed database in {self!r}"
        warnings.warn(text, ResourceWarning, stacklevel=2, source=self)


def watch_connections() -> None:
    """Let `sqlite3.connect` make watched connections, where Python does not tell of open ones."""
    if not TELLS_ITSELF:
        sqlite3.connect = partial(sqlite3.connect, factory=WatchedConnection)  # type: ignore[misc,assignment]
