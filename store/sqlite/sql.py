"""The SQL of facts: counters, claims, version rows, what is always on, and text search.

Values are bound, never written into a text. A partial index serves a statement only when its
condition is in it as a literal, so the open end is written out. Every read of versions tests
both stamps against the point; a row comes with its claim where the planner compares claims.
"""

from __future__ import annotations

from itertools import product
from typing import Final

from ...schema.interval import INF_US as _OPEN
from ...schema.values import NO_VALUE_KEY as _NOTHING
from ..port import claim_columns as table

# --- the tenant

CREATE_META: Final = "INSERT INTO meta VALUES (1, ?)"
CREATE_COUNTER: Final = "INSERT INTO counter VALUES (1, 0, ?, 1, 0, 0)"
TENANT: Final = "SELECT tenant FROM meta"
PUT_KEY: Final = "INSERT INTO tenant_key (epoch, secret) VALUES (?, ?)"
CLEAR_KEYS: Final = "DELETE FROM tenant_key"
KEYS: Final = "SELECT secret FROM tenant_key ORDER BY epoch"
COUNTERS: Final = """
SELECT seq, last_us, next_vid, vec_seq, erasures, (SELECT max(permit_id) FROM permit)
FROM counter"""
COUNTERS_TO_WRITE: Final = """
SELECT seq, last_us, next_vid, vec_seq, erasures, (SELECT max(permit_id) FROM permit),
  (SELECT coalesce(max(claim_id), 0) FROM claim),
  (SELECT digest FROM tx_event ORDER BY seq DESC LIMIT 1),
  (SELECT user_version FROM pragma_user_version)
FROM counter"""
SET_COUNTERS: Final = """
UPDATE counter SET seq = ?, last_us = ?, next_vid = ?, vec_seq = max(vec_seq, ?)"""
RAISE_VECTORS: Final = "UPDATE counter SET vec_seq = vec_seq + ?"
RAISE_ERASURES: Final = "UPDATE counter SET erasures = erasures + 1"
COUNT_DEFINITIONS: Final = "SELECT count(*) FROM definition"
PUT_DEFINITION: Final = "INSERT INTO definition (number, body) VALUES (?, ?)"
DEFINITIONS: Final = "SELECT number, body FROM definition WHERE number > ? ORDER BY number"
NEWEST: Final = "SELECT last_us, (SELECT coalesce(max(number), 0) FROM definition) FROM counter"
DEFINITION_BODIES: Final = "SELECT body FROM definition ORDER BY number"
PUT_EVENT: Final = """
INSERT INTO tx_event (seq, tx, actor, op, object_ids, digest) VALUES (?, ?, ?, ?, ?, ?)"""
EVENTS: Final = "SELECT seq, tx, actor, op, object_ids, digest FROM tx_event ORDER BY seq"
EVENTS_IN: Final = """
SELECT seq, tx, actor, op, object_ids FROM tx_event
WHERE tx > :after AND tx <= :until AND (:actor IS NULL OR actor = :actor)
ORDER BY tx DESC LIMIT :limit"""
ERASED_SINCE: Final = """
SELECT DISTINCT j.value FROM tombstone t, json_each(t.object_ids) j
WHERE t.tx > coalesce((SELECT tx FROM tx_event WHERE seq <= ? ORDER BY seq DESC LIMIT 1), ?)
ORDER BY j.value"""

# --- who may see what

VISIBLE_PERMITS: Final = """
SELECT p.permit_id FROM json_each(:scopes) s CROSS JOIN permit p ON p.scope_id = s.value
WHERE p.permit_id > :after AND p.class_rank <= :clearance
  AND EXISTS (SELECT 1 FROM json_each(p.allow) a
    WHERE a.value IN (SELECT value FROM json_each(:tags)))
  AND NOT EXISTS (SELECT 1 FROM json_each(p.deny) d
    WHERE d.value IN (SELECT value FROM json_each(:tags)))
ORDER BY p.permit_id"""
PERMITS: Final = """
SELECT permit_id, class_rank, allow, deny FROM permit WHERE permit_id >= ?
ORDER BY permit_id LIMIT 64"""
FIND_PERMIT: Final = """
SELECT permit_id FROM permit WHERE scope_id = ? AND class_rank = ? AND allow = ? AND deny = ?"""
PUT_PERMIT: Final = """
INSERT INTO permit (scope_id, class_rank, allow, deny) VALUES (?, ?, ?, ?)
RETURNING permit_id"""
# Statements that put one row of plain values are the cheap ones: from a SELECT, and with a clause
# for conflicts, SQLite journals each page first, so that it could take back the statement alone.
PUT_OBJECT_PERMIT: Final = "INSERT INTO object_permit (claim_id, permit_id) VALUES (?, ?)"
CHANGE_OBJECT_PERMIT: Final = "UPDATE object_permit SET permit_id = ? WHERE claim_id = ?"
PUT_PERMISSION_CHANGE: Final = """
INSERT INTO permission_change (claim_id, permit_id, tx, actor) VALUES (?, ?, ?, ?)"""
PERMISSION_CHANGES: Final = """
SELECT c.object_id, p.class_rank, p.allow, p.deny, h.tx, h.actor
FROM permission_change h CROSS JOIN claim c ON c.claim_id = h.claim_id
CROSS JOIN permit p ON p.permit_id = h.permit_id ORDER BY h.change_id"""

# --- slots and claims

