"""The Cypher of the doctor; each of `MUST_BE_EMPTY` finds what breaks its sentence.

These statements look at all of a tenant, so they scan; nothing else does.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, LiteralString

from .template import statement

_FRAGMENTS: Final[Mapping[str, LiteralString]] = {
    "rows": "MATCH (v:ContextVersion) WHERE v.tenant_id = $tenant AND v.vid >= 0",
    "bad_rows": "RETURN v.vid AS bad ORDER BY bad LIMIT $shown",
    # Where a server holds few of a relationship, a planner would begin at those of every tenant.
    "claims": """
MATCH (c:Claim) USING INDEX c:Claim(tenant_id, object_id)
WHERE c.tenant_id = $tenant AND c.object_id >= ''
""",
    "bad_claims": "RETURN c.object_id AS bad ORDER BY bad LIMIT $shown",
    "entities": """
MATCH (e:Entity) USING INDEX e:Entity(tenant_id, entity_id)
WHERE e.tenant_id = $tenant AND e.entity_id >= ''
""",
    "bad_entities": "RETURN e.entity_id AS bad ORDER BY bad LIMIT $shown",
    "erased_objects": """
MATCH (t:Tombstone) WHERE t.tenant_id = $tenant AND t.erasure_id >= ''
UNWIND t.object_ids AS object_id
""",
}


ROW_WITHOUT_PLACE: Final[LiteralString] = statement(
    """
{rows} AND (COUNT { (v)-[:VERSION_OF]->(:Slot) } <> 1
  OR COUNT { (v)-[:PIECE_OF]->(:Claim) } <> 1)
{bad_rows}
""",
    _FRAGMENTS,
)
ROW_OF_ANOTHER_SLOT: Final[LiteralString] = statement(
    """
{rows}
MATCH (v)-[:VERSION_OF]->(s:Slot) MATCH (v)-[:PIECE_OF]->(c:Claim)
WHERE v.slot_key <> s.slot_key OR c.slot_key <> s.slot_key OR v.object_id <> c.object_id
{bad_rows}
""",
    _FRAGMENTS,
)
FALSE_DENIAL: Final[LiteralString] = statement(
    """
{rows}
MATCH (v)-[:PIECE_OF]->(c:Claim) WHERE v.deny <> (c.op = 'deny')
{bad_rows}
""",
    _FRAGMENTS,
)
EMPTY_INTERVAL: Final[LiteralString] = statement(
    """
{rows} AND (v.valid_from >= v.valid_until OR v.tx_start >= v.tx_end)
{bad_rows}
""",
    _FRAGMENTS,
)
FIFTH_STATUS: Final[LiteralString] = statement(
    """
{rows} AND NOT v.status IN ['clean', 'disputed', 'overridden', 'quarantined']
{bad_rows}
""",
    _FRAGMENTS,
)
QUARANTINED_HEAD: Final[LiteralString] = statement(
    """
{rows} AND v.status = 'quarantined' AND v.head
{bad_rows}
""",
    _FRAGMENTS,
)
FALSE_OPEN: Final[LiteralString] = statement(
    """
{rows} AND coalesce(v.open, -1) <> CASE
  WHEN (v.tx_end < $inf OR v.status = 'quarantined') THEN -1
  WHEN v.head THEN 0 WHEN v.deny THEN 1 ELSE 2 END
{bad_rows}
""",
    _FRAGMENTS,
)
EARLY_ROW: Final[LiteralString] = statement(
    """
{rows}
MATCH (v)-[:PIECE_OF]->(c:Claim) WHERE v.tx_start < c.tx
{bad_rows}
""",
    _FRAGMENTS,
)
UNLOGGED_ROW: Final[LiteralString] = """
MATCH (v:ContextVersion) WHERE v.tenant_id = $tenant AND v.vid >= 0
UNWIND [v.tx_start] + CASE WHEN v.tx_end < $inf THEN [v.tx_end] ELSE [] END AS stamp
WITH DISTINCT stamp
WHERE NOT EXISTS { MATCH (t:TxEvent) WHERE t.tenant_id = $tenant AND t.tx = stamp }
RETURN stamp AS bad ORDER BY bad LIMIT $shown
"""
HIGH_ROW: Final[LiteralString] = """
MATCH (k:TenantClock {tenant_id: $tenant})
MATCH (v:ContextVersion) WHERE v.tenant_id = $tenant AND v.vid >= k.next_vid
RETURN v.vid AS bad ORDER BY bad LIMIT $shown
"""
HIGH_VECTOR: Final[LiteralString] = """
MATCH (k:TenantClock {tenant_id: $tenant})
MATCH (x:Vector) WHERE x.tenant_id = $tenant AND x.encoder_id >= '' AND x.vec_seq > k.vec_seq
RETURN x.vec_seq AS bad ORDER BY bad LIMIT $shown
"""
DEFINITION_GAP: Final[LiteralString] = """
MATCH (k:TenantClock {tenant_id: $tenant})
OPTIONAL MATCH (d:Definition) WHERE d.tenant_id = $tenant AND d.number > 0
WITH k.definitions AS stated, count(d) AS held, coalesce(max(d.number), 0) AS top
WHERE stated <> held OR held <> top
RETURN top AS bad
"""
NO_PERMISSIONS: Final[LiteralString] = statement(
    """
{claims} AND (c.class_rank IS NULL OR c.deny IS NULL OR size(coalesce(c.allow, [])) = 0)
{bad_claims}
""",
    _FRAGMENTS,
)
TWO_SCOPES: Final[LiteralString] = statement(
    """
{claims}
MATCH (c)-[:ASSERTS]->(s:Slot) WHERE c.scope_id <> s.scope_id
{bad_claims}
""",
    _FRAGMENTS,
)
FALSE_COPY: Final[LiteralString] = statement(
    """
{rows}
MATCH (v)-[:PIECE_OF]->(c:Claim)
OPTIONAL MATCH (v)-[a:ABOUT]->(e:Entity)
WITH v, c, collect(a) AS copies, collect(CASE a.role
  WHEN 'subject' THEN e.entity_id = c.subject_id
  WHEN 'value' THEN e.entity_id = c.value_entity_id ELSE e IS NULL END) AS right
