"""The questions about versions, as Cypher: asked alone (`candidates`) or together (`prefetch`).

Each yields rows of claims as `fragments` describes; the two searches yield answers, as they have
read the permissions of what they met.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, LiteralString

from .fragments import FRAGMENTS as _FRAGMENTS

QUESTIONS: Final[Mapping[str, LiteralString]] = {
    **_FRAGMENTS,
    # --- slots and objects
    "of_pairs": """
{pairs}
  {own_rows}
UNION ALL
{pairs}
  {foreign_rows}
""",
    "of_subjects": """
{subjects}
  {newest_rows}
UNION ALL
{subjects}
  {foreign_rows}
""",
    "of_names": """
{names}
  {own_rows}
UNION ALL
{names}
  {foreign_rows}
""",
    "of_keys": """
{keys}
  {own_rows}
UNION ALL
{keys}
  {foreign_rows}
""",
    "of_tenant": """
{tenant_slots}
  {own_rows}
UNION ALL
{tenant_slots}
  {foreign_rows}
""",
    "of_objects": """
UNWIND $given.objects AS ask
UNWIND ask.objects AS object_id
MATCH (c:Claim {tenant_id: $tenant, object_id: object_id})<-[:PIECE_OF]-(v:ContextVersion)
WHERE (size(ask.subjects) = 0 OR c.subject_id IN ask.subjects)
  AND (size(ask.names) = 0 OR c.slot IN ask.names)
  AND (NOT ask.facts OR c.slot IS NOT NULL)
WITH ask, c, {piece} AS piece
WHERE {in_window}
RETURN ask.place AS place, c, {row} AS row, null AS note
""",
    "of_derived": """
UNWIND $given.derived AS ask
UNWIND ask.sources AS source
MATCH (o:Claim {tenant_id: $tenant, object_id: source})<-[:DERIVED_FROM]-(c:Claim)
WHERE c.tenant_id = $tenant
WITH DISTINCT ask, c
MATCH (c)<-[:PIECE_OF]-(v:ContextVersion)
WITH ask, c, {piece} AS piece
WHERE {in_window}
RETURN ask.place AS place, c, {row} AS row, null AS note
""",
    "of_vids": """
UNWIND $given.vids AS ask
CALL (ask) {
  UNWIND ask.vids AS vid
  MATCH (:ContextVersion {tenant_id: $tenant, vid: vid})-[:PIECE_OF]->(c:Claim)
  RETURN c
  UNION
  UNWIND ask.turns AS turns
  WITH turns[0] AS scope_id, turns[1] AS numbers
  UNWIND numbers AS number
  MATCH (c:Claim) USING INDEX SEEK c:Claim(tenant_id, scope_id, turn)
  WHERE c.tenant_id = $tenant AND c.scope_id = scope_id AND c.turn = number
    AND c.scope_id IN $given.scopes
  RETURN c }
MATCH (c)<-[:PIECE_OF]-(v:ContextVersion)
WITH ask, c, {piece} AS piece
WHERE {in_window}
RETURN ask.place AS place, c, {row} AS row, null AS note
""",
    # The slots of whom the names of an opening mean, and of the caller, and the other facts of the
    # subject that its words led to.
    "of_meant": """
{meant_subjects}
  {newest_rows}
UNION ALL
{meant_subjects}
  {foreign_rows}
""",
    "meant_subjects": """
UNWIND [ask IN $given.subjects | ask {.*, subjects: subject_ids}]
  + [ask IN $given.siblings | ask {.*, subjects: leading_ids}] AS ask
{slots_of_subjects}
""",
    # --- the other sets of candidates
    # Walked from a label of its own: a tenant has thousands of facts and few of these.
    "standing": """
UNWIND $given.standing AS one
MATCH (c:Standing) WHERE c.tenant_id = $tenant AND c.object_type = one.object_type
  AND c.scope_id IN one.scopes AND c.authority_level <= one.level
MATCH (c)<-[:PIECE_OF]-(v:ContextVersion) WHERE {at_point}
WITH one, c, {piece} AS piece
RETURN one.place AS place, c, {row} AS row, null AS note
""",
    # Open entries of the resolver queue of one kind, and the rows of the newest of their objects.
    "queue": """