SLOT_IN_USE: Final = """
SELECT EXISTS (SELECT 1 FROM slot s INDEXED BY slot_by_name
  CROSS JOIN claim c INDEXED BY claim_by_slot ON c.slot_id = s.slot_id WHERE s.slot = ?)"""
_SLOT_ID: Final = """
SELECT DISTINCT s.slot_id, s.many, s.scope_id IN (SELECT value FROM json_each(:scopes)) FROM """
SLOT_IDS_OF_PAIR: Final = """
SELECT s.slot_id, s.many, s.scope_id FROM slot s INDEXED BY slot_of_subject
WHERE s.subject_id = ? AND s.slot = ?"""
SLOT_IDS_OF_PAIRS: Final = f"""{_SLOT_ID}
json_each(:subjects) a CROSS JOIN json_each(:names) b CROSS JOIN slot s INDEXED BY slot_of_subject
ON s.subject_id = a.value AND s.slot = b.value"""
_SLOTS_ABOUT: Final = f"""{_SLOT_ID}
json_each(:subjects) a CROSS JOIN slot s INDEXED BY slot_of_subject ON s.subject_id = a.value"""
SLOT_IDS_OF_SUBJECTS_ALONE: Final = f"{_SLOTS_ABOUT} AND s.slot IS NOT NULL"
"""Without those of texts, which have no name: somebody may have said ten thousand things."""
SLOT_IDS_OF_SUBJECTS: Final = f"""{_SLOTS_ABOUT}
UNION SELECT s.slot_id, s.many, s.scope_id IN (SELECT value FROM json_each(:scopes))
FROM json_each(:subjects) a CROSS JOIN claim c INDEXED BY claim_text_about
ON c.subject_id = a.value AND c.slot IS NULL AND c.subject_id IS NOT NULL
CROSS JOIN slot s ON s.slot_id = c.slot_id"""
NEWEST_TEXT_SLOT_IDS: Final = """
SELECT s.slot_id, s.many, 1
FROM claim c INDEXED BY claim_text_about CROSS JOIN slot s ON s.slot_id = c.slot_id
WHERE c.subject_id = :subject AND c.slot IS NULL
  AND s.scope_id IN (SELECT value FROM json_each(:scopes))
ORDER BY c.claim_id DESC LIMIT :texts"""
NEWEST_FOREIGN_SLOT_IDS: Final = """
SELECT s.slot_id, s.many, 0
FROM (
  SELECT slot_id FROM claim INDEXED BY claim_text_about
  WHERE subject_id = :subject AND slot IS NULL ORDER BY claim_id DESC LIMIT :texts
) n CROSS JOIN slot s ON s.slot_id = n.slot_id
WHERE s.scope_id NOT IN (SELECT value FROM json_each(:scopes))"""
SLOT_IDS_OF_NAMES: Final = f"""{_SLOT_ID}
json_each(:names) b CROSS JOIN slot s INDEXED BY slot_by_name ON s.slot = b.value"""
SLOT_IDS_OF_KEYS: Final = f"""{_SLOT_ID}
json_each(:keys) k CROSS JOIN slot s ON s.slot_key = k.value"""
SLOT_IDS: Final = f"{_SLOT_ID} slot s"
CLAIM_IDS: Final = """
SELECT c.claim_id FROM json_each(?) j CROSS JOIN claim c ON c.object_id = j.value
ORDER BY c.claim_id"""
FACT_IDS: Final = """
SELECT c.claim_id FROM json_each(?) j CROSS JOIN claim c ON c.object_id = j.value
WHERE c.slot IS NOT NULL ORDER BY c.claim_id"""
DERIVED_CLAIM_IDS: Final = """
SELECT DISTINCT e.src_id FROM json_each(?) j CROSS JOIN claim c ON c.object_id = j.value
CROSS JOIN edge e INDEXED BY edge_to ON e.dst_id = c.claim_id AND e.kind = 'DERIVED_FROM'
ORDER BY e.src_id"""
SCOPE_OF_OBJECT: Final = "SELECT claim_id, scope_id FROM claim WHERE object_id = ?"
_COLUMNS: Final = (*table.CLAIM_COLUMNS, *table.SECRET_COLUMNS)
_IN_CLAIM: Final = table.names_of(column for column in _COLUMNS if column.table == "c")
_IN_CONTENT: Final = table.names_of(column for column in _COLUMNS if column.table == "d")
PUT_CLAIM: Final = f"""
INSERT INTO claim (claim_id, {", ".join(_IN_CLAIM)}, slot_id, turn)
VALUES (?{", ?" * len(_IN_CLAIM)}, (SELECT slot_id FROM slot WHERE slot_key = ?),
  iif(? IS NULL, NULL, 1 + coalesce((
    SELECT turn FROM claim INDEXED BY claim_turn WHERE scope_id = ? AND turn IS NOT NULL
    ORDER BY turn DESC LIMIT 1), 0)))"""