WHERE any(ok IN right WHERE NOT coalesce(ok, false))
  OR any(a IN copies WHERE a.valid_from <> v.valid_from OR a.valid_until <> v.valid_until
    OR a.tx_start <> v.tx_start OR a.tx_end <> v.tx_end)
{bad_rows}
""",
    _FRAGMENTS,
)
LOST_CONTENT: Final[LiteralString] = statement(
    """
{claims} AND (c.erased IS NOT NULL OR c.value_json IS NULL)
  AND NOT EXISTS { MATCH (t:Tombstone) WHERE t.tenant_id = $tenant AND t.erasure_id >= ''
    AND c.object_id IN t.object_ids }
{bad_claims}
""",
    _FRAGMENTS,
)
KEPT_CONTENT: Final[LiteralString] = statement(
    """
{erased_objects}
MATCH (c:Claim {tenant_id: $tenant, object_id: object_id})
WHERE c.erased IS NULL OR c.value_json IS NOT NULL OR c.terms IS NOT NULL OR c:Live
RETURN object_id AS bad ORDER BY bad LIMIT $shown
""",
    _FRAGMENTS,
)
UNPLACED_TEXT: Final[LiteralString] = statement(
    """
{claims} AND c.tenant_tok IS NOT NULL AND NOT c.tenant_tok CONTAINS ' '
{bad_claims}
""",
    _FRAGMENTS,
)
FAR_MENTION: Final[LiteralString] = statement(
    """
{claims} AND c.text IS NOT NULL
MATCH (c)-[m:MENTIONS]->(:Entity) WHERE m.until > size(c.text)
{bad_claims}
""",
    _FRAGMENTS,
)
KEPT_RECEIPT: Final[LiteralString] = statement(
    """
{erased_objects}
MATCH (r:Receipt {tenant_id: $tenant, object_id: object_id}) WHERE r.body <> ''
RETURN object_id AS bad ORDER BY bad LIMIT $shown
""",
    _FRAGMENTS,
)
KEPT_MANIFEST: Final[LiteralString] = statement(
    """
{erased_objects}
MATCH (:Compiled {tenant_id: $tenant, object_id: object_id})<-[:COMPILED]-(m:Manifest)
WHERE m.body <> ''
RETURN object_id AS bad ORDER BY bad LIMIT $shown
""",
    _FRAGMENTS,
)
KEPT_VECTOR: Final[LiteralString] = statement(
    """
{erased_objects}
MATCH (x:Vector) WHERE x.tenant_id = $tenant AND x.object_id = object_id AND x.encoder_id >= ''
  AND x.part >= ''
