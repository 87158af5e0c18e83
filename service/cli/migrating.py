"""Migrating: the schema of a store, and of every server that its map of cells names.

Opening a store brings an older schema up to date by itself. An operator who wants it done
before anybody opens the store, who wants to see first what would happen, or whose database lost
a constraint, does it here. Tenants of one database share its schema, so one tenant stands for
all of a cell; in an embedded store each tenant has a file of its own, and its own schema.
Sources: neo4j 3; DESIGN 6.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ..client.connect import Place


@dataclass(frozen=True, slots=True)
class Migrated:
    """What became of one store."""

    store: str
    """The file, or the address and database of a server."""
    before: int
    """The number of the schema that was found; 0 for none."""
    after: int
    steps: tuple[str, ...]
    """What was made, or would be; empty where the schema is current."""
    dry_run: bool


def migrate(place: Place, tenant: str, *, dry_run: bool = False) -> tuple[Migrated, ...]:
    """Bring the schema of a tenant's store up to date, and that of each cell.

    Raises:
        NotFound: `unknown_tenant` for an embedded store without the tenant.
        Unavailable: `newer_schema`, `schema_incomplete`, `store_unreachable`.
    """
    store = place.open(prepare=False)
    try:
        return tuple(
            Migrated(name, *store.migrate(one, dry_run=dry_run), dry_run)
            for name, one in _places(place, tenant)
        )
    finally:
        store.close()


def _places(place: Place, tenant: str) -> Iterator[tuple[str, str]]:
    """Yield each store by name, with a tenant that lives there."""
    cells = () if callable(place.cells) else place.cells
    # no tenant has an empty name, so none of the cells is meant
    yield place.url, "" if cells else tenant
    for cell in cells:
        yield f"{cell.target.uri}, database {cell.target.database}", min(cell.tenants)