"""The last two values are the scope of a turn, which takes the next number there; else null."""
PUT_CONTENT: Final = f"""
INSERT INTO content (claim_id, {", ".join(_IN_CONTENT)}) VALUES (?{", ?" * len(_IN_CONTENT)})"""
PUT_VALUES: Final = """
INSERT INTO value_claim (slot_id, value_key, claim_id)
SELECT c.slot_id, d.value_key, c.claim_id FROM claim c NOT INDEXED
CROSS JOIN slot s ON s.slot_id = c.slot_id CROSS JOIN content d ON d.claim_id = c.claim_id
WHERE c.claim_id > ? AND s.many = 1"""
"""The new claims of slots of many values, by value."""
PUT_SIGNATURE: Final = "INSERT INTO claim_signature VALUES (?, ?)"
PUT_TEXT: Final = "INSERT INTO text_all (rowid, terms) VALUES (?, ?)"
_OPEN_CLAIM: Final = f"""
SELECT c.claim_id, {table.column_list(table.CLAIM_COLUMNS)},
  (SELECT g.signature FROM claim_signature g WHERE g.claim_id = c.claim_id), d.claim_id IS NULL,
  c.turn"""
_CLAIM: Final = f"{_OPEN_CLAIM}, {table.column_list(table.SECRET_COLUMNS)}"
_FROM_LIST: Final = """ FROM json_each(?) j CROSS JOIN claim c ON c.claim_id = j.value
CROSS JOIN slot s ON s.slot_id = c.slot_id LEFT JOIN content d ON d.claim_id = c.claim_id"""
BODIES: Final = _CLAIM + _FROM_LIST
BODY: Final = f"""{_CLAIM} FROM claim c CROSS JOIN slot s ON s.slot_id = c.slot_id
LEFT JOIN content d ON d.claim_id = c.claim_id WHERE c.claim_id = ?"""
"""One of `BODIES`: a point read needs no list."""
VEILED_BODIES: Final = _OPEN_CLAIM + _FROM_LIST
"""Bodies of claims the caller may not see: no content and no value ever leaves the file."""
CLAIMS_OF_SLOTS: Final = (
    _CLAIM
    + """ FROM json_each(?) j CROSS JOIN slot s ON s.slot_key = j.value
CROSS JOIN claim c INDEXED BY claim_by_slot ON c.slot_id = s.slot_id
CROSS JOIN content d ON d.claim_id = c.claim_id
WHERE c.quarantine = '' ORDER BY c.tx, c.ordinal, c.claim_id"""
)
_WITH_PERMIT: Final = f", {table.column_list(table.PERMISSION_COLUMNS)}"
_PERMIT: Final = """ CROSS JOIN object_permit o ON o.claim_id = c.claim_id
CROSS JOIN permit p ON p.permit_id = o.permit_id"""
ASSERTIONS: Final = f"""{_CLAIM}{_WITH_PERMIT} FROM json_each(?) j
CROSS JOIN claim c ON c.object_id = j.value CROSS JOIN slot s ON s.slot_id = c.slot_id
CROSS JOIN content d ON d.claim_id = c.claim_id{_PERMIT}"""
# The upper end keeps the search inside the index: no id holds the last character there is.
OBJECT_IDS: Final = """
SELECT object_id FROM claim WHERE object_id >= :beginning AND object_id > :after
AND object_id < :beginning || char(1114111) ORDER BY object_id LIMIT :limit"""
OBJECTS_OF: Final = """
SELECT c.object_id FROM json_each(:ids) j
CROSS JOIN slot s INDEXED BY slot_of_subject ON s.subject_id = j.value
CROSS JOIN claim c INDEXED BY claim_by_slot ON c.slot_id = s.slot_id
CROSS JOIN content d ON d.claim_id = c.claim_id
UNION SELECT c.object_id FROM json_each(:ids) j
CROSS JOIN claim c INDEXED BY claim_by_value ON c.value_entity_id = j.value
CROSS JOIN content d ON d.claim_id = c.claim_id
UNION SELECT c.object_id FROM json_each(:ids) j
CROSS JOIN claim c INDEXED BY claim_text_about
ON c.subject_id = j.value AND c.slot IS NULL AND c.subject_id IS NOT NULL
CROSS JOIN content d ON d.claim_id = c.claim_id
UNION SELECT c.object_id FROM json_each(:ids) j
CROSS JOIN mention m INDEXED BY mention_by_entity ON m.entity_id = j.value
CROSS JOIN claim c ON c.claim_id = m.claim_id
CROSS JOIN content d ON d.claim_id = c.claim_id ORDER BY 1"""
LIVE_OBJECTS: Final = f"""
WITH scopes (scope_id) AS MATERIALIZED (
  SELECT DISTINCT scope_id FROM permit WHERE instr(',' || scope_id || ',', ?) > 0)
SELECT DISTINCT c.object_id FROM scopes n
CROSS JOIN slot s INDEXED BY slot_by_scope ON s.scope_id = n.scope_id
CROSS JOIN claim c INDEXED BY claim_by_slot ON c.slot_id = s.slot_id
CROSS JOIN version v INDEXED BY version_by_claim
ON v.claim_id = c.claim_id AND v.tx_end = {_OPEN} ORDER BY 1"""
ALL_CLAIMS: Final = f"""{_CLAIM}{_WITH_PERMIT} FROM claim c
CROSS JOIN slot s ON s.slot_id = c.slot_id CROSS JOIN object_permit o ON o.claim_id = c.claim_id
CROSS JOIN permit p ON p.permit_id = o.permit_id LEFT JOIN content d ON d.claim_id = c.claim_id
ORDER BY c.claim_id"""
PUT_EDGE: Final = """
INSERT INTO edge (kind, src_id, dst_id, valid_from, valid_until, reason, relation, tx, merge_id)
VALUES (?, (SELECT claim_id FROM claim WHERE object_id = ?),
  (SELECT claim_id FROM claim WHERE object_id = ?), ?, ?, ?, ?, ?, ?)"""
