"""The Cypher of candidates: each question alone, several in one round trip, and near vectors.

Under the rules that `core` states. Each step of a compile has a statement of its own, as a server
works at every question of a statement, though nobody asks it. All answers come as the lists of
one record, because each record is a message that the client waits for and takes apart by itself.
Vectors are found by an index of the server, a clause or a procedure by its version.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Final, LiteralString

from .questions import QUESTIONS as _QUESTIONS
from .template import statement

_FRAGMENTS: Final[Mapping[str, LiteralString]] = {
    **_QUESTIONS,
    "parts": """
MATCH (v:Vector) WHERE v.tenant_id = $tenant AND v.object_id = object_id
  AND v.encoder_id = $given.encoder_id AND v.part >= ''
WITH v
MATCH (c:Claim {tenant_id: $tenant, object_id: v.object_id})
RETURN v.object_id AS object_id, v.part AS part, v.vec16 AS vec16, c.scope_id AS scope_id
""",
}
_statement: Final = partial(statement, fragments=_FRAGMENTS)

CLAIMS: Final[LiteralString] = _statement("""
UNWIND $given.parts AS part
CALL (part) {
  UNWIND part AS ask
  MATCH (c:Claim {tenant_id: $tenant, object_id: ask[1]})
  WITH ask, properties(c) AS p
  WITH ask, p, ask[2] AND {visible} AS seen
  RETURN collect([ask[0], {open_line} + CASE WHEN seen THEN {secret_line} ELSE [] END]) AS lines }
RETURN lines
""")
"""What claims say that a reader lacks; permissions hold once more, for they may have changed."""

# --- slots and objects

OF_KIND: Final[Mapping[str, LiteralString]] = {
    "pairs": _statement("CALL () {\n{of_pairs} }\n{answered}"),
    "subjects": _statement("CALL () {\n{of_subjects} }\n{answered}"),
    "names": _statement("CALL () {\n{of_names} }\n{answered}"),
    "keys": _statement("CALL () {\n{of_keys} }\n{answered}"),
    "every": _statement("CALL () {\n{of_tenant} }\n{answered}"),
    "objects": _statement("CALL () {\n{of_objects} }\n{answered}"),
    "derived": _statement("CALL () {\n{of_derived} }\n{answered}"),
    "vids": _statement("CALL () {\n{of_vids} }\n{answered}"),
}
"""Versions, by the kind of an ask."""

# --- the text search

SEARCH: Final[LiteralString] = _statement(
    "CALL () {\n{search} }\n{told}\nRETURN place, claims, marks, lines, note"
)
POOL: Final[LiteralString] = _statement("""
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
  OPTIONAL MATCH (c)<-[:PIECE_OF]-(v:Fact) WHERE {at_point}
  WITH v, mask, shared,
    c {.n, .turn, .slot, .terms, .scope_id, .class_rank, .allow, .deny} AS p
  WITH v, v.vid AS vid, mask, shared, p, coalesce({visible}, false) AS seen
  ORDER BY shared DESC, p.n DESC, vid
  RETURN count(DISTINCT p.n) AS proposed, collect(CASE WHEN v IS NULL THEN null WHEN seen THEN
    {pool_row} ELSE [] END) AS rows }
