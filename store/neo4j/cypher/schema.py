"""The schema of a Neo4j database, and the statements of the doctor.

Neo4j runs one schema command a transaction and no data beside it, so a migration is a list of
statements that are each safe to repeat. Every unique key starts with the tenant, so that one
tenant's export can be imported as another. A composite index serves a query only with a
predicate on each of its properties, so no property of one is ever absent where it is asked for.

`open` stands on the open versions only (0 decides, 1 a hidden denial, 2 hidden): the index over
it holds no history. `:Live` stands on the claims with an open head, `:Standing` on the types
that a compile fetches with no query, `:Decaying` on claims with a decay rule. `held` leads a slot
of many values to the claims of one of them.

Each statement of `MUST_BE_EMPTY` finds what breaks its sentence. These look at all of a tenant,
so they scan; nothing else does.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Final, LiteralString

from .questions import FRAGMENTS as _QUESTIONS
from .template import index, statement, unique

MIGRATIONS: Final[tuple[tuple[LiteralString, ...], ...]] = (
    (
        "CREATE CONSTRAINT u_schema IF NOT EXISTS FOR (n:SchemaVersion) REQUIRE n.name IS UNIQUE",
        unique("u_clock", "TenantClock"),
        unique("u_key", "TenantKey", "epoch"),
        unique("u_event", "TxEvent", "seq"),
        unique("u_slot", "Slot", "slot_key"),
        unique("u_claim", "Claim", "object_id"),
        unique("u_entity", "Entity", "entity_id"),
        unique("u_alias", "Alias", "alias_key"),
        unique("u_identifier", "Identifier", "identifier_key"),
        unique("u_norm", "Norm", "norm"),
        unique("u_block", "BlockKey", "key"),
        unique("u_judgement", "Judgement", "judgement_id"),
        unique("u_review", "Review", "review_id", "version"),
        unique("u_action", "Action", "action_id"),
        unique("u_receipt", "Receipt", "object_id"),
        unique("u_idempotency", "Receipt", "idempotency_key"),
        unique("u_tombstone", "Tombstone", "erasure_id"),
        unique("u_definition", "Definition", "number"),
        unique("u_vector", "Vector", "object_id", "encoder_id", "part"),
        unique("u_manifest", "Manifest", "envelope_id"),
        unique("u_compiled", "Compiled", "object_id"),
        unique("u_pack", "Pack", "digest"),
        unique("u_usage", "Usage", "object_id"),
        index("ix_event", "TxEvent", "tx"),
        index("ix_slot_subject", "Slot", "about_id", "slot"),
        index("ix_slot_name", "Slot", "slot"),
        index("ix_slot_scope", "Slot", "scope_id"),
        index("ix_claim_value", "Claim", "value_entity_id"),
        index("ix_judgement_merge", "Judgement", "merge_id"),
        index("ix_standing", "Standing", "object_type", "scope_id"),
        index("ix_decaying", "Decaying", "half_life_days"),
        index("ix_entity_type", "Entity", "type"),
        index("ix_alias_norm", "Alias", "norm", "scope_id"),
        index("ix_identifier", "Identifier", "scheme", "value"),
        index("ix_action_slot", "Action", "slot_key", "tx_end"),
        index("ix_action_object", "Action", "object_id", "tx_end"),
        index("ix_action_time", "Action", "tx_start"),
        index("ix_review_entity", "Review", "entity_id"),
        index("ix_review_object", "Review", "object_id"),
        index("ix_vector_seq", "Vector", "encoder_id", "vec_seq"),
        index("ix_manifest", "Manifest", "n"),
        index("ix_tombstone", "Tombstone", "tx"),
        index("ix_flag", "Flag", "n"),
        index("ix_permission", "PermissionChange", "n"),
        "CREATE FULLTEXT INDEX ft_live IF NOT EXISTS FOR (n:Live) ON EACH [n.terms, n.tenant_tok]"
        " OPTIONS {indexConfig: {`fulltext.analyzer`: 'whitespace',"
        " `fulltext.eventually_consistent`: false}}",
        "CREATE FULLTEXT INDEX ft_claim IF NOT EXISTS FOR (n:Claim) ON EACH [n.terms, n.tenant_tok]"
        " OPTIONS {indexConfig: {`fulltext.analyzer`: 'whitespace',"
        " `fulltext.eventually_consistent`: false}}",
        unique("u_session_event", "SessionEvent", "session_id", "seq"),
        unique("u_session_text", "SessionText", "session_id", "seq", "part"),
        unique("u_session_snapshot", "SessionSnapshot", "session_id", "seq"),
        index("ix_standing_subject", "Standing", "scope_id", "slot", "subject_id"),
        index("ix_claim_turn", "Claim", "scope_id", "turn"),
        index("ix_claim_held", "Claim", "held"),
    ),
    (
        unique("u_fact", "Fact", "vid"),
        index("ix_fact_open", "Fact", "slot_key", "open", "valid_from"),
        index("ix_fact_recorded", "Fact", "recorded_at"),
        index("ix_fact_replaced", "Fact", "replaced_at"),
        index("ix_entity_name", "Entity", "name"),
    ),
    (index("ix_review_state", "Review", "state", "newest"),),
    (),
)
"""The statements of `FIRST_VERSION`, and those that lead from each version to the next."""

FIRST_VERSION: Final = 12
"""A database of an older version comes over by export and import."""

SCHEMA_VERSION: Final = sum((FIRST_VERSION, len(MIGRATIONS[1:])))
"""What this code reads and writes; a database with a higher number is refused."""

GRAPH_SINCE: Final = 13
"""The schema version from which facts have native times, captions and relationships of their own.

