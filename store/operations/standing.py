"""Standing: which entities wait, are active or are merged away, once a change is made.

The states follow from the clusters and from the blocking cases, by the same rule that tells
what was believed at an earlier time (`clusters.believed`), so the two never differ.
"""

from __future__ import annotations

from collections.abc import Mapping

from ...resolution.clusters import PendingCase, entities_as_of
from ...schema.entity import Entity
from ...schema.errors import InvalidInput
from ...schema.slots import compatible
from ..port.store import WriteTx
from .change import OperationChange


def restate(
    tx: WriteTx,
    change: OperationChange,
    entities: Mapping[str, Entity],
    canonical: Mapping[str, str],
) -> None:
    """Put entities in the state that the change leaves them in.

    `entities` are whole clusters, `canonical` is as the change has it, and the decisions of
    the change stand in it already.
    """
    cases: dict[str, PendingCase] = {}
    for case in (*tx.cases(sorted(entities)), *change.reviews):
        if case.blocking:
            cases[case.entity_id] = PendingCase(case.state, case.decided_entity is not None)

    for raw, entity in entities_as_of(entities, canonical, cases).items():
        if entity.state is not entities[raw].state:
            change.entities.append(entity)


def check_types(left: Entity, right: Entity) -> None:
    """Refuse to make one of two that nothing can be both.

    Raises:
        InvalidInput: `incompatible_types`.
    """
    if not compatible(left.type, right.type):
        raise InvalidInput(
            f"{left.name!r} is of type {left.type} and {right.name!r} of type {right.type}, which "
            "nothing can be both; look for the entity of the same type that is meant",
            code="incompatible_types",
            entities=sorted((left.entity_id, right.entity_id)),
        )
