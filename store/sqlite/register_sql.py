"""The SQL of names, judgements, queues, sessions and imports, and of the doctor.

Each statement of `MUST_BE_EMPTY` finds what breaks its sentence.
"""

from __future__ import annotations

from typing import Any, Final

from ...schema.entity import AUDIT, SUGGESTION
from ...schema.interval import INF_US as _OPEN
from ..port import tables
from .schema import EMPTY_PATHS
from .sql import ALL_EDGES, ALL_MENTIONS, ALL_VECTORS, FLAGS, MENTIONS, PUT_EDGE, PUT_FLAG


def _select(table: tables.RecordTable[Any], prefix: str) -> str:
    return "SELECT " + ", ".join(f"{prefix}.{name}" for name in tables.names_of(table))


def _insert(table: tables.RecordTable[Any]) -> str:
    columns = tables.names_of(table)
    values = ", ".join("?" * len(columns))
    return f"INSERT INTO {table.name} ({', '.join(columns)}) VALUES ({values})"


def _find(table: tables.RecordTable[Any], column: str) -> str:
    text = f"""{_select(table, "t")} FROM json_each(:ids) j
    CROSS JOIN {table.name} t ON t.{column} = j.value"""
    text += " AND t.tx_end >= :least" * bool(table.ends)
    if table.versioned:
        text += f""" AND t.version = (SELECT max(n.version) FROM {table.name} n
          WHERE n.{table.key} = t.{table.key})"""
    return f"{text} ORDER BY t.{table.key}"


FIND: Final = {
    (table.name, column): _find(table, column)
    for table in tables.EXPORT_TABLES.values()
    for column in table.columns
} | {("mention", "object_id"): MENTIONS}
"""The records of a table by one of its columns."""
EXPORTS: Final = {
    table.name: f"{_select(table, 't')} FROM {table.name} t ORDER BY {table.order}"
    for table in tables.EXPORT_TABLES.values()
} | {"mention": ALL_MENTIONS, "edge": ALL_EDGES, "flag": FLAGS, "vector": ALL_VECTORS}
"""All records of a table; those of claims name theirs by its number."""
PUT: Final = {
    **{table.name: _insert(table) for table in tables.EXPORT_TABLES.values()},
    "entity": f"""{_insert(tables.ENTITIES)} ON CONFLICT (entity_id) DO UPDATE
      SET name = excluded.name, type = excluded.type, state = excluded.state,
        recorded = excluded.recorded""",
    "slot": f"{_insert(tables.SLOTS)} ON CONFLICT (slot_key) DO NOTHING",
    "usage": f"""{_insert(tables.USAGE)} ON CONFLICT (object_id) DO UPDATE
      SET uses = uses + excluded.uses, last_us = max(last_us, excluded.last_us)""",
    "edge": PUT_EDGE,
    "flag": PUT_FLAG,
}
"""What puts a record into a table."""

# --- the register

_ENTITY: Final = f"{_select(tables.ENTITIES, 'e')} FROM "
ENTITIES: Final = (
    _ENTITY
    + "json_each(:ids) j CROSS JOIN entity e ON e.entity_id = j.value WHERE e.tx_start <= :tx"
)
_IDS_ABOVE: Final = {
    False: "SELECT e.entity_id FROM entity e WHERE e.entity_id > :after",
    True: """
SELECT e.entity_id FROM entity e INDEXED BY entity_by_type
WHERE e.type = :type AND e.entity_id > :after""",
}
_NAMED_IN: Final = """
AND (EXISTS (SELECT 1 FROM alias a INDEXED BY alias_by_entity WHERE a.entity_id = e.entity_id
    AND a.scope_id IN (SELECT value FROM json_each(:scopes)))
  OR EXISTS (SELECT 1 FROM canonical c WHERE c.canonical_id = e.entity_id))"""
ENTITY_IDS: Final = {
    (is_typed, is_scoped): f"{start}{_NAMED_IN * is_scoped} ORDER BY e.entity_id LIMIT :most"
    for is_typed, start in _IDS_ABOVE.items()
    for is_scoped in (False, True)
}
"""By whether ids of one type, and of names in some scopes, are wanted."""
_ALIAS: Final = f"{_select(tables.ALIASES, 'a')}, a.alias_id FROM "
CLOSE_ALIAS: Final = f"""
UPDATE alias SET tx_end = ? WHERE entity_id = ? AND norm = ? AND scope_id = ?
  AND type = ? AND ordinal = ? AND valid_from = ? AND tx_end = {_OPEN}"""
