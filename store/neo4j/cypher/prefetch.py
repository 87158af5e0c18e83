"""The Cypher of what a compile asks beforehand: several questions in one round trip.

Under the rules that `core` states. Each step of a compile has a statement of its own, as a server
works at every question of a statement, though nobody asks it. All answers come as the lists of
one record, because each record is a message that the client waits for and takes apart by itself.
"""

from __future__ import annotations

from typing import Final, LiteralString

from .candidates import OF_DERIVED as _OF_DERIVED
from .candidates import OF_KEYS as _OF_KEYS
from .candidates import OF_OBJECTS as _OF_OBJECTS
from .candidates import OF_PAIRS as _OF_PAIRS
from .candidates import OF_SUBJECTS as _OF_SUBJECTS
from .candidates import SEARCH as _SEARCH
from .candidates import SEARCH_OR_POOL as _SEARCH_OR_POOL
from .candidates import STANDING as _STANDING
from .candidates import WALK as _WALK
from .fragments import FRAGMENTS as _FRAGMENTS
from .template import at_stamp, statement

_QUEUE: Final[LiteralString] = """
UNWIND $given.held AS ask
CALL (ask) {
  MATCH (a:Action) WHERE a.tenant_id = $tenant AND a.tx_start <= $tx AND a.tx_end > $tx
    AND a.kind = ask.kind
  WITH a ORDER BY a.tx_start, a.action_id
  RETURN collect(properties(a)) AS actions, collect(a.object_id) AS object_ids }
CALL (ask, object_ids) {
  UNWIND object_ids[-ask.newest..] AS object_id
  MATCH (c:Claim {tenant_id: $tenant, object_id: object_id})<-[:PIECE_OF]-(v:ContextVersion)
  WITH ask, c, {piece} AS piece
  WHERE {in_window}
  WITH c, collect({row}) AS rows
  {described}
  RETURN {listed} }
{marks}
RETURN ask.place AS place, claims, marks, {lines}, [actions] AS note
"""
"""Open entries of the resolver queue of one kind, and the rows of the newest of their objects."""
_VALUES: Final[LiteralString] = """
CALL () {
  UNWIND $given.entity_ids AS id
  RETURN id
  UNION
{pairs}
  {value_ends}
  UNION
{keys}
  {value_ends}
  UNION
{subjects}
  AND ask.heads {value_ends} }
WITH collect(id) AS ids
{entities_of}
RETURN -1 AS place, {no_claims}, [ids, entities] AS note
"""
"""Entities, and those that the slots asked for point at, with their clusters."""
_OF_MEANT: Final[LiteralString] = """
UNWIND [ask IN $given.subjects | ask {.*, subjects: subject_ids}] AS ask
{of_subjects}
  {newest_rows}
UNION ALL
UNWIND [ask IN $given.subjects | ask {.*, subjects: subject_ids}] AS ask
{of_subjects}
  {foreign_rows}
"""
"""The slots of whom the names of an opening mean, and of the caller."""
_WALK_FROM_MEANT: Final[LiteralString] = """
UNWIND [ask IN $given.walks | ask {.place, ids: centre_ids}] AS ask
{two_hops}
"""
_PARTS: Final[dict[str, LiteralString]] = {
    "search": _SEARCH,
    "search_or_pool": _SEARCH_OR_POOL,
    "objects": _OF_OBJECTS,
    "derived": _OF_DERIVED,
    "queue": statement(_QUEUE, _FRAGMENTS),
    "subjects": _OF_SUBJECTS,
    "pairs": _OF_PAIRS,
    "keys": _OF_KEYS,
    "standing": _STANDING,
    "walk": _WALK,
    "of_meant": statement(_OF_MEANT, _FRAGMENTS),
    "walk_from_meant": statement(_WALK_FROM_MEANT, _FRAGMENTS),
    "meant": statement("{meant}", _FRAGMENTS),
    "values": statement(_VALUES, _FRAGMENTS),
    "by_request": """
{search_or_pool}
UNION ALL
{objects}
UNION ALL
{queue}
UNION ALL
{standing}
""",
    "answers": "RETURN collect([place, claims, marks, lines, note]) AS answers",
}
CANDIDATES: Final[LiteralString] = statement(
    """
CALL () {
{search}
UNION ALL
{by_request}
UNION ALL
{subjects}
UNION ALL
{walk} }
{answers}
""",
    _PARTS,
)
"""What proposes the candidates of a compile."""
_CANDIDATES_MEANT: Final[LiteralString] = """
{meant}
CALL (centre_ids, subject_ids) {
  CALL (centre_ids, subject_ids) {
{by_request}
UNION ALL
{of_meant}
UNION ALL
{walk_from_meant} }
  {answers} }
"""
OPENING: Final[LiteralString] = statement(
    """
{counters}
WITH *, last_us AS stamp
{wishing}
{named}
{candidates}
RETURN {opening}, answers, centre_ids, subject_ids, wishing_ids, wishing
""",
    {
        "counters": statement("{counters}", _FRAGMENTS),
        "named": statement("{named}", _FRAGMENTS),
        "wishing": at_stamp(statement("{wishing}", _FRAGMENTS), "stamp"),
        "candidates": at_stamp(statement(_CANDIDATES_MEANT, _PARTS), "stamp"),
        "opening": statement("{opening}", _FRAGMENTS),
    },
)
"""The opening of a reader, with the candidates of the compile that it is for as its names stand."""
FOLLOW_UP: Final[LiteralString] = statement(
    """
CALL () {
{derived}
UNION ALL
{subjects}
UNION ALL
{pairs}
UNION ALL
{keys}
UNION ALL
{values} }
{answers}
""",
    _PARTS,
)
"""What the candidates of a compile lead to."""
TWO_HOPS: Final[LiteralString] = statement(
    """
CALL () {
{walk} }
{answers}
""",
    _PARTS,
)
"""Two steps of a walk, which is all that a neighbourhood asks."""
