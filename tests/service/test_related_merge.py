"""Merging two who stand in a relation: refused by name, done all the same by a second word."""

from __future__ import annotations

from typing import Any

import pytest

import tenure
from tenure.schema.policy import Policy, ResolutionPolicy

OWNER = tenure.Principal(user="olga", roles=frozenset({"owner"}), authority_level=0)


@pytest.fixture
def memory() -> Any:
    with tenure.connect(":memory:", principal=OWNER) as memory:
        yield memory


def person(memory: tenure.Memory, name: str) -> str:
    return memory.write({"name": name, "type": "person"}, "title", f"Dr {name}").entity or ""


def refusal_of(memory: tenure.Memory, a: str, b: str) -> tenure.Conflict:
    with pytest.raises(tenure.Conflict) as refusal:
        memory.entities.merge(a, b)
    assert refusal.value.code == "related_entities"
    return refusal.value


@pytest.mark.parametrize("slot", ["manager", "partner", "parent", "sibling", "friend"])
def test_a_merge_over_a_relation_is_refused_by_name_in_either_order(
    memory: tenure.Memory, slot: str
) -> None:
    sam, dana = person(memory, "Sam Rivera"), person(memory, "Dana Kim")
    memory.write("Sam Rivera", slot, "Dana Kim")
    for ends in ((sam, dana), (dana, sam)):
        assert f"Dana Kim is the {slot} of Sam Rivera" in str(refusal_of(memory, *ends))
    assert memory.as_of().entity("Sam Rivera").entity_id == sam

    # Asked twice, it waits once, and names the two.
    (action,) = memory.actions.list()
    assert (action.kind, action.slot, sorted(action.members)) == (
        "merge_conflict",
        slot,
        sorted((sam, dana)),
    )


def test_whoever_accepts_its_action_merges_and_takes_it_back(memory: tenure.Memory) -> None:
    sam, dana = person(memory, "Sam Rivera"), person(memory, "Dana Kim")
    memory.write("Sam Rivera", "manager", "Dana Kim")
    refusal_of(memory, sam, dana)
    (action,) = memory.actions.list()
    receipt = memory.actions.resolve(action.action_id, accept=True)
    assert isinstance(receipt, tenure.ActionReceipt)
    assert receipt.merge is not None
    assert set(memory.as_of().entity("Sam Rivera").members) == {sam, dana}

    memory.entities.unmerge(receipt.merge.merge_id)
    assert memory.as_of().value("Sam Rivera", "manager") == dana
    assert memory.doctor() == ()


def test_a_refused_action_keeps_the_two_apart(memory: tenure.Memory) -> None:
    sam, dana = person(memory, "Sam Rivera"), person(memory, "Dana Kim")
    memory.write("Sam Rivera", "manager", "Dana Kim")
    refusal_of(memory, sam, dana)
    memory.actions.resolve(memory.actions.list()[0].action_id, accept=False)
    refusal_of(memory, sam, dana)
    assert len(memory.actions.list()) == 1


def test_a_case_says_it_in_its_preview_and_is_not_accepted(memory: tenure.Memory) -> None:
    sam, dana = person(memory, "Sam Rivera"), person(memory, "Dana Kim")
    memory.write("Sam Rivera", "manager", "Dana Kim")
    case = memory.reviews.open(sam, dana)
    impact = memory.reviews.get(case.review_id).impact
    assert impact is not None
    assert "Dana Kim is the manager of Sam Rivera" in impact.standing[0]
    # A preview asks nobody.
    assert memory.actions.list() == ()

    with pytest.raises(tenure.Conflict, match="manager of Sam Rivera"):
        memory.reviews.accept(case.review_id)
    assert memory.reviews.get(case.review_id).review.state == "open"
    memory.reviews.reject(case.review_id)
    with pytest.raises(tenure.Conflict) as decided:
        memory.reviews.accept(case.review_id)
    assert decided.value.code == "already_decided"


@pytest.mark.parametrize("end", ["retract", "past", "other"])
def test_what_relates_them_no_more_is_in_nobodys_way(memory: tenure.Memory, end: str) -> None:
    sam, dana = person(memory, "Sam Rivera"), person(memory, "Dana Kim")
    span = {"valid_from": "2019-01-01T00:00:00Z", "valid_until": "2020-01-01T00:00:00Z"}
    span = span if end == "past" else {}
    memory.write("Sam Rivera", "manager", "Dana Kim", **span)
    if end == "retract":
        memory.write("Sam Rivera", "manager", "Dana Kim", op="retract")
    if end == "other":
        memory.write("Sam Rivera", "manager", "Lee Park", op="correct")
    assert memory.entities.merge(sam, dana).merge_id


def test_a_relation_of_a_member_counts_for_its_cluster(memory: tenure.Memory) -> None:
    sam, dana, sammy = (person(memory, name) for name in ("Sam Rivera", "Dana Kim", "Sammy R"))
    memory.write("Sammy R", "manager", "Dana Kim")
    memory.entities.merge(sam, sammy)
    refusal_of(memory, dana, sam)


def test_a_relation_that_the_steward_may_not_see_is_not_told(memory: tenure.Memory) -> None:
    sam, dana = person(memory, "Sam Rivera"), person(memory, "Dana Kim")
    bob = memory.bind(tenure.Principal(user="bob"))
    bob.write("Sam Rivera", "partner", "Dana Kim", scope={"user": "bob"})
    steward = memory.bind(tenure.Principal(user="stu", roles=frozenset({"steward"})))
    assert steward.entities.merge(sam, dana).merge_id

    # What only some may see asks nobody else.
    lee, kim = person(memory, "Lee Park"), person(memory, "Kim Berg")
    boss = memory.bind(tenure.Principal(user="bob", roles=frozenset({"steward"})))
    boss.write("Lee Park", "partner", "Kim Berg", scope={"user": "bob"})
    refusal_of(boss, lee, kim)
    assert len(boss.actions.list()) == 1
    assert steward.actions.list() == ()


def test_two_stewards_agree_before_a_relation_is_asked_about() -> None:
    policy = Policy(resolution=ResolutionPolicy(second_steward=True))
    with tenure.connect(":memory:", principal=OWNER, policy=policy) as memory:
        sam, dana = person(memory, "Sam Rivera"), person(memory, "Dana Kim")
        memory.write("Sam Rivera", "manager", "Dana Kim")
        stewards = [
            memory.bind(tenure.Principal(user=name, roles=frozenset({"steward"})))
            for name in ("ada", "ben")
        ]
        case = stewards[0].reviews.open(sam, dana)
        assert stewards[0].reviews.accept(case.review_id).merge is None
        with pytest.raises(tenure.Conflict, match="manager of Sam Rivera"):
            stewards[1].reviews.accept(case.review_id)


def test_a_person_and_a_firm_are_no_relation_that_a_word_could_merge(
    memory: tenure.Memory,
) -> None:
    sam = person(memory, "Sam Rivera")
    acme = memory.write({"name": "Acme", "type": "organization"}, "phone", "1").entity or ""
    memory.write("Sam Rivera", "employer", "Acme")
    with pytest.raises(tenure.InvalidInput) as refusal:
        memory.entities.merge(sam, acme)
    assert refusal.value.code == "incompatible_types"
