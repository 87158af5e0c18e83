"""The triggers that keep history append-only, as texts of migrations."""

from __future__ import annotations


def append_only(table: str) -> str:
    """Return the triggers of a table that only ever grows."""
    return f"""
CREATE TRIGGER {table}_keep BEFORE DELETE ON {table}
BEGIN SELECT RAISE(ABORT, 'history is append-only: {table}'); END;
CREATE TRIGGER {table}_same BEFORE UPDATE ON {table}
BEGIN SELECT RAISE(ABORT, 'history is append-only: {table}'); END;
"""


def unless(table: str, condition: str, columns: str) -> str:
    """Return the triggers of a table whose rows see one kind of change and no removal."""
    names = columns.split()
    new = ", ".join(f"NEW.{name}" for name in names)
    old = ", ".join(f"OLD.{name}" for name in names)
    return f"""
CREATE TRIGGER {table}_keep BEFORE DELETE ON {table}
BEGIN SELECT RAISE(ABORT, 'history is append-only: {table}'); END;
CREATE TRIGGER {table}_change BEFORE UPDATE ON {table}
WHEN NOT (({condition}) AND ({new}) IS ({old}))
BEGIN SELECT RAISE(ABORT, 'history is append-only: {table}'); END;
"""
