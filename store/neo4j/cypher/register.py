"""The Cypher of who is who, of queues, names, vocabulary, vectors and the export.

Under the rules that `core` states.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Final, LiteralString

from .questions import FRAGMENTS as _FRAGMENTS
from .template import all_nodes, nodes_by, statement

_statement: Final = partial(statement, fragments=_FRAGMENTS)

# --- asking the register

FIND: Final[Mapping[str, LiteralString]] = {
    "tx_event.tx": nodes_by("TxEvent", "t.tx = id", order="t.tx"),
    "review.review_id": nodes_by(
        "Review", "t.review_id = id AND t.version >= 0 AND t.newest", order="t.review_id"
    ),
    "review.entity_id": nodes_by("Review", "t.entity_id = id AND t.newest", order="t.review_id"),
    "action.action_id": nodes_by("Action", "t.action_id = id", order="t.action_id"),
    "action.slot_key": nodes_by(
        "Action", "t.slot_key = id AND t.tx_end >= $least", order="t.action_id"
    ),
    "action.object_id": nodes_by(
        "Action", "t.object_id = id AND t.tx_end >= $least", order="t.action_id"
    ),
    "receipt.object_id": nodes_by("Receipt", "t.object_id = id", order="t.object_id"),
    "receipt.idempotency_key": nodes_by("Receipt", "t.idempotency_key = id", order="t.object_id"),
    "slot.slot_key": nodes_by("Slot", "t.slot_key = id", order="t.slot_key"),
    "slot.subject_id": nodes_by(
        "Slot", "t.about_id = id AND t.slot >= '' AND t.subject_id = id", order="t.slot_key"
    ),
    "usage.object_id": nodes_by("Usage", "t.object_id = id", order="t.object_id"),
    "mention.object_id": """
UNWIND $given.ids AS id
MATCH (c:Claim {tenant_id: $tenant, object_id: id})-[m:MENTIONS]->(e:Entity)
RETURN m {.start, end: m.until, object_id: c.object_id, entity_id: e.entity_id} AS record
ORDER BY c.object_id, m.start
""",
}
"""The records of a table by one of its columns."""

JUDGEMENTS: Final[LiteralString] = """
UNWIND $given.entity_ids AS entity_id
MATCH (e:Entity {tenant_id: $tenant, entity_id: entity_id})<-[:LEFT|RIGHT]-(j:Judgement)
RETURN properties(j) AS judgement
UNION
MATCH (j:Judgement) WHERE j.tenant_id = $tenant AND j.merge_id = $given.merge_id
RETURN properties(j) AS judgement
"""
# An entity without a name is one that only rows point at: no entry of the register.
ENTITY_IDS: Final[LiteralString] = _statement("""
MATCH (e:Entity) WHERE e.tenant_id = $tenant AND e.entity_id > $given.after AND e.name IS NOT NULL
  {named_in}
RETURN e.entity_id AS entity_id ORDER BY entity_id LIMIT $most
""")
ENTITY_IDS_OF_TYPE: Final[LiteralString] = _statement("""
MATCH (e:Entity) WHERE e.tenant_id = $tenant AND e.type = $given.type
  AND e.entity_id > $given.after
  {named_in}
RETURN e.entity_id AS entity_id ORDER BY entity_id LIMIT $most
""")
REVIEWS: Final[LiteralString] = """
MATCH (v:Review) WHERE v.tenant_id = $tenant AND v.review_id >= ''
  AND v.version >= 0 AND v.newest AND ($given.state IS NULL OR v.state = $given.state)
  AND ($given.mention = '' OR v.mention = $given.mention)
RETURN properties(v) AS review ORDER BY v.opened_tx, v.review_id
"""
WAITING: Final[LiteralString] = """
MATCH (v:Review) USING INDEX SEEK v:Review(tenant_id, state, newest)
WHERE v.tenant_id = $tenant AND v.state IN ['open', 'undone'] AND v.newest = true
  AND NOT v.reason IN $given.aside
MATCH (c:Claim {tenant_id: $tenant, object_id: v.object_id})
WHERE c.actor = $given.actor AND c.source_origin = $given.origin
WITH v LIMIT $limit
RETURN count(v) AS held
"""

# --- queues and receipts

ACTIONS: Final[LiteralString] = """
MATCH (a:Action) WHERE a.tenant_id = $tenant AND a.tx_start <= $tx AND a.tx_end > $after
  AND ($given.kind IS NULL OR a.kind = $given.kind)