MATCH (k:TenantClock {tenant_id: $tenant})
RETURN rows, proposed, [word IN words | word[0]] AS words, k.last_us AS last_us
""")
"""Of each hit its row, which words it holds, how long it is, which turn it is of which scope, and
whether it is a fact; an empty list where it is hidden. A word scores a bit; the telling ones
propose, the common ones are only told."""

# --- the other sets of candidates

STANDING: Final[LiteralString] = _statement("CALL () {\n{standing} }\n{answered}")
STANDING_SUBJECTS: Final[LiteralString] = _statement("""
WITH $given.standing_slots AS standing_slots
{standing_subjects}
WITH collect(subject_id) AS ids
{entities_of}
RETURN ids, entities
""")
"""The first subjects of what stands in slots of some names, in their order, and who these are."""
DECAYING: Final[LiteralString] = _statement("""
MATCH (c:Decaying) WHERE c.tenant_id = $tenant AND c.half_life_days > 0
MATCH (c)<-[:PIECE_OF]-(v:Fact) WHERE v.status = 'clean' AND {at_point}
WITH c, {piece} AS piece
WITH c, collect({row}) AS rows, properties(c) AS p, true AS seen
WITH *, [c] AS marked
{marks}
RETURN {entry} AS entry, marks, {open_line} + {secret_line} AS line
""")
# The limit stands inside the sub-query: an entity with more is a hub, whose rest is not read.
RELATIONS: Final[LiteralString] = _statement("""
UNWIND $given.entity_ids AS entity_id
MATCH (e:Entity {tenant_id: $tenant, entity_id: entity_id})
CALL (e) {
  MATCH (e)-[a:FACT]-(:Entity)
  WHERE a.head AND a.status = 'clean' AND {link_at_point}
  MATCH (:Fact {tenant_id: $tenant, vid: a.vid})-[:PIECE_OF]->(c:Claim)
  WITH c {.scope_id, .class_rank, .allow, .deny, .subject_id, .value_entity_id} AS p
  WITH p WHERE {visible}
  WITH DISTINCT p.subject_id AS subject, p.value_entity_id AS value LIMIT $most
  RETURN collect([subject, value]) AS ends }
RETURN entity_id, ends
""")
NEIGHBOURHOOD: Final[LiteralString] = _statement("CALL () {\n{around} }\n{answered}")
CHANGES: Final[LiteralString] = _statement("CALL () {\n{changes} }\n{answered}")


CANDIDATES: Final[LiteralString] = _statement("""
CALL () {
  CALL () {
{by_request}
UNION ALL
{of_subjects}
UNION ALL
{walk} }
  {gathered}
  RETURN {listed}
UNION ALL
{search}
UNION ALL
{search_or_pool} }
{together}
""")
"""What proposes the candidates of a compile."""
FOLLOW_UP: Final[LiteralString] = _statement("""
CALL () {
{of_derived}
UNION ALL
{of_subjects}
UNION ALL
{of_pairs}
UNION ALL
{of_keys} }
WITH collect([place, c, row, note]) AS hits
WITH hits, $given.entity_ids + [hit IN hits WHERE hit[1].value_entity_id IS NOT NULL
  AND hit[1].scope_id IN $given.scopes | hit[1].value_entity_id] AS ids
{entities_of}
CALL (hits, ids, entities) {
  UNWIND hits AS hit
  WITH hit[0] AS place, hit[1] AS c, hit[2] AS row, hit[3] AS note
  {gathered}
  RETURN {listed}
UNION ALL
  RETURN -1 AS place, [] AS claims, [] AS known, [] AS marked, [ids, entities] AS note }
{together}
""")
"""What the candidates of a compile lead to, and the entities that these and their values are."""
TWO_HOPS: Final[LiteralString] = _statement("""
CALL () {
{walk} }
{gathered}
WITH {listed}
{together}
""")
"""Two steps of a walk, which is all that a neighbourhood asks."""


# Made with the index and not by a migration: without the option no database has it.
FEED_KEY: Final[LiteralString] = """
CREATE CONSTRAINT u_feed IF NOT EXISTS FOR (n:VectorFeed)
REQUIRE (n.tenant_id, n.encoder_id) IS UNIQUE
"""
MAKE_INDEX: Final[LiteralString] = """
CREATE VECTOR INDEX vx_near IF NOT EXISTS FOR (n:Near) ON (n.embedding) OPTIONS $options
"""
MAKE_FILTERED: Final[LiteralString] = """
CREATE VECTOR INDEX vx_near_filtered IF NOT EXISTS FOR (n:Near) ON n.embedding
WITH [n.tenant_id, n.encoder_id] OPTIONS $options
"""
DROP_INDEX: Final[LiteralString] = "DROP INDEX vx_near IF EXISTS"
DROP_FILTERED: Final[LiteralString] = "DROP INDEX vx_near_filtered IF EXISTS"

PRESENT_INDEX: Final[LiteralString] = """
SHOW INDEXES YIELD name, options WHERE name IN ['vx_near', 'vx_near_filtered']
RETURN name, options.indexConfig AS config
"""
FEED_POSITION: Final[LiteralString] = """
MATCH (f:VectorFeed {tenant_id: $tenant, encoder_id: $given.encoder_id}) RETURN f.vec_seq AS fed
"""
# The same self-assignment as on the clock: it takes the lock before it reads.
LOCK_FEED: Final[LiteralString] = """
MERGE (f:VectorFeed {tenant_id: $tenant, encoder_id: $given.encoder_id}) ON CREATE SET f.vec_seq = 0
SET f.vec_seq = f.vec_seq + 0
RETURN f.vec_seq AS fed
"""
# Contents alone: the vector of why something matters proposes nothing.
PENDING: Final[LiteralString] = """
MATCH (x:Vector) WHERE x.tenant_id = $tenant AND x.encoder_id = $given.encoder_id
  AND x.vec_seq > $after
  AND x.vec_seq <= $until
