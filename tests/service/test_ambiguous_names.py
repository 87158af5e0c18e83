"""The six cases in which one word means several things, or several words one (D2)."""

from collections.abc import Iterator

import pytest

from tenure import EntityRef, Memory, connect


@pytest.fixture
def memory() -> Iterator[Memory]:
    with connect(":memory:") as opened:
        opened.vocabulary.define_slot("noted", description="what was noted", cardinality="many")
        yield opened


def root_of(memory: Memory, name: str, kind: str) -> str:
    """Write about a name and return whom it means."""
    receipt = memory.write(EntityRef(name=name, type=kind), "noted", f"{name} {kind}")
    assert receipt.entity is not None
    return memory.entities.get(receipt.entity).entity.entity_id


def questions(memory: Memory) -> list[str]:
    return [case.mention for case in memory.reviews.list()]


def test_one_first_name_in_two_teams_asks_once_both_are_known(memory: Memory) -> None:
    sams = [
        EntityRef(name="Sam", type="person", external_ids={"employee": number}) for number in "12"
    ]
    ids = [memory.write(sam, "noted", "x").entity for sam in sams]
    assert ids[0] != ids[1]
    assert root_of(memory, "Sam", "person") not in ids
    assert questions(memory) == ["Sam"]


def test_a_role_stays_one_while_its_holder_changes(memory: Memory) -> None:
    memory.vocabulary.define_slot("held_by", description="who holds a role", cardinality="one")
    role = EntityRef(name="the CTO", type="role")
    memory.write(role, "held_by", "Ann", valid_from="2024-01-01T00:00:00Z")
    memory.write(role, "held_by", "Ben", valid_from="2025-01-01T00:00:00Z")
    assert memory.as_of(valid="2024-06-01T00:00:00Z").value("the CTO", "held_by") == "Ann"
    assert root_of(memory, "CTO", "role") == root_of(memory, "the CTO", "role")
    assert root_of(memory, "AI-ENG-A", "role") != root_of(memory, "AI-ENG-B", "role")
    assert questions(memory) == []


def test_one_word_for_project_system_and_tenant_is_three_things(memory: Memory) -> None:
    kinds = ("project", "system", "tenant")
    ids = {root_of(memory, "Nova", kind) for kind in kinds}
    assert len(ids) == 3
    assert root_of(memory, "Nova", "unknown") not in ids
    assert questions(memory) == ["Nova"]


def test_a_description_is_no_name_of_what_it_describes(memory: Memory) -> None:
    ids = [root_of(memory, n, "document") for n in ("prompt-repository", "the prompt repo")]
    assert ids[0] != ids[1]


def test_a_place_that_is_also_a_unit_is_two_things(memory: Memory) -> None:
    place, unit, city = (
        root_of(memory, name, kind)
        for name, kind in (
            ("Chicago office", "location"),
            ("Chicago office", "team"),
            ("Chicago", "location"),
        )
    )
    assert len({place, unit, city}) == 3
    assert root_of(memory, "Chicago Office", "unknown") not in (place, unit, city)
    assert questions(memory) == ["Chicago Office"]


def test_numbered_siblings_are_two_and_nobody_is_asked(memory: Memory) -> None:
    rooms = [root_of(memory, name, "location") for name in ("Room 101", "Room 102", "Room 101")]
    assert rooms[0] == rooms[2] != rooms[1]
    assert questions(memory) == []


def test_a_fact_of_one_of_two_says_that_it_is_undecided_of_whom(memory: Memory) -> None:
    for number, title in (("3301", "welder"), ("3302", "planner")):
        vance = EntityRef(name="Erik Vance", type="person", external_ids={"hr": number})
        memory.write(vance, "title", title)
    receipt = memory.write(EntityRef(name="Erik Vance", type="person"), "office", "Bergen")

    question = "Where is Erik Vance's office, and what is his title?"
    text = memory.compile("assistant", question, budget_tokens=900).text
    assert "office = Bergen (said of one of the two; undecided)" in text
    assert text.count("undecided)") == 1
    memory.reviews.accept(receipt.reviews[0], entity=memory.reviews.list()[0].candidates[0].entity)
    assert "undecided)" not in memory.compile("assistant", question, budget_tokens=900).text
