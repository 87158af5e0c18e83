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
# Not with the lock in one statement: a seek beside a MERGE locks the index too, and two of them
# would wait for each other.
KEEP_MANIFEST: Final[LiteralString] = statement(
    """
MATCH (k:TenantClock {tenant_id: $tenant})
SET k.serial = $given.row.n
WITH $given.row AS row
MERGE (p:Pack {tenant_id: $tenant, digest: row.pack}) ON CREATE SET p.body = row.pack_body
WITH row, row.n AS number
OPTIONAL MATCH (old:Manifest {tenant_id: $tenant, envelope_id: row.envelope_id})
WITH row, number, old WHERE old IS NULL
{created}
""",
    _FRAGMENTS,
)
"""A manifest, its pack and its number under the lock, in one trip."""
