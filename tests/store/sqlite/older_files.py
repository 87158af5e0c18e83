"""Files as an earlier version of the schema left them."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from tenure.store.sqlite.sql.schema import MIGRATIONS

_TEXT_INDEX = """CREATE VIRTUAL TABLE {name} USING fts5 (terms, content = 'content',
  content_rowid = 'claim_id', tokenize = 'ascii', detail = none, columnsize = 0)"""
STRICT = "CREATE TRIGGER {name} BEFORE UPDATE ON {table} BEGIN SELECT RAISE(ABORT, 'no'); END"
"""A guard of an older version."""
BEFORE_TURNS = (
    "DROP INDEX claim_turn",
    "DROP TRIGGER turn_same",
    "ALTER TABLE claim DROP COLUMN turn",
)
"""Takes back what the newest migration does."""
BEFORE_TAUGHT_IDENTIFIERS = (
    *BEFORE_TURNS,
    "DROP TRIGGER identifier_same",
    "DROP INDEX identifier_by_value",
    "DROP INDEX identifier_by_entity",
    "ALTER TABLE identifier DROP COLUMN scope_id",
    "ALTER TABLE identifier DROP COLUMN object_id",
    "CREATE INDEX identifier_by_value ON identifier (scheme, value)",
    "CREATE INDEX identifier_by_entity ON identifier (entity_id)",
    "CREATE UNIQUE INDEX identifier_key ON identifier (scheme, value, entity_id)",
    STRICT.format(name="identifier_same", table="identifier"),
)
"""Takes back the two newest migrations."""
BEFORE_SEARCHED_SCOPES = (
    *BEFORE_TAUGHT_IDENTIFIERS,
    "DROP TABLE text_all",
    "DROP TABLE text_live",
    "DROP VIEW searchable",
    _TEXT_INDEX.format(name="text_all"),
    _TEXT_INDEX.format(name="text_live"),
    "INSERT INTO text_all (rowid, terms) SELECT claim_id, terms FROM content WHERE terms <> ''",
    "INSERT INTO text_live (rowid, terms) SELECT claim_id, terms FROM live JOIN content"
    " USING (claim_id)",
)
"""Takes back the three newest migrations."""
BEFORE_INDICES_OF_READS = (
    *BEFORE_SEARCHED_SCOPES,
    *(f"DROP INDEX {name}" for name in ("version_open", "slot_of_subject", "edge_confirms")),
)
"""Takes back the four newest migrations."""
AUTHORSHIP = ("writer_user", "writer_session", "directs")


def before_authorship(path: Path) -> int:
    """Take a file back to the schema without the writers of claims; return its version."""
    version = next(n for n, parts in enumerate(MIGRATIONS) if "directs" in parts[0])
    statements = (
        *BEFORE_INDICES_OF_READS,
        "DROP INDEX claim_standing_subject",
        "DROP TABLE import_journal",
        "DROP TABLE session_snapshot",
        "DROP TABLE session_text",
        "DROP TABLE session_event",
        "DROP TABLE unattributed",
        "DROP TRIGGER claim_same",
        *(f"ALTER TABLE claim DROP COLUMN {name}" for name in AUTHORSHIP),
        STRICT.format(name="claim_same", table="claim"),
        f"PRAGMA user_version = {version}",
    )
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        for statement in statements:
            db.execute(statement)
    return version