RETURN properties(a) AS action ORDER BY a.tx_start, a.action_id
"""

# --- what stands beside history

DEFINITIONS: Final[LiteralString] = """
MATCH (d:Definition) WHERE d.tenant_id = $tenant AND d.number > $after
RETURN d.number AS number, d.body AS body ORDER BY d.number
"""
PUT_DEFINITIONS: Final[LiteralString] = """
UNWIND $given.rows AS row
CREATE (:Definition {tenant_id: $tenant, number: row.number, body: row.body})
"""
# A vector that was made while its object was erased comes too late, and is left out.
PUT_VECTORS: Final[LiteralString] = """
UNWIND $given.rows AS row
MATCH (c:Claim {tenant_id: $tenant, object_id: row.object_id})
WHERE c.erased IS NULL
MERGE (x:Vector {tenant_id: $tenant, object_id: row.object_id, encoder_id: row.encoder_id,
  part: row.part})
SET x.vec16 = row.vec16, x.vec_seq = row.vec_seq
"""
VECTORS: Final[LiteralString] = """
MATCH (x:Vector) WHERE x.tenant_id = $tenant AND x.encoder_id = $given.encoder_id
  AND x.vec_seq > $after
  AND x.vec_seq <= $until
MATCH (c:Claim {tenant_id: $tenant, object_id: x.object_id})
RETURN x.object_id AS object_id, x.part AS part, x.vec16 AS vec16, c.scope_id AS scope_id
ORDER BY x.vec_seq
"""
PUT_PACKS: Final[LiteralString] = """
UNWIND $given.rows AS row
MERGE (p:Pack {tenant_id: $tenant, digest: row.digest}) ON CREATE SET p.body = row.body
"""
PACK: Final[LiteralString] = """
MATCH (p:Pack {tenant_id: $tenant, digest: $given.digest}) RETURN p.body AS body
"""
MANIFEST: Final[LiteralString] = """
MATCH (m:Manifest {tenant_id: $tenant, envelope_id: $given.envelope_id}) RETURN m.body AS body
"""
MANIFESTS: Final[LiteralString] = """
MATCH (m:Manifest) WHERE m.tenant_id = $tenant AND m.n >= 0
RETURN m.envelope_id AS envelope_id, m.body AS body ORDER BY m.n DESC LIMIT $limit
"""
ENVELOPES_OF: Final[LiteralString] = """
UNWIND $given.object_ids AS object_id
MATCH (:Compiled {tenant_id: $tenant, object_id: object_id})<-[:COMPILED]-(m:Manifest)
WITH DISTINCT m
RETURN m.envelope_id AS envelope_id ORDER BY m.n
"""
# Without the tenant's lock, so the counter is added to and the last time never goes back.
LOG_USAGE: Final[LiteralString] = """
UNWIND $given.rows AS row
MERGE (u:Usage {tenant_id: $tenant, object_id: row.object_id})
ON CREATE SET u.uses = 0, u.last_us = row.last_us
WITH u, row WHERE coalesce(u.counted <> row.call, true)
SET u.uses = u.uses + row.uses, u.counted = row.call,
  u.last_us = CASE WHEN row.last_us > u.last_us THEN row.last_us ELSE u.last_us END
"""
"""A call that comes twice is counted once: `counted` is the number of the last one, where it has
one. What is imported comes in a transaction, and has none."""
# A tombstone has a stamp and no number, so the number is first turned into its stamp.
ERASED_SINCE: Final[LiteralString] = """
OPTIONAL MATCH (e:TxEvent {tenant_id: $tenant, seq: $seq})
WITH coalesce(e.tx, $min) AS since
MATCH (t:Tombstone) WHERE t.tenant_id = $tenant AND t.tx > since
UNWIND t.object_ids AS object_id
RETURN DISTINCT object_id ORDER BY object_id
"""

# --- what an erasure empties

# Of names only closed ones go here: an open one may be taught by other claims as well.
# The index still has an alias that this transaction has deleted: it has no relationships any more,
# but to read a property of it is an error, so that comes behind a DISTINCT.
EMPTY_RECORDS: Final[LiteralString] = """
CALL () {
  UNWIND $given.object_ids AS object_id
  MATCH (r:Receipt {tenant_id: $tenant, object_id: object_id})
  SET r.body = '', r.fingerprint = '' }
