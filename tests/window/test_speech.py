"""What words do: decide, correct, prefer, acknowledge."""

from time import process_time

import pytest

from tenure.tests.window.conversation_replay import Conversation
from tenure.window.words import SILENCE, SpeechActs, speech_acts


@pytest.mark.parametrize(
    ("text", "acts"),
    [
        ("We agreed to cancel the second leg.", SpeechActs(decides=True)),
        ("No, I meant the 21st.", SpeechActs(corrects=True)),
        ("It is not Monday, but Tuesday.", SILENCE),
        ("Wait, not Rome but Oslo please.", SpeechActs(corrects=True)),
        ("That's wrong. It was Tuesday.", SpeechActs(corrects=True)),
        ("Das stimmt nicht, es war Dienstag.", SpeechActs(corrects=True)),
        ("Nice. I'd prefer a window seat.", SpeechActs(prefers=True)),
        ("Please always answer in German.", SpeechActs(prefers=True)),
        ("Bitte immer auf Deutsch.", SpeechActs(prefers=True)),
        ("Sure, thank you so much!", SpeechActs(acknowledges=True)),
        ("Okay. Let me check that.", SpeechActs(acknowledges=True)),
        ("Sure, flight HAT012 it is.", SILENCE),
        ("The train is actually late on Mondays.", SILENCE),
        ("", SILENCE),
    ],
)
def test_words_do_what_they_say(text: str, acts: SpeechActs) -> None:
    assert speech_acts(text, by_user=True) == acts


@pytest.mark.parametrize("text", ["No, I meant the 21st.", "I'd prefer a window seat."])
def test_only_a_user_corrects_and_prefers(text: str) -> None:
    assert speech_acts(text, by_user=False) == SILENCE


def test_a_message_with_a_call_is_no_acknowledgement_and_a_result_does_nothing() -> None:
    talk = Conversation(limit=100_000)
    talk.user("Sure.")
    call = {"id": "c1", "function": {"name": "get", "arguments": "{}"}}
    talk.model({"role": "assistant", "content": "Let me check that.", "tool_calls": [call]})
    talk.result("c1", "No, I meant: we agreed, please always answer.")
    user, model = talk.state.units
    assert user.acts.acknowledges
    assert model.acts == SILENCE


def test_empty_lines_without_an_end_are_read_at_once() -> None:
    begin = process_time()
    assert speech_acts("\n" * 8_000, by_user=True) == SILENCE
    assert process_time() - begin < 5  # a machine under load; ten seconds if all begin anew at each


def test_long_words_without_an_end_are_read_at_once() -> None:
    assert speech_acts("ok " * 66, by_user=True).acknowledges
    assert speech_acts("ok " * 40_000 + "x", by_user=True) == SILENCE
    assert speech_acts("not a but" * 20_000, by_user=True) == SILENCE