Before it a fact was a `ContextVersion` with `ABOUT` to its entities.
"""

TERMS_SINCE: Final = 15
"""The schema version from which German plurals and compounds are stemmed."""

STORED_TERMS: Final[LiteralString] = """
MATCH (c:Claim) WHERE c.terms IS NOT NULL RETURN elementId(c) AS place, c.terms AS terms
"""
SET_TERMS: Final[LiteralString] = """
UNWIND $rows AS row MATCH (c:Claim) WHERE elementId(c) = row.place SET c.terms = row.terms
"""

# While facts are moved, a process that opened the database before reads and writes nothing.
HOLD_TENANTS: Final[LiteralString] = """
MATCH (k:TenantClock) WHERE k.import_digest IS NULL
SET k.import_digest = 'schema', k.import_applied = 0, k.import_total = 0
"""
FREE_TENANTS: Final[LiteralString] = """
MATCH (k:TenantClock) WHERE k.import_digest = 'schema'
REMOVE k.import_digest, k.import_applied, k.import_total
"""
# The rows of one transaction are whole: what was moved has no old label, what was not has all of
# the old shape. So an interrupted move goes on where it stopped.
_MOVES: Final[Mapping[str, LiteralString]] = {
    **_QUESTIONS,
    "rows": "IN TRANSACTIONS OF 5000 ROWS",
    "seconds": "(us - (us % 1000000 + 1000000) % 1000000) / 1000000",
    "nanoseconds": "(us % 1000000 + 1000000) % 1000000 * 1000",
    "native": "datetime({epochSeconds: {seconds}, nanosecond: {nanoseconds}})",
}
_move: Final = partial(statement, fragments=_MOVES)

MOVE_CLAIMS: Final[LiteralString] = _move("""
MATCH (c:Claim) WHERE c.recorded_at IS NULL
CALL (c) {
  WITH c, c.tx AS us
  SET c.recorded_at = {native} } {rows}
""")
MOVE_FACTS: Final[LiteralString] = _move("""
MATCH (v:ContextVersion)
CALL (v) {
  MATCH (v)-[:PIECE_OF]->(c:Claim) MATCH (v)-[:VERSION_OF]->(s:Slot)
  WITH v, c, s, [us IN [v.valid_from, v.valid_until, v.tx_start, v.tx_end] |
    CASE WHEN us < $inf THEN {native} END] AS native
  SET v:Fact, v.slot = s.slot, v.valid_from = native[0], v.valid_to = native[1],
    v.recorded_at = native[2], v.replaced_at = native[3]
  REMOVE v:ContextVersion, v.valid_until, v.tx_start, v.tx_end
  WITH v, c
  {caption}
  WITH v, c
  OPTIONAL MATCH (v)-[a:ABOUT {role: 'subject'}]->(e:Entity)
  OPTIONAL MATCH (v)-[b:ABOUT {role: 'value'}]->(o:Entity)
  FOREACH (_ IN CASE WHEN e IS NULL THEN [] ELSE [1] END |
    CREATE (e)-[:HAS_FACT {{times}}]->(v))
  FOREACH (_ IN CASE WHEN e IS NULL OR o IS NULL OR v.deny THEN [] ELSE [1] END |
    CREATE (e)-[:FACT {relation}]->(o))
  FOREACH (_ IN CASE WHEN e IS NULL OR o IS NULL OR NOT v.deny THEN [] ELSE [1] END |
    CREATE (e)-[:DENIED {relation}]->(o))
  DELETE a, b } {rows}