CALL () {
  UNWIND $given.object_ids AS object_id
  MATCH (a:Action) WHERE a.tenant_id = $tenant AND a.object_id = object_id AND a.tx_end > $min
  SET a.detail = '{}' }
CALL () {
  MATCH (a:Action) WHERE a.tenant_id = $tenant AND a.tx_start > $min
    AND any(member IN a.members WHERE member IN $given.object_ids)
  SET a.detail = '{}' }
CALL () {
  UNWIND $given.object_ids AS object_id
  MATCH (:Compiled {tenant_id: $tenant, object_id: object_id})<-[:COMPILED]-(m:Manifest)
  SET m.body = '' }
CALL () {
  UNWIND $given.object_ids AS envelope_id
  MATCH (m:Manifest {tenant_id: $tenant, envelope_id: envelope_id})
  SET m.body = '' }
CALL () {
  UNWIND $given.object_ids AS object_id
  MATCH (v:Review) WHERE v.tenant_id = $tenant AND v.object_id = object_id
  SET v.mention = '', v.candidates = '[]', v.note = '', v.title = v.reason }
CALL () {
  MATCH (a:Alias)-[:ALIAS_OF]->(:Entity) WHERE a.tenant_id = $tenant AND a.alias_key >= ''
  WITH DISTINCT a WHERE a.tx_end < $inf AND a.object_id IN $given.object_ids
  WITH a, a.norm AS norm DETACH DELETE a
  RETURN collect(DISTINCT norm) AS norms }
RETURN norms
"""
# Receipts are JSON, so their ids are searched as text here and taken out in Python.
EMPTY_NAMINGS: Final[LiteralString] = """
CALL () {
  UNWIND $given.entity_ids AS entity_id
  MATCH (e:Entity {tenant_id: $tenant, entity_id: entity_id})<-[:LEFT|RIGHT]-(j:Judgement)
  SET j.evidence = '{}' }
CALL () {
  UNWIND $given.entity_ids AS entity_id
  MATCH (v:Review) WHERE v.tenant_id = $tenant AND v.entity_id = entity_id
  SET v.mention = '', v.candidates = '[]', v.note = '', v.title = v.reason }
CALL () {
  MATCH (v:Review) WHERE v.tenant_id = $tenant AND v.review_id >= '' AND v.version >= 0
    AND any(one IN v.candidate_ids WHERE one IN $given.entity_ids)
  SET v.mention = '', v.candidates = '[]', v.note = '', v.title = v.reason }
MATCH (r:Receipt) WHERE r.tenant_id = $tenant AND r.object_id >= ''
  AND any(id IN $given.entity_ids WHERE r.body CONTAINS id)
RETURN r.object_id AS object_id, r.body AS body
"""
"""Empties what repeats the name of an entity, and answers the receipts that do."""
SHORTEN_RECEIPTS: Final[LiteralString] = """
UNWIND $given.rows AS row
MATCH (r:Receipt {tenant_id: $tenant, object_id: row.object_id})
SET r.body = row.body
"""
EMPTY_ENTITIES: Final[LiteralString] = """
CALL () {
  UNWIND $given.entity_ids AS entity_id
  MATCH (e:Entity {tenant_id: $tenant, entity_id: entity_id})<-[:ALIAS_OF]-(a:Alias)
  WITH a, a.norm AS norm
  DETACH DELETE a
  RETURN collect(DISTINCT norm) AS norms }
CALL () {
  UNWIND $given.entity_ids AS entity_id
  MATCH (e:Entity {tenant_id: $tenant, entity_id: entity_id})
  SET e.name = '', e.state = 'erased'
  WITH e
  MATCH (e)<-[:IDENTIFIES]-(i:Identifier)
  DETACH DELETE i }
RETURN norms
"""
# A norm stays while any alias has it, also one of another entity or a closed one.
EMPTY_NORMS: Final[LiteralString] = """
UNWIND $given.norms AS norm
MATCH (m:Norm {tenant_id: $tenant, norm: norm})
WHERE NOT EXISTS { MATCH (a:Alias) WHERE a.tenant_id = $tenant AND a.norm = norm
  AND a.scope_id >= '' }
