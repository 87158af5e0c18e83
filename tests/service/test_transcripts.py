"""Transcripts of four providers: the same conversation, whatever its form."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tenure import connect
from tenure.schema.errors import InvalidInput, NotFound, Unavailable
from tenure.service.sessions.replay import compare_policies
from tenure.service.sessions.transcript import (
    ToolAnswer,
    Utterance,
    read_transcript,
    transcript_steps,
)

ARGUMENTS = '{"n":1}'
CHAT: list[dict[str, Any]] = [
    {"role": "system", "content": "be kind"},
    {"role": "user", "content": "where?"},
    {
        "role": "assistant",
        "tool_calls": [{"id": "c1", "function": {"name": "look", "arguments": ARGUMENTS}}],
    },
    {"role": "tool", "tool_call_id": "c1", "name": "look", "content": "Rome"},
    {"role": "assistant", "content": "In Rome."},
]
ANTHROPIC: list[dict[str, Any]] = [
    {"role": "user", "content": "where?"},
    {
        "role": "assistant",
        "content": [{"type": "tool_use", "id": "c1", "name": "look", "input": {"n": 1}}],
    },
    {
        "role": "user",
        "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "Rome"}],
    },
    {"role": "assistant", "content": [{"type": "text", "text": "In Rome."}]},
]
RESPONSES: list[dict[str, Any]] = [
    {"role": "user", "content": "where?"},
    {"type": "reasoning", "id": "r1", "encrypted_content": "xyz"},
    {"type": "function_call", "call_id": "c1", "name": "look", "arguments": ARGUMENTS},
    {"type": "function_call_output", "call_id": "c1", "output": "Rome"},
    {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "In"}]},
]
GEMINI: list[dict[str, Any]] = [
    {"role": "user", "parts": [{"text": "where?"}]},
    {"role": "model", "parts": [{"function_call": {"name": "look", "args": {"n": 1}}}]},
    {
        "role": "user",
        "parts": [{"function_response": {"name": "look", "response": {"city": "Rome"}}}],
    },
    {"role": "model", "parts": [{"text": "In Rome."}]},
]
ADK: list[dict[str, Any]] = [{"author": "x", "content": content} for content in GEMINI]
FORMS = {
    "chat": CHAT,
    "anthropic": ANTHROPIC,
    "responses": RESPONSES,
    "gemini": GEMINI,
    "adk": ADK,
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_is_the_same_conversation(form: str) -> None:
    steps = list(transcript_steps(FORMS[form]))
    assert [type(step) for step in steps] == [Utterance, Utterance, ToolAnswer, Utterance]
    with connect(":memory:") as memory:
        (tally,) = compare_policies(memory, FORMS[form], ["hybrid"], model="generic", window=9_000)
        assert (tally.requests, tally.oversized, tally.shut_out) == (2, 0, 0)
        units = memory.session("replay hybrid").state.units
        assert [len(unit.calls) for unit in units] == [0, 1, 0]
        assert "Rome" in units[1].results[0].text


def test_a_call_that_was_never_answered_is_given_up_and_a_stray_result_left() -> None:
    call = {"role": "assistant", "tool_calls": [{"id": "c1", "function": {"name": "look"}}]}
    user = {"role": "user", "content": "hello"}
    stray = {"role": "tool", "tool_call_id": "c9", "content": "nobody asked"}
    with connect(":memory:") as memory:
        entries = [{"role": "assistant", "content": "hi"}, user, call, stray, user]
        (tally,) = compare_policies(memory, entries, ["lru"], model="generic", window=9_000)
        state = memory.session("replay lru").state
        assert (state.turn, tally.requests, state.open_units) == (2, 1, ())
        assert state.units[1].given_up == {"c1"}


def test_what_finds_no_room_is_counted_and_left_out() -> None:
    entries = [{"role": "user", "content": "word " * 20_000}, {"role": "user", "content": "short"}]
    with connect(":memory:") as memory:
        (tally,) = compare_policies(memory, entries, ["hybrid"], model="generic", window=9_000)
    assert tally.shut_out == 1
    assert tally.mean == tally.cached_share == 0


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(CHAT),
        json.dumps({"messages": CHAT}),
        "\n".join(json.dumps(message) for message in CHAT),
        "\n".join(json.dumps({"input": [message]}) for message in CHAT) + "\n\n",
    ],
)
def test_a_file_holds_messages_in_one_of_four_ways(tmp_path: Path, text: str) -> None:
    path = tmp_path / "run"
    path.write_text(text)
    assert read_transcript(path) == CHAT


def test_a_file_that_cannot_be_read_says_so_in_words(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match=r"there is no file .*; name one that holds the messages"):
        read_transcript(tmp_path / "nowhere.json")
    with pytest.raises(Unavailable, match="cannot be read: Is a directory"):
        read_transcript(tmp_path)


@pytest.mark.parametrize("text", ["", "[", "{}x", "5", "[]"])
def test_a_file_without_messages_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "run"
    path.write_text(text)
    with pytest.raises(InvalidInput) as refusal:
        read_transcript(path)
    assert refusal.value.code == "bad_message"
