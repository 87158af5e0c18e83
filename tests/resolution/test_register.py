"""The register of a transaction: clusters settle, and a refused child leaves nothing."""

from tenure.resolution.known import Known
from tenure.resolution.register import Register
from tenure.schema.entity import Entity
from tenure.schema.vocabulary import EntityState
from tenure.tests.support.entities import entity, judgement


def register(*entities: Entity) -> Register:
    return Register(Known(entities={one.entity_id: one for one in entities}))


def state(known: Register, raw: str) -> EntityState:
    found = known.entity(raw)
    assert found
    return found.state


def test_settling_an_entity_of_its_own_changes_nothing() -> None:
    waiting = entity("a", state=EntityState.PENDING)
    known = register(waiting)
    known.settle("a")
    assert known.entity("a") is waiting
    assert (known.root("a"), known.moved, known.entities) == ("a", {}, {})


def test_a_joined_cluster_is_known_by_its_oldest_member() -> None:
    known = register(entity("a", tx=2), entity("b", tx=1))
    known.join(judgement("a", "b"))
    assert known.moved == {"a": "b", "b": "b"}
    assert (state(known, "a"), state(known, "b")) == (EntityState.MERGED, EntityState.ACTIVE)


def test_settling_a_cluster_again_lets_a_recorded_member_lead() -> None:
    known = register(entity("a", tx=2), entity("b", tx=1))
    known.join(judgement("a", "b"))
    known.learn(entities=[entity("a", tx=2, state=EntityState.MERGED, recorded=True)])
    known.settle("b")
    assert (known.root("a"), known.root("b")) == ("a", "a")
    assert (state(known, "a"), state(known, "b")) == (EntityState.ACTIVE, EntityState.MERGED)


def test_a_merge_of_a_child_counts_for_the_parent_only_once_absorbed() -> None:
    parent = register(entity("a", tx=1), entity("b", tx=2))
    child = parent.child()
    child.join(judgement("a", "b"))
    assert (child.root("b"), parent.root("b")) == ("a", "b")
    assert state(parent, "b") is EntityState.ACTIVE
    parent.absorb(child)
    assert (parent.root("b"), parent.members("a")) == ("a", ("a", "b"))
    assert state(parent, "b") is EntityState.MERGED
