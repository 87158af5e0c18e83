"""Plain SQLite: one table, one insert a fact. The floor under every other figure."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from peer import Fact, Peer

_SCHEMA = """
CREATE TABLE fact (
    subject TEXT NOT NULL, slot TEXT NOT NULL, value TEXT NOT NULL,
    valid_from REAL NOT NULL, valid_until REAL, recorded REAL NOT NULL
);
CREATE INDEX by_slot ON fact (subject, slot, valid_from);
CREATE VIRTUAL TABLE word USING fts5(text);
"""


class SqlitePeer(Peer):
    """The table that a reader would write first: the newest row that covers an instant wins."""

    def __init__(self, folder: Path, slots: Sequence[str]) -> None:
        self._connection = sqlite3.connect(folder / "plain.db", check_same_thread=False)
        self._connection.execute("PRAGMA journal_mode=WAL")
        self._connection.execute("PRAGMA synchronous=FULL")
        self._connection.executescript(_SCHEMA)
        self._lock = threading.Lock()

    def write(self, fact: Fact) -> None:
        end = fact.end.timestamp() if fact.end else None
        now = datetime.now(UTC).timestamp()
        row = (fact.subject, fact.slot, fact.value, fact.start.timestamp(), end, now)
        with self._lock, self._connection:
            self._connection.execute("INSERT INTO fact VALUES (?, ?, ?, ?, ?, ?)", row)
            self._connection.execute("INSERT INTO word VALUES (?)", (fact.text,))

    def search(self, question: str, limit: int) -> list[str]:
        words = [word for word in question.replace("'s", "").strip("?").split() if word.isalpha()]
        query = " OR ".join(f'"{word}"' for word in words)
        rows = self._connection.execute(
            "SELECT text FROM word WHERE word MATCH ? ORDER BY rank LIMIT ?", (query, limit)
        )
        return [text for (text,) in rows]

    def values_at(self, subject: str, slot: str, valid: datetime, known: datetime) -> list[str]:
        at = valid.timestamp()
        rows = self._connection.execute(
            "SELECT value FROM fact WHERE subject = ? AND slot = ? AND valid_from <= ?"
            " AND (valid_until IS NULL OR valid_until > ?) AND recorded <= ?"
            " ORDER BY recorded DESC LIMIT 1",
            (subject, slot, at, at, known.timestamp()),
        )
        return [value for (value,) in rows]

    def entities(self) -> int:
        row = self._connection.execute("SELECT count(DISTINCT subject) FROM fact").fetchone()
        return int(row[0])

    def close(self) -> None:
        self._connection.close()


PEER = SqlitePeer
