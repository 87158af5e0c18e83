"""The schema of a Neo4j database: constraints and indices, one statement at a time.

Neo4j runs one schema command a transaction and no data beside it, so a migration is a list of
statements that are each safe to repeat. Every unique key starts with the tenant, so that one
tenant's export can be imported as another. A composite index serves a query only with a
predicate on each of its properties, so no property of one is ever absent where it is asked for.

`open` stands on the open versions only (0 decides, 1 a hidden denial, 2 hidden): the index over
it holds no history. `:Live` stands on the claims with an open head, `:Standing` on the types
that a compile fetches with no query, `:Decaying` on claims with a decay rule.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, LiteralString

MIGRATIONS: Final[tuple[tuple[LiteralString, ...], ...]] = (
    (
        "CREATE CONSTRAINT u_schema IF NOT EXISTS FOR (n:SchemaVersion) REQUIRE n.name IS UNIQUE",
        "CREATE CONSTRAINT u_clock IF NOT EXISTS FOR (n:TenantClock) REQUIRE n.tenant_id IS UNIQUE",
        "CREATE CONSTRAINT u_key IF NOT EXISTS FOR (n:TenantKey)"
        " REQUIRE (n.tenant_id, n.epoch) IS UNIQUE",
        "CREATE CONSTRAINT u_event IF NOT EXISTS FOR (n:TxEvent)"
        " REQUIRE (n.tenant_id, n.seq) IS UNIQUE",
        "CREATE CONSTRAINT u_slot IF NOT EXISTS FOR (n:Slot)"
        " REQUIRE (n.tenant_id, n.slot_key) IS UNIQUE",
        "CREATE CONSTRAINT u_claim IF NOT EXISTS FOR (n:Claim)"
        " REQUIRE (n.tenant_id, n.object_id) IS UNIQUE",
        "CREATE CONSTRAINT u_version IF NOT EXISTS FOR (n:ContextVersion)"
        " REQUIRE (n.tenant_id, n.vid) IS UNIQUE",
        "CREATE CONSTRAINT u_entity IF NOT EXISTS FOR (n:Entity)"
        " REQUIRE (n.tenant_id, n.entity_id) IS UNIQUE",
        "CREATE CONSTRAINT u_alias IF NOT EXISTS FOR (n:Alias)"
        " REQUIRE (n.tenant_id, n.alias_key) IS UNIQUE",
        "CREATE CONSTRAINT u_identifier IF NOT EXISTS FOR (n:Identifier)"
        " REQUIRE (n.tenant_id, n.identifier_key) IS UNIQUE",
        "CREATE CONSTRAINT u_norm IF NOT EXISTS FOR (n:Norm)"
        " REQUIRE (n.tenant_id, n.norm) IS UNIQUE",
        "CREATE CONSTRAINT u_block IF NOT EXISTS FOR (n:BlockKey)"
        " REQUIRE (n.tenant_id, n.key) IS UNIQUE",
        "CREATE CONSTRAINT u_judgement IF NOT EXISTS FOR (n:Judgement)"
        " REQUIRE (n.tenant_id, n.judgement_id) IS UNIQUE",
        "CREATE CONSTRAINT u_review IF NOT EXISTS FOR (n:Review)"
        " REQUIRE (n.tenant_id, n.review_id, n.version) IS UNIQUE",
        "CREATE CONSTRAINT u_action IF NOT EXISTS FOR (n:Action)"
        " REQUIRE (n.tenant_id, n.action_id) IS UNIQUE",
        "CREATE CONSTRAINT u_receipt IF NOT EXISTS FOR (n:Receipt)"
        " REQUIRE (n.tenant_id, n.object_id) IS UNIQUE",
        "CREATE CONSTRAINT u_idempotency IF NOT EXISTS FOR (n:Receipt)"
        " REQUIRE (n.tenant_id, n.idempotency_key) IS UNIQUE",
        "CREATE CONSTRAINT u_tombstone IF NOT EXISTS FOR (n:Tombstone)"
        " REQUIRE (n.tenant_id, n.erasure_id) IS UNIQUE",
        "CREATE CONSTRAINT u_definition IF NOT EXISTS FOR (n:Definition)"
        " REQUIRE (n.tenant_id, n.number) IS UNIQUE",
        "CREATE CONSTRAINT u_vector IF NOT EXISTS FOR (n:Vector)"
        " REQUIRE (n.tenant_id, n.object_id, n.encoder_id, n.part) IS UNIQUE",
        "CREATE CONSTRAINT u_manifest IF NOT EXISTS FOR (n:Manifest)"
        " REQUIRE (n.tenant_id, n.envelope_id) IS UNIQUE",
        "CREATE CONSTRAINT u_compiled IF NOT EXISTS FOR (n:Compiled)"
        " REQUIRE (n.tenant_id, n.object_id) IS UNIQUE",
        "CREATE CONSTRAINT u_pack IF NOT EXISTS FOR (n:Pack)"
        " REQUIRE (n.tenant_id, n.digest) IS UNIQUE",
        "CREATE CONSTRAINT u_usage IF NOT EXISTS FOR (n:Usage)"
        " REQUIRE (n.tenant_id, n.object_id) IS UNIQUE",
        "CREATE INDEX ix_version_open IF NOT EXISTS FOR (n:ContextVersion)"
        " ON (n.tenant_id, n.slot_key, n.open, n.valid_from)",
        "CREATE INDEX ix_version_began IF NOT EXISTS FOR (n:ContextVersion)"
        " ON (n.tenant_id, n.tx_start)",
        "CREATE INDEX ix_version_ended IF NOT EXISTS FOR (n:ContextVersion)"
        " ON (n.tenant_id, n.tx_end)",
        "CREATE INDEX ix_event IF NOT EXISTS FOR (n:TxEvent) ON (n.tenant_id, n.tx)",
        "CREATE INDEX ix_slot_subject IF NOT EXISTS FOR (n:Slot)"
        " ON (n.tenant_id, n.about_id, n.slot)",
        "CREATE INDEX ix_slot_name IF NOT EXISTS FOR (n:Slot) ON (n.tenant_id, n.slot)",
        "CREATE INDEX ix_slot_scope IF NOT EXISTS FOR (n:Slot) ON (n.tenant_id, n.scope_id)",
        "CREATE INDEX ix_claim_value IF NOT EXISTS FOR (n:Claim)"
        " ON (n.tenant_id, n.value_entity_id)",
        "CREATE INDEX ix_judgement_merge IF NOT EXISTS FOR (n:Judgement)"
        " ON (n.tenant_id, n.merge_id)",
        "CREATE INDEX ix_standing IF NOT EXISTS FOR (n:Standing)"
        " ON (n.tenant_id, n.object_type, n.scope_id)",
        "CREATE INDEX ix_decaying IF NOT EXISTS FOR (n:Decaying)"
        " ON (n.tenant_id, n.half_life_days)",
        "CREATE INDEX ix_entity_type IF NOT EXISTS FOR (n:Entity) ON (n.tenant_id, n.type)",
        "CREATE INDEX ix_alias_norm IF NOT EXISTS FOR (n:Alias)"
        " ON (n.tenant_id, n.norm, n.scope_id)",
        "CREATE INDEX ix_identifier IF NOT EXISTS FOR (n:Identifier)"
        " ON (n.tenant_id, n.scheme, n.value)",
        "CREATE INDEX ix_action_slot IF NOT EXISTS FOR (n:Action)"
        " ON (n.tenant_id, n.slot_key, n.tx_end)",
        "CREATE INDEX ix_action_object IF NOT EXISTS FOR (n:Action)"
        " ON (n.tenant_id, n.object_id, n.tx_end)",
        "CREATE INDEX ix_action_time IF NOT EXISTS FOR (n:Action) ON (n.tenant_id, n.tx_start)",
        "CREATE INDEX ix_review_entity IF NOT EXISTS FOR (n:Review) ON (n.tenant_id, n.entity_id)",
        "CREATE INDEX ix_review_object IF NOT EXISTS FOR (n:Review) ON (n.tenant_id, n.object_id)",
        "CREATE INDEX ix_vector_seq IF NOT EXISTS FOR (n:Vector)"
        " ON (n.tenant_id, n.encoder_id, n.vec_seq)",
        "CREATE INDEX ix_manifest IF NOT EXISTS FOR (n:Manifest) ON (n.tenant_id, n.n)",
        "CREATE INDEX ix_tombstone IF NOT EXISTS FOR (n:Tombstone) ON (n.tenant_id, n.tx)",
        "CREATE INDEX ix_flag IF NOT EXISTS FOR (n:Flag) ON (n.tenant_id, n.n)",
        "CREATE INDEX ix_permission IF NOT EXISTS FOR (n:PermissionChange) ON (n.tenant_id, n.n)",
        "CREATE FULLTEXT INDEX ft_live IF NOT EXISTS FOR (n:Live) ON EACH [n.terms, n.tenant_tok]"
        " OPTIONS {indexConfig: {`fulltext.analyzer`: 'whitespace',"
        " `fulltext.eventually_consistent`: false}}",
        "CREATE FULLTEXT INDEX ft_claim IF NOT EXISTS FOR (n:Claim) ON EACH [n.terms, n.tenant_tok]"
        " OPTIONS {indexConfig: {`fulltext.analyzer`: 'whitespace',"
        " `fulltext.eventually_consistent`: false}}",
    ),
    (),
    (
        "CREATE CONSTRAINT u_session_event IF NOT EXISTS FOR (n:SessionEvent)"
        " REQUIRE (n.tenant_id, n.session_id, n.seq) IS UNIQUE",
        "CREATE CONSTRAINT u_session_text IF NOT EXISTS FOR (n:SessionText)"
        " REQUIRE (n.tenant_id, n.session_id, n.seq, n.part) IS UNIQUE",
    ),
    (
        "CREATE CONSTRAINT u_session_snapshot IF NOT EXISTS FOR (n:SessionSnapshot)"
        " REQUIRE (n.tenant_id, n.session_id, n.seq) IS UNIQUE",
    ),
    (),
    (),
    (
        "CREATE INDEX ix_standing_subject IF NOT EXISTS FOR (n:Standing)"
        " ON (n.tenant_id, n.scope_id, n.slot, n.subject_id)",
    ),
    (),
    (),  # claims and rows lack what nearly all would say: an older tenure cannot read them
    (),
    (
        "CREATE INDEX ix_claim_turn IF NOT EXISTS FOR (n:Claim)"
        " ON (n.tenant_id, n.scope_id, n.turn)",
    ),
)
"""The statements that lead from each schema version to the next, oldest first."""

SCHEMA_VERSION: Final = len(MIGRATIONS)
"""What this code reads and writes; a database with a higher number is refused."""

KNOW_WRITERS: Final[LiteralString] = """
MATCH (c:Claim) WHERE c.directs IS NULL
CALL (c) {
  SET c.directs = c.authority_level <= 1, c.writer_user =
    CASE WHEN (',' + c.scope_id + ',') CONTAINS (',user=' + c.actor + ',') THEN c.actor END
  SET c.unattributed = CASE WHEN c:Standing AND NOT c.directs AND c.writer_user IS NULL
    AND c.authority_level < 4 THEN true END
} IN TRANSACTIONS OF 10000 ROWS
"""
"""Who wrote an older claim, as far as its actor and level prove it; safe to repeat."""

EMPTY_PATHS: Final[LiteralString] = """
MATCH (c:Claim) WHERE c.erased = true
CALL (c) {
  SET c.update_path = '', c.origins = [],
    c.source_origin = split(c.source_origin, '://')[0] + '://'
} IN TRANSACTIONS OF 10000 ROWS
"""
"""What erasures of older versions left of addresses; safe to repeat."""

STATED_KEYS: Final[LiteralString] = """
MATCH (r:Receipt) WHERE r.idempotency_key IS NOT NULL
MATCH (k:TenantKey {tenant_id: r.tenant_id, epoch: 0})
OPTIONAL MATCH (c:Claim {tenant_id: r.tenant_id, object_id: r.object_id})
RETURN r.tenant_id AS tenant, r.object_id AS object_id, r.idempotency_key AS key,
  c.actor AS actor, k.secret AS secret
