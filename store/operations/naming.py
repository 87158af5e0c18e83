"""Naming: a person of authority teaches an entity another name.

An alias is a way to hijack an entity, so the edge checks the privilege. The name is an alias
in one scope; where another entity carries it already, it takes the next ordinal, and a bare
mention of it is a review from then on.
"""

from __future__ import annotations

from ...resolution.bind import Scorer
from ...resolution.keys import alias_key, free_ordinal
from ...resolution.known import Lookup
from ...schema.entity import Alias, EntityRef
from ...schema.errors import NotFound
from ...schema.interval import ALWAYS
from ...schema.vocabulary import EntityState
from ..port.store import WriteTx
from .change import Mandate, OperationChange, begin


def add_alias(
    tx: WriteTx,
    entity_id: str,
    surface: str,
    *,
    scope_id: str,
    mandate: Mandate,
    scorer: Scorer | None,
) -> Alias:
    """Teach an entity a name and return it; a name it has already is returned as it is.

    Raises:
        NotFound: `unknown_entity`.
        InvalidInput: `bad_name`.
    """
    change = begin(tx.lock(), mandate, "add_alias")
    norm = alias_key(EntityRef(name=surface).name)
    known = tx.entities((entity_id,), tx_us=change.clock.last_us)
    entity = known.entities.get(entity_id)
    if entity is None or entity.state is EntityState.ERASED:
        raise NotFound(
            f"there is no entity {entity_id}, or it was erased; see entities.list()",
            code="unknown_entity",
            entity=entity_id,
        )

    for alias in known.aliases:
        if alias.norm == norm and alias.scope_id == scope_id:
            return alias

    alias = Alias(
        entity_id=entity_id,
        surface=surface,
        norm=norm,
        type=entity.type,
        scope_id=scope_id,
        ordinal=next_ordinal(tx, change, norm, scope_id),
        valid_from=ALWAYS.start_us,
        valid_until=ALWAYS.end_us,
        tx_start=change.stamp,
        object_id=mandate.operation_id,
    )
    change.aliases.append(alias)
    if scorer:
        change.block_keys[norm] = scorer.stored_keys(surface, entity.type)
    change.objects.append(entity_id)
    tx.apply(change.batch())
    return alias


def next_ordinal(tx: WriteTx, change: OperationChange, norm: str, scope_id: str) -> int:
    """The first ordinal that tells one more entity of a name in a scope from the others."""
    lookup = Lookup(norms=(norm,))
    aliases = tx.known(lookup, scopes=(scope_id,), tx_us=change.clock.last_us).aliases
    carriers = (*aliases, *change.aliases)
    return free_ordinal(alias.ordinal for alias in carriers if alias.norm == norm)
