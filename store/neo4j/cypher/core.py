"""The Cypher of facts: slots, claims, versions, edges, sessions, manifests, imports, the clock.

Each text is a constant, with values only as parameters, and names its tenant, or stands in
`WITHOUT_TENANT` with the reason. A public name is a statement; a name with a leading underscore
is a fragment that statements are added together from. `LiteralString` lets the type checkers
refuse a text made at run time. The tests hold every module of this folder to that, put every
text before Neo4j's own grammar, in Cypher 5 and 25, and look at the plans.

One text serves every case of a read: `ask.at_tx` and `ask.at_valid` say which of the two times
restricts it. Times are sent as texts, and the server makes them native, which takes it a tenth of
a microsecond: the driver packs a datetime in a tenth of a millisecond. Reads walk from nodes whose
keys never change, over relationships, and test both stamps of each row: an index over what a commit
changes could lose a row in the instant between its old and its new place. Sessions are found by
their unique key alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Final, LiteralString

from .questions import FRAGMENTS as _QUESTIONS
from .template import CONTENT_COLUMNS as _CONTENT_COLUMNS
from .template import CORE as _CORE
from .template import in_turn, removal, statement

_FRAGMENTS: Final[Mapping[str, LiteralString]] = {
    **_QUESTIONS,
    "ends": """
MATCH (a:Claim {tenant_id: $tenant, object_id: row.src})
  MATCH (b:Claim {tenant_id: $tenant, object_id: row.dst})
""",
    "edge": """
{n: row.n, valid_from: row.valid_from, valid_until: row.valid_until, reason: row.reason,
    relation: row.relation, tx: row.tx, recorded_at: datetime(row.recorded_at),
    merge_id: row.merge_id}
""",
    "claim": _CORE,
    "content_columns": _CONTENT_COLUMNS,
    "row": "{counted}",
    "slot": "s {.slot_key, .subject_id, .slot, .scope_id, .many}",
    # `Compiled` leads from an object to its envelopes: an erasure finds what repeats it.
    "created": """
CREATE (m:Manifest {tenant_id: $tenant, envelope_id: row.envelope_id, n: number, body: row.body,
    pack: row.pack, object_ids: row.object_ids})
  WITH m, row
  UNWIND row.object_ids AS object_id
  WITH DISTINCT m, object_id ORDER BY object_id
  MERGE (o:Compiled {tenant_id: $tenant, object_id: object_id})
  CREATE (m)-[:COMPILED]->(o)
""",
}
_statement: Final = partial(statement, fragments=_FRAGMENTS)

COMPONENTS: Final[LiteralString] = """
CALL dbms.components() YIELD name, versions, edition
RETURN name, versions, edition
"""

# --- the tenant's clock

# `made` tells the call that created the tenant from a later one; it never outlives the
# statement. The incarnation tells a tenant from an earlier one of the same name.
ENSURE: Final[LiteralString] = """
MERGE (k:TenantClock {tenant_id: $tenant})
ON CREATE SET k.seq = 0, k.last_us = $min, k.next_vid = 1, k.vec_seq = 0, k.serial = 0,
  k.norms = 0, k.definitions = 0, k.erased_seq = 0, k.incarnation = randomUUID(), k.made = true
WITH k, coalesce(k.made, false) AS made REMOVE k.made
FOREACH (_ IN CASE WHEN made THEN [1] ELSE [] END |
  CREATE (:TenantKey {tenant_id: $tenant, epoch: 0, secret: $given.secret}))
WITH k MATCH (first:TenantKey {tenant_id: $tenant, epoch: 0})
RETURN first.secret AS secret
"""
# The assignment takes the write lock before anything is read: reading first would let two
# writers see the same counters.
LOCK: Final[LiteralString] = _statement("""
MATCH (k:TenantClock {tenant_id: $tenant})
SET k.seq = k.seq + 0
WITH {clock}
{named}
RETURN clock, aliases, identifiers, entities, COLLECT {
  UNWIND $given.keys AS key
  MATCH (r:Receipt) WHERE r.tenant_id = $tenant AND r.idempotency_key = key
  RETURN properties(r) } AS receipts
