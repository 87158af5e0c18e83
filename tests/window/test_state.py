"""The state is what the log folds to: units whole, numbers stable, counters right."""

from __future__ import annotations

from dataclasses import replace

from tenure.tests.window.conversation_replay import Conversation, faults
from tenure.window.editing import everything_that_can_go, planned_edit
from tenure.window.events import ERASURE_MARK, EditReason, EventKind, WindowEvent
from tenure.window.state import EMPTY_STATE, MEDIA_TOKENS, tools_text
from tenure.window.step import step
from tenure.window.units import MessagePart, PartKind, StandingForm

PICTURE = {"type": "image_url", "image_url": {"url": "data:image/png;base64," + "A" * 9_000}}


def test_a_unit_is_a_model_message_with_all_its_results() -> None:
    talk = Conversation()
    talk.user("go")
    calls = [{"id": name, "function": {"name": "look", "arguments": "{}"}} for name in ("a", "b")]
    talk.model({"role": "assistant", "content": "both", "tool_calls": calls})
    assert talk.state.units[-1].open_calls == ("a", "b")
    talk.result("b", "second")
    talk.result("a", "first")
    unit = talk.state.units[-1]
    assert unit.open_calls == ()
    assert [item.text for item in unit.results] == ["second", "first"]
    assert talk.state.unit(unit.items[-1].seq) is unit
    assert talk.state.unit(99) is None


def test_an_id_that_is_used_twice_goes_to_the_newest_open_call() -> None:
    talk = Conversation()
    for text in ("first", "second"):
        talk.user("go")
        talk.call("same")
        talk.result("same", text)
    answers = [unit.results[0].text for unit in talk.state.units if unit.results]
    assert answers == ["first", "second"]


def test_an_abandoned_call_is_open_no_longer() -> None:
    talk = Conversation()
    talk.user("go")
    talk.call("c")
    talk.put(EventKind.CALL_ABANDONED, {"call_id": "c"})
    assert talk.state.open_units == ()
    assert faults(talk.state) == []


def test_loads_and_the_mean_growth_follow_the_turns() -> None:
    talk = Conversation(limit=100_000)
    for number in range(8):
        talk.exchange(number, "text " * 50)
    talk.put(EventKind.TURN_ENDED, {"correction": 1100})
    assert len(talk.state.loads) == 5
    assert talk.state.mean_growth > 50
    assert talk.state.correction == 1100
    assert not talk.state.in_turn


def test_a_picture_counts_a_fixed_number_of_tokens() -> None:
    talk = Conversation()
    talk.user({"role": "user", "content": [{"type": "text", "text": "see"}, PICTURE]})
    assert talk.state.units[-1].items[-1].tokens == MEDIA_TOKENS


def test_pins_end_with_their_turn() -> None:
    talk = Conversation()
    first = talk.user("one")
    talk.put(EventKind.PINNED, {"unit": first, "on": True, "until": 2})
    talk.user("two")
    assert first in talk.state.pins
    talk.user("three")
    assert first not in talk.state.pins
    talk.put(EventKind.PINNED, {"unit": first, "on": True, "until": None})
    talk.user("four")
    assert talk.state.pins == {first: None}
    talk.put(EventKind.PINNED, {"unit": first, "on": False, "until": None})
    assert talk.state.pins == {}


def test_another_model_counts_everything_anew() -> None:
    talk = Conversation(texts=("task", "goal", "system", "", "done when"))
    talk.user("hello there " * 50)
    talk.put(EventKind.NOTED, {"category": "todo"}, ("ring Ann",))
    before = talk.state
    body = {"model": "claude-opus-4-7", "window": 20_000, "limit": 15_000}
    talk.put(EventKind.MODEL_CHANGED, body)
    assert talk.state.tokens > before.tokens
    assert (talk.state.limit, talk.state.correction) == (15_000, 1000)