_EDGE: Final = """
SELECT e.kind, a.object_id, b.object_id, e.valid_from, e.valid_until, e.reason, e.relation, e.tx,
  e.merge_id, e.edge_id"""
_ENDS: Final = """
CROSS JOIN claim a ON a.claim_id = e.src_id CROSS JOIN claim b ON b.claim_id = e.dst_id"""
EDGES: Final = f"""
WITH ends (claim_id) AS MATERIALIZED (
  SELECT c.claim_id FROM json_each(:objects) j CROSS JOIN claim c ON c.object_id = j.value),
found (edge_id) AS (
  SELECT e.edge_id FROM ends n CROSS JOIN edge e INDEXED BY edge_from
  ON e.src_id = n.claim_id WHERE e.tx <= :tx
  UNION SELECT e.edge_id FROM ends n CROSS JOIN edge e INDEXED BY edge_to
  ON e.dst_id = n.claim_id WHERE e.tx <= :tx)
{_EDGE} FROM found f CROSS JOIN edge e ON e.edge_id = f.edge_id{_ENDS} ORDER BY e.edge_id"""
ALL_EDGES: Final = f"{_EDGE} FROM edge e{_ENDS} ORDER BY e.edge_id"
HAS_DEPENDANTS: Final = """
SELECT EXISTS (SELECT 1 FROM json_each(:objects) j CROSS JOIN claim c ON c.object_id = j.value
  CROSS JOIN edge e INDEXED BY edge_to ON e.dst_id = c.claim_id AND e.kind = 'DERIVED_FROM')"""
DEPENDANTS: Final = """
WITH RECURSIVE start (claim_id) AS (
  SELECT c.claim_id FROM json_each(:objects) j CROSS JOIN claim c ON c.object_id = j.value),
down (claim_id) AS (
  SELECT claim_id FROM start UNION
  SELECT e.src_id FROM down CROSS JOIN edge e INDEXED BY edge_to
  ON e.dst_id = down.claim_id AND e.kind = 'DERIVED_FROM')
SELECT c.object_id FROM down CROSS JOIN claim c ON c.claim_id = down.claim_id
WHERE c.claim_id NOT IN (SELECT claim_id FROM start) ORDER BY c.object_id"""
PUT_MENTION: Final = """
INSERT INTO mention (claim_id, start, until, entity_id)
SELECT claim_id, ?, ?, ? FROM claim WHERE object_id = ?"""
_MENTION: Final = """SELECT c.object_id, m.entity_id, m.start, m.until FROM """
MENTIONS: Final = f"""{_MENTION} json_each(:ids) j CROSS JOIN claim c ON c.object_id = j.value
CROSS JOIN mention m ON m.claim_id = c.claim_id ORDER BY c.object_id, m.start"""
ALL_MENTIONS: Final = f"""{_MENTION} mention m CROSS JOIN claim c ON c.claim_id = m.claim_id
ORDER BY m.claim_id, m.start"""
PUT_FLAG: Final = """
INSERT INTO flag (claim_id, kind, is_on, tx)
VALUES ((SELECT claim_id FROM claim WHERE object_id = ?), ?, ?, ?)"""
FLAGS: Final = """
SELECT c.object_id, f.kind, f.is_on, f.tx FROM flag f
CROSS JOIN claim c ON c.claim_id = f.claim_id ORDER BY f.flag_id"""
ALL_VECTORS: Final = """
SELECT c.object_id, v.encoder_id, v.part, v.vec16
FROM vector v CROSS JOIN claim c ON c.claim_id = v.claim_id ORDER BY v.vec_seq"""

# --- versions

CLAIMS_OF_VIDS: Final = """
SELECT DISTINCT v.claim_id FROM json_each(?) j CROSS JOIN version v ON v.vid = j.value"""
CLAIMS_OF_TURNS: Final = """
SELECT c.claim_id FROM json_each(?) j CROSS JOIN claim c INDEXED BY claim_turn
ON c.scope_id = ? AND c.turn = j.value AND c.turn IS NOT NULL"""
_LIGHT: Final = """
SELECT v.vid, v.claim_id, v.valid_from, v.valid_until, v.tx_start, v.tx_end, v.status, v.reason,
  v.head, v.continues, o.permit_id,
  o.permit_id IN (SELECT value FROM json_each(:permits)) AS visible,
  (SELECT max(e.tx) FROM edge e INDEXED BY edge_confirms
    WHERE e.dst_id = v.claim_id AND e.kind = 'CONFIRMS' AND e.tx <= :tx),
  (SELECT group_concat(f.kind, ' ') FROM flag f INDEXED BY flag_by_claim
    WHERE f.claim_id = v.claim_id AND f.tx <= :tx AND f.is_on = 1 AND NOT EXISTS (
      SELECT 1 FROM flag g INDEXED BY flag_by_claim WHERE g.claim_id = f.claim_id
        AND g.kind = f.kind AND g.tx <= :tx AND g.flag_id > f.flag_id))
FROM """
_COUNT: Final = "SELECT count(*) FROM "
_PERMIT_JOIN: Final = " CROSS JOIN object_permit o ON o.claim_id = v.claim_id"
_SLOT_HEADS: Final = """json_each(:slots) j CROSS JOIN version v INDEXED BY {index}
ON v.slot_id = j.value"""
_SLOT_ROWS: Final = """json_each(:slots) j CROSS JOIN claim c INDEXED BY claim_by_slot
ON c.slot_id = j.value CROSS JOIN version v INDEXED BY version_by_claim
ON v.claim_id = c.claim_id"""
_CLAIM_ROWS: Final = """json_each(:claims) j CROSS JOIN version v INDEXED BY version_by_claim
ON v.claim_id = j.value"""


