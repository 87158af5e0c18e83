"""The state is what the log folds to: units whole, numbers stable, counters right."""

import json
import zlib
from base64 import b64decode, b64encode
from typing import Any

from tenure.tests.window.conversation_replay import Conversation, faults
from tenure.window.events import EventKind
from tenure.window.state import EMPTY_STATE, MEDIA_TOKENS, snapshot_text, state_from, tools_text
from tenure.window.units import MessagePart, PartKind

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
    usage = {"input": 9_000, "own": 8_000}
    talk.put(EventKind.TURN_ENDED, {"usage": usage})
    assert len(talk.state.loads) == 8
    assert talk.state.mean_growth > 50
    assert talk.state.correction.offset == 1_000
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
    assert first in talk.state.pinned
    talk.user("three")
    assert first not in talk.state.pinned
    talk.put(EventKind.PINNED, {"unit": first, "on": True, "until": None})
    talk.user("four")
    assert talk.state.pins == ((first, None),)
    talk.put(EventKind.PINNED, {"unit": first, "on": False, "until": None})
    assert talk.state.pins == ()


def test_another_model_counts_everything_anew() -> None:
    talk = Conversation(texts=("task", "goal", "system", "", "done when"))
    talk.user("hello there " * 50)
    talk.put(EventKind.NOTED, {"category": "todo"}, ("ring Ann",))
    before = talk.state
    body = {"model": "claude-opus-4-7", "window": 20_000, "limit": 15_000, "terms": ["system"]}
    talk.put(EventKind.TERMS_CHANGED, body, ("another system",))
    assert talk.state.tokens > before.tokens
    assert (talk.state.limit, talk.state.system) == (15_000, "another system")


def test_what_the_store_brought_and_a_provider_counted_are_part_of_the_load() -> None:
    talk = Conversation()
    talk.user("hello")
    empty = talk.state.tokens
    talk.put(EventKind.MEMORY_READ, {"tokens": 400})
    assert talk.state.tokens == talk.state.sent_tokens == empty + 400
    usage = {"input": talk.state.tokens + 300, "own": talk.state.own_tokens}
    talk.put(EventKind.RECOUNTED, {"usage": usage})
    assert talk.state.tokens == empty + 700


def test_checkpoints_keys_and_the_end_are_remembered() -> None:
    talk = Conversation()
    number = talk.put(EventKind.CHECKPOINTED, {}, ("{}",))
    assert talk.state.checkpoint == number
    seq = talk.put(EventKind.NOTED, {"category": "goal", "key": "k", "fingerprint": "f"}, ("x",))
    assert talk.state.keys == (("k", "f", seq),)
    talk.put(EventKind.CLOSED)
    assert talk.state.closed


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


# ---- Snapshots: a state comes back as it was, and one of another format counts for nothing.


def busy_conversation() -> Conversation:
    talk = Conversation(3_000)
    for number in range(40):
        talk.user(f"question {number} about REF{number}X")
        talk.call(f"c{number}", number=number)
        talk.result(f"c{number}", json.dumps({"id": f"REF{number}X", "text": "word " * 150}))
        talk.tidy()
    return talk


def test_a_state_comes_back_as_it_was() -> None:
    talk = busy_conversation()
    talk.put(EventKind.PINNED, {"unit": talk.state.units[0].number, "on": True, "until": 99})
    talk.put(EventKind.NOTED, {"category": "decision"}, ("economy",))
    talk.call("open")
    talk.put(EventKind.CALL_ABANDONED, {"call_id": "open", "key": "k", "fingerprint": "f"})
    assert talk.state.ledger.names
    assert state_from(snapshot_text(talk.state)) == talk.state


def packed(snapshot: dict[str, Any]) -> str:
    return b64encode(zlib.compress(json.dumps(snapshot).encode())).decode()


def test_a_snapshot_of_another_format_counts_for_nothing() -> None:
    today = json.loads(zlib.decompress(b64decode(snapshot_text(EMPTY_STATE))))
    assert state_from(packed(today)) == EMPTY_STATE
    assert state_from(packed({**today, "format": 1})) is None
    assert state_from(json.dumps({**today, "format": 1})) is None
    fewer = {name: value for name, value in today["state"].items() if name != "turn"}
    assert state_from(packed({**today, "state": fewer})) is None


def test_a_snapshot_takes_less_than_half_of_the_words_that_it_repeats() -> None:
    talk = Conversation(200_000)
    for number in range(40):
        codes = [f"code{(7919 * number + 31 * place) % 997}" for place in range(150)]
        talk.exchange(number, " ".join(codes))
    words = sum(len(unit.text) for unit in talk.state.units)
    assert len(snapshot_text(talk.state)) < words // 2
