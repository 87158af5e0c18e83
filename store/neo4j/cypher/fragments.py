"""What several reads of versions and names share: the fragments of their statements.

Every read of versions takes its questions as a list of maps with a `place`. A question yields
`place, c, row, note`: the rows of each claim, and where there is no claim, a note of what was
counted. They are gathered into one answer a place, `place, claims, marks, lines, note`, at the end
of a statement, however many questions it asks: a server sets up each operator of a plan at every
call, though nothing passes through it.

An entry of `claims` says what may change or differs by caller: whether the claim is seen and
erased, today's permissions, and its rows; `marks` are the flags and confirmations of those that
have some. What a claim says never changes and stands in `lines` where at most `$whole` claims were
found, and for those written after `$fresh`, which the reader cannot know; of the others it asks for
what it lacks. The line of a claim that the caller may not see has no value and no content.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, LiteralString

from .claim import OPEN_LINE as _OPEN_LINE
from .claim import SECRET_LINE as _SECRET_LINE

FRAGMENTS: Final[Mapping[str, LiteralString]] = {
    # --- what a read says
    "visible": """
(p.scope_id IN $given.scopes AND p.class_rank <= $clearance
  AND any(tag IN p.allow WHERE tag IN $given.tags)
  AND none(tag IN p.deny WHERE tag IN $given.tags))
""",
    # One map of what a row says: each property that is named walks the version's chain anew.
    "piece": """
v {.vid, .valid_from, .valid_until, .tx_start, .tx_end, .status,
  .reason, .head, .continues}
""",
    "in_window": """
piece.tx_start <= $tx AND piece.tx_end > ask.after
  AND piece.valid_from <= ask.from_max AND piece.valid_until > ask.until_min
  AND (piece.head OR NOT ask.heads)
""",
    "at_point": """
v.head AND v.tx_start <= $tx AND v.tx_end > $tx
  AND v.valid_from <= $valid AND v.valid_until > $valid
""",
    "marks": """
CALL (marked) {
  UNWIND marked AS m
  MATCH (m)<-[e:CONFIRMS|MARKS]-(f)
  WHERE coalesce(e.tx, f.tx) <= $tx
  RETURN collect([m.object_id, e.tx, f.n, f.kind, f.on]) AS marks }
""",
    "row": """
[piece.vid, piece.valid_from, piece.valid_until, piece.tx_start, piece.tx_end, piece.status,
  piece.reason, piece.head, piece.continues]
""",
    "open_line": _OPEN_LINE,
    "secret_line": _SECRET_LINE,
    "entry": """
[p.object_id, p.tx, seen, p.erased, p.scope_id, p.class_rank, p.allow, p.deny, rows]
""",
    "claim": """
c {.object_id, .tx, .erased, .scope_id, .class_rank, .allow, .deny, .slot, .subject_id,
  .value_entity_id}
""",
    "is_marked": "EXISTS { (c)<-[:CONFIRMS|MARKS]-() }",
    "gathered": """
WITH place, c, collect(row) AS rows, head(collect(note)) AS note
WITH *, {claim} AS p
WITH *, {visible} AS seen, {is_marked} AS is_marked
""",
    "listed": """
place, collect(CASE WHEN c IS NOT NULL THEN {entry} END) AS claims,
  collect(CASE WHEN c IS NOT NULL THEN [c, p, seen] END) AS known,
  collect(CASE WHEN is_marked THEN c END) AS marked, head(collect(note)) AS note
""",
    "told": """
{marks}
WITH place, claims, marks, {lines}, note
""",
    "answered": """
{gathered}
WITH {listed}
{told}
RETURN place, claims, marks, lines, note
""",
    "lines": """
[k IN known WHERE size(known) <= $whole OR k[1].tx > $fresh |
    head([p IN [properties(k[0])] |
      {open_line} + CASE WHEN k[2] THEN {secret_line} ELSE [] END])] AS lines
""",
    # What a search met and listed, whose permissions it has read already.
    "shown_hits": """