""")
"""The counters under the lock, what `KNOWN` answers, and what idempotency keys have written."""
CLOCK: Final[LiteralString] = _statement("""
MATCH (k:TenantClock {tenant_id: $tenant})
RETURN {clock}
""")
SET_CLOCK: Final[LiteralString] = """
MATCH (k:TenantClock {tenant_id: $tenant}) SET k += $given.clock
"""
EVENT_AT: Final[LiteralString] = """
MATCH (t:TxEvent {tenant_id: $tenant, seq: $seq}) RETURN t.digest AS digest
"""
KEYS: Final[LiteralString] = """
MATCH (n:TenantKey) WHERE n.tenant_id = $tenant AND n.epoch >= 0
RETURN n.secret AS secret ORDER BY n.epoch
"""
CLEAR_KEYS: Final[LiteralString] = """
MATCH (n:TenantKey) WHERE n.tenant_id = $tenant AND n.epoch >= 0 DELETE n
"""
PUT_KEYS: Final[LiteralString] = """
UNWIND $given.rows AS row
CREATE (:TenantKey {tenant_id: $tenant, epoch: row.epoch, secret: row.secret})
"""

# --- writing a batch

# An entity may have been made by a row that points at it before its name came, and what was written
# first about its making stays: hence `coalesce`. Both ends of a judgement are relationships: a
# cluster is walked from any of its members. `SAME_AS` is a star, never a chain: a canonical entity
# has no open one. `newest` is true of one version of a case, so that a queue reads no others.
PUT_PART: Final[Mapping[str, LiteralString]] = {
    "entities": """
UNWIND $given.entities AS row
MERGE (e:Entity {tenant_id: $tenant, entity_id: row.entity_id})
SET e.scope_id = coalesce(e.scope_id, row.scope_id),
  e.tx_start = coalesce(e.tx_start, row.tx_start),
  e.created_by = coalesce(e.created_by, row.created_by), e.n = coalesce(e.n, row.n)
SET e.name = row.name, e.type = row.type, e.state = row.state, e.recorded = row.recorded
RETURN count(e) AS entities
""",
    "closed_aliases": """
UNWIND $given.closed_aliases AS row
MATCH (a:Alias {tenant_id: $tenant, alias_key: row.alias_key})
WHERE a.entity_id = row.entity_id AND a.tx_end = $inf
SET a.tx_end = row.tx, a.alias_key = row.closed_key
RETURN count(a) AS closed_aliases
""",
    "aliases": """
UNWIND $given.aliases AS row
MATCH (e:Entity {tenant_id: $tenant, entity_id: row.props.entity_id})
CREATE (a:Alias {tenant_id: $tenant, alias_key: row.alias_key})-[:ALIAS_OF]->(e)
SET a += row.props, a.n = row.n
RETURN count(a) AS aliases
""",
    "identifiers": """
UNWIND $given.identifiers AS row
MATCH (e:Entity {tenant_id: $tenant, entity_id: row.entity_id})
CREATE (i:Identifier {tenant_id: $tenant, identifier_key: row.identifier_key, n: row.n,
  entity_id: row.entity_id, scheme: row.scheme, value: row.value, tx_start: row.tx_start,
  tx_end: row.tx_end, scope_id: row.scope_id, object_id: row.object_id})-[:IDENTIFIES]->(e)
RETURN count(i) AS identifiers
""",
    "norms": """
UNWIND $given.norms AS row
MERGE (m:Norm {tenant_id: $tenant, norm: row.norm})
ON CREATE SET m.n = row.n
WITH m, row
CALL (m, row) {
  UNWIND row.keys AS held
  MERGE (b:BlockKey {tenant_id: $tenant, key: held[0]})
  ON CREATE SET b.kind = held[1]
  MERGE (m)-[:HAS_KEY]->(b) }
RETURN count(CASE WHEN m.n = row.n THEN 1 END) AS norms
""",
    "events": """
UNWIND $given.events AS row
CREATE (t:TxEvent {tenant_id: $tenant, seq: row.seq, tx: row.tx, actor: row.actor, op: row.op,
  object_ids: row.object_ids, digest: row.digest})
RETURN count(t) AS events
""",
    "slots": """
UNWIND $given.slots AS row
MERGE (s:Slot {tenant_id: $tenant, slot_key: row.slot_key})
ON CREATE SET s.n = row.n, s.subject_id = row.subject_id, s.about_id = row.subject_id,
  s.slot = row.slot, s.scope_id = row.scope_id, s.many = row.many, s.name = row.name
RETURN count(s) AS slots
""",
    "claims": """
