"""A conversation observed as a list of messages: who speaks decides what it is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tenure import InvalidInput, Memory, Principal, connect

TALK: list[dict[str, Any]] = [
    {"role": "system", "content": "You are a travel agent. I live in Rome."},
    {"role": "user", "content": "I live in Lisbon and I'm allergic to peanuts."},
    {"role": "assistant", "content": "I live in Paris. Shall I look for flights?",
     "tool_calls": [{"id": "c1", "type": "function",
                     "function": {"name": "search", "arguments": "{}"}}]},
    {"role": "tool", "tool_call_id": "c1", "name": "search", "content": "I work at Globex."},
]  # fmt: skip


@pytest.fixture
def ann() -> Iterator[Memory]:
    with connect(":memory:") as memory:
        yield memory.bind(Principal(user="ann", roles=frozenset({"agent"}), session="s1"))


def test_the_user_speaks_for_himself_and_the_rest_is_kept_at_its_level(ann: Memory) -> None:
    receipts = ann.observe(TALK)
    objects = [ann.explain(receipt.object_id).object for receipt in receipts]
    passages = [each for each in objects if each.object_type.value == "retrieved_passage"]
    assert [(p.source_origin.partition("/")[0], int(p.authority_level)) for p in passages] == [
        ("chat:", 2), ("agent:", 3), ("agent:", 3), ("tool:", 4),
    ]  # fmt: skip
    assert "Rome" not in str(objects)
    view = ann.as_of()
    assert view.value("ann", "home") == "Lisbon"
    assert view.slot("ann", "allergy").values == ("peanuts",)
    assert view.value("ann", "employer") is None
    assert view.entity("ann").external_ids["user"] == "ann"


def test_a_stated_speaker_is_who_the_user_is(ann: Memory) -> None:
    ann.observe(TALK[:2], speaker="Ana Ortiz")
    assert ann.as_of().value("Ana Ortiz", "home") == "Lisbon"


def test_what_was_said_is_found_in_a_compile_for_a_conversation(ann: Memory) -> None:
    ann.observe(TALK)
    question = {"role": "user", "content": "May I eat peanuts?"}
    envelope = ann.compile("conversation", "allergic to peanuts", history=[question])
    assert "peanuts" in envelope.text
    assert ann.compile("assistant", "peanuts").text


def test_what_is_no_message_is_refused_before_anything_is_written(ann: Memory) -> None:
    with pytest.raises(InvalidInput):
        ann.observe([TALK[1], {"role": "user"}])
    assert ann.as_of().search("peanuts").hits == ()
