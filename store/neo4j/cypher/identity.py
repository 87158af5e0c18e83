"""The Cypher of who is who: look-ups of names, identifiers and entities.

Under the rules that `core` states.
"""

from __future__ import annotations

from typing import Final, LiteralString

from .fragments import FRAGMENTS as _FRAGMENTS
from .template import statement

KNOWN: Final[LiteralString] = statement(
    """
{named}
RETURN aliases, identifiers, entities
""",
    _FRAGMENTS,
)
"""All that names, identifiers and ids were ever known to mean: what was closed later, too."""
OPENING: Final[LiteralString] = statement(
    """
{counters}
{named}
RETURN {opening}, entities
""",
    _FRAGMENTS,
)
"""The same after the counters and keys of the tenant: what is stamped later reads as not done."""
OWN_ALIASES: Final[LiteralString] = statement(
    """
UNWIND $given.entity_ids AS entity_id
MATCH (e:Entity {tenant_id: $tenant, entity_id: entity_id})<-[:ALIAS_OF]-(a:Alias)
WHERE a.tx_start <= $tx AND a.tx_end > $tx
RETURN {alias} AS alias
""",
    _FRAGMENTS,
)
BLOCK_MATCHES: Final[LiteralString] = statement(
    """
UNWIND $given.asked AS one
CALL (one) {
  UNWIND one.weights AS hit
  MATCH (b:BlockKey {tenant_id: $tenant, key: hit[0]})<-[:HAS_KEY]-(m:Norm)
  WITH one, m.norm AS norm, sum(hit[1]) AS weight ORDER BY weight DESC, norm
  WITH one, collect([norm, weight]) AS ranked
  WITH one, ranked, size(ranked) AS total,
    CASE WHEN size(ranked) < $most THEN 0 ELSE ranked[$most - 1][1] END AS bar
  WITH one, ranked, total, size([named IN ranked WHERE named[1] > bar]) AS heavier,
    size([named IN ranked WHERE named[1] = bar]) AS tied
  WITH one, ranked, total, $most_norms = $most AND heavier >= $heavier_enough
    AND tied > $crowd * ($most - heavier) AS crowded, heavier
  WITH one, total, crowded, ranked[..CASE WHEN crowded THEN heavier ELSE $most_norms END] AS heavy
  UNWIND heavy AS named
  UNWIND one.scopes AS scope_id
  MATCH (a:Alias) WHERE a.tenant_id = $tenant AND a.norm = named[0] AND a.scope_id = scope_id
    AND a.tx_start <= $tx AND a.tx_end > $tx
  RETURN a, named[1] AS weight, total, crowded
  ORDER BY weight DESC, a.norm, a.entity_id, a.scope_id, a.type, a.ordinal LIMIT $most }
RETURN one.place AS place, {alias} AS alias, weight, total, crowded
""",
    _FRAGMENTS,
)
# A person counts once, however many names end so: by the entity that all of them belong to.
BEARERS: Final[LiteralString] = """
UNWIND $given.asked AS one
CALL (one) {
  MATCH (b:BlockKey {tenant_id: $tenant, key: one.key})<-[:HAS_KEY]-(m:Norm)
  WHERE m.norm ENDS WITH one.ending
  UNWIND one.scopes AS scope_id
  MATCH (a:Alias) WHERE a.tenant_id = $tenant AND a.norm = m.norm AND a.scope_id = scope_id
    AND a.type IN ['person', 'unknown'] AND a.tx_start <= $tx AND a.tx_end > $tx
  MATCH (e:Entity {tenant_id: $tenant, entity_id: a.entity_id})
  OPTIONAL MATCH (e)-[same:SAME_AS]->(c:Entity) WHERE same.tx_end = $inf
  WITH DISTINCT coalesce(c.entity_id, e.entity_id) AS person LIMIT $most
  RETURN count(person) AS bearers }
RETURN one.place AS place, bearers
"""
