"""Where a tenant's data live: a server, a database on it, and the map of cells.

A cell is a server of its own for a group of tenants; nothing crosses tenants, so a map from the
tenant to its target is all that it takes to spread them. `cell_map` makes that map from a list
and refuses one that sends a tenant to two places. Whoever moves a tenant at run time hands the
store a function of his own instead: it is asked at every transaction.

Pure: no driver is imported, so that settings and the client can name targets without it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from ...schema.errors import InvalidInput
from ...schema.short_repr import short_repr

DATABASE = "neo4j"
"""The only database of a Community server."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """Where a tenant's data lives: a server and a database on it."""

    __repr__ = short_repr

    uri: str
    """`neo4j://host:7687`, `bolt+s://…`; never with credentials in it."""
    database: str = DATABASE
    """The name of the database; `neo4j` is the only one on Community."""
    auth: tuple[str, str] | None = field(default=None, repr=False)
    """User and password of this server; None: those of the store."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """A target for a group of tenants."""

    __repr__ = short_repr

    target: Target
    tenants: frozenset[str]


Resolve = Callable[[str], Target]
"""The target of a tenant."""


def cell_map(cells: Sequence[Cell], default: Target) -> Resolve:
    """Return the map of cells; a tenant of none of them lives at `otherwise`.

    >>> a, b = Target(uri="bolt://a:7687"), Target(uri="bolt://b:7687")
    >>> where = cell_map([Cell(target=b, tenants=frozenset({"acme"}))], a)
    >>> where("acme").uri, where("globex").uri
    ('bolt://b:7687', 'bolt://a:7687')

    Raises:
        InvalidInput: `bad_settings` for a tenant in two cells.
    """
    places: dict[str, Target] = {}
    for cell in cells:
        duplicates = sorted(cell.tenants & places.keys())
        if duplicates:
            raise InvalidInput(
                f"the tenant {duplicates[0]!r} stands in two cells; leave it in one",
                code="bad_settings",
                tenant=duplicates[0],
            )
        places.update(dict.fromkeys(cell.tenants, cell.target))

    return lambda tenant: places.get(tenant, default)
