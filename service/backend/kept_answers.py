"""Answers that `tenure serve` keeps for retries, in its control file outside the store.

Every erasure empties those that name what it took, by whatever way it came and whether or not a
server runs. Other answers stay: a retry must not show that something was erased.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from contextlib import closing
from pathlib import Path
from typing import Final

from ...schema.errors import Unavailable

EMPTIED: Final = 410
"""The status of an answer that went with an erasure."""

_WORD_ENDS: Final = re.compile('["/ ]')
"""What an id ends at in an answer, be it a text of its own or the part of an address."""
_BUSY_SECONDS: Final = 5.0
_HAS_ANSWERS: Final = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'answers'"


def control_path(store: str) -> Path:
    """The control file next to a store, or of the current folder for a store that is no path."""
    if "://" in store or store == ":memory:":
        return Path("tenure-server.control")
    return Path(store.rstrip("/") + ".control").expanduser()


def forget_kept(
    path: Path, tenant: str, names: Collection[str], repeats: Callable[[str], bool] | None = None
) -> None:
    """Empty the answers of a tenant that name one of some ids, or whose text `repeats` tells.

    Raises:
        Unavailable: `answers_unreachable`.
    """
    if not path.is_file() or not (names or repeats):
        return
    import sqlite3

    try:
        with closing(sqlite3.connect(path, timeout=_BUSY_SECONDS, isolation_level=None)) as db:
            db.execute("PRAGMA secure_delete = ON")
            db.execute("BEGIN IMMEDIATE")
            if db.execute(_HAS_ANSWERS).fetchone() is None:
                return
            statement = "SELECT caller, key, body FROM answers WHERE tenant = ? AND status > 0"
            for caller, key, body in db.execute(statement, (tenant,)).fetchall():
                text = body.decode()
                words = set(_WORD_ENDS.split(text))
                if not words.isdisjoint(names) or (repeats is not None and repeats(text)):
                    db.execute(
                        "UPDATE answers SET status = ?, body = x'' WHERE caller = ? AND key = ?",
                        (EMPTIED, caller, key),
                    )
            db.execute("COMMIT")
    except sqlite3.Error as error:
        raise Unavailable(
            f"the answers that a server keeps in {path} cannot be emptied: {error}; stop the "
            "server and delete the table `answers` of that file",
            code="answers_unreachable",
        ) from error
