"""The questions about versions, as Cypher, and the fragments that they and others share.

Each question yields rows of claims and is asked alone or with others (`candidates`); the two
searches yield answers, as they have read the permissions of what they met. A fragment is never a
statement by itself. What a caller may not see is decided here, once: `visible` tests scope,
classification and roles of the permissions that are today's.

A `Fact` is one row of a claim. Its times are native, and an open end is null: an auditor reads
them as they are, while the product counts in microseconds. `(:Entity)-[:HAS_FACT]->(:Fact)` leads
from a subject to its facts, and `(:Entity)-[:FACT]->(:Entity)` to a value that is an entity, or
`DENIED` where a claim says that it is not so. Both repeat the times of the fact, so that a walk
from an entity with many facts need not open each. `title` and `value` are captions for people.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, LiteralString

from .template import OPEN_LINE as _OPEN_LINE
from .template import SECRET_LINE as _SECRET_LINE
from .template import own_and_foreign

FRAGMENTS: Final[Mapping[str, LiteralString]] = {
    # --- facts: their times are native in the graph and numbers in an answer
    # One map of what a row says: each property that is named walks the version's chain anew.
    "piece": """
v {.vid, .valid_from, .valid_to, .recorded_at, .replaced_at, .status,
  .reason, .head, .continues}
""",
    # The rows of an answer with their times as numbers: turned once, when all are found.
    "counted_rows": """
[r IN rows | [r[0], r[1].epochSeconds * 1000000 + r[1].microsecond,
    r[2].epochSeconds * 1000000 + r[2].microsecond, r[3].epochSeconds * 1000000 + r[3].microsecond,
    r[4].epochSeconds * 1000000 + r[4].microsecond] + r[5..]]
""",
    "counted": """
head([n IN [v {.vid, .object_id, .valid_from, .valid_to, .recorded_at, .replaced_at, .status,
    .reason, .head, .continues}] | n {.vid, .object_id, .status, .reason, .head, .continues,
    valid_from: n.valid_from.epochSeconds * 1000000 + n.valid_from.microsecond,
    valid_until: n.valid_to.epochSeconds * 1000000 + n.valid_to.microsecond,
    tx_start: n.recorded_at.epochSeconds * 1000000 + n.recorded_at.microsecond,
    tx_end: n.replaced_at.epochSeconds * 1000000 + n.replaced_at.microsecond}])
""",
    "at_point": """
v.head AND v.recorded_at <= datetime($given.tx_at)
  AND coalesce(v.replaced_at > datetime($given.tx_at), true)
  AND v.valid_from <= datetime($given.valid_at)
  AND coalesce(v.valid_to > datetime($given.valid_at), true)
""",
    # The same of a relationship, which says whether its fact decides.
    "link_at_point": """
a.recorded_at <= datetime($given.tx_at)
  AND coalesce(a.replaced_at > datetime($given.tx_at), true)
  AND a.valid_from <= datetime($given.valid_at)
  AND coalesce(a.valid_to > datetime($given.valid_at), true)
""",
    "times": """
valid_from: v.valid_from, valid_to: v.valid_to, recorded_at: v.recorded_at,
    replaced_at: v.replaced_at
""",
    "relation": """
{slot: c.slot, vid: v.vid, status: v.status, head: v.head, {times}}
""",
    # A claim reads "Sam Rivera office: Chicago"; of a structure it names no value.
    "caption": """
CALL (v, c) {
    WITH v, c, c {.slot, .op, .text, .normalized_claim, .value_json} AS p WHERE c.erased IS NULL
    WITH v, c, p, coalesce(p.normalized_claim, p.text, '') AS claim,
      ' ' + replace(p.slot, '_', ' ') + ':' AS label
    WITH v, c, p, claim, split(claim, label)[0] AS name, size(label) AS label_size
    WITH v, c, p, claim, name, CASE WHEN p.slot IS NULL THEN claim
      ELSE trim(substring(claim, size(name) + label_size)) END AS said
    WITH v, c, p, claim, name, CASE p.op WHEN 'deny' THEN 'not ' ELSE '' END
      + CASE said WHEN '' THEN coalesce(p.value_json, '') ELSE said END AS value
    WITH v, c, left(value, 80) AS value, left(CASE WHEN p.slot IS NULL THEN claim
      ELSE name + ': ' + p.slot + ' = ' + value END, 120) AS title
    SET v.title = title, v.value = value, c.title = title }
