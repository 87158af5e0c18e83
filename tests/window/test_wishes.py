"""What users of other tools ask for, each by the issue in which it was asked."""

import json

import pytest

from tenure.bench.window_checkers import FAULTS
from tenure.schema.errors import Conflict
from tenure.tests.window.conversation_replay import Conversation, faults
from tenure.window.editing import EditWish, reachable_units
from tenure.window.events import EventKind
from tenure.window.layout import native_messages
from tenure.window.summaries import UnitSummary, summary_fault
from tenure.window.units import StandingForm


def long_talk(turns: int = 30, limit: int = 6_000) -> Conversation:
    talk = Conversation(limit)
    for number in range(turns):
        talk.exchange(number, json.dumps({"id": f"REF{number}X", "text": "word " * 150}))
        talk.tidy()
    return talk


def function_call(call_id: str) -> dict[str, object]:
    """A call as OpenAI has it."""
    return {"id": call_id, "function": {"name": "read_file", "arguments": "{}"}}


def test_claude_code_44598_what_a_user_pinned_survives_every_compaction() -> None:
    talk = Conversation(6_000)
    pinned = talk.user("My order number is ZX81, never forget it.")
    talk.put(EventKind.PINNED, {"unit": pinned, "on": True, "until": None})
    for number in range(30):
        talk.exchange(number, "word " * 300)
        talk.tidy()
    assert talk.state.edits >= 1
    assert talk.standing(pinned).form is StandingForm.FULL


def test_opencode_8932_a_pinned_message_stands_in_every_request_until_it_is_let_go() -> None:
    talk = Conversation(6_000)
    talk.user("read the plan")
    pinned = talk.call("c-plan", "read_file")
    talk.result("c-plan", "THE PLAN: one step a day", name="read_file")
    talk.put(EventKind.PINNED, {"unit": pinned, "on": True, "until": None})
    for number in range(30):
        talk.exchange(number, "word " * 300)
        talk.tidy()
        assert "THE PLAN" in json.dumps(native_messages(talk.state, "anthropic"))
    talk.edit(talk.everything())
    assert "THE PLAN" in json.dumps(native_messages(talk.state, "anthropic"))

    talk.put(EventKind.PINNED, {"unit": pinned, "on": False, "until": None})
    talk.exchange(30, "word " * 300)
    talk.edit(talk.everything())
    assert "THE PLAN: one step" not in json.dumps(native_messages(talk.state, "anthropic"))


def test_claude_code_89831_an_edit_says_what_went_why_and_what_stands_for_it() -> None:
    talk = long_talk()
    edits = [event for event in talk.events if event.kind is EventKind.EDITED]
    for change in edits[-1].body["changes"]:
        assert change.keys() >= {"unit", "form", "savings", "reason", "fidelity"}
    assert edits[-1].body["ledger"]["spans"]


def test_claude_code_70555_a_short_form_replaces_and_never_adds() -> None:
    talk = long_talk(8, limit=20_000)
    before = talk.state.tokens
    talk.edit(talk.everything())
    assert talk.state.tokens < before


def test_claude_code_64026_a_full_window_can_still_be_compacted() -> None:
    talk = Conversation(3_000)
    for number in range(12):
        talk.exchange(number, "word " * 300)
    assert talk.state.tokens > talk.state.limit
    talk.edit(talk.everything())
    assert talk.state.tokens < talk.state.limit


def test_langchain_34282_ten_parallel_results_stay_or_leave_with_their_call() -> None:
    talk = Conversation(9_000)
    for number in range(12):
        talk.user(f"read these ten files, round {number}")
        call_ids = [f"c{number}-{position}" for position in range(10)]
        talk.model({"role": "assistant", "tool_calls": list(map(function_call, call_ids))})
        for call_id in call_ids:
            talk.result(call_id, f"{call_id} " + "word " * 60)
        talk.model(f"read, round {number}")
        talk.tidy()
        assert faults(talk.state) == []
    assert talk.state.edits > 0
    assert {len(unit.results) for unit in talk.state.units if unit.calls} == {10}


@pytest.mark.parametrize("kept", range(6))
def test_langchain_38352_of_messages_with_one_call_id_each_leaves_with_its_own_result(
    kept: int,
) -> None:
    talk = Conversation(60_000)
    numbers: list[int] = []
    for turn in range(6):
        talk.user(f"question {turn}")
        numbers.append(talk.call("same-id"))
        talk.result("same-id", f"result {turn} " + "word " * 300)
    talk.user("and now?")

    talk.put(EventKind.PINNED, {"unit": numbers[kept], "on": True, "until": None})
    talk.edit(talk.everything())
    assert faults(talk.state) == []
    standing = [unit for unit in talk.state.units if unit.results]
    assert [unit.number for unit in standing] == [numbers[kept]]
    assert f"result {kept} " in standing[0].results[0].text


