"""The statements of the doctor; each of `MUST_BE_EMPTY` finds what breaks its sentence."""

from __future__ import annotations

from typing import Final

from ....schema.interval import INF_US as _OPEN

_HAS_OPEN_HEAD: Final = f"""EXISTS (SELECT 1 FROM version v INDEXED BY version_by_claim
  WHERE v.claim_id = d.claim_id AND v.tx_end = {_OPEN} AND v.head = 1)"""

MUST_BE_EMPTY: Final = {
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

UNATTRIBUTED_ROWS: Final = f"""
SELECT count(*) FROM unattributed u WHERE EXISTS (
  SELECT 1 FROM version v INDEXED BY version_by_claim
  WHERE v.claim_id = u.claim_id AND v.tx_end = {_OPEN} AND v.head = 1)"""

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

OPEN_JUDGEMENTS: Final = f"""
SELECT judgement_id, merge_id, left_id, right_id, verdict, judged_by, actor, score, log_odds,
  evidence, model_version, reason, tx_start, tx_end FROM judgement WHERE tx_end = {_OPEN}"""

INDEXED_COLUMNS: Final = {
    "text_all": "SELECT claim_id, terms FROM searchable",
    "text_live": """SELECT t.claim_id, t.terms FROM live l
      JOIN searchable t ON t.claim_id = l.claim_id""",
}
"""What each text index should hold."""
