"""The statements that plan over version rows and write them; how readers see rows is in `core`.

A row comes with its claim, since the planner compares claims. The same rules hold as in `core`.
"""

from __future__ import annotations

from typing import Final

from ....schema.interval import INF_US as _OPEN
from ...port import claim_columns as table

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
"""What a row of the planner says beside its claim, in this order after the claim's columns."""
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
OPEN_OF_OBJECTS: Final = f"""{_ROW} FROM json_each(?) j CROSS JOIN claim c
ON c.object_id = j.value CROSS JOIN slot s ON s.slot_id = c.slot_id
LEFT JOIN content d ON d.claim_id = c.claim_id CROSS JOIN version v INDEXED BY version_by_claim
ON v.claim_id = c.claim_id WHERE v.tx_end = {_OPEN} ORDER BY v.vid"""
ALL_ROWS: Final = f"""{_ROW} FROM version v CROSS JOIN claim c ON c.claim_id = v.claim_id
CROSS JOIN slot s ON s.slot_id = c.slot_id
LEFT JOIN content d ON d.claim_id = c.claim_id ORDER BY v.vid"""
