"""Naming: a person of authority teaches an entity another name.

An alias is a way to hijack an entity, so the edge checks the privilege. The name is an alias
in one scope; where another entity carries it already, it takes the next ordinal, and a bare
mention of it is a review from then on.

Refolding: what an erasure takes away are also the names that it taught. A name that somebody
else uses goes on as taught by that one, from the day it was; any other is gone.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import Final

from ...resolution.bind import Scorer
from ...resolution.keys import alias_key, free_ordinal
from ...resolution.known import Known, Lookup
from ...resolution.names import short_id
from ...schema.claim import Assertion
from ...schema.entity import Alias, EntityRef
from ...schema.errors import NotFound
from ...schema.interval import ALL_TIME
from ...schema.vocabulary import CandidateSource, EntityState
from ..port.store import WriteTx
from .change import Mandate, OperationChange, begin

_BY_NAME: Final = frozenset(
    {CandidateSource.EXACT.value, CandidateSource.ALIAS.value, "no_candidate"}
)
"""Reasons of a bind in which the subject was named, and by a name that it has."""


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
        valid_from=ALL_TIME.start_us,
        valid_until=ALL_TIME.end_us,
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


def refold_names(
    tx: WriteTx,
    change: OperationChange,
    doomed: Mapping[str, Assertion],
    *,
    erased: Collection[str],
) -> tuple[str, ...]:
    """Close the names that doomed claims taught, or pass them on to claims that use them.

    Entities that are erased themselves are left out. The ids of those that lost a name.
    """
    ids: set[str] = set()
    for assertion in doomed.values():
        ids |= {i for i in (assertion.details.subject_id, assertion.details.value_entity_id) if i}
    known = tx.entities(sorted(ids), tx_us=change.clock.last_us)
    taught = [
        alias
        for alias in known.aliases
        if alias.object_id in doomed and alias.entity_id not in erased
    ]
    if not taught:
        return ()

    members = sorted({alias.entity_id for alias in taught})
    assertions = tx.assertions(tx.objects_of(members))
    users = [a for object_id, a in sorted(assertions.items()) if object_id not in doomed]

    nameless: set[str] = set()
    for alias in taught:
        change.closed_aliases.append(alias)
        heir = _heir(alias, known.entities[alias.entity_id].name, users)
        if heir is None:
            nameless.add(alias.entity_id)
            continue
        scope_id = heir.details.scope.scope_id
        same = scope_id == alias.scope_id
        ordinal = alias.ordinal if same else next_ordinal(tx, change, alias.norm, scope_id)
        change.aliases.append(
            replace(
                alias,
                object_id=heir.claim.object_id,
                scope_id=scope_id,
                ordinal=ordinal,
                tx_start=heir.claim.tx,
                merge_id=None,
            )
        )

    for raw in sorted(nameless):
        _rename_nameless(change, known, raw)
    return tuple(sorted(nameless))


def _heir(alias: Alias, own_name: str, users: Iterable[Assertion]) -> Assertion | None:
    """The strongest claim that uses a name: its text says it, or it bound its subject by it.

    Which name bound a subject is not stored; it counts for the entity's own name alone, since a
    nickname that only an erased write used must not stay.
    """
    is_own = alias_key(own_name) == alias.norm
    heirs: list[Assertion] = []
    for assertion in users:
        details = assertion.details
        by_name = is_own and details.subject_id == alias.entity_id
        by_name = by_name and details.resolved_via in _BY_NAME
        says_it = alias.surface.casefold() in assertion.content.text.casefold()
        if (by_name or says_it) and not assertion.quarantine:
            heirs.append(assertion)
    return min(heirs, key=_trust, default=None)


def _trust(assertion: Assertion) -> tuple[int, int, int, str]:
    details, claim = assertion.details, assertion.claim
    return details.authority_level, -details.scope.specificity, claim.tx, claim.object_id


def _rename_nameless(change: OperationChange, known: Known, raw: str) -> None:
    """Call an entity by a name that it keeps, or by the head of its id."""
    entity = known.entities[raw]
    closed = [alias for alias in change.closed_aliases if alias.entity_id == raw]
    if alias_key(entity.name) not in {alias.norm for alias in closed}:
        return

    names = [alias for alias in (*known.aliases, *change.aliases) if alias.entity_id == raw]
    kept = [alias for alias in names if alias not in closed]
    first = min(kept, key=lambda alias: (alias.tx_start, alias.surface), default=None)
    name = short_id(raw) if first is None else first.surface
    change.entities.append(replace(entity, name=name))