_Case = tuple[bool, ...]
"""What a read asks: heads alone, at an instant, at a stamp; and whether that is the last stamp."""


def _condition(case: _Case) -> str:
    heads, at_valid, at_tx, now = case
    terms = ["v.head = 1"] * heads
    terms += ["v.valid_from <= :valid AND v.valid_until > :valid"] * at_valid
    if at_tx and now:
        terms.append(f"v.tx_end = {_OPEN}")
    else:
        terms.append("v.tx_start <= :tx" + " AND v.tx_end > :tx" * at_tx)
    return " WHERE " + " AND ".join(terms)


def _of_slots(start: str, joins: str, case: _Case) -> str:
    heads, _, at_tx, now = case
    index = "version_open" if now and at_tx else "version_by_valid"
    source = _SLOT_HEADS.format(index=index) if heads else _SLOT_ROWS
    return start + source + joins + _condition(case)


_CASES: Final = tuple(product((False, True), repeat=4))
OF_SLOTS: Final = {case: _of_slots(_LIGHT, _PERMIT_JOIN, case) for case in _CASES}
"""Versions of `:slots`, by (heads, at_valid, at_tx, now)."""
COUNT_OF_SLOTS: Final = {case: _of_slots(_COUNT, "", case) for case in _CASES}
_OPEN_EXTRAS: Final = f"""
SELECT vid FROM version INDEXED BY version_open_rest
WHERE slot_id = j.value AND head = 0 AND tx_end = {_OPEN}
UNION ALL SELECT vid FROM version INDEXED BY version_open
WHERE slot_id = j.value AND head = 1 AND tx_end = {_OPEN}
  AND NOT (valid_from <= :valid AND valid_until > :valid)"""
_KNOWN_EXTRAS: Final = """
SELECT e.vid FROM claim c INDEXED BY claim_by_slot
CROSS JOIN version e INDEXED BY version_by_claim ON e.claim_id = c.claim_id
WHERE c.slot_id = j.value AND e.tx_start <= :tx AND e.tx_end > :tx
  AND NOT (e.head = 1 AND e.valid_from <= :valid AND e.valid_until > :valid)"""
NEWEST_VIDS: Final = {
    now: f"""
{_of_slots("SELECT v.vid FROM ", "", (True, True, True, now))}
UNION SELECT v.vid FROM json_each(:slots) j CROSS JOIN version v ON v.vid IN (
  {extras} ORDER BY 1 DESC LIMIT :extras)"""
    for now, extras in ((True, _OPEN_EXTRAS), (False, _KNOWN_EXTRAS))
}
"""Numbers of the rows of `:slots` that decide an instant, and of the newest others of each slot, by
now: no more than the numbers of the others is looked at."""
OF_CLAIMS: Final = {
    case: f"{_LIGHT}{_CLAIM_ROWS}{_PERMIT_JOIN}{_condition(case)}" for case in _CASES
}
"""Versions of `:claims`, by (heads, at_valid, at_tx, now)."""
OF_VID: Final = f"{_LIGHT} version v{_PERMIT_JOIN} WHERE v.vid = :vid"
OF_VIDS: Final = (
    f"{_LIGHT} json_each(:vids) j CROSS JOIN version v ON v.vid = j.value{_PERMIT_JOIN}"
)
CLEAN_VALUE: Final = f"""
SELECT d.value_json FROM version v{_PERMIT_JOIN} CROSS JOIN claim c ON c.claim_id = v.claim_id
CROSS JOIN content d ON d.claim_id = v.claim_id
WHERE v.vid = :vid AND v.status = 'clean' AND v.deny = 0
  AND o.permit_id IN (SELECT value FROM json_each(:permits))
  AND c.sensitivity = '[]' AND d.value_key <> '{_NOTHING}'"""
"""What a row says, where a caller may see it whole and it says something: no line in any other
case, be it a tie, a denial, a gap, an erasure, or personal data that may have to be masked."""

WINDOW_OPEN: Final = f"""
SELECT vid, status, deny FROM (
  SELECT vid, valid_from, status, deny FROM version INDEXED BY version_open
  WHERE slot_id = :slot AND head = 1 AND tx_end = {_OPEN} AND valid_until > :valid
  ORDER BY valid_until LIMIT :rows) WHERE valid_from <= :valid"""
WINDOW_VALID: Final = """
SELECT vid, status, deny FROM (
  SELECT vid, tx_start, tx_end, valid_until, status, deny FROM version INDEXED BY version_by_valid
  WHERE slot_id = :slot AND head = 1 AND valid_from <= :valid
  ORDER BY valid_from DESC LIMIT :rows)
WHERE valid_until > :valid AND tx_start <= :tx AND tx_end > :tx"""
WINDOW_TX: Final = """
SELECT v.vid, v.status, v.deny FROM (
  SELECT claim_id FROM claim INDEXED BY claim_by_slot WHERE slot_id = :slot AND tx <= :tx
  ORDER BY tx DESC, ordinal DESC LIMIT :rows) n
CROSS JOIN version v INDEXED BY version_by_claim ON v.claim_id = n.claim_id
WHERE v.tx_end > :tx AND v.head = 1 AND v.tx_start <= :tx
  AND v.valid_from <= :valid AND v.valid_until > :valid"""
