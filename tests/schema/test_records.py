"""Records are frozen, and what a caller may leave out has the default that the API names."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, fields, is_dataclass

import pytest

from tenure.schema import answers, claim, entity, write
from tenure.schema.answers import SlotState
from tenure.schema.vocabulary import SlotStatus
from tenure.schema.write import Write

RECORDS = sorted(
    {
        record
        for module in (answers, claim, entity, write)
        for record in vars(module).values()
        if isinstance(record, type)
        and is_dataclass(record)
        and record.__module__ == module.__name__
    },
    key=lambda record: record.__qualname__,
)


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.__name__)
def test_a_record_is_frozen_and_small(record: type) -> None:
    assert record.__dataclass_params__.frozen  # type: ignore[attr-defined]
    assert "__slots__" in vars(record)
    assert not hasattr(record, "save")


def test_a_write_says_as_little_as_it_must() -> None:
    bare = Write()
    stated = {f.name: getattr(bare, f.name) for f in fields(bare)}
    assert {name: value for name, value in stated.items() if value} == {
        "op": "assert",
        "source_origin": "user://chat",
        "confidence": 0.8,
    }


def test_an_unknown_slot_holds_nothing() -> None:
    state = SlotState(status=SlotStatus.UNKNOWN, reason="no_value")
    assert (state.value, state.values, state.candidates, state.object) == (None, (), (), None)
    with pytest.raises(FrozenInstanceError):
        state.value = "x"  # type: ignore[misc]


def test_a_search_result_is_read_like_its_hits() -> None:
    hits = ("first", "second")
    result = answers.SearchResult(hits=hits)
    assert [*result] == [*hits]
    assert (len(result), result[1], bool(answers.SearchResult(hits=()))) == (2, "second", False)
