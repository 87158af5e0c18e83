"""The Cypher of reads of versions: each set of candidates, and all that a compile foresees.

The third part of `statements`, under the same rules, with the look-ups of names. Every read of
versions takes its questions as a list of maps with a `place`, and answers in one shape: `place,
rows, seen, claim, confirmed, flags, note`. A claim comes once, with the lines of its rows; one
that the caller may not see comes without value and content. A record without a claim carries a
`note`: what was counted. Asked alone or all together (`FORESEEN`), the text is the same.

Sources: neo4j 4, 5 and 8; settled 1, 4 and 8.
"""

from __future__ import annotations

from typing import Final, LiteralString

from .claim import OPEN_COLUMNS as _OPEN_COLUMNS
from .claim import SECRET_COLUMNS as _SECRET_COLUMNS

# --- what a read says

_SEEN: Final[LiteralString] = """(c.scope_id IN $given.scopes AND c.class_rank <= $clearance
  AND any(tag IN c.allow WHERE tag IN $given.tags)
  AND none(tag IN c.deny WHERE tag IN $given.tags))"""
_WINDOW: Final[LiteralString] = """v.tx_start <= $tx AND v.tx_end > ask.after
  AND v.valid_from <= ask.from_max AND v.valid_until > ask.until_min
  AND (v.head OR NOT ask.heads)"""
_AT: Final[LiteralString] = """v.head AND v.tx_start <= $tx AND v.tx_end > $tx
  AND v.valid_from <= $valid AND v.valid_until > $valid"""
_MARKS: Final[LiteralString] = """
  COLLECT { MATCH (c)<-[e:CONFIRMS]-(:Claim) WHERE e.tx <= $tx RETURN max(e.tx) } AS confirmed,
  COLLECT { MATCH (c)<-[:MARKS]-(f:Flag) WHERE f.tx <= $tx RETURN f {.kind, .on, .n} } AS flags,
"""
_LINE: Final[
    LiteralString
] = """[v.vid, v.valid_from, v.valid_until, v.tx_start, v.tx_end, v.status,
  v.reason, v.head, v.continues]"""
_CLAIM_LINE: Final[LiteralString] = "[" + _OPEN_COLUMNS + ", " + _SECRET_COLUMNS + "]"
_TOLD: Final[LiteralString] = (
    "\nWITH place, c, collect("
    + _LINE
    + ") AS rows\nWITH place, c, rows, "
    + _SEEN
    + " AS seen\nRETURN place, rows, seen, CASE WHEN seen THEN "
    + _CLAIM_LINE
    + " ELSE ["
    + _OPEN_COLUMNS
    + "] END AS claim,"
    + _MARKS
    + "  null AS note\n"
)
_NOTHING: Final[LiteralString] = """, [] AS rows, false AS seen, null AS claim,
  [] AS confirmed, [] AS flags, """

# --- slots and objects

_PAIRS: Final[LiteralString] = """
UNWIND $given.pairs AS ask
UNWIND ask.subjects AS subject
UNWIND ask.names AS name
MATCH (s:Slot) WHERE s.tenant_id = $tenant AND s.about_id = subject AND s.slot = name
"""
_SUBJECTS: Final[LiteralString] = """
UNWIND $given.subjects AS ask
UNWIND ask.subjects AS subject
MATCH (s:Slot) WHERE s.tenant_id = $tenant AND s.about_id = subject AND s.slot >= ''
"""
_NAMES: Final[LiteralString] = """
UNWIND $given.names AS ask
UNWIND ask.names AS name
MATCH (s:Slot) WHERE s.tenant_id = $tenant AND s.slot = name
"""
_KEYS: Final[LiteralString] = """
UNWIND $given.keys AS ask
UNWIND ask.keys AS slot_key
MATCH (s:Slot {tenant_id: $tenant, slot_key: slot_key}) WHERE s.slot_key = slot_key
"""
_EVERY: Final[LiteralString] = """
UNWIND $given.every AS ask
MATCH (s:Slot) WHERE s.tenant_id = $tenant AND s.slot >= ''
"""
_OWN_ROWS: Final[LiteralString] = (
    """ AND s.scope_id IN $given.scopes
MATCH (s)<-[:VERSION_OF]-(v:ContextVersion) WHERE """
    + _WINDOW
    + "\nMATCH (v)-[:PIECE_OF]->(c:Claim)\nWITH ask.place AS place, v, c"
    + _TOLD
    + "UNION ALL"
)
_OTHER_ROWS: Final[LiteralString] = (
    """ AND NOT s.scope_id IN $given.scopes
MATCH (s)<-[:VERSION_OF]-(v:ContextVersion) WHERE """
    + _WINDOW
    + "\nWITH ask.place AS place, count(v) AS foreign\nRETURN place"
    + _NOTHING
    + "[foreign] AS note\n"
)
OF_PAIRS: Final[LiteralString] = _PAIRS + _OWN_ROWS + _PAIRS + _OTHER_ROWS
OF_SUBJECTS: Final[LiteralString] = _SUBJECTS + _OWN_ROWS + _SUBJECTS + _OTHER_ROWS
OF_NAMES: Final[LiteralString] = _NAMES + _OWN_ROWS + _NAMES + _OTHER_ROWS
OF_KEYS: Final[LiteralString] = _KEYS + _OWN_ROWS + _KEYS + _OTHER_ROWS
OF_TENANT: Final[LiteralString] = _EVERY + _OWN_ROWS + _EVERY + _OTHER_ROWS
OF_OBJECTS: Final[LiteralString] = (
    """
UNWIND $given.objects AS ask
UNWIND ask.objects AS object_id
MATCH (c:Claim {tenant_id: $tenant, object_id: object_id})<-[:PIECE_OF]-(v:ContextVersion)
WHERE """
    + _WINDOW
    + """ AND (size(ask.subjects) = 0 OR c.subject_id IN ask.subjects)
  AND (size(ask.names) = 0 OR c.slot IN ask.names)
WITH ask.place AS place, v, c"""
    + _TOLD
)