RANGE_OPEN: Final = f"""
SELECT vid FROM version INDEXED BY version_open
WHERE slot_id = :slot AND head = 1 AND tx_end = {_OPEN}
  AND valid_from <= :valid AND valid_until > :valid"""
RANGE: Final = """
SELECT vid FROM version INDEXED BY version_by_valid
WHERE slot_id = :slot AND head = 1 AND valid_from <= :valid AND valid_until > :valid
  AND tx_start <= :tx AND tx_end > :tx"""

DECAYING: Final = """
SELECT c.claim_id FROM claim c INDEXED BY claim_decays WHERE c.half_life_days IS NOT NULL"""

_NEIGHBOUR: Final = """
SELECT v.vid, c.level, -c.source_authority, -c.confidence,
  o.permit_id IN (SELECT value FROM json_each(:permits)),
  CASE WHEN c.value_entity_id = :entity AND v.deny = 0 AND c.sensitivity = '[]' THEN c.slot END
FROM """
_NEAR_WHERE: Final = """ CROSS JOIN object_permit o ON o.claim_id = v.claim_id
WHERE v.head = 1 AND v.status = 'clean'
  AND v.valid_from <= :valid AND v.valid_until > :valid AND """
_MOMENTS: Final = (
    (True, "version_open", f"v.tx_end = {_OPEN}"),
    (False, "version_by_valid", "v.tx_start <= :tx AND v.tx_end > :tx"),
)
"""Whether the point is the last stamp, the index of its rows, and which of them are known then."""


def _neighbours(source: str, tx: str) -> str:
    return _NEIGHBOUR + source + _NEAR_WHERE + tx


_SUBJECT_ROWS: Final = """slot s INDEXED BY slot_of_subject CROSS JOIN version v INDEXED BY {index}
ON s.subject_id = :entity AND v.slot_id = s.slot_id CROSS JOIN claim c ON c.claim_id = v.claim_id"""
_TEXT_ABOUT: Final = """claim c INDEXED BY claim_text_about CROSS JOIN version v
INDEXED BY version_by_claim ON c.subject_id = :entity AND c.slot IS NULL
AND c.subject_id IS NOT NULL AND v.claim_id = c.claim_id"""
_POINTING: Final = """claim c INDEXED BY claim_by_value CROSS JOIN version v
INDEXED BY version_by_claim ON c.value_entity_id = :entity AND v.claim_id = c.claim_id"""
_MENTIONING: Final = """mention m INDEXED BY mention_by_entity
CROSS JOIN claim c ON m.entity_id = :entity AND c.claim_id = m.claim_id
CROSS JOIN version v INDEXED BY version_by_claim ON v.claim_id = c.claim_id"""
MENTIONERS: Final = {now: _neighbours(_MENTIONING, tx) for now, _, tx in _MOMENTS}
"""What mentions one entity in a text; ranked after what is about it."""
NEIGHBOURS: Final = {
    now: (
        _neighbours(_SUBJECT_ROWS.format(index=index), tx),
        _neighbours(_TEXT_ABOUT, tx),
        _neighbours(_POINTING, tx),
    )
    for now, index, tx in _MOMENTS
}
"""Prepared look-ups of one entity; never one join over all: its bloom filter is ruinous."""
_PAIR: Final = """SELECT DISTINCT c.subject_id, c.value_entity_id FROM """
_RELATES: Final = """ CROSS JOIN object_permit o ON o.claim_id = v.claim_id
WHERE v.head = 1 AND v.status = 'clean' AND v.deny = 0 AND c.subject_id IS NOT NULL
  AND c.value_entity_id IS NOT NULL AND v.valid_from <= :valid AND v.valid_until > :valid
  AND o.permit_id IN (SELECT value FROM json_each(:permits)) AND {tx} LIMIT :most"""


def _relatives(source: str, tx: str) -> str:
    return _PAIR + source + _RELATES.format(tx=tx)


RELATIVES: Final = {
    now: (_relatives(_SUBJECT_ROWS.format(index=index), tx), _relatives(_POINTING, tx))
    for now, index, tx in _MOMENTS
}
"""The ends of what relates one entity to others; each stops early at a hub."""
_CHANGES: Final = """{source}{permitted} WHERE {column} > :after AND {column} <= :tx"""
_OF_SUBJECTS: Final = """ AND EXISTS (SELECT 1 FROM claim c WHERE c.claim_id = v.claim_id
AND c.subject_id IN (SELECT value FROM json_each(:subjects)))"""
OPENINGS: Final = _LIGHT + _CHANGES.format(
    source="version v INDEXED BY version_began", permitted=_PERMIT_JOIN, column="v.tx_start"
)
CLOSINGS: Final = (
    _LIGHT
    + _CHANGES.format(
        source="version v INDEXED BY version_ended", permitted=_PERMIT_JOIN, column="v.tx_end"
    )
    + f" AND v.tx_end < {_OPEN}"
)
OPENINGS_OF: Final = OPENINGS + _OF_SUBJECTS
CLOSINGS_OF: Final = CLOSINGS + _OF_SUBJECTS


PUT_VERSION: Final = """
INSERT INTO version (vid, valid_from, valid_until, tx_start, tx_end, status, reason, head,
  continues, deny, claim_id, slot_id)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, (SELECT claim_id FROM claim WHERE object_id = ?),
  (SELECT slot_id FROM claim WHERE object_id = ?))"""
