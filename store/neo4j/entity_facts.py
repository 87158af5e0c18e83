"""What is stored about an entity: who it is, what names and identifies it, and how it was judged.

A statement lists all of it for several entities at once, kind by kind, closed rows included, so
that it holds for every tx.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ...resolution import clusters
from ...schema.entity import AUDIT, SUGGESTION, Entity
from ...schema.vocabulary import JudgementVerdict, ReviewState
from . import register_codec as codec

Properties = Mapping[str, Any]
"""What a node has, as stored."""
TaughtName = Sequence[Any]
"""An alias as stored, with what its teacher may say; None without such a claim."""
TaughtIdentifier = Sequence[Any]
"""An identifier as stored, with who stated it; None without such a claim."""


@dataclass(slots=True)
class EntityFacts:
    """An entity with all that ever identified and judged it, as stored."""

    entity: Entity
    identifiers: list[TaughtIdentifier] = field(default_factory=list[TaughtIdentifier])
    judgements: list[Properties] = field(default_factory=list[Properties])
    names: list[TaughtName] = field(default_factory=list[TaughtName])
    cases: list[Properties] = field(default_factory=list[Properties])

    def case(self, tx_us: int) -> clusters.PendingCase | None:
        """How its blocking case stood at a tx."""
        newest: Properties | None = None
        for case in self.cases:
            if _decision_tx(case) > tx_us or case["reason"] in (SUGGESTION, AUDIT):
                continue
            if newest is None or int(case["version"]) > int(newest["version"]):
                newest = case

        if newest is None:
            return None
        return clusters.PendingCase(
            ReviewState(newest["state"]), newest["decided_entity"] is not None
        )

    def matches(self, tx_us: int) -> set[str]:
        """The entities that were one with it at a tx."""
        ends: set[str] = set()
        for judgement in self.judgements:
            if judgement["verdict"] == JudgementVerdict.MATCH.value and is_open(judgement, tx_us):
                ends |= {judgement["left_id"], judgement["right_id"]}
        return ends


class _EntityRows(NamedTuple):
    """What stands about entities as a statement lists it: of all of them, kind by kind."""

    entities: Sequence[Properties]
    identifiers: Sequence[TaughtIdentifier]
    judgements: Sequence[tuple[str, Properties]]
    """Each with the entity that it is about."""
    names: Sequence[TaughtName]
    cases: Sequence[Properties]


def entity_facts(records: Sequence[Sequence[Any]]) -> dict[str, EntityFacts]:
    """What a statement says of entities, by their ids."""
    rows = _EntityRows._make(records)
    facts: dict[str, EntityFacts] = {}
    for properties in rows.entities:
        facts[properties["entity_id"]] = EntityFacts(codec.entity(properties))
    for identifier in rows.identifiers:
        facts[identifier[0]["entity_id"]].identifiers.append(identifier)
    for entity_id, judgement in rows.judgements:
        facts[entity_id].judgements.append(judgement)
    for name in rows.names:
        facts[name[0]["entity_id"]].names.append(name)
    for case in rows.cases:
        facts[case["entity_id"]].cases.append(case)
    return facts


def _decision_tx(case: Properties) -> int:
    """When a version of a case was written: its decision, or its opening."""
    decision = case["decided_tx"]
    return int(case["opened_tx"] if decision is None else decision)


def is_open(row: Properties, tx_us: int) -> bool:
    """Whether a row was open at a tx."""
    return bool(row["tx_start"] <= tx_us < row["tx_end"])
