"""The columns of a claim as reads list them, made from the table that both stores share.

The one place where a text of a statement is put together: from names of columns, never a value.
"""

from __future__ import annotations

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
