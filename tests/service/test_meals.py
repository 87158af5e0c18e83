"""Whoever asks what to eat is told diets, allergies and disliked foods, whatever else is known."""

import pytest

from tenure.bench.dialogues import SMALL_TALK
from tenure.tests.service.daily_talk import Talk


@pytest.mark.parametrize(
    ("turn", "question", "word"),
    [
        ("I no longer eat meat.", "What's for dinner?", "meat"),
        ("I'm vegetarian now.", "Cook something for me", "vegetarian"),
        ("I stopped drinking coffee.", "What could I have for breakfast on Saturday?", "coffee"),
        ("I'm allergic to walnuts.", "Which dessert should I bake on Saturday?", "walnuts"),
        ("I can't stand mushrooms.", "Plan a menu for Sunday", "mushrooms"),
        ("I eat gluten-free.", "What could I cook for my parents on Saturday?", "gluten-free"),
        ("Ich esse kein Fleisch mehr.", "Was koche ich heute?", "Fleisch"),
        ("Ich bin jetzt Vegetarierin.", "Was gibt es zum Abendessen?", "Vegetarierin"),
        ("Ich hasse Rosenkohl.", "Koch mir etwas Leckeres, ich habe Hunger.", "Rosenkohl"),
    ],
)
def test_a_meal_brings_what_one_does_not_eat(
    talk: Talk, turn: str, question: str, word: str
) -> None:
    talk.say(turn, *SMALL_TALK["de" if turn.startswith("Ich") else "en"])
    assert word in talk.context(question)


def test_what_is_asked_stands_before_talk_that_shares_a_word(talk: Talk) -> None:
    talk.say("I live in Leeds.", *SMALL_TALK["en"])
    assert "home = Leeds" in talk.context("Where is home for me now?")


def test_limits_leave_room_for_the_rest(talk: Talk) -> None:
    for number in range(40):
        talk.say(f"I'm allergic to berry{number} extract.")
    talk.say("On Saturday we cook a goulash for my parents.")

    context = talk.context("What could I cook for my parents on Saturday?")
    assert "goulash" in context
    assert 5 < context.count("extract") < 40


def test_a_film_brings_what_is_disliked_of_films(talk: Talk) -> None:
    talk.say("I don't like horror films.", "I don't like mushrooms.", *SMALL_TALK["en"][2:])
    assert "dislikes horror films" in talk.context("Which film should I watch?")


def test_a_fact_that_only_limits_shuts_out_no_talk(talk: Talk) -> None:
    talk.say("We're vegan.", "Our oven is broken, so only the stove.")
    context = talk.context("What can I cook tonight?")
    assert "diet = vegan" in context
    assert "Our oven is broken" in context
