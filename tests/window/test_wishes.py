"""What users of other tools ask for, each by the issue in which it was asked."""

from __future__ import annotations

import json

import pytest

from tenure.schema.errors import Conflict, InvalidInput
from tenure.tests.window.conversation_replay import Conversation, faults
from tenure.window.checkers import FAULTS
from tenure.window.editing import everything_that_can_go, planned_edit
from tenure.window.events import EditReason, EventKind
from tenure.window.folding import reachable_units
from tenure.window.intake import message_parts
from tenure.window.keep import keep_scores, stale_units
from tenure.window.layout import native_messages
from tenure.window.units import StandingForm


def long_talk(turns: int = 30, limit: int = 6_000) -> Conversation:
    talk = Conversation(limit)
    for number in range(turns):
        talk.exchange(number, json.dumps({"id": f"REF{number}X", "text": "word " * 150}))
        talk.tidy()
    return talk


def test_claude_code_44598_opencode_8932_a_pin_survives_every_compaction() -> None:
    talk = Conversation(6_000)
    pinned = talk.user("My order number is ZX81, never forget it.")
    talk.put(EventKind.PINNED, {"unit": pinned, "on": True, "until": None})
    for number in range(30):
        talk.exchange(number, "word " * 300)
        talk.tidy()
    assert talk.state.edits > 1
    assert talk.state.standing(pinned).form is StandingForm.FULL


def test_claude_code_89831_an_edit_says_what_went_why_and_what_stands_for_it() -> None:
    talk = long_talk()
    edits = [event for event in talk.events if event.kind is EventKind.EDITED]
    for change in edits[-1].body["changes"]:
        assert change.keys() >= {"unit", "form", "freed", "why", "fidelity"}
    assert edits[-1].texts != ()


def test_claude_code_70555_a_short_form_replaces_and_never_adds() -> None:
    talk = long_talk(8, limit=20_000)
    before = talk.state.tokens
    plan = planned_edit(talk.state, talk.policy, EditReason.OVERFLOW)
    if plan is None:
        plan = everything_that_can_go(talk.state)
    talk.edit(plan)
    assert talk.state.tokens < before


def test_claude_code_64026_a_full_window_can_still_be_compacted() -> None:
    talk = Conversation(3_000)
    for number in range(12):
        talk.exchange(number, "word " * 300)
    assert talk.state.tokens > talk.state.limit
    talk.edit(everything_that_can_go(talk.state))
    assert talk.state.tokens < talk.state.limit


def test_langchain_34282_38352_deepagents_270_adk_4740_no_pair_is_ever_parted() -> None:
    talk = Conversation(6_000)
    for number in range(30):
        talk.exchange(number, json.dumps({"id": f"REF{number}X", "text": "word " * 150}))
        talk.tidy()
        assert faults(talk.state) == []


def test_adk_7236_an_open_call_does_not_stop_compaction_for_ever() -> None:
    talk = Conversation(6_000)
    talk.user("start the export")
    waiting = talk.call("export")
    for number in range(30):
        talk.exchange(number, "word " * 150)
        talk.tidy()
    assert talk.state.edits > 0
    assert talk.state.standing(waiting).open_calls == ("export",)


def test_adk_5602_a_long_running_call_is_answered_after_compactions() -> None:
    talk = Conversation(6_000)
    talk.user("start the export")
    waiting = talk.call("export")
    for number in range(30):
        talk.exchange(number, "word " * 150)
        talk.tidy()
    talk.result("export", "done")
    assert talk.state.standing(waiting).open_calls == ()
    assert faults(talk.state) == []


def test_langchain_34664_system_and_tools_are_counted() -> None:
    bare = Conversation(9_000)
    told = Conversation(9_000, texts=("", "", "word " * 500, '[{"name":"look"}]'))
    assert told.state.tokens > bare.state.tokens + 500


def test_langchainjs_9272_gemini_gets_an_order_that_it_takes() -> None:
    talk = long_talk()
    assert FAULTS["gemini"](native_messages(talk.state, "gemini")) is None


def test_langchain_39261_senpi_1067_an_empty_answer_is_no_message() -> None:
    with pytest.raises(InvalidInput):
        message_parts({"role": "assistant", "content": ""}, "assistant")


def test_prime_agent_138_what_is_in_focus_stays_longest() -> None:
    talk = Conversation(60_000)
    for number in range(12):
        subject = "harbour dues" if number == 4 else "weather"
        talk.exchange(number, f"{subject} REF{number}X " + "word " * 300)
    by_focus, without = keep_by_number(talk, "harbour dues"), keep_by_number(talk, "")
    focused = talk.state.units[4 * 3 + 1].number
    assert by_focus[focused] > without[focused]


def keep_by_number(talk: Conversation, focus: str) -> dict[int, int]:
    """The keep-scores of the standing units, by number."""
    return keep_scores(talk.state, talk.policy, focus, stale_units(talk.state.units))


def test_a_request_with_an_open_call_is_refused_with_its_name() -> None:
    talk = Conversation(6_000)
    talk.user("go")
    talk.call("c1")
    with pytest.raises(Conflict) as refusal:
        native_messages(talk.state, "anthropic")
    assert refusal.value.data["calls"] == ["c1"]
    assert talk.state.open_units[0] not in reachable_units(talk.state)
