"""Records are frozen and print shortly, and a mapping inside a value is frozen too."""

import contextlib
import copy
import dataclasses
import inspect
import json
import operator
import pickle
import typing
from collections.abc import Callable, Iterator
from dataclasses import FrozenInstanceError, dataclass, field, fields, is_dataclass
from typing import Any

import pytest

import tenure
from tenure.compiler.request.request import Evidence, Tool, Turn
from tenure.schema import answers, claim, entity, write
from tenure.schema.answers import SlotState
from tenure.schema.records import REPR_LENGTH, FrozenDict, short_repr
from tenure.schema.values import whole_repr
from tenure.schema.vocabulary import SlotStatus
from tenure.schema.write import Write
from tenure.service.backend.caller import ClientPart
from tenure.service.calls.table import CALLS
from tenure.store.port.records import Target

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


# ---- Every record that a caller is handed prints in 200 characters, however long its values are


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


def test_every_record_with_long_values_prints_in_two_lines() -> None:
    texts: dict[str, str] = {}
    for record in records():
        filled: object = object.__new__(record)
        for name, value in values_of(record):
            object.__setattr__(filled, name, value)
        texts[record.__name__] = repr(filled)
    assert len(texts) > 80
    assert [name for name, text in texts.items() if not text.startswith(f"{name}(")] == []
    assert [name for name, text in texts.items() if len(text) > REPR_LENGTH] == []


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


# ---- A mapping that is part of a value: nobody changes it, everybody may copy it


COUNTS = FrozenDict({"a": 1, "b": 2})


@pytest.mark.parametrize(
    "change",
    [
        lambda counts: operator.setitem(counts, "a", 3),
        lambda counts: operator.delitem(counts, "a"),
        lambda counts: operator.ior(counts, {"c": 3}),
        lambda counts: counts.update(c=3),
        lambda counts: counts.setdefault("c", 3),
        lambda counts: counts.pop("a"),
        lambda counts: counts.popitem(),
        lambda counts: counts.clear(),
    ],
)
def test_nothing_changes_it(change: Callable[[Any], object]) -> None:
    with pytest.raises(TypeError, match="copy it with dict"):
        change(COUNTS)
    assert COUNTS == {"a": 1, "b": 2}


def test_many_entries_print_by_their_names() -> None:
    assert repr(COUNTS) == "{'a': 1, 'b': 2}"
    slots = FrozenDict({f"slot_{number}": "what it says " * 5 for number in range(60)})
    assert repr(slots).startswith("<entries: 'slot_0', 'slot_1', ")
    assert repr(slots).endswith(", … of 60>")
    assert len(repr(slots)) < 200
    assert repr(FrozenDict({"office": "Austin " * 40})) == "<entries: 'office'>"


def test_copies_are_equal_and_as_frozen() -> None:
    for twin in (copy.copy(COUNTS), copy.deepcopy(COUNTS), pickle.loads(pickle.dumps(COUNTS))):
        assert (type(twin), twin) == (FrozenDict, COUNTS)
    assert dict(COUNTS) | {"c": 3} == {"a": 1, "b": 2, "c": 3}
    assert json.dumps(COUNTS) == '{"a": 1, "b": 2}'
