"""The type that a relation knows is the type of its value. On every store."""

from __future__ import annotations

import pytest

from tenure.tests.store.builders import Open


@pytest.mark.parametrize(
    ("subject", "slot", "value", "expected"),
    [
        ("Vera Stolz", "manager", "Ivo Kraan", "person"),
        ("Vera Stolz", "friend", "Ivo Kraan", "person"),
        ("Vera Stolz", "employer", "Quarry Works", "organization"),
        ("Vera Stolz", "team", "Looms", "team"),
        ("Vera Stolz", "related_to", "Quarry Works", "unknown"),
        ({"name": "Ledger", "type": "system"}, "owner", "Ivo Kraan", "unknown"),
        ("Vera Stolz", "employer", {"name": "Jo Wend", "type": "person"}, "person"),
    ],
)
def test_a_value_has_the_one_type_that_its_slot_allows(
    open_memory: Open, subject: object, slot: str, value: object, expected: str
) -> None:
    memory = open_memory()
    memory.write(subject, slot, value)
    name = value["name"] if isinstance(value, dict) else value
    assert memory.as_of().entity(name).type == expected


def test_a_value_is_no_entity_of_a_type_that_its_slot_does_not_allow(open_memory: Open) -> None:
    memory = open_memory()
    place = memory.write({"name": "Mill", "type": "location"}, "allergy", "dust").entity
    ledger = {"name": "Ledger", "type": "system"}
    memory.write(ledger, "owner", "Mill")
    assert memory.as_of().value(ledger, "owner").id != place
    memory.write(ledger, "related_to", place)
    assert [ref.id for ref in memory.as_of().slot(ledger, "related_to").values] == [place]