UNWIND $given.claims AS row
MATCH (s:Slot {tenant_id: $tenant, slot_key: row.slot_key})
CREATE (c:Claim {tenant_id: $tenant, object_id: row.object_id})
SET c += row.props, c.n = row.n, c.signature = row.signature,
  c.recorded_at = datetime(row.recorded_at)
FOREACH (_ IN CASE WHEN s.many AND c.erased IS NULL THEN [1] ELSE [] END |
  SET c.held = row.held)
FOREACH (_ IN row.text | SET s.about_id = c.subject_id)
FOREACH (_ IN row.live | SET c:Live)
FOREACH (_ IN row.standing | SET c:Standing)
FOREACH (_ IN row.decaying | SET c:Decaying)
CREATE (c)-[:ASSERTS]->(s)
WITH c, row
CALL (c, row) {
  UNWIND row.turn AS _
  WITH c, head(COLLECT {
    MATCH (t:Claim) WHERE t.tenant_id = $tenant AND t.scope_id = c.scope_id AND t.turn >= 1
    RETURN t.turn ORDER BY t.tenant_id DESC, t.scope_id DESC, t.turn DESC LIMIT 1 }) AS last
  SET c.turn = coalesce(last, 0) + 1 }
RETURN count(c) AS claims
""",
    "close": """
UNWIND $given.close AS row
MATCH (v:Fact {tenant_id: $tenant, vid: row.vid})
WHERE v.replaced_at IS NULL
SET v.replaced_at = datetime(row.replaced_at)
REMOVE v.open
WITH v, row
OPTIONAL MATCH (e:Entity)-[h:HAS_FACT]->(v)
SET h.replaced_at = v.replaced_at
WITH v, row, e
CALL (v, row, e) {
  MATCH (v)-[:PIECE_OF]->(c:Claim) WHERE c.value_entity_id IS NOT NULL
  MATCH (o:Entity {tenant_id: $tenant, entity_id: c.value_entity_id})
  MATCH (e)-[f:FACT|DENIED]->(o) WHERE f.vid = v.vid
  SET f.replaced_at = v.replaced_at }
RETURN count(DISTINCT v) AS close
""",
    "rows": _statement("""
UNWIND $given.rows AS row
MATCH (c:Claim {tenant_id: $tenant, object_id: row.object_id})-[:ASSERTS]->(s:Slot)
CREATE (v:Fact {tenant_id: $tenant, vid: row.vid, slot_key: s.slot_key,
  object_id: row.object_id, slot: s.slot, valid_from: datetime(row.valid_from),
  valid_to: datetime(row.valid_to), recorded_at: datetime(row.recorded_at),
  replaced_at: datetime(row.replaced_at), status: row.status, reason: row.reason,
  head: row.head, deny: row.deny, open: row.open, continues: row.continues})
CREATE (v)-[:VERSION_OF]->(s)
CREATE (v)-[:PIECE_OF]->(c)
FOREACH (_ IN CASE WHEN c.erased IS NULL THEN row.live ELSE [] END | SET c:Live)
WITH v, c
{caption}
WITH v, c
CALL (v, c) {
  WITH v, c WHERE c.subject_id IS NOT NULL
  MERGE (e:Entity {tenant_id: $tenant, entity_id: c.subject_id})
  CREATE (e)-[:HAS_FACT {{times}}]->(v)
  WITH v, c, e WHERE c.value_entity_id IS NOT NULL
  MERGE (o:Entity {tenant_id: $tenant, entity_id: c.value_entity_id})
  FOREACH (_ IN CASE WHEN v.deny THEN [] ELSE [1] END | CREATE (e)-[:FACT {relation}]->(o))
  FOREACH (_ IN CASE WHEN v.deny THEN [1] ELSE [] END | CREATE (e)-[:DENIED {relation}]->(o)) }
RETURN count(v) AS rows
"""),
    "receipts": """
UNWIND $given.receipts AS row
CREATE (r:Receipt {tenant_id: $tenant, object_id: row.object_id, n: row.n, tx: row.tx,
  body: row.body, idempotency_key: row.idempotency_key, fingerprint: row.fingerprint})
RETURN count(r) AS receipts
""",
    "edges": _statement("""
UNWIND $given.edges AS row
{ends}
CREATE (a)-[e:$(row.kind) {edge}]->(b)
RETURN count(e) AS edges
"""),
    "closed": """
