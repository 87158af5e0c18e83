"""The table of calls knows every public call, and what travels comes back as it was."""

from collections.abc import Iterator
from typing import Any

import pytest

from tenure import InvalidInput, Memory, connect
from tenure.service.calls.parts import PARTS, part_class
from tenure.service.calls.run import answer_adapter, answer_json, request_model, run
from tenure.service.calls.table import BY_NAME, CALLS, EMBEDDED_ONLY, EnvelopeRecord
from tenure.service.documents.sync import SyncRules
from tenure.tests.support.refusals import refused

EMBEDDED_CALLS = 19
"""How many calls stay in the process of the store; each more needs its reason."""


def public_names() -> set[str]:
    names: set[str] = set()
    for part in PARTS:
        members = vars(part_class(part))
        names_of_part = {name for name in members if not name.startswith("_")} - set(PARTS)
        names |= {f"{part}.{name}" if part else name for name in names_of_part}
    return names


def test_every_public_call_is_in_the_table_or_says_why_not() -> None:
    assert public_names() <= BY_NAME.keys() | EMBEDDED_ONLY.keys()
    assert BY_NAME.keys().isdisjoint(EMBEDDED_ONLY)
    assert set(EMBEDDED_ONLY) <= public_names()
    assert len(EMBEDDED_ONLY) == EMBEDDED_CALLS
    assert all(EMBEDDED_ONLY.values())
    assert len(BY_NAME) == len(CALLS)


def test_a_request_is_the_same_once_the_rules_of_a_sync_were_read() -> None:
    SyncRules.model_validate({"rule": [{"match": "*", "security_classification": "public"}]})
    request_model.cache_clear()
    schema = request_model(BY_NAME["documents.put"]).model_json_schema()
    kinds = schema["properties"]["security_classification"]["anyOf"]
    assert kinds == [{"type": "string"}, {"type": "null"}]


def test_every_call_has_a_request_and_an_answer() -> None:
    open_calls: list[str] = []
    for call in CALLS:
        if request_model(call).model_json_schema()["additionalProperties"] is not False:
            open_calls.append(call.name)
        assert answer_adapter(call).json_schema(mode="serialization") is not None, call.name
    assert open_calls == []


@pytest.fixture(scope="module")
def memory() -> Iterator[Memory]:
    with connect(":memory:") as memory:
        memory.write("Sam Rivera", "office", "Austin", valid_from="2026-01-01T00:00:00Z")
        memory.write("Sam Rivera", "office", "Chicago", valid_from="2026-06-01T00:00:00Z")
        memory.write("Kim Lee", "manager", "Sam Rivera")
        text = "# Leave\n\nParental leave is 14 weeks.\n"
        fields = {"name": "leave.md", "source": "handbook", "effective": "2026-01-01"}
        memory.documents.put(text, **fields)
        yield memory


REQUESTS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("history", {"entity": "Sam Rivera", "slot": "office"}),
    ("diff", {"tx1": "-infinity", "tx2": "infinity"}),
    ("log", {}),
    ("mentions", {"text": "Ask Kim Lee."}),
    ("sessions.list", {}),
    ("doctor", {}),
    ("policy", {}),
    ("view.slot", {"entity": "Sam Rivera", "slot": "office", "valid": "2026-02-01T00:00:00Z"}),
    ("view.value", {"entity": {"name": "Sam Rivera"}, "slot": "office"}),
    ("view.facts", {"entity": "Sam Rivera"}),
    ("view.timeline", {"entity": "Sam Rivera", "slot": "office"}),
    ("view.plane", {"entity": "Sam Rivera", "slot": "office"}),
    ("view.entity", {"mention": "Kim Lee"}),
    ("view.neighbourhood", {"entity": "Kim Lee"}),
    ("view.search", {"text": "Chicago"}),
    ("vocabulary.slots", {}),
    ("vocabulary.tools", {}),
    ("vocabulary.values", {"what": "task_type"}),
    ("entities.resolve", {"mention": "Kim Lee"}),
    ("entities.get", {"entity": "Kim Lee"}),
    ("entities.list", {}),
    ("entities.relations", {}),
    ("reviews.list", {}),
    ("reviews.groups", {}),
    ("reviews.matching", {"type": "person"}),
    ("reviews.progress", {}),
    ("resolution.audit", {}),
    ("actions.actions", {}),
    ("envelopes.list", {}),
    ("artifacts.list", {}),
    ("documents.list", {}),
    ("documents.get", {"name": "handbook/leave.md"}),
    ("documents.versions", {"name": "handbook/leave.md"}),
    ("documents.compare", {"name": "handbook/leave.md", "a": "2026-02-01", "b": "2026-03-01"}),
    ("documents.cite", {"object_ids": []}),
)


@pytest.mark.parametrize(("name", "body"), REQUESTS)
def test_an_answer_comes_back_as_it_was(memory: Memory, name: str, body: dict[str, Any]) -> None:
    call = BY_NAME[name]
    answer = run(memory, call, body)
    adapter = answer_adapter(call)
    copy = adapter.validate_json(answer_json(call, answer))
    if name == "vocabulary.slots":
        assert dict(copy) == dict(answer)
    elif name == "reviews.progress":
        assert type(copy) is type(answer)
    else:
        assert copy == answer


def test_an_envelope_comes_back_whole(memory: Memory) -> None:
    call = BY_NAME["compile"]
    record = run(memory, call, {"task": "assistant", "query": "Where does Sam Rivera work?"})
    assert isinstance(record, EnvelopeRecord)
    envelope = answer_adapter(call).validate_json(answer_json(call, record)).envelope()
    copy = memory.replay(envelope.manifest)
    assert envelope.digest == copy.digest == record.digest
    assert envelope.blocks == copy.blocks
    assert envelope.trace == copy.trace
    assert envelope.quality == copy.quality
    assert envelope.render("openai") == copy.render("openai")
    assert envelope.sidecar["at"].tzinfo is not None


@pytest.mark.parametrize(
    ("name", "body", "code"),
    [
        ("history", {"entity": "Sam Rivera"}, "bad_request"),
        ("history", {"entity": "Sam Rivera", "slot": "office", "tenant": "b"}, "bad_request"),
        (
            "write",
            {"subject": "A", "slot": "office", "value": "x", "scope": {"user": ""}},
            "bad_scope",
        ),
    ],
)
def test_a_malformed_request_is_refused(memory: Memory, name: str, body: Any, code: str) -> None:
    with refused(InvalidInput, code):
        run(memory, BY_NAME[name], body)


def test_an_original_is_read_with_its_envelope(memory: Memory) -> None:
    envelope = memory.compile("assistant", "Where does Sam Rivera work?")
    memory.flush()
    body = {"pointer": "[1]", "envelope": envelope.envelope_id}
    assert b"Chicago" in run(memory, BY_NAME["rehydrate"], body).data
