"""The SQL of the journal of an import in groups."""

from __future__ import annotations

from typing import Final

JOURNAL: Final = "SELECT digest, applied, total FROM import_journal"
PUT_JOURNAL: Final = """
INSERT INTO import_journal (one, digest, applied, total) VALUES (1, ?, ?, ?)
ON CONFLICT (one) DO UPDATE SET digest = excluded.digest, applied = excluded.applied,
  total = excluded.total"""
DROP_JOURNAL: Final = "DELETE FROM import_journal"
STAMPED: Final = "SELECT seq FROM counter"

TABLES_AND_VIEWS: Final = """
SELECT iif(type = 'view', 'VIEW', 'TABLE'), name FROM pragma_table_list
WHERE schema = 'main' AND type IN ('table', 'view', 'virtual') AND name NOT LIKE 'sqlite%'
ORDER BY type DESC, name"""
"""Every table and view of a file; virtual tables first, which take their own tables with them."""