ALIASES_BY_NORM: Final = f"""
{_select(tables.ALIASES, "a")}, a.alias_id, c.authority_level, c.quarantine
FROM json_each(:scopes) s CROSS JOIN json_each(:norms) n
CROSS JOIN alias a INDEXED BY alias_by_norm ON a.norm = n.value AND a.scope_id = s.value
LEFT JOIN claim c ON c.object_id = a.object_id
WHERE a.tx_start <= :tx AND a.tx_end > :tx"""
"""The last two columns are of the claim that taught the alias."""
VISIBLE_ALIASES: Final = f"""{_ALIAS} json_each(:scopes) s CROSS JOIN json_each(:norms) n
CROSS JOIN alias a INDEXED BY alias_by_norm ON a.norm = n.value AND a.scope_id = s.value
WHERE a.tx_start <= :tx AND a.tx_end > :tx"""
"""The same without what taught them: of names that blocking proposes it plays no part."""
ALIASES_OF: Final = f"""{_ALIAS} json_each(:ids) j
CROSS JOIN alias a INDEXED BY alias_by_entity ON a.entity_id = j.value
WHERE a.tx_start <= :tx AND a.tx_end > :tx"""
NAME_ROWS: Final = """
SELECT a.entity_id, a.surface, a.scope_id, a.tx_start, a.object_id, c.authority_level,
  c.quarantine, c.claim_id IS NULL OR l.claim_id IS NOT NULL, p.class_rank, p.allow, p.deny,
  a.surface = e.name
FROM json_each(:ids) j
CROSS JOIN alias a INDEXED BY alias_by_entity ON a.entity_id = j.value
CROSS JOIN entity e ON e.entity_id = a.entity_id
LEFT JOIN claim c ON c.object_id = a.object_id
LEFT JOIN live l ON l.claim_id = c.claim_id
LEFT JOIN object_permit o ON o.claim_id = c.claim_id
LEFT JOIN permit p ON p.permit_id = o.permit_id
WHERE a.tx_start <= :tx AND a.tx_end > :tx ORDER BY a.alias_id"""
_IDENTIFIER: Final = _select(tables.IDENTIFIERS, "i")
IDENTIFIERS: Final = """
SELECT i.entity_id FROM json_each(:scopes) s
CROSS JOIN identifier i INDEXED BY identifier_by_value
ON i.scheme = :scheme AND i.value = :value AND i.scope_id = s.value
WHERE i.tx_start <= :tx AND i.tx_end > :tx"""
LESSONS_OF: Final = f"""{_IDENTIFIER}, c.actor, c.directs OR c.authority_level <= 1, c.source_kind,
  p.class_rank, p.allow, p.deny
FROM json_each(:ids) j
CROSS JOIN identifier i INDEXED BY identifier_by_entity ON i.entity_id = j.value
LEFT JOIN claim c ON c.object_id = i.object_id
LEFT JOIN object_permit o ON o.claim_id = c.claim_id
LEFT JOIN permit p ON p.permit_id = o.permit_id
WHERE i.tx_start <= :tx AND i.tx_end > :tx
UNION ALL SELECT NULL, NULL, NULL, NULL, NULL, NULL, a.object_id, c.actor, NULL, NULL,
  p.class_rank, p.allow, p.deny
FROM json_each(:ids) j
CROSS JOIN alias a INDEXED BY alias_by_entity ON a.entity_id = j.value
CROSS JOIN claim c ON c.object_id = a.object_id
CROSS JOIN object_permit o ON o.claim_id = c.claim_id
CROSS JOIN permit p ON p.permit_id = o.permit_id
WHERE a.tx_start <= :tx AND a.tx_end > :tx
  AND (p.class_rank > 0 OR p.allow <> '["*"]' OR p.deny <> '[]')"""
