"""The Cypher of reads of versions: each set of candidates, asked by itself.

Under the rules that `core` states. The shape of questions and answers is that of `fragments`:
asked alone or beforehand with others (`prefetch`), the text is that of `questions`.
"""

from __future__ import annotations

from typing import Final, LiteralString

from .questions import QUESTIONS as _QUESTIONS
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
    _QUESTIONS,
)
"""What claims say that a reader lacks; permissions hold once more, for they may have changed."""

# --- slots and objects

OF_PAIRS: Final[LiteralString] = statement("CALL () {\n{of_pairs} }\n{answered}", _QUESTIONS)
OF_SUBJECTS: Final[LiteralString] = statement("CALL () {\n{of_subjects} }\n{answered}", _QUESTIONS)
OF_NAMES: Final[LiteralString] = statement("CALL () {\n{of_names} }\n{answered}", _QUESTIONS)
OF_KEYS: Final[LiteralString] = statement("CALL () {\n{of_keys} }\n{answered}", _QUESTIONS)
OF_TENANT: Final[LiteralString] = statement("CALL () {\n{of_tenant} }\n{answered}", _QUESTIONS)
OF_OBJECTS: Final[LiteralString] = statement("CALL () {\n{of_objects} }\n{answered}", _QUESTIONS)
OF_DERIVED: Final[LiteralString] = statement("CALL () {\n{of_derived} }\n{answered}", _QUESTIONS)
OF_VIDS: Final[LiteralString] = statement("CALL () {\n{of_vids} }\n{answered}", _QUESTIONS)

# --- the text search

SEARCH: Final[LiteralString] = statement(
    "CALL () {\n{search} }\n{told}\nRETURN place, claims, marks, lines, note", _QUESTIONS
)
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
    _QUESTIONS,
)
"""Of each hit its row, which words it holds, how long it is, which turn it is of which scope, and
whether it is a fact; an empty list where it is hidden. A word scores a bit; the telling ones
propose, the common ones are only told."""

# --- the other sets of candidates

STANDING: Final[LiteralString] = statement("CALL () {\n{standing} }\n{answered}", _QUESTIONS)
STANDING_SUBJECTS: Final[LiteralString] = statement(
    """
WITH $given.standing_slots AS standing_slots
{standing_subjects}
WITH collect(subject_id) AS ids
{entities_of}
RETURN ids, entities
""",
    _QUESTIONS,
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
    _QUESTIONS,
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
    _QUESTIONS,
)
NEIGHBOURHOOD: Final[LiteralString] = statement("CALL () {\n{around} }\n{answered}", _QUESTIONS)
CHANGES: Final[LiteralString] = statement("CALL () {\n{changes} }\n{answered}", _QUESTIONS)