UNWIND $given.closed AS vid
MATCH (v:Fact {tenant_id: $tenant, vid: vid})-[:PIECE_OF]->(c:Claim)
WITH DISTINCT c
WITH c, EXISTS { MATCH (c)<-[:PIECE_OF]-(o:Fact) WHERE o.open = 0 } AS live
FOREACH (_ IN CASE WHEN live THEN [] ELSE [1] END | REMOVE c:Live)
RETURN count(c) AS moved
""",
    "mentions": """
UNWIND $given.mentions AS row
MATCH (c:Claim {tenant_id: $tenant, object_id: row.object_id})
MATCH (e:Entity {tenant_id: $tenant, entity_id: row.entity_id})
CREATE (c)-[m:MENTIONS {start: row.start, until: row.end}]->(e)
RETURN count(m) AS mentions
""",
    "closed_judgements": """
UNWIND $given.closed_judgements AS row
MATCH (j:Judgement {tenant_id: $tenant, judgement_id: row.judgement_id})
WHERE j.tx_end = $inf
SET j.tx_end = row.tx
RETURN count(j) AS closed_judgements
""",
    "judgements": """
UNWIND $given.judgements AS row
MATCH (l:Entity {tenant_id: $tenant, entity_id: row.left_id})
MATCH (r:Entity {tenant_id: $tenant, entity_id: row.right_id})
CREATE (j:Judgement {tenant_id: $tenant, judgement_id: row.judgement_id})
SET j += row, j.recorded_at = datetime(row.recorded_at)
CREATE (j)-[:LEFT]->(l)
CREATE (j)-[:RIGHT]->(r)
RETURN count(j) AS judgements
""",
    "reviews": """
UNWIND $given.reviews AS row
OPTIONAL MATCH (old:Review) WHERE old.tenant_id = $tenant AND old.review_id = row.review_id
  AND old.version >= 0
SET old.newest = false
WITH DISTINCT row
CREATE (v:Review {tenant_id: $tenant, review_id: row.review_id, newest: true})
SET v += row,
  v.title = row.reason + CASE row.mention WHEN '' THEN '' ELSE ': ' + row.mention END
RETURN count(v) AS reviews
""",
    "canonical": """
UNWIND $given.canonical AS row
MATCH (m:Entity {tenant_id: $tenant, entity_id: row.raw_id})
OPTIONAL MATCH (m)-[old:SAME_AS]->(:Entity) WHERE old.replaced_at IS NULL
SET old.replaced_at = datetime($given.tx_at)
WITH DISTINCT m, row WHERE row.raw_id <> row.canonical_id
MATCH (c:Entity {tenant_id: $tenant, entity_id: row.canonical_id})
CREATE (m)-[:SAME_AS {recorded_at: datetime($given.tx_at)}]->(c)
RETURN count(*) AS canonical
""",
    "actions": """
UNWIND $given.actions AS row
CREATE (a:Action {tenant_id: $tenant, action_id: row.action_id})
SET a += row, a.title = replace(row.kind, '_', ' ')
RETURN count(a) AS actions
""",
    "closed_actions": """
UNWIND $given.closed_actions AS row
MATCH (a:Action {tenant_id: $tenant, action_id: row.action_id})
WHERE a.tx_end = $inf
SET a.tx_end = row.tx, a.outcome = row.outcome, a.closed_by = row.closed_by
RETURN count(a) AS closed_actions
""",
    "flags": """
UNWIND $given.flags AS row
MATCH (c:Claim {tenant_id: $tenant, object_id: row.object_id})
CREATE (f:Flag {tenant_id: $tenant, n: row.n, object_id: row.object_id, kind: row.kind,
  on: row.on, tx: row.tx})-[:MARKS]->(c)
RETURN count(f) AS flags
""",
    "permissions": """
UNWIND $given.permissions AS row
MATCH (c:Claim {tenant_id: $tenant, object_id: row.object_id})
SET c.class_rank = row.class_rank, c.allow = row.allow, c.deny = row.deny
CREATE (p:PermissionChange {tenant_id: $tenant, n: row.n, object_id: row.object_id,
  class_rank: row.class_rank, allow: row.allow, deny: row.deny, tx: row.tx, actor: row.actor})
RETURN count(p) AS permissions
""",
}
"""Each part of a batch by the name of its list, what a later part ends at before it.