"""The identifiers of entities with who stated each, then of their names those that not everybody
may read, without the names."""
NORM_ID: Final = "SELECT norm_id FROM norm WHERE norm = ?"
PUT_NORM: Final = "INSERT INTO norm (norm) VALUES (?) RETURNING norm_id"
PUT_BLOCK_KEY: Final = "INSERT INTO block_key (k, norm_id, kind) VALUES (?, ?, ?)"
KEYS_OF_NORM: Final = "SELECT k FROM block_key INDEXED BY block_key_by_norm WHERE norm_id = ?"
COUNT_BLOCK_KEY: Final = """
INSERT INTO block_count (k, kind, postings) VALUES (?, ?, ?)
ON CONFLICT (k) DO UPDATE SET postings = postings + excluded.postings"""
NORMS_COUNTED: Final = ("", "norms")
"""Key and kind of the row of `block_count` that counts the norms."""
COUNT_NORMS: Final = "SELECT coalesce((SELECT postings FROM block_count WHERE k = ''), 0)"
BLOCK_COUNTS: Final = """
SELECT b.k, b.kind, b.postings FROM json_each(?) j CROSS JOIN block_count b ON b.k = j.value"""
POSTINGS: Final = """
SELECT j.value, (SELECT json_group_array(b.norm_id) FROM block_key b WHERE b.k = j.value)
FROM json_each(?) j"""
"""The numbers of the norms behind each key as one text: a row each would cost twice as much."""
NORMS: Final = """
SELECT n.norm, n.norm_id FROM json_each(?) j CROSS JOIN norm n ON n.norm_id = j.value"""
NORMS_IN_ORDER: Final = f"{NORMS} ORDER BY n.norm LIMIT ?"
BEARERS: Final = """
SELECT count(*) FROM (
  SELECT DISTINCT coalesce(m.canonical_id, a.entity_id)
  FROM block_key b CROSS JOIN norm n ON n.norm_id = b.norm_id
  CROSS JOIN json_each(:scopes) s
  CROSS JOIN alias a INDEXED BY alias_by_norm ON a.norm = n.norm AND a.scope_id = s.value
  LEFT JOIN canonical m ON m.raw_id = a.entity_id
  WHERE b.k = :key AND substr(n.norm, -length(:ending)) = :ending
    AND a.type IN ('person', 'unknown') AND a.tx_start <= :tx AND a.tx_end > :tx
  LIMIT :limit)"""
"""People of one family name, each once however many of their names end in it."""
BLOCK_KEYS: Final = """
SELECT n.norm, b.k, b.kind FROM norm n CROSS JOIN block_key b INDEXED BY block_key_by_norm
ON b.norm_id = n.norm_id ORDER BY n.norm_id, b.k"""
_JUDGEMENT: Final = f"{_select(tables.JUDGEMENTS, 'g')} FROM "
CLOSE_JUDGEMENT: Final = f"""
UPDATE judgement SET tx_end = ? WHERE judgement_id = ? AND tx_end = {_OPEN}"""
JUDGEMENTS_OF: Final = f"""{_JUDGEMENT} json_each(:ids) j
CROSS JOIN judgement g INDEXED BY judgement_by_left ON g.left_id = j.value
WHERE g.tx_start <= :tx AND g.tx_end > :tx
UNION {_JUDGEMENT} json_each(:ids) j
CROSS JOIN judgement g INDEXED BY judgement_by_right ON g.right_id = j.value
WHERE g.tx_start <= :tx AND g.tx_end > :tx ORDER BY 1"""
JUDGEMENTS_EVER: Final = f"""{_JUDGEMENT} json_each(:ids) j
CROSS JOIN judgement g INDEXED BY judgement_by_left ON g.left_id = j.value
UNION {_JUDGEMENT} json_each(:ids) j
CROSS JOIN judgement g INDEXED BY judgement_by_right ON g.right_id = j.value
UNION {_JUDGEMENT} judgement g INDEXED BY judgement_by_merge WHERE g.merge_id = :merge ORDER BY 1"""
PUT_CANONICAL: Final = """
INSERT INTO canonical VALUES (?, ?)
ON CONFLICT (raw_id) DO UPDATE SET canonical_id = excluded.canonical_id"""
DROP_CANONICAL: Final = "DELETE FROM canonical WHERE raw_id = ?"
CLUSTERS: Final = """
WITH top (canonical_id) AS MATERIALIZED (
  SELECT DISTINCT coalesce(c.canonical_id, j.value) FROM json_each(?) j
  LEFT JOIN canonical c ON c.raw_id = j.value)
SELECT m.raw_id, m.canonical_id FROM top t CROSS JOIN canonical m INDEXED BY canonical_members
ON m.canonical_id = t.canonical_id"""
_REVIEW: Final = f"{_select(tables.REVIEWS, 'r')} FROM review r"
_NEWEST: Final = """
WHERE r.version = (SELECT max(n.version) FROM review n WHERE n.review_id = r.review_id)"""
REVIEWS: Final = f"""
{_REVIEW} {_NEWEST} AND (:state IS NULL OR r.state = :state)
  AND (:mention = '' OR r.mention = :mention) ORDER BY r.opened_tx, r.review_id"""