def test_what_the_store_brought_and_a_provider_counted_are_part_of_the_load() -> None:
    talk = Conversation()
    talk.user("hello")
    empty = talk.state.tokens
    talk.put(EventKind.MEMORY_READ, {"tokens": 400})
    assert talk.state.tokens == talk.state.sent_tokens == empty + 400
    talk.put(EventKind.RECOUNTED, {"correction": 1500})
    assert talk.state.tokens == -(-(empty + 400) * 3 // 2)


def test_checkpoints_keys_and_the_end_are_remembered() -> None:
    talk = Conversation()
    number = talk.put(EventKind.CHECKPOINTED, {}, ("{}",))
    assert talk.state.checkpoint == number
    seq = talk.put(EventKind.NOTED, {"category": "goal", "key": "k", "fingerprint": "f"}, ("x",))
    assert talk.state.keys == (("k", "f", seq),)
    talk.put(EventKind.CLOSED)
    assert talk.state.closed


def edited() -> Conversation:
    talk = Conversation(limit=9_000)
    for number in range(10):
        talk.exchange(number, f"ID{number} " + "word " * 300)
    talk.user("now")
    talk.edit(everything_that_can_go(talk.state))
    return talk


def test_neighbours_that_left_share_one_line() -> None:
    talk = edited()
    (stone,) = [u for u in talk.state.units if u.form is StandingForm.TOMBSTONE]
    assert stone.tokens <= 50
    assert stone.text.startswith("[Turns 1 to 10: left the window, ")
    assert f"window://{stone.number}-{stone.last_number}]" in stone.text
    assert faults(talk.state) == []


def test_a_lone_line_names_one_turn_and_one_number() -> None:
    talk = Conversation()
    talk.user("short")
    talk.user("now")
    talk.edit(everything_that_can_go(talk.state))
    assert talk.state.units[0].text.endswith("Originals: window://2]")
    assert talk.state.units[0].text.startswith("[Turn 1: left")


def test_an_undone_edit_brings_the_units_back_in_their_place() -> None:
    talk = edited()
    stone = talk.state.units[0]
    part = {"kind": "user", "tokens": 9, "seq": 2, "part": 0, "level": 2}
    line = {"unit": 2, "turn": 1, "step": 0, "parts": [part], "abandoned": []}
    talk.put(EventKind.UNDONE, {"edit": 1, "units": [line]}, ("question 0",))
    assert stone not in talk.state.units
    assert talk.state.units[0].text == "question 0"
    assert [unit.number for unit in talk.state.units] == sorted(
        unit.number for unit in talk.state.units
    )


def test_an_erasure_takes_the_words_out_of_items_and_of_folds_over_them() -> None:
    talk = Conversation(limit=5_000, texts=("task", "ask Sam Rivera", "", ""))
    for number in range(10):
        talk.exchange(number, f"ID{number} " + "word " * 300)
    last = talk.user("tell Sam Rivera")
    note = talk.put(EventKind.NOTED, {"category": "issue"}, ("Sam Rivera waits",))
    call = talk.call("c", who="Sam Rivera")
    talk.edit(planned_edit(talk.state, talk.policy, EditReason.COMPACT))
    fold = next(u for u in talk.state.units if u.form is StandingForm.EXTRACT)

    talk.put(
        EventKind.TEXTS_ERASED,
        {"places": [[last, 0], [note, 0], [call, 0], [fold.number + 1, 0], [1, 1]]},
    )
    texts = {unit.number: unit.text for unit in talk.state.units}
    assert texts[last] == ERASURE_MARK
    assert texts[fold.number].startswith(f"{ERASURE_MARK} Originals: window://{fold.number}")
    assert talk.state.goal == ""
    assert texts[call] == "{}"
    assert talk.state.notes == ()


def test_a_log_folds_to_the_same_state_again() -> None:
    talk = edited()
    state = EMPTY_STATE
    for event in talk.events:
        state = step(state, event)
    assert state == talk.state


def test_texts_behind_the_parts_stand_in_no_window() -> None:
    talk = Conversation()
    talk.user("go")
    talk.call("c")
    short = MessagePart(kind=PartKind.RESULT, text="short", call_id="c")
    talk.parts(EventKind.RESULT_CAME, short, extra=("the long original",))
    assert "original" not in talk.state.units[-1].text


def test_tools_are_told_in_one_way() -> None:
    assert tools_text([{"b": 1, "a": 2}]) == '[{"a":2,"b":1}]'
    assert tools_text(()) == ""


def test_a_unit_whose_fold_was_erased_in_the_log_still_has_its_address() -> None:
    talk = Conversation(limit=3_000)
    for number in range(6):
        talk.exchange(number, f"ID{number} " + "word " * 300)
    plan = planned_edit(talk.state, talk.policy, EditReason.COMPACT)
    assert plan is not None
    talk.put(EventKind.EDITED, plan.body, tuple(ERASURE_MARK for _ in plan.texts))
    folds = [unit for unit in talk.state.units if unit.form is StandingForm.EXTRACT]
    assert folds
    assert all(f"window://{unit.number}" in unit.text for unit in folds)


def test_an_edit_that_says_what_its_texts_come_to_is_folded_without_counting() -> None:
    talk = Conversation(limit=3_000)
    for number in range(8):
        talk.exchange(number, f"REF{number}X " + "word " * 300)
    plan = planned_edit(talk.state, talk.policy, EditReason.COMPACT)
    assert plan is not None
    counts = [talk.state.count(text) for text in plan.texts]
    event = WindowEvent(
        seq=talk.state.seq + 1, kind=EventKind.EDITED, body=plan.body, texts=plan.texts
    )
    counted = replace(event, body={**plan.body, "tokens": counts})
    assert step(talk.state, counted) == step(talk.state, event)
    doubled = replace(event, body={**plan.body, "tokens": [2 * count for count in counts]})
    assert step(talk.state, doubled).tokens > step(talk.state, counted).tokens

    # An emptied text is our mark now, whatever was counted for it.
    emptied = replace(counted, texts=(ERASURE_MARK,) * len(plan.texts))
    assert step(talk.state, emptied).tokens < step(talk.state, counted).tokens


def test_the_tokens_of_the_history_are_those_of_its_units() -> None:
    talk = Conversation(limit=2_500)
    for number in range(30):
        talk.exchange(number, f"REF{number}X " + "word " * 200)
        talk.tidy()
        assert talk.state.history_tokens == sum(unit.tokens for unit in talk.state.units)
    assert talk.state.edits > 1


def test_another_policy_counts_from_its_event_on() -> None:
    talk = Conversation()
    talk.put(EventKind.POLICY_CHANGED, {"policy": "q", "tunables": {}})
    assert talk.state.policy_digest == "q"
