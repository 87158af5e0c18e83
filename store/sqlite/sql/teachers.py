"""The step of the schema from which an identifier says who taught it."""

from __future__ import annotations

from typing import Final

_TEACHER: Final = """
SELECT iif(i.scheme = 'user' AND instr(',' || c.scope_id || ',', ',user=' || i.value || ',') > 0,
  'user=' || i.value, c.scope_id) AS scope_id, c.object_id
FROM tx_event e CROSS JOIN json_each(e.object_ids) j CROSS JOIN claim c ON c.object_id = j.value
WHERE e.tx = i.tx_start AND (c.subject_id = i.entity_id OR c.value_entity_id = i.entity_id
  OR EXISTS (SELECT 1 FROM mention m WHERE m.claim_id = c.claim_id AND m.entity_id = i.entity_id))
ORDER BY c.scope_id <> 'tenant', length(c.scope_id), c.claim_id LIMIT 1"""
TAUGHT_IDENTIFIERS: Final = f"""
DROP TRIGGER identifier_same;
DROP INDEX identifier_by_value;
DROP INDEX identifier_by_entity;
DROP INDEX identifier_key;
ALTER TABLE identifier ADD COLUMN scope_id TEXT NOT NULL DEFAULT 'tenant';
ALTER TABLE identifier ADD COLUMN object_id TEXT NOT NULL DEFAULT '';
UPDATE identifier AS i SET
  scope_id = coalesce((SELECT t.scope_id FROM ({_TEACHER}) t), 'tenant'),
  object_id = coalesce((SELECT t.object_id FROM ({_TEACHER}) t), '');
CREATE INDEX identifier_by_value ON identifier (scheme, value, scope_id);
CREATE UNIQUE INDEX identifier_by_entity
  ON identifier (entity_id, scheme, value, scope_id, object_id);
CREATE TRIGGER identifier_same BEFORE UPDATE ON identifier
BEGIN SELECT RAISE(ABORT, 'history is append-only: identifier'); END;
"""
"""Who taught an identifier, and where it is known. One of an older file stands where the widest
write of its stamp about its entity does, and in the whole tenant where no write can be told."""
