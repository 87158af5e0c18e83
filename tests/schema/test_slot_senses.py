"""An unknown slot brings near ones by spelling and by meaning, and how to list or define."""

from __future__ import annotations

import pytest

from tenure.schema.slot_senses import OTHER_WORDS, near_slots, unknown_slot
from tenure.schema.slots import BUILT_IN_SLOTS, Slot


@pytest.mark.parametrize(
    ("name", "nearest"),
    [
        ("ofice", "office"),
        ("works_for", "employer"),
        ("hometown", "home"),
        ("boss", "manager"),
        ("wife", "partner"),
        ("due_date", "deadline"),
        ("allergies", "allergy"),
        ("illness", "health_condition"),
        ("medicine", "medication"),
        ("car", "vehicle"),
    ],
)
def test_the_nearest_slot_is_what_a_person_meant(name: str, nearest: str) -> None:
    assert near_slots(name, BUILT_IN_SLOTS)[0] == nearest


def test_what_only_sounds_alike_is_not_offered() -> None:
    assert near_slots("salary", BUILT_IN_SLOTS) == ()


def test_a_description_counts_where_no_name_does() -> None:
    slots = {"shelf": Slot(name="shelf", description="where the warehouse keeps it")}
    assert near_slots("warehouse_place", slots) == ("shelf",)


def test_at_most_three_are_offered() -> None:
    assert len(near_slots("name_title_team_office_email", BUILT_IN_SLOTS)) == 3


def test_a_misspelt_slot_has_its_neighbour_alone() -> None:
    assert str(unknown_slot("ofice", BUILT_IN_SLOTS)) == (
        "unknown slot 'ofice': did you mean 'office'?"
    )


@pytest.mark.parametrize("name", ["works_for", "salary"])
def test_a_slot_that_is_missing_says_how_to_list_and_how_to_define(name: str) -> None:
    text = str(unknown_slot(name, BUILT_IN_SLOTS))
    assert "`tenure slots`" in text
    assert "`tenure define slot NAME" in text


def test_the_other_words_are_those_of_slots_that_there_are() -> None:
    assert set(OTHER_WORDS) <= set(BUILT_IN_SLOTS)