CLOSE_VERSION: Final = f"UPDATE version SET tx_end = ? WHERE vid = ? AND tx_end = {_OPEN}"
_CHANGED_ROWS: Final = "json_each(?) j CROSS JOIN version r ON r.vid = j.value "
CLAIMS_OF_ROWS: Final = f"SELECT DISTINCT r.claim_id FROM {_CHANGED_ROWS}"
_HAS_HEAD: Final = f"""EXISTS (SELECT 1 FROM version v INDEXED BY version_by_claim
    WHERE v.claim_id = r.claim_id AND v.tx_end = {_OPEN} AND v.head = 1)"""
LEAVE_LIVE: Final = f"""
DELETE FROM live WHERE claim_id IN (
  SELECT r.claim_id FROM {_CHANGED_ROWS}WHERE NOT {_HAS_HEAD})
RETURNING claim_id"""
ENTER_LIVE: Final = f"""
INSERT INTO live (claim_id) SELECT d.claim_id
FROM {_CHANGED_ROWS}CROSS JOIN content d ON d.claim_id = r.claim_id
WHERE d.terms <> '' AND {_HAS_HEAD} ON CONFLICT (claim_id) DO NOTHING
RETURNING claim_id, (SELECT terms FROM searchable t WHERE t.claim_id = live.claim_id)"""
LEAVE_TEXT_LIVE: Final = "DELETE FROM text_live WHERE rowid = ?"
ENTER_TEXT_LIVE: Final = "INSERT INTO text_live (rowid, terms) VALUES (?, ?)"
_ROW_COLUMNS: Final = (
    "vid", "valid_from", "valid_until", "tx_start", "tx_end", "status", "reason", "head",
    "continues",
)  # fmt: skip
"""What a row of the planner says in addition to its claim, in this order after the claim's
columns."""
_OF_VERSION: Final = ", ".join(f"v.{name}" for name in _ROW_COLUMNS)
_ROW: Final = f"""
SELECT {table.column_list(table.columns_of("claim"))}, {_OF_VERSION}"""
# Each entry of `:reads` is the place of a read, the key of one of its slots, and the read's span.
_OPEN_OF_SLOTS: Final = f"""{_ROW}, json_extract(j.value, '$[0]') AS place
FROM json_each(:reads) j CROSS JOIN slot s ON s.slot_key = json_extract(j.value, '$[1]')
CROSS JOIN version v INDEXED BY """
_IN_SPAN: Final = f""" ON v.slot_id = s.slot_id CROSS JOIN claim c ON c.claim_id = v.claim_id
LEFT JOIN content d ON d.claim_id = c.claim_id
WHERE v.tx_end = {_OPEN} AND v.valid_until > json_extract(j.value, '$[2]')
  AND v.valid_from < json_extract(j.value, '$[3]') AND v.status <> 'quarantined' AND """
_OPEN_HEADS: Final = f"{_OPEN_OF_SLOTS}version_open{_IN_SPAN}v.head = 1"
_OPEN_REST: Final = f"{_OPEN_OF_SLOTS}version_open_rest{_IN_SPAN}v.head = 0 AND "
_BY_READ: Final = " ORDER BY place, vid"
OPEN_DENIALS: Final = f"{_OPEN_HEADS} UNION ALL {_OPEN_REST}v.deny = 1{_BY_READ}"
OPEN_HIDDEN: Final = f"{_OPEN_HEADS} UNION ALL {_OPEN_REST}v.deny IN (0, 1){_BY_READ}"
OPEN_OF_VALUES: Final = f"""{_ROW}, json_extract(j.value, '$[0]') AS place
FROM json_each(:reads) j CROSS JOIN slot s ON s.slot_key = json_extract(j.value, '$[1]')
CROSS JOIN value_claim m ON m.slot_id = s.slot_id AND m.value_key = json_extract(j.value, '$[4]')
CROSS JOIN version v INDEXED BY version_by_claim ON v.claim_id = m.claim_id
CROSS JOIN claim c ON c.claim_id = v.claim_id CROSS JOIN content d ON d.claim_id = c.claim_id
WHERE v.tx_end = {_OPEN} AND v.valid_until > json_extract(j.value, '$[2]')
  AND v.valid_from < json_extract(j.value, '$[3]') AND v.status <> 'quarantined'
  AND (v.head = 1 OR v.deny = 1 OR json_extract(j.value, '$[5]'))
ORDER BY place, vid"""
OPEN_OF_OBJECTS: Final = f"""{_ROW} FROM json_each(?) j CROSS JOIN claim c
ON c.object_id = j.value CROSS JOIN slot s ON s.slot_id = c.slot_id
LEFT JOIN content d ON d.claim_id = c.claim_id CROSS JOIN version v INDEXED BY version_by_claim
ON v.claim_id = c.claim_id WHERE v.tx_end = {_OPEN} ORDER BY v.vid"""
ALL_ROWS: Final = f"""{_ROW} FROM version v CROSS JOIN claim c ON c.claim_id = v.claim_id
CROSS JOIN slot s ON s.slot_id = c.slot_id
LEFT JOIN content d ON d.claim_id = c.claim_id ORDER BY v.vid"""


def _by_index(statement: str) -> dict[bool, str]:
    """A search of the claims with an open head, by True, or of all."""
    return {
        now: statement.format(index=f"text_{'live' if now else 'all'}") for now in (True, False)
    }