WAITING: Final = """
SELECT count(*) FROM (SELECT 1 FROM waiting w INDEXED BY waiting_by_actor
  CROSS JOIN claim c ON c.claim_id = w.claim_id
  WHERE w.actor = ? AND c.source_origin = ? LIMIT ?)"""
CASES_THEN: Final = """
SELECT r.entity_id, r.state, r.decided_entity FROM json_each(:ids) j
CROSS JOIN review r INDEXED BY review_by_entity ON r.entity_id = j.value
WHERE coalesce(r.decided_tx, r.opened_tx) <= :tx AND r.reason NOT IN (:suggestion, :audit)
ORDER BY r.version"""
"""The blocking cases of entities in every version known at a tx, the newest last."""

# --- the resolver queue and receipts

CLOSE_ACTION: Final = f"""
UPDATE action SET tx_end = ?, outcome = ?, closed_by = ? WHERE action_id = ? AND tx_end = {_OPEN}"""
_ACTION: Final = f"{_select(tables.ACTIONS, 'a')} FROM "
ACTIONS: Final = f"""{_ACTION} action a
WHERE a.tx_start <= :tx AND a.tx_end > :after AND (:kind IS NULL OR a.kind = :kind)
ORDER BY a.tx_start, a.action_id"""

# --- manifests, vectors, usage

PUT_PACK: Final = "INSERT INTO pack VALUES (?, ?) ON CONFLICT (digest) DO NOTHING"
PACK: Final = "SELECT body FROM pack WHERE digest = ?"
ALL_PACKS: Final = "SELECT body FROM pack ORDER BY digest"
PUT_MANIFEST: Final = """
INSERT INTO manifest (envelope_id, body, pack) VALUES (?, ?, ?)
ON CONFLICT (envelope_id) DO NOTHING RETURNING number"""
PUT_COMPILED: Final = "INSERT INTO compiled VALUES (?, ?, ?)"
MANIFEST: Final = "SELECT body FROM manifest WHERE envelope_id = ?"
MANIFESTS: Final = "SELECT envelope_id, body FROM manifest ORDER BY number DESC LIMIT ?"
ALL_MANIFESTS: Final = "SELECT number, envelope_id, body, pack FROM manifest ORDER BY number"
COMPILED_IDS: Final = "SELECT object_id FROM compiled WHERE number = ? ORDER BY place"
ENVELOPES_OF: Final = """
SELECT DISTINCT m.envelope_id, m.number FROM json_each(?) j
CROSS JOIN compiled c INDEXED BY compiled_by_object ON c.object_id = j.value
CROSS JOIN manifest m ON m.number = c.number ORDER BY m.number"""
DROP_VECTOR: Final = """
DELETE FROM vector WHERE encoder_id = ? AND part = ?
  AND claim_id = (SELECT claim_id FROM claim WHERE object_id = ?)"""
PUT_VECTOR: Final = """
INSERT INTO vector (vec_seq, claim_id, encoder_id, part, vec16)
SELECT ?, c.claim_id, ?, ?, ? FROM claim c CROSS JOIN content d ON d.claim_id = c.claim_id
WHERE c.object_id = ?"""
VECTORS: Final = """
SELECT c.object_id, v.encoder_id, v.part, v.vec16, c.scope_id
FROM vector v CROSS JOIN claim c ON c.claim_id = v.claim_id
WHERE v.vec_seq > ? AND v.encoder_id = ? ORDER BY v.vec_seq"""

# --- what an erasure empties

