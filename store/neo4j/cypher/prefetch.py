"""The Cypher of what a compile asks beforehand: several questions in one round trip.

Under the rules that `core` states. Each step of a compile has a statement of its own, as a server
works at every question of a statement, though nobody asks it. All answers come as the lists of
one record, because each record is a message that the client waits for and takes apart by itself.
"""

from __future__ import annotations

from typing import Final, LiteralString

from .questions import QUESTIONS as _QUESTIONS
from .template import at_stamp, statement

CANDIDATES: Final[LiteralString] = statement(
    """
CALL () {
  CALL () {
{by_request}
UNION ALL
{of_subjects}
UNION ALL
{walk} }
  {gathered}
  RETURN {listed}
UNION ALL
{search}
UNION ALL
{search_or_pool} }
{together}
""",
    _QUESTIONS,
)
"""What proposes the candidates of a compile."""
_CANDIDATES_MEANT: Final[LiteralString] = """
{meant}
CALL (centre_ids, subject_ids) {
  {text_hits}
  CALL (centre_ids, subject_ids, leading_ids) {
    CALL (centre_ids, subject_ids, leading_ids) {
{by_request}
UNION ALL
{of_meant}
UNION ALL
{walk_from_meant} }
    {gathered}
    WITH {listed}
    RETURN collect([place, claims, known, marked, note]) AS other_lists }
  WITH *, text_hits + other_lists AS lists
  {rivals}
  WITH *, lists + rival_lists AS all_lists
  {linked}
  CALL (all_lists) {
    UNWIND all_lists AS answer
    WITH answer[0] AS place, answer[1] AS claims, answer[2] AS known, answer[3] AS marked,
      answer[4] AS note
    {together} }
  RETURN answers, leading_ids, ids AS linked_ids, entities AS linked }
"""
OPENING: Final[LiteralString] = statement(
    """
{counters}
WITH *, last_us AS stamp
{wishing}
{bearers}
{candidates}
RETURN {opening}, bearers AS entities, centre_ids, subject_ids, wishing_ids, wishing,
  answers, leading_ids, linked_ids, linked
""",
    {
        "counters": statement("{counters}", _QUESTIONS),
        "bearers": at_stamp(statement("{bearers}", _QUESTIONS), "stamp"),
        "wishing": at_stamp(statement("{wishing}", _QUESTIONS), "stamp"),
        "candidates": at_stamp(statement(_CANDIDATES_MEANT, _QUESTIONS), "stamp"),
        "opening": statement("{opening}", _QUESTIONS),
    },
)
"""The opening of a reader, with the candidates of the compile that it is for as its names stand,
and with what these lead to where they are facts."""
FOLLOW_UP: Final[LiteralString] = statement(
    """
CALL () {
{of_derived}
UNION ALL
{of_subjects}
UNION ALL
{of_pairs}
UNION ALL
{of_keys} }
WITH collect([place, c, row, note]) AS hits
WITH hits, $given.entity_ids + [hit IN hits WHERE hit[1].value_entity_id IS NOT NULL
  AND hit[1].scope_id IN $given.scopes | hit[1].value_entity_id] AS ids
{entities_of}
CALL (hits, ids, entities) {
  UNWIND hits AS hit
  WITH hit[0] AS place, hit[1] AS c, hit[2] AS row, hit[3] AS note
  {gathered}
  RETURN {listed}
UNION ALL
  RETURN -1 AS place, [] AS claims, [] AS known, [] AS marked, [ids, entities] AS note }
{together}
""",
    _QUESTIONS,
)
"""What the candidates of a compile lead to, and the entities that these and their values are."""
TWO_HOPS: Final[LiteralString] = statement(
    """
CALL () {
{walk} }
{gathered}
WITH {listed}
{together}
""",
    _QUESTIONS,
)
"""Two steps of a walk, which is all that a neighbourhood asks."""