Each turn takes the number behind the last one of its scope, which its index tells at once where all
that it is over orders the answer.
"""
PUT_BATCH: Final[LiteralString] = statement(
    """
{parts}
MATCH (k:TenantClock {tenant_id: $tenant})
FOREACH (counters IN $given.clock | SET k += counters, k.norms = counters.norms + norms)
RETURN norms, closed_aliases, aliases, claims, close, rows, edges, mentions, closed_judgements,
  judgements, closed_actions, flags, permissions
""",
    {"parts": in_turn(PUT_PART)},
)
"""All parts in one round trip; an empty list is a part without effect."""

# The counter says to readers of every process that what they keep may have been erased.
PUT_TOMBSTONES: Final[LiteralString] = """
MATCH (k:TenantClock {tenant_id: $tenant}) SET k.erased_seq = $seq
WITH k
UNWIND $given.rows AS row
CREATE (t:Tombstone {tenant_id: $tenant, erasure_id: row.erasure_id})
SET t += row
RETURN count(t) AS made
"""

# --- reading under the lock

OPEN_ROWS: Final[LiteralString] = _statement("""
UNWIND $given.reads AS read
UNWIND read.slot_keys AS slot_key
UNWIND read.open AS open
MATCH (v:Fact)
WHERE v.tenant_id = $tenant AND v.slot_key = slot_key AND v.open = open
  AND v.valid_from < datetime(read.until) AND coalesce(v.valid_to > datetime(read.since), true)
MATCH (v)-[:PIECE_OF]->(c:Claim)
RETURN read.place AS place, {row} AS row, {claim} AS claim,
  EXISTS { MATCH (c)<-[:DERIVED_FROM]-(:Claim) } AS used
ORDER BY v.vid
""")
OPEN_OF_VALUES: Final[LiteralString] = _statement("""
UNWIND $given.reads AS read
UNWIND read.held AS held
MATCH (c:Claim) USING INDEX SEEK c:Claim(tenant_id, held)
WHERE c.tenant_id = $tenant AND c.held = held
MATCH (c)<-[:PIECE_OF]-(v:Fact)
WHERE v.open IN read.open AND v.valid_from < datetime(read.until)
  AND coalesce(v.valid_to > datetime(read.since), true)
RETURN read.place AS place, {row} AS row, {claim} AS claim,
  EXISTS { MATCH (c)<-[:DERIVED_FROM]-(:Claim) } AS used
ORDER BY v.vid
""")
ROWS_OF: Final[LiteralString] = _statement("""
UNWIND $given.object_ids AS object_id
MATCH (c:Claim {tenant_id: $tenant, object_id: object_id})<-[:PIECE_OF]-(v:Fact)
WHERE v.replaced_at IS NULL
RETURN {row} AS row, {claim} AS claim ORDER BY v.vid
""")
# In order of writing, because a slot is planned anew from its claims one by one.
SLOT_CLAIMS: Final[LiteralString] = _statement("""
UNWIND $given.slot_keys AS slot_key
MATCH (s:Slot {tenant_id: $tenant, slot_key: slot_key})<-[:ASSERTS]-(c:Claim)
WHERE c.quarantine = '' AND c.erased IS NULL
RETURN {claim} AS claim ORDER BY c.tx, c.ordinal, c.n
""")
OBJECT_IDS: Final[LiteralString] = """
MATCH (c:Claim) WHERE c.tenant_id = $tenant AND c.object_id STARTS WITH $given.beginning
  AND c.object_id > $given.after
RETURN c.object_id AS object_id ORDER BY object_id LIMIT $limit
"""
OBJECTS_OF: Final[LiteralString] = """
UNWIND $given.entity_ids AS entity_id
MATCH (s:Slot) WHERE s.tenant_id = $tenant AND s.about_id = entity_id AND s.slot >= ''
MATCH (s)<-[:ASSERTS]-(c:Claim) WHERE c.erased IS NULL
RETURN c.object_id AS object_id
UNION
UNWIND $given.entity_ids AS entity_id
MATCH (c:Claim) WHERE c.tenant_id = $tenant AND c.value_entity_id = entity_id
  AND c.erased IS NULL
