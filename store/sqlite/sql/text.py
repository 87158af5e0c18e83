"""The statements of the text search: what shares words with a question, and its pool."""

from __future__ import annotations

from typing import Final

from ....schema.interval import INF_US as _OPEN

_MATCHES: Final = """
SELECT f.rowid, sum(t.value) AS shared FROM json_each(?) t CROSS JOIN {index} f
WHERE f.{index} MATCH t.key GROUP BY f.rowid ORDER BY shared DESC, f.rowid DESC"""
MATCHES_LIVE: Final = _MATCHES.format(index="text_live")
MATCHES_ALL: Final = _MATCHES.format(index="text_all")

_HOLDERS: Final = "SELECT f.rowid FROM {index} f WHERE f.{index} MATCH ?"
HOLDERS_LIVE: Final = _HOLDERS.format(index="text_live")
HOLDERS_ALL: Final = _HOLDERS.format(index="text_all")

_MATCH: Final = """
SELECT f.rowid, 1 FROM {index} f WHERE f.{index} MATCH ? ORDER BY f.rowid DESC"""
MATCH_LIVE: Final = _MATCH.format(index="text_live")
MATCH_ALL: Final = _MATCH.format(index="text_all")

OBJECTS_WITH: Final = """
SELECT c.object_id FROM text_all f CROSS JOIN claim c ON c.claim_id = f.rowid
CROSS JOIN content d ON d.claim_id = c.claim_id
WHERE f.text_all MATCH ? ORDER BY c.object_id"""

_SPREAD: Final = """
SELECT count(*) FROM (SELECT 1 FROM {index} f WHERE f.{index} MATCH ? LIMIT ?)"""
COUNT_LIVE: Final = _SPREAD.format(index="text_live")
COUNT_ALL: Final = _SPREAD.format(index="text_all")

_COUNT_FEW: Final = """
SELECT count(*) FROM {index} f CROSS JOIN claim c ON c.claim_id = f.rowid
WHERE f.{index} MATCH ? AND c.scope_id IN (SELECT value FROM json_each(?))"""
COUNT_FEW_LIVE: Final = _COUNT_FEW.format(index="text_live")
COUNT_FEW_ALL: Final = _COUNT_FEW.format(index="text_all")

SCOPE_PERMITS: Final = """
SELECT s.value, (SELECT count(*) FROM permit p WHERE p.scope_id = s.value) AS permits
FROM json_each(?) s"""
"""How many permission sets each scope of a sight has: none where nothing stands in it."""

_POOL_LINES: Final = """
SELECT v.vid, v.claim_id, o.permit_id IN (SELECT value FROM json_each(:permits))
FROM json_each(:claims) j CROSS JOIN version v INDEXED BY version_by_claim ON v.claim_id = j.value
CROSS JOIN object_permit o ON o.claim_id = v.claim_id
WHERE v.head = 1 AND v.valid_from <= :valid AND v.valid_until > :valid
  AND {known}"""
POOL_LINES: Final = {
    True: _POOL_LINES.format(known=f"v.tx_end = {_OPEN}"),
    False: _POOL_LINES.format(known="v.tx_start <= :tx AND v.tx_end > :tx"),
}
"""Rows of the claims of a pool at a point, and whether they may be seen, by now."""
SIZES: Final = """
SELECT c.claim_id, length(d.terms), c.scope_id, c.turn, c.slot IS NOT NULL
FROM json_each(?) j CROSS JOIN claim c ON c.claim_id = j.value
CROSS JOIN content d ON d.claim_id = c.claim_id"""