""",
    # --- what a read says
    "visible": """
(p.scope_id IN $given.scopes AND p.class_rank <= $clearance
  AND any(tag IN p.allow WHERE tag IN $given.tags)
  AND none(tag IN p.deny WHERE tag IN $given.tags))
""",
    # Made native once for each ask: once for each row costs a timeline a fifth.
    "instants": "tx_at: datetime($given.tx_at), valid_at: datetime($given.valid_at)",
    "in_window": """
piece.recorded_at <= ask.tx_at
  AND (NOT ask.at_tx OR coalesce(piece.replaced_at > ask.tx_at, true))
  AND (NOT ask.at_valid OR piece.valid_from <= ask.valid_at
    AND coalesce(piece.valid_to > ask.valid_at, true))
  AND (piece.head OR NOT ask.heads)
""",
    "marks": """
CALL (marked) {
  UNWIND marked AS m
  MATCH (m)<-[e:CONFIRMS|MARKS]-(f)
  WHERE coalesce(e.tx, f.tx) <= $tx
  RETURN collect([m.object_id, e.tx, f.n, f.kind, f.on]) AS marks }
""",
    "row": """
[piece.vid, piece.valid_from, piece.valid_to, piece.recorded_at, piece.replaced_at,
  piece.status, piece.reason, piece.head, piece.continues]
""",
    "open_line": _OPEN_LINE,
    "secret_line": _SECRET_LINE,
    "entry": """
[p.object_id, p.tx, seen, p.erased, p.scope_id, p.class_rank, p.allow, p.deny,
  {counted_rows}]
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
UNWIND [one IN $given.pairs | one {.*, {instants}}] AS ask
UNWIND ask.subjects AS subject
UNWIND ask.names AS name
MATCH (s:Slot) WHERE s.tenant_id = $tenant AND s.about_id = subject AND s.slot = name
""",
    "subjects": """
UNWIND [one IN $given.subjects | one {.*, {instants}}] AS ask
{slots_of_subjects}
""",
    "slots_of_subjects": """
UNWIND ask.subjects AS subject
MATCH (s:Slot) WHERE s.tenant_id = $tenant AND s.about_id = subject AND s.slot >= ''
""",
    "names": """
UNWIND [one IN $given.names | one {.*, {instants}}] AS ask
UNWIND ask.names AS name
MATCH (s:Slot) WHERE s.tenant_id = $tenant AND s.slot = name
""",
    "keys": """
UNWIND [one IN $given.keys | one {.*, {instants}}] AS ask
UNWIND ask.keys AS slot_key
MATCH (s:Slot {tenant_id: $tenant, slot_key: slot_key}) WHERE s.slot_key = slot_key
""",
    "tenant_slots": """
UNWIND [one IN $given.every | one {.*, {instants}}] AS ask
MATCH (s:Slot) WHERE s.tenant_id = $tenant AND s.slot >= ''
""",
    "own_rows": """
AND s.scope_id IN $given.scopes
MATCH (s)<-[:VERSION_OF]-(v:Fact)
WITH ask, v, {piece} AS piece
WHERE {in_window}
MATCH (v)-[:PIECE_OF]->(c:Claim)
RETURN ask.place AS place, c, {row} AS row, null AS note
""",
    "newest_rows": """