_NUMBERS: Final = "(SELECT value FROM json_each(?1))"
EMPTY_OBJECTS: Final = (
    f"""DELETE FROM text_live WHERE rowid IN
      (SELECT claim_id FROM live WHERE claim_id IN {_NUMBERS})""",
    f"DELETE FROM live WHERE claim_id IN {_NUMBERS}",
    f"""DELETE FROM text_all WHERE rowid IN
      (SELECT claim_id FROM content WHERE terms <> '' AND claim_id IN {_NUMBERS})""",
    f"DELETE FROM vector WHERE claim_id IN {_NUMBERS}",
    f"DELETE FROM value_claim WHERE claim_id IN {_NUMBERS}",
    f"DELETE FROM content WHERE claim_id IN {_NUMBERS}",
    f"{EMPTY_PATHS} WHERE claim_id IN {_NUMBERS}",
)
"""In this order: the text indices read what they remove from `content`."""
EMPTY_RECORDS: Final = (
    f"UPDATE receipt SET body = '', fingerprint = '' WHERE object_id IN {_NUMBERS} AND body <> ''",
    # A scan, once an erasure: an action lists its members.
    f"""UPDATE action SET detail = '{{}}' WHERE detail <> '{{}}' AND (object_id IN {_NUMBERS}
      OR EXISTS (SELECT 1 FROM json_each(action.members) m WHERE m.value IN {_NUMBERS}))""",
    f"""UPDATE manifest SET body = '' WHERE body <> '' AND (envelope_id IN {_NUMBERS}
      OR number IN (SELECT number FROM compiled WHERE object_id IN {_NUMBERS}))""",
    f"""UPDATE review SET mention = '', candidates = '[]', note = ''
      WHERE object_id IN {_NUMBERS} AND (mention, candidates, note) <> ('', '[]', '')""",
    # What they taught and an operation closed: nobody else uses that name.
    f"DELETE FROM alias WHERE tx_end < {_OPEN} AND object_id IN {_NUMBERS}",
)
NAMING_RECEIPTS: Final = f"""
SELECT r.receipt_id, r.body FROM receipt r WHERE r.body <> ''
  AND EXISTS (SELECT 1 FROM {_NUMBERS} j WHERE instr(r.body, j.value) > 0)"""
"""The receipts of others that name an entity among their candidates: a scan, once an erasure."""
SHORTEN_RECEIPT: Final = "UPDATE receipt SET body = ? WHERE receipt_id = ?"
COMPACT_TEXT: Final = (
    "INSERT INTO text_live (text_live) VALUES ('optimize')",
    "INSERT INTO text_all (text_all) VALUES ('optimize')",
)
"""Rewrites the indices without what was deleted; FTS5 keeps deleted terms until then."""
EMPTY_ENTITIES: Final = (
    f"UPDATE entity SET name = '', state = 'erased' WHERE entity_id IN {_NUMBERS}",
    f"DELETE FROM identifier WHERE entity_id IN {_NUMBERS}",
    f"DELETE FROM alias WHERE entity_id IN {_NUMBERS}",
)
EMPTY_NAMINGS: Final = (
    f"""UPDATE judgement SET evidence = '{{}}' WHERE evidence <> '{{}}'
      AND (left_id IN {_NUMBERS} OR right_id IN {_NUMBERS})""",
    # A scan, once an erasure: a case lists its candidates.
    f"""UPDATE review SET mention = '', candidates = '[]', note = ''
      WHERE (mention, candidates, note) <> ('', '[]', '') AND (entity_id IN {_NUMBERS} OR EXISTS (
        SELECT 1 FROM json_each(review.candidates) c
        WHERE json_extract(c.value, '$.entity') IN {_NUMBERS}))""",
)
"""What repeats the name of an entity: evidence, and cases that it may have been meant in."""
LONELY_NORMS: Final = """
SELECT n.norm_id FROM norm n WHERE NOT EXISTS (SELECT 1 FROM alias a WHERE a.norm = n.norm)"""
UNCOUNT_BLOCK_KEYS: Final = f"""
UPDATE block_count SET postings = postings - (
  SELECT count(*) FROM block_key b WHERE b.k = block_count.k AND b.norm_id IN ({LONELY_NORMS}))
WHERE k IN (SELECT b.k FROM block_key b WHERE b.norm_id IN ({LONELY_NORMS}))"""
UNCOUNT_NORMS: Final = f"""
UPDATE block_count SET postings = postings - (SELECT count(*) FROM ({LONELY_NORMS})) WHERE k = ''"""
EMPTY_NORMS: Final = (
    UNCOUNT_BLOCK_KEYS,
    UNCOUNT_NORMS,
    "DELETE FROM block_count WHERE postings = 0",
    f"DELETE FROM block_key WHERE norm_id IN ({LONELY_NORMS})",
    f"DELETE FROM norm WHERE norm_id IN ({LONELY_NORMS})",
)


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


