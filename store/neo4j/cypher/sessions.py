"""The Cypher of the session log: its events, their texts and snapshots, without relationships.

All are found by their unique key (tenant, session, number), never by a walk.
"""

from __future__ import annotations

from typing import Final, LiteralString

PUT_EVENTS: Final[LiteralString] = """
UNWIND $given.rows AS row
CREATE (e:SessionEvent {tenant_id: $tenant, session_id: row.session, seq: row.seq})
SET e.kind = row.kind, e.actor = row.actor, e.last_us = row.last_us,
  e.recorded_us = row.recorded_us, e.body = row.body, e.digest = row.digest
"""
PUT_TEXTS: Final[LiteralString] = """
UNWIND $given.rows AS row
CREATE (x:SessionText {tenant_id: $tenant, session_id: row.session, seq: row.seq, part: row.part})
SET x.text = row.text, x.digest = row.digest
"""
# The digest stays, so the chain of a session still verifies after an erasure.
EMPTY_TEXTS: Final[LiteralString] = """
UNWIND $given.rows AS row
MATCH (x:SessionText) WHERE x.tenant_id = $tenant AND x.session_id = row.session
  AND x.seq = row.seq AND x.part = row.part
REMOVE x.text
"""
HEAD: Final[LiteralString] = """
MATCH (e:SessionEvent) WHERE e.tenant_id = $tenant AND e.session_id = $given.session AND e.seq > 0
RETURN e.seq AS seq, e.digest AS digest ORDER BY e.seq DESC LIMIT 1
"""
EVENTS: Final[LiteralString] = """
MATCH (e:SessionEvent) WHERE e.tenant_id = $tenant AND e.session_id = $given.session
  AND e.seq > $after AND e.seq <= $until
RETURN e {.session_id, .seq, .kind, .actor, .last_us, .recorded_us, .body, .digest} AS event
ORDER BY e.seq
"""
TEXTS: Final[LiteralString] = """
MATCH (x:SessionText) WHERE x.tenant_id = $tenant AND x.session_id = $given.session
  AND x.seq > $after AND x.seq <= $until AND x.part >= 0
RETURN x.seq AS seq, x.text AS text, x.digest AS digest ORDER BY x.seq, x.part
"""
SUMMARIES: Final[LiteralString] = """
MATCH (e:SessionEvent) WHERE e.tenant_id = $tenant AND e.session_id >= '' AND e.seq > 0
RETURN e.session_id AS session, max(e.seq) AS seq, max(e.recorded_us) AS recorded_us
ORDER BY session
"""
PUT_SNAPSHOT: Final[LiteralString] = """
MERGE (s:SessionSnapshot {tenant_id: $tenant, session_id: $given.session, seq: $seq})
SET s.seal = $given.seal, s.body = $given.body
"""
# With the digest of the event that it stands behind: its seal covers both.
SNAPSHOTS: Final[LiteralString] = """
MATCH (s:SessionSnapshot)
WHERE s.tenant_id = $tenant AND s.session_id = $given.session AND s.seq > 0
MATCH (e:SessionEvent {tenant_id: $tenant, session_id: $given.session, seq: s.seq})
RETURN s.seq AS seq, s.body AS body, s.seal AS seal, e.digest AS digest ORDER BY s.seq DESC
"""
DROP_SNAPSHOTS: Final[LiteralString] = """
MATCH (s:SessionSnapshot)
WHERE s.tenant_id = $tenant AND s.session_id = $given.session AND s.seq > 0
WITH s ORDER BY s.seq DESC SKIP $keep
DELETE s
"""
