"""All Cypher of the Neo4j store: one constant text per statement, values only as parameters.

Each statement names its tenant, or stands in `WITHOUT_TENANT` with the reason. A public name
is a statement; a name with a leading underscore is a fragment that statements are added
together from. `LiteralString` lets the type checkers refuse a text made at run time. The tests
hold the module to this and put every text before Neo4j's own grammar, in Cypher 5 and 25.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, LiteralString

COMPONENTS: Final[LiteralString] = """
CALL dbms.components() YIELD name, versions, edition
RETURN name, versions, edition
"""

WITHOUT_TENANT: Final[Mapping[str, str]] = {
    "COMPONENTS": "asks the server what it is and touches no node",
}
"""The statements that name no tenant, each with the reason."""

LANGUAGES: Final[Mapping[str, tuple[str, ...]]] = {}
"""The statements that exist for some versions of Cypher only; all others run in 5 and 25."""