def test_deepagents_270_no_result_stands_where_its_message_left() -> None:
    talk = Conversation(6_000)
    for number in range(30):
        talk.exchange(number, json.dumps({"id": f"REF{number}X", "text": "word " * 150}))
        talk.tidy()
        assert faults(talk.state) == []
        messages = native_messages(talk.state, "openai")
        callers = [call["id"] for message in messages for call in message.get("tool_calls") or ()]
        assert [m["tool_call_id"] for m in messages if m["role"] == "tool"] == callers
    assert talk.state.edits >= 1


def test_adk_4740_a_call_that_waits_for_a_person_is_there_when_they_answer() -> None:
    talk = Conversation(6_000)
    talk.user("delete the account")
    waiting = talk.call("confirm", "confirm", what="account")
    for number in range(30):
        talk.exchange(number, "word " * 150)
        talk.tidy()
    talk.edit(talk.everything())
    assert talk.standing(waiting).form is StandingForm.FULL
    talk.result("confirm", "yes", name="confirm")
    assert faults(talk.state) == []


def test_adk_7236_an_open_call_does_not_stop_compaction_for_ever() -> None:
    talk = Conversation(6_000)
    talk.user("start the export")
    waiting = talk.call("export")
    for number in range(30):
        talk.exchange(number, "word " * 150)
        talk.tidy()
    assert talk.state.edits > 0
    assert talk.standing(waiting).open_calls == ("export",)


def test_adk_5602_a_long_running_call_is_answered_after_compactions() -> None:
    talk = Conversation(6_000)
    talk.user("start the export")
    waiting = talk.call("export")
    for number in range(30):
        talk.exchange(number, "word " * 150)
        talk.tidy()
    talk.result("export", "done")
    assert talk.standing(waiting).open_calls == ()
    assert faults(talk.state) == []


def test_langchain_34664_system_and_tools_are_counted() -> None:
    bare = Conversation(9_000)
    told = Conversation(9_000, texts=("", "", "word " * 500, '[{"name":"look"}]'))
    assert told.state.tokens > bare.state.tokens + 500


def test_langchainjs_9272_gemini_gets_an_order_that_it_takes() -> None:
    talk = long_talk()
    assert FAULTS["gemini"](native_messages(talk.state, "gemini")) is None


def test_langchain_39261_a_history_without_a_user_is_shortened_and_not_replaced_by_nothing() -> (
    None
):
    talk = Conversation(6_000)
    talk.user("work through the list")
    for number in range(30):
        talk.call(f"c{number}")
        talk.result(f"c{number}", json.dumps({"id": f"REF{number}X", "text": "word " * 150}))
        talk.tidy()
    assert talk.state.edits >= 1
    text = json.dumps(native_messages(talk.state, "anthropic"))
    assert "window://" in text
    assert sum(f"REF{number}X" in text for number in range(30)) > 15


@pytest.mark.parametrize("answer", ["", " \n", '{"type": "tool_use", "name": "read"}'])
def test_senpi_1067_an_answer_without_words_is_no_summary_and_stops_nothing(answer: str) -> None:
    talk = long_talk()
    unit = max(talk.state.units, key=lambda unit: unit.tokens)
    number = unit.number
    summary = UnitSummary(first=number, last=number, turn=1, seq=9, text=answer, tokens=0)
    assert summary_fault([unit], summary, talk.state.count) in ("empty", "not_plain")
    talk.put(EventKind.SUMMARISED, {"units": [number, number], "of": [number], "by": ["m", 1]})
    before = talk.state.tokens
    talk.edit(talk.everything())
    assert talk.state.tokens < before


def test_prime_agent_138_what_is_in_focus_stays_longest() -> None:
    talk = Conversation(60_000)
    for number in range(12):
        subject = "harbour dues" if number == 4 else "weather"
        talk.exchange(number, f"{subject} REF{number}X " + "word " * 300)
    focused = talk.state.units[4 * 3 + 1]
    assert "harbour" in focused.text
    plan = talk.plan(talk.state.tokens // 2, EditWish(focus="harbour dues"))
    assert plan is not None
    left = [change.unit for change in plan.changes if change.form is StandingForm.LEDGER]
    assert focused.number not in left
    # It leaves after all others: one that frees half of the window leaves it alone.


def test_a_request_with_an_open_call_is_refused_with_its_name() -> None:
    talk = Conversation(6_000)
    talk.user("go")
    talk.call("c1")
    with pytest.raises(Conflict) as refusal:
        native_messages(talk.state, "anthropic")
    assert refusal.value.data["calls"] == ["c1"]
    assert talk.state.open_units[0] not in reachable_units(talk.state, talk.policy)