""")
MOVE_EDGES: Final[LiteralString] = _move("""
MATCH (:Claim)-[e:SUPERSEDES|OVERRIDES|CONFLICTS_WITH|CONFIRMS|DERIVED_FROM]->(:Claim)
WHERE e.recorded_at IS NULL
CALL (e) {
  WITH e, e.tx AS us
  SET e.recorded_at = {native} } {rows}
""")
MOVE_JUDGEMENTS: Final[LiteralString] = _move("""
MATCH (j:Judgement) WHERE j.recorded_at IS NULL
CALL (j) {
  WITH j, j.tx_start AS us
  SET j.recorded_at = {native} } {rows}
""")
MOVE_SAME: Final[LiteralString] = _move("""
MATCH (:Entity)-[e:SAME_AS]->(:Entity) WHERE e.tx_end IS NOT NULL
CALL (e) {
  WITH e, [us IN [e.tx_start, e.tx_end] |
    CASE WHEN us < $inf THEN {native} END] AS native
  SET e.recorded_at = native[0], e.replaced_at = native[1]
  REMOVE e.tx_start, e.tx_end } {rows}
""")
MOVE_CAPTIONS: Final[LiteralString] = _move("""
CALL () {
  MATCH (n:Slot) WHERE n.name IS NULL
  RETURN n, CASE n.slot WHEN '' THEN 'text' ELSE n.slot END AS caption
  UNION ALL
  MATCH (n:Review) WHERE n.title IS NULL
  RETURN n, n.reason + CASE n.mention WHEN '' THEN '' ELSE ': ' + n.mention END AS caption
  UNION ALL
  MATCH (n:Action) WHERE n.title IS NULL
  RETURN n, replace(n.kind, '_', ' ') AS caption }
CALL (n, caption) {
  FOREACH (_ IN CASE WHEN n:Slot THEN [1] ELSE [] END | SET n.name = caption)
  FOREACH (_ IN CASE WHEN n:Slot THEN [] ELSE [1] END | SET n.title = caption) } {rows}
""")
MOVES: Final = (
    MOVE_CLAIMS,
    MOVE_FACTS,
    MOVE_EDGES,
    MOVE_JUDGEMENTS,
    MOVE_SAME,
    MOVE_CAPTIONS,
)
"""What brings an older graph to this shape, each safe to repeat."""

OLD_INDICES: Final[tuple[LiteralString, ...]] = (
    "DROP CONSTRAINT u_version IF EXISTS",
    "DROP INDEX ix_version_open IF EXISTS",
    "DROP INDEX ix_version_began IF EXISTS",
    "DROP INDEX ix_version_ended IF EXISTS",
)
"""The constraints and indices of the older graph."""

LOCK_VERSION: Final[LiteralString] = """
MERGE (n:SchemaVersion {name: 'tenure'}) SET n.number = coalesce(n.number, 0)
RETURN n.number AS number
"""
"""Waits until no other process moves a graph."""

READ_VERSION: Final[LiteralString] = """
MATCH (n:SchemaVersion {name: 'tenure'}) RETURN n.number AS number
"""

SET_VERSION: Final[LiteralString] = """
MERGE (n:SchemaVersion {name: 'tenure'}) SET n.number = $number
"""

AWAIT_INDEXES: Final[LiteralString] = "CALL db.awaitIndexes(300)"

INDEX_STATES: Final[LiteralString] = """
SHOW INDEXES YIELD name, state RETURN name, state ORDER BY name
"""
"""Every index; a uniqueness constraint has one of its own name."""

WITHOUT_TENANT: Final = dict.fromkeys(
    (
        *("READ_VERSION", "SET_VERSION", "LOCK_VERSION", "HOLD_TENANTS", "FREE_TENANTS"),
        *("MOVE_CLAIMS", "MOVE_FACTS", "MOVE_EDGES", "MOVE_JUDGEMENTS", "MOVE_SAME"),
        *("MOVE_CAPTIONS", "AWAIT_INDEXES", "INDEX_STATES", "STORED_TERMS", "SET_TERMS"),
    ),
    "the schema is the database's",
)
"""The statements that name no tenant, each with the reason."""


_FRAGMENTS: Final[Mapping[str, LiteralString]] = {
    # Without a stated index a planner may begin at what it has few of, in every tenant.
    "rows": "MATCH (v:Fact) USING INDEX v:Fact(tenant_id, vid)"
    " WHERE v.tenant_id = $tenant AND v.vid >= 0",
    "times": """