CALL (shown) {
  UNWIND shown AS hit
  WITH hit[0] AS c, hit[1] AS p, hit[2] AS piece
  WITH c, p, [{row}] AS rows, true AS seen, {is_marked} AS is_marked
  RETURN collect({entry}) AS claims, collect([c, p, seen]) AS known,
    collect(CASE WHEN is_marked THEN c END) AS marked }
""",
    "pool_row": """
[vid, mask, size(p.terms), p.scope_id, coalesce(p.turn, 0), p.slot IS NOT NULL]
""",
    "no_row": "null AS c, null AS row",
    # --- the text search
    "met": """
CALL (ask) {
  UNWIND ask.probes AS probe
  CALL db.index.fulltext.queryNodes(ask.index, probe, {limit: ask.most_met + 1}) YIELD node, score
  WHERE node.tenant_id = $tenant
  RETURN collect([node, toInteger(score)]) AS met }
WITH ask, met, size(ask.probes) > 0 AND size(met) <= ask.most_met AS is_whole
""",
    "holders": """
[at IN range(0, size(ask.clauses) - 1) |
  size([hit IN met WHERE hit[1] / ask.bits[at] % 2 = 1])]
""",
    "weighed_hits": """
WITH ask, met, [count IN holders |
    size([times IN ask.halvings WHERE count * times <= ask.common])] AS weights
  UNWIND met AS hit
  WITH ask, weights, hit[0] AS c, hit[1] AS mask
  WITH c, mask, {shared} AS shared
""",
    # What the words that a claim holds weigh, by its bits.
    "shared": """
reduce(sum = 0, at IN range(0, size(weights) - 1) |
    sum + CASE WHEN mask / ask.bits[at] % 2 = 1 THEN weights[at] ELSE 0 END)
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
{slots_of_subjects}
""",
    "slots_of_subjects": """
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
MATCH (s)<-[:VERSION_OF]-(v:ContextVersion)
WITH ask, v, {piece} AS piece
WHERE {in_window}
MATCH (v)-[:PIECE_OF]->(c:Claim)
RETURN ask.place AS place, c, {row} AS row, null AS note
""",
    "newest_rows": """
AND s.scope_id IN $given.scopes
CALL (s, ask) {
  MATCH (s)<-[:VERSION_OF]-(v:ContextVersion)
  WITH ask, v, {piece} AS piece
  WHERE {in_window}
  WITH ask, v, piece.vid AS vid, {row} AS row,
    piece.head AND piece.valid_from <= $valid AND piece.valid_until > $valid AS decides
  ORDER BY vid DESC
  WITH ask, collect(CASE WHEN decides THEN [v, row] END) AS deciding,
    collect(CASE WHEN NOT decides THEN [v, row] END) AS others
  UNWIND deciding + others[..ask.extras] AS newest
  RETURN newest[0] AS v, newest[1] AS row }
MATCH (v)-[:PIECE_OF]->(c:Claim)
RETURN ask.place AS place, c, row, null AS note
""",
    "foreign_rows": """
AND NOT s.scope_id IN $given.scopes
MATCH (s)<-[:VERSION_OF]-(v:ContextVersion)
WITH ask, {piece} AS piece
WHERE {in_window}
RETURN ask.place AS place, {no_row}, [count(piece)] AS note
""",
    "changed_rows": """
MATCH (v)-[:PIECE_OF]->(c:Claim)
WHERE size($given.subjects) = 0 OR c.subject_id IN $given.subjects
WITH c, {piece} AS piece
RETURN 0 AS place, c, {row} AS row, null AS note
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
    WITH v, far, c {.scope_id, .class_rank, .allow, .deny, .level, .source_authority,
      .confidence} AS p
    WITH v, far, p, {visible} AS seen
    ORDER BY far, p.level, p.source_authority DESC, p.confidence DESC,
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
{near_claims}
""",
    "two_hops": """
