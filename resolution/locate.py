"""Locating: which entity a reader means, by id, identifier or exact visible alias.

A read never scores and never guesses. It does not fall back to the name when a stated
identifier is unknown or conflicts, and it does answer for a pending entity.
"""

from __future__ import annotations

from ..schema.entity import Alias, EntityRef
from ..schema.slots import compatible
from ..schema.vocabulary import EntityState
from .keys import MentionOrId, alias_key, as_ref, is_id
from .register import Register


def locate(mention: MentionOrId, known: Register, scopes: frozenset[str]) -> tuple[str, ...]:
    """The canonical ids a mention may mean, sorted: none, one, or several.

    A pending entity counts only where no settled one carries the name.
    """
    if isinstance(mention, str) and is_id(mention):
        return (known.root(mention),) if known.entity(mention) else ()

    ref = as_ref(mention)
    # A stated identifier that is unknown means somebody else, whatever the name says.
    if ref.external_ids:
        return _by_identifiers(ref, known)

    roots: set[str] = set()
    waiting: set[str] = set()
    for alias in known.named(alias_key(ref.name)):
        if _fits(alias, ref, known, scopes):
            (waiting if _waits(alias, known) else roots).add(known.root(alias.entity_id))
    return tuple(sorted(roots or waiting))


def _by_identifiers(ref: EntityRef, known: Register) -> tuple[str, ...]:
    """The one entity that holds every stated identifier, or none."""
    owners: set[str] | None = None
    for scheme, value in ref.external_ids.items():
        holders = set(map(known.root, known.owners(scheme, value)))
        owners = holders if owners is None else owners & holders
    return tuple(sorted(owners or ()))


def _fits(alias: Alias, ref: EntityRef, known: Register, scopes: frozenset[str]) -> bool:
    entity = known.entity(alias.entity_id)
    is_known = entity is not None and compatible(ref.type, entity.type)
    return is_known and alias.scope_id in scopes


def _waits(alias: Alias, known: Register) -> bool:
    root = known.entity(known.root(alias.entity_id))
    return root is not None and root.state is EntityState.PENDING
