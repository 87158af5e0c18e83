"""Names that a write gives to one entity and that another one has: somebody should look.

An alias may be learned from any trusted writer, so the same alias may come to name two. Nothing
waits for that: the write stands, the bare name is ambiguous from then on, and a suggestion about
the two entities says why. It is left once, by the write that teaches the name; not where the two
were judged already, nor where a register numbers them apart. Pure.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ...resolution.bind import excluding_schemes
from ...resolution.keys import alias_key, entity_id
from ...resolution.register import Register, Rules
from ...schema.entity import Entity, EntityCandidate, EntityRef, Feature, Review
from ...schema.slots import compatible
from ...schema.vocabulary import CandidateSource, EntityState, JudgementVerdict
from .cases import suggestion


@dataclass(frozen=True, slots=True)
class SharedName:
    """A name that two stored entities have."""

    surface: str
    elder: Entity
    younger: Entity


def shared_names(
    surfaces: Sequence[str],
    raw: str,
    register: Register,
    rules: Rules,
) -> Iterator[SharedName]:
    """Yield each other entity that has one of the names which a write is about to teach."""
    family = register.members(raw)
    entity = register.entity(register.root(raw))
    surface_of: dict[str, str] = {}
    for surface in surfaces:
        aliases = register.named(alias_key(surface))
        if any(alias.entity_id in family and rules.shows(alias, register) for alias in aliases):
            continue  # it was taught before, and asked about then
        for alias in aliases:
            if rules.shows(alias, register):
                surface_of.setdefault(register.root(alias.entity_id), surface)

    for root, surface in sorted(surface_of.items()):
        other = register.entity(root)
        if entity is None or other is None or other.state is not EntityState.ACTIVE:
            continue
        if _may_be_one(entity, other, register, rules):
            elder, younger = sorted((entity, other), key=lambda e: (e.tx_start, e.entity_id))
            yield SharedName(surface, elder, younger)


def _may_be_one(entity: Entity, other: Entity, register: Register, rules: Rules) -> bool:
    family = register.members(entity.entity_id)
    rows = register.rows_between((*family, *register.members(other.entity_id)))
    if any(row.verdict is not JudgementVerdict.MATCH for row in rows):
        return False

    shows = rules.identifier_test(register)
    external_ids = register.external_ids(entity.entity_id, shows)
    numbers = EntityRef(name=entity.name, external_ids=external_ids)
    is_excluded = excluding_schemes(numbers, other.entity_id, register, rules)
    return compatible(entity.type, other.type) and not is_excluded


def shared_name_case(shared: SharedName, score: float, object_id: str, tx: int) -> Review:
    """The suggestion about two entities of one name, opened by a write at a transaction time.

    `score` is shown until something else is said of either: no comparison has been made.
    """
    elder, younger = shared.elder, shared.younger
    candidate = EntityCandidate(
        entity=elder.entity_id,
        name=elder.name,
        score=score,
        log_odds=round(math.log(max(score, 1e-6) / (1 - score)), 6),
        source=CandidateSource.ALIAS,
        features=(Feature("alias", 1.0, 0.0, f"both are called {shared.surface!r}"),),
    )
    return suggestion(
        younger,
        candidate,
        review_id=entity_id(object_id, "shared_name", f"{elder.entity_id} {younger.entity_id}"),
        object_id=object_id,
        opened_tx=tx,
    )