RETURN c.object_id AS object_id
UNION
UNWIND $given.entity_ids AS entity_id
MATCH (:Entity {tenant_id: $tenant, entity_id: entity_id})<-[:MENTIONS]-(c:Claim)
WHERE c.erased IS NULL
RETURN c.object_id AS object_id
"""
OBJECTS_WITH: Final[LiteralString] = """
CALL db.index.fulltext.queryNodes('ft_claim', $given.lucene) YIELD node
WHERE node.tenant_id = $tenant AND node.erased IS NULL
RETURN node.object_id AS object_id ORDER BY object_id
"""
# Commas around both: `user=ann` must not find `user=anna`.
LIVE_OBJECTS: Final[LiteralString] = """
MATCH (s:Slot) USING INDEX s:Slot(tenant_id, scope_id)
WHERE s.tenant_id = $tenant AND s.scope_id >= ''
  AND (',' + s.scope_id + ',') CONTAINS $given.part
MATCH (s)<-[:VERSION_OF]-(v:Fact) WHERE v.replaced_at IS NULL
RETURN DISTINCT v.object_id AS object_id ORDER BY object_id
"""
SLOT_IN_USE: Final[LiteralString] = """
MATCH (s:Slot)<-[:ASSERTS]-(:Claim) WHERE s.tenant_id = $tenant AND s.slot = $given.name
RETURN s.slot AS slot LIMIT 1
"""
ASSERTIONS: Final[LiteralString] = """
UNWIND $given.object_ids AS object_id
MATCH (c:Claim {tenant_id: $tenant, object_id: object_id})
WHERE c.erased IS NULL
RETURN properties(c) AS claim
"""
# One step only: the caller walks on, and asks for nothing twice.
DEPENDANTS: Final[LiteralString] = """
UNWIND $given.object_ids AS object_id
MATCH (c:Claim {tenant_id: $tenant, object_id: object_id})<-[:DERIVED_FROM]-(d:Claim)
RETURN DISTINCT d.object_id AS object_id
"""
EDGES: Final[LiteralString] = """
UNWIND $given.object_ids AS object_id
MATCH (c:Claim {tenant_id: $tenant, object_id: object_id})
MATCH (c)-[e:SUPERSEDES|OVERRIDES|CONFLICTS_WITH|CONFIRMS|DERIVED_FROM]-(:Claim)
WHERE e.tx <= $tx
WITH DISTINCT e
RETURN e {.*, kind: type(e), src: startNode(e).object_id, dst: endNode(e).object_id} AS edge
ORDER BY e.n
"""

# --- what an erasure empties

EMPTY_OBJECTS: Final[LiteralString] = _statement("""
UNWIND $given.object_ids AS object_id
MATCH (c:Claim {tenant_id: $tenant, object_id: object_id})
SET c.erased = true, c.update_path = '', c.origins = [],
  c.source_origin = split(c.source_origin, '://')[0] + '://'
REMOVE c:Live, c.tenant_tok, c.held, c.title, {content_columns}
WITH c MATCH (c)<-[:PIECE_OF]-(v:Fact)
REMOVE v.title, v.value
""")
EMPTY_VECTORS: Final[LiteralString] = """
UNWIND $given.object_ids AS object_id
MATCH (x:Vector) WHERE x.tenant_id = $tenant AND x.object_id = object_id AND x.encoder_id >= ''
  AND x.part >= ''
DELETE x
"""

WITHOUT_TENANT: Final[Mapping[str, str]] = {
    "COMPONENTS": "asks the server what it is and touches no node",
}
"""The statements that name no tenant, each with the reason."""

LANGUAGES: Final[Mapping[str, tuple[str, ...]]] = {}
"""The statements that exist for some versions of Cypher only; all others run in 5 and 25."""


KEEP_JOURNAL: Final[LiteralString] = """
MATCH (k:TenantClock {tenant_id: $tenant})
SET k.import_digest = $given.journal.digest, k.import_applied = $given.journal.applied,
  k.import_total = $given.journal.total
"""
"""A null takes a property away."""

REMOVE_SOME: Final[LiteralString] = removal()

START_OVER: Final[LiteralString] = """
MATCH (k:TenantClock {tenant_id: $tenant})
SET k = {tenant_id: $tenant, seq: 0, last_us: $min, next_vid: 1, vec_seq: 0, serial: 0,
  norms: 0, definitions: 0, erased_seq: 0, incarnation: randomUUID()}
"""


PUT_EVENTS: Final[LiteralString] = """
UNWIND $given.rows AS row
CREATE (e:SessionEvent {tenant_id: $tenant, session_id: row.session, seq: row.seq})
SET e.kind = row.kind, e.actor = row.actor, e.last_us = row.last_us,
  e.recorded_us = row.recorded_us, e.body = row.body, e.digest = row.digest
