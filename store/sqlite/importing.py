"""The journal of an import in groups, as a tenant's file keeps it."""

from __future__ import annotations

import sqlite3

from ..port.importing import ImportJournal
from .sql import importing as sql


def journal(db: sqlite3.Connection) -> ImportJournal | None:
    """How far an import has come; None where none is in progress."""
    line = db.execute(sql.JOURNAL).fetchone()
    return None if line is None else ImportJournal(*line)


def keep_journal(db: sqlite3.Connection, journal: ImportJournal | None) -> None:
    """Keep a journal inside the open transaction; None ends the import."""
    if journal is None:
        db.execute(sql.DROP_JOURNAL)
        return
    db.execute(sql.PUT_JOURNAL, (journal.digest, journal.applied, journal.total))
