"""The Cypher of the option `vector_index`: the server's own index over the vectors.

`:Near` stands on the vectors of contents that carry an `embedding`, the same numbers as the
bytes beside them. A `VectorFeed` says up to which vector number a tenant's are in. Which text
serves depends on the server: from 2026.02 on the index filters by tenant and encoder itself,
before that the procedure proposes from all tenants and the filter comes after.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, LiteralString

from .template import statement

_FRAGMENTS: Final[Mapping[str, LiteralString]] = {
    "parts": """
MATCH (v:Vector) WHERE v.tenant_id = $tenant AND v.object_id = object_id
  AND v.encoder_id = $given.encoder_id AND v.part >= ''
WITH v
MATCH (c:Claim {tenant_id: $tenant, object_id: v.object_id})
RETURN v.object_id AS object_id, v.part AS part, v.vec16 AS vec16, c.scope_id AS scope_id
"""
}

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

NEAREST: Final[LiteralString] = statement(
    """
CALL db.index.vector.queryNodes('vx_near', $k, $given.near) YIELD node, score
WHERE node.tenant_id = $tenant AND node.encoder_id = $given.encoder_id
WITH DISTINCT node.object_id AS object_id
{parts}
""",
    _FRAGMENTS,
)
NEAR_FILTERED: Final[LiteralString] = statement(
    """
MATCH (x:Near)
SEARCH x IN (VECTOR INDEX vx_near_filtered FOR $given.near
  WHERE x.tenant_id = $tenant AND x.encoder_id = $given.encoder_id LIMIT $k) SCORE AS score
WITH DISTINCT x.object_id AS object_id
{parts}
""",
    _FRAGMENTS,
)
PARTS_OF: Final[LiteralString] = statement(
    """
UNWIND $given.object_ids AS object_id
{parts}
""",
    _FRAGMENTS,
)

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