AND s.scope_id IN $given.scopes
CALL (s, ask) {
  MATCH (s)<-[:VERSION_OF]-(v:Fact)
  WITH ask, v, {piece} AS piece
  WHERE {in_window}
  WITH ask, v, piece.vid AS vid, {row} AS row,
    piece.head AND piece.valid_from <= ask.valid_at
      AND coalesce(piece.valid_to > ask.valid_at, true) AS decides
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
MATCH (s)<-[:VERSION_OF]-(v:Fact)
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
      MATCH (e)-[a:HAS_FACT]->(v:Fact)
      WHERE {link_at_point} AND v.head AND v.status = 'clean'
      RETURN v, 0 AS far
      UNION ALL
      MATCH (e)<-[a:FACT|DENIED]-(:Entity)
      WHERE a.head AND a.status = 'clean' AND {link_at_point}
      MATCH (v:Fact {tenant_id: $tenant, vid: a.vid})
      RETURN v, 0 AS far
      UNION ALL
      MATCH (e)<-[:MENTIONS]-(:Claim)<-[:PIECE_OF]-(v:Fact)
      WHERE v.status = 'clean' AND {at_point}
      RETURN v, 1 AS far }
    WITH v, min(far) AS far
    MATCH (v)-[:PIECE_OF]->(c:Claim)
    WITH v, far, c {.scope_id, .class_rank, .allow, .deny, .level, .source_authority,
      .confidence, .slot, .value_entity_id, .sensitivity} AS p
    WITH v, far, p, {visible} AS seen,
      CASE WHEN p.value_entity_id = e.entity_id AND NOT v.deny AND p.sensitivity IS NULL
        THEN p.slot END AS slot
    ORDER BY far, p.level, p.source_authority DESC, p.confidence DESC,
      CASE far WHEN 0 THEN v.vid ELSE -v.vid END
    RETURN collect(CASE WHEN seen THEN v END) AS shown,
      collect(CASE WHEN NOT seen THEN v.vid END) AS unseen,
      collect(CASE WHEN seen THEN slot END) AS slots }
  CALL (e, shown, slots) {
    UNWIND CASE WHEN size(shown) > $limit THEN slots ELSE [] END AS slot
    WITH e, slot, count(*) AS fan
    RETURN collect([e.entity_id, slot, fan]) AS fans }
  RETURN collect(shown[..$limit]) AS kept, collect(unseen) AS hidden, collect(fans) AS fans,
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
WITH ask, kept AS first_kept, hidden AS first_hidden, fans AS first_fans, cut AS first_cut
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
UNWIND [[ask.place, first_kept, first_hidden, first_cut, ask.ids, first_fans],
  [ask.place + 1, kept, hidden, cut, met, fans]] AS step
WITH step[0] AS place, step[1] AS kept, step[2] AS hidden, step[3] AS cut, step[4] AS edge,
  step[5] AS fans
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
WITH place, hits, [hidden, cut, edge, fans] AS counts
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
    collect(CASE WHEN a:Alias THEN [properties(a), {teacher}] END) AS name_rows }
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
    AND EXISTS { MATCH (c)<-[:PIECE_OF]-(v:Fact) WHERE {at_point} }
  WITH c.subject_id AS subject_id, c {.scope_id, .class_rank, .allow, .deny} AS p
  WHERE {visible}
  RETURN DISTINCT subject_id ORDER BY subject_id LIMIT $most_subjects }
WITH DISTINCT subject_id ORDER BY subject_id LIMIT $most_subjects
""",
    "clock": """
k {.seq, .last_us, .next_vid, .vec_seq, .serial, .norms, .definitions, .digest, .erased_seq,
  .incarnation, .import_digest, .import_applied, .import_total} AS clock
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