OF_DERIVED: Final[LiteralString] = (
    """
UNWIND $given.derived AS ask
UNWIND ask.sources AS source
MATCH (o:Claim {tenant_id: $tenant, object_id: source})<-[:DERIVED_FROM]-(c:Claim)
WHERE c.tenant_id = $tenant
WITH DISTINCT ask, c
MATCH (c)<-[:PIECE_OF]-(v:ContextVersion)
WHERE """
    + _WINDOW
    + "\nWITH ask.place AS place, v, c"
    + _TOLD
)

# --- the text search

SEARCH: Final[LiteralString] = (
    """
UNWIND $given.searches AS ask
CALL (ask) {
  UNWIND ask.clauses AS clause
  CALL (ask, clause) {
    CALL db.index.fulltext.queryNodes(ask.index, ask.token + ' +' + clause,
      {limit: ask.common + 1}) YIELD node
    WHERE node.tenant_id = $tenant
    RETURN count(node) AS held }
  RETURN collect(CASE WHEN held > 0 AND held <= ask.common THEN clause + '^' +
    size([times IN ask.halvings WHERE held * times <= ask.common]) END) AS rare }
WITH ask, CASE WHEN size(rare) > 0 THEN rare ELSE [ask.clauses[0]] END AS telling
CALL (ask, telling) {
  CALL (ask, telling) {
    UNWIND range(0, size(telling) - 1, $most_clauses) AS at
    WITH ask, ask.token + ' +(' + reduce(q = '', one IN telling[at..at + $most_clauses] |
      q + ' ' + one) + ')' AS lucene
    CALL db.index.fulltext.queryNodes(ask.index, lucene) YIELD node, score
    WHERE node.tenant_id = $tenant
    WITH node AS c, round(sum(score)) AS shared
    RETURN c, shared ORDER BY shared DESC, c.n DESC LIMIT $most }
  OPTIONAL MATCH (c)<-[:PIECE_OF]-(v:ContextVersion) WHERE """
    + _AT
    + "\n  WITH c, v, shared, "
    + _SEEN
    + """ AS seen ORDER BY shared DESC, c.n DESC, v.vid
  RETURN collect(CASE WHEN v IS NOT NULL THEN coalesce(seen, false) END) AS marks,
    collect(CASE WHEN seen THEN v END)[..$search_limit] AS shown, count(DISTINCT c) AS proposed }
MATCH (k:TenantClock {tenant_id: $tenant})
WITH ask.place AS place, marks, shown, proposed, k.last_us AS last_us
UNWIND shown + [null] AS v
OPTIONAL MATCH (v)-[:PIECE_OF]->(c:Claim)
RETURN place, ["""
    + _LINE
    + "] AS rows, v IS NOT NULL AS seen, "
    + _CLAIM_LINE
    + " AS claim,"
    + _MARKS
    + """  CASE WHEN v IS NULL THEN [marks, [one IN shown | one.vid], proposed, last_us] END AS note
"""
)
"""How many claims hold each word is counted first, then the telling words are searched by weight;
the note says which hits were seen, in order, and the stamp they hold for."""