_HAS_OPEN_HEAD: Final = f"""EXISTS (SELECT 1 FROM version v INDEXED BY version_by_claim
  WHERE v.claim_id = d.claim_id AND v.tx_end = {_OPEN} AND v.head = 1)"""

MUST_BE_EMPTY: Final = {
    "a case that waits is not counted for its source, or the reverse": f"""
SELECT r.review_id FROM review r JOIN claim c ON c.object_id = r.object_id
LEFT JOIN waiting w ON w.review_id = r.review_id
WHERE r.version = (SELECT max(n.version) FROM review n WHERE n.review_id = r.review_id)
  AND (r.state IN ('open', 'undone') AND r.reason NOT IN ('{SUGGESTION}', '{AUDIT}'))
    <> (w.claim_id IS c.claim_id)""",
    "a row lies in another slot than its claim": """
SELECT v.vid FROM version v JOIN claim c ON c.claim_id = v.claim_id WHERE v.slot_id <> c.slot_id""",
    "a row is marked as a denial and is none, or the reverse": """
SELECT v.vid FROM version v JOIN claim c ON c.claim_id = v.claim_id
WHERE v.deny <> (c.op = 'deny')""",
    "an interval is empty or reversed": """
SELECT vid FROM version WHERE valid_from >= valid_until OR tx_start >= tx_end""",
    "a quarantined row decides": """
SELECT vid FROM version WHERE status = 'quarantined' AND head = 1""",
    "a row was believed before its claim was written": """
SELECT v.vid FROM version v JOIN claim c ON c.claim_id = v.claim_id WHERE v.tx_start < c.tx""",
    "a stamp of a row stands in no event": f"""
SELECT v.vid FROM version v WHERE NOT EXISTS (SELECT 1 FROM tx_event t WHERE t.tx = v.tx_start)
UNION ALL SELECT v.vid FROM version v WHERE v.tx_end < {_OPEN}
  AND NOT EXISTS (SELECT 1 FROM tx_event t WHERE t.tx = v.tx_end)""",
    "a claim's stamp stands in no event": """
SELECT c.object_id FROM claim c WHERE NOT EXISTS (SELECT 1 FROM tx_event t WHERE t.tx = c.tx)""",
    "a version number is not below the next one": """
SELECT vid FROM version WHERE vid >= (SELECT next_vid FROM counter)""",
    "a vector number is above the counter": """
SELECT vec_seq FROM vector WHERE vec_seq > (SELECT vec_seq FROM counter)""",
    "the definitions have a gap": """
SELECT number FROM definition WHERE number > (SELECT count(*) FROM definition)""",
    "a claim has no permissions": """
SELECT c.object_id FROM claim c
WHERE NOT EXISTS (SELECT 1 FROM object_permit o WHERE o.claim_id = c.claim_id)""",
    "a claim, its slot and its permissions name different scopes": """
SELECT c.object_id FROM claim c JOIN slot s ON s.slot_id = c.slot_id
JOIN object_permit o ON o.claim_id = c.claim_id JOIN permit p ON p.permit_id = o.permit_id
WHERE c.scope_id <> s.scope_id OR c.scope_id <> p.scope_id""",
    "content is gone and no tombstone says why": """
SELECT c.object_id FROM claim c
WHERE NOT EXISTS (SELECT 1 FROM content d WHERE d.claim_id = c.claim_id)
  AND c.object_id NOT IN (SELECT j.value FROM tombstone t, json_each(t.object_ids) j)""",
    "an erased object still has text": """
SELECT c.object_id FROM tombstone t, json_each(t.object_ids) j
JOIN claim c ON c.object_id = j.value JOIN content d ON d.claim_id = c.claim_id
UNION SELECT r.object_id FROM tombstone t, json_each(t.object_ids) j
JOIN receipt r ON r.object_id = j.value WHERE r.body <> ''
UNION SELECT k.object_id FROM tombstone t, json_each(t.object_ids) j
JOIN compiled k ON k.object_id = j.value JOIN manifest m ON m.number = k.number
WHERE m.body <> ''""",
    "a slot of many values does not find a claim by its value": """
SELECT c.object_id FROM content d JOIN claim c ON c.claim_id = d.claim_id
JOIN slot s ON s.slot_id = c.slot_id LEFT JOIN value_claim m
ON m.slot_id = s.slot_id AND m.value_key = d.value_key AND m.claim_id = d.claim_id
WHERE s.many <> (m.claim_id IS NOT NULL)
UNION SELECT m.claim_id FROM value_claim m
WHERE NOT EXISTS (SELECT 1 FROM content d WHERE d.claim_id = m.claim_id)""",
    "a mention lies outside its text": """
SELECT c.object_id FROM mention m JOIN claim c ON c.claim_id = m.claim_id
JOIN content d ON d.claim_id = m.claim_id WHERE m.until > length(CAST(d.text AS BLOB))""",
    "an erased entity still has a name": """
SELECT e.entity_id FROM entity e WHERE e.state = 'erased' AND (e.name <> ''
  OR EXISTS (SELECT 1 FROM alias a WHERE a.entity_id = e.entity_id)
  OR EXISTS (SELECT 1 FROM identifier i WHERE i.entity_id = e.entity_id))""",
    "an erased claim has an open row": f"""
SELECT v.vid FROM version v WHERE v.tx_end = {_OPEN}
  AND NOT EXISTS (SELECT 1 FROM content d WHERE d.claim_id = v.claim_id)""",
    "a live mark is missing or stands where no open head is": f"""
SELECT d.claim_id FROM content d WHERE d.terms <> ''
  AND {_HAS_OPEN_HEAD} <> EXISTS (SELECT 1 FROM live l WHERE l.claim_id = d.claim_id)""",
    "a count of blocking keys is wrong": """
SELECT b.k FROM block_count b
WHERE b.k <> '' AND b.postings <> (SELECT count(*) FROM block_key k WHERE k.k = b.k)
UNION SELECT k.k FROM block_key k WHERE k.k NOT IN (SELECT k FROM block_count)""",
    "the count of norms is wrong": """
SELECT count(*) FROM norm
HAVING count(*) <> coalesce((SELECT postings FROM block_count WHERE k = ''), 0)""",
    "a norm with blocking keys names no alias": """
SELECT n.norm_id FROM norm n WHERE NOT EXISTS (SELECT 1 FROM alias a WHERE a.norm = n.norm)""",
    "a canonical id belongs to no entity": """
SELECT c.raw_id FROM canonical c WHERE NOT EXISTS
  (SELECT 1 FROM entity e WHERE e.entity_id = c.raw_id)
  OR NOT EXISTS (SELECT 1 FROM entity e WHERE e.entity_id = c.canonical_id)""",
    "a stamp of a tombstone stands in no event": """
SELECT t.erasure_id FROM tombstone t
WHERE NOT EXISTS (SELECT 1 FROM tx_event e WHERE e.tx = t.tx)""",
}
"""Statements by the sentence that holds when they find nothing."""

