"""No file stands after a refused first call, and none after a read; the first write makes it."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tenure import Memory, TenureError, Write, connect

NOBODY = "01a21403-af39-7bad-9487-dc6de0455e1d"

REFUSALS: dict[str, Callable[[Memory], Any]] = {
    "unknown_object": lambda m: m.write("Sam", "office", "Austin", derived_from=[NOBODY]),
    "unknown_object of a correction": lambda m: m.write(
        "Sam", "office", "Austin", op="correct", object_id=NOBODY
    ),
    "unknown_object of a promotion": lambda m: m.promote(NOBODY, scope={"project": "nova"}),
    "unknown_object of an erasure": lambda m: m.erase(NOBODY, reason="asked"),
    "unknown_object of an explanation": lambda m: m.explain(NOBODY),
    "unknown_entity": lambda m: m.write(NOBODY, "office", "Austin"),
    "unknown_entity of a speaker": lambda m: m.observe("I moved to Chicago.", speaker=NOBODY),
    "unknown_entity of a merge": lambda m: m.entities.merge("Sam Lee", "Samuel Lee"),
    "unknown_merge": lambda m: m.entities.unmerge(NOBODY),
    "unknown_vocabulary": lambda m: m.write("Sam", "ofice", "Austin"),
    "unknown_vocabulary of many": lambda m: m.write_many(
        [
            Write(subject="Sam", slot="office", value="Austin"),
            Write(subject="Sam", slot="ofice", value="Austin"),
        ]
    ),
    "value_type_mismatch": lambda m: m.write("Sam", "manager", 3),
    "secret_in_content": lambda m: m.write("Sam", "office", "sk-ant-api03-" + "a1B2" * 24),
    "bad_field": lambda m: m.write("Sam", "office", "Austin", scope="nowhere"),
    "bad_time": lambda m: m.write("Sam", "office", "Austin", valid_from="yesterday"),
    "bad_definition": lambda m: m.vocabulary.define_slot("x"),
    "bad_artifact": lambda m: m.artifacts.get(NOBODY),
    "bad_request": lambda m: m.compile("nobody's task", "Where?", budget_tokens=-3),
    "missing_value": lambda m: m.observe(""),
    "window_too_small": lambda m: m.session("s1", window=1),
}
"""By the code of the refusal."""

READS: dict[str, Callable[[Memory], Any]] = {
    "a value": lambda m: m.as_of().slot("Sam", "office"),
    "a history": lambda m: m.history("Sam", "office"),
    "a log": lambda m: list(m.log()),
    "reviews": lambda m: list(m.reviews.list()),
    "sessions": lambda m: list(m.sessions.list()),
    "envelopes": lambda m: list(m.envelopes.list()),
    "slots": lambda m: m.vocabulary.slots(),
}


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with connect(str(tmp_path / "memory.db")) as memory:
        yield memory


@pytest.mark.parametrize("refusal", REFUSALS)
def test_a_refused_first_call_leaves_no_file(memory: Memory, tmp_path: Path, refusal: str) -> None:
    with pytest.raises(TenureError) as caught:
        REFUSALS[refusal](memory)
    assert caught.value.code == refusal.partition(" ")[0]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("read", READS)
def test_a_read_leaves_no_file(memory: Memory, tmp_path: Path, read: str) -> None:
    READS[read](memory)
    assert list(tmp_path.iterdir()) == []


def test_what_was_read_as_nothing_is_read_again_after_the_first_write(memory: Memory) -> None:
    assert memory.as_of().value("Sam", "office") is None
    receipt = memory.write("Sam", "office", "Austin")
    assert memory.as_of().value("Sam", "office") == "Austin"
    assert memory.explain(receipt.object_id).object.object_id == receipt.object_id


def test_keys_of_a_store_that_nobody_has_written_are_those_of_its_file(tmp_path: Path) -> None:
    path = str(tmp_path / "memory.db")
    with connect(path) as memory:
        secret = memory._backend.secret("default")
    with connect(path) as again:
        assert again._backend.secret("default") == secret


def test_a_session_that_begins_a_store_is_kept(tmp_path: Path) -> None:
    path = str(tmp_path / "memory.db")
    with connect(path) as memory:
        memory.session("s1", window=8_192)
    with connect(path) as again:
        assert [summary.session for summary in again.sessions.list()] == ["s1"]


def test_an_envelope_of_an_empty_store_is_replayed(tmp_path: Path) -> None:
    path = str(tmp_path / "memory.db")
    with connect(path) as memory:
        envelope = memory.compile("assistant", "Where does Sam work?")
    with connect(path) as again:
        assert again.replay(envelope.envelope_id).text == envelope.text
