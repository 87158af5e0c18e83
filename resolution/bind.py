"""Binding: from one mention to an entity, before anything is written.

An entity id or an identifier decides. An exact alias that is unique in what the caller may
see binds at once. Several entities of one name are never chosen between: a pending entity is
made and a person is asked. Everything else is scored by a `Scorer`, if one is given, and is
a new entity otherwise. A conflicting identifier of one scheme excludes a candidate before
any name counts. Pure: decides over a `Known`, made by one look-up.

Sources: resolution 2; settled 9; DESIGN 5; checklist C-049 to C-052, C-055.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from ..schema.entity import Alias, Entity, EntityCandidate, EntityRef, Feature, Resolution
from ..schema.errors import Conflict, NotFound
from ..schema.slots import compatible
from ..schema.vocabulary import CandidateSource, Decision, EntityState
from .keys import alias_key, is_id
from .known import Known, Lookup

Named = EntityRef | str
"""A mention, or an entity id."""


class Scorer(Protocol):
    """Scores what an exact look-up could not decide."""

    def keys(self, mention: EntityRef) -> tuple[tuple[str, int], ...]:
        """Return blocking keys with their weights in thousandths."""
        ...

    def judge(
        self, mention: EntityRef, known: Known, *, scope_id: str, excluded: frozenset[str]
    ) -> Resolution:
        """Return bind, review or new, with the evidence; `entity` is None unless bound."""
        ...


@dataclass(frozen=True, slots=True)
class Rules:
    """What a binding depends on beside the mention."""

    scopes: frozenset[str]
    """Scope ids whose aliases the caller may use."""
    scope_id: str
    """The scope of the write."""
    person_scope: str = "tenant"
    """`tenant`, or `project`: what makes an equal person name enough (resolution 5)."""


def lookup_of(mentions: Iterable[Named], scorer: Scorer | None = None) -> Lookup:
    """Return everything that binding these mentions may need, as one look-up."""
    refs, ids = [], set()
    for mention in mentions:
        if isinstance(mention, str) and is_id(mention):
            ids.add(mention)
        else:
            refs.append(as_ref(mention))
    keys = sorted({k for ref in refs for k in (scorer.keys(ref) if scorer else ())})
    return Lookup(
        identifiers=tuple(sorted({pair for ref in refs for pair in ref.external_ids.items()})),
        norms=tuple(sorted({alias_key(n) for ref in refs for n in (ref.name, *ref.aliases)})),
        entity_ids=tuple(sorted(ids)),
        block_keys=tuple(keys),
    )


def as_ref(mention: Named) -> EntityRef:
    """Return a mention as a reference; a plain text is a name of unknown type."""
    return EntityRef(name=mention) if isinstance(mention, str) else mention


def bind(mention: Named, known: Known, rules: Rules, scorer: Scorer | None = None) -> Resolution:
    """Return what a mention is bound to, without changing anything.

    `entity` is a raw id when the decision is `bind`; a pending entity that waits under the
    same name in the same scope is reused, with the decision `review`.

    Raises:
        NotFound: `unknown_entity` for an id that names nothing.
        Conflict: `identifier_conflict` when identifiers name different entities.
    """
    if isinstance(mention, str) and is_id(mention):
        return _by_id(mention, known)
    ref = as_ref(mention)
    owned = _by_identifier(ref, known)
    if owned:
        return owned
    excluded = _excluded(ref, known)
    for name, source in _names(ref):
        found = _by_alias(name, source, ref, known, rules, excluded)
        if found:
            return found
    if scorer:
        return scorer.judge(ref, known, scope_id=rules.scope_id, excluded=excluded)
    return Resolution(decision=Decision.NEW, entity=None, score=0.0, reason="no_candidate")


def _by_id(entity_id: str, known: Known) -> Resolution:
    if entity_id not in known.entities:
        raise NotFound(
            f"there is no entity {entity_id}; name it, or look it up with entities.list()",
            code="unknown_entity",
            entity=entity_id,
        )
    return _bound(entity_id, "entity_id", known)


def _by_identifier(ref: EntityRef, known: Known) -> Resolution | None:
    owners = {
        known.root(i.entity_id): i
        for i in known.identifiers
        if ref.external_ids.get(i.scheme) == i.value
    }
    if len(owners) > 1:
        named = ", ".join(f"{i.scheme}={i.value}" for i in owners.values())
        raise Conflict(
            f"the identifiers of {ref.name!r} name different entities ({named}); "
            "state the right ones, or let a steward merge the entities",
            code="identifier_conflict",
            entities=sorted(owners),
        )
    return next((_bound(i.entity_id, "same_identifier", known) for i in owners.values()), None)


def _excluded(ref: EntityRef, known: Known) -> frozenset[str]:
    """Return the roots that hold another value of a scheme the mention states."""
    return frozenset(
        known.root(i.entity_id)
        for i in known.identifiers
        if ref.external_ids.get(i.scheme, i.value) != i.value
    )


def _names(ref: EntityRef) -> list[tuple[str, CandidateSource]]:
    rest = [(name, CandidateSource.ALIAS) for name in ref.aliases]
    return [(ref.name, CandidateSource.EXACT), *rest]


def _by_alias(
    name: str,
    source: CandidateSource,
    ref: EntityRef,
    known: Known,
    rules: Rules,
    excluded: frozenset[str],
) -> Resolution | None:
    hits = [
        a
        for a in known.aliases
        if a.norm == alias_key(name)
        and a.scope_id in rules.scopes
        and a.entity_id in known.entities
        and compatible(ref.type, known.entities[a.entity_id].type)
        and known.root(a.entity_id) not in excluded
    ]
    waiting = [a for a in hits if _pending(a, known) and a.scope_id == rules.scope_id]
    roots = sorted({known.root(a.entity_id) for a in hits if not _pending(a, known)})
    if waiting and (source is CandidateSource.EXACT or not roots):
        first = min(waiting, key=_age)
        return _review(first.entity_id, "pending", roots, known, source)
    if not roots:
        return None
    if len(roots) == 1 and _has_context(ref, hits, known, rules):
        first = min((a for a in hits if known.root(a.entity_id) == roots[0]), key=_age)
        return _bound(first.entity_id, source.value, known)
    reason = "ambiguous" if len(roots) > 1 else "person_without_context"
    return _review(None, reason, roots, known, source)


def _has_context(ref: EntityRef, hits: Sequence[Alias], known: Known, rules: Rules) -> bool:
    """Tell whether an equal name is enough: a person's may need more than the tenant."""
    person = "person" in {ref.type, *(known.entities[a.entity_id].type for a in hits)}
    if not person or rules.person_scope == "tenant":
        return True
    return any(a.scope_id == rules.scope_id and a.scope_id != "tenant" for a in hits)