v.valid_from.epochSeconds * 1000000 + v.valid_from.microsecond AS valid_from,
  coalesce(v.valid_to.epochSeconds * 1000000 + v.valid_to.microsecond, $inf) AS valid_until,
  v.recorded_at.epochSeconds * 1000000 + v.recorded_at.microsecond AS tx_start,
  coalesce(v.replaced_at.epochSeconds * 1000000 + v.replaced_at.microsecond, $inf) AS tx_end
""",
    "bad_rows": "RETURN v.vid AS bad ORDER BY bad LIMIT $shown",
    "claims": "MATCH (c:Claim) USING INDEX c:Claim(tenant_id, object_id)"
    " WHERE c.tenant_id = $tenant AND c.object_id >= ''",
    "bad_claims": "RETURN c.object_id AS bad ORDER BY bad LIMIT $shown",
    "entities": "MATCH (e:Entity) USING INDEX e:Entity(tenant_id, entity_id)"
    " WHERE e.tenant_id = $tenant AND e.entity_id >= ''",
    "bad_entities": "RETURN e.entity_id AS bad ORDER BY bad LIMIT $shown",
    "erased_objects": """
MATCH (t:Tombstone) WHERE t.tenant_id = $tenant AND t.erasure_id >= ''
UNWIND t.object_ids AS object_id
""",
}
_statement: Final = partial(statement, fragments=_FRAGMENTS)

STORED_VALUES: Final[LiteralString] = _statement("""
{claims} AND c.value_json IS NOT NULL
RETURN c.object_id AS object_id, c.slot AS slot, c.op AS op, c.value_key AS value_key,
  c.value_json AS value_json, c.text AS text
""")
STORED_NAMES: Final[LiteralString] = """
MATCH (a:Alias) WHERE a.tenant_id = $tenant AND a.alias_key >= ''
RETURN a.entity_id AS entity_id, a.surface AS surface, a.norm AS norm
"""

MUST_BE_EMPTY: Final[Mapping[str, LiteralString]] = {
    "a row has not exactly one slot and one claim": _statement("""
{rows} AND (COUNT { (v)-[:VERSION_OF]->(:Slot) } <> 1
  OR COUNT { (v)-[:PIECE_OF]->(:Claim) } <> 1)
{bad_rows}
"""),
    "a row lies in another slot than its claim": _statement("""
{rows}
MATCH (v)-[:VERSION_OF]->(s:Slot) MATCH (v)-[:PIECE_OF]->(c:Claim)
WHERE v.slot_key <> s.slot_key OR c.slot_key <> s.slot_key OR v.object_id <> c.object_id
{bad_rows}
"""),
    "a row is marked as a denial and is none, or the reverse": _statement("""
{rows}
MATCH (v)-[:PIECE_OF]->(c:Claim) WHERE v.deny <> (c.op = 'deny')
{bad_rows}
"""),
    "an interval is empty or reversed": _statement("""
{rows} AND (v.valid_from >= v.valid_to OR v.recorded_at >= v.replaced_at)
{bad_rows}
"""),
    "a row has a status that does not exist": _statement("""
{rows} AND NOT v.status IN ['clean', 'disputed', 'overridden', 'quarantined']
{bad_rows}
"""),
    "a quarantined row decides": _statement("""
{rows} AND v.status = 'quarantined' AND v.head
{bad_rows}
"""),
    "a row is marked open and is not, or the reverse": _statement("""
{rows} AND coalesce(v.open, -1) <> CASE
  WHEN (v.replaced_at IS NOT NULL OR v.status = 'quarantined') THEN -1
  WHEN v.head THEN 0 WHEN v.deny THEN 1 ELSE 2 END
{bad_rows}
"""),
    "a row was believed before its claim was written": _statement("""
{rows}
MATCH (v)-[:PIECE_OF]->(c:Claim) WHERE v.recorded_at < c.recorded_at
{bad_rows}
"""),
    "a stamp of a row stands in no event": _statement("""
{rows}
UNWIND [v.recorded_at, v.replaced_at] AS time
WITH DISTINCT time.epochSeconds * 1000000 + time.microsecond AS stamp
WHERE stamp IS NOT NULL
  AND NOT EXISTS { MATCH (t:TxEvent) WHERE t.tenant_id = $tenant AND t.tx = stamp }