RETURN object_id AS bad ORDER BY bad LIMIT $shown
""",
    _FRAGMENTS,
)
KEPT_NAME: Final[LiteralString] = statement(
    """
{entities} AND e.state = 'erased' AND (e.name <> '' OR EXISTS { (e)<-[:ALIAS_OF]-(:Alias) }
  OR EXISTS { (e)<-[:IDENTIFIES]-(:Identifier) })
{bad_entities}
""",
    _FRAGMENTS,
)
OPEN_ERASED: Final[LiteralString] = statement(
    """
{rows} AND v.tx_end = $inf
MATCH (v)-[:PIECE_OF]->(c:Claim) WHERE c.erased IS NOT NULL
{bad_rows}
""",
    _FRAGMENTS,
)
FALSE_LIVE: Final[LiteralString] = statement(
    """
{claims} AND c:Live <> (c.erased IS NULL
  AND EXISTS { MATCH (c)<-[:PIECE_OF]-(v:ContextVersion) WHERE v.tx_end = $inf AND v.head })
{bad_claims}
""",
    _FRAGMENTS,
)
FALSE_NORMS: Final[LiteralString] = """
MATCH (k:TenantClock {tenant_id: $tenant})
OPTIONAL MATCH (m:Norm) WHERE m.tenant_id = $tenant AND m.norm >= ''
WITH k.norms AS stated, count(m) AS held WHERE stated <> held
RETURN held AS bad
"""
LONELY_NORM: Final[LiteralString] = """
MATCH (m:Norm) WHERE m.tenant_id = $tenant AND m.norm >= ''
  AND NOT EXISTS { MATCH (a:Alias) WHERE a.tenant_id = $tenant AND a.norm = m.norm
    AND a.scope_id >= '' }
RETURN m.n AS bad ORDER BY bad LIMIT $shown
"""
BAD_STAR: Final[LiteralString] = statement(
    """
{entities}
MATCH (e)-[r:SAME_AS]->(c:Entity) WHERE r.tx_end = $inf
  AND (COUNT { MATCH (e)-[x:SAME_AS]->(:Entity) WHERE x.tx_end = $inf } > 1
    OR EXISTS { MATCH (c)-[y:SAME_AS]->(:Entity) WHERE y.tx_end = $inf }
    OR c.tenant_id <> $tenant)
{bad_entities}
""",
    _FRAGMENTS,
)
STORED_VALUES: Final[LiteralString] = statement(
    """
{claims} AND c.value_json IS NOT NULL
RETURN c.object_id AS object_id, c.slot AS slot, c.op AS op, c.value_key AS value_key,
  c.value_json AS value_json, c.text AS text
""",
    _FRAGMENTS,
)
STORED_NAMES: Final[LiteralString] = """
MATCH (a:Alias) WHERE a.tenant_id = $tenant AND a.alias_key >= ''
RETURN a.entity_id AS entity_id, a.surface AS surface, a.norm AS norm
"""
UNATTRIBUTED_ROWS: Final[LiteralString] = """
MATCH (c:Standing) USING INDEX SEEK c:Standing(tenant_id, object_type, scope_id)
WHERE c.tenant_id = $tenant AND c.object_type >= '' AND c.scope_id >= ''
  AND c.unattributed AND EXISTS { MATCH (c)<-[:PIECE_OF]-(v:ContextVersion) WHERE v.open = 0 }