"""
PUT_DIGESTS: Final[LiteralString] = """
UNWIND $rows AS row
MATCH (r:Receipt {tenant_id: row.tenant, object_id: row.object_id})
SET r.idempotency_key = row.digest
"""

UNPLACED_SCOPES: Final[LiteralString] = """
MATCH (c:Claim) WHERE c.tenant_tok IS NOT NULL AND NOT c.tenant_tok CONTAINS ' '
RETURN DISTINCT c.tenant_id AS tenant, c.scope_id AS scope_id
"""
PUT_PLACES: Final[LiteralString] = """
MATCH (c:Claim) WHERE c.tenant_tok IS NOT NULL AND NOT c.tenant_tok CONTAINS ' '
CALL (c) {
  SET c.tenant_tok = coalesce($words[c.tenant_id][c.scope_id], c.tenant_tok)
} IN TRANSACTIONS OF 10000 ROWS
"""
"""Texts whose words in an index say the tenant alone: `$words` says by tenant and scope what they
are; safe to repeat."""

PLACE_IDENTIFIERS: Final[LiteralString] = """
MATCH (i:Identifier) WHERE i.scope_id IS NULL
CALL (i) {
  OPTIONAL MATCH (e:TxEvent) WHERE e.tenant_id = i.tenant_id AND e.tx = i.tx_start
  UNWIND coalesce(e.object_ids, []) + [''] AS object_id
  OPTIONAL MATCH (c:Claim {tenant_id: i.tenant_id, object_id: object_id})
  WHERE i.entity_id IN [c.subject_id, c.value_entity_id]
    OR EXISTS { (c)-[:MENTIONS]->(:Entity {tenant_id: i.tenant_id, entity_id: i.entity_id}) }
  WITH i, c ORDER BY c IS NULL, c.scope_id <> 'tenant', size(c.scope_id), c.n LIMIT 1
  SET i.object_id = coalesce(c.object_id, ''), i.scope_id =
    CASE WHEN i.scheme = 'user' AND (',' + c.scope_id + ',') CONTAINS (',user=' + i.value + ',')
    THEN 'user=' + i.value ELSE coalesce(c.scope_id, 'tenant') END
} IN TRANSACTIONS OF 1000 ROWS
"""
"""Who taught an older identifier, and where it is known: by the widest write of its stamp about its
entity, and in the whole tenant where none can be told; safe to repeat."""

NUMBER_TURNS: Final[LiteralString] = """
MATCH (c:Claim) WHERE c.turn IS NULL AND c.slot IS NULL AND c.object_type = 'retrieved_passage'
  AND c.layer IN ['user', 'session']