RETURN stamp AS bad ORDER BY bad LIMIT $shown
"""),
    "a version number is not below the next one": _statement("""
MATCH (k:TenantClock {tenant_id: $tenant})
{rows} AND v.vid >= k.next_vid
{bad_rows}
"""),
    "a vector number is above the counter": """
MATCH (k:TenantClock {tenant_id: $tenant})
MATCH (x:Vector) WHERE x.tenant_id = $tenant AND x.encoder_id >= '' AND x.vec_seq > k.vec_seq
RETURN x.vec_seq AS bad ORDER BY bad LIMIT $shown
""",
    "the definitions have a gap": """
MATCH (k:TenantClock {tenant_id: $tenant})
OPTIONAL MATCH (d:Definition) WHERE d.tenant_id = $tenant AND d.number > 0
WITH k.definitions AS stated, count(d) AS held, coalesce(max(d.number), 0) AS top
WHERE stated <> held OR held <> top
RETURN top AS bad
""",
    "a claim has no permissions": _statement("""
{claims} AND (c.class_rank IS NULL OR c.deny IS NULL OR size(coalesce(c.allow, [])) = 0)
{bad_claims}
"""),
    "a claim and its slot name different scopes": _statement("""
{claims}
MATCH (c)-[:ASSERTS]->(s:Slot) WHERE c.scope_id <> s.scope_id
{bad_claims}
"""),
    "a relationship to an entity differs from its row": _statement("""
{rows}
MATCH (v)-[:PIECE_OF]->(c:Claim)
OPTIONAL MATCH (e:Entity)-[h:HAS_FACT]->(v)
WITH v, c, collect(h) AS links, collect(e.entity_id) AS subjects
CALL (v, c) {
  MATCH (e:Entity {tenant_id: $tenant, entity_id: c.subject_id})-[f:FACT|DENIED]->(o:Entity)
  WHERE f.vid = v.vid
  RETURN collect(f) AS relations, collect(o.entity_id) AS values }
WITH v, links + relations AS copies, relations,
  subjects = [one IN [c.subject_id] WHERE one IS NOT NULL]
    AND values = [one IN [c.value_entity_id] WHERE one IS NOT NULL] AS right
WHERE NOT right OR any(f IN relations WHERE f.head <> v.head OR f.status <> v.status
    OR (type(f) = 'DENIED') <> v.deny)
  OR any(a IN copies WHERE a.valid_from <> v.valid_from OR a.recorded_at <> v.recorded_at
    OR coalesce(a.valid_to <> v.valid_to, a.valid_to IS NOT NULL OR v.valid_to IS NOT NULL)
    OR coalesce(a.replaced_at <> v.replaced_at,
      a.replaced_at IS NOT NULL OR v.replaced_at IS NOT NULL))
{bad_rows}
"""),
    "content is gone and no tombstone says why": _statement("""
{claims} AND (c.erased IS NOT NULL OR c.value_json IS NULL)
  AND NOT EXISTS { MATCH (t:Tombstone) WHERE t.tenant_id = $tenant AND t.erasure_id >= ''
    AND c.object_id IN t.object_ids }
{bad_claims}
"""),
    "an erased object still has text": _statement("""
{erased_objects}
MATCH (c:Claim {tenant_id: $tenant, object_id: object_id})
WHERE c.erased IS NULL OR c.value_json IS NOT NULL OR c.terms IS NOT NULL
  OR c.held IS NOT NULL OR c.title IS NOT NULL OR c:Live
  OR EXISTS { MATCH (c)<-[:PIECE_OF]-(v:Fact) WHERE v.title IS NOT NULL OR v.value IS NOT NULL }
RETURN object_id AS bad ORDER BY bad LIMIT $shown
"""),
    "a slot of many values does not find a claim by its value": _statement("""
{claims} AND c.erased IS NULL
MATCH (c)-[:ASSERTS]->(s:Slot) WHERE s.many <> (c.held IS NOT NULL)
{bad_claims}
"""),
    "a fact has the shape of an older version (run: tenure migrate)": """
