"""What several reads of versions and names share: the fragments of their statements.

Every read of versions takes its questions as a list of maps with a `place`, and answers in one
shape: `place, rows, seen, claim, confirmed, flags, note`. A claim comes once, with the lines of
its rows; one that the caller may not see comes without value and content. A record without a
claim carries a `note`: what was counted.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, LiteralString

from .claim import OPEN_COLUMNS as _OPEN_COLUMNS
from .claim import SECRET_COLUMNS as _SECRET_COLUMNS

FRAGMENTS: Final[Mapping[str, LiteralString]] = {
    # --- what a read says
    "visible": """
(c.scope_id IN $given.scopes AND c.class_rank <= $clearance
  AND any(tag IN c.allow WHERE tag IN $given.tags)
  AND none(tag IN c.deny WHERE tag IN $given.tags))
""",
    "in_window": """
v.tx_start <= $tx AND v.tx_end > ask.after
  AND v.valid_from <= ask.from_max AND v.valid_until > ask.until_min
  AND (v.head OR NOT ask.heads)
""",
    "at_point": """
v.head AND v.tx_start <= $tx AND v.tx_end > $tx
  AND v.valid_from <= $valid AND v.valid_until > $valid
""",
    "marks": """
COLLECT { MATCH (c)<-[e:CONFIRMS]-(:Claim) WHERE e.tx <= $tx RETURN max(e.tx) } AS confirmed,
  COLLECT { MATCH (c)<-[:MARKS]-(f:Flag) WHERE f.tx <= $tx RETURN f {.kind, .on, .n} } AS flags,
""",
    "row": """
[v.vid, v.valid_from, v.valid_until, v.tx_start, v.tx_end, v.status,
  v.reason, v.head, v.continues]
""",
    "open_columns": _OPEN_COLUMNS,
    "secret_columns": _SECRET_COLUMNS,
    "claim": """
[{open_columns},
  {secret_columns}]
""",
    "answer": """
WITH place, c, collect({row}) AS rows
WITH place, c, rows, {visible} AS seen
RETURN place, rows, seen,
  CASE WHEN seen THEN {claim} ELSE [{open_columns}] END AS claim,
  {marks}
  null AS note
""",
    "no_claim": """
[] AS rows, false AS seen, null AS claim,
  [] AS confirmed, [] AS flags
""",
    # --- slots
    "pairs": """
UNWIND $given.pairs AS ask
UNWIND ask.subjects AS subject
UNWIND ask.names AS name
MATCH (s:Slot) WHERE s.tenant_id = $tenant AND s.about_id = subject AND s.slot = name
""",
    "subjects": """
UNWIND $given.subjects AS ask
UNWIND ask.subjects AS subject
MATCH (s:Slot) WHERE s.tenant_id = $tenant AND s.about_id = subject AND s.slot >= ''
""",
    "names": """
UNWIND $given.names AS ask
UNWIND ask.names AS name
MATCH (s:Slot) WHERE s.tenant_id = $tenant AND s.slot = name
""",
    "keys": """
UNWIND $given.keys AS ask
UNWIND ask.keys AS slot_key
MATCH (s:Slot {tenant_id: $tenant, slot_key: slot_key}) WHERE s.slot_key = slot_key
""",
    "tenant_slots": """
UNWIND $given.every AS ask
MATCH (s:Slot) WHERE s.tenant_id = $tenant AND s.slot >= ''
""",
    "own_rows": """
AND s.scope_id IN $given.scopes
MATCH (s)<-[:VERSION_OF]-(v:ContextVersion) WHERE {in_window}
MATCH (v)-[:PIECE_OF]->(c:Claim)
WITH ask.place AS place, v, c
{answer}
""",
    "foreign_rows": """
AND NOT s.scope_id IN $given.scopes
MATCH (s)<-[:VERSION_OF]-(v:ContextVersion) WHERE {in_window}
WITH ask.place AS place, count(v) AS foreign
RETURN place, {no_claim}, [foreign] AS note
""",
    "changed_rows": """
MATCH (v)-[:PIECE_OF]->(c:Claim)
WHERE size($given.subjects) = 0 OR c.subject_id IN $given.subjects
WITH 0 AS place, v, c
{answer}
""",
    # --- entities
    "near_heads": """
