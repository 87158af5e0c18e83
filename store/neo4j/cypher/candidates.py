"""The Cypher of reads of versions: each set of candidates, and all that a compile prefetches.

Under the rules that `core` states. The shape of questions and answers is that of `fragments`:
asked alone or beforehand with others (`prefetch`), the text is the same.
"""

from __future__ import annotations

from typing import Final, LiteralString

from .fragments import FRAGMENTS as _FRAGMENTS
from .template import statement

CLAIMS: Final[LiteralString] = statement(
    """
UNWIND $given.parts AS part
CALL (part) {
  UNWIND part AS ask
  MATCH (c:Claim {tenant_id: $tenant, object_id: ask[1]})
  WITH ask, properties(c) AS p
  WITH ask, p, ask[2] AND {visible} AS seen
  RETURN collect([ask[0], {open_line} + CASE WHEN seen THEN {secret_line} ELSE [] END]) AS lines }
RETURN lines
""",
    _FRAGMENTS,
)
"""What claims say that a reader lacks; permissions hold once more, for they may have changed."""

# --- slots and objects

OF_PAIRS: Final[LiteralString] = statement(
    """
{pairs}
  {own_rows}
UNION ALL
{pairs}
  {foreign_rows}
""",
    _FRAGMENTS,
)
OF_SUBJECTS: Final[LiteralString] = statement(
    """
{subjects}
  {newest_rows}
UNION ALL
{subjects}
  {foreign_rows}
""",
    _FRAGMENTS,
)
OF_NAMES: Final[LiteralString] = statement(
    """
{names}
  {own_rows}
UNION ALL
{names}
  {foreign_rows}
""",
    _FRAGMENTS,
)
OF_KEYS: Final[LiteralString] = statement(
    """
{keys}
  {own_rows}
UNION ALL
{keys}
  {foreign_rows}
""",
    _FRAGMENTS,
)
OF_TENANT: Final[LiteralString] = statement(
    """
{tenant_slots}
  {own_rows}
UNION ALL
{tenant_slots}
  {foreign_rows}
""",
    _FRAGMENTS,
)
OF_OBJECTS: Final[LiteralString] = statement(
    """
UNWIND $given.objects AS ask
UNWIND ask.objects AS object_id
MATCH (c:Claim {tenant_id: $tenant, object_id: object_id})<-[:PIECE_OF]-(v:ContextVersion)
WHERE (size(ask.subjects) = 0 OR c.subject_id IN ask.subjects)
  AND (size(ask.names) = 0 OR c.slot IN ask.names)
  AND (NOT ask.facts OR c.slot IS NOT NULL)
WITH ask, c, {piece} AS piece
WHERE {in_window}
WITH ask.place AS place, c, {row} AS row
{answer}
""",
    _FRAGMENTS,
)

OF_DERIVED: Final[LiteralString] = statement(
    """
UNWIND $given.derived AS ask
UNWIND ask.sources AS source
MATCH (o:Claim {tenant_id: $tenant, object_id: source})<-[:DERIVED_FROM]-(c:Claim)
WHERE c.tenant_id = $tenant
WITH DISTINCT ask, c
MATCH (c)<-[:PIECE_OF]-(v:ContextVersion)
WITH ask, c, {piece} AS piece
WHERE {in_window}
WITH ask.place AS place, c, {row} AS row
{answer}
""",
    _FRAGMENTS,
)

OF_VIDS: Final[LiteralString] = statement(
    """
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
WITH ask.place AS place, c, {row} AS row
{answer}
""",
    _FRAGMENTS,
)

# --- the text search

SEARCH: Final[LiteralString] = statement(
    """
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
RETURN place, claims, marks, {lines},
  [hits, [hit IN shown | hit[2].vid], proposed, read_us] AS note
""",
    _FRAGMENTS,
)
"""Few words score a bit each, so that one call says which claims hold which, and how many. Where
there are more words, or more claims that hold one, than that call can tell, each word's claims are
counted first, and the telling words are searched by weight. The note says which hits were seen, in
order, and the stamp they hold for."""
SEARCH_OR_POOL: Final[LiteralString] = statement(
    """
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
RETURN place, claims, marks, {lines},
  [is_whole, seen_hits, [hit IN shown | hit[2].vid], pool, holders, read_us] AS note
""",
    _FRAGMENTS,
)
"""The search of a compile: the records of a page of hits, or the columns of more, with how many
hold each word; of up to two pages both, as most of them are read. Neither, where there are more
hits than one call can tell."""
POOL: Final[LiteralString] = statement(
    """
UNWIND $given.searches AS ask
CALL (ask) {
  UNWIND range(0, size(ask.clauses) - 1) AS at
  CALL (ask, at) {
    CALL db.index.fulltext.queryNodes(ask.index, ask.token + ' +' + ask.clauses[at],
      {limit: ask.common + 1}) YIELD node
    WHERE node.tenant_id = $tenant
    RETURN count(node) AS held }
  WITH ask, at, held WHERE held > 0 ORDER BY held, at LIMIT $pool_terms
  RETURN collect([at, held]) AS words }
WITH ask, words, size([word IN words WHERE word[1] <= ask.common]) AS rare
WITH ask, words, CASE WHEN rare > 0 THEN rare ELSE 1 END AS telling, rare
CALL (ask, words, telling, rare) {
  WITH * WHERE size(words) > 0
  WITH ask, telling, [at IN range(0, size(words) - 1) | CASE
      WHEN at >= telling THEN 0
      WHEN rare = 0 THEN 1
      ELSE size([times IN ask.halvings WHERE words[at][1] * times <= ask.common]) END] AS weights,
    [at IN range(0, size(words) - 1) | ask.clauses[words[at][0]] + '^' + ask.bits[at]] AS marked
  WITH ask, weights, ask.token + ' +(' + reduce(q = '', one IN marked[..telling] | q + ' ' + one)
    + ')' + reduce(q = '', one IN marked[telling..] | q + ' ' + one) AS lucene
  CALL db.index.fulltext.queryNodes(ask.index, lucene) YIELD node, score
  WHERE node.tenant_id = $tenant
  WITH node AS c, toInteger(score) AS mask, weights, ask
  WITH c, mask, {shared} AS shared
  ORDER BY shared DESC, c.n DESC LIMIT $most
  OPTIONAL MATCH (c)<-[:PIECE_OF]-(v:ContextVersion) WHERE {at_point}
  WITH v, mask, shared,
    c {.n, .turn, .slot, .terms, .scope_id, .class_rank, .allow, .deny} AS p
  WITH v, v.vid AS vid, mask, shared, p, coalesce({visible}, false) AS seen
  ORDER BY shared DESC, p.n DESC, vid
  RETURN count(DISTINCT p.n) AS proposed, collect(CASE WHEN v IS NULL THEN null WHEN seen THEN
    {pool_row} ELSE [] END) AS rows }
MATCH (k:TenantClock {tenant_id: $tenant})
RETURN rows, proposed, [word IN words | word[0]] AS words, k.last_us AS last_us
""",
    _FRAGMENTS,
)
"""Of each hit its row, which words it holds, how long it is, which turn it is of which scope, and
whether it is a fact; an empty list where it is hidden. A word scores a bit; the telling ones
propose, the common ones are only told."""

