"""Every record that a caller is handed prints in 200 characters, however long its values are."""

from __future__ import annotations

import contextlib
import dataclasses
import inspect
import json
import typing
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

import tenure
from tenure.compiler.request.request import Evidence, Tool, Turn
from tenure.schema.short_repr import REPR_LENGTH, short_repr
from tenure.schema.values import whole_repr
from tenure.service.backend.caller import ClientPart
from tenure.service.calls.table import CALLS
from tenure.store.port.targets import Target

LONG = "word " * 400
KEY = b"\xab\xcd" * 16


def records() -> list[type]:
    """The records of the public face and of every answer, and those that stand in them."""
    reached: dict[type, None] = {}
    for name in vars(tenure)["__all__"]:
        _visit(getattr(tenure, name), reached)
    for call in CALLS:
        _visit(call.answer, reached)
    return [record for record in reached if not issubclass(record, ClientPart)]


def _visit(annotation: Any, reached: dict[type, None]) -> None:
    for argument in typing.get_args(annotation):
        _visit(argument, reached)
    if not inspect.isclass(annotation) or not dataclasses.is_dataclass(annotation):
        return
    if annotation in reached:
        return

    reached[annotation] = None
    with contextlib.suppress(NameError):  # of a type that its module imports for checkers alone
        for hint in typing.get_type_hints(annotation).values():
            _visit(hint, reached)


def values_of(record: type) -> Iterator[tuple[str, Any]]:
    """For each field something long, whatever its type: a `repr` never looks at the type."""
    for number, each in enumerate(dataclasses.fields(record)):
        long_values = (LONG, (LONG,) * 30, {LONG: LONG}, [{"a": [LONG] * 9}] * 9, 10**300)
        yield each.name, long_values[number % len(long_values)]


@pytest.mark.parametrize("record", records(), ids=lambda record: record.__name__)
def test_a_record_with_long_values_prints_in_two_lines(record: type) -> None:
    filled: object = object.__new__(record)
    for name, value in values_of(record):
        object.__setattr__(filled, name, value)
    text = repr(filled)
    assert text.startswith(f"{record.__name__}(")
    assert len(text) <= REPR_LENGTH


def test_there_are_as_many_records_as_the_face_has() -> None:
    assert len(records()) > 80


def test_no_record_prints_a_key_or_a_password() -> None:
    target = Target(uri="neo4j://localhost", auth=("neo4j", "hunter2"))
    assert "hunter2" not in repr(target)
    memory = tenure.connect(":memory:", tenant_key=KEY)
    with memory:
        memory.write("Sam Rivera", "office", "Chicago")
        envelope = memory.compile("assistant", "Where does Sam Rivera work?")
        for handed in (memory, memory.policy, envelope, envelope.manifest, memory.principal):
            assert len(repr(handed)) <= REPR_LENGTH
            assert KEY.hex() not in repr(handed)
            assert repr(KEY)[2:-1] not in repr(handed)


@dataclass(frozen=True)
class Note:
    text: str
    tags: tuple[str, ...] = ()
    words: list[str] = field(default_factory=list[str])
    secret: str = field(default="hidden", repr=False)

    __repr__ = short_repr


def test_a_short_record_prints_whole() -> None:
    assert repr(Note("a", ("b",))) == "Note(text='a', tags=('b',), words=[])"


def test_a_long_one_leaves_its_defaults_out_and_cuts_its_values() -> None:
    text = repr(Note(LONG, words=[LONG]))
    assert "tags" not in text
    assert "hidden" not in text
    assert text.count("...") == 2


def test_words_times_ids_and_records_inside_read_at_a_glance() -> None:
    with tenure.connect(":memory:") as memory:
        receipt = memory.write("Sam Rivera", "office", "Chicago")
    text = repr(receipt)
    assert text.startswith(
        f"Receipt(object_id='{receipt.object_id[:8]}…', tx={receipt.tx.isoformat()}"
    )
    assert "outcome='accepted'" in text
    assert "resolution=Resolution(…)" in text


def test_what_does_not_fit_at_all_is_its_name() -> None:
    many = dataclasses.make_dataclass(
        "Many", [(f"a_field_with_quite_a_long_name_{n}", str) for n in range(20)], repr=False
    )
    many.__repr__ = short_repr  # type: ignore[method-assign, assignment]
    assert repr(many(*[LONG] * 20)).endswith(", …)")
    endless = dataclasses.make_dataclass("Endless", [("x" * 200, str)], repr=False)
    endless.__repr__ = short_repr  # type: ignore[method-assign, assignment]
    assert repr(endless("y")) == "Endless(…)"


def test_a_digest_sees_all_of_a_value() -> None:
    assert whole_repr(Note("a")) == "Note(text='a', tags=(), words=[])"
    assert whole_repr([(Turn(text="a"),), {"b": Note(LONG)}]).count(LONG) == 1
    first, second = (Evidence(text=LONG + word + LONG) for word in ("one", "two"))
    assert (repr(first) == repr(second), whole_repr(first) == whole_repr(second)) == (True, False)


def test_items_that_differ_behind_their_first_words_are_two() -> None:
    tools = [
        Tool(name="look", description=LONG, input_schema=json.dumps({"title": LONG + word}))
        for word in ("one", "two")
    ]
    with tenure.connect(":memory:") as memory:
        envelope = memory.compile("assistant", "look", tools=tools, budget_tokens=20_000)
    ids = [each.object_id for each in envelope.trace.compiled_objects]
    assert len(ids) == len(set(ids))
