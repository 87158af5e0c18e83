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


def all_nodes(label: LiteralString, keys: LiteralString, *, order: LiteralString) -> LiteralString:
    """What reads all nodes of a tenant; the condition names all of a key, so an index finds it."""
    nodes = "MATCH (t:" + label + ") WHERE t.tenant_id = $tenant AND " + keys
    return nodes + " RETURN properties(t) AS record ORDER BY " + order


def nodes_by(
    label: LiteralString, condition: LiteralString, *, order: LiteralString
) -> LiteralString:
    """What reads the nodes of a tenant by one of their properties: `id` is a value of it."""
    nodes = "UNWIND $given.ids AS id MATCH (t:" + label + ") WHERE t.tenant_id = $tenant AND "
    return nodes + condition + " RETURN properties(t) AS record ORDER BY " + order


def removal(*kinds: tuple[LiteralString, LiteralString]) -> LiteralString:
    """What deletes some nodes of a tenant, the first kinds first; conditions name all of a key."""
    nodes = " UNION ALL ".join(
        "MATCH (n:" + label + ") WHERE n.tenant_id = $tenant AND " + keys + " RETURN n"
        for label, keys in kinds
    )
    deletion = " WITH n LIMIT $most DETACH DELETE n RETURN count(*) AS count"
    return "CALL () { " + nodes + " }" + deletion