UNWIND $given.held AS ask
CALL (ask) {
  MATCH (a:Action) WHERE a.tenant_id = $tenant AND a.tx_start <= $tx AND a.tx_end > $tx
    AND a.kind = ask.kind
  WITH a ORDER BY a.tx_start, a.action_id
  RETURN collect(properties(a)) AS actions, collect(a.object_id) AS object_ids }
CALL (ask, object_ids) {
  UNWIND object_ids[-ask.newest..] AS object_id
  MATCH (c:Claim {tenant_id: $tenant, object_id: object_id})<-[:PIECE_OF]-(v:ContextVersion)
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
    "walk_from_meant": """
UNWIND [ask IN $given.walks | ask {.place, ids: centre_ids}] AS ask
{two_hops}
""",
    "changes": """
MATCH (v:ContextVersion) USING INDEX v:ContextVersion(tenant_id, tx_start)
WHERE v.tenant_id = $tenant AND v.tx_start > $after AND v.tx_start <= $tx
{changed_rows}
UNION ALL
MATCH (v:ContextVersion) USING INDEX v:ContextVersion(tenant_id, tx_end)
WHERE v.tenant_id = $tenant AND v.tx_end > $after AND v.tx_end <= $ended AND v.tx_start <= $after
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
  OPTIONAL MATCH (c)<-[:PIECE_OF]-(v:ContextVersion) WHERE {at_point}
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
  MATCH (c)<-[:PIECE_OF]-(v:ContextVersion) WHERE {at_point}
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
    # --- what the candidates of an opening lead to
    # Told where all that the words met is here, and states facts: what talk and pages lead to
    # depends on what is made of them, as it does which of many hits are read.
    "text_hits": """
CALL () {
  CALL () {
{search_or_pool} }
  WITH *, note[0] AS is_whole, note[3] AS pool, [k IN known | k[1]] AS facts
  RETURN collect([place, claims, known, marked, note]) AS text_hits,
    coalesce(head(collect(facts)), []) AS facts,
    NOT false IN collect(is_whole AND size(pool) = 0) AS are_listed }
WITH *, are_listed AND none(fact IN facts WHERE fact.slot IS NULL) AS is_foretold
WITH *, [fact IN facts WHERE is_foretold AND NOT fact.subject_id IN subject_ids |
  fact.subject_id][..1] AS leading_ids
""",
    # The slots of all facts in the caller's other scopes, by the keys that `slot_key` makes.
    "rivals": """
CALL (lists, is_foretold) {
  UNWIND $given.rivals AS ask
  WITH * WHERE is_foretold
  UNWIND lists AS answer
  UNWIND answer[2] AS k
  WITH ask, answer[0] AS place, k[1] AS p
  WITH ask, p WHERE p.slot IS NOT NULL AND p.scope_id IN $given.scopes
    AND none(one IN $given.siblings WHERE one.place = place)
  WITH ask, p.scope_id AS scope_id, p.subject_id + '/' + p.slot + '/' AS beginning
  WITH ask, collect(DISTINCT beginning) AS beginnings,
    collect(DISTINCT beginning + scope_id) AS known_keys
  UNWIND beginnings AS beginning
  UNWIND $given.scopes AS scope_id
  WITH ask, known_keys, beginning + scope_id AS slot_key
  WITH ask, slot_key WHERE NOT slot_key IN known_keys
  WITH ask, collect(slot_key) AS slot_keys
  CALL (ask, slot_keys) {
    UNWIND slot_keys AS slot_key
    MATCH (s:Slot {tenant_id: $tenant, slot_key: slot_key}) WHERE s.slot_key = slot_key
    {own_rows}
  UNION ALL
    RETURN ask.place AS place, {no_row}, [0, slot_keys] AS note }
  {gathered}
  WITH {listed}
  RETURN collect([place, claims, known, marked, note]) AS rival_lists }
""",
    "linked": """
CALL (all_lists, is_foretold) {
  WITH * WHERE is_foretold
  UNWIND all_lists AS answer
  UNWIND answer[2] AS k
  WITH k[1] AS p WHERE p.scope_id IN $given.scopes
  UNWIND [p.subject_id, p.value_entity_id] AS id
  RETURN collect(DISTINCT id) AS ids }
{entities_of}
""",
    # --- their end together
    "together": """
{told}
RETURN collect([place, claims, marks, lines, note]) AS answers
""",
}
