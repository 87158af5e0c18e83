"""Whoever asks what to eat is told diets, allergies and disliked foods, whatever else is known."""

import pytest

from tenure.bench.dialogues import SMALL_TALK
from tenure.tests.service.daily_talk import Talk
from tenure.tests.source_tree import data_table


@pytest.mark.parametrize(("turn", "question", "words"), data_table("talk.toml")["answers"])
def test_a_question_brings_what_was_said_of_it_once(
    talk: Talk, turn: str, question: str, words: str
) -> None:
    talk.say(turn, *SMALL_TALK["de" if turn.startswith("Ich") else "en"])
    assert words in talk.context(question)


def test_limits_leave_room_for_the_rest(talk: Talk) -> None:
    for number in range(40):
        talk.say(f"I'm allergic to berry{number} extract.")
    talk.say("On Saturday we cook a goulash for my parents.")

    context = talk.context("What could I cook for my parents on Saturday?")
    assert "goulash" in context
    assert 5 < context.count("extract") < 40


def test_a_fact_that_only_limits_shuts_out_no_talk(talk: Talk) -> None:
    talk.say("We're vegan.", "Our oven is broken, so only the stove.")
    context = talk.context("What can I cook tonight?")
    assert "diet = vegan" in context
    assert "Our oven is broken" in context
