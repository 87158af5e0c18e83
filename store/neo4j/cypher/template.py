"""How the texts of statements are made: from the columns of a claim, and from shared fragments.

The one place where a text is put together: from names of columns and of fragments, never from a
value. A statement is written as a whole, and what several share stands in it by its name,
`{in_window}` for the fragment of that name. Cypher itself has no word alone in braces, so a text
with its names can be read, and a name is never taken for a map.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final, LiteralString

from ...port import claim_columns as table

_CORE_COLUMNS: Final = tuple(
    column
    for column in (*table.CLAIM_COLUMNS, *table.SECRET_COLUMNS)
    if column.attribute.startswith("claim.")
)
CORE_NAMES: Final = table.names_of(_CORE_COLUMNS)
LINE_NAMES: Final = (
    *table.names_of(table.CLAIM_COLUMNS),
    "signature",
    "erased",
    "turn",
    *table.names_of(table.SECRET_COLUMNS),
)
"""The order in which a read lists a claim; one that is hidden ends before its secret columns."""

CORE: Final[LiteralString] = "c {" + table.column_list(_CORE_COLUMNS, "") + "}"
OPEN_LINE: Final[LiteralString] = (
    "[" + table.column_list(table.CLAIM_COLUMNS, "p") + ", p.signature, p.erased, p.turn]"
)
SECRET_LINE: Final[LiteralString] = "[" + table.column_list(table.SECRET_COLUMNS, "p") + "]"
"""A line, from the map of a claim's properties.

The server keeps properties as a chain and walks it from its start for each one that is named:
forty columns of a node cost it ten times what one map of them all costs.
"""
CONTENT_COLUMNS: Final[LiteralString] = table.column_list(
    (column for column in table.SECRET_COLUMNS if column.table == "d"), "c"
)
"""What an erasure removes."""


_NAME: Final = re.compile(r"\{(\w+)\}")


def statement(template: LiteralString, fragments: Mapping[str, LiteralString]) -> LiteralString:
    """A text with each name replaced by its fragment, which may have names itself.

    Raises:
        KeyError: a name without a fragment.
    """
    text: str = template
    for name in dict.fromkeys(_NAME.findall(template)):
        # `str.replace`, not `re.sub`: of literal texts it is again one to the type checkers.
        text = text.replace("{" + name + "}", statement(fragments[name].strip(), fragments))
    # Both parts are literal texts of this package; a name between braces adds nothing to them.
    return text  # pyright: ignore[reportReturnType]


def unique(name: LiteralString, label: LiteralString, *keys: LiteralString) -> LiteralString:
    """The command of a constraint: these properties, behind the tenant, are of one node."""
    return (
        "CREATE CONSTRAINT "
        + name
        + " IF NOT EXISTS FOR (n:"
        + label
        + ") REQUIRE ("
        + _properties(keys)
        + ") IS UNIQUE"
    )


def index(name: LiteralString, label: LiteralString, *keys: LiteralString) -> LiteralString:
    """The command of an index over properties, behind the tenant."""
    return (
        "CREATE INDEX "
        + name
        + " IF NOT EXISTS FOR (n:"
        + label
        + ") ON ("
        + _properties(keys)
        + ")"
    )


def _properties(keys: Sequence[LiteralString]) -> LiteralString:
    return "n.tenant_id" + "".join(", n." + key for key in keys)


KEYS: Final[Mapping[LiteralString, LiteralString]] = {
    "Fact": "t.vid >= 0",
    "Flag": "t.n >= 0",
    "PermissionChange": "t.n >= 0",
    "Vector": "t.object_id >= '' AND t.encoder_id >= '' AND t.part >= ''",
    "Usage": "t.object_id >= ''",
    "Manifest": "t.envelope_id >= ''",
    "Compiled": "t.object_id >= ''",
    "Pack": "t.digest >= ''",
    "Receipt": "t.object_id >= ''",
    "Action": "t.action_id >= ''",
    "Review": "t.review_id >= '' AND t.version >= 0",
    "Judgement": "t.judgement_id >= ''",
    "SessionText": "t.session_id >= '' AND t.seq >= 0 AND t.part >= 0",
    "SessionSnapshot": "t.session_id >= '' AND t.seq >= 0",
    "SessionEvent": "t.session_id >= '' AND t.seq >= 0",
    "Claim": "t.object_id >= ''",
    "Slot": "t.slot_key >= ''",
    "Alias": "t.alias_key >= ''",
    "Identifier": "t.identifier_key >= ''",
    "Norm": "t.norm >= ''",
    "BlockKey": "t.key >= ''",
    "Entity": "t.entity_id >= ''",
    "Tombstone": "t.erasure_id >= ''",
    "Definition": "t.number >= 0",
    "TxEvent": "t.seq >= 0",
}
"""The labels of a tenant's nodes, each with a condition that names all of its key: so its index
finds them. What has most relations comes last."""


def _nodes(label: LiteralString) -> LiteralString:
    return "MATCH (t:" + label + ") WHERE t.tenant_id = $tenant AND " + KEYS[label]


def all_nodes(
    label: LiteralString, condition: LiteralString = "", *, order: LiteralString
) -> LiteralString:
    """What reads all nodes of a tenant that meet a condition."""
    ending = " AND " + condition if condition else ""
    return _nodes(label) + ending + " RETURN properties(t) AS record ORDER BY " + order


def nodes_by(
    label: LiteralString, condition: LiteralString, *, order: LiteralString
) -> LiteralString:
    """What reads the nodes of a tenant by one of their properties: `id` is a value of it."""
    nodes = "UNWIND $given.ids AS id MATCH (t:" + label + ") WHERE t.tenant_id = $tenant AND "
    return nodes + condition + " RETURN properties(t) AS record ORDER BY " + order


def removal() -> LiteralString:
    """What deletes some nodes of a tenant, those of the first labels first."""
    nodes = " UNION ALL ".join(_nodes(label) + " RETURN t" for label in KEYS)
    return "CALL () { " + nodes + " } WITH t LIMIT $most DETACH DELETE t RETURN count(*) AS count"


def in_turn(parts: Mapping[str, LiteralString]) -> LiteralString:
    """Statements that one runs after another."""
    return "".join("CALL () { " + text.strip() + " }\n" for text in parts.values())


def own_and_foreign(slots: LiteralString) -> LiteralString:
    """The rows of slots in the caller's scopes, and the number of those in others."""
    return slots + "\n  {own_rows}\nUNION ALL\n" + slots + "\n  {foreign_rows}"
