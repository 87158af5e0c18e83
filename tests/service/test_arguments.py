"""What is no argument is refused by code: every public call, every parameter, every kind of junk.

The calls are read from the signatures, so a new one is tried as soon as it exists.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import tenure
from tenure.schema.errors import InvalidInput, TenureError
from tenure.service.backend.caller import (
    ARGUMENTS,
    annotation_of,
    argument_checks,
    check_argument,
)
from tenure.service.backend.words import WriteFields
from tenure.service.compilation.compile import RequestFields
from tenure.service.compilation.recompile import RequestTerms
from tenure.service.sessions.terms import SessionTerms
from tenure.service.writing.vocabulary import SlotFields
from tenure.tests.support.annotations import READ_BY_THE_CALL

JUNK: tuple[Any, ...] = (
    None, True, 5, -1, 10**30, 0.5, float("nan"), "", " ", "a\x00b", "\ud800", "x" * 20_000, b"x",
    object(), {}, {5: 5}, {"a": object()}, [], [5], [None], ["a\x00b"], ["\ud800"], [["a"]],
    [{"a": 1}], Path("a\x00b"), Path("no/such/folder/file"), lambda: None,
)  # fmt: skip

PARTS = (
    "view", "vocabulary", "actions", "entities", "reviews", "envelopes", "artifacts", "resolution",
    "transfer", "talk",
)  # fmt: skip

ENDS = {"close", "flush", "bind"}
"""What would end the store of this test, or is not given by a payload."""

FILLINGS: dict[str, Any] = {
    "a": "Ann Lee", "b": "Bo Park", "accept": True, "address": "artifact://sha256/00", "after": 0,
    "alias": "Annie", "at": None, "by": "entity", "call_id": "c-1", "cases": (), "category": "done",
    "content": "a result", "data": b"bytes", "decision": "accept", "definition": {},
    "description": "words", "entity": "Ann Lee", "envelope_id": "0" * 64, "events": (),
    "focus": "all", "listener": None, "format": "graphml", "item": 1, "keep": (), "kind": "session",
    "manifest": "0" * 64, "mention": "Ann Lee", "merge_id": "m-1", "message": "hello",
    "milestone": "done", "model": "generic", "most": 1, "name": "words", "object_id": "o-1",
    "origin": "doc://a", "path": "no-such-file", "pointer": "artifact://sha256/00",
    "reason": "a reason", "receipts": (), "reference": "0" * 64, "request": 1, "review_id": "r-1",
    "edit": 1, "scope": None, "slot": "office", "target": "openai", "task": "code_generation",
    "text": "some text", "tx1": None, "tx2": None, "what": "domain", "writes": (),
    "addresses": (), "object_ids": (), "action_id": "a-1", "parts": (), "summariser": None,
    "messages": (), "note": 1, "conclusion": "done", "since": 1,
    "principal": None, "envelope": None, "query": "a question",
}  # fmt: skip
"""A value for each parameter without a default, so that only one of a call is junk."""


def part_of(memory: tenure.Memory, name: str) -> Any:
    if name == "memory":
        return memory
    if name == "view":
        return memory.as_of()
    if name == "talk":
        return memory.session("arguments", window=8_000)
    return getattr(memory, name)


def public_calls(memory: tenure.Memory) -> Iterator[tuple[str, str, str]]:
    """Part, method and parameter of every call."""
    for part in ("memory", *PARTS):
        for name, method in inspect.getmembers(type(part_of(memory, part)), inspect.isfunction):
            if name.startswith("_") or name in ENDS:
                continue
            for parameter in list(inspect.signature(method).parameters.values())[1:]:
                if parameter.kind is not inspect.Parameter.VAR_KEYWORD:
                    yield part, name, parameter.name


with tenure.connect(":memory:") as _memory:
    CALLS = sorted(public_calls(_memory))


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tenure.Memory]:
    owner = tenure.Principal(user="root", roles=frozenset({"owner"}), authority_level=0)
    folder = tmp_path_factory.mktemp("arguments")
    with tenure.connect(f"{folder}/store.db", principal=owner) as opened:
        opened.write("Ann Lee", "office", "Chicago")
        opened.write("Bo Park", "office", "Boston")
        yield opened


def beliefs(memory: tenure.Memory) -> object:
    view = memory.as_of()
    return [view.value(name, "office") for name in ("Ann Lee", "Bo Park")]


@pytest.mark.parametrize(("part", "call", "parameter"), CALLS)
def test_junk_is_refused_by_code_or_does_no_harm(
    memory: tenure.Memory,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    part: str,
    call: str,
    parameter: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    signature = inspect.signature(getattr(type(part_of(memory, part)), call))
    needed = {
        name: FILLINGS[name]
        for name, stated in list(signature.parameters.items())[1:]
        if stated.default is inspect.Parameter.empty
        and stated.kind is not inspect.Parameter.VAR_KEYWORD
    }
    for junk in JUNK:
        try:
            getattr(part_of(memory, part), call)(**{**needed, parameter: junk})
        except TenureError as refusal:
            assert refusal.code

    assert beliefs(memory) == ["Chicago", "Boston"]


def test_every_annotation_is_checked_or_named_as_read_by_the_call(memory: tenure.Memory) -> None:
    unchecked: list[str] = []
    for part, call, parameter in CALLS:
        method = getattr(type(part_of(memory, part)), call)
        bare, _ = annotation_of(inspect.signature(method).parameters[parameter])
        if bare not in ARGUMENTS and bare not in READ_BY_THE_CALL:
            unchecked.append(f"{part}.{call}({parameter}: {bare})")
    assert unchecked == []


def test_a_refusal_names_the_argument_and_what_it_must_be(memory: tenure.Memory) -> None:
    with pytest.raises(InvalidInput, match="object_id must be a text, not int") as refusal:
        memory.explain(5)  # type: ignore[arg-type]
    assert (refusal.value.code, refusal.value.data["field"]) == ("bad_field", "object_id")
    with pytest.raises(InvalidInput, match="'valid_form': did you mean 'valid_from'"):
        memory.write("Sam", "office", "Austin", valid_form="2026")  # type: ignore[call-arg]
    with pytest.raises(InvalidInput, match="slot 'office': this int is no string"):
        memory.write("Sam", "office", 3)


def test_arguments_by_place_and_by_name_are_checked_alike() -> None:
    @argument_checks
    class Desk:
        def take(self, name: str, count: int = 1, *, loud: bool | None = None) -> object:
            return name, count, loud

    desk: Any = Desk()
    assert desk.take("a", 2, loud=None) == ("a", 2, None)
    for given, named in (((5,), {}), (("a", "b"), {}), (("a", True), {}), (("a",), {"loud": 1})):
        with pytest.raises(InvalidInput):
            desk.take(*given, **named)
    with pytest.raises(TypeError):
        desk.take()


def test_a_text_is_no_list_of_texts_and_a_mapping_no_list() -> None:
    for junk in ("abc", {"a": 1}, 5):
        with pytest.raises(InvalidInput):
            check_argument(junk, "roles", ARGUMENTS["Sequence[str]"])
        with pytest.raises(InvalidInput):
            check_argument(junk, "events", ARGUMENTS["Iterable[Mapping[str, Any]]"])


FIELDS: tuple[tuple[str, str, type, dict[str, Any]], ...] = (
    ("memory", "write", WriteFields, {"subject": "Ann Lee", "slot": "note", "value": "x"}),
    ("memory", "compile", RequestFields, {"task": "code_generation"}),
    ("memory", "session", SessionTerms, {"name": "fresh"}),
    ("memory", "what_if", RequestTerms, {"envelope_id": "0" * 64}),
    ("vocabulary", "define_slot", SlotFields, {"name": "shoe_size"}),
)  # fmt: skip


@pytest.mark.parametrize(
    ("part", "call", "needed", "field"),
    [
        (part, call, needed, field)
        for part, call, stated, needed in FIELDS
        for field in (*stated.__annotations__, "no_such_field")
    ],
)
def test_junk_in_a_field_is_refused_by_code_or_does_no_harm(
    memory: tenure.Memory, part: str, call: str, needed: dict[str, Any], field: str
) -> None:
    if call == "what_if":
        needed = {"envelope_id": memory.compile("code_generation", "office").envelope_id}
    for number, junk in enumerate(JUNK):
        if call == "session":
            needed = {"name": f"{field}-{number}"}
        try:
            getattr(part_of(memory, part), call)(**{**needed, field: junk})
        except TenureError as refusal:
            assert refusal.code
        except TypeError as error:
            # Python's own refusal of a keyword that a signature does not know.
            assert field == "no_such_field"
            assert "no_such_field" in str(error)
        else:
            assert field != "no_such_field"

    assert beliefs(memory) == ["Chicago", "Boston"]