# --- the other sets of candidates

STANDING: Final[LiteralString] = (
    """
UNWIND $given.standing AS one
MATCH (c:Standing) WHERE c.tenant_id = $tenant AND c.object_type = one.object_type
  AND c.scope_id IN one.scopes AND c.authority_level <= one.level
MATCH (c)<-[:PIECE_OF]-(v:ContextVersion) WHERE """
    + _AT
    + "\nWITH one.place AS place, v, c"
    + _TOLD
)
DECAYING: Final[LiteralString] = (
    """
MATCH (c:Decaying) WHERE c.tenant_id = $tenant AND c.half_life_days > 0
MATCH (c)<-[:PIECE_OF]-(v:ContextVersion) WHERE v.status = 'clean' AND """
    + _AT
    + """
WITH c, collect("""
    + _LINE
    + """) AS rows
RETURN rows, true AS seen, """
    + _CLAIM_LINE
    + " AS claim,"
    + _MARKS
    + "  null AS note"
)
_NEAR: Final[LiteralString] = (
    """
  MATCH (e:Entity {tenant_id: $tenant, entity_id: entity_id})
  CALL (e) {
    CALL (e) {
      MATCH (e)<-[a:ABOUT]-(v:ContextVersion)
      WHERE a.tx_start <= $tx AND a.tx_end > $tx AND a.valid_from <= $valid
        AND a.valid_until > $valid AND v.head AND v.status = 'clean'
      RETURN v, 0 AS far
      UNION ALL
      MATCH (e)<-[:MENTIONS]-(:Claim)<-[:PIECE_OF]-(v:ContextVersion)
      WHERE v.status = 'clean' AND """
    + _AT
    + """
      RETURN v, 1 AS far }
    WITH v, min(far) AS far
    MATCH (v)-[:PIECE_OF]->(c:Claim)
    WITH v, c, far, """
    + _SEEN
    + """ AS seen ORDER BY far, c.level, c.source_authority DESC, c.confidence DESC,
      CASE far WHEN 0 THEN v.vid ELSE -v.vid END
    RETURN collect(CASE WHEN seen THEN v END) AS shown,
      collect(CASE WHEN NOT seen THEN v.vid END) AS unseen }
  RETURN collect(shown[..$limit]) AS kept, collect(unseen) AS hidden,
    coalesce(max(size(shown)), 0) > $limit AS cut }
"""
)
RELATIONS: Final[LiteralString] = (
    """
UNWIND $given.entity_ids AS entity_id
MATCH (e:Entity {tenant_id: $tenant, entity_id: entity_id})
CALL (e) {
  MATCH (e)<-[a:ABOUT]-(v:ContextVersion)-[:PIECE_OF]->(c:Claim)
  WHERE a.tx_start <= $tx AND a.tx_end > $tx AND a.valid_from <= $valid
    AND a.valid_until > $valid AND v.head AND v.status = 'clean' AND NOT v.deny
    AND c.subject_id IS NOT NULL AND c.value_entity_id IS NOT NULL AND """
    + _SEEN
    + """
  WITH DISTINCT c.subject_id AS subject, c.value_entity_id AS value LIMIT $most
  RETURN collect([subject, value]) AS ends }
RETURN entity_id, ends"""
)
_AROUND: Final[LiteralString] = (
    """
CALL (edge) {
  UNWIND edge AS entity_id"""
    + _NEAR
    + """UNWIND kept + [[null]] AS near
UNWIND near AS v
WITH DISTINCT place, edge, v, hidden, cut
OPTIONAL MATCH (v)-[:PIECE_OF]->(c:Claim)
RETURN place, ["""
    + _LINE
    + "] AS rows, v IS NOT NULL AS seen, "
    + _CLAIM_LINE
    + " AS claim,"
    + _MARKS
    + """  CASE WHEN v IS NULL THEN [hidden, cut, edge] END AS note
"""
)
AROUND: Final[LiteralString] = (
    """
UNWIND $given.around AS ask
WITH ask.place AS place, ask.ids AS edge"""
    + _AROUND
)
_ONE_ON: Final[LiteralString] = (
    """
UNWIND $given.onward AS ask
CALL (ask) {
  UNWIND ask.ids AS entity_id"""
    + _NEAR
    + """CALL (ask, kept) {
  UNWIND kept AS near
  UNWIND near AS v
  WITH DISTINCT ask, v ORDER BY v.vid
  MATCH (v)-[:PIECE_OF]->(c:Claim)
  UNWIND [c.subject_id, c.value_entity_id] AS end
  WITH ask, end WHERE end IS NOT NULL AND NOT end IN ask.ids
  RETURN collect(DISTINCT end)[..$room] AS edge }
WITH ask.place AS place, edge WHERE size(edge) > 0"""
    + _AROUND
)
"""The second step of a walk: around the first entities that the first step meets."""
_CHANGED: Final[LiteralString] = (
    """
MATCH (v)-[:PIECE_OF]->(c:Claim) WHERE size($given.subjects) = 0 OR c.subject_id IN $given.subjects
WITH 0 AS place, v, c"""
    + _TOLD
)
CHANGES: Final[LiteralString] = (
    """
MATCH (v:ContextVersion) USING INDEX v:ContextVersion(tenant_id, tx_start)
WHERE v.tenant_id = $tenant AND v.tx_start > $after AND v.tx_start <= $tx"""
    + _CHANGED
    + """
UNION ALL
MATCH (v:ContextVersion) USING INDEX v:ContextVersion(tenant_id, tx_end)
WHERE v.tenant_id = $tenant AND v.tx_end > $after AND v.tx_end <= $ended AND v.tx_start <= $after"""
    + _CHANGED
)

