"""The type that a relation knows is the type of its value. On every store."""

import pytest

from tenure import InvalidInput, Memory
from tenure.tests.store.builders import Open
from tenure.tests.support.refusals import refused


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
    memory: Memory, subject: object, slot: str, value: object, expected: str
) -> None:
    memory.write(subject, slot, value)
    name = value["name"] if isinstance(value, dict) else value
    assert memory.as_of().entity(name).type == expected


def test_a_value_is_no_entity_of_a_type_that_its_slot_does_not_allow(memory: Memory) -> None:
    place = memory.write({"name": "Mill", "type": "location"}, "allergy", "dust").entity
    ledger = {"name": "Ledger", "type": "system"}
    memory.write(ledger, "owner", "Mill")
    assert memory.as_of().value(ledger, "owner").id != place
    memory.write(ledger, "related_to", place)
    assert [ref.id for ref in memory.as_of().slot(ledger, "related_to").values] == [place]


# ---- When two values are one, and by which words a structure is found. On every store.


def test_marks_that_no_reader_sees_make_no_second_value(memory: Memory) -> None:
    for value in ("Malmö", "Malmö\u200b", "Mal\u00admö"):
        receipt = memory.write("Nils Berg", "skill", value)
    assert receipt.outcome == "confirmed"
    assert len(memory.as_of().slot("Nils Berg", "skill").values) == 1
    assert memory.doctor() == ()


def test_a_text_of_marks_alone_is_empty(open_memory: Open) -> None:
    with refused(InvalidInput, "value_type_mismatch"):
        open_memory().write("Nils Berg", "skill", "\u200b\u2060")


@pytest.mark.parametrize(
    ("query", "hits"), [("hash start", 0), ("note", 0), ("hello words", 1), ("abc", 1), ("late", 0)]
)
def test_a_structure_is_found_by_its_texts_alone(memory: Memory, query: str, hits: int) -> None:
    memory.vocabulary.define_slot("setup", description="how it is run", value_type="json")
    value = {"hash": "abc", "start": 3, "note": ["hello words", "x " * 1000 + "late"]}
    memory.write("Nils Berg", "setup", value)
    assert len(memory.as_of().search(query).hits) == hits
