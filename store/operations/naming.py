"""Naming: a person of authority teaches an entity another name.

An alias is a way to hijack an entity, so the edge checks the privilege. The name is an alias
in one scope; where another entity carries it already, it takes the next ordinal, and a bare
mention of it is a review from then on.

The surface of a review case names its entity, too: a decision may close that name or widen it,
and undoing the decision teaches it again.

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
from ...schema.entity import Alias, EntityRef, Review
from ...schema.errors import NotFound
from ...schema.interval import ALL_TIME, INF_US
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
            f"there is no entity {entity_id}, or it was erased; "
            "see `tenure entities` (entities.list())",
            code="unknown_entity",
            entity=entity_id,
        )

    # Nothing is written, so that a retry under another operation id teaches nothing twice.
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


def teach_again(tx: WriteTx, change: OperationChange, case: Review, known: Known) -> None:
    """Let the surface name the waiting entity again, when the decision had closed that."""
    norm = alias_key(case.mention)
    for alias in known.aliases:
        in_place = (alias.norm, alias.scope_id) == (norm, case.scope_id)
        if in_place and alias.entity_id == case.entity_id and alias not in change.closed_aliases:
            return
    change.aliases.append(alias_of_case(tx, change, case, case.scope_id))


def alias_of_case(tx: WriteTx, change: OperationChange, case: Review, scope_id: str) -> Alias:
    """The surface of a case as a name of the entity that it is about."""
    norm = alias_key(case.mention)
    return Alias(
        entity_id=case.entity_id,
        surface=case.mention,
        norm=norm,
        type=case.type,
        scope_id=scope_id,
        ordinal=next_ordinal(tx, change, norm, scope_id),
        valid_from=ALL_TIME.start_us,
        valid_until=INF_US,
        tx_start=change.stamp,
        object_id=case.object_id,
    )


def refold_names(
    tx: WriteTx,
    change: OperationChange,
    erased_claims: Mapping[str, Assertion],
    *,
    erased_ids: Collection[str],
) -> tuple[str, ...]:
    """Close the names that erased claims taught, or pass them on to claims that use them.

    Entities that are erased themselves are left out. The ids of those that lost a name.
    """
    ids: set[str | None] = set()
    for assertion in erased_claims.values():
        ids |= {assertion.details.subject_id, assertion.details.value_entity_id}
    known = tx.entities(sorted(filter(None, ids)), tx_us=change.clock.last_us)

    lost_aliases: list[Alias] = []
    for alias in known.aliases:
        if alias.object_id in erased_claims and alias.entity_id not in erased_ids:
            lost_aliases.append(alias)
    if not lost_aliases:
        return ()

    members = sorted({alias.entity_id for alias in lost_aliases})
    assertions = tx.assertions(tx.objects_of(members))
    users: list[Assertion] = []
    for object_id, assertion in sorted(assertions.items()):
        if object_id not in erased_claims:
            users.append(assertion)

    nameless: set[str] = set()
    for alias in lost_aliases:
        change.closed_aliases.append(alias)
        heir = _heir(alias, known.entities[alias.entity_id].name, users)
        if heir is None:
            nameless.add(alias.entity_id)
            continue
        # The heir's scope, not that of the erased: where only the erased was read, nobody uses it.
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
    # A name that was passed on stands in the change anew; what is closed is no name any more.
    names: list[Alias] = []
    norms: set[str] = set()
    for alias in (*known.aliases, *change.aliases):
        if alias.entity_id == raw and alias not in change.closed_aliases:
            names.append(alias)
            norms.add(alias.norm)
    if alias_key(entity.name) in norms:
        return

    first = min(names, key=lambda alias: (alias.tx_start, alias.surface), default=None)
    name = short_id(raw) if first is None else first.surface
    change.entities.append(replace(entity, name=name))
