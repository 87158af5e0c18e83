"""The keywords of the client are the fields of what it makes of them."""

from dataclasses import fields
from enum import StrEnum
from typing import get_args, get_type_hints

import pytest

from tenure.compiler.request.request import CompileRequest
from tenure.schema import vocabulary
from tenure.schema.slots import Slot
from tenure.schema.vocabulary import Op
from tenure.schema.write import RESTATE, Write
from tenure.service.backend import words
from tenure.service.backend.words import WriteFields
from tenure.service.compilation.compile import RequestFields
from tenure.service.sessions.session import NoteStatus, NoteWord, ResultKind
from tenure.service.writing.vocabulary import SlotFields
from tenure.window.events import NoteCategory, SubtaskStatus
from tenure.window.units import ToolKind


def test_the_keywords_of_a_write_are_the_fields_of_a_write_with_their_types() -> None:
    types = get_type_hints(Write)
    for name in ("subject", "slot", "value"):
        del types[name]
    fields = get_type_hints(WriteFields)
    assert fields.keys() == types.keys()
    # A line of a file may state any text, so only the keyword is held to the known words.
    assert {name for name in fields if fields[name] != types[name]} == {
        *("op", "object_type", "layer", "security_classification", "sensitivity"),
        "retirement_rule",
    }
    assert set(get_args(fields["op"])) == {*map(str, Op), RESTATE}


@pytest.mark.parametrize(
    ("union", "members"),
    [
        (words.ObjectTypeWord, vocabulary.ObjectType),
        (words.LayerWord, vocabulary.StateLayer),
        (words.ClassificationWord, vocabulary.Classification),
        (words.RetirementWord, vocabulary.RetirementRule),
        (words.SlotKindWord, vocabulary.SlotKind),
        (words.ValueTypeWord, vocabulary.ValueType),
        (words.CardinalityWord, vocabulary.Cardinality),
        (words.PrecedenceWord, vocabulary.Precedence),
        (words.SensitivityWord, vocabulary.Sensitivity),
        (NoteWord, NoteCategory),
        (NoteStatus, SubtaskStatus),
    ],
)
def test_a_checker_knows_every_word_of_a_list_and_no_other(
    union: object, members: type[StrEnum]
) -> None:
    enumeration, literal = get_args(union)
    assert (enumeration, get_args(literal)) == (members, tuple(map(str, members)))


def test_the_results_of_tools_are_of_the_known_kinds() -> None:
    assert get_args(ResultKind) == tuple(map(str, ToolKind))


def test_the_keywords_of_a_compile_are_the_fields_of_a_request() -> None:
    own = {field.name for field in fields(CompileRequest)}
    # Pinned ids and media come among other items, a user among the entities, times as instants,
    # and a session alone says of which window it is.
    own -= {"task", "query", "media", "pinned_ids", "valid_us", "tx_us", "window"}
    assert {*RequestFields.__annotations__} == own | {"valid", "tx", "user"}


def test_the_keywords_of_a_slot_are_the_fields_of_a_slot() -> None:
    assert {*SlotFields.__annotations__} == {field.name for field in fields(Slot)} - {
        "name",
        "value_types",
    }