CALL (ask) {
  UNWIND ask.ids AS entity_id
  {near_heads}
WITH ask, kept AS first_kept, hidden AS first_hidden, cut AS first_cut
CALL (ask, first_kept) {
  UNWIND first_kept AS near
  UNWIND near AS v
  WITH DISTINCT ask, v ORDER BY v.vid
  MATCH (v)-[:PIECE_OF]->(c:Claim)
  UNWIND [c.subject_id, c.value_entity_id] AS end
  WITH ask, end WHERE end IS NOT NULL AND NOT end IN ask.ids
  RETURN collect(DISTINCT end)[..$room] AS met }
CALL (met) {
  UNWIND met AS entity_id
  {near_heads}
UNWIND [[ask.place, first_kept, first_hidden, first_cut, ask.ids],
  [ask.place + 1, kept, hidden, cut, met]] AS step
WITH step[0] AS place, step[1] AS kept, step[2] AS hidden, step[3] AS cut, step[4] AS edge
{near_claims}
""",
    "near_claims": """
CALL (kept) {
  UNWIND kept AS near
  UNWIND near AS v
  WITH DISTINCT v
  MATCH (v)-[:PIECE_OF]->(c:Claim)
  WITH c, {piece} AS piece
  RETURN collect([c, {row}]) AS hits }
WITH place, hits, [hidden, cut, edge] AS counts
{rows_of_hits}
""",
    # The note of a list stands in a row of its own, so that an empty list has one.
    "rows_of_hits": """
UNWIND [[null, null]] + hits AS hit
RETURN place, hit[0] AS c, hit[1] AS row, CASE WHEN hit[0] IS NULL THEN counts END AS note
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
  RETURN t {.authority_level, .quarantine, .class_rank, .allow, .deny, .actor, is_live: t:Live} })
""",
    "identifier": """
i {.entity_id, .scheme, .value, .tx_start, .tx_end, .scope_id, .object_id}
""",
    "identifier_teacher": """
head(COLLECT { MATCH (t:Claim {tenant_id: $tenant, object_id: i.object_id})
  RETURN t {.actor, .directs, .authority_level, .source_kind, .class_rank, .allow, .deny} })
""",
    "matched": """
MATCH (e)<-[:LEFT|RIGHT]-(j:Judgement)-[:LEFT|RIGHT]->(m:Entity)
    WHERE j.verdict = 'MATCH'
""",
    # One expansion for what identifies, judges and names entities: each is a step of its own.
    "related": """
CALL (members) {
  UNWIND members AS e
  MATCH (e)<-[:IDENTIFIES|LEFT|RIGHT|ALIAS_OF]-(n)
  WITH e, n AS i, n AS j, n AS a
  RETURN collect(CASE WHEN i:Identifier THEN [{identifier}, {identifier_teacher}] END)
      AS identifier_rows,
    collect(CASE WHEN j:Judgement THEN [e.entity_id, properties(j)] END) AS judgement_rows,
    collect(CASE WHEN a:Alias THEN
      [a {.entity_id, .surface, .scope_id, .tx_start, .tx_end, .object_id, .n}, {teacher}] END)
      AS name_rows }
""",
    "reviewed": """
CALL (members) {
  UNWIND members AS e
  MATCH (r:Review) WHERE r.tenant_id = $tenant AND r.entity_id = e.entity_id
  RETURN collect(r {.entity_id, .reason, .version, .state, .decided_entity, .opened_tx,
    .decided_tx}) AS case_rows }
""",
    "named": """
CALL () {
  UNWIND $given.norms AS norm
  UNWIND $given.alias_scopes AS scope_id
  MATCH (a:Alias) WHERE a.tenant_id = $tenant AND a.norm = norm AND a.scope_id = scope_id
  RETURN collect([{alias}, {teacher}]) AS aliases }
CALL () {
  UNWIND $given.identifiers AS pair
  MATCH (i:Identifier) WHERE i.tenant_id = $tenant AND i.scheme = pair[0] AND i.value = pair[1]
    AND coalesce(i.scope_id, 'tenant') IN $given.alias_scopes
  RETURN collect({identifier}) AS identifiers }
WITH *, $given.entity_ids + [a IN aliases | a[0].entity_id]
  + [i IN identifiers | i.entity_id] AS ids
{entities_of}
""",
    "named_in": """
AND ($given.scopes IS NULL OR EXISTS { (e)<-[:SAME_AS]-(:Entity) } OR EXISTS {
    MATCH (e)<-[:ALIAS_OF]-(a:Alias) WHERE a.scope_id IN $given.scopes })