RETURN count(c) AS claims
"""
UNLOGGED_TOMBSTONE: Final[LiteralString] = """
MATCH (t:Tombstone) WHERE t.tenant_id = $tenant AND t.erasure_id >= ''
  AND NOT EXISTS { MATCH (e:TxEvent) WHERE e.tenant_id = $tenant AND e.tx = t.tx }
RETURN t.erasure_id AS bad ORDER BY bad LIMIT $shown
"""

MUST_BE_EMPTY: Final[Mapping[str, LiteralString]] = {
    "a row has not exactly one slot and one claim": ROW_WITHOUT_PLACE,
    "a row lies in another slot than its claim": ROW_OF_ANOTHER_SLOT,
    "a row is marked as a denial and is none, or the reverse": FALSE_DENIAL,
    "an interval is empty or reversed": EMPTY_INTERVAL,
    "a row has a status that does not exist": FIFTH_STATUS,
    "a quarantined row decides": QUARANTINED_HEAD,
    "a row is marked open and is not, or the reverse": FALSE_OPEN,
    "a row was believed before its claim was written": EARLY_ROW,
    "a stamp of a row stands in no event": UNLOGGED_ROW,
    "a version number is not below the next one": HIGH_ROW,
    "a vector number is above the counter": HIGH_VECTOR,
    "the definitions have a gap": DEFINITION_GAP,
    "a claim has no permissions": NO_PERMISSIONS,
    "a claim and its slot name different scopes": TWO_SCOPES,
    "a relationship to an entity differs from its row": FALSE_COPY,
    "content is gone and no tombstone says why": LOST_CONTENT,
    "an erased object still has text": KEPT_CONTENT,
    "a text of an older tenure is found by no user (run: tenure migrate)": UNPLACED_TEXT,
    "a mention lies outside its text": FAR_MENTION,
    "an erased object still has a receipt": KEPT_RECEIPT,
    "an erased object still has a manifest": KEPT_MANIFEST,
    "an erased object still has a vector": KEPT_VECTOR,
    "an erased entity still has a name": KEPT_NAME,
    "an erased claim has an open row": OPEN_ERASED,
    "a live mark is missing or stands where no open head is": FALSE_LIVE,
    "a count of blocking keys is wrong": FALSE_NORMS,
    "a norm with blocking keys names no alias": LONELY_NORM,
    "canonical ids form no star": BAD_STAR,
    "a stamp of a tombstone stands in no event": UNLOGGED_TOMBSTONE,
}
"""Statements by the sentence that holds when they find nothing."""

CLEAN_HEADS: Final[LiteralString] = statement(
    """
{rows} AND v.head AND v.status = 'clean' AND NOT v.deny
MATCH (v)-[:VERSION_OF]->(s:Slot) MATCH (v)-[:PIECE_OF]->(c:Claim)
RETURN CASE WHEN s.many THEN s.slot_key + ' ' + coalesce(c.value_key, c.object_id)
  ELSE s.slot_key END AS place, v.valid_from AS valid_from, v.valid_until AS valid_until,
  v.tx_start AS tx_start, v.tx_end AS tx_end ORDER BY place
""",
    _FRAGMENTS,
)
"""Rows that exclude each other: of a slot, of one value where it holds several."""

ROWS_OF_CLAIMS: Final[LiteralString] = statement(
    """
{rows}
RETURN v.object_id AS place, v.valid_from AS valid_from, v.valid_until AS valid_until,
  v.tx_start AS tx_start, v.tx_end AS tx_end ORDER BY place
""",
    _FRAGMENTS,
)
OPEN_JUDGEMENTS: Final[LiteralString] = """
MATCH (j:Judgement) WHERE j.tenant_id = $tenant AND j.judgement_id >= '' AND j.tx_end = $inf
RETURN properties(j) AS record ORDER BY j.judgement_id
"""
