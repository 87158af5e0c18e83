"""Snapshots: a state comes back as it was, and one of another format counts for nothing."""

from __future__ import annotations

import json
import zlib
from base64 import b64decode, b64encode
from typing import Any

from tenure.tests.window.conversation_replay import Conversation
from tenure.window.events import EventKind
from tenure.window.state import EMPTY_STATE, snapshot_text, state_from


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