def _pending(alias: Alias, known: Known) -> bool:
    return known.entities[alias.entity_id].state is EntityState.PENDING and (
        known.root(alias.entity_id) == alias.entity_id
    )


def _age(alias: Alias) -> tuple[int, str]:
    return alias.tx_start, alias.entity_id


def _bound(entity: str, reason: str, known: Known) -> Resolution:
    root = known.entities[known.root(entity)]
    state = root.state is EntityState.PENDING
    return Resolution(
        decision=Decision.REVIEW if state else Decision.BIND,
        entity=entity,
        score=1.0,
        reason=reason,
        candidates=(_candidate(root, CandidateSource.IDENTIFIER, reason),),
    )


def _review(
    entity: str | None,
    reason: str,
    roots: Sequence[str],
    known: Known,
    source: CandidateSource,
) -> Resolution:
    return Resolution(
        decision=Decision.REVIEW,
        entity=entity,
        score=0.94,
        reason=reason,
        candidates=tuple(_candidate(known.entities[r], source, reason) for r in roots),
    )


def _candidate(entity: Entity, source: CandidateSource, reason: str) -> EntityCandidate:
    certain = reason not in ("ambiguous", "pending", "person_without_context")
    return EntityCandidate(
        entity=entity.entity_id,
        name=entity.name,
        score=1.0 if certain else 0.94,
        log_odds=13.8 if certain else 2.752,
        source=source,
        features=(Feature(source.value, 1.0, 0.0, f"equal name or id: {entity.name}"),),
        vetoes=() if certain else ("margin" if reason != "person_without_context" else reason,),
    )