MATCH (e:Entity {tenant_id: $tenant, entity_id: entity_id})
  CALL (e) {
    CALL (e) {
      MATCH (e)<-[a:ABOUT]-(v:ContextVersion)
      WHERE a.tx_start <= $tx AND a.tx_end > $tx AND a.valid_from <= $valid
        AND a.valid_until > $valid AND v.head AND v.status = 'clean'
      RETURN v, 0 AS far
      UNION ALL
      MATCH (e)<-[:MENTIONS]-(:Claim)<-[:PIECE_OF]-(v:ContextVersion)
      WHERE v.status = 'clean' AND {at_point}
      RETURN v, 1 AS far }
    WITH v, min(far) AS far
    MATCH (v)-[:PIECE_OF]->(c:Claim)
    WITH v, c, far, {visible} AS seen
    ORDER BY far, c.level, c.source_authority DESC, c.confidence DESC,
      CASE far WHEN 0 THEN v.vid ELSE -v.vid END
    RETURN collect(CASE WHEN seen THEN v END) AS shown,
      collect(CASE WHEN NOT seen THEN v.vid END) AS unseen }
  RETURN collect(shown[..$limit]) AS kept, collect(unseen) AS hidden,
    coalesce(max(size(shown)), 0) > $limit AS cut }
""",
    "neighbourhood_rows": """
CALL (edge) {
  UNWIND edge AS entity_id
  {near_heads}
UNWIND kept + [[null]] AS near
UNWIND near AS v
WITH DISTINCT place, edge, v, hidden, cut
OPTIONAL MATCH (v)-[:PIECE_OF]->(c:Claim)
RETURN place, [{row}] AS rows, v IS NOT NULL AS seen, {claim} AS claim,
  {marks}
  CASE WHEN v IS NULL THEN [hidden, cut, edge] END AS note
""",
    "entity": """
e {.entity_id, .name, .type, .state, .scope_id, .tx_start,
  .created_by, .recorded}
""",
    "alias": """
a {.entity_id, .surface, .norm, .type, .scope_id, .ordinal,
  .valid_from, .valid_until, .tx_start, .tx_end, .object_id, .merge_id}
""",
    "teacher": """
head(COLLECT { MATCH (t:Claim {tenant_id: $tenant, object_id: a.object_id})
  RETURN t {.authority_level, .quarantine, .class_rank, .allow, .deny, is_live: t:Live} })
""",
    "identifier": "i {.entity_id, .scheme, .value, .tx_start, .tx_end}",
    "clusters": """
MATCH (e:Entity {tenant_id: $tenant, entity_id: id})
  OPTIONAL MATCH (e)<-[:LEFT|RIGHT]-(j:Judgement)-[:LEFT|RIGHT]->(m:Entity)
  WHERE j.verdict = 'MATCH'
  WITH collect(DISTINCT e) + collect(DISTINCT m) AS near
  UNWIND near AS e
  WITH DISTINCT e
  OPTIONAL MATCH (e)<-[:LEFT|RIGHT]-(j:Judgement)-[:LEFT|RIGHT]->(m:Entity)
  WHERE j.verdict = 'MATCH'
  WITH collect(DISTINCT e) + collect(DISTINCT m) AS near
  UNWIND near AS e
  WITH DISTINCT e WHERE e.tx_start IS NOT NULL
""",
    "entity_record": """
[{entity},
    COLLECT { MATCH (e)<-[:IDENTIFIES]-(i:Identifier) RETURN {identifier} },
    COLLECT { MATCH (e)<-[:LEFT|RIGHT]-(j:Judgement) RETURN properties(j) },
    COLLECT { MATCH (e)<-[:ALIAS_OF]-(a:Alias)
      RETURN [a {.entity_id, .surface, .scope_id, .tx_start, .tx_end, .object_id, .n}, {teacher}] },
    COLLECT { MATCH (r:Review) WHERE r.tenant_id = $tenant AND r.entity_id = e.entity_id
      RETURN r {.reason, .version, .state, .decided_entity, .opened_tx, .decided_tx} }]
""",
    "named": """
CALL () {
  UNWIND $given.norms AS norm
  UNWIND $given.scopes AS scope_id
  MATCH (a:Alias) WHERE a.tenant_id = $tenant AND a.norm = norm AND a.scope_id = scope_id
  RETURN collect([{alias}, {teacher}]) AS aliases }
CALL () {
  UNWIND $given.identifiers AS pair
  MATCH (i:Identifier) WHERE i.tenant_id = $tenant AND i.scheme = pair[0] AND i.value = pair[1]
  RETURN collect({identifier}) AS identifiers }
WITH *, $given.entity_ids + [a IN aliases | a[0].entity_id]
  + [i IN identifiers | i.entity_id] AS ids
CALL (ids) {
  UNWIND ids AS id
  CALL (id) {
  {clusters}
  RETURN e }
  WITH DISTINCT e
  RETURN collect({entity_record}) AS entities }
""",
}
