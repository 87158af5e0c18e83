"""A picture stands for two turns; then an edit may leave a line about it."""

import json
from typing import Any

from tenure.tests.window.conversation_replay import Conversation, faults
from tenure.window.changes import occurrences, shorter_forms
from tenure.window.editing import EditPlan
from tenure.window.events import EditReason
from tenure.window.layout import native_messages
from tenure.window.scratchpad import media_blocks, media_line, scratchpad_entries
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


def external_forms(talk: Conversation) -> list[Any]:
    unit = talk.state.units[0]
    changes = shorter_forms(talk.state, unit, 500, "x", occurrences(talk.state))
    return [change for change in changes if change.form is StandingForm.EXTERNAL]


def test_an_old_picture_becomes_a_line_about_it() -> None:
    talk = shown(PICTURE, PICTURE)
    (change,) = external_forms(talk)
    assert change.savings > 3_000
    tokens = talk.state.tokens
    talk.edit(EditPlan(EditReason.COMPACT, (change,)))

    unit = talk.state.units[0]
    assert [item.kind for item in unit.items] == [PartKind.NOTE, PartKind.USER]
    assert unit.items[0].text == "[2 pictures: image/png. Original: window://2]"
    assert tokens - talk.state.tokens == change.savings
    assert unit.role == "user"
    assert faults(talk.state) == []


def test_a_young_picture_stays_and_words_alone_have_no_such_form() -> None:
    assert external_forms(shown(PICTURE, later_turns=2)) == []
    assert external_forms(shown()) == []


def test_a_picture_of_no_stated_format_says_so() -> None:
    block = {"type": "image", "source": {"type": "file", "file_id": "file_1"}}
    (change,) = external_forms(shown(block))
    assert change.texts == {2: "[1 picture: of unknown format. Original: window://2]"}


def test_a_picture_beside_a_call_goes_with_the_whole_unit_alone() -> None:
    talk = Conversation(limit=40_000)
    talk.user("draw")
    talk.model(
        {"content": [PICTURE, {"type": "tool_use", "id": "c1", "name": "draw", "input": {}}]}
    )
    talk.result("c1", "done and dusted")
    for number in range(4):
        talk.user(f"question {number}")
        talk.model("yes")
    unit = talk.state.units[1]
    changes = list(shorter_forms(talk.state, unit, 500, "x", occurrences(talk.state)))
    places = [set(change.texts) for change in changes if change.form is StandingForm.EXTERNAL]
    assert places == [{unit.results[0].seq}]


REPORT = {
    "type": "document",
    "title": 'report" of June.pdf',
    "source": {"type": "base64", "media_type": "application/pdf", "data": "aGVsbG8="},
}
SOUND = {"type": "input_audio", "input_audio": {"data": "aGk=", "format": "mp3"}}
CHAT_FILE = {"type": "file", "file": {"filename": "plan.xlsx", "file_id": "file_7"}}
SHEET = {"file_data": {"mime_type": "text/csv", "file_uri": "gs://a/b", "display_name": "b.csv"}}


def test_pictures_and_files_are_listed_shortened_and_given_back_as_blocks() -> None:
    talk = shown(PICTURE, REPORT, SOUND)
    history = talk.state.units
    (change,) = external_forms(talk)
    line = change.texts[2]
    assert line.startswith("[1 picture and 1 file and 1 sound: image/png, application/pdf ")
    assert '"report\\" of June.pdf"' in line
    talk.edit(EditPlan(EditReason.COMPACT, (change,)))

    entries = list(scratchpad_entries(history, talk.state.units))
    assert [entry.kind.value for entry in entries] == ["picture", "file", "sound"]
    assert [entry.stands for entry in entries] == [False] * 3
    assert {entry.stands for entry in scratchpad_entries(history, history)} == {True}
    assert (entries[1].address, entries[1].turn) == ("window://2", 1)
    assert (entries[1].media_type, entries[1].name) == ("application/pdf", REPORT["title"])
    assert media_blocks(history) == [PICTURE, REPORT, SOUND]


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