MATCH (v:ContextVersion) WHERE v.tenant_id = $tenant
RETURN v.vid AS bad ORDER BY bad LIMIT $shown
""",
    "a mention lies outside its text": _statement("""
{claims} AND c.text IS NOT NULL
MATCH (c)-[m:MENTIONS]->(:Entity) WHERE m.until > size(c.text)
{bad_claims}
"""),
    "an erased object still has a receipt": _statement("""
{erased_objects}
MATCH (r:Receipt {tenant_id: $tenant, object_id: object_id}) WHERE r.body <> ''
RETURN object_id AS bad ORDER BY bad LIMIT $shown
"""),
    "an erased object still has a manifest": _statement("""
{erased_objects}
MATCH (:Compiled {tenant_id: $tenant, object_id: object_id})<-[:COMPILED]-(m:Manifest)
WHERE m.body <> ''
RETURN object_id AS bad ORDER BY bad LIMIT $shown
"""),
    "an erased object still has a vector": _statement("""
{erased_objects}
MATCH (x:Vector) WHERE x.tenant_id = $tenant AND x.object_id = object_id AND x.encoder_id >= ''
  AND x.part >= ''
RETURN object_id AS bad ORDER BY bad LIMIT $shown
"""),
    "an erased entity still has a name": _statement("""
{entities} AND e.state = 'erased' AND (e.name <> '' OR EXISTS { (e)<-[:ALIAS_OF]-(:Alias) }
  OR EXISTS { (e)<-[:IDENTIFIES]-(:Identifier) })
{bad_entities}
"""),
    "an erased claim has an open row": _statement("""
{rows} AND v.replaced_at IS NULL
MATCH (v)-[:PIECE_OF]->(c:Claim) WHERE c.erased IS NOT NULL
{bad_rows}
"""),
    "a live mark is missing or stands where no open head is": _statement("""
{claims} AND c:Live <> (c.erased IS NULL
  AND EXISTS { MATCH (c)<-[:PIECE_OF]-(v:Fact) WHERE v.replaced_at IS NULL AND v.head })
{bad_claims}
"""),
    "a count of blocking keys is wrong": """
MATCH (k:TenantClock {tenant_id: $tenant})
OPTIONAL MATCH (m:Norm) WHERE m.tenant_id = $tenant AND m.norm >= ''
WITH k.norms AS stated, count(m) AS held WHERE stated <> held
RETURN held AS bad
""",
    "a norm with blocking keys names no alias": """
MATCH (m:Norm) WHERE m.tenant_id = $tenant AND m.norm >= ''
  AND NOT EXISTS { MATCH (a:Alias) WHERE a.tenant_id = $tenant AND a.norm = m.norm
    AND a.scope_id >= '' }
RETURN m.n AS bad ORDER BY bad LIMIT $shown
""",
    "canonical ids form no star": _statement("""
{entities}
MATCH (e)-[r:SAME_AS]->(c:Entity) WHERE r.replaced_at IS NULL
  AND (COUNT { MATCH (e)-[x:SAME_AS]->(:Entity) WHERE x.replaced_at IS NULL } > 1
    OR EXISTS { MATCH (c)-[y:SAME_AS]->(:Entity) WHERE y.replaced_at IS NULL }
    OR c.tenant_id <> $tenant)
{bad_entities}
"""),
    "a stamp of a tombstone stands in no event": """
MATCH (t:Tombstone) WHERE t.tenant_id = $tenant AND t.erasure_id >= ''
  AND NOT EXISTS { MATCH (e:TxEvent) WHERE e.tenant_id = $tenant AND e.tx = t.tx }
RETURN t.erasure_id AS bad ORDER BY bad LIMIT $shown
""",
}
"""Statements by the sentence that holds when they find nothing."""

CLEAN_HEADS: Final[LiteralString] = _statement("""
{rows} AND v.head AND v.status = 'clean' AND NOT v.deny
MATCH (v)-[:VERSION_OF]->(s:Slot) MATCH (v)-[:PIECE_OF]->(c:Claim)
RETURN CASE WHEN s.many THEN s.slot_key + ' ' + coalesce(c.value_key, c.object_id)
  ELSE s.slot_key END AS place, {times} ORDER BY place
""")
"""Rows that exclude each other: of a slot, of one value where it holds several."""

ROWS_OF_CLAIMS: Final[LiteralString] = _statement("""
{rows}
RETURN v.object_id AS place, {times} ORDER BY place
""")
OPEN_JUDGEMENTS: Final[LiteralString] = """
MATCH (j:Judgement) WHERE j.tenant_id = $tenant AND j.judgement_id >= '' AND j.tx_end = $inf
RETURN properties(j) AS record ORDER BY j.judgement_id
"""