WITH c ORDER BY c.tenant_id, c.n
CALL (c) {
  WITH c, head(COLLECT {
    MATCH (t:Claim) WHERE t.tenant_id = c.tenant_id AND t.scope_id = c.scope_id AND t.turn >= 1
    RETURN t.turn ORDER BY t.tenant_id DESC, t.scope_id DESC, t.turn DESC LIMIT 1 }) AS last
  SET c.turn = coalesce(last, 0) + 1
} IN TRANSACTIONS OF 10000 ROWS
"""
"""Turns that have no number, one after the other: each takes the next one of its scope; safe to
repeat."""

DIGESTS_SINCE: Final = 5
"""The schema version from which idempotency keys are kept as digests of their callers."""

SCOPES_SINCE: Final = 8
"""The schema version from which the words of a text in an index say its scope."""

TEACHERS_SINCE: Final = 10
"""The schema version from which an identifier says who taught it."""

TURNS_SINCE: Final = 11
"""The schema version from which the turns of a scope are numbered."""

FILLS: Final[Mapping[int, tuple[LiteralString, ...]]] = {
    2: (KNOW_WRITERS,),
    DIGESTS_SINCE: (EMPTY_PATHS,),
    TEACHERS_SINCE: (PLACE_IDENTIFIERS,),
    TURNS_SINCE: (NUMBER_TURNS,),
}
"""What fills in the data of older versions, by the schema version that needs it."""

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

WITHOUT_TENANT: Final = {
    "KNOW_WRITERS": "the schema is the database's",
    "EMPTY_PATHS": "the schema is the database's",
    "STATED_KEYS": "the schema is the database's",
    "PUT_DIGESTS": "the schema is the database's",
    "UNPLACED_SCOPES": "the schema is the database's",
    "PUT_PLACES": "the schema is the database's",
    "PLACE_IDENTIFIERS": "the schema is the database's",
    "NUMBER_TURNS": "the schema is the database's",
    "READ_VERSION": "the schema is the database's",
    "SET_VERSION": "the schema is the database's",
    "AWAIT_INDEXES": "touches no node",
    "INDEX_STATES": "the schema is the database's",
}
"""The statements that name no tenant, each with the reason."""