# --- who is who

_ENTITY: Final[LiteralString] = """e {.entity_id, .name, .type, .state, .scope_id, .tx_start,
  .created_by, .recorded}"""
_ALIAS: Final[LiteralString] = """a {.entity_id, .surface, .norm, .type, .scope_id, .ordinal,
  .valid_from, .valid_until, .tx_start, .tx_end, .object_id, .merge_id}"""
_IDENTIFIER: Final[LiteralString] = "i {.entity_id, .scheme, .value, .tx_start, .tx_end}"
_CLUSTERS: Final[LiteralString] = """
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
"""
_WHOLE: Final[LiteralString] = (
    "["
    + _ENTITY
    + """,
    COLLECT { MATCH (e)<-[:IDENTIFIES]-(i:Identifier) RETURN """
    + _IDENTIFIER
    + """ },
    COLLECT { MATCH (e)<-[:LEFT|RIGHT]-(j:Judgement) RETURN properties(j) },
    COLLECT { MATCH (r:Review) WHERE r.tenant_id = $tenant AND r.entity_id = e.entity_id
      RETURN r {.reason, .version, .state, .decided_entity, .opened_tx, .decided_tx} }]"""
)
_NAMED: Final[LiteralString] = (
    """
CALL () {
  UNWIND $given.norms AS norm
  UNWIND $given.scopes AS scope_id
  MATCH (a:Alias) WHERE a.tenant_id = $tenant AND a.norm = norm AND a.scope_id = scope_id
  RETURN collect("""
    + _ALIAS
    + """) AS aliases }
CALL () {
  UNWIND $given.identifiers AS pair
  MATCH (i:Identifier) WHERE i.tenant_id = $tenant AND i.scheme = pair[0] AND i.value = pair[1]
  RETURN collect("""
    + _IDENTIFIER
    + """) AS identifiers }
WITH *, $given.entity_ids + [a IN aliases | a.entity_id]
  + [i IN identifiers | i.entity_id] AS ids
CALL (ids) {
  UNWIND ids AS id
  CALL (id) {"""
    + _CLUSTERS
    + """  RETURN e }
  WITH DISTINCT e
  RETURN collect("""
    + _WHOLE
    + """) AS entities }
"""
)
_ALL_KNOWN: Final[LiteralString] = "aliases, identifiers, entities"
KNOWN: Final[LiteralString] = _NAMED + "RETURN " + _ALL_KNOWN
"""All that names, identifiers and ids were ever known to mean: what was closed later, too."""
OPENING: Final[LiteralString] = (
    """
MATCH (k:TenantClock {tenant_id: $tenant})
WITH k.seq AS seq, k.last_us AS last_us, k.next_vid AS next_vid, k.vec_seq AS vec_seq,
  k.definitions AS definitions, k.erased_seq AS erased_seq, COLLECT { MATCH (n:TenantKey)
    WHERE n.tenant_id = $tenant AND n.epoch >= 0 WITH n ORDER BY n.epoch
    RETURN n.secret } AS secrets"""
    + _NAMED
    + "RETURN seq, last_us, next_vid, vec_seq, definitions, erased_seq, secrets, "
    + _ALL_KNOWN
)
"""The same after the counters and keys of the tenant: what is stamped later reads as not done."""
OWN_ALIASES: Final[LiteralString] = (
    """
UNWIND $given.entity_ids AS entity_id
MATCH (e:Entity {tenant_id: $tenant, entity_id: entity_id})<-[:ALIAS_OF]-(a:Alias)
WHERE a.tx_start <= $tx AND a.tx_end > $tx
RETURN """
    + _ALIAS
    + " AS alias"
)
BLOCKED: Final[LiteralString] = (
    """
UNWIND $given.asked AS one
CALL (one) {
  UNWIND one.weights AS hit
  MATCH (b:BlockKey {tenant_id: $tenant, key: hit[0]})<-[:HAS_KEY]-(m:Norm)
  WITH one, m.norm AS norm, sum(hit[1]) AS weight ORDER BY weight DESC, norm
  WITH one, collect([norm, weight]) AS ranked
  WITH one, ranked[..$most_norms] AS heavy, size(ranked) AS total
  UNWIND heavy AS named
  UNWIND one.scopes AS scope_id
  MATCH (a:Alias) WHERE a.tenant_id = $tenant AND a.norm = named[0] AND a.scope_id = scope_id
    AND a.tx_start <= $tx AND a.tx_end > $tx
  RETURN a, named[1] AS weight, total
  ORDER BY weight DESC, a.norm, a.entity_id, a.scope_id, a.type, a.ordinal LIMIT $most }
RETURN one.place AS place, """
    + _ALIAS
    + " AS alias, weight, total"
)

