"""Merging two who stand in a relation: done, with a warning that names the relation."""

from typing import Any

import pytest

import tenure
from tenure.schema.policy import Policy, ResolutionPolicy
from tenure.tests.support.refusals import refused

OWNER = tenure.Principal(user="olga", roles=frozenset({"owner"}), authority_level=0)


@pytest.fixture
def memory() -> Any:
    with tenure.connect(":memory:", principal=OWNER) as memory:
        yield memory


def person(memory: tenure.Memory, name: str) -> str:
    return memory.write({"name": name, "type": "person"}, "title", f"Dr {name}").entity or ""


@pytest.mark.parametrize("is_reversed", [False, True])
@pytest.mark.parametrize("slot", ["manager", "partner", "parent", "sibling", "friend"])
def test_a_merge_over_a_relation_warns_by_name_in_either_order(
    memory: tenure.Memory, slot: str, is_reversed: bool
) -> None:
    sam, dana = person(memory, "Sam Rivera"), person(memory, "Dana Kim")
    memory.write("Sam Rivera", slot, "Dana Kim")
    merge = memory.entities.merge(*((dana, sam) if is_reversed else (sam, dana)))
    (warning,) = merge.warnings
    assert f"Dana Kim is the {slot} of Sam Rivera" in warning
    # No loop: whoever is their own manager is no neighbour of themselves.
    assert memory.as_of().neighbourhood(sam).edges == ()

    memory.entities.unmerge(merge.merge_id)
    assert memory.actions.list() == ()
    assert memory.as_of().value("Sam Rivera", slot).id == dana
    assert memory.doctor() == ()


def test_a_case_says_it_in_its_preview_and_in_its_receipt(memory: tenure.Memory) -> None:
    sam, dana = person(memory, "Sam Rivera"), person(memory, "Dana Kim")
    memory.write("Sam Rivera", "manager", "Dana Kim")
    case = memory.reviews.open(sam, dana)
    impact = memory.reviews.get(case.review_id).impact
    assert impact is not None
    assert "Dana Kim is the manager of Sam Rivera" in impact.standing[0]
    assert impact.members == 2

    merge = memory.reviews.accept(case.review_id).merge
    assert merge is not None
    assert "Dana Kim is the manager of Sam Rivera" in merge.warnings[0]


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
    assert memory.entities.merge(sam, dana).warnings == ()


def test_a_relation_of_a_member_counts_for_its_cluster(memory: tenure.Memory) -> None:
    sam, dana, sammy = (person(memory, name) for name in ("Sam Rivera", "Dana Kim", "Sammy R"))
    memory.write("Sammy R", "manager", "Dana Kim")
    memory.entities.merge(sam, sammy)
    assert memory.entities.merge(dana, sam).warnings


def test_a_relation_that_the_steward_may_not_see_is_not_told(memory: tenure.Memory) -> None:
    sam, dana = person(memory, "Sam Rivera"), person(memory, "Dana Kim")
    bob = memory.bind(tenure.Principal(user="bob"))
    bob.write("Sam Rivera", "partner", "Dana Kim", scope={"user": "bob"})
    steward = memory.bind(tenure.Principal(user="stu", roles=frozenset({"steward"})))
    assert steward.entities.merge(sam, dana).warnings == ()

    # Who may see it is warned.
    lee, kim = person(memory, "Lee Park"), person(memory, "Kim Berg")
    boss = memory.bind(tenure.Principal(user="bob", roles=frozenset({"steward"})))
    boss.write("Lee Park", "partner", "Kim Berg", scope={"user": "bob"})
    assert boss.entities.merge(lee, kim).warnings


def test_the_second_of_two_stewards_is_warned() -> None:
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
        merge = stewards[1].reviews.accept(case.review_id).merge
        assert merge is not None
        assert "manager of Sam Rivera" in merge.warnings[0]


def test_a_person_and_a_firm_are_no_relation_that_a_word_could_merge(
    memory: tenure.Memory,
) -> None:
    sam = person(memory, "Sam Rivera")
    acme = memory.write({"name": "Acme", "type": "organization"}, "phone", "1").entity or ""
    memory.write("Sam Rivera", "employer", "Acme")
    with refused(tenure.InvalidInput, "incompatible_types"):
        memory.entities.merge(sam, acme)
