"""What relates entities to others: which rows count, who sees them, and what a hub is."""

from __future__ import annotations

from itertools import pairwise

import pytest

from tenure.schema.claim import Permissions
from tenure.schema.policy import Policy, ReadPolicy
from tenure.schema.principal import Scope, Sight
from tenure.schema.vocabulary import Classification, Op
from tenure.store.port.store import Point, RelatedEnds, Store
from tenure.tests.store.builders import ALL, TENANT, Open, Say, add, commit, entity

NOW = Point(5, 1_000)


def related(store: Store, *ids: str, sight: Sight = ALL, point: Point = NOW) -> RelatedEnds:
    """Ask a reader and a writer, which answer alike."""
    with store.reading(TENANT) as reader:
        found = reader.relations(ids, sight=sight, point=point, limit=2)
    with store.writing(TENANT) as write:
        write.lock()
        assert write.relations(ids, sight=sight, point=point, limit=2) == found
    return found


def link(object_id: str, subject: str, value: str, slot: str = "works_with", **more: object) -> Say:
    return Say(object_id=object_id, subject=subject, slot=slot, value_entity=value, **more)  # type: ignore[arg-type]


def known(store: Store, *ids: str) -> None:
    add(store, entities=tuple(entity(one, name=one) for one in ids), tx=1)


def test_both_ends_know_a_relation_and_each_pair_comes_once(store: Store) -> None:
    known(store, "e1", "e2", "e3")
    commit(store, [link("a", "e1", "e2"), link("b", "e3", "e1"), Say(object_id="c")], tx=2)
    commit(store, [link("d", "e1", "e2", slot="manager")], tx=3)
    assert related(store, "e1", "e1") == RelatedEnds((("e1", "e2"), ("e3", "e1")))
    assert related(store, "e2", "e3") == RelatedEnds((("e1", "e2"), ("e3", "e1")))
    assert related(store, "e9") == related(store) == RelatedEnds(())


def test_only_what_is_true_and_believed_at_the_point_relates(store: Store) -> None:
    known(store, "e1", "e2", "e3", "e4")
    commit(store, [link("a", "e1", "e2", until=10)], tx=2)
    commit(store, [link("b", "e1", "e3", slot="manager", op=Op.DENY)], tx=3)
    commit(store, [link("c", "e1", "e4", slot="owner", quarantine="poisoned")], tx=4)
    assert related(store, "e1") == RelatedEnds((("e1", "e2"),))
    assert related(store, "e1", point=Point(10, 1_000)) == RelatedEnds(())
    assert related(store, "e1", point=Point(5, 1)) == RelatedEnds(())
    commit(store, [link("d", "e1", "e2", op=Op.RETRACT)], tx=5)
    assert related(store, "e1") == RelatedEnds(())
    assert related(store, "e1", point=Point(5, 4)) == RelatedEnds((("e1", "e2"),))


def test_what_a_caller_may_not_see_relates_nothing(store: Store) -> None:
    known(store, "e1", "e2", "e3", "e4")
    secret = Permissions(classification=Classification.HIGHLY_RESTRICTED)
    commit(store, [link("a", "e1", "e2", permissions=secret)], tx=2)
    commit(store, [link("b", "e1", "e3", scope=Scope(user="ann"))], tx=3)
    assert related(store, "e1") == RelatedEnds((("e1", "e2"),))
    assert related(store, "e1", sight=Sight(("tenant",), ("*",), 0)) == RelatedEnds(())
    ann = Sight(("tenant", "user=ann"), ("*",), 3)
    assert related(store, "e1", sight=ann) == RelatedEnds((("e1", "e2"), ("e1", "e3")))


def test_a_hub_is_named_and_brings_no_relation(store: Store) -> None:
    known(store, "hub", "e1", "e2", "e3")
    commit(store, [link(f"o{n}", f"e{n}", "hub") for n in (1, 2)], tx=2)
    assert related(store, "hub") == RelatedEnds((("e1", "hub"), ("e2", "hub")))
    commit(store, [link("o3", "e3", "hub")], tx=3)
    assert related(store, "hub") == RelatedEnds((), ("hub",))
    assert related(store, "e3", "hub") == RelatedEnds((("e3", "hub"),), ("hub",))


@pytest.mark.parametrize(
    ("most", "names", "cut"),
    [
        (2, {"Ann Lee", "Bob Ray", "Eve Fox"}, True),
        (3, {"Ann Lee", "Bob Ray", "Eve Fox", "Kim Sun"}, False),
    ],
)
def test_a_walk_reads_around_as_many_entities_as_the_policy_allows(
    open_memory: Open, most: int, names: set[str], cut: bool
) -> None:
    memory = open_memory(policy=Policy(read=ReadPolicy(neighbourhood_entities=most)))
    people = ("Ann Lee", "Bob Ray", "Eve Fox", "Kim Sun")
    for person, manager in pairwise(people):
        memory.write(
            subject=person, slot="manager", value=manager, valid_from="2026-01-01T00:00:00Z"
        )

    around = memory.as_of().neighbourhood("Ann Lee", hops=3)
    assert {entity.name for entity in around.entities} == names
    assert around.truncated is cut
