"""What a write says beside a name is weighed before the name binds. On every store."""

from typing import Any

import pytest

from tenure import Memory, Principal, Write
from tenure.tests.store.builders import Open, person

EARLY, LATE = "1961-02-17", "1994-10-05"


def born(memory: Memory, name: str, day: str, **fields: Any) -> Any:
    return memory.write(person(name), "birthday", day, **fields)


@pytest.mark.parametrize("slots", [("birthday", "office"), ("office", "birthday")])
def test_two_birthdays_of_one_name_are_two_people(memory: Memory, slots: tuple[str, str]) -> None:
    for day in (EARLY, LATE):
        memory.write_many([
            Write(subject=person("Mark Ellis"), slot=slot, value=day,
                  source_origin=f"record://members/{day}")
            for slot in slots
        ])  # fmt: skip
    assert len(memory.entities.list()) == 2
    assert memory.reviews.list() == ()
    (suggestion,) = memory.reviews.list(kind="all")
    # A few decisions are drawn for an audit, whatever they are.
    assert suggestion.reason in {"possible_same_as", "audit"}


def test_a_record_that_is_split_over_writes_is_one_record(memory: Memory) -> None:
    ids: dict[str, str] = {}
    for day in (EARLY, LATE):
        ids[day] = born(memory, "Mark Ellis", day, source_origin=f"record://members/{day}").entity
    assert len(set(ids.values())) == 2
    for day in (LATE, EARLY):
        receipt = memory.write(
            person("Mark Ellis"), "office", "Turin", source_origin=f"record://members/{day}"
        )
        assert receipt.entity == ids[day]


def test_an_equal_birthday_decides_between_namesakes(memory: Memory) -> None:
    first, second = born(memory, "Mark Ellis", EARLY), born(memory, "Mark Ellis", LATE)
    assert born(memory, "Mark Ellis", LATE).entity == second.entity
    assert born(memory, "Mark Ellis", EARLY).entity == first.entity
    assert memory.write(person("Mark Ellis"), "office", "Turin").outcome == "pending_review"


@pytest.mark.parametrize("day", ["1994-05-10", "1994-10-06"], ids=["exchanged", "one digit"])
def test_a_near_birthday_is_a_review(memory: Memory, day: str) -> None:
    born(memory, "Mark Ellis", LATE)
    assert born(memory, "Mark Ellis", day).outcome == "pending_review"


@pytest.mark.parametrize("name", ["Mark Elliss", "M. Ellis"])
@pytest.mark.parametrize("turned", [False, True])
def test_an_equal_birthday_lifts_a_near_name(open_memory: Open, name: str, *, turned: bool) -> None:
    names = ["Mark Ellis", name][:: -1 if turned else 1]
    memory = open_memory()
    known = born(memory, names[0], LATE)
    assert born(memory, names[1], LATE).entity == known.entity
    other = open_memory()
    known = born(other, names[0], LATE)
    assert born(other, names[1], EARLY).entity != known.entity
    assert other.reviews.list() == ()


def test_a_name_binds_where_one_side_states_nothing(memory: Memory) -> None:
    known = memory.write(person("Mark Ellis"), "office", "Turin")
    assert born(memory, "Mark Ellis", LATE).entity == known.entity
    assert memory.write(person("Mark Ellis"), "phone", "1").entity == known.entity


def test_a_birthday_of_a_hidden_fact_tells_nobody_apart(memory: Memory) -> None:
    known = memory.write(person("Mark Ellis"), "office", "Turin")
    born(memory, "Mark Ellis", LATE, allow_roles=["finance"])
    caller = memory.bind(Principal(tenant=memory.principal.tenant, user="ann"))
    assert born(caller, "Mark Ellis", EARLY).entity == known.entity


def test_the_tenants_own_constant_tells_people_apart(memory: Memory) -> None:
    memory.vocabulary.define_slot("birth_town", description="where born", constant=True)
    ids = {
        memory.write(person("Mark Ellis"), "birth_town", town).entity for town in ("Ghent", "Turin")
    }
    assert len(ids) == 2


@pytest.mark.parametrize(
    ("bearers", "fields", "outcome"),
    [
        (4, {"source_origin": "record://staff/9"}, "pending_review"),
        (3, {"source_origin": "record://staff/9"}, "accepted"),
        (4, {"source_origin": "user://chat"}, "accepted"),
    ],
    ids=["five bearers, a record", "four bearers, a record", "five bearers, talk"],
)
def test_a_record_names_one_of_five_of_a_family_only_where_something_agrees(
    memory: Memory, bearers: int, fields: dict[str, str], outcome: str
) -> None:
    for name in ("Jo", "Mia", "Karl", "Uma")[:bearers]:
        memory.write(person(f"{name} Ellis"), "office", "Ghent")
    mark = memory.write(person("Mark Ellis", email="m@mill.example"), "office", "Turin")
    receipt = memory.write(person("Mark Ellis"), "team", "looms", **fields)
    assert receipt.outcome == outcome
    assert (receipt.entity == mark.entity) is (outcome == "accepted")

    # An address that agrees is enough, and so is a record that named the person before.
    with_address = memory.write(person("Mark Ellis", email="m@mill.example"), "team", "kilns")
    assert with_address.entity == mark.entity


def record(memory: Memory, number: int, home: str, email: str) -> Any:
    origin = f"record://list/{number}"
    return memory.write(person("Ilse Brandt", email=email), "home", home, source_origin=origin)


def test_two_contacts_or_places_that_differ_tell_two_records_apart(memory: Memory) -> None:
    ours, asked = (
        record(memory, 1, "Turin", "i@mill.example"),
        record(memory, 2, "Turin", "i@q.example"),
    )
    assert (ours.outcome, asked.outcome) == ("accepted", "pending_review")
    assert record(memory, 3, "Ghent", "ilseb@dock.example").outcome == "accepted"
    # Nobody is two people for having moved, where one record or one contact says so.
    assert record(memory, 1, "Ghent", "i@mill.example").entity == ours.entity
    # And a case takes in no record that would not have bound to it.
    assert record(memory, 4, "Turin", "ilse3@dock.example").entity != asked.entity


def test_the_firms_of_a_group_are_not_one_for_their_phone(memory: Memory) -> None:
    for name in ("Tessaly Foods AG", "Tessaly Foods Leasing AG"):
        ids = {"phone": "+41 44 555 0199", "domain": "tessaly.example"}
        ref = {"name": name, "type": "organization", "external_ids": ids}
        assert memory.write(ref, "phone", "112").outcome == "accepted"
    assert len(memory.entities.list()) == 2