""",
    "standing_subjects": """
UNWIND standing_slots AS name
CALL (name) {
  MATCH (c:Standing) WHERE c.tenant_id = $tenant AND c.scope_id = $given.scope
    AND c.slot = name AND c.subject_id > $given.after AND c.erased IS NULL
    AND c.object_type IN ['preference', 'actionable_constraint', 'project_decision']
    AND EXISTS { MATCH (c)<-[:PIECE_OF]-(v:ContextVersion) WHERE {at_point} }
  WITH c.subject_id AS subject_id, c {.scope_id, .class_rank, .allow, .deny} AS p
  WHERE {visible}
  RETURN DISTINCT subject_id ORDER BY subject_id LIMIT $most_subjects }
WITH DISTINCT subject_id ORDER BY subject_id LIMIT $most_subjects
""",
    "wishing": """
CALL (has_standing) {
  WITH CASE WHEN has_standing THEN $given.standing_slots ELSE [] END AS standing_slots
  {standing_subjects}
  RETURN collect(subject_id) AS wishing_ids }
CALL (wishing_ids) {
  WITH wishing_ids AS ids
  {entities_of}
  RETURN entities AS wishing, CASE WHEN size(ids) = 1 THEN {one_with} ELSE [] END AS person_ids }
""",
    "one_with": """
[e IN entities[0] WHERE e.entity_id IN ids OR any(j IN entities[2] WHERE j[0] = e.entity_id
    AND j[1].verdict = 'MATCH' AND j[1].tx_end > $tx) | e.entity_id]
""",
    # The bearers of names, under a name of their own: further entities are asked for behind them.
    "bearers": """
CALL () {
  {named}
  RETURN aliases, identifiers, entities AS bearers,
    CASE WHEN size(entities[0]) > $most_meant THEN [] ELSE {one_with} END AS named_ids }
""",
    "meant": """
WITH *, $given.entity_ids + [a IN aliases | a[0].entity_id] AS by_name,
  [i IN identifiers WHERE [i.scheme, i.value] IN $given.own | i.entity_id] AS own_ids
WITH *, [id IN named_ids WHERE id IN by_name OR NOT id IN own_ids] AS centre_ids,
  named_ids + [id IN person_ids WHERE NOT id IN named_ids] AS subject_ids
""",
    "counters": """
MATCH (k:TenantClock {tenant_id: $tenant})
WITH k.seq AS seq, k.last_us AS last_us, k.next_vid AS next_vid, k.vec_seq AS vec_seq,
  k.definitions AS definitions, k.erased_seq AS erased_seq, k.incarnation AS incarnation,
  k {.import_digest, .import_applied, .import_total} AS journal, COLLECT { MATCH (n:TenantKey)
    WHERE n.tenant_id = $tenant AND n.epoch >= 0 WITH n ORDER BY n.epoch
    RETURN n.secret } AS secrets, EXISTS { MATCH (c:Standing) WHERE c.tenant_id = $tenant
    AND c.object_type >= '' AND c.scope_id >= '' } AS has_standing
""",
    "opening": """
seq, last_us, next_vid, vec_seq, definitions, erased_seq, incarnation, journal, secrets,
  has_standing, aliases, identifiers
""",
    # Step by step over all entities: most were never judged, and each query inside costs.
    "entities_of": """
CALL (ids) {
  UNWIND ids AS id
  MATCH (e:Entity {tenant_id: $tenant, entity_id: id})
  WITH collect(DISTINCT e) AS named
  CALL (named) {
    UNWIND named AS e
    {matched}
    RETURN collect(DISTINCT m) AS near }
  CALL (near) {
    UNWIND near AS e
    {matched}
    RETURN collect(DISTINCT m) AS far }
  UNWIND named + near + far AS e
  WITH DISTINCT e WHERE e.tx_start IS NOT NULL
  WITH collect(e) AS members
  {related}
  {reviewed}
  RETURN [[e IN members | {entity}], identifier_rows, judgement_rows, name_rows, case_rows]
    AS entities }
""",
}
