"""The Cypher of manifests: what was compiled, and what of it an erasure must find.

Under the rules that `core` states.
"""

from __future__ import annotations

from typing import Final, LiteralString

from .template import statement

# `Compiled` leads from an object to its envelopes: an erasure finds what repeats it.
_FRAGMENTS: Final[dict[str, LiteralString]] = {
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

PUT_MANIFESTS: Final[LiteralString] = statement(
    """
UNWIND $given.rows AS row
OPTIONAL MATCH (old:Manifest {tenant_id: $tenant, envelope_id: row.envelope_id})
WITH row, row.n AS number, old WHERE old IS NULL
{created}
""",
    _FRAGMENTS,
)
# What `SET` reads of the clock it reads behind its lock, as its own new value depends on the old.
KEEP_MANIFEST: Final[LiteralString] = statement(
    """
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
""",
    _FRAGMENTS,
)
"""The lock, a manifest, its pack and its number in one trip; nothing while an import goes on."""