QUESTIONS: Final[Mapping[str, LiteralString]] = {
    **FRAGMENTS,
    # --- slots and objects
    "of_pairs": own_and_foreign("{pairs}"),
    "of_subjects": """
{subjects}
  {newest_rows}
UNION ALL
{subjects}
  {foreign_rows}
""",
    "of_names": own_and_foreign("{names}"),
    "of_keys": own_and_foreign("{keys}"),
    "of_tenant": own_and_foreign("{tenant_slots}"),
    "of_objects": """
UNWIND [one IN $given.objects | one {.*, {instants}}] AS ask
UNWIND ask.objects AS object_id
MATCH (c:Claim {tenant_id: $tenant, object_id: object_id})<-[:PIECE_OF]-(v:Fact)
WHERE (size(ask.subjects) = 0 OR c.subject_id IN ask.subjects)
  AND (size(ask.names) = 0 OR c.slot IN ask.names)
  AND (NOT ask.facts OR c.slot IS NOT NULL)
WITH ask, c, {piece} AS piece
WHERE {in_window}
RETURN ask.place AS place, c, {row} AS row, null AS note
""",
    "of_derived": """
UNWIND [one IN $given.derived | one {.*, {instants}}] AS ask
UNWIND ask.sources AS source
MATCH (o:Claim {tenant_id: $tenant, object_id: source})<-[:DERIVED_FROM]-(c:Claim)
WHERE c.tenant_id = $tenant
WITH DISTINCT ask, c
MATCH (c)<-[:PIECE_OF]-(v:Fact)
WITH ask, c, {piece} AS piece
WHERE {in_window}
RETURN ask.place AS place, c, {row} AS row, null AS note
""",
    "of_vids": """
UNWIND [one IN $given.vids | one {.*, {instants}}] AS ask
CALL (ask) {
  UNWIND ask.vids AS vid
  MATCH (:Fact {tenant_id: $tenant, vid: vid})-[:PIECE_OF]->(c:Claim)
  RETURN c
  UNION
  UNWIND ask.turns AS turns
  WITH turns[0] AS scope_id, turns[1] AS numbers
  UNWIND numbers AS number
  MATCH (c:Claim) USING INDEX SEEK c:Claim(tenant_id, scope_id, turn)
  WHERE c.tenant_id = $tenant AND c.scope_id = scope_id AND c.turn = number
    AND c.scope_id IN $given.scopes
  RETURN c }
MATCH (c)<-[:PIECE_OF]-(v:Fact)
WITH ask, c, {piece} AS piece
WHERE {in_window}
RETURN ask.place AS place, c, {row} AS row, null AS note
""",
    # --- the other sets of candidates
    # Walked from a label of its own: a tenant has thousands of facts and few of these.
    "standing": """
UNWIND $given.standing AS one
MATCH (c:Standing) WHERE c.tenant_id = $tenant AND c.object_type = one.object_type
  AND c.scope_id IN one.scopes AND c.authority_level <= one.level
MATCH (c)<-[:PIECE_OF]-(v:Fact) WHERE {at_point}
WITH one, c, {piece} AS piece
RETURN one.place AS place, c, {row} AS row, null AS note
""",
    # Open entries of the resolver queue of one kind, and the rows of the newest of their objects.
    "queue": """
UNWIND [one IN $given.held | one {.*, {instants}}] AS ask
CALL (ask) {
  MATCH (a:Action) WHERE a.tenant_id = $tenant AND a.tx_start <= $tx AND a.tx_end > $tx
    AND a.kind = ask.kind
  WITH a ORDER BY a.tx_start, a.action_id
  RETURN collect(properties(a)) AS actions, collect(a.object_id) AS object_ids }
CALL (ask, object_ids) {
  UNWIND object_ids[-ask.newest..] AS object_id
  MATCH (c:Claim {tenant_id: $tenant, object_id: object_id})<-[:PIECE_OF]-(v:Fact)
  WITH ask, c, {piece} AS piece
  WHERE {in_window}
  RETURN collect([c, {row}]) AS hits }
WITH ask.place AS place, hits, [actions] AS counts
{rows_of_hits}
""",
    "around": """
UNWIND $given.around AS ask
WITH ask.place AS place, ask.ids AS edge
{neighbourhood_rows}
""",
    # What the first step finds is read once, for its own rows and for the entities of the second.
    "walk": """
UNWIND $given.walks AS ask
{two_hops}
""",
    "changes": """
MATCH (v:Fact) USING INDEX SEEK v:Fact(tenant_id, recorded_at)
WHERE v.tenant_id = $tenant AND v.recorded_at > datetime($given.after_at)
  AND v.recorded_at <= datetime($given.tx_at)
{changed_rows}
UNION ALL
MATCH (v:Fact) USING INDEX SEEK v:Fact(tenant_id, replaced_at)
WHERE v.tenant_id = $tenant AND v.replaced_at > datetime($given.after_at)
  AND v.replaced_at <= datetime($given.tx_at) AND v.recorded_at <= datetime($given.after_at)
{changed_rows}
""",
    "by_request": """
{of_objects}
UNION ALL
{queue}
UNION ALL
{standing}
""",
    # --- the text search
    # Few words score a bit each, so that one call says which claims hold which, and how many.
    # Where there are more words, or more claims that hold one, than that call can tell, each word's
    # claims are counted first, and the telling words are searched by weight. The note says which
    # hits were seen, in order, and the stamp they hold for.
    "search": """
UNWIND $given.searches AS ask
{met}
CALL (ask, met, is_whole) {
  CALL (ask, met, is_whole) {
    WITH * WHERE is_whole
    WITH ask, met, {holders} AS holders
    {weighed_hits}
    RETURN c, shared, c.n AS number ORDER BY shared DESC, number DESC LIMIT $most
    UNION ALL
    WITH * WHERE NOT is_whole
    CALL (ask) {
      UNWIND ask.clauses AS clause
      CALL (ask, clause) {
        CALL db.index.fulltext.queryNodes(ask.index, ask.token + ' +' + clause,
          {limit: ask.common + 1}) YIELD node
        WHERE node.tenant_id = $tenant
        RETURN count(node) AS held }
      RETURN collect(CASE WHEN held > 0 AND held <= ask.common THEN clause + '^' +
          size([times IN ask.halvings WHERE held * times <= ask.common]) END) AS rare,
        collect(CASE WHEN held > ask.common THEN clause END) AS frequent }
    WITH ask, CASE WHEN size(rare) > 0 THEN rare
      ELSE [clause IN ask.clauses WHERE clause IN frequent OR size(frequent) = 0][..1]
      END AS telling
    CALL (ask, telling) {
      UNWIND range(0, size(telling) - 1, $most_clauses) AS at
      WITH ask, ask.token + ' +(' + reduce(q = '', one IN telling[at..at + $most_clauses] |
        q + ' ' + one) + ')' AS lucene
      CALL db.index.fulltext.queryNodes(ask.index, lucene) YIELD node, score
      WHERE node.tenant_id = $tenant
      WITH node AS c, round(sum(score)) AS shared
      RETURN c, shared, c.n AS number ORDER BY shared DESC, number DESC LIMIT $most }
    RETURN c, shared, number }
  OPTIONAL MATCH (c)<-[:PIECE_OF]-(v:Fact) WHERE {at_point}
  WITH c, v, shared, number, CASE WHEN v IS NOT NULL THEN {claim} END AS p
  WITH c, v, shared, number, p, {visible} AS seen
  WITH c, v, shared, number, p, seen, CASE WHEN seen THEN {piece} END AS piece
  ORDER BY shared DESC, number DESC, piece.vid
  RETURN collect(CASE WHEN v IS NOT NULL THEN coalesce(seen, false) END) AS hits,
    collect(CASE WHEN seen THEN [c, p, piece] END)[..$search_limit] AS shown,
    count(DISTINCT c) AS proposed }
MATCH (k:TenantClock {tenant_id: $tenant})
WITH ask.place AS place, hits, shown, proposed, k.last_us AS read_us
{shown_hits}
RETURN place, claims, known, marked,
  [hits, [hit IN shown | hit[2].vid], proposed, read_us] AS note
""",
    # The search of a compile: the records of a page of hits, or the columns of more, with how many
    # hold each word; of up to two pages both, as most of them are read. Neither, where there are
    # more hits than one call can tell.
    "search_or_pool": """
UNWIND $given.pools AS ask
{met}
WITH ask, met, is_whole, {holders} AS holders
CALL (ask, met, is_whole, holders) {
  WITH * WHERE is_whole
  {weighed_hits}
  MATCH (c)<-[:PIECE_OF]-(v:Fact) WHERE {at_point}
  WITH c, v, mask, shared, {claim} AS p
  WITH c, v, mask, shared, p, coalesce({visible}, false) AS seen
  ORDER BY shared DESC, c.n DESC, v.vid
  RETURN collect([c, p, v, mask, seen]) AS hits }
WITH ask.place AS place, is_whole, holders, hits, size([hit IN hits WHERE hit[4]]) AS seen_count
WITH place, is_whole, holders, hits, seen_count > $search_limit AS is_pool,
  is_whole AND seen_count <= 2 * $search_limit AS is_listed
CALL (hits, is_pool) {
  WITH * WHERE is_pool
  UNWIND hits AS hit
  WITH hit[0] AS c, hit[2] AS v, hit[3] AS mask, hit[4] AS seen
  WITH c {.terms, .slot, .scope_id, .turn} AS p, v.vid AS vid, mask, seen
  RETURN collect(CASE WHEN seen THEN {pool_row} ELSE [] END) AS pool }
CALL (hits, is_listed) {
  WITH * WHERE is_listed
  UNWIND hits AS hit
  WITH hit[0] AS c, hit[1] AS p, hit[2] AS v, hit[4] AS seen
  WITH c, p, seen, CASE WHEN seen THEN {piece} END AS piece
  RETURN collect(seen) AS seen_hits, collect(CASE WHEN seen THEN [c, p, piece] END) AS shown }
MATCH (k:TenantClock {tenant_id: $tenant})
WITH place, is_whole, holders, pool, seen_hits, shown, k.last_us AS read_us
{shown_hits}
RETURN place, claims, known, marked,
  [is_whole, seen_hits, [hit IN shown | hit[2].vid], pool, holders, read_us] AS note
""",
    # --- their end together
    "together": """
{told}
RETURN collect([place, claims, marks, lines, note]) AS answers
""",
}
