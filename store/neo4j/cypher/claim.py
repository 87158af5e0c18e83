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
    *table.names_of(table.PERMISSION_COLUMNS),
    *table.names_of(table.SECRET_COLUMNS),
)
"""The order in which a read lists a claim; one that is hidden ends before its secret columns."""

CORE: Final[LiteralString] = "c {" + table.column_list(_CORE_COLUMNS, "") + "}"
OPEN_COLUMNS: Final[LiteralString] = (
    table.column_list(table.CLAIM_COLUMNS, "c")
    + ", c.signature, c.erased, "
    + table.column_list(table.PERMISSION_COLUMNS, "c")
)
SECRET_COLUMNS: Final[LiteralString] = table.column_list(table.SECRET_COLUMNS, "c")
CONTENT_COLUMNS: Final[LiteralString] = table.column_list(
    (column for column in table.SECRET_COLUMNS if column.table == "d"), "c"
)
"""What an erasure removes."""