WITH x WHERE x.part <> 'why'
RETURN x.object_id AS object_id, x.part AS part, x.vec16 AS vec16 ORDER BY x.vec_seq
"""
FEED: Final[LiteralString] = """
UNWIND $given.rows AS row
MATCH (x:Vector {tenant_id: $tenant, object_id: row.object_id, encoder_id: $given.encoder_id,
  part: row.part})
SET x:Near, x.embedding = row.embedding
"""
SET_FED: Final[LiteralString] = """
MATCH (f:VectorFeed {tenant_id: $tenant, encoder_id: $given.encoder_id}) SET f.vec_seq = $until
"""
# Nobody states the length of an encoder's vectors; the first one shows it.
FIRST_VECTOR: Final[LiteralString] = """
MATCH (x:Vector) WHERE x.tenant_id = $tenant AND x.encoder_id = $given.encoder_id AND x.vec_seq > 0
RETURN x.vec16 AS vec16 LIMIT 1
"""

NEAREST: Final[LiteralString] = _statement("""
CALL db.index.vector.queryNodes('vx_near', $k, $given.near) YIELD node, score
WHERE node.tenant_id = $tenant AND node.encoder_id = $given.encoder_id
WITH DISTINCT node.object_id AS object_id
{parts}
""")
NEAR_FILTERED: Final[LiteralString] = _statement("""
MATCH (x:Near)
SEARCH x IN (VECTOR INDEX vx_near_filtered FOR $given.near
  WHERE x.tenant_id = $tenant AND x.encoder_id = $given.encoder_id LIMIT $k) SCORE AS score
WITH DISTINCT x.object_id AS object_id
{parts}
""")
PARTS_OF: Final[LiteralString] = _statement("""
UNWIND $given.object_ids AS object_id
{parts}
""")

WITHOUT_TENANT: Final[Mapping[str, str]] = {
    "FEED_KEY": "the schema is the database's",
    "MAKE_INDEX": "the schema is the database's",
    "MAKE_FILTERED": "the schema is the database's",
    "DROP_INDEX": "the schema is the database's",
    "DROP_FILTERED": "the schema is the database's",
    "PRESENT_INDEX": "the schema is the database's",
}
"""The statements that name no tenant, each with the reason."""

LANGUAGES: Final[Mapping[str, tuple[str, ...]]] = {
    "MAKE_INDEX": ("5",),
    "NEAREST": ("5",),
    "MAKE_FILTERED": ("25",),
    "NEAR_FILTERED": ("25",),
}
"""The statements that are run in one version of Cypher only."""
