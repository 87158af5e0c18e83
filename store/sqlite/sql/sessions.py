"""The statements of the session log."""

from __future__ import annotations

from typing import Final

PUT_EVENT: Final = "INSERT INTO session_event VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
PUT_TEXT: Final = "INSERT INTO session_text VALUES (?, ?, ?, ?, ?)"
EMPTY_TEXTS: Final = """
UPDATE session_text SET text = NULL WHERE session = ? AND seq = ? AND part = ?"""

HEAD: Final = """
SELECT seq, digest FROM session_event WHERE session = ? ORDER BY seq DESC LIMIT 1"""

EVENTS: Final = """
SELECT session, seq, kind, actor, last_us, recorded_us, body, digest FROM session_event
WHERE session = ? AND seq > ? AND seq <= ? ORDER BY seq"""

TEXTS: Final = """
SELECT seq, text, digest FROM session_text
WHERE session = ? AND seq > ? AND seq <= ? ORDER BY seq, part"""

ALL_EVENTS: Final = """
SELECT session, seq, kind, actor, last_us, recorded_us, body, digest FROM session_event
ORDER BY session, seq"""

EVENT_TEXTS: Final = """
SELECT text, digest FROM session_text WHERE session = ? AND seq = ? ORDER BY part"""

SUMMARIES: Final = """
SELECT session, max(seq), recorded_us FROM session_event GROUP BY session ORDER BY session"""
"""SQLite takes the other columns from the row of the maximum."""

PUT_SNAPSHOT: Final = "INSERT OR REPLACE INTO session_snapshot VALUES (?, ?, ?, ?)"

SNAPSHOTS: Final = """
SELECT s.seq, s.body, s.seal, e.digest
FROM session_snapshot AS s JOIN session_event AS e USING (session, seq)
WHERE s.session = ? ORDER BY s.seq DESC"""

DROP_SNAPSHOTS: Final = """
DELETE FROM session_snapshot WHERE session = :session AND seq NOT IN (
  SELECT seq FROM session_snapshot WHERE session = :session ORDER BY seq DESC LIMIT :keep)"""
