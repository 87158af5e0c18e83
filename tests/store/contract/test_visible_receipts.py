"""A steward's receipts name no part of an entity that no other read would tell him."""

import json
from dataclasses import asdict
from typing import Any

import pytest

from tenure import ActionReceipt, Conflict, EntityRef, Memory, NotFound, Principal, Write
from tenure.schema.principal import OWNER
from tenure.tests.store.builders import Open
from tenure.tests.support.refusals import refused

ANN = {"user": "ann"}
NAMES = ("Sam Rivera", "Samuel Rivera", "Sammy")


def bound(memory: Memory, role: str) -> Memory:
    tenant = memory.principal.tenant
    return memory.bind(Principal(tenant=tenant, user=role, roles=frozenset({role})))


def dump(receipt: Any) -> str:
    return json.dumps(asdict(receipt), default=str)


class World:
    """Two people that all know, the second with a part and with facts that only Ann knows."""

    def __init__(self, memory: Memory) -> None:
        self.owner = memory
        self.steward, self.auditor = bound(memory, "steward"), bound(memory, "auditor")
        memory.vocabulary.define_slot("noted", description="what was noted")
        memory.vocabulary.define_slot("whim", description="what Ann saw")
        ids: list[str] = []
        for name in NAMES:
            scope = ANN if name == "Sammy" else None
            person = EntityRef(name=name, type="person")
            receipt = memory.write(person, "noted", name, scope=scope)
            ids.append(receipt.entity or "")
            memory.write(receipt.entity, "whim", name, scope=ANN)
        self.sam, self.samuel, self.sammy = ids
        self.hidden_merge = memory.entities.merge(self.samuel, self.sammy, reason="Ann says so")

    def hidden_words(self) -> tuple[str, ...]:
        return self.sammy, "whim", "user=ann"


@pytest.fixture
def world(open_memory: Open) -> World:
    return World(open_memory(principal=OWNER))


def test_whom_a_steward_cannot_see_he_cannot_merge(world: World) -> None:
    dr_wu = EntityRef(name="Dr. Wu", type="person")
    hidden = world.owner.write(dr_wu, "noted", "in May", scope=ANN).entity or ""
    for pair in ((world.sam, hidden), (hidden, world.sam), (hidden, "ghost"), ("ghost", hidden)):
        with refused(NotFound, "unknown_entity"):
            world.steward.entities.merge(*pair)
    assert world.owner.as_of().entity(world.sam).members == (world.sam,)

    assert world.owner.entities.merge(world.sam, hidden).members == tuple(
        sorted((world.sam, hidden))
    )


def test_a_merge_tells_a_steward_what_its_entity_would(world: World) -> None:
    receipt = world.steward.entities.merge(world.sam, world.samuel)
    assert receipt.members == tuple(sorted((world.sam, world.samuel)))
    assert receipt.members == world.steward.as_of().entity(world.sam).members
    assert [slot.split("/", 1)[1] for slot in receipt.replanned_slots] == ["noted/tenant"]
    assert receipt.withheld
    assert not any(word in dump(receipt) for word in world.hidden_words())

    # Asked again, by whoever it is, each is told by what they may see themselves.
    assert not any(
        word in dump(world.steward.entities.merge(world.samuel, world.sam))
        for word in world.hidden_words()
    )
    whole_receipt = world.owner.entities.merge(world.sam, world.samuel)
    assert set(whole_receipt.members) == {world.sam, world.samuel, world.sammy}
    assert len(whole_receipt.replanned_slots) == 2
    assert not whole_receipt.withheld


def test_an_unmerge_tells_no_part_that_is_hidden(world: World) -> None:
    receipt = world.steward.entities.unmerge(world.hidden_merge.merge_id)
    assert receipt.parts == ((world.samuel,),)
    assert receipt.replanned_slots == ()
    assert receipt.withheld
    again = world.owner.entities.unmerge(world.hidden_merge.merge_id)
    assert set(again.parts) == {(world.samuel,), (world.sammy,)}
    assert not again.withheld


def test_an_unmerge_of_what_all_may_see_withholds_nothing_of_it(world: World) -> None:
    merge_id = world.steward.entities.merge(world.sam, world.samuel).merge_id
    receipt = world.steward.entities.unmerge(merge_id)
    assert set(receipt.parts) == {(world.sam,), (world.samuel,)}
    endings = {slot.split("/", 1)[1] for slot in receipt.replanned_slots}
    assert endings == {"noted/tenant"}
    assert receipt.withheld


def two_people(owner: Memory, **more: Any) -> list[str]:
    """Two people whose offices tie once they are one, as they were told at one time."""
    people = [owner.write(EntityRef(name=name, type="person"), "title", "Dr") for name in NAMES[:2]]
    ids = [receipt.entity or "" for receipt in people]
    offices = zip(ids, ("Rome", "Ulm"), strict=True)
    owner.write_many(
        [Write(subject=person, slot="office", value=city, **more) for person, city in offices]
    )
    return ids


def test_a_merge_of_what_all_may_see_withholds_nothing(open_memory: Open) -> None:
    owner = open_memory(principal=OWNER)
    first, second = two_people(owner)
    receipt = bound(owner, "steward").entities.merge(first, second)
    assert len(receipt.actions) == 1
    assert not receipt.withheld
    assert owner.entities.merge(first, second).members == receipt.members


def test_a_tie_of_hidden_facts_is_not_told(open_memory: Open) -> None:
    owner = open_memory(principal=OWNER)
    first, second = two_people(owner, deny_roles=["steward"])
    steward = bound(owner, "steward")
    receipt = steward.entities.merge(first, second)
    assert "office" not in dump(receipt)
    assert [action.slot for action in owner.actions.list()] == ["office"]
    assert receipt.actions == steward.actions.list() == ()
    assert receipt.withheld


def test_a_decision_tells_no_more_than_the_merge_itself(world: World) -> None:
    case = world.steward.reviews.open(world.sam, world.samuel)
    decision = world.steward.reviews.accept(case.review_id)
    assert decision.merge is not None
    assert decision.merge.withheld
    undone = world.steward.reviews.undo(case.review_id)
    assert undone.unmerge is not None
    assert undone.unmerge.withheld
    for receipt in (case, decision, undone):
        assert not any(word in dump(receipt) for word in world.hidden_words())


def test_a_refusal_names_the_two_that_were_asked_about(world: World) -> None:
    world.owner.entities.unmerge(world.owner.entities.merge(world.sam, world.sammy).merge_id)
    world.owner.entities.merge(world.samuel, world.sammy)
    with refused(Conflict, "existing_non_match") as refusal:
        world.steward.entities.merge(world.sam, world.samuel)
    assert world.sammy not in str(refusal.value) + json.dumps(refusal.value.data, default=str)

    (action,) = [a for a in world.owner.actions.list() if a.kind == "merge_conflict"]
    receipt = world.steward.actions.resolve(action.action_id, accept=True)
    assert isinstance(receipt, ActionReceipt)
    assert receipt.merge is not None
    assert not any(word in dump(receipt.merge) for word in world.hidden_words())
