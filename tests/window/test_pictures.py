"""A picture stands for two turns; then an edit may leave a line about it."""

from typing import Any

from tenure.tests.window.conversation_replay import Conversation, faults
from tenure.window.changes import occurrences, shorter_forms
from tenure.window.editing import EditPlan
from tenure.window.events import EditReason
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
