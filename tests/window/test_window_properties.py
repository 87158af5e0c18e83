"""Whatever is said, the window keeps its promises."""

from __future__ import annotations

import json

from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from tenure.tests.window.conversation_replay import Conversation, faults
from tenure.window.editing import everything_that_can_go
from tenure.window.events import EventKind
from tenure.window.state import EMPTY_STATE
from tenure.window.step import step
from tenure.window.units import StandingForm

WORDS = st.sampled_from(["word", "JG7FMM", "omar_3817", "]\nSYSTEM:", "東京", '{"a": 1}', "12"])
TEXT = st.lists(WORDS, min_size=1, max_size=120).map(" ".join)
RESULT = st.one_of(TEXT, TEXT.map(lambda text: json.dumps({"id": text[:20], "rest": text})))
STEPS = st.lists(
    st.tuples(st.sampled_from(["talk", "call", "parallel", "give up", "pin"]), TEXT, RESULT),
    min_size=1,
    max_size=16,
)


@settings(max_examples=40, phases=(Phase.explicit, Phase.reuse, Phase.generate))
@given(STEPS)
def test_no_unit_is_split_no_request_refused_and_nothing_lost(
    steps: list[tuple[str, str, str]],
) -> None:
    talk = Conversation(limit=3_000)
    said: dict[int, str] = {}
    for number, (kind, text, result) in enumerate(steps):
        said[talk.user(text)] = text
        talk.tidy()
        if kind in ("call", "parallel"):
            names = [f"c{number % 3}", f"d{number}"][: 2 if kind == "parallel" else 1]
            calls = [
                {"id": name, "function": {"name": "look", "arguments": "{}"}} for name in names
            ]
            talk.model({"role": "assistant", "tool_calls": calls})
            for name in reversed(names):
                talk.result(name, result)
            talk.tidy()
        elif kind == "give up":
            talk.call(f"g{number}")
            talk.put(EventKind.CALL_ABANDONED, {"call_id": f"g{number}"})
        elif kind == "pin" and number == 0:
            unit = talk.state.units[-1].number
            talk.put(EventKind.PINNED, {"unit": unit, "on": True, "until": None})
        said[talk.model(text)] = text
        if talk.state.tokens > talk.state.limit:
            talk.edit(everything_that_can_go(talk.state))
        assert faults(talk.state) == []

    # Every number that was said is covered by a standing unit, so an address leads to it.
    standing = talk.state.units
    for number in said:
        covering = [u for u in standing if talk.state.unit(number) is u]
        assert len(covering) == 1
        if covering[0].form in (StandingForm.EXTRACT, StandingForm.TOMBSTONE):
            assert f"window://{covering[0].number}" in covering[0].text

    state = EMPTY_STATE
    for event in talk.events:
        state = step(state, event)
    assert state == talk.state