"""
PUT_TEXTS: Final[LiteralString] = """
UNWIND $given.rows AS row
CREATE (x:SessionText {tenant_id: $tenant, session_id: row.session, seq: row.seq, part: row.part})
SET x.text = row.text, x.digest = row.digest
"""
# The digest stays, so the chain of a session still verifies after an erasure.
EMPTY_TEXTS: Final[LiteralString] = """
UNWIND $given.rows AS row
MATCH (x:SessionText) WHERE x.tenant_id = $tenant AND x.session_id = row.session
  AND x.seq = row.seq AND x.part = row.part
REMOVE x.text
"""
HEAD: Final[LiteralString] = """
MATCH (e:SessionEvent) WHERE e.tenant_id = $tenant AND e.session_id = $given.session AND e.seq > 0
RETURN e.seq AS seq, e.digest AS digest ORDER BY e.seq DESC LIMIT 1
"""
EVENTS: Final[LiteralString] = """
MATCH (e:SessionEvent) WHERE e.tenant_id = $tenant AND e.session_id = $given.session
  AND e.seq > $after AND e.seq <= $until
RETURN e {.session_id, .seq, .kind, .actor, .last_us, .recorded_us, .body, .digest} AS event
ORDER BY e.seq
"""
TEXTS: Final[LiteralString] = """
MATCH (x:SessionText) WHERE x.tenant_id = $tenant AND x.session_id = $given.session
  AND x.seq > $after AND x.seq <= $until AND x.part >= 0
RETURN x.seq AS seq, x.text AS text, x.digest AS digest ORDER BY x.seq, x.part
"""
SUMMARIES: Final[LiteralString] = """
MATCH (e:SessionEvent) WHERE e.tenant_id = $tenant AND e.session_id >= '' AND e.seq > 0
RETURN e.session_id AS session, max(e.seq) AS seq, max(e.recorded_us) AS recorded_us
ORDER BY session
"""
PUT_SNAPSHOT: Final[LiteralString] = """
MERGE (s:SessionSnapshot {tenant_id: $tenant, session_id: $given.session, seq: $seq})
SET s.seal = $given.seal, s.body = $given.body
"""
# With the digest of the event that it stands behind: its seal covers both.
SNAPSHOTS: Final[LiteralString] = """
MATCH (s:SessionSnapshot)
WHERE s.tenant_id = $tenant AND s.session_id = $given.session AND s.seq > 0
MATCH (e:SessionEvent {tenant_id: $tenant, session_id: $given.session, seq: s.seq})
RETURN s.seq AS seq, s.body AS body, s.seal AS seal, e.digest AS digest ORDER BY s.seq DESC
"""
DROP_SNAPSHOTS: Final[LiteralString] = """
MATCH (s:SessionSnapshot)
WHERE s.tenant_id = $tenant AND s.session_id = $given.session AND s.seq > 0
WITH s ORDER BY s.seq DESC SKIP $keep
DELETE s
"""
PUT_MANIFESTS: Final[LiteralString] = _statement("""
UNWIND $given.rows AS row
OPTIONAL MATCH (old:Manifest {tenant_id: $tenant, envelope_id: row.envelope_id})
WITH row, row.n AS number, old WHERE old IS NULL
{created}
""")
# What `SET` reads of the clock it reads behind its lock, as its own new value depends on the old.
KEEP_MANIFEST: Final[LiteralString] = _statement("""
MATCH (k:TenantClock {tenant_id: $tenant})
SET k.serial = k.serial + CASE WHEN k.import_digest IS NULL THEN 1 ELSE 0 END
WITH k.serial AS number, k {.import_digest, .import_applied, .import_total} AS journal
CALL (number, journal) {
  WITH *, $given.row AS row WHERE journal.import_digest IS NULL
  MERGE (p:Pack {tenant_id: $tenant, digest: row.pack}) ON CREATE SET p.body = row.pack_body
  WITH row, number
  OPTIONAL MATCH (old:Manifest {tenant_id: $tenant, envelope_id: row.envelope_id})
  WITH row, number, old WHERE old IS NULL
  {created} }
RETURN journal
""")
"""The lock, a manifest, its pack and its number in one trip; nothing while an import goes on."""