# --- the other sets of candidates

# Walked from a label of its own: a tenant has thousands of facts and few of these.
STANDING: Final[LiteralString] = statement(
    """
UNWIND $given.standing AS one
MATCH (c:Standing) WHERE c.tenant_id = $tenant AND c.object_type = one.object_type
  AND c.scope_id IN one.scopes AND c.authority_level <= one.level
MATCH (c)<-[:PIECE_OF]-(v:ContextVersion) WHERE {at_point}
WITH one, c, {piece} AS piece
WITH one.place AS place, c, {row} AS row
{answer}
""",
    _FRAGMENTS,
)
STANDING_SUBJECTS: Final[LiteralString] = statement(
    """
WITH $given.standing_slots AS standing_slots
{standing_subjects}
WITH collect(subject_id) AS ids
{entities_of}
RETURN ids, entities
""",
    _FRAGMENTS,
)
"""The first subjects of what stands in slots of some names, in their order, and who these are."""
DECAYING: Final[LiteralString] = statement(
    """
MATCH (c:Decaying) WHERE c.tenant_id = $tenant AND c.half_life_days > 0
MATCH (c)<-[:PIECE_OF]-(v:ContextVersion) WHERE v.status = 'clean' AND {at_point}
WITH c, {piece} AS piece
WITH c, collect({row}) AS rows, properties(c) AS p, true AS seen
WITH *, [c] AS marked
{marks}
RETURN {entry} AS entry, marks, {open_line} + {secret_line} AS line
""",
    _FRAGMENTS,
)
# The limit stands inside the sub-query: an entity with more is a hub, whose rest is not read.
RELATIONS: Final[LiteralString] = statement(
    """
UNWIND $given.entity_ids AS entity_id
MATCH (e:Entity {tenant_id: $tenant, entity_id: entity_id})
CALL (e) {
  MATCH (e)<-[a:ABOUT]-(v:ContextVersion)-[:PIECE_OF]->(c:Claim)
  WHERE a.tx_start <= $tx AND a.tx_end > $tx AND a.valid_from <= $valid
    AND a.valid_until > $valid AND v.head AND v.status = 'clean' AND NOT v.deny
    AND c.subject_id IS NOT NULL AND c.value_entity_id IS NOT NULL
  WITH c {.scope_id, .class_rank, .allow, .deny, .subject_id, .value_entity_id} AS p
  WITH p WHERE {visible}
  WITH DISTINCT p.subject_id AS subject, p.value_entity_id AS value LIMIT $most
  RETURN collect([subject, value]) AS ends }
RETURN entity_id, ends
""",
    _FRAGMENTS,
)
NEIGHBOURHOOD: Final[LiteralString] = statement(
    """
UNWIND $given.around AS ask
WITH ask.place AS place, ask.ids AS edge
{neighbourhood_rows}
""",
    _FRAGMENTS,
)
# What the first step finds is read once, for its own rows and for the entities of the second.
WALK: Final[LiteralString] = statement(
    """
UNWIND $given.walks AS ask
{two_hops}
""",
    _FRAGMENTS,
)
"""Two steps of a walk: around entities, and around the first entities that are met there."""
CHANGES: Final[LiteralString] = statement(
    """
MATCH (v:ContextVersion) USING INDEX v:ContextVersion(tenant_id, tx_start)
WHERE v.tenant_id = $tenant AND v.tx_start > $after AND v.tx_start <= $tx
{changed_rows}
UNION ALL
MATCH (v:ContextVersion) USING INDEX v:ContextVersion(tenant_id, tx_end)
WHERE v.tenant_id = $tenant AND v.tx_end > $after AND v.tx_end <= $ended AND v.tx_start <= $after
{changed_rows}
""",
    _FRAGMENTS,
)