OPTIONAL MATCH (m)-[:HAS_KEY]->(b:BlockKey)
WITH m, collect(b) AS keys
DETACH DELETE m
WITH keys
CALL (keys) {
  UNWIND keys AS b
  WITH b WHERE NOT EXISTS { (b)<-[:HAS_KEY]-() }
  DELETE b }
RETURN count(*) AS removed
"""

# --- the audit log

EVENTS_IN: Final[LiteralString] = """
MATCH (t:TxEvent) WHERE t.tenant_id = $tenant AND t.tx > $after AND t.tx <= $until
  AND ($given.actor IS NULL OR t.actor = $given.actor)
RETURN properties(t) AS event ORDER BY t.tx DESC LIMIT $limit
"""

# --- the export: every record of a kind, in order of writing

# By stamp where there is one: an export has the order of writing. A row is decoded with its claim,
# which the record repeats. Where a server holds few of a relationship, a planner would begin at
# those of every tenant: hence the stated indices.
EXPORTS: Final[Mapping[str, LiteralString]] = {
    "event": all_nodes("TxEvent", order="t.seq"),
    "entity": all_nodes("Entity", "t.name IS NOT NULL", order="t.tx_start, t.entity_id"),
    "alias": all_nodes("Alias", order="t.n"),
    "identifier": all_nodes("Identifier", order="t.n"),
    "block_keys": """
MATCH (t:Norm) WHERE t.tenant_id = $tenant AND t.norm >= ''
RETURN {norm: t.norm, keys: COLLECT { MATCH (t)-[:HAS_KEY]->(b:BlockKey)
  RETURN [b.key, b.kind] ORDER BY b.key }} AS record ORDER BY t.n
""",
    "slot": all_nodes("Slot", order="t.n"),
    "claim": all_nodes("Claim", order="t.n"),
    "mention": """
MATCH (c:Claim) USING INDEX c:Claim(tenant_id, object_id)
WHERE c.tenant_id = $tenant AND c.object_id >= ''
MATCH (c)-[m:MENTIONS]->(e:Entity)
RETURN m {.start, end: m.until, object_id: c.object_id, entity_id: e.entity_id} AS record
ORDER BY c.n, m.start
""",
    "row": _statement("""
MATCH (v:Fact) WHERE v.tenant_id = $tenant AND v.vid > 0
MATCH (v)-[:PIECE_OF]->(c:Claim)
RETURN {row: {counted}, claim: properties(c)} AS record ORDER BY v.vid
"""),
    "edge": """
MATCH (t:Claim) USING INDEX t:Claim(tenant_id, object_id)
WHERE t.tenant_id = $tenant AND t.object_id >= ''
MATCH (t)-[e:SUPERSEDES|OVERRIDES|CONFLICTS_WITH|CONFIRMS|DERIVED_FROM]->(o:Claim)
RETURN e {.*, kind: type(e), src: t.object_id, dst: o.object_id} AS record
ORDER BY e.n
""",
    "judgement": all_nodes("Judgement", order="t.tx_start, t.judgement_id"),
    "review": all_nodes("Review", order="t.opened_tx, t.review_id, t.version"),
    "canonical": """