STORED_VALUES: Final = """
SELECT c.object_id, c.slot, c.op, d.value_key, d.value_json, d.text
FROM content d JOIN claim c ON c.claim_id = d.claim_id"""

STORED_NAMES: Final = "SELECT entity_id, surface, norm FROM alias ORDER BY alias_id"

CLEAN_HEADS: Final = """
SELECT s.slot_key || iif(s.many, ' ' || coalesce(d.value_key, c.object_id), '') AS place,
  v.valid_from, v.valid_until, v.tx_start, v.tx_end
FROM version v JOIN claim c ON c.claim_id = v.claim_id JOIN slot s ON s.slot_id = v.slot_id
LEFT JOIN content d ON d.claim_id = v.claim_id
WHERE v.head = 1 AND v.status = 'clean' AND v.deny = 0 ORDER BY place"""
"""Rows that exclude each other: of a slot, of one value where it holds several."""

ROWS_OF_CLAIMS: Final = """
SELECT c.object_id, v.valid_from, v.valid_until, v.tx_start, v.tx_end
FROM version v JOIN claim c ON c.claim_id = v.claim_id ORDER BY c.object_id"""

OPEN_JUDGEMENTS: Final = f"{_JUDGEMENT} judgement g WHERE g.tx_end = {_OPEN}"

INDEXED_COLUMNS: Final = {
    "text_all": "SELECT claim_id, terms FROM searchable",
    "text_live": """SELECT t.claim_id, t.terms FROM live l
      JOIN searchable t ON t.claim_id = l.claim_id""",
}
"""What each text index should hold."""
