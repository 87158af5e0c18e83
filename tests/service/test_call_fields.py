"""The keywords of the client are the fields of what it makes of them."""

from __future__ import annotations

from dataclasses import fields
from typing import get_args, get_type_hints

from tenure.compiler.request.request import CompileRequest
from tenure.schema.slots import Slot
from tenure.schema.vocabulary import Op
from tenure.schema.write import RESTATE, Write, WriteFields
from tenure.service.compilation.compile import RequestFields
from tenure.service.writing.vocabulary import SlotFields


def test_the_keywords_of_a_write_are_the_fields_of_a_write_with_their_types() -> None:
    types = get_type_hints(Write)
    for name in ("subject", "slot", "value", "op"):
        del types[name]
    fields = get_type_hints(WriteFields)
    # A line of a file may state any text, so only the keyword is held to the known verbs.
    assert set(get_args(fields.pop("op"))) == {*map(str, Op), RESTATE}
    assert fields == types


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
