"""The Cypher of imports in groups: the journal on the clock, and taking an import back.

Under the rules that `core` states.
"""

from __future__ import annotations

from typing import Final, LiteralString

KEEP_JOURNAL: Final[LiteralString] = """
MATCH (k:TenantClock {tenant_id: $tenant})
SET k.import_digest = $given.journal.digest, k.import_applied = $given.journal.applied,
  k.import_total = $given.journal.total
"""
"""A null takes a property away."""

REMOVE_SOME: Final[LiteralString] = """
CALL () {
  MATCH (n:ContextVersion) WHERE n.tenant_id = $tenant AND n.vid >= 0 RETURN n
  UNION ALL
  MATCH (n:Flag) WHERE n.tenant_id = $tenant AND n.n >= 0 RETURN n
  UNION ALL
  MATCH (n:PermissionChange) WHERE n.tenant_id = $tenant AND n.n >= 0 RETURN n
  UNION ALL
  MATCH (n:Vector) WHERE n.tenant_id = $tenant AND n.object_id >= '' AND n.encoder_id >= ''
    AND n.part >= '' RETURN n
  UNION ALL
  MATCH (n:Usage) WHERE n.tenant_id = $tenant AND n.object_id >= '' RETURN n
  UNION ALL
  MATCH (n:Manifest) WHERE n.tenant_id = $tenant AND n.envelope_id >= '' RETURN n
  UNION ALL
  MATCH (n:Compiled) WHERE n.tenant_id = $tenant AND n.object_id >= '' RETURN n
  UNION ALL
  MATCH (n:Pack) WHERE n.tenant_id = $tenant AND n.digest >= '' RETURN n
  UNION ALL
  MATCH (n:Receipt) WHERE n.tenant_id = $tenant AND n.object_id >= '' RETURN n
  UNION ALL
  MATCH (n:Action) WHERE n.tenant_id = $tenant AND n.action_id >= '' RETURN n
  UNION ALL
  MATCH (n:Review) WHERE n.tenant_id = $tenant AND n.review_id >= '' AND n.version >= 0 RETURN n
  UNION ALL
  MATCH (n:Judgement) WHERE n.tenant_id = $tenant AND n.judgement_id >= '' RETURN n
  UNION ALL
  MATCH (n:SessionText) WHERE n.tenant_id = $tenant AND n.session_id >= '' AND n.seq >= 0
    AND n.part >= 0 RETURN n
  UNION ALL
  MATCH (n:SessionSnapshot) WHERE n.tenant_id = $tenant AND n.session_id >= '' AND n.seq >= 0
  RETURN n
  UNION ALL
  MATCH (n:SessionEvent) WHERE n.tenant_id = $tenant AND n.session_id >= '' AND n.seq >= 0
  RETURN n
  UNION ALL
  MATCH (n:Claim) WHERE n.tenant_id = $tenant AND n.object_id >= '' RETURN n
  UNION ALL
  MATCH (n:Slot) WHERE n.tenant_id = $tenant AND n.slot_key >= '' RETURN n
  UNION ALL
  MATCH (n:Alias) WHERE n.tenant_id = $tenant AND n.alias_key >= '' RETURN n
  UNION ALL
  MATCH (n:Identifier) WHERE n.tenant_id = $tenant AND n.identifier_key >= '' RETURN n
  UNION ALL
  MATCH (n:Norm) WHERE n.tenant_id = $tenant AND n.norm >= '' RETURN n
  UNION ALL
  MATCH (n:BlockKey) WHERE n.tenant_id = $tenant AND n.key >= '' RETURN n
  UNION ALL
  MATCH (n:Entity) WHERE n.tenant_id = $tenant AND n.entity_id >= '' RETURN n
  UNION ALL
  MATCH (n:Tombstone) WHERE n.tenant_id = $tenant AND n.erasure_id >= '' RETURN n
  UNION ALL
  MATCH (n:Definition) WHERE n.tenant_id = $tenant AND n.number >= 0 RETURN n
  UNION ALL
  MATCH (n:TxEvent) WHERE n.tenant_id = $tenant AND n.seq >= 0 RETURN n
}
WITH n LIMIT $most DETACH DELETE n
RETURN count(*) AS count
"""
"""What has most relations comes last, when they are gone. Each condition names all of a key."""

START_OVER: Final[LiteralString] = """
MATCH (k:TenantClock {tenant_id: $tenant})
SET k = {tenant_id: $tenant, seq: 0, last_us: $min, next_vid: 1, vec_seq: 0, serial: 0,
  norms: 0, definitions: 0, erased_seq: 0, incarnation: randomUUID()}
"""
