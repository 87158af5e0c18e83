"""When two values are one, and by which words a structure is found. On every store."""

from __future__ import annotations

import pytest

from tenure import InvalidInput
from tenure.tests.store.builders import Open
from tenure.tests.support.refusals import refused


def test_marks_that_no_reader_sees_make_no_second_value(open_memory: Open) -> None:
    memory = open_memory()
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
def test_a_structure_is_found_by_its_texts_alone(open_memory: Open, query: str, hits: int) -> None:
    memory = open_memory()
    memory.vocabulary.define_slot("setup", description="how it is run", value_type="json")
    value = {"hash": "abc", "start": 3, "note": ["hello words", "x " * 1000 + "late"]}
    memory.write("Nils Berg", "setup", value)
    assert len(memory.as_of().search(query).hits) == hits