MATCH (t:Entity) USING INDEX t:Entity(tenant_id, entity_id)
WHERE t.tenant_id = $tenant AND t.entity_id >= ''
MATCH (t)-[e:SAME_AS]->(c:Entity) WHERE e.replaced_at IS NULL
RETURN {raw_id: t.entity_id, canonical_id: c.entity_id} AS record ORDER BY t.entity_id
""",
    "action": all_nodes("Action", order="t.tx_start, t.action_id"),
    "flag": all_nodes("Flag", order="t.n"),
    "permission": all_nodes("PermissionChange", order="t.n"),
    "tombstone": all_nodes("Tombstone", order="t.tx, t.erasure_id"),
    "receipt": all_nodes("Receipt", order="t.n"),
    "definition": all_nodes("Definition", order="t.number"),
    "pack": all_nodes("Pack", order="t.digest"),
    "manifest": all_nodes("Manifest", order="t.n"),
    "vector": all_nodes("Vector", order="t.vec_seq"),
    "usage": all_nodes("Usage", order="t.object_id"),
}
"""Every record of a kind of `RecordKind`."""

KNOWN: Final[LiteralString] = _statement("""
{named}
RETURN aliases, identifiers, entities
""")
"""All that names, identifiers and ids were ever known to mean: what was closed later, too."""
OPENING: Final[LiteralString] = _statement("""
MATCH (k:TenantClock {tenant_id: $tenant})
WITH {clock}, COLLECT { MATCH (n:TenantKey) WHERE n.tenant_id = $tenant AND n.epoch >= 0
    WITH n ORDER BY n.epoch RETURN n.secret } AS secrets, EXISTS { MATCH (c:Standing)
    WHERE c.tenant_id = $tenant AND c.object_type >= '' AND c.scope_id >= '' } AS has_standing
{named}
RETURN clock, secrets, has_standing, aliases, identifiers, entities
""")
"""The same after the counters and keys of the tenant: what is stamped later reads as not done."""
# The same weights as `hit_weight` in Python. Of a question without a hit a row comes as well: it
# says that nothing is left to ask. A person counts once, however many names end so: by the entity
# that all of them belong to.
BLOCK_MATCHES: Final[LiteralString] = _statement("""
UNWIND $given.asked AS one
CALL (one) {
  MATCH (k:TenantClock {tenant_id: $tenant})
  UNWIND one.keys AS held
  MATCH (b:BlockKey {tenant_id: $tenant, key: held[0]})
  WITH b, held[1] AS kind_weight, k.norms AS total, COUNT { (b)<-[:HAS_KEY]-() } AS postings
  WHERE postings <= CASE WHEN b.kind IN $given.coarse THEN $coarse_postings
    ELSE $most_postings END
  WITH b, toInteger(round(kind_weight * log(1 + toFloat(total) / postings))) AS key_weight
  MATCH (b)<-[:HAS_KEY]-(m:Norm)
  WITH m.norm AS norm, sum(key_weight) AS weight ORDER BY weight DESC, norm
  RETURN collect([norm, weight]) AS ranked }
WITH one, ranked, size(ranked) AS total,
  CASE WHEN size(ranked) < $most THEN 0 ELSE ranked[$most - 1][1] END AS bar
WITH one, ranked, total, size([named IN ranked WHERE named[1] > bar]) AS heavier,
  size([named IN ranked WHERE named[1] = bar]) AS tied
WITH one, ranked, total, $most_norms = $most AND heavier >= $heavier_enough
  AND tied > $crowd * ($most - heavier) AS crowded, heavier
WITH one, total, crowded, ranked[..CASE WHEN crowded THEN heavier ELSE $most_norms END] AS heavy
CALL (one, heavy) {
  UNWIND heavy AS named
  UNWIND one.scopes AS scope_id
  MATCH (a:Alias) WHERE a.tenant_id = $tenant AND a.norm = named[0] AND a.scope_id = scope_id
    AND a.tx_start <= $tx AND a.tx_end > $tx
  WITH a, named[1] AS weight
  ORDER BY weight DESC, a.norm, a.entity_id, a.scope_id, a.type, a.ordinal LIMIT $most
  RETURN collect([{alias}, weight]) AS aliases }
CALL (one, aliases) {
  WITH * WHERE size(aliases) > 0
  MATCH (b:BlockKey {tenant_id: $tenant, key: one.family.key})<-[:HAS_KEY]-(m:Norm)
  WHERE m.norm ENDS WITH one.family.ending
  UNWIND one.scopes AS scope_id
  MATCH (a:Alias) WHERE a.tenant_id = $tenant AND a.norm = m.norm AND a.scope_id = scope_id
    AND a.type IN ['person', 'unknown'] AND a.tx_start <= $tx AND a.tx_end > $tx
  MATCH (e:Entity {tenant_id: $tenant, entity_id: a.entity_id})
  OPTIONAL MATCH (e)-[same:SAME_AS]->(c:Entity) WHERE same.replaced_at IS NULL
  WITH DISTINCT coalesce(c.entity_id, e.entity_id) AS person LIMIT $most_bearers
  RETURN count(person) AS bearers }
RETURN one.place AS place, aliases, total, crowded, bearers
""")
