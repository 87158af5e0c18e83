"""The statements that find what applies without any query; the rules of `core` hold here, too."""

from __future__ import annotations

from typing import Final

from ....schema.interval import INF_US as _OPEN

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


STANDING_SUBJECTS_NOW: Final = _standing_subjects("version_open", f"v.tx_end = {_OPEN}")
"""The first subjects of what stands in slots of one name, in their order."""
STANDING_SUBJECTS: Final = _standing_subjects(
    "version_by_valid", "v.tx_start <= :tx AND v.tx_end > :tx"
)
