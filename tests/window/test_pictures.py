"""A picture stands for two turns; then an edit may leave a line about it."""

import json
from typing import Any

from tenure.tests.window.conversation_replay import Conversation, faults
from tenure.window.checkpoint import media_blocks, media_line, scratchpad_entries
from tenure.window.layout import native_messages
from tenure.window.units import PartKind, StandingForm

PICTURE = {
    "type": "image",
    "source": {"type": "base64", "media_type": "image/png", "data": "aGVsbG8="},
}


def shown(*blocks: Any, later_turns: int = 3) -> Conversation:
    talk = Conversation(limit=40_000, model="claude-opus-4-7")
    talk.user({"role": "user", "content": [*blocks, {"type": "text", "text": "What is this?"}]})
    talk.model("A cat.")
    for number in range(later_turns):
        talk.user(f"question {number}")
        talk.model("yes")
    return talk


REPORT = {
    "type": "document",
    "title": 'report" of June.pdf',
    "source": {"type": "base64", "media_type": "application/pdf", "data": "aGVsbG8="},
}
SOUND = {"type": "input_audio", "input_audio": {"data": "aGk=", "format": "mp3"}}
CHAT_FILE = {"type": "file", "file": {"filename": "plan.xlsx", "file_id": "file_7"}}
SHEET = {"file_data": {"mime_type": "text/csv", "file_uri": "gs://a/b", "display_name": "b.csv"}}


def test_a_file_stays_with_its_provider_and_its_words_are_counted() -> None:
    words = {"type": "text", "media_type": "text/plain", "data": "many words " * 2_000}
    long = {"type": "document", "source": words}
    talk = Conversation(limit=90_000, model="claude-opus-4-7")
    talk.user({"role": "user", "content": [long]})
    assert talk.state.units[0].tokens > 4_000
    assert native_messages(talk.state, "anthropic")[0]["content"] == [long]

    talk.user({"role": "user", "content": [CHAT_FILE]})
    assert native_messages(talk.state, "openai")[-1]["content"] == [CHAT_FILE]
    assert media_line(3, [json.dumps(CHAT_FILE)]) == (
        '[1 file: of unknown format "plan.xlsx". Original: window://3]'
    )
    talk.user({"role": "user", "parts": [SHEET]})
    assert native_messages(talk.state, "gemini")[-1]["parts"] == [SHEET]
    assert media_line(3, [json.dumps(SHEET)] * 2) == (
        '[2 files: text/csv "b.csv". Original: window://3]'
    )


def test_an_old_picture_becomes_a_line_and_comes_back_as_its_block() -> None:
    talk = shown(PICTURE, PICTURE, REPORT)
    history = talk.state.units
    talk.edit(talk.plan(talk.state.tokens - 100))
    unit = talk.state.units[0]
    assert [item.kind for item in unit.items] == [PartKind.NOTE, PartKind.USER]
    assert unit.items[0].text.startswith("[2 pictures and 1 file: image/png, application/pdf")
    assert unit.items[0].text.endswith("Original: window://2]")
    assert faults(talk.state) == []
    entries = list(scratchpad_entries(history, talk.state.units))
    assert [entry.kind.value for entry in entries] == ["picture", "picture", "file"]
    assert {entry.stands for entry in entries} == {False}
    assert media_blocks(history) == [PICTURE, PICTURE, REPORT]


def test_a_young_picture_stays() -> None:
    talk = shown(PICTURE, later_turns=2)
    plan = talk.plan(talk.state.tokens - 100)
    forms = [change.form for change in plan.changes] if plan else []
    assert StandingForm.SHORT not in forms