# --- all at once

_HELD: Final[LiteralString] = (
    """
UNWIND $given.held AS ask
CALL (ask) {
  MATCH (a:Action) WHERE a.tenant_id = $tenant AND a.tx_start <= $tx AND a.tx_end > $tx
    AND a.kind = ask.kind
  WITH a ORDER BY a.tx_start, a.action_id
  RETURN collect(properties(a)) AS actions, collect(a.object_id) AS ids }
UNWIND ids[-ask.newest..] + [null] AS object_id
OPTIONAL MATCH (c:Claim {tenant_id: $tenant, object_id: object_id})<-[:PIECE_OF]-(v:ContextVersion)
WHERE """
    + _WINDOW
    + """
WITH ask.place AS place, actions, object_id, c, collect("""
    + _LINE
    + """) AS rows WHERE c IS NOT NULL OR object_id IS NULL
WITH place, actions, c, rows, coalesce("""
    + _SEEN
    + """, false) AS seen
RETURN place, rows, seen, CASE WHEN c IS NULL THEN null WHEN seen THEN """
    + _CLAIM_LINE
    + " ELSE ["
    + _OPEN_COLUMNS
    + "] END AS claim,"
    + _MARKS
    + """  CASE WHEN c IS NULL THEN [actions] END AS note
"""
)
"""Open entries of the resolver queue of one kind, and the rows of the newest of their objects."""
_MEANT: Final[LiteralString] = (
    """
CALL () {
  UNWIND $given.entity_ids AS id
  RETURN id
  UNION"""
    + _PAIRS
    + """  AND s.scope_id IN $given.scopes
MATCH (s)<-[:VERSION_OF]-(v:ContextVersion) WHERE """
    + _WINDOW
    + """
MATCH (v)-[r:ABOUT]->(e:Entity) WHERE r.role = 'value'
  RETURN e.entity_id AS id
  UNION"""
    + _KEYS
    + """  AND s.scope_id IN $given.scopes
MATCH (s)<-[:VERSION_OF]-(v:ContextVersion) WHERE """
    + _WINDOW
    + """
MATCH (v)-[r:ABOUT]->(e:Entity) WHERE r.role = 'value'
  RETURN e.entity_id AS id }
CALL (id) {"""
    + _CLUSTERS
    + """  RETURN e }
WITH DISTINCT e
RETURN -1 AS place"""
    + _NOTHING
    + _WHOLE
    + " AS note\n"
)
"""Entities, and those that the slots asked for point at, with their clusters."""
FORESEEN: Final[LiteralString] = (
    SEARCH
    + "UNION ALL"
    + OF_OBJECTS
    + "UNION ALL"
    + OF_DERIVED
    + "UNION ALL"
    + _HELD
    + "UNION ALL"
    + OF_SUBJECTS
    + "UNION ALL"
    + OF_PAIRS
    + "UNION ALL"
    + OF_KEYS
    + "UNION ALL"
    + STANDING
    + "UNION ALL"
    + AROUND
    + "UNION ALL"
    + _ONE_ON
    + "UNION ALL"
    + _MEANT
)
"""Everything that the next step of a compile asks, in one round trip."""