MATCHES: Final = _by_index("""
SELECT f.rowid, sum(t.value) AS shared FROM json_each(?) t CROSS JOIN {index} f
WHERE f.{index} MATCH t.key GROUP BY f.rowid ORDER BY shared DESC, f.rowid DESC""")
HOLDERS: Final = _by_index("SELECT f.rowid FROM {index} f WHERE f.{index} MATCH ?")
MATCH: Final = _by_index("""
SELECT f.rowid, 1 FROM {index} f WHERE f.{index} MATCH ? ORDER BY f.rowid DESC""")
OBJECTS_WITH: Final = """
SELECT c.object_id FROM text_all f CROSS JOIN claim c ON c.claim_id = f.rowid
CROSS JOIN content d ON d.claim_id = c.claim_id
WHERE f.text_all MATCH ? ORDER BY c.object_id"""

COUNT: Final = _by_index("""
SELECT count(*) FROM (SELECT 1 FROM {index} f WHERE f.{index} MATCH ? LIMIT ?)""")
COUNT_FEW: Final = _by_index("""
SELECT count(*) FROM {index} f CROSS JOIN claim c ON c.claim_id = f.rowid
WHERE f.{index} MATCH ? AND c.scope_id IN (SELECT value FROM json_each(?))""")
SCOPE_PERMITS: Final = """
SELECT s.value, (SELECT count(*) FROM permit p WHERE p.scope_id = s.value) AS permits
FROM json_each(?) s"""
"""How many permission sets each scope of a sight has: none where nothing is in it."""

_POOL_LINES: Final = """
SELECT v.vid, v.claim_id, o.permit_id IN (SELECT value FROM json_each(:permits))
FROM json_each(:claims) j CROSS JOIN version v INDEXED BY version_by_claim ON v.claim_id = j.value
CROSS JOIN object_permit o ON o.claim_id = v.claim_id
WHERE v.head = 1 AND v.valid_from <= :valid AND v.valid_until > :valid
  AND {known}"""
POOL_LINES: Final = {now: _POOL_LINES.format(known=tx) for now, _, tx in _MOMENTS}
"""Rows of the claims of a pool at a point, and whether they may be seen, by now."""
SIZES: Final = """
SELECT c.claim_id, length(d.terms), c.scope_id, c.turn, c.slot IS NOT NULL
FROM json_each(?) j CROSS JOIN claim c ON c.claim_id = j.value
CROSS JOIN content d ON d.claim_id = c.claim_id"""


_STANDING: Final = """
SELECT c.claim_id FROM json_each({scopes}) s CROSS JOIN claim c INDEXED BY claim_standing
ON c.scope_id = s.value AND c.object_type IN ({types})
WHERE c.object_type IN
  ('policy_rule', 'tool_schema', 'preference', 'actionable_constraint', 'project_decision')"""
STANDING: Final = (
    _STANDING.format(scopes=":sight", types="'policy_rule', 'tool_schema'")
    + " AND (c.object_type = 'tool_schema' OR c.authority_level <= 1) UNION "
    + _STANDING.format(
        scopes=":scopes", types="'preference', 'actionable_constraint', 'project_decision'"
    )
)

_WISHES: Final = """claim c INDEXED BY claim_standing_subject
WHERE c.scope_id = :scope AND c.slot = {name} AND c.subject_id > {last}
  AND c.object_type IN ('preference', 'actionable_constraint', 'project_decision')"""
STANDING_NAMES: Final = f"""
SELECT j.value FROM json_each(:names) j
WHERE EXISTS (SELECT 1 FROM {_WISHES.format(name="j.value", last=":after")})"""
"""The names of slots that any wish was ever in: mostly none, where people have their own scopes."""
_STANDING_HEAD: Final = """
SELECT 1 FROM slot s INDEXED BY slot_of_subject
CROSS JOIN version v INDEXED BY {index} ON v.slot_id = s.slot_id
CROSS JOIN object_permit o ON o.claim_id = v.claim_id
CROSS JOIN claim c ON c.claim_id = v.claim_id
CROSS JOIN content d ON d.claim_id = c.claim_id
WHERE s.subject_id = n.subject_id AND s.slot = :name AND s.scope_id = :scope
  AND v.head = 1 AND v.valid_from <= :valid AND v.valid_until > :valid AND {known}
  AND o.permit_id IN (SELECT value FROM json_each(:permits))
  AND c.object_type IN ('preference', 'actionable_constraint', 'project_decision')"""


def _standing_subjects(index: str, known: str) -> str:
    # The index is walked from subject to subject: of ten thousand wishes of one person one is read.
    first = "SELECT min(c.subject_id) FROM " + _WISHES.format(name=":name", last=":after")
    following = "SELECT min(c.subject_id) FROM " + _WISHES.format(name=":name", last="n.subject_id")
    return f"""
WITH RECURSIVE n (subject_id) AS (
  {first} UNION ALL SELECT ({following}) FROM n WHERE n.subject_id IS NOT NULL)
SELECT n.subject_id FROM n WHERE n.subject_id IS NOT NULL
  AND EXISTS ({_STANDING_HEAD.format(index=index, known=known)})
LIMIT :limit"""


STANDING_SUBJECTS: Final = {now: _standing_subjects(index, tx) for now, index, tx in _MOMENTS}
"""The first subjects of what is in slots of one name, in their order."""
